package replica

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// This file closes timestamps, so that followers can serve reads of the past.
//
//	F1  A closed timestamp (ts, index) of a range guarantees that every write at or below ts that will ever land in the range
//	    is among the log's entries up to index. A replica that has applied so far has all of them, whoever leads.
//	F2  It never goes back on a replica.
//	F3  A read at r is served by a replica without lease only if r is closed there, and no intent at or below r is met.
//
// The leaseholder closes ts in three steps, and their order is what F1 rests on:
//
//  1. Its lease covers ts (L2), so ts counts as served: every later lease begins above it (L3).
//  2. The timestamp cache takes every key as read at ts: a write that is evaluated from now on lands above (V2).
//  3. Writes that were evaluated before and are not applied yet may land lower, but not at or below what was closed when
//     they began: the published timestamp is held down to the lowest of these floors. Everything else has been applied, so
//     the index is the applied one, read last.
//
// A split under way counts as such a write: the right half may be led elsewhere before this node has applied the split, and
// its low water was fixed when the split was proposed (split.go). So nothing above that is published until the outcome is known.
//
// Intents: one laid at or below ts is in the log up to index as well, and whoever meets it at or below r asks the
// leaseholder instead. One above ts commits above ts (V6). So resolving intents needs no floor.

// closing is the leaseholder's part, for one range.
type closing struct {
	mu     sync.Mutex
	raised clock.Timestamp // the timestamp cache stands at least here
	floors []floor         // of writes under way, in the order in which they began, so ascending
}

// floor is a timestamp that a number of writes began at: each of them lands above it.
type floor struct {
	ts     clock.Timestamp
	writes int
}

// begin notes a write that is about to be evaluated. The returned func says that it is applied, or never will be.
func (c *closing) begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.floors)
	if n == 0 || c.floors[n-1].ts != c.raised {
		c.floors = append(c.floors, floor{ts: c.raised})
		n++
	}
	ts := c.floors[n-1].ts
	c.floors[n-1].writes++
	return func() { c.end(ts) }
}

func (c *closing) end(ts clock.Timestamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.floors {
		if c.floors[i].ts == ts {
			c.floors[i].writes--
			break
		}
	}
	for len(c.floors) > 0 && c.floors[0].writes == 0 {
		c.floors = c.floors[1:]
	}
}

// close is step 3: the cache stands at ts, and the result can be published with an index that is read after this.
func (c *closing) close(ts clock.Timestamp) clock.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raised = c.raised.Forward(ts)
	if len(c.floors) > 0 {
		return c.floors[0].ts // not above raised
	}
	return c.raised
}

// closed is the follower's part: what is closed here.
type closed struct {
	mu      sync.Mutex
	ts      clock.Timestamp  // F2
	pending []kv.ClosedRange // not applied so far; ascending in both
	pace    pace
	waits   []*closedWait
	waiting atomic.Bool // whether anybody is in waits
}

// maxPending bounds what a replica that applies slowly remembers. It forgets the newest but one: what it reaches first
// counts, and so does how far it will come.
const maxPending = 16

// learn takes in a closed timestamp.
func (c *closed) learn(p kv.ClosedRange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.pending)
	switch {
	case p.TS.LessEq(c.ts):
		return
	case n > 0 && (p.TS.LessEq(c.pending[n-1].TS) || p.Index < c.pending[n-1].Index):
		return // late; or of another leader, and then the next one fits
	case n > 0 && p.Index == c.pending[n-1].Index, n == maxPending:
		c.pending[n-1] = p
	default:
		c.pending = append(c.pending, p)
	}
}

// at is what is closed on a replica that has applied so far.
func (c *closed) at(applied uint64) clock.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(c.pending) && c.pending[n].Index <= applied {
		c.ts = c.ts.Forward(c.pending[n].TS)
		n++
	}
	c.pending = c.pending[n:]
	return c.ts
}

// close closes the range at ts if this replica may, and returns what it can close now.
func (r *Replica) close(ts clock.Timestamp) (kv.ClosedRange, bool) {
	if _, ok := r.lease.holds(); !ok {
		return kv.ClosedRange{}, false
	}
	view, kerr := r.lease.check(ts) // 1
	if kerr != nil {
		return kv.ClosedRange{}, false
	}
	return r.closeUnder(view, ts)
}

// closeUnder is what follows under a lease. The lease may end meanwhile, and its end gives up commands whose outcome is not known
// (proposals.failAll): their floors go although they may still land. The lease is taken away before that, so that a caller that did
// not see the floors sees here that it is gone.
func (r *Replica) closeUnder(view *leaseView, ts clock.Timestamp) (kv.ClosedRange, bool) {
	r.reads.Raise(ts) // 2
	ts = r.closing.close(ts)
	p := kv.ClosedRange{Range: r.id, Index: r.appliedIndex.Load(), TS: ts} // 3
	if again := r.lease.view.Load(); ts.IsZero() || again == nil || again.term != view.term {
		return p, false
	}
	r.closed.learn(p)
	return p, true
}

// closedAt is what is closed here now.
func (r *Replica) closedAt() clock.Timestamp { return r.closed.at(r.appliedIndex.Load()) }

// CloseTimestamps closes all ranges that this store leads at its earliest reading less ClosedLag, and returns what to tell
// each node. It is called with each heartbeat.
//
// HAZARD: none of the bound. A clock that is ahead closes timestamps that are not past yet, and writes are pushed above
// them, which is slow and not wrong: step 1 refuses what the lease does not cover.
func (s *Store) CloseTimestamps() func(to kv.NodeID) []kv.ClosedRange {
	type told struct {
		p kv.ClosedRange
		d *kv.RangeDescriptor
	}
	var all []told
	now, err := s.opts.Clock.Now()
	if err == nil && s.opts.ClosedLag > 0 && !s.stopped() {
		ts := clock.Timestamp{Wall: int64(now.Earliest.Add(-s.opts.ClosedLag))}
		for _, r := range s.ranges.all() {
			d := r.desc.Load()
			if d == nil {
				continue
			}
			if p, ok := r.close(ts); ok {
				all = append(all, told{p, d})
			}
		}
	}
	return func(to kv.NodeID) (out []kv.ClosedRange) {
		for _, t := range all {
			if _, member := t.d.On(to); member {
				out = append(out, t.p)
			}
		}
		return out
	}
}

// HandleClosed takes in what another store has closed.
func (s *Store) HandleClosed(ps []kv.ClosedRange) {
	if len(ps) == 0 {
		return
	}
	now, err := s.opts.Clock.Now()
	at := s.opts.RT.Now()
	for _, p := range ps {
		r := s.ranges.get(p.Range)
		if r == nil {
			continue
		}
		r.closed.learn(p)
		if err == nil {
			r.closed.mu.Lock()
			r.closed.pace.note(at, now.Earliest, p.TS)
			r.closed.mu.Unlock()
		}
		r.closed.wake(r.appliedIndex.Load())
	}
}

// ClosedLag is Options.ClosedLag, or its default.
func (s *Store) ClosedLag() time.Duration { return s.opts.ClosedLag }

// SafeTime is a timestamp at which this store can serve a read of every range that it has a replica of. Zero: none.
func (s *Store) SafeTime() (ts clock.Timestamp) {
	first := true
	for _, r := range s.ranges.view.Load().sorted {
		if r.quarantined.Load() != nil {
			continue // it serves none, whatever is chosen
		}
		if at := r.closedAt(); first || at.Less(ts) {
			ts, first = at, false
		}
	}
	return ts
}
