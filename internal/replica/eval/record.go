package eval

import (
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// A transaction's record, at its anchor, decides its fate. A missing one is as good as pending, unless a version there names
// the transaction: then it has committed in one phase (V4).
//
//	                             stage
//	              ┌──────────────────────────────────▶ staged ───┐ EndTxn(commit), recovery: nothing is missing
//	              │            ┌───────────────────────┘  │      ▼
//	(none) ───▶ pending ◀──────┘ recovery: a write is     │  committed
//	   │ heart-   │  │           missing                  │      ▲
//	   │ beat     │  └───────────────────────────────────────────┘ EndTxn(commit), one-phase
//	   │          │ EndTxn(abort), push: expired, or by   │ EndTxn(abort), recovery: a write is missing, and the
//	   └────────▶ ▼ an older one                          ▼ transaction expired or is pushed by an older one
//	              aborted                              aborted
//
// Committed and Aborted are final (V5). Either goes when it is old enough that nothing of the transaction can still be on
// its way: see collect.go. Staged: see staged.go.
//
// What a pending transaction was pushed above is not in its record but in the timestamp cache, at the key of the record
// (P2): a push is as frequent as a read, and needs no replication. The next lease begins with a low water above all of
// them, so it is forgotten at the price of some commits that have to ask again.

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

// record is what is known of a transaction at its anchor: its record or, if there is none, the version by which it has
// committed in one phase (V4). start is its age: below that no commit leaves its name in a version.
func (ev *evaluation) record(anchor kv.Key, id kv.TxnID, start clock.Timestamp) (*kv.Record, error) {
	rec, err := mvcc.GetRecord(ev.env.Reader, ev.env.IntentFilter, anchor, id)
	if rec != nil || err != nil {
		return rec, err
	}
	at, err := mvcc.SignedAt(ev.env.Reader, anchor, id, start)
	if at.IsZero() || err != nil {
		return nil, err
	}
	return &kv.Record{State: kv.Committed, CommitTS: at, Start: start}, nil
}

func (ev *evaluation) answer(s kv.TxnStatus) error {
	ev.res.Response.EndTxn = &s
	return nil
}

// decide writes a record, in the place of old if there is one.
func (ev *evaluation) decide(anchor kv.Key, id kv.TxnID, old, rec *kv.Record) error {
	if err := mvcc.PutRecord(&ev.batch, anchor, id, rec, old != nil); err != nil {
		return err
	}
	return ev.answer(status(rec))
}

func status(rec *kv.Record) kv.TxnStatus {
	if rec == nil {
		return kv.TxnStatus{}
	}
	st := kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS}
	if rec.State == kv.Committed {
		st.Ignored = rec.Ignored
	}
	return st
}

// spansOf are those that a record had, for the one that takes its place.
func spansOf(rec *kv.Record) []kv.Span {
	if rec == nil {
		return nil
	}
	return rec.Spans
}

// floor is what the transaction must not commit below. id has the record rec, or none.
func (ev *evaluation) floor(anchor kv.Key, id kv.TxnID, rec *kv.Record) (ts clock.Timestamp) {
	if rec != nil && rec.State == kv.Pending {
		ts = rec.CommitTS
	}
	if pushed, _ := ev.env.Cache.GetPoint(keys.Record(anchor, id)); !pushed.IsZero() {
		ts = ts.Forward(pushed.Next())
	}
	return ts
}

// endTxn writes the coordinator's decision, unless another has been made. A coordinator that aborts because it never
// heard of its commit may learn that it is committed.
func (ev *evaluation) endTxn(q *kv.EndTxnRequest) error {
	rec, err := ev.record(q.Anchor, q.Txn, q.Start)
	if err != nil {
		return err
	}
	touched := max(q.Now, ev.env.Now.Earliest)
	state := status(rec).State
	switch {
	case state == kv.Committed:
		return ev.answer(status(rec))
	case !q.Commit && !q.Stage && state == kv.Aborted:
		return ev.answer(status(rec))
	case !q.Commit && !q.Stage: // staged or not: it is the coordinator's to say, it has not acknowledged
		spans := q.Spans
		if len(spans) == 0 {
			spans = spansOf(rec)
		}
		return ev.decide(q.Anchor, q.Txn, rec, &kv.Record{State: kv.Aborted, Start: q.Start, Touched: touched, Spans: spans})
	case state == kv.Aborted:
		return kv.Errorf(kv.ErrAborted, "transaction %s was aborted by another one, or had not been heard of for %s, or its coordinator was gone", q.Txn, Expiry)
	case q.CommitTS.IsZero() || q.Stage && q.Commit:
		return kv.Errorf(kv.ErrInternal, "a commit of %s at %s, staged: %t", q.Txn, q.CommitTS, q.Stage)
	case rec == nil:
		if err := ev.refuseOld(q.Start); err != nil {
			return err
		}
	case state == kv.Staged && q.CommitTS.Less(rec.CommitTS):
		return kv.Errorf(kv.ErrInternal, "a commit of %s at %s, which was staged at %s", q.Txn, q.CommitTS, rec.CommitTS)
	case state == kv.Staged && q.Stage:
		return ev.answer(status(rec)) // a copy
	}
	c := q.CommitTS
	if state != kv.Staged || rec.CommitTS.Less(c) { // P2: where it was staged nobody has pushed it since
		floor := ev.floor(q.Anchor, q.Txn, rec)
		if c.Less(floor) && (q.Stage || q.Until.Less(floor)) {
			return &kv.Error{Code: kv.ErrRetryAt, TS: floor, Msg: "a reader pushed the transaction"}
		}
		c = c.Forward(floor)
	}
	ev.env.Observed.Forward(c) // V7
	ev.res.Served = c
	state = kv.Committed
	if q.Stage {
		state = kv.Staged
	}
	return ev.decide(q.Anchor, q.Txn, rec, &kv.Record{State: state, CommitTS: c, Start: q.Start, Touched: touched,
		Intents: q.Intents, Seq: q.Seq, Spans: q.Spans, Ignored: q.Ignored})
}

// push answers what has become of a transaction that is in somebody's way, and settles who yields. It is not a sign of
// life: a transaction whose coordinator is gone expires however often it is pushed.
func (ev *evaluation) push(q *kv.PushRequest) error {
	rec, err := ev.record(q.Anchor, q.Txn, q.Start)
	if err != nil {
		return err
	}
	state := status(rec).State
	if state.Final() {
		return ev.answer(status(rec))
	}
	gone := ev.expired(q, rec) || wounded(q)
	switch {
	case state == kv.Staged:
		return ev.pushStaged(q, rec, gone)
	case gone, rec == nil && ev.tooOld(q.Start):
		return ev.decide(q.Anchor, q.Txn, rec, &kv.Record{State: kv.Aborted, Start: q.Start, Touched: ev.env.Now.Earliest, Spans: spansOf(rec)})
	}
	floor := ev.floor(q.Anchor, q.Txn, rec).Forward(q.TS)
	if q.Kind == kv.PushTimestamp && floor.LessEq(q.To) {
		// P2, and nothing to replicate: a commit at or below To is like a write below a read that was served.
		ev.res.Reads = Reads{TS: q.To, Keys: []kv.Key{keys.Record(q.Anchor, q.Txn)}}
		ev.res.Served = q.To
		floor = q.To.Next()
	}
	return ev.answer(kv.TxnStatus{State: kv.Pending, CommitTS: floor})
}

func (ev *evaluation) expired(q *kv.PushRequest, rec *kv.Record) bool {
	alive := q.Laid
	if rec != nil {
		alive = max(alive, rec.Touched)
	}
	return ev.env.Now.Earliest.Sub(alive) > Expiry || ev.env.Gone != nil && ev.env.Gone(q.Coord)
}

// wounded: wound-wait's answer to who yields.
func wounded(q *kv.PushRequest) bool {
	return q.Kind == kv.PushAbort && Who{q.Pusher, q.PusherStart}.OlderThan(Who{q.Txn, q.Start})
}

// heartbeat keeps a transaction alive, and from becoming too old.
func (ev *evaluation) heartbeat(q *kv.HeartbeatRequest) error {
	rec, err := ev.record(q.Anchor, q.Txn, q.Start)
	switch {
	case err != nil:
		return err
	case rec == nil:
		if err := ev.refuseOld(q.Start); err != nil {
			return err
		}
	case rec.State.Final(), q.Now <= rec.Touched:
		return ev.answer(status(rec))
	}
	alive := kv.Record{Start: q.Start}
	if rec != nil {
		alive = *rec
	}
	alive.Touched = q.Now
	if len(q.Spans) > 0 {
		alive.Spans = q.Spans
	}
	return ev.decide(q.Anchor, q.Txn, rec, &alive)
}
