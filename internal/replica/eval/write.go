package eval

import (
	"math"
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// write lays intents, or commits in one phase.
func (ev *evaluation) write(q *kv.WriteRequest) error {
	if q.Txn.IsZero() || q.CommitTS.IsZero() || q.CommitTS.Less(q.ReadTS) || len(q.Puts) == 0 {
		return kv.Errorf(kv.ErrInternal, "a write of %d keys by %s, read at %s, to commit at %s", len(q.Puts), q.Txn, q.ReadTS, q.CommitTS) // V3
	}
	return ev.view(mvcc.Options{TS: q.CommitTS, Txn: q.Txn}, func(v *mvcc.View) error { return ev.writeAt(q, v) })
}

func (ev *evaluation) writeAt(q *kv.WriteRequest, v *mvcc.View) error {
	c, anchor := q.CommitTS, anchored{at: -1}
	if q.OnePhase {
		var done bool
		var floor clock.Timestamp
		var err error
		if anchor, done, floor, err = ev.onceOnly(q, v); done || err != nil {
			return err
		}
		c = c.Forward(floor)
	}
	newest, own, c, err := ev.land(q, c, v, anchor)
	if err != nil || len(ev.res.Conflicts) > 0 {
		return err
	}
	if q.OnePhase {
		err = ev.onePhase(q, c, newest, own, anchor)
	} else {
		err = ev.intents(q, c, own)
	}
	if err != nil || len(ev.res.Conflicts) > 0 {
		return err
	}
	ev.env.Observed.Forward(c) // V7
	ev.res.Response.Write = &kv.WriteResponse{CommitTS: c}
	ev.res.Served = c
	return nil
}

// anchored is the write at the anchor of a one-phase commit, and what the key had: at is its place among the puts, -1 if the
// commit will leave a record.
type anchored struct {
	at      int
	newest  clock.Timestamp
	deleted bool
	record  bool // it has one already
}

// onceOnly is V4 for a one-phase commit: it looks at what an earlier copy of the request left behind. floor is the
// timestamp that the transaction must not commit below.
func (ev *evaluation) onceOnly(q *kv.WriteRequest, v *mvcc.View) (a anchored, done bool, floor clock.Timestamp, err error) {
	a.at = -1
	if !q.Since.IsZero() {
		a.at = slices.IndexFunc(q.Puts, func(p kv.Put) bool { return p.Key.Equal(q.Anchor) })
	}
	rec, err := mvcc.GetRecord(ev.env.Reader, ev.env.IntentFilter, q.Anchor, q.Txn)
	if err != nil {
		return a, false, floor, err
	}
	if rec == nil && a.at >= 0 {
		var at clock.Timestamp
		if a.newest, a.deleted, at, err = v.SignedSince(q.Anchor, q.Txn, signedFrom(q)); err != nil {
			return a, false, floor, err
		}
		if !at.IsZero() {
			rec = &kv.Record{State: kv.Committed, CommitTS: at}
		}
	}
	switch {
	case rec == nil && q.NotAfter != 0 && ev.env.Now.Latest >= q.NotAfter:
		// Nobody remembers any more that it was refused (package replica, C2).
		return a, false, floor, kv.Errorf(kv.ErrUnavailable, "the commit of transaction %s comes after its coordinator has given it up", q.Txn)
	case rec == nil:
		return a, false, ev.floor(q.Anchor, q.Txn, nil), ev.refuseOld(q.Start)
	case rec.State == kv.Committed:
		ev.res.Response.Write = &kv.WriteResponse{CommitTS: rec.CommitTS}
		return a, true, floor, nil
	case rec.State == kv.Aborted:
		return a, false, floor, kv.Errorf(kv.ErrAborted, "transaction %s was aborted", q.Txn)
	case rec.State == kv.Staged:
		return a, false, floor, kv.Errorf(kv.ErrInternal, "transaction %s commits in one phase, and is staged", q.Txn)
	}
	a.at, a.record = -1, true // that changes
	return a, false, ev.floor(q.Anchor, q.Txn, rec), nil
}

// signedFrom is from where on a one-phase commit leaves its name in a version: no lower than where its copies, and
// those who ask for its record, begin to look.
func signedFrom(q *kv.WriteRequest) clock.Timestamp { return q.Start.Forward(q.Since) }

// land finds where the writes have to be (V2), the transaction's own intents on their keys, and the conflicts on the way.
func (ev *evaluation) land(q *kv.WriteRequest, c clock.Timestamp, v *mvcc.View, anchor anchored) (newest []clock.Timestamp, own []*kv.Intent, _ clock.Timestamp, err error) {
	newest, own = make([]clock.Timestamp, len(q.Puts)), make([]*kv.Intent, len(q.Puts))
	for i := range q.Puts {
		p := &q.Puts[i]
		in, err := v.Intent(p.Key)
		if err != nil {
			return nil, nil, c, err
		}
		if in != nil && in.Txn != q.Txn {
			ev.conflict(Conflict{Key: p.Key, Intent: *in, Kind: kv.PushAbort})
			continue
		}
		if in != nil {
			own[i], c = in, c.Forward(in.TS)
			if !q.OnePhase && p.Seq <= in.Seq {
				// P1. What was read or written above the intent since then got past it because the transaction
				// will commit above that.
				continue
			}
		}
		var deleted bool
		if i == anchor.at {
			newest[i], deleted = anchor.newest, anchor.deleted
		} else if newest[i], deleted, err = v.NewestVersion(p.Key); err != nil {
			return nil, nil, c, err
		}
		if !newest[i].IsZero() {
			if p.MustNotExist && !deleted && !ownsIt(in, q) {
				return nil, nil, c, &kv.Error{Code: kv.ErrCondition, Key: p.Key, TS: newest[i], Msg: "the key exists"}
			}
			c = c.Forward(newest[i].Next())
		}
		if p.MustNotExist && in != nil {
			if _, gone, ok := in.Visible(math.MaxUint64, q.Ignored); ok && !gone {
				return nil, nil, c, &kv.Error{Code: kv.ErrCondition, Key: p.Key, Msg: "the transaction itself has written the key"}
			}
		}
		read, reader := ev.env.Cache.GetPoint(p.Key)
		if reader == q.Txn {
			c = c.Forward(read)
		} else if !read.IsZero() {
			c = c.Forward(read.Next())
		}
	}
	return newest, own, c, nil
}

// ownsIt: what the key has is for the transaction's own intent to say.
func ownsIt(in *kv.Intent, q *kv.WriteRequest) bool {
	if in == nil {
		return false
	}
	_, _, ok := in.Visible(math.MaxUint64, q.Ignored)
	return ok
}

// onePhase commits at c: the versions, of which that of the anchor names the transaction, or else a record, are one batch.
func (ev *evaluation) onePhase(q *kv.WriteRequest, c clock.Timestamp, newest []clock.Timestamp, own []*kv.Intent, anchor anchored) error {
	if q.CommitTS.Less(c) && !q.CanForward {
		return &kv.Error{Code: kv.ErrRetryAt, TS: c, Msg: "the write lands higher, and reads elsewhere have to follow it"}
	}
	if !q.Until.IsZero() && q.Until.Less(c) {
		return &kv.Error{Code: kv.ErrRetryAt, TS: c, Msg: "the write lands above what its transaction was planned for"}
	}
	if q.ReadTS.Less(c) && len(q.Refresh) > 0 {
		// The transaction holds no intents, so that nobody waits for it, and it may push whoever is in the way.
		err := ev.unchanged(q.Refresh, q.ReadTS, c, q.Txn, func(*kv.Intent) (kv.PushKind, bool) { return kv.PushTimestamp, false })
		if err != nil || len(ev.res.Conflicts) > 0 {
			return err
		}
		ev.res.Reads = Reads{Txn: q.Txn, TS: c, Spans: q.Refresh}
	}
	if c.Less(signedFrom(q)) {
		anchor.at = -1
	}
	for i := range q.Puts {
		p := &q.Puts[i]
		var name kv.TxnID
		if i == anchor.at {
			name = q.Txn
		}
		if err := mvcc.PutSigned(&ev.batch, p.Key, newest[i], c, p.Value, p.Delete, name); err != nil {
			return err
		}
		if own[i] != nil {
			if err := mvcc.RemoveIntent(&ev.batch, p.Key); err != nil {
				return err
			}
			ev.res.Released = append(ev.res.Released, p.Key)
		}
	}
	if anchor.at >= 0 {
		return nil
	}
	return mvcc.PutRecord(&ev.batch, q.Anchor, q.Txn, &kv.Record{
		State: kv.Committed, CommitTS: c, Start: q.Start, Touched: max(q.Laid, ev.env.Now.Earliest)}, anchor.record)
}

// intents lays them at c, but for those that are there already (P1): this is a copy of the request then, or one that was
// cut anew because a range was split. A later write takes the place of an earlier one of its transaction, which may lie
// lower; no copy of the earlier one ever takes it back, because the later has the higher number.
func (ev *evaluation) intents(q *kv.WriteRequest, c clock.Timestamp, own []*kv.Intent) error {
	for i := range q.Puts {
		p := &q.Puts[i]
		if own[i] != nil && p.Seq <= own[i].Seq {
			continue
		}
		earlier := p.Earlier
		if own[i] != nil {
			earlier = p.Over(own[i], q.Marks, q.Ignored)
		}
		err := mvcc.PutIntent(&ev.batch, p.Key, &kv.Intent{Txn: q.Txn, Start: q.Start, Anchor: q.Anchor, TS: c,
			Laid: q.Laid, Coord: q.Coord, Value: p.Value, Delete: p.Delete, Seq: p.Seq, Earlier: earlier}, own[i] != nil)
		if err != nil {
			return err
		}
	}
	return nil
}
