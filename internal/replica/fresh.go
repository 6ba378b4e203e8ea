package replica

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// This file is rules 1 and 2 at the leaseholder, for a transaction whose first request goes to one range (kv.Fresh). The
// coordinator's clock may be poor and ours good; then the transaction is placed by ours.
//
//	W1  Rule 1. g becomes the lower of the coordinator's latest and our own latest, read when the request arrives. Each of
//	    the two was read after the transaction began, so neither is below true time then, and nor is the lower one. It is
//	    a reading taken for this transaction: one that was kept, or taken from a message, could be from before it began.
//	    It is never less than latest: earliest, or the middle, may be below what was acknowledged before.
//	W2  Whatever is read or written then is latched, evaluated, and remembered in the timestamp cache at r like any other.
//	    Being the newest state at the leaseholder does not replace that.
//	W3  Rule 2. Where we can tell sooner than the coordinator that the answer is past, we wait for that: after the latches and
//	    locks are gone, so in nobody's way. That one node's earliest has passed a timestamp proves that it is past, for all.
//
// The reading is taken before the latches, not at evaluation. It could be either, since both are after the beginning. Before
// is better: the timestamp is lower, so what the request has to wait for in the range hides its wait for rule 2. And it
// has to be before, since a latch guarantees how low a write may land (package latch, A1).
//
// Nothing that an earlier or a later lease did can be missed for it: that is checked at evaluation, against another reading
// (L2), and does not ask where the transaction stands.
//
// HAZARD: W1 and W3 lean on our bound beside the coordinator's. If either clock's latest is below true time, what was
// acknowledged before may be missed; if our earliest is above it, what we call past may be missed by others.

// lower is W1: r and g of a transaction that has done nothing, after another reading was taken for it. In `wait` ordering r is
// g. In `uncertainty` ordering r is an earliest; of two the later is as certainly not in the future.
func lower(r, g clock.Timestamp, now clock.Interval, floor clock.Timestamp) (clock.Timestamp, clock.Timestamp) {
	limit := earlier(g, now.Limit().Forward(floor))
	if r == g {
		return limit, limit
	}
	return earlier(r.Forward(now.Start()), limit), limit
}

func earlier(a, b clock.Timestamp) clock.Timestamp {
	if a.Less(b) {
		return a
	}
	return b
}

// fresh is what is known of a Fresh request from its arrival on. Nil: it is none, or is not placed here.
type fresh struct {
	s     *Store
	ask   kv.Fresh
	limit clock.Timestamp // g
	now   clock.Interval  // at the arrival
	at    time.Duration
}

// place takes the reading and returns the request as it is to be served.
func (s *Store) place(q *kv.Request) (*kv.Request, *fresh) {
	var ask *kv.Fresh
	switch {
	case q.Read != nil:
		ask = q.Read.Fresh
	case q.Write != nil && q.Write.OnePhase:
		ask = q.Write.Fresh
	}
	if ask == nil {
		return q, nil
	}
	now, err := s.opts.Clock.Now()
	if err != nil {
		return q, nil // the lease says so
	}
	now = s.opts.Unsafe.placing(now)
	if s.opts.Stamped != nil && !s.opts.Stamped(now.Latest) {
		return q, nil // the coordinator has made its own sure
	}
	f, placed := &fresh{s: s, ask: *ask, now: now, at: s.opts.RT.Now()}, *q
	if q.Read != nil {
		rd := *q.Read
		if rd.MaxLimit.IsZero() {
			rd.MaxLimit = rd.Limit
		}
		rd.ReadTS, rd.MaxLimit = lower(rd.ReadTS, rd.MaxLimit, now, ask.Floor)
		rd.Limit = earlier(rd.Limit, rd.MaxLimit).Forward(rd.ReadTS)
		f.limit, placed.Read = rd.MaxLimit, &rd
	} else {
		// Nothing was read, so r is only what c must not be below, and c may be as low as g.
		wr := *q.Write
		wr.CommitTS = earlier(wr.CommitTS, now.Limit().Forward(ask.Floor))
		wr.ReadTS = earlier(wr.ReadTS, wr.CommitTS)
		f.limit, placed.Write = wr.CommitTS, &wr
	}
	s.opts.Metrics.Placed.Inc()
	return &placed, f
}

// finish is called when the request has been answered and holds nothing any more.
func (f *fresh) finish(resp *kv.Response) {
	if f == nil || resp.Err != nil {
		return
	}
	placed := &kv.Placed{Limit: f.limit}
	switch {
	case resp.Read != nil:
		ts := resp.Read.Newest
		resp.Read.Past = f.await(ts, placed)
		resp.Read.Placed = placed
	case resp.Write != nil:
		resp.Write.Past = f.await(resp.Write.CommitTS, placed)
		resp.Write.Placed = placed
	}
}

// longestAwait bounds W3. Who is further from past than this knows it no sooner here.
const longestAwait = time.Second

// await is W3. It reports whether the timestamp is certainly past. How long the coordinator would have to wait is a guess, and
// decides only who waits.
func (f *fresh) await(ts clock.Timestamp, said *kv.Placed) bool {
	if ts.IsZero() {
		return true
	}
	rt, began := f.s.opts.RT, f.s.opts.RT.Now()
	said.Needed = max(0, clock.Instant(ts.Wall).Sub(f.now.Earliest))
	defer func() { said.Waited = rt.Now() - began }()
	for {
		now, err := f.s.opts.Clock.Now()
		if err != nil {
			return false
		}
		if now.Past(ts) {
			return true
		}
		if f.s.opts.Unsafe.EarlyPast {
			return true
		}
		here := clock.Instant(ts.Wall).Sub(now.Earliest) + 1
		there := clock.Instant(ts.Wall).Sub(f.ask.Back) - (rt.Now() - f.at)
		if f.ask.Back == 0 || here >= there || here > longestAwait || f.s.stopped() {
			return false
		}
		rt.Sleep(max(here, time.Microsecond))
	}
}
