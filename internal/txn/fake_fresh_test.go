package txn

// The fake ranges' side of kv.Fresh: the leaseholder places a transaction by its own reading, and waits in the
// coordinator's place where it knows sooner that something is past.

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// freshOf is nil unless the request is to be placed.
func freshOf(q *kv.Request) *kv.Fresh {
	switch {
	case q.Read != nil:
		return q.Read.Fresh
	case q.Write != nil && q.Write.OnePhase:
		return q.Write.Fresh
	}
	return nil
}

// placed lowers what is above the node's latest, but not below the floor.
func (w *world) placed(n *fakeNode, q *kv.Request) *kv.Request {
	f := freshOf(q)
	if f == nil || w.refuse["placing"] {
		return q
	}
	now, _ := n.reading()
	latest, earliest := now.Limit(), now.Start()
	if w.refuse["latest"] {
		latest = earliest
	}
	low := func(ts clock.Timestamp) clock.Timestamp {
		if latest.Less(ts) {
			ts = latest.Forward(f.Floor)
		}
		return ts
	}
	out := *q
	if q.Read != nil {
		rd := *q.Read
		wait := rd.ReadTS == rd.MaxLimit
		rd.MaxLimit = low(rd.MaxLimit)
		if rd.Limit = low(rd.Limit); wait {
			rd.ReadTS = rd.MaxLimit
		} else if rd.ReadTS = rd.ReadTS.Forward(earliest); rd.MaxLimit.Less(rd.ReadTS) {
			rd.ReadTS = rd.MaxLimit
		}
		rd.Limit = rd.Limit.Forward(rd.ReadTS)
		out.Read = &rd
	} else {
		wr := *q.Write
		wr.CommitTS = low(wr.CommitTS)
		wr.ReadTS = low(wr.ReadTS)
		out.Write = &wr
	}
	return &out
}

// finish completes the answer to a request that was placed at arrival.
func (w *world) finish(n *fakeNode, q *kv.Request, resp *kv.Response, arrival time.Duration) {
	f := freshOf(q)
	if f == nil || w.refuse["placing"] || resp.Err != nil {
		return
	}
	past := func(ts clock.Timestamp) bool {
		for {
			now, _ := n.reading()
			here := clock.Instant(ts.Wall).Sub(now.Earliest)
			there := clock.Instant(ts.Wall).Sub(f.Back) - (n.rt.Now() - arrival)
			switch {
			case now.Past(ts):
				return true
			case f.Back == 0 || there <= here:
				return false
			case w.refuse["waits"]:
				return true
			}
			n.rt.Sleep(here + 1)
		}
	}
	if resp.Read != nil {
		resp.Read.Past = past(resp.Read.Newest)
		resp.Read.Placed = &kv.Placed{Limit: q.Read.MaxLimit}
	} else {
		resp.Write.Past = past(resp.Write.CommitTS)
		resp.Write.Placed = &kv.Placed{Limit: q.Write.CommitTS}
	}
}

// mark is what a read leaves in the timestamp cache.
func (w *world) mark(q *kv.ReadRequest, m readMark) {
	if q.Fresh == nil || !w.refuse["marks"] {
		w.reads = append(w.reads, m)
	}
}
