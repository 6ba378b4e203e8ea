package clock

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Timestamp orders data: versions, read timestamps, commit timestamps. It is not a clock reading; the only ways from
// one to the other are Interval.Start, Interval.Limit (rule 1) and Interval.Past (rule 2).
type Timestamp struct {
	Wall    int64  // ns since the Unix epoch
	Logical uint32 // orders timestamps with the same Wall
}

// MaxTimestamp is later than every timestamp in use.
var MaxTimestamp = Timestamp{Wall: 1<<63 - 1, Logical: 1<<32 - 1}

// Compare returns -1, 0 or 1 as t is before, equal to, or after o.
func (t Timestamp) Compare(o Timestamp) int {
	if c := cmp.Compare(t.Wall, o.Wall); c != 0 {
		return c
	}
	return cmp.Compare(t.Logical, o.Logical)
}

// Less reports whether t is before o.
func (t Timestamp) Less(o Timestamp) bool { return t.Compare(o) < 0 }

// LessEq reports whether t is before o or equal to it.
func (t Timestamp) LessEq(o Timestamp) bool { return t.Compare(o) <= 0 }

// IsZero reports whether t is the zero timestamp, which is before all others and marks unversioned data.
func (t Timestamp) IsZero() bool { return t == Timestamp{} }

// Next is the earliest timestamp after t.
func (t Timestamp) Next() Timestamp {
	if t.Logical == 1<<32-1 {
		return Timestamp{Wall: t.Wall + 1}
	}
	return Timestamp{Wall: t.Wall, Logical: t.Logical + 1}
}

// Prev is the latest timestamp before t. The zero timestamp has none.
func (t Timestamp) Prev() Timestamp {
	switch {
	case t.Logical > 0:
		return Timestamp{Wall: t.Wall, Logical: t.Logical - 1}
	case t.Wall > 0:
		return Timestamp{Wall: t.Wall - 1, Logical: 1<<32 - 1}
	}
	panic("clock: the zero timestamp has no predecessor")
}

// Forward returns the later of the two.
func (t Timestamp) Forward(o Timestamp) Timestamp {
	if t.Less(o) {
		return o
	}
	return t
}

// String writes seconds, nanoseconds and the logical part: 1700000000.000000001,3.
func (t Timestamp) String() string {
	if t.Logical == 0 {
		return fmt.Sprintf("%d.%09d", t.Wall/1e9, t.Wall%1e9)
	}
	return fmt.Sprintf("%d.%09d,%d", t.Wall/1e9, t.Wall%1e9, t.Logical)
}

// ParseTimestamp reads what String writes: seconds, optionally a point and up to nine digits, optionally a comma and the
// logical part.
func ParseTimestamp(s string) (Timestamp, error) {
	bad := fmt.Errorf("%q is not a timestamp: it looks like 1700000000.000000001 or 1700000000.000000001,3", s)
	wall, logical, hasLogical := strings.Cut(s, ",")
	secs, frac, _ := strings.Cut(wall, ".")
	sec, err := strconv.ParseUint(secs, 10, 63)
	if err != nil || sec > 9223372035 || len(frac) > 9 {
		return Timestamp{}, bad
	}
	ns, err := strconv.ParseUint((frac + "000000000")[:9], 10, 32)
	if err != nil {
		return Timestamp{}, bad
	}
	t := Timestamp{Wall: int64(sec*1e9 + ns)}
	if hasLogical {
		l, err := strconv.ParseUint(logical, 10, 32)
		if err != nil {
			return Timestamp{}, bad
		}
		t.Logical = uint32(l)
	}
	return t, nil
}
