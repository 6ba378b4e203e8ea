package txn

// The writes of the fake ranges.

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

func (w *world) write(n *fakeNode, rg *fakeRange, q *kv.WriteRequest) (kv.Response, bool) {
	if q.OnePhase {
		if rec := w.records[q.Txn]; rec != nil && rec.State == kv.Committed {
			return kv.Response{Write: &kv.WriteResponse{CommitTS: rec.CommitTS}}, false
		} else if rec != nil && rec.State == kv.Aborted {
			return kv.Response{Err: kv.Errorf(kv.ErrAborted, "record")}, false
		}
	}
	if now, _ := n.reading(); q.OnePhase && q.NotAfter != 0 && now.Latest >= q.NotAfter && !w.refuse["deadlines"] {
		return kv.Response{Err: kv.Errorf(kv.ErrUnavailable, "too late")}, false
	}
	if w.refuse["leases"] {
		return kv.Response{Err: kv.Errorf(kv.ErrUnavailable, "no lease")}, false
	}
	if w.deny != nil {
		if err := w.deny(q); err != nil {
			return kv.Response{Err: err}, false
		}
	}
	for _, p := range q.Puts {
		if in := w.row(p.Key).intent; in != nil && in.Txn != q.Txn {
			if !w.push(n, p.Key, in, &kv.PushRequest{Kind: kv.PushAbort, Pusher: q.Txn, PusherStart: q.Start}) {
				return kv.Response{}, true
			}
		}
	}
	c := q.CommitTS
	for _, p := range q.Puts {
		in := w.row(p.Key).intent
		if in != nil && !q.OnePhase {
			c = c.Forward(in.TS)
			if p.Seq <= in.Seq && !w.refuse["numbers"] {
				continue // a copy of the request finds its intents and leaves them
			}
			if v, ok := w.row(p.Key).own(math.MaxUint64, q.Ignored); ok && p.MustNotExist && v.value != nil {
				return kv.Response{Err: &kv.Error{Code: kv.ErrCondition, Key: p.Key}}, false
			} else if ok {
				p.MustNotExist = false
			}
		}
		c = c.Forward(rg.lowWater.Next())
		if vs := w.row(p.Key).versions; len(vs) > 0 {
			last := vs[len(vs)-1]
			if p.MustNotExist && last.value != nil {
				return kv.Response{Err: &kv.Error{Code: kv.ErrCondition, Key: p.Key, TS: last.ts}}, false
			}
			c = c.Forward(last.ts.Next())
		}
		for _, m := range w.reads {
			if m.span.Contains(p.Key) && m.txn != q.Txn {
				c = c.Forward(m.ts.Next())
			} else if m.span.Contains(p.Key) {
				c = c.Forward(m.ts)
			}
		}
	}
	if q.OnePhase {
		if c != q.CommitTS && (!q.CanForward || (!q.Until.IsZero() && q.Until.Less(c))) {
			return kv.Response{Err: &kv.Error{Code: kv.ErrRetryAt, TS: c}}, false
		}
		if q.ReadTS.Less(c) {
			if e := w.refresh(q.Txn, q.Refresh, q.ReadTS, c); e != nil {
				return kv.Response{Err: e}, false
			}
		}
		rec := w.record(q.Txn, q.Start)
		rec.State, rec.CommitTS = kv.Committed, c
	}
	w.observe2(n, c)
	for _, p := range q.Puts {
		row := w.row(p.Key)
		if q.OnePhase {
			row.add(c, p.Value, p.Delete)
		} else if row.intent == nil || row.intent.Seq < p.Seq || w.refuse["numbers"] {
			if row.intent == nil || w.refuse["numbers"] {
				row.values = map[uint64]fakeVersion{}
			}
			row.intent = &kv.Intent{Txn: q.Txn, Start: q.Start, Anchor: q.Anchor, TS: c, Laid: q.Laid, Seq: p.Seq}
			row.values[p.Seq] = fakeVersion{value: p.Value}
			for _, e := range p.Earlier {
				row.values[e.Seq] = fakeVersion{value: e.Value}
			}
		}
	}
	return kv.Response{Write: &kv.WriteResponse{CommitTS: c}}, false
}

// once is what a node does about copies of a one-phase commit: each sending is executed once, and what was refused stays so.
func (w *world) once(n *fakeNode, q *kv.Request) (ended func(*kv.Response), copied *kv.Error) {
	if q.Write == nil || !q.Write.OnePhase || w.refuse["calls"] {
		return func(*kv.Response) {}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	call := fmt.Sprint(n.id, q.Write.Txn, q.Write.Try)
	if was := w.calls[call]; was != "" {
		if w.trace != nil {
			w.trace("n%d %s: a copy of one that %s", n.id, describe(q, &kv.Response{}), was)
		}
		return nil, kv.Errorf(kv.ErrAmbiguous, "a copy")
	}
	if w.calls == nil {
		w.calls = map[string]string{}
	}
	w.calls[call] = "is under way"
	return func(resp *kv.Response) {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, call)
		if e := resp.Err; e != nil && (e.Code == kv.ErrUnavailable || e.Code == kv.ErrNotLeaseholder || e.Code == kv.ErrRangeMismatch) {
			w.calls[call] = "was refused"
		}
	}, nil
}

// observe2 is observe for evaluated writes, which the switch does not turn off.
func (w *world) observe2(n *fakeNode, ts clock.Timestamp) {
	w.observed[n.id] = w.observed[n.id].Forward(ts)
}

func (r *row) add(ts clock.Timestamp, value []byte, del bool) {
	if del {
		value = nil
	}
	i, found := slices.BinarySearchFunc(r.versions, ts, func(v fakeVersion, t clock.Timestamp) int { return v.ts.Compare(t) })
	if found {
		if !bytes.Equal(r.versions[i].value, value) {
			panic("fake: two versions with one timestamp")
		}
		return
	}
	r.versions = slices.Insert(r.versions, i, fakeVersion{ts, value})
}
