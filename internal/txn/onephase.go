package txn

import (
	"context"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// onePhase commits writes that all lie in one range with one request: the range refreshes what was read in it, writes the
// versions and the record in one command, and no intents are laid. done is false, without an error, if there is more
// than one range; then nothing has happened.
func (t *Txn) onePhase(ctx context.Context, puts []kv.Put) (c clock.Timestamp, done bool, err error) {
	for push := 0; ; push++ {
		d, err := t.db.o.Router.Lookup(ctx, puts[0].Key)
		if err != nil {
			return c, false, err
		}
		if !fits(puts, d.Span) {
			return c, false, nil
		}
		t.mu.Lock()
		r := t.ord.r
		t.mu.Unlock()
		until, err := t.allowed(ctx, r)
		if err != nil {
			return c, false, err
		}
		res := t.sendOnePhase(ctx, puts, d.Span, until)
		if res.Err == nil {
			t.unlocked(res.Request.Range)
			t.committedWrite(&res)
			return res.Response.Write.CommitTS, true, nil
		}
		if res.Maybe && res.Err.Code != kv.ErrAmbiguous {
			c, err := t.settle(ctx, puts[0].Key, res.Err)
			return c, err == nil, err
		}
		switch res.Err.Code {
		case kv.ErrRangeMismatch: // split, or our descriptor was old
		case kv.ErrRetryAt:
			if push >= maxPushes {
				return c, false, t.restart(res.Err)
			}
			if err := t.refreshTo(ctx, res.Err.TS); err != nil {
				return c, false, err
			}
		case kv.ErrCondition, kv.ErrConflict, kv.ErrWaited:
			// The reason may go away. A copy of the request that the network delivers later must not find that.
			c, err := t.settle(ctx, puts[0].Key, res.Err)
			return c, err == nil, err
		default: // what refuses this stays: a change of what was read, the record; or no node takes a copy on (kv.WriteRequest.Try)
			return c, false, t.failed(res.Err)
		}
		if ctx.Err() != nil {
			return c, false, kv.Errorf(kv.ErrUnavailable, "cancelled by the caller; nothing was written")
		}
	}
}

// fits reports whether one command in one range can do it.
func fits(puts []kv.Put, span kv.Span) bool {
	bytes := 0
	for i := range puts {
		bytes += len(puts[i].Key) + len(puts[i].Value)
		if !span.Contains(puts[i].Key) {
			return false
		}
	}
	return bytes <= route.MaxPieceBytes
}

func (t *Txn) sendOnePhase(ctx context.Context, puts []kv.Put, span kv.Span, until clock.Timestamp) route.Result {
	req := t.writeRequest(puts, puts[0].Key)
	req.OnePhase, req.Until = true, until
	t.mu.Lock()
	req.Since = t.signedSince()
	inside, outside := t.reads.clip(span)
	t.mu.Unlock()
	if t.db.o.Unsafe.SkipRefresh {
		inside, outside = nil, false
	}
	req.Refresh, req.CanForward = inside, !outside
	end := t.db.o.Router.Deadline(ctx)
	prepare := func(to kv.NodeID, q *kv.Request) {
		w := *q.Write
		w.Fresh = t.placeWrite(to)
		if now, err := t.db.o.Now(); err == nil { // else an old mark, and one that has passed already: both are safe
			w.Laid, w.NotAfter = now.Earliest, now.Latest.Add(end-t.db.o.RT.Now()) // until it stops being tried
		} else {
			w.NotAfter = 1
		}
		t.mu.Lock()
		t.tries++
		w.Try = t.tries
		t.mu.Unlock()
		q.Write = &w
	}
	return t.db.o.Router.DoMany(ctx, []route.Addressed{{Key: puts[0].Key, Request: kv.Request{Write: req}, Prepare: prepare}})[0]
}

// signedSince is from where on a one-phase commit leaves no record (kv.WriteRequest.Since): as high as is certain that it will
// land, because a copy looks at all versions above. It is the same for all requests of the attempt, which r need not be. It is
// called with mu held.
func (t *Txn) signedSince() clock.Timestamp {
	if t.since.IsZero() {
		t.since = t.ord.r
		if at := t.ord.reading.Start(); t.placeable() && at.Less(t.since) {
			t.since = at // a leaseholder may place it lower
		}
	}
	return t.since
}

// settle finds out what has become of a one-phase commit that was refused, when that need not have been its only copy: one
// sending was not answered, or the network delivers one twice. Another may have been executed, or may still be under way,
// and then a refusal must not be reported (X6). Asking for
// an abort at the record, where such a commit leaves its trace, decides it for good.
func (t *Txn) settle(ctx context.Context, anchor kv.Key, refused *kv.Error) (clock.Timestamp, error) {
	now, _ := t.db.o.Now()
	res := t.db.o.Router.DoMany(ctx, []route.Addressed{{Key: anchor, Request: kv.Request{EndTxn: &kv.EndTxnRequest{
		Txn: t.id, Start: t.age, Anchor: anchor, Now: now.Earliest}}}})[0]
	switch {
	case res.Err == nil && res.Response.EndTxn.State == kv.Committed:
		return res.Response.EndTxn.CommitTS, nil
	case res.Err == nil || res.Err.Code == kv.ErrAborted:
		if refused.Code != kv.ErrRangeMismatch {
			return clock.Timestamp{}, t.failed(refused)
		}
		return clock.Timestamp{}, t.restart(kv.Errorf(kv.ErrAborted, "the range was split while an answer was lost: %s", refused.Msg))
	}
	return clock.Timestamp{}, kv.Errorf(kv.ErrAmbiguous, "the transaction may or may not be committed: an answer was lost, and now: %s", res.Err)
}
