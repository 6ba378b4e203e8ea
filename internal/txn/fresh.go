package txn

import (
	"context"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// A transaction takes its reading here, where the clock may be poor. If its first request goes to one range, the leaseholder
// takes another one and lowers the timestamps to that (package replica, W1 to W3), and pays rule 2 where it knows sooner
// that the answer is past. So a gateway with a poor clock costs a statement of one range nothing.
//
// Our own reading stays what everything else goes by: the age, what the request falls back to if it turns out to span two
// ranges or goes to a node that does not place it, and where a request that was repeated after a lost answer begins again.
// Of several readings that were taken for a transaction after it began, the lowest latest will do (X1).
//
// All of that holds only as long as nothing depends on the timestamps: nothing was read, nobody was told where the
// transaction stands, or said from where on that does not matter (NotBelow).

// standing is what depends on where the transaction stands, beside what it has read.
type standing struct {
	told  bool            // r was told: it stays
	shown bool            // Window has shown r and g, and what follows from that is not known yet
	floor clock.Timestamp // r and g are not lowered below this
}

// paid is what leaseholders have waited in our place (rule 2), and what they would have had to.
type paid struct{ needed, waited time.Duration }

func (p *paid) add(q *kv.Placed) {
	p.needed = max(p.needed, q.Needed)
	p.waited += q.Waited
}

// lower takes over where a leaseholder has placed the transaction.
func (o *order) lower(r, g clock.Timestamp) { o.r, o.g = r, g.Forward(r) }

// NotBelow says, after Window, that what was made of the window holds from ts on: the transaction may still be placed at or
// above it, if nothing was read yet.
func (t *Txn) NotBelow(ts clock.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.standing.floor, t.standing.shown = t.standing.floor.Forward(ts), false
}

// placeable reports whether a leaseholder may place the transaction. It is called with mu held.
func (t *Txn) placeable() bool {
	return t.started && t.takes == 0 && t.spill.anchor == nil && !t.standing.told && !t.standing.shown && t.o.Past.Present() && !t.o.OwnReading
}

// fresh is what a request to a node says of that, if it is another node: our own can tell nothing that we do not know.
func (t *Txn) fresh(to kv.NodeID, wait bool) *kv.Fresh {
	trip, other := t.db.o.Router.RoundTrip(to)
	if !other {
		return nil
	}
	t.mu.Lock()
	f := &kv.Fresh{Floor: t.standing.floor}
	t.mu.Unlock()
	if now, err := t.db.o.Now(); err == nil && wait {
		f.Back = now.Earliest.Add(trip)
	}
	return f
}

// place lets the leaseholder place the transaction that a read is sent for, unless the read was cut into pieces: each of
// them might be placed elsewhere.
func (f *fetching) place(to kv.NodeID, asked, q *kv.ReadRequest) {
	if !whole(asked, q) {
		return
	}
	q.Fresh = f.t.fresh(to, !f.t.db.o.Unsafe.NoReadWait)
}

// whole reports whether a piece of a read is all of it.
func whole(asked, piece *kv.ReadRequest) bool {
	if len(asked.Keys) != len(piece.Keys) || len(asked.Spans) != len(piece.Spans) {
		return false
	}
	for i, s := range asked.Spans {
		if !s.Start.Equal(piece.Spans[i].Start) || !s.End.Equal(piece.Spans[i].End) {
			return false
		}
	}
	return true
}

// placed takes over where the leaseholder that has answered the transaction's first read has placed it.
func (f *fetching) placed(q *kv.ReadRequest, resp *kv.ReadResponse, node kv.NodeID) error {
	limit := resp.Placed.Limit
	if q.MaxLimit.Less(limit) || resp.ReadTS.Less(q.Fresh.Floor) || f.lock == nil && limit.Less(resp.ReadTS) {
		return kv.Errorf(kv.ErrInternal, "node %d placed a transaction of [%s, %s], which may not go below %s, at [%s, %s]",
			node, q.ReadTS, q.MaxLimit, q.Fresh.Floor, resp.ReadTS, limit)
	}
	if resp.Bumped > 0 && f.lock == nil {
		f.t.db.countUncertain(true)
	}
	f.ord.lower(resp.ReadTS, limit)
	f.paid.add(resp.Placed)
	return nil
}

// placeWrite lets the leaseholder place a one-phase commit, if the transaction has read nothing.
func (t *Txn) placeWrite(to kv.NodeID) *kv.Fresh {
	t.mu.Lock()
	ok := t.placeable()
	t.mu.Unlock()
	if !ok {
		return nil
	}
	return t.fresh(to, !t.db.o.Unsafe.NoCommitWait)
}

// committedAt takes over where a commit has landed. Below r it can be only if the leaseholder has placed the transaction.
// It is called with mu held, and reports whether c is sound (X3).
func (t *Txn) committedAt(c clock.Timestamp, kind string) bool {
	if c.Less(t.ord.r) && kind == kindOnePhase && t.placeable() && !c.Less(t.standing.floor) {
		t.ord.lower(c, c)
	}
	t.commitTS = c
	return !c.Less(t.ord.r)
}

// committedWrite notes what the leaseholder said of a one-phase commit.
func (t *Txn) committedWrite(res *route.Result) {
	w := res.Response.Write
	t.mu.Lock()
	defer t.mu.Unlock()
	t.past = w.Past
	if w.Placed != nil {
		t.paid.add(w.Placed)
	}
}

// takePaid is what was waited elsewhere since it was last asked.
func (t *Txn) takePaid() paid {
	p := t.paid
	t.paid = paid{}
	return p
}

// window starts the transaction, and tells where it stands.
func (t *Txn) window(ctx context.Context, note func(*standing)) (order, error) {
	if _, err := t.ready(ctx); err != nil {
		return order{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	note(&t.standing)
	return t.ord, nil
}
