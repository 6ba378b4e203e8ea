package eval

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// A transaction's record, at its anchor, decides its fate. A missing one is as good as pending.
//
//	             heartbeat, push timestamp            EndTxn(commit), one-phase
//	(none) ────────────────────────────────▶ pending ────────────────────────────▶ committed
//	   └─────────────────────────────────────┐  └─────────────┐
//	                                         ▼  EndTxn(abort), push: expired, or by an older one
//	                                        aborted
//
// Committed and Aborted are final (V5). Either goes when it is old enough that nothing of the transaction can still be on
// its way: see collect.go.

// tooOld reports whether a transaction may have had a record that has been collected. It is the other half of
// collectable: what one evaluator collected when its earliest was past, any other refuses, as its latest is.
func (ev *evaluation) tooOld(start clock.Timestamp) bool {
	return time.Duration(int64(ev.env.Now.Latest)-start.Wall) > Retention
}

func (ev *evaluation) refuseOld(start clock.Timestamp) error {
	if !ev.tooOld(start) {
		return nil
	}
	return kv.Errorf(kv.ErrTooOld, "the transaction began %s ago and has no record, which are kept for %s",
		time.Duration(int64(ev.env.Now.Latest)-start.Wall).Round(time.Second), Retention)
}

func (ev *evaluation) answer(s kv.TxnStatus) error {
	ev.res.Response.EndTxn = &s
	return nil
}

func (ev *evaluation) decide(anchor kv.Key, id kv.TxnID, rec *kv.Record) error {
	if err := mvcc.PutRecord(&ev.batch, anchor, id, rec); err != nil {
		return err
	}
	return ev.answer(status(rec))
}

func status(rec *kv.Record) kv.TxnStatus {
	if rec == nil {
		return kv.TxnStatus{}
	}
	return kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS}
}

// endTxn writes the coordinator's decision, unless another has been made. A coordinator that aborts because it never
// heard of its commit may learn that it is committed.
func (ev *evaluation) endTxn(q *kv.EndTxnRequest) error {
	rec, err := mvcc.GetRecord(ev.env.Reader, q.Anchor, q.Txn)
	if err != nil {
		return err
	}
	touched := max(q.Now, ev.env.Now.Earliest)
	switch {
	case rec != nil && rec.State == kv.Committed:
		return ev.answer(status(rec))
	case !q.Commit && rec != nil && rec.State == kv.Aborted:
		return ev.answer(status(rec))
	case !q.Commit:
		return ev.decide(q.Anchor, q.Txn, &kv.Record{State: kv.Aborted, Start: q.Start, Touched: touched})
	case q.CommitTS.IsZero():
		return kv.Errorf(kv.ErrInternal, "a commit of %s at the zero timestamp", q.Txn)
	case rec == nil:
		if err := ev.refuseOld(q.Start); err != nil {
			return err
		}
	case rec.State == kv.Aborted:
		return kv.Errorf(kv.ErrAborted, "transaction %s was aborted by another one, or had not been heard of for %s", q.Txn, Expiry)
	case q.CommitTS.Less(rec.CommitTS):
		return &kv.Error{Code: kv.ErrRetryAt, TS: rec.CommitTS, Msg: "a reader pushed the transaction"}
	}
	ev.env.Observed.Forward(q.CommitTS) // V7
	ev.res.Served = q.CommitTS
	return ev.decide(q.Anchor, q.Txn, &kv.Record{State: kv.Committed, CommitTS: q.CommitTS, Start: q.Start,
		Touched: touched, Intents: q.Intents})
}

// push answers what has become of a transaction that is in somebody's way, and settles who yields. It is not a sign of
// life: a transaction whose coordinator is gone expires however often it is pushed.
func (ev *evaluation) push(q *kv.PushRequest) error {
	rec, err := mvcc.GetRecord(ev.env.Reader, q.Anchor, q.Txn)
	if err != nil {
		return err
	}
	if rec != nil && rec.State != kv.Pending {
		return ev.answer(status(rec))
	}
	alive := q.Laid
	if rec != nil {
		alive = max(alive, rec.Touched)
	}
	floor := status(rec).CommitTS.Forward(q.TS)
	expired := ev.env.Now.Earliest.Sub(alive) > Expiry
	wounded := q.Kind == kv.PushAbort && Who{q.Pusher, q.PusherStart}.OlderThan(Who{q.Txn, q.Start})
	switch {
	case expired, wounded, rec == nil && ev.tooOld(q.Start):
		return ev.decide(q.Anchor, q.Txn, &kv.Record{State: kv.Aborted, Start: q.Start, Touched: ev.env.Now.Earliest})
	case q.Kind == kv.PushTimestamp && floor.LessEq(q.To):
		return ev.decide(q.Anchor, q.Txn, &kv.Record{State: kv.Pending, CommitTS: q.To.Next(), Start: q.Start, Touched: alive})
	}
	return ev.answer(kv.TxnStatus{State: kv.Pending, CommitTS: floor})
}

// heartbeat keeps a transaction alive, and from becoming too old.
func (ev *evaluation) heartbeat(q *kv.HeartbeatRequest) error {
	rec, err := mvcc.GetRecord(ev.env.Reader, q.Anchor, q.Txn)
	switch {
	case err != nil:
		return err
	case rec == nil:
		if err := ev.refuseOld(q.Start); err != nil {
			return err
		}
		rec = &kv.Record{Start: q.Start}
	case rec.State != kv.Pending, q.Now <= rec.Touched:
		return ev.answer(status(rec))
	}
	rec.Touched = q.Now
	return ev.decide(q.Anchor, q.Txn, rec)
}
