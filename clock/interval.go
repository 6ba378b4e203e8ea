package clock

import (
	"fmt"
	"time"
)

// Instant is one end of a clock reading: ns since the Unix epoch on the axis of true time.
type Instant int64

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the duration from o to i.
func (i Instant) Sub(o Instant) time.Duration { return time.Duration(i - o) }

// Interval is a clock reading. Under the bound assumption true time, at the moment of the reading, lies inside it.
// Invariant: Earliest <= Latest.
type Interval struct {
	Earliest, Latest Instant
}

// Width is the distance of the two ends: twice the error bound of a symmetric reading.
func (iv Interval) Width() time.Duration { return time.Duration(iv.Latest - iv.Earliest) }

// Start is the timestamp that is certainly not in the future: the read timestamp of `uncertainty` ordering.
func (iv Interval) Start() Timestamp { return Timestamp{Wall: int64(iv.Earliest)} }

// Limit is rule 1: the timestamp that is not below any timestamp whose holder finished before this reading was taken.
// A transaction must observe every version up to it. It is valid only for a transaction that starts with this reading;
// a kept or received one proves nothing.
func (iv Interval) Limit() Timestamp { return Timestamp{Wall: int64(iv.Latest)} }

// Past is rule 2: whether the timestamp is certainly past, so that what depends on it may leave the system.
func (iv Interval) Past(t Timestamp) bool { return int64(iv.Earliest) > t.Wall }

// Passed reports whether the instant is certainly past.
func (iv Interval) Passed(i Instant) bool { return iv.Earliest > i }

// Before reports whether the instant is certainly still to come.
func (iv Interval) Before(i Instant) bool { return iv.Latest < i }

// String writes the earliest end and the width.
func (iv Interval) String() string {
	return fmt.Sprintf("[%d.%09d +%s]", int64(iv.Earliest)/1e9, int64(iv.Earliest)%1e9, iv.Width())
}
