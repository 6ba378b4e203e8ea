package replica

import (
	"slices"
	"sync"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/replica/eval/conflict"
	"github.com/longitude-db/longitude/internal/rt"
)

// What one command resolves: it is applied in some milliseconds, so that a transaction of any size is in nobody's way for longer;
// how many of them one request proposes at once, which share the writing of the log; and how many requests somebody makes who has
// to wait until a whole span is resolved, before looking again.
const (
	resolveKeys     = 512
	resolveBytes    = 1 << 20
	resolveCommands = 4
	resolveLookAt   = 1 << 15 // intents of anybody
	resolveTurns    = 32
)

// resolveSpans serves a resolve by spans: a part of it, by its keys. These are looked for without latches, since the
// transaction is finished: what it lays from now on are late copies, which are for whoever meets them.
func (r *Replica) resolveSpans(q *kv.Request) kv.Response {
	left := mvcc.Budget{Rows: resolveCommands * resolveKeys, Bytes: resolveCommands * resolveBytes, Keys: resolveLookAt}
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
	if kerr := r.resolveInParts(q.Resolve, ks); kerr != nil {
		return failed(kerr)
	}
	return kv.Response{Resolve: out}
}

// resolveInParts resolves intents by several commands at once.
func (r *Replica) resolveInParts(q *kv.ResolveRequest, ks []kv.Key) *kv.Error {
	if len(ks) == 0 {
		_, kerr := r.lease.check(clock.Timestamp{})
		return kerr
	}
	parts := slices.Collect(slices.Chunk(ks, resolveKeys))
	errs := make([]*kv.Error, len(parts))
	resolve := func(i int) {
		resp := r.serve(&kv.Request{Range: r.id, Resolve: &kv.ResolveRequest{Txn: q.Txn, Status: q.Status, Keys: parts[i]}})
		errs[i] = resp.Err
	}
	g := rt.NewGroup(r.store.opts.RT)
	for i := range parts[1:] {
		g.Go("resolve", func() { resolve(i + 1) })
	}
	resolve(0)
	g.Wait(rt.Forever) // each of them has a limit
	for _, kerr := range errs {
		if kerr != nil {
			return kerr
		}
	}
	return nil
}

// resolveMet makes intents go that are in the way of a request here: those on its keys, or all in its spans, as far as resolveTurns go.
func (r *Replica) resolveMet(q *kv.ResolveRequest) *kv.Error {
	if len(q.Spans) == 0 {
		var none *conflict.Request
		resp, _ := r.attempt(&kv.Request{Range: r.id, Resolve: q}, &none, nil) // resolving meets no conflicts
		return resp.Err
	}
	for turn := 0; len(q.Spans)+len(q.Keys) > 0 && turn < resolveTurns; turn++ {
		resp := r.resolveSpans(&kv.Request{Range: r.id, Resolve: q})
		if resp.Err != nil {
			return resp.Err
		}
		q = &kv.ResolveRequest{Txn: q.Txn, Status: q.Status, Spans: resp.Resolve.More}
	}
	return nil
}

// resolveBehind has intents resolved that a read has read through, if the coordinator that should do it is gone: the collector of
// records, which would do it, looks only after a while (eval.Unattended).
func (r *Replica) resolveBehind(q *kv.ResolveRequest, coord kv.Process) {
	s := r.store
	if len(q.Spans) == 0 || !s.opts.Cluster.Gone(coord) || s.stopped() || !s.behind.begin(r.id, q.Txn) {
		return
	}
	s.tasks.Go("resolve-behind", func() {
		defer s.behind.end(r.id, q.Txn)
		for len(q.Spans) > 0 && !s.stopped() {
			resp := r.resolveSpans(&kv.Request{Range: r.id, Resolve: q})
			if resp.Err != nil {
				r.log.Debug("intents that were read through are not resolved", "txn", q.Txn.String(), "err", resp.Err)
				return
			}
			q = &kv.ResolveRequest{Txn: q.Txn, Status: q.Status, Spans: resp.Resolve.More}
		}
	})
}

// behindList is the transactions whose intents resolveBehind is resolving, by range.
type behindList struct {
	mu sync.Mutex
	of map[behindKey]bool
}

type behindKey struct {
	id  kv.RangeID
	txn kv.TxnID
}

// maxBehind bounds them.
const maxBehind = 8

func (b *behindList) begin(id kv.RangeID, txn kv.TxnID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := behindKey{id, txn}
	if b.of[k] || len(b.of) >= maxBehind {
		return false
	}
	if b.of == nil {
		b.of = map[behindKey]bool{}
	}
	b.of[k] = true
	return true
}

func (b *behindList) end(id kv.RangeID, txn kv.TxnID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, behindKey{id, txn})
}
