package txn

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Past chooses a time in the past for a read-only transaction. Such a transaction gives up rule 1, and with it all claims
// about what ended before it began; what it reads is still one state of the database, the one at its timestamp. It never
// waits for a writer that began later, and any replica whose closed timestamp has reached its timestamp may serve it
// (package replica, F1 to F3). The zero value is the present.
type Past struct {
	// At is the exact timestamp. It must not lie in the future.
	At clock.Timestamp
	// Back is an exact staleness: so far before the reading's earliest end. Earliest reads there without any: everything
	// that it can meet is past, so rows never wait.
	Back     time.Duration
	Earliest bool
	// AtMost bounds the staleness: the transaction reads at what this node's replicas have closed, so that they can serve
	// it without asking another node, but not further back than this.
	AtMost time.Duration
	// NotBefore is a session token: the commit timestamp of something that has to be seen. It raises any of the others.
	NotBefore clock.Timestamp
}

// Present reports whether nothing was chosen. A session token alone asks for nothing: the present has seen it.
func (p Past) Present() bool {
	return p.At.IsZero() && p.Back == 0 && !p.Earliest && p.AtMost == 0
}

// order turns the choice into timestamps. safe is what this node's replicas have closed.
func (p Past) order(now clock.Interval, safe clock.Timestamp) (order, error) {
	var r clock.Timestamp
	switch {
	case !p.At.IsZero():
		r = p.At
	case p.AtMost > 0:
		r = safe.Forward(before(now, p.AtMost))
	default:
		r = before(now, p.Back)
	}
	r = r.Forward(p.NotBefore)
	if clock.Instant(r.Wall) > now.Latest {
		return order{}, kv.Errorf(kv.ErrFuture, "a read at %s was asked for, which is %s after the latest that it can be now",
			r, clock.Instant(r.Wall).Sub(now.Latest))
	}
	if r.Wall <= 0 {
		return order{}, kv.Errorf(kv.ErrFuture, "a read at %s was asked for, before all time", r)
	}
	return order{reading: now, r: r, g: r}, nil
}

func before(now clock.Interval, d time.Duration) clock.Timestamp {
	return clock.Timestamp{Wall: int64(now.Earliest.Add(-d))}
}
