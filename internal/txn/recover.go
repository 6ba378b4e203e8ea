package txn

import (
	"context"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// Push asks the record of a transaction that is in somebody's way, and returns what has become of it. If its record is
// staged and its coordinator has had its time, the writes are asked too, and the record is told what they say: recovery,
// which anyone may do, any number of times and at once (package eval, P1 to P4).
//
// That a transaction turns out to be committed does not mean that its versions may be shown: whoever reads them owes X2
// for them like everyone else.
func (db *DB) Push(ctx context.Context, p *kv.PushRequest) (*kv.TxnStatus, error) {
	resp, err := db.o.Router.Do(ctx, p.Anchor, kv.Request{Push: p})
	if err != nil {
		return nil, err
	}
	st := resp.EndTxn
	if st.State != kv.Staged || len(st.Recover) == 0 {
		return st, nil
	}
	missing := false
	if !db.o.Unsafe.TrustStaged {
		query := &kv.QueryRequest{Txn: p.Txn, TS: st.CommitTS, Keys: st.Recover, Seq: st.RecoverSeq}
		for _, res := range db.o.Router.Spread(ctx, []route.Addressed{{Request: kv.Request{Query: query}}}) {
			if res.Err != nil {
				return nil, res.Err // neither there nor missing: it stays staged
			}
			missing = missing || len(res.Response.Query.Missing) > 0
		}
	}
	outcome := "committed"
	if missing {
		outcome = "missing"
	}
	db.m.Recoveries.WithLabelValues(outcome).Inc()
	resp, err = db.o.Router.Do(ctx, p.Anchor, kv.Request{Recover: &kv.RecoverRequest{Push: *p, TS: st.CommitTS, Missing: missing}})
	if err != nil {
		return nil, err
	}
	return resp.EndTxn, nil
}
