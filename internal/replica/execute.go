package replica

import (
	"errors"
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/replica/eval/conflict"
	"github.com/longitude-db/longitude/internal/rt"
)

// Execute serves the requests of a batch, those of one batch in parallel. It blocks until all are answered.
func (s *Store) Execute(b *kv.Batch) *kv.BatchReply {
	s.serving.Add(1)
	defer s.serving.Add(-1)
	if len(b.Requests) == 1 {
		one := &struct {
			reply kv.BatchReply
			resp  [1]kv.Response
		}{}
		one.resp[0] = s.execute(&b.Requests[0])
		one.reply.Responses = one.resp[:]
		return &one.reply
	}
	out := &kv.BatchReply{Responses: make([]kv.Response, len(b.Requests))}
	last := len(b.Requests) - 1
	g := rt.NewGroup(s.opts.RT)
	for i := range b.Requests[:max(last, 0)] {
		g.Go("request", func() { out.Responses[i] = s.execute(&b.Requests[i]) })
	}
	if last >= 0 {
		out.Responses[last] = s.execute(&b.Requests[last])
	}
	g.Wait(rt.Forever) // each of them has a limit
	return out
}

func (s *Store) execute(q *kv.Request) (resp kv.Response) {
	if w := q.Write; w != nil && w.OnePhase && w.Try != 0 {
		resp = s.executeOnce(q)
	} else {
		resp = s.executeAny(q)
	}
	if resp.Err != nil && resp.Err.Node == 0 {
		resp.Err.Node = s.opts.Node
	}
	return resp
}

func (s *Store) executeAny(q *kv.Request) kv.Response {
	if s.stopped() {
		return failed(kv.Errorf(kv.ErrUnavailable, "node %d is stopping", s.opts.Node))
	}
	r := s.ranges.get(q.Range)
	if r == nil || r.desc.Load() == nil {
		e := kv.Errorf(kv.ErrRangeMismatch, "r%d is not on node %d", q.Range, s.opts.Node)
		e.Descriptors = s.holders(q)
		return failed(e)
	}
	if kerr := r.refusal(); kerr != nil { // Q1
		return failed(kerr)
	}
	var resp kv.Response
	if q.Admin != nil && len(q.Admin.Key) > 0 && !r.desc.Load().Span.Contains(q.Admin.Key) {
		resp = failed(r.mismatch(q))
	} else if q.Admin != nil {
		resp = r.administer(q.Admin)
	} else if q.Locks != nil {
		resp = r.serveLocks(q)
	} else if q.Resolve != nil && len(q.Resolve.Spans) > 0 {
		resp = r.resolveSpans(q)
	} else {
		past := false
		if q.Read != nil && q.Read.AnyReplica && q.Read.Own == nil { // closed timestamps say nothing of intents that it may own
			resp, past = r.readClosed(q)
		}
		if !past {
			placed, f := s.place(q)
			resp = r.serve(placed)
			f.finish(&resp)
		}
	}
	return resp
}

func failed(e *kv.Error) kv.Response { return kv.Response{Err: e} }

// serve is the way of a request that is evaluated: locks, latches, lease, evaluation; and what is in its way goes first.
func (r *Replica) serve(q *kv.Request) (resp kv.Response) {
	var w *conflict.Request
	l := r.locking(q)
	defer func() { l.after(&resp) }()
	for {
		if kerr := l.before(); kerr != nil {
			return failed(kerr)
		}
		resp, met := r.attempt(q, &w, l)
		switch {
		case !met && w != nil:
			return r.store.opts.Unsafe.released(resp)
		case !met:
			return resp
		case l.waits():
		case l.glances():
			held, err := w.Glance()
			if err != nil {
				return failed(asError(err))
			}
			if kerr := l.refused(held); kerr != nil {
				return failed(kerr)
			}
		default:
			if err := w.Clear(); err != nil {
				return failed(asError(err))
			}
		}
	}
}

// newPushes is how the requests of this node ask about transactions in their way.
func (s *Store) newPushes() *conflict.Pushes {
	o := &s.opts
	return conflict.NewPushes(o.RT, o.Clock.Now, func(q *kv.PushRequest) (*kv.TxnStatus, error) {
		if o.Push == nil {
			return nil, kv.Errorf(kv.ErrUnavailable, "nobody can be asked about transaction %s", q.Txn)
		}
		o.Metrics.Pushes.Inc()
		return o.Push(q)
	})
}

// newConflicts is how the requests of this range get past the intents of others.
func (r *Replica) newConflicts() *conflict.Waits {
	o := &r.store.opts
	return conflict.New(conflict.Options{
		RT: o.RT, Limit: o.RequestLimit, Pushes: r.store.pushes, Through: o.ReadThrough,
		Resolve: func(q *kv.ResolveRequest) error {
			if kerr := r.resolveMet(q); kerr != nil {
				return kerr
			}
			return nil
		},
		Behind: r.resolveBehind,
	})
}

// asError makes an error of a layer below one that callers can branch on.
func asError(err error) *kv.Error {
	var e *kv.Error
	if errors.As(err, &e) {
		return e
	}
	return kv.Errorf(kv.ErrInternal, "%v", err)
}

// attempt evaluates a request once. If it meets conflicts it has them watched while it still holds its latches, and
// reports so, as it does if locks are in its way; otherwise it returns the answer.
func (r *Replica) attempt(q *kv.Request, w **conflict.Request, l *locking) (_ kv.Response, met bool) {
	if !eval.InBounds(r.desc.Load(), q) {
		return failed(r.mismatch(q)), false
	}
	if _, kerr := r.lease.check(clock.Timestamp{}); kerr != nil {
		return failed(kerr), false // no need to wait for latches
	}
	began := r.store.opts.RT.Now()
	guard, err := r.latches.Acquire(eval.Latches(q), r.store.opts.RequestLimit)
	if err != nil {
		return failed(kv.Errorf(kv.ErrUnavailable, "other requests were in the way for %s", r.store.opts.RequestLimit)), false
	}
	r.store.opts.Metrics.Latches.Observe((r.store.opts.RT.Now() - began).Seconds())
	var pushed map[kv.TxnID]clock.Timestamp
	var finished map[kv.TxnID]kv.TxnStatus
	if *w != nil {
		pushed, finished = (*w).Pushed, (*w).Finished
	}
	applied := func() {}
	if q.Write != nil {
		applied = r.closing.begin() // before the timestamp cache is asked (F1)
	}
	d, view, res, kerr := r.evaluate(l.wider(q), pushed, finished, l.skipped())
	if kerr == nil && len(res.Conflicts) == 0 && res.Response.Err == nil {
		stands := false
		if stands, kerr = l.during(&res.Response); kerr == nil && !stands {
			applied()
			guard.Release()
			return kv.Response{}, true
		}
	}
	switch {
	case kerr != nil:
		applied()
		guard.Release()
		return failed(kerr), false
	case len(res.Conflicts) > 0:
		if *w == nil {
			*w = r.conflicts.Request(q)
		}
		(*w).Watch(res.Conflicts)
		l.claim(res.Conflicts)
		applied()
		guard.Release()
		return kv.Response{}, true
	case len(res.Batch) == 0:
		applied()
		guard.Release()
		return res.Response, false
	}
	cmd := command{Term: view.term, Generation: d.Generation, Batch: res.Batch}
	kerr = r.proposeWait(&proposal{cmd: cmd}, func(*kv.Error) {
		applied()
		guard.Release() // only now: until the outcome is known the write may still land
		r.conflicts.Released(res.Released)
	})
	if kerr != nil {
		return failed(kerr), false
	}
	return res.Response, false
}

// evaluate evaluates a request whose latches are held.
func (r *Replica) evaluate(q *kv.Request, pushed map[kv.TxnID]clock.Timestamp, finished map[kv.TxnID]kv.TxnStatus, skip map[string]bool) (*kv.RangeDescriptor, *leaseView, eval.Result, *kv.Error) {
	if !eval.InBounds(r.desc.Load(), q) { // it may have changed while we waited for latches, and will not while we hold them
		return nil, nil, eval.Result{}, r.mismatch(q)
	}
	return r.evaluateWith(pushed, func(env *eval.Env) eval.Result {
		env.Skip, env.Finished = skip, finished
		res := eval.Evaluate(env, q)
		if r.store.opts.Unsafe.PlaceUnmarked && q.Read != nil && q.Read.Fresh != nil {
			res.Reads = eval.Reads{}
		}
		return res
	})
}

// evaluateWith evaluates under the lease. It is checked before, so that evaluation begins on state that has everything of
// earlier leases, and after, for what the answer guarantees (L2).
func (r *Replica) evaluateWith(pushed map[kv.TxnID]clock.Timestamp, fn func(*eval.Env) eval.Result) (*kv.RangeDescriptor, *leaseView, eval.Result, *kv.Error) {
	d := r.desc.Load()
	view, kerr := r.lease.check(clock.Timestamp{})
	if kerr != nil {
		return nil, nil, eval.Result{}, kerr
	}
	now, err := r.store.opts.Clock.Now()
	if err != nil {
		return nil, nil, eval.Result{}, kv.Errorf(kv.ErrFenced, "%v", err)
	}
	res := fn(&eval.Env{
		Reader: r.store.opts.Engines.State, IntentFilter: &r.store.intentFilter, Desc: d, Cache: r.reads, Now: now, Node: r.store.opts.Node,
		Observed: &r.store.observed, LeaseStart: view.low, Pushed: pushed, Gone: r.store.opts.Cluster.Gone,
	})
	if len(res.Conflicts) > 0 {
		return d, view, res, nil
	}
	global := res.Served
	if res.Marked {
		global = clock.Timestamp{}
	}
	after, kerr := r.lease.checkAs(res.Served, global)
	if kerr == nil && after.term != view.term {
		kerr = r.lease.notLeaseholder()
	}
	if kerr != nil {
		return nil, nil, eval.Result{}, kerr
	}
	res.Reads.Record(r.reads)
	if rd := res.Response.Read; rd != nil && rd.Bumped > 0 {
		r.store.opts.Metrics.Bumps.Add(float64(rd.Bumped))
	}
	r.store.counted(res.Response.Read)
	return d, view, res, nil
}

// counted notes what a read has counted instead of returning it, if that is what it did.
func (s *Store) counted(rd *kv.ReadResponse) {
	if rd == nil {
		return
	}
	n := int64(0)
	for i := range rd.Rows {
		for _, c := range rd.Rows[i].Counts {
			n += c
		}
	}
	if n > 0 {
		s.opts.Metrics.CountedRows.Add(float64(n))
	}
}

// administer serves a request to change the range itself.
func (r *Replica) administer(q *kv.AdminRequest) kv.Response {
	var ds []kv.RangeDescriptor
	var kerr *kv.Error
	switch {
	case len(q.SplitAt) > 0:
		ds, kerr = r.split(q.SplitAt, q.NewRange)
	case q.TransferLease != 0:
		kerr = r.transferLease(q.TransferLease, true)
		ds = []kv.RangeDescriptor{*r.desc.Load()}
	case q.AddReplica != 0:
		ds, kerr = r.addReplica(q.AddReplica)
	default:
		kerr = kv.Errorf(kv.ErrInternal, "an empty admin request")
	}
	if kerr != nil {
		return failed(kerr)
	}
	return kv.Response{Admin: &kv.AdminResponse{Descriptors: ds}}
}

// mismatch says that a request does not fit the range, and what this node knows of where it fits.
func (r *Replica) mismatch(q *kv.Request) *kv.Error {
	e := kv.Errorf(kv.ErrRangeMismatch, "the request does not fit %s", r.desc.Load())
	e.Descriptors = r.store.holders(q)
	return e
}

// holders lists the descriptors here that hold something of what a request touches.
func (s *Store) holders(q *kv.Request) (ds []kv.RangeDescriptor) {
	for _, h := range s.ranges.view.Load().sorted {
		d := h.desc.Load()
		if h.id == q.Range || touches(q, d.Span) {
			ds = append(ds, *d)
		}
	}
	return ds
}

// touches reports whether a request has a key in common with a span.
func touches(q *kv.Request, s kv.Span) bool {
	for _, l := range eval.Latches(q) {
		if len(l.Span.End) == 0 && s.Contains(l.Span.Start) || len(l.Span.End) > 0 && s.Overlaps(l.Span) {
			return true
		}
	}
	var anchor kv.Key
	switch {
	case q.Resolve != nil:
		return slices.ContainsFunc(q.Resolve.Spans, s.Overlaps)
	case q.EndTxn != nil:
		anchor = q.EndTxn.Anchor
	case q.Push != nil:
		anchor = q.Push.Anchor
	case q.Recover != nil:
		anchor = q.Recover.Push.Anchor
	case q.Heartbeat != nil:
		anchor = q.Heartbeat.Anchor
	case q.Locks != nil:
		anchor = q.Locks.Key
	case q.Admin != nil && len(q.Admin.Key) > 0:
		anchor = q.Admin.Key
	case q.Admin != nil:
		anchor = q.Admin.SplitAt
	}
	return len(anchor) > 0 && s.Contains(anchor)
}
