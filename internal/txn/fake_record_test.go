package txn

// The records of the fake ranges: pushes, recovery, and what becomes of intents.

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

func (w *world) record(id kv.TxnID, start clock.Timestamp) *kv.Record {
	if w.records[id] == nil {
		w.records[id] = &kv.Record{Start: start}
	}
	return w.records[id]
}

func (w *world) end(n *fakeNode, q *kv.EndTxnRequest) kv.Response {
	rec := w.record(q.Txn, q.Start)
	defer func() {
		if rec.State == kv.Committed || rec.State == kv.Staged {
			w.observe(n, rec.CommitTS)
		}
	}()
	switch {
	case rec.State == kv.Pending && !q.Commit && !q.Stage:
		rec.State = kv.Aborted
	case rec.State == kv.Aborted && (q.Commit || q.Stage):
		return kv.Response{Err: kv.Errorf(kv.ErrAborted, "record")}
	case rec.State == kv.Staged && q.CommitTS == rec.CommitTS && w.silent(q):
		return kv.Response{Err: kv.Errorf(kv.ErrInternal, "as if the coordinator had died")}
	case rec.State == kv.Staged && q.Commit && q.CommitTS.Less(rec.CommitTS):
		panic("fake: a commit below where it was staged")
	case rec.State == kv.Staged && !q.Stage:
		rec.State, rec.CommitTS = kv.Aborted, q.CommitTS
		if q.Commit {
			rec.State = kv.Committed
		}
	case rec.State == kv.Pending && q.CommitTS.Less(rec.CommitTS) && (q.Stage || q.Until.Less(rec.CommitTS)):
		return kv.Response{Err: &kv.Error{Code: kv.ErrRetryAt, TS: rec.CommitTS}}
	case rec.State == kv.Pending:
		rec.State, rec.CommitTS, rec.Intents = kv.Committed, rec.CommitTS.Forward(q.CommitTS), q.Intents
		rec.Seq, rec.Spans, rec.Ignored = q.Seq, q.Spans, q.Ignored
		if q.Stage {
			rec.State, rec.Touched = kv.Staged, q.Now
		}
	}
	return kv.Response{EndTxn: &kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS, Ignored: rec.Ignored}}
}

// push gets an intent out of the way, or reports false if the request has to wait.
func (w *world) push(n *fakeNode, k kv.Key, in *kv.Intent, p *kv.PushRequest) bool {
	rec := w.record(in.Txn, in.Start)
	now, _ := n.reading()
	gone := now.Earliest.Sub(max(rec.Touched, in.Laid)) > 3*time.Second
	if rec.State == kv.Pending && gone {
		rec.State = kv.Aborted
	}
	if rec.State == kv.Staged && w.recover {
		w.staged = &kv.PushRequest{Txn: in.Txn, Start: in.Start, Anchor: in.Anchor, Laid: in.Laid, TS: in.TS, Kind: p.Kind, To: p.To,
			Pusher: p.Pusher, PusherStart: p.PusherStart}
		return false
	}
	if rec.State == kv.Staged {
		if !w.due(n, rec, in.Start, in.Laid, p) {
			return false
		}
		w.recovered(n, rec, &kv.PushRequest{Txn: in.Txn, Start: in.Start, Laid: in.Laid, Kind: p.Kind, To: p.To, Pusher: p.Pusher, PusherStart: p.PusherStart},
			len(w.missing(in.Txn, rec.Intents, rec.CommitTS, rec.Seq)) > 0)
	}
	if rec.State == kv.Pending {
		switch p.Kind {
		case kv.PushTimestamp:
			rec.CommitTS = rec.CommitTS.Forward(p.To.Next())
			return true
		case kv.PushAbort:
			if !older(p, in.Txn, in.Start) {
				return false
			}
			rec.State = kv.Aborted
		}
	}
	w.resolve(n, k, in.Txn, kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS, Ignored: rec.Ignored})
	return true
}

// older is wound-wait's order.
func older(p *kv.PushRequest, than kv.TxnID, start clock.Timestamp) bool {
	return cmp.Or(p.PusherStart.Compare(start), bytes.Compare(p.Pusher[:], than[:])) < 0
}

// due: the coordinator of a staged transaction has had its time, as far as the pusher is concerned.
func (w *world) due(n *fakeNode, rec *kv.Record, start clock.Timestamp, laid clock.Instant, p *kv.PushRequest) bool {
	now, _ := n.reading()
	quiet := now.Earliest.Sub(rec.Touched)
	return now.Earliest.Sub(max(rec.Touched, laid)) > 3*time.Second || p.Kind == kv.PushTimestamp && quiet > 50*time.Millisecond ||
		p.Kind == kv.PushAbort && older(p, p.Txn, start)
}

// asked answers a push as the record's range does.
func (w *world) asked(n *fakeNode, p *kv.PushRequest) *kv.TxnStatus {
	rec := w.record(p.Txn, p.Start)
	if rec.State == kv.Pending && p.Kind == kv.PushTimestamp {
		rec.CommitTS = rec.CommitTS.Forward(p.To.Next())
	}
	st := &kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS, Ignored: rec.Ignored}
	if rec.State == kv.Staged && w.due(n, rec, p.Start, p.Laid, p) {
		st.Recover, st.RecoverSeq = rec.Intents, rec.Seq
	}
	return st
}

// missing is a write that has not landed at ts, and will not.
func (w *world) missing(id kv.TxnID, ks []kv.Key, ts clock.Timestamp, seq uint64) kv.Key {
	for _, k := range ks {
		if in := w.row(k).intent; in == nil || in.Txn != id || ts.Less(in.TS) || in.Seq < seq {
			if !w.refuse["prevention"] {
				w.reads = append(w.reads, readMark{span: kv.Point(k), ts: ts})
			}
			return k
		}
	}
	return nil
}

// recovered ends a staged record as its writes say.
func (w *world) recovered(n *fakeNode, rec *kv.Record, p *kv.PushRequest, missing bool) {
	now, _ := n.reading()
	w.recoveries++
	missing = missing && !w.refuse["queries"]
	switch {
	case !missing:
		rec.State = kv.Committed
	case now.Earliest.Sub(max(rec.Touched, p.Laid)) > 3*time.Second || p.Kind == kv.PushAbort && older(p, p.Txn, p.Start):
		rec.State = kv.Aborted
	default:
		rec.State, rec.CommitTS = kv.Pending, rec.CommitTS.Next().Forward(p.To.Next())
	}
}

// silent: the coordinator does not get to make its staged record explicit.
func (w *world) silent(q *kv.EndTxnRequest) bool { return q.Commit && w.dies != nil && w.dies() }

func (w *world) resolve(n *fakeNode, k kv.Key, id kv.TxnID, st kv.TxnStatus) {
	row := w.row(k)
	if row.intent == nil || row.intent.Txn != id {
		return
	}
	v, visible := row.own(math.MaxUint64, st.Ignored)
	if !visible {
		row.intent = nil
		return
	}
	if st.State == kv.Committed && slices.ContainsFunc(row.versions, func(v fakeVersion) bool { return v.ts == st.CommitTS }) {
		row.intent = nil // a late copy
		return
	}
	if st.State == kv.Committed {
		if st.CommitTS.Less(row.intent.TS) {
			w.wrong = fmt.Errorf("not consistent: %s committed at %s, with an intent at %s", id, stamp(st.CommitTS), stamp(row.intent.TS))
		}
		row.add(st.CommitTS, v.value, v.value == nil)
		w.observe(n, st.CommitTS)
	}
	row.intent = nil
}
