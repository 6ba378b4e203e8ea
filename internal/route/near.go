package route

import (
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// A read of the present goes to the leaseholder, however far that is. Where timestamps are closed soon after they have passed, and the
// leaseholder is far, it can be quicker to ask the replica on this node and wait until the read's timestamp is closed there:
// then it has everything that the leaseholder would answer from (package replica, F1 to F3).
//
// Whether it is quicker is a guess, from the measured round trip and from how fast closed timestamps have come in. If it was
// wrong the leaseholder is asked after all, at most one round trip later. The answer is right either way.

// near is how long the replica on this node may wait in the place of a leaseholder; 0: the leaseholder is asked.
func (e *engine) near(it *item, leaseholder kv.NodeID) time.Duration {
	o := &e.r.o
	if o.ClosesIn == nil || it.tries+it.redirects > 0 || leaseholder == o.Node || !ofThePresent(&it.req) {
		return 0
	}
	if _, here := it.desc.On(o.Node); !here {
		return 0
	}
	trip := e.r.trips.get(leaseholder)
	if wait, ok := o.ClosesIn(it.desc.ID, it.req.Read.ReadTS); !ok || wait >= trip {
		return 0
	}
	return trip
}

// ofThePresent reports whether any replica with the right state could answer: the read locks nothing, and nothing above its
// timestamp concerns it. The intents of a large transaction concern it wherever they lie, and closed timestamps say nothing
// of whether a replica has them.
func ofThePresent(q *kv.Request) bool {
	r := q.Read
	return r != nil && r.Lock == nil && r.Own == nil && !r.AnyReplica && r.ReadTS == r.Limit && (r.MaxLimit.IsZero() || r.ReadTS == r.MaxLimit)
}

// atHand turns a request into one for the replica at hand.
func atHand(q *kv.Request, patience time.Duration) {
	rd := *q.Read
	rd.AnyReplica, rd.Patience, rd.Fresh = true, patience, nil
	q.Read = &rd
}
