package eval

import (
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// A parallel commit sends the intents and the record, staged at S and naming all of them, in one round. The transaction is
// committed from the moment that all of these are there: the record staged at S, and every write landed at S. Its
// coordinator knows that from the answers, and acknowledges. Nobody else may conclude it from looking at some of them; for
// all others the record decides, once it says committed or aborted. What brings it there without the coordinator is
// recovery:
//
//	pusher ── Push ─▶ record: staged, its coordinator has had its time; the writes are these keys
//	pusher ── Query ─▶ their ranges: landed at S | missing, and from now on it cannot land at S (P3)
//	pusher ── Recover ─▶ record: committed at S | aborted, or pending again above S (P4)
//
// Why coordinator and recovery cannot come to different ends: recovery finds a write missing, or it does not.
// If it does, that write lands above S or never (P3), so its answer never counts for the coordinator's
// acknowledgement, before or after. If it does not, all have landed at S and stay there (P1), and it writes what the
// coordinator would. A coordinator that gives up instead asks the record too, and takes what it finds there.

// StagedPatience is how long a staged record is left to its coordinator before a reader that is held up may recover it.
// Shorter: writes that are merely under way are found missing, and their transaction has to take the longer way. An older
// writer does not wait at all: the transaction may be waiting for that writer. Others, who could not push it if it were
// pending, gain something only if it is committed and its coordinator is gone; they wait StagedSilence.
const (
	StagedPatience = 50 * time.Millisecond
	StagedSilence  = 4 * StagedPatience
)

// pushStaged is push for a staged record. gone: the pusher would be allowed to abort it if it were pending.
func (ev *evaluation) pushStaged(q *kv.PushRequest, rec *kv.Record, gone bool) error {
	st := status(rec)
	quiet := ev.env.Now.Earliest.Sub(rec.Touched)
	if gone || quiet > StagedSilence || q.Kind == kv.PushTimestamp && quiet > StagedPatience {
		st.Recover, st.RecoverSeq = rec.Intents, rec.Seq
	}
	return ev.answer(st)
}

// query is P3.
func (ev *evaluation) query(q *kv.QueryRequest) error {
	if q.TS.IsZero() {
		return kv.Errorf(kv.ErrInternal, "a query for writes at the zero timestamp")
	}
	resp := &kv.QueryResponse{}
	err := ev.view(mvcc.Options{TS: q.TS, Txn: q.Txn}, func(v *mvcc.View) error {
		for _, k := range q.Keys {
			in, err := v.Intent(k)
			if err != nil {
				return err
			}
			if in == nil || in.Txn != q.Txn || q.TS.Less(in.TS) || in.Seq < q.Seq {
				resp.Missing = k
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(resp.Missing) > 0 {
		// Read by nobody in particular, so that the transaction's own write will not land at TS either.
		ev.res.Reads = Reads{TS: q.TS, Keys: []kv.Key{resp.Missing}}
		ev.res.Served = q.TS
	}
	ev.res.Response.Query = resp
	return nil
}

// recover is P4. If the record has moved on since the queries were sent they say nothing any more; then it is a push.
func (ev *evaluation) recover(q *kv.RecoverRequest) error {
	p := &q.Push
	rec, err := ev.record(p.Anchor, p.Txn, p.Start)
	if err != nil {
		return err
	}
	if rec == nil || rec.State != kv.Staged || rec.CommitTS != q.TS {
		return ev.push(p)
	}
	touched := max(rec.Touched, ev.env.Now.Earliest)
	switch {
	case !q.Missing:
		ev.env.Observed.Forward(q.TS) // V7
		ev.res.Served = q.TS
		return ev.decide(p.Anchor, p.Txn, rec, &kv.Record{State: kv.Committed, CommitTS: q.TS, Start: rec.Start, Touched: touched,
			Intents: rec.Intents, Spans: rec.Spans, Ignored: rec.Ignored})
	case ev.expired(p, rec) || wounded(p):
		return ev.decide(p.Anchor, p.Txn, rec, &kv.Record{State: kv.Aborted, Start: rec.Start, Touched: touched, Spans: rec.Spans})
	}
	// Its coordinator is alive and will hear that a write landed higher. Until then it is an ordinary pending one, and above
	// S, so that a late copy of the request cannot stage it again.
	floor := q.TS.Next()
	if p.Kind == kv.PushTimestamp {
		floor = floor.Forward(p.To.Next())
	}
	return ev.decide(p.Anchor, p.Txn, rec, &kv.Record{State: kv.Pending, CommitTS: floor, Start: rec.Start, Touched: rec.Touched, Spans: rec.Spans})
}
