package route

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// maxBatchBytes is about how large one message may get; more goes in several.
const maxBatchBytes = 8 << 20

// item is one request, or one piece of one, on its way.
type item struct {
	seq  int // order of the results
	key  kv.Key
	req  kv.Request
	prep func(kv.NodeID, *kv.Request)

	desc      *kv.RangeDescriptor
	sent      kv.Request
	tries     int           // that led nowhere: chooses the replica
	failing   time.Duration // since when tries have led nowhere; 0: none has
	redirects int           // in a row
	near      time.Duration // it went to the replica on this node, which may wait so long (near.go)
	after     time.Duration // not to be sent before
	last      *kv.Error     // why the latest try failed
	res       Result
	done      bool
}

func newItem(i int, a Addressed) *item {
	it := &item{seq: i, key: a.Key, req: a.Request, prep: a.Prepare, res: Result{Index: i}}
	if it.key == nil {
		it.key = keyOf(&it.req)
	}
	return it
}

func (it *item) fail(err *kv.Error) { it.done, it.res.Err, it.res.Response = true, err, nil }

// engine carries a set of items through rounds: choose a node for each, send, sort the answers. A round ends when all of
// its nodes have answered or gone silent.
type engine struct {
	r        *Router
	ctx      context.Context
	deadline time.Duration
	spread   bool
	sent     bool // something was
	items    []*item

	// What a round of one item needs, which most are: with the engine they are one allocation.
	few struct {
		items, due, batched [1]*item
		groups              [1]*batch
		batch               batch
		calls               [1]*kv.Batch
		call                kv.Batch
		requests            [1]kv.Request
		replies             [1]*kv.BatchReply
	}
}

func (e *engine) run() {
	for {
		due, next := e.due()
		if len(due) == 0 && next == 0 {
			return
		}
		if err := e.r.over(e.ctx, e.deadline); err != nil {
			e.giveUp(err)
			return
		}
		if len(due) == 0 {
			e.r.o.RT.Sleep(max(0, min(next, e.deadline)-e.r.o.RT.Now()))
			continue
		}
		e.send(e.group(due))
	}
}

// due lists the items to send now. If there are none, next is when the first one is due, or 0 if all are done.
func (e *engine) due() (due []*item, next time.Duration) {
	now := e.r.o.RT.Now()
	due = e.few.due[:0]
	for _, it := range e.items {
		switch {
		case it.done:
		case it.after <= now:
			due = append(due, it)
		case next == 0 || it.after < next:
			next = it.after
		}
	}
	return due, next
}

// batch is what goes to one node in one message.
type batch struct {
	node  kv.NodeID
	items []*item
	bytes int
}

// group finds each item's range and node. The order of nodes is that of the items, so it is the same for the same seed.
func (e *engine) group(due []*item) (out []*batch) {
	out = e.few.groups[:0]
	for _, it := range due {
		d, err := e.r.lookup(e.ctx, it.key, e.deadline)
		if err != nil {
			it.fail(e.final(it, err))
			continue
		}
		it.desc = d
		n := e.r.choose(d, it.tries)
		if it.tries+it.redirects == 0 && anyReplica(&it.req) && e.r.o.Local != nil {
			if _, here := d.On(e.r.o.Node); here {
				n = e.r.o.Node // it may be able to answer; if not it says who leads
			}
		}
		if it.near = e.near(it, n); it.near > 0 {
			n = e.r.o.Node
		}
		if n == 0 {
			it.fail(kv.Errorf(kv.ErrInternal, "descriptor without a voter: %s", d))
			continue
		}
		size := sizeOf(&it.req)
		i := slices.IndexFunc(out, func(b *batch) bool { return b.node == n && b.bytes+size <= maxBatchBytes })
		if i < 0 {
			b := &batch{node: n}
			if i = len(out); i == 0 {
				b = &e.few.batch
				*b = batch{node: n, items: e.few.batched[:0]}
			}
			out = append(out, b)
		}
		out[i].items = append(out[i].items, it)
		out[i].bytes += size
	}
	return out
}

func anyReplica(q *kv.Request) bool { return q.Read != nil && q.Read.AnyReplica }

// choose picks the replica to ask: the known leaseholder first; after failures the others in turn. Nodes that seem dead
// come last.
func (r *Router) choose(d *kv.RangeDescriptor, tries int) kv.NodeID {
	leader := r.cache.leader(d.ID)
	if leader != 0 && (r.o.Alive(leader) || tries%4 == 3) {
		return leader
	}
	voters := make([]kv.NodeID, 0, len(d.Replicas))
	for _, rep := range d.Replicas {
		if !rep.Learner {
			voters = append(voters, rep.Node)
		}
	}
	if len(voters) == 0 {
		return 0
	}
	rank := func(n kv.NodeID) int {
		switch {
		case !r.o.Alive(n):
			return 3
		case n == d.Preferred:
			return 0
		case n == r.o.Node:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(voters, func(a, b kv.NodeID) int { return cmp.Compare(rank(a), rank(b)) })
	return voters[tries%len(voters)]
}

// send sends the batches, in parallel where there are several, and takes the answers in, one batch after the other.
func (e *engine) send(batches []*batch) {
	replies, calls := e.few.replies[:], e.few.calls[:]
	if len(batches) > 1 {
		replies, calls = make([]*kv.BatchReply, len(batches)), make([]*kv.Batch, len(batches))
	}
	for i, b := range batches {
		calls[i] = e.prepare(b)
	}
	scopeOf(e.ctx).sent(len(batches))
	if len(batches) == 1 {
		replies[0] = e.r.call(e.ctx, batches[0].node, calls[0], e.deadline)
	} else if len(batches) > 1 {
		g := rt.NewGroup(e.r.o.RT)
		for i, b := range batches {
			g.Go("route-batch", func() { replies[i] = e.r.call(e.ctx, b.node, calls[i], e.deadline) })
		}
		g.Wait(rt.Forever) // each call has its own limit
	}
	for i, b := range batches {
		for j, it := range b.items {
			if replies[i] == nil || j >= len(replies[i].Responses) {
				e.silent(it, b.node)
			} else {
				e.answer(it, b.node, &replies[i].Responses[j])
			}
		}
	}
}

func (e *engine) prepare(b *batch) *kv.Batch {
	var out *kv.Batch
	if len(b.items) == 1 && !e.sent {
		out = &e.few.call
		out.Requests = e.few.requests[:]
	} else { // what was sent before may still be under way
		out = &kv.Batch{Requests: make([]kv.Request, len(b.items))}
	}
	e.sent = true
	for i, it := range b.items {
		it.sent = it.req
		it.sent.Range = it.desc.ID
		if it.prep != nil {
			it.prep(b.node, &it.sent)
		}
		if it.near > 0 {
			atHand(&it.sent, it.near)
		}
		out.Requests[i] = it.sent
	}
	return out
}

// silent notes that a node did not answer: the item may have been executed there.
func (e *engine) silent(it *item, n kv.NodeID) {
	e.r.m.retry("no answer")
	it.res.Maybe = it.res.Maybe || mutates(&it.req)
	e.again(it, n, kv.Errorf(kv.ErrUnavailable, "node %d does not answer", n))
}

// again schedules another try after a failure that says nothing about who leads the range.
func (e *engine) again(it *item, n kv.NodeID, why *kv.Error) {
	it.last = why
	if e.r.cache.leader(it.desc.ID) == n {
		e.r.cache.lead(it.desc.ID, 0)
	}
	it.tries++
	it.redirects = 0
	if it.tries%3 == 0 {
		e.r.cache.evict(it.desc) // perhaps it is the descriptor that is wrong
	}
	now := e.r.o.RT.Now()
	if it.failing == 0 {
		it.failing = now
	}
	it.after = now + e.r.pauseAfter(now-it.failing)
}

// answer takes one response in: it is the caller's, or it says where to ask instead.
func (e *engine) answer(it *item, n kv.NodeID, resp *kv.Response) {
	err := resp.Err
	if err == nil {
		if it.near > 0 {
			e.r.m.Near.WithLabelValues("served").Inc()
		}
		if !anyReplica(&it.sent) { // who leads is not known then
			e.r.cache.lead(it.desc.ID, n)
		}
		it.done, it.res.Node, it.res.Request, it.res.Response = true, n, it.sent, resp
		return
	}
	switch err.Code {
	case kv.ErrNotLeaseholder:
		if it.near > 0 {
			e.r.m.Near.WithLabelValues("late").Inc()
		}
		e.r.m.retry("not leaseholder")
		e.redirect(it, n, err)
	case kv.ErrRangeMismatch:
		e.r.m.retry("range mismatch")
		e.mismatch(it, n, err)
	case kv.ErrUnavailable, kv.ErrFenced:
		e.r.m.retry("unavailable")
		e.again(it, n, err)
	case kv.ErrTooEarly:
		e.r.m.retry("too early")
		e.tooEarly(it, n, err)
	case kv.ErrAmbiguous:
		e.r.m.retry("ambiguous")
		it.res.Maybe = it.res.Maybe || mutates(&it.req)
		e.again(it, n, err)
	default:
		e.r.cache.lead(it.desc.ID, n)
		it.res.Node, it.res.Request = n, it.sent
		it.fail(err)
	}
}

// tooEarly asks the leaseholder again in a moment: it leads, so that nothing else has to be looked for. A caller that would
// rather ask for another timestamp is told at once.
func (e *engine) tooEarly(it *item, n kv.NodeID, err *kv.Error) {
	e.r.cache.lead(it.desc.ID, n)
	if scopeOf(e.ctx).punctual {
		it.res.Node, it.res.Request = n, it.sent
		it.fail(err)
		return
	}
	it.last = err
	it.tries++
	it.redirects = 0
	it.after = e.r.o.RT.Now() + e.r.backoff(it.tries)
}

// redirect follows a hint at once, but not for ever: two nodes may each think that the other leads.
func (e *engine) redirect(it *item, n kv.NodeID, err *kv.Error) {
	to := err.Leaseholder
	if _, member := it.desc.On(to); to == 0 || to == n || !member || !e.r.o.Alive(to) || it.redirects >= 2 {
		if to != 0 && to != n && member && e.r.o.Alive(to) {
			defer e.r.cache.lead(it.desc.ID, to) // believed, but after a pause
		}
		e.again(it, n, err)
		return
	}
	it.last = err
	it.redirects++
	e.r.cache.lead(it.desc.ID, to)
}

// mismatch learns the descriptors that the range answered with. A request that no longer fits into one range is cut
// again, or given back.
func (e *engine) mismatch(it *item, n kv.NodeID, err *kv.Error) {
	news := false
	for i := range err.Descriptors {
		d := err.Descriptors[i]
		news = e.r.cache.insert(&d) || news
	}
	it.last = err
	d, _ := e.r.cache.get(it.key)
	news = news || (d != nil && d != it.desc) // another task may have learnt it already
	switch {
	case it.req.Admin != nil && len(it.req.Admin.SplitAt) > 0:
		it.fail(err) // it may be done already: Split sees that by where the range starts
	case d != nil && !within(&it.req, d.Span):
		e.recut(it, err)
	case !news:
		e.r.cache.evict(it.desc)
		e.again(it, n, err)
	default:
		if it.redirects++; it.redirects > 4 {
			e.again(it, n, err)
		}
	}
}

// recut replaces an item that does not fit into one range by its pieces, or gives it back where that is not possible.
func (e *engine) recut(it *item, err *kv.Error) {
	if !e.spread || !cuttable(&it.req) {
		it.fail(err)
		return
	}
	it.done, it.seq = true, -1
	e.cut(&item{seq: it.res.Index, key: it.key, req: it.req, prep: it.prep, res: Result{Index: it.res.Index, Maybe: it.res.Maybe}})
}

// giveUp ends all items that are still on their way.
func (e *engine) giveUp(why *kv.Error) {
	for _, it := range e.items {
		if !it.done {
			it.fail(e.final(it, why))
		}
	}
}

// final is the error of an item whose time is up (O3).
func (e *engine) final(it *item, why *kv.Error) *kv.Error {
	code, what := kv.ErrUnavailable, "was not executed"
	if it.res.Maybe {
		code, what = kv.ErrAmbiguous, "may or may not have been executed"
	}
	err := kv.Errorf(code, "request at key %s %s: %s", it.key, what, why.Msg)
	if it.last != nil {
		err.Msg += "; last answer: " + it.last.Error()
	}
	return err
}

// results lists the outcomes in the order of the requests, and the pieces of one request in the order of cutting.
func (e *engine) results() []Result {
	if len(e.items) == 1 {
		return []Result{e.items[0].res}
	}
	out := make([]Result, 0, len(e.items))
	for _, it := range e.items {
		if it.seq >= 0 {
			out = append(out, it.res)
		}
	}
	slices.SortStableFunc(out, func(a, b Result) int { return cmp.Compare(a.Index, b.Index) })
	return out
}
