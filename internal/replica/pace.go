package replica

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// This file lets reads of the present wait on a follower until their timestamp is closed there, and says beforehand how long
// that is likely to take. It decides nothing about what may be read: that is F3.

// pace is how closed timestamps of a range have come in.
type pace struct {
	last   time.Duration // the latest, on the runtime's clock
	gap    time.Duration // between two of them
	behind time.Duration // how far what was closed was behind our earliest when it came
	seen   int
}

const (
	paceEnough = 8 // so many tell something
	paceStale  = 4 // gaps without any: what was known is over
)

// note takes one in that came now, when our earliest was e.
func (p *pace) note(now time.Duration, e clock.Instant, ts clock.Timestamp) {
	if p.seen > 0 {
		slacken(&p.gap, now-p.last, p.seen == 1)
	}
	slacken(&p.behind, e.Sub(clock.Instant(ts.Wall)), p.seen == 0)
	p.last = now
	p.seen++
}

// slacken follows what takes longer at once, and what takes less slowly: whoever waits in vain pays a whole round trip.
func slacken(p *time.Duration, d time.Duration, first bool) {
	if first || d > *p {
		*p = d
		return
	}
	*p -= (*p - d) / 16
}

// closesIn is how long it takes, at most and if all goes on as before, until ts is closed.
func (p *pace) closesIn(now time.Duration, e clock.Instant, ts clock.Timestamp) (time.Duration, bool) {
	if p.seen < paceEnough || now-p.last > paceStale*p.gap {
		return 0, false
	}
	return max(0, clock.Instant(ts.Wall).Sub(e)+p.behind) + p.gap, true
}

// ClosesIn is how long this store's replica of a range will need until it can serve a read at ts, as far as can be told. Of a range
// that is not here nothing can.
func (s *Store) ClosesIn(id kv.RangeID, ts clock.Timestamp) (time.Duration, bool) {
	r := s.ranges.get(id)
	if r == nil {
		return 0, false
	}
	if ts.LessEq(r.closedAt()) {
		return 0, true
	}
	now, err := s.opts.Clock.Now()
	if err != nil {
		return 0, false
	}
	r.closed.mu.Lock()
	defer r.closed.mu.Unlock()
	return r.closed.pace.closesIn(s.opts.RT.Now(), now.Earliest, ts)
}

// closedWait is a read that waits.
type closedWait struct {
	ts   clock.Timestamp
	told rt.Signal
}

// await waits until ts is closed here, at most for the limit.
func (r *Replica) awaitClosed(ts clock.Timestamp, limit time.Duration) bool {
	w := &closedWait{ts: ts, told: r.store.opts.RT.NewSignal()}
	r.closed.mu.Lock()
	r.closed.waits = append(r.closed.waits, w)
	r.closed.waiting.Store(true)
	r.closed.mu.Unlock()
	r.closed.wake(r.appliedIndex.Load()) // it may have come just now
	return w.told.Wait(limit) || r.giveUpClosed(w)
}

// giveUpClosed takes a wait back that has lasted too long, and reports whether it is over after all.
func (r *Replica) giveUpClosed(w *closedWait) bool {
	c := &r.closed
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.waits {
		if c.waits[i] == w {
			c.waits = append(c.waits[:i], c.waits[i+1:]...)
			break
		}
	}
	c.waiting.Store(len(c.waits) > 0)
	return w.told.Fired()
}

// wake tells those whose timestamps are closed on a replica that has applied so far.
func (c *closed) wake(applied uint64) {
	if !c.waiting.Load() {
		return
	}
	at := c.at(applied)
	var told []rt.Signal
	c.mu.Lock()
	left := c.waits[:0]
	for _, w := range c.waits {
		if w.ts.LessEq(at) {
			told = append(told, w.told)
		} else {
			left = append(left, w)
		}
	}
	c.waits = left
	c.waiting.Store(len(left) > 0)
	c.mu.Unlock()
	for _, s := range told {
		s.Fire()
	}
}

// closeOften closes timestamps, and tells the others, more often than heartbeats do.
func (s *Store) closeOften() {
	for !s.stopped() {
		s.opts.RT.Sleep(s.opts.ClosedEvery)
		told := s.CloseTimestamps()
		for _, n := range s.opts.Cluster.Nodes() {
			if n.ID == s.opts.Node {
				continue
			}
			if ranges := told(n.ID); len(ranges) > 0 {
				s.opts.Transport.Send(n.ID, &kv.Message{To: n.ID, Closed: &kv.ClosedBatch{Ranges: ranges}})
			}
		}
	}
}
