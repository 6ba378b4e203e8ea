package eval

import (
	"bytes"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// resolve is V6.
func (ev *evaluation) resolve(q *kv.ResolveRequest) error {
	if !q.Status.State.Final() || (q.Status.State == kv.Committed && q.Status.CommitTS.IsZero()) {
		return kv.Errorf(kv.ErrInternal, "resolving intents of %s, which is %s at %s", q.Txn, q.Status.State, q.Status.CommitTS)
	}
	err := ev.view(mvcc.Options{TS: ev.env.Now.Start(), Txn: q.Txn}, func(v *mvcc.View) error {
		for _, k := range q.Keys {
			found, err := v.ResolveIntent(&ev.batch, k, q.Txn, q.Status)
			if err != nil {
				return err
			}
			if found {
				ev.res.Released = append(ev.res.Released, k)
			}
		}
		return nil
	})
	if err == nil && q.Status.State == kv.Committed {
		ev.env.Observed.Forward(q.Status.CommitTS) // V7
	}
	return err
}

// maxInline bounds the entries that an inline read returns.
const maxInline = 10_000

// inline reads or swaps unversioned keys. They have no history: an answer is as of now.
func (ev *evaluation) inline(q *kv.InlineRequest) error {
	resp := &kv.InlineResponse{}
	ev.res.Response.Inline = resp
	if !q.Swap {
		limit := q.Limit
		if limit <= 0 || limit > maxInline {
			limit = maxInline
		}
		ks, values, err := mvcc.ScanInline(ev.env.Reader, q.Span, limit)
		resp.Keys, resp.Values = ks, values
		return err
	}
	present, err := mvcc.GetInline(ev.env.Reader, q.Key)
	if err != nil {
		return err
	}
	rec, err := mvcc.GetRecord(ev.env.Reader, ev.env.IntentFilter, q.Key, q.ID)
	switch {
	case err != nil:
		return err
	case q.ID.IsZero():
		return kv.Errorf(kv.ErrInternal, "a swap of %s without a name", q.Key)
	case rec != nil: // V4
		if resp.Swapped = rec.State == kv.Committed; !resp.Swapped {
			resp.Values = [][]byte{present}
		}
		return nil
	}
	if err := ev.refuseOld(q.Start); err != nil {
		return err
	}
	// A swap that is refused is remembered, too: its copy may come when the key has the value that was expected.
	done := &kv.Record{State: kv.Aborted, Start: q.Start, Touched: ev.env.Now.Earliest}
	if !bytes.Equal(present, q.Expect) {
		resp.Values = [][]byte{present}
		return mvcc.PutRecord(&ev.batch, q.Key, q.ID, done, false)
	}
	resp.Swapped, done.State = true, kv.Committed
	if err := mvcc.PutRecord(&ev.batch, q.Key, q.ID, done, false); err != nil {
		return err
	}
	return mvcc.PutInline(&ev.batch, q.Key, q.Value)
}
