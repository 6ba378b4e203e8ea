package conflict

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// Pushes are the questions of one node about transactions that are in the way of reads. A transaction that writes what
// many read is met by all of them at once; they share what one of them is told, as far as it is true for good:
//
//	Q1  A status that is final is. Those of large transactions are remembered: their intents are met again and again.
//	Q2  "Pending, and will not commit at or below P" is about the part up to P, whatever becomes of the transaction later.
//	    A request may rely on that if all it has to observe is at or below P (its limit, not only where it reads): what
//	    the transaction does above P is none of its business.
//	Q3  Nothing else is shared. "Pending" as such may be from before a commit that the request has to observe.
//
// A push asks for a little more than its request needs (Ahead), so that it serves those that begin shortly after.
type Pushes struct {
	rt   rt.Runtime
	push func(*kv.PushRequest) (*kv.TxnStatus, error)
	now  func() (clock.Interval, error)

	mu      sync.Mutex
	flights map[kv.TxnID]*flight // never iterated, and the next two neither
	// young and old are two generations of Q2, by transaction, so that memory is bounded.
	young, old map[kv.TxnID]clock.Timestamp
	// finals are two generations of Q1.
	finals, oldFinals map[kv.TxnID]*kv.TxnStatus
}

// Ahead is how far above a fresh reading a read of `wait` ordering pushes what is in its way. Longer: fewer pushes. The
// transaction may have to wait as much longer before it is acknowledged.
const Ahead = 3 * time.Millisecond

// maxKnown bounds a generation, maxFinals one of Q1: a status may hold a list of what was taken back.
const (
	maxKnown  = 4096
	maxFinals = 64
)

// Lasting is how long ago an intent was laid whose transaction is not about to finish: a large one. It is pushed at once.
const Lasting = 200 * time.Millisecond

// lasting reports whether an intent has been there for long.
func (p *Pushes) lasting(laid clock.Instant) bool {
	now, err := p.now()
	return err == nil && now.Earliest.Sub(laid) > Lasting
}

type flight struct {
	to  clock.Timestamp
	fut *rt.Future[*kv.TxnStatus]
}

// NewPushes makes the pushes of a node. push asks the range of the transaction's record, and may block; now reads the
// clock.
func NewPushes(r rt.Runtime, now func() (clock.Interval, error), push func(*kv.PushRequest) (*kv.TxnStatus, error)) *Pushes {
	return &Pushes{rt: r, push: push, now: now, flights: map[kv.TxnID]*flight{}, young: map[kv.TxnID]clock.Timestamp{},
		finals: map[kv.TxnID]*kv.TxnStatus{}}
}

// decided returns what a transaction is known to have come to; nil: it is not known (Q1).
func (p *Pushes) decided(id kv.TxnID) *kv.TxnStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.finals[id]; st != nil {
		return st
	}
	return p.oldFinals[id]
}

// remember keeps a final status.
func (p *Pushes) remember(id kv.TxnID, st *kv.TxnStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.finals) >= maxFinals {
		p.oldFinals, p.finals = p.finals, map[kv.TxnID]*kv.TxnStatus{}
	}
	p.finals[id] = st
}

// known returns what the transaction is known to commit above, if that is above the limit (Q2).
func (p *Pushes) known(id kv.TxnID, limit clock.Timestamp) (floor clock.Timestamp, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	floor = p.young[id].Forward(p.old[id])
	return floor, limit.Less(floor)
}

// learn is called with mu held.
func (p *Pushes) learn(id kv.TxnID, floor clock.Timestamp) {
	if len(p.young) >= maxKnown {
		p.old, p.young = p.young, map[kv.TxnID]clock.Timestamp{}
	}
	p.young[id] = p.young[id].Forward(floor)
}

// ask pushes, or finds out from another's push under way. limit is the request's.
func (p *Pushes) ask(q *kv.PushRequest, limit clock.Timestamp, wait time.Duration) (*kv.TxnStatus, error) {
	if q.Kind != kv.PushTimestamp {
		return p.push(q)
	}
	p.mu.Lock()
	if f := p.flights[q.Txn]; f != nil && limit.LessEq(f.to) {
		p.mu.Unlock()
		if st, err := f.fut.Get(wait); err == nil && (st.State.Final() || st.State == kv.Pending && limit.Less(st.CommitTS)) {
			return st, nil // Q1, Q2
		}
		return p.push(q) // Q3
	}
	f := &flight{to: q.To, fut: rt.NewFuture[*kv.TxnStatus](p.rt)}
	if limit == q.To {
		// Of `wait` ordering; another would have to push up to its limit, and that may be far.
		if now, err := p.now(); err == nil {
			f.to = f.to.Forward(clock.Timestamp{Wall: int64(now.Latest.Add(Ahead))})
		}
	}
	p.flights[q.Txn] = f
	p.mu.Unlock()
	ahead := *q
	ahead.To = f.to
	st, err := p.push(&ahead)
	p.mu.Lock()
	if p.flights[q.Txn] == f {
		delete(p.flights, q.Txn)
	}
	if err == nil && st.State == kv.Pending {
		p.learn(q.Txn, st.CommitTS)
	}
	p.mu.Unlock()
	f.fut.Set(st, err)
	return st, err
}
