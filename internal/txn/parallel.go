package txn

import (
	"context"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// This file commits over several ranges. The intents and the record, staged at S = r and naming all of them, go out in one
// round. If every write has landed at S and the record is staged there the transaction is committed (package eval,
// P1 to P4), and nothing has to be refreshed or told to anybody: all ranges have heard of S. Otherwise the coordinator
// goes on by itself: decide.go.
//
// Until it has acknowledged, the coordinator may still end otherwise: nobody else takes a staged transaction for committed
// before its record says so. But somebody may have written that meanwhile, and so may a copy of a request for a commit that
// the network delivers late. So an attempt that may be staged, or has asked for a commit, is reported as failed only after
// its record says aborted (X6).

// maxStaged is how many writes a staged record may name. Whoever recovers it asks all of them.
const maxStaged = 1024

// intents is a commit over several ranges under way.
type intents struct {
	t      *Txn
	anchor kv.Key
	keys   []kv.Key
	s      clock.Timestamp // where the writes were wanted
	unsure bool            // somebody may find the transaction committed: it may be staged at s, or a commit was asked for
	c      clock.Timestamp // no lower than where any write has landed
	until  clock.Timestamp // what was read holds up to here
	told   clock.Timestamp // every range that was written to has heard of a commit up to here (X5)
	// Of a large transaction: what it has laid before.
	spilled bool
	spans   []kv.Span
	seq     uint64         // of the first write that was not laid before
	took    time.Duration  // for finding out the last time
	laid    []route.Result // one for each range; some may have landed below c
}

// overRanges commits. Resolving the intents is left to the background, and so is making a staged record say what it is.
func (t *Txn) overRanges(ctx context.Context, puts []kv.Put) (clock.Timestamp, string, error) {
	n := t.newIntents(puts)
	if !n.spilled {
		stop := t.keepAlive(n.anchor)
		defer stop()
	}
	kind := kindParallel
	status := kv.TxnStatus{State: kv.Staged}
	committed, err := n.lay(ctx, puts)
	if err == nil && !committed {
		kind, status.State = kindIntents, kv.Committed
		err = n.decide(ctx)
	}
	t.handOverSpill()
	switch {
	case err == nil:
		status.CommitTS, status.Ignored = n.c, n.takenBack()
	case n.unsure:
		status, err = n.settle(err)
	default:
		status = kv.TxnStatus{} // the background has it aborted; without a record that says committed it is nothing
	}
	t.db.cleanup.add(job{txn: t.id, age: t.age, anchor: n.anchor, keys: n.keys, status: status,
		spans: n.spans, seq: n.seq, ignored: n.takenBack()})
	return n.c, kind, err
}

// newIntents names the writes of a commit: by their keys if they are few, and else, as what was laid before, by spans.
func (t *Txn) newIntents(puts []kv.Put) *intents {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := &intents{t: t, anchor: t.spill.anchor, spilled: t.spill.anchor != nil, seq: t.writes.sent + 1}
	if !n.spilled {
		n.anchor, n.seq = puts[0].Key, 0
	}
	if len(puts) > maxStaged {
		t.spill.spans.limit = maxSpillSpans
		for _, p := range piecesOf(puts) {
			t.spill.spans.add(kv.Span{Start: p[0].Key, End: kv.Point(p[len(p)-1].Key).End})
		}
	} else {
		n.keys = make([]kv.Key, len(puts))
		for i := range puts {
			n.keys[i] = puts[i].Key
		}
	}
	n.spans = t.spill.spans.list()
	return n
}

// settleEarlier is Z4 and Z5 for what was laid before the commit: then it counts as landed at r, and all have heard of r.
func (n *intents) settleEarlier(ctx context.Context) error {
	t := n.t
	t.mu.Lock()
	from, lowest := t.ord.r, t.spill.lowest
	to := from.Forward(t.spill.highest)
	t.mu.Unlock()
	var spans []kv.Span
	if lowest.Less(to) && !t.db.o.Unsafe.TellNobody {
		spans = n.spans
	}
	if _, err := t.firm(ctx, from, to, spans); err != nil {
		return t.failedFirm(err)
	}
	t.mu.Lock()
	t.ord.forward(to)
	t.mu.Unlock()
	return nil
}

// lay sends the intents, and with them the record. It reports whether that was all.
func (n *intents) lay(ctx context.Context, puts []kv.Put) (committed bool, err error) {
	t := n.t
	if n.spilled {
		if err := n.settleEarlier(ctx); err != nil {
			return false, err
		}
	}
	req := t.writeRequest(puts, n.anchor)
	n.s, n.c, n.until, n.told = req.CommitTS, req.CommitTS, req.CommitTS, req.CommitTS
	if _, err := t.allowed(ctx, n.s); err != nil {
		return false, err
	}
	if len(puts) == 0 {
		return false, nil
	}
	reqs := []route.Addressed{{Request: kv.Request{Write: req}, Prepare: t.stampLaid}}
	if len(puts) <= maxStaged {
		n.unsure = true
		reqs = append(reqs, n.record(&kv.EndTxnRequest{Stage: true, CommitTS: n.s}))
	}
	var failure *kv.Error
	record := false
	for _, res := range t.db.o.Router.Spread(ctx, reqs) {
		switch {
		case res.Index == 1:
			if record = n.stagedAt(&res); !record && failure == nil && res.Err.Code != kv.ErrRetryAt {
				failure = res.Err
			}
		case res.Err == nil:
			n.c = n.c.Forward(res.Response.Write.CommitTS)
			n.laid = append(n.laid, res)
		case failure == nil || (res.Err.Code == kv.ErrCondition && failure.Code != kv.ErrCondition):
			failure = res.Err // that a key exists is the answer; all others are about this attempt only
		}
	}
	if failure == nil {
		// If a write has landed higher, somebody may still have found the transaction committed at s: when this answer is
		// that of a copy which came after the intent was resolved.
		return record && n.c == n.s, nil
	}
	if failure.Code == kv.ErrAmbiguous { // what has become of one piece does not matter: the record decides
		failure = kv.Errorf(kv.ErrUnavailable, "the writes could not be laid: %s", failure.Msg)
	}
	return false, t.failed(failure)
}

// stagedAt takes in what became of the staging, and reports whether it counts.
func (n *intents) stagedAt(res *route.Result) bool {
	if res.Err == nil {
		st := res.Response.EndTxn
		return st.State == kv.Staged && st.CommitTS == n.s || st.State == kv.Committed && st.CommitTS == n.s // by recovery
	}
	switch res.Err.Code {
	case kv.ErrRetryAt:
		n.c, n.unsure = n.c.Forward(res.Err.TS), false // pushed, and by that kept from being staged there for good
	case kv.ErrAborted, kv.ErrTooOld:
		n.unsure = false // for good as well
	}
	return false
}

// record addresses a request to the record.
func (n *intents) record(q *kv.EndTxnRequest) route.Addressed {
	t := n.t
	now, _ := t.db.o.Now() // without a reading: the record's time of writing is unknown, and counts as very old
	q.Txn, q.Start, q.Anchor, q.Intents, q.Now = t.id, t.age, n.anchor, n.keys, now.Earliest
	q.Seq, q.Spans, q.Ignored = n.seq, n.spans, n.takenBack() // Z6
	return route.Addressed{Key: n.anchor, Request: kv.Request{EndTxn: q}}
}

func (n *intents) takenBack() []kv.SeqRange {
	if n.t.db.o.Unsafe.ForgetTakenBack {
		return nil
	}
	return n.t.writes.ignored
}

// settle ends an attempt that has failed, and that others may be finishing at the same time. The record says which: if it
// cannot be made to say aborted the attempt has not failed, or nobody knows (X6). It does not stop for a caller that has
// gone, or whose time is up.
func (n *intents) settle(failure error) (kv.TxnStatus, error) {
	db := n.t.db
	ctx := n.t.within(context.Background(), db.o.RT.Now()+cleanupLimit)
	res := db.o.Router.DoMany(ctx, []route.Addressed{n.record(&kv.EndTxnRequest{})})[0]
	if res.Err != nil {
		err := kv.Errorf(kv.ErrAmbiguous, "the transaction may or may not be committed: %v; its record cannot be asked: %s", failure, res.Err)
		n.t.doubt(err)
		return kv.TxnStatus{}, err
	}
	st := *res.Response.EndTxn
	if st.State != kv.Committed {
		return st, failure
	}
	n.c = st.CommitTS // as staged, or as asked for by a request of which the answer was lost
	n.heard(n.c)
	db.log.Debug("a failed attempt had been committed by others", "txn", n.t.id.String(), "err", failure)
	n.t.revive()
	return st, nil
}
