package replica

import (
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
)

// What one request to resolve by spans resolves: a command that is applied in some milliseconds, so that a transaction of
// any size is in nobody's way for longer.
const (
	resolveKeys   = 512
	resolveBytes  = 1 << 20
	resolveLookAt = 1 << 15 // intents of anybody
)

// resolveSpans serves a resolve by spans: a part of it, by its keys. These are looked for without latches, since the
// transaction is finished: what it lays from now on are late copies, which are for whoever meets them.
func (r *Replica) resolveSpans(q *kv.Request) kv.Response {
	left := mvcc.Budget{Rows: resolveKeys, Bytes: resolveBytes, Keys: resolveLookAt}
	ks := slices.Clone(q.Resolve.Keys)
	out := &kv.ResolveResponse{}
	for i, s := range q.Resolve.Spans {
		if !r.desc.Load().Span.ContainsSpan(s) {
			return failed(r.mismatch(q))
		}
		// Under a lease state has all that earlier ones did.
		if _, kerr := r.lease.check(clock.Timestamp{}); kerr != nil {
			return failed(kerr)
		}
		found, rest, err := mvcc.IntentsOf(r.store.opts.Engines.State, s, q.Resolve.Txn, &left)
		if err != nil {
			return failed(asError(err))
		}
		ks = append(ks, found...)
		if !rest.Empty() {
			out.More = append(append(out.More, rest), q.Resolve.Spans[i+1:]...)
			break
		}
	}
	if len(ks) > 0 {
		resp := r.serve(&kv.Request{Range: q.Range, Resolve: &kv.ResolveRequest{Txn: q.Resolve.Txn, Status: q.Resolve.Status, Keys: ks}})
		if resp.Err != nil {
			return resp
		}
	} else if _, kerr := r.lease.check(clock.Timestamp{}); kerr != nil {
		return failed(kerr)
	}
	return kv.Response{Resolve: out}
}
