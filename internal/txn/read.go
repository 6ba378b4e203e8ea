package txn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// ask is a read that is still to be done: a request, or the piece of one that belongs to a range.
type ask struct {
	index int // of the request
	req   *kv.ReadRequest
}

// part is what one range answered.
type part struct {
	ask
	resp *kv.ReadResponse
}

// fetch reads, all ranges in parallel, and returns what each range answered, all of it as of one timestamp, which is now
// the transaction's r (X4). It records what was read.
func (t *Txn) fetch(ctx context.Context, reqs []kv.ReadRequest) ([]part, error) {
	given := ctx
	for {
		ctx, err := t.ready(given)
		if err != nil {
			return nil, err
		}
		f := t.newFetch(reqs)
		if f.lock != nil {
			ctx = t.lockContext(given, f.lock)
			f.locks, f.until = t.lockOwner(), t.db.o.RT.Now()+f.lock.Wait
		}
		if err := f.watchedRun(ctx); err != nil {
			return nil, err
		}
		if t.take(f) {
			return f.parts, nil
		}
		// Another operation of this transaction has moved r meanwhile: these answers are of another timestamp. Or this one
		// has, and did not refresh what the other has read.
	}
}

// fetching is one parallel read under way. It works on copies: nothing of it counts until take.
type fetching struct {
	t         *Txn
	base      clock.Timestamp // the transaction's r when it began
	takes     int             // the transaction's when it began
	refreshed clock.Timestamp // earlier reads are known to hold up to here
	ord       order           // where it reads now
	earlier   []kv.Span       // what the transaction had read before
	todo      []ask
	parts     []part
	first     bool // it is all that the transaction has read, so leaseholders may place it (fresh.go)
	paid      paid
	// Of a locking read: how it locks, in whose name, and until when it waits.
	lock  *kv.ReadLock
	locks *Locks
	until time.Duration
}

func (t *Txn) newFetch(reqs []kv.ReadRequest) *fetching {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &fetching{t: t, base: t.ord.r, takes: t.takes, refreshed: t.ord.r, ord: t.ord, todo: make([]ask, len(reqs))}
	if len(reqs) > 0 {
		f.lock = reqs[0].Lock
	}
	if t.ord.r.Less(t.ord.g) || f.lock != nil {
		f.earlier = t.reads.list() // else r does not move
	}
	f.first = t.placeable() && len(reqs) == 1
	for i := range reqs {
		f.todo[i] = ask{index: i, req: &reqs[i]}
	}
	return f
}

// take makes what was fetched part of the transaction, unless it is of another timestamp by now.
func (t *Txn) take(f *fetching) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ord.r != f.base || t.takes != f.takes && f.base != f.ord.r || f.ord.r.Less(f.base) && !t.placeable() {
		return false
	}
	t.ord = f.ord
	t.takes++
	t.paid.needed, t.paid.waited = max(t.paid.needed, f.paid.needed), t.paid.waited+f.paid.waited
	remember := !t.o.ReadOnly || t.ord.r.Less(t.ord.g) || t.o.Ordering == Uncertainty && t.o.Past.Present()
	for _, p := range f.parts {
		t.newest = t.newest.Forward(p.resp.Newest)
		if !p.resp.Past {
			t.owed = t.owed.Forward(p.resp.Newest)
		}
		if remember {
			t.reads.add(p.covered()...)
		}
	}
	return true
}

// covered is what the answer says everything about.
func (p part) covered() []kv.Span {
	out := make([]kv.Span, 0, len(p.req.Keys)+len(p.req.Spans))
	for _, k := range p.req.Keys {
		out = append(out, kv.Point(k))
	}
	for i, s := range p.req.Spans {
		read, _ := p.split(i, s)
		out = append(out, read)
	}
	return without(out, p.resp.Skipped)
}

// split divides the i-th span into what was read and what is left.
func (p part) split(i int, s kv.Span) (read, rest kv.Span) {
	if !p.resp.Rows[i].More {
		return s, kv.Span{Start: s.End, End: s.End}
	}
	rest = p.resp.Rows[i].Resume
	if p.req.Reverse {
		return kv.Span{Start: rest.End, End: s.End}, rest
	}
	return kv.Span{Start: s.Start, End: rest.Start}, rest
}

// watchedRun is run, accounted for if it may wait for locks.
func (f *fetching) watchedRun(ctx context.Context) (err error) {
	if f.lock == nil {
		return f.run(ctx)
	}
	done := f.t.account.locking(f.t.db.o.RT.Now)
	defer func() { done(f.found()) }()
	return f.run(ctx)
}

// run reads until everything is there as of the same timestamp. It ends: r moves at most once for each node, and not
// beyond g; a locking read holds what it found when it comes again, so only rows that are new can move it once more.
func (f *fetching) run(ctx context.Context) error {
	for len(f.todo) > 0 {
		if ctx.Err() != nil {
			return kv.Errorf(kv.ErrUnavailable, "cancelled by the caller")
		}
		up, err := f.round(ctx)
		if err != nil {
			return err
		}
		if f.ord.r.Less(up) {
			f.moveUp(up)
		}
	}
	// The parts are one snapshot, and so is what was read before: a refresh went with the last round if r moved.
	if len(f.earlier) > 0 && f.refreshed != f.ord.r {
		panic(fmt.Sprintf("txn: X4: read at %s beside reads that hold up to %s", f.ord.r, f.refreshed))
	}
	return nil
}

// round sends what is to be read, and the refresh of earlier reads if r has moved, in one parallel step. up is the
// timestamp that uncertain versions demand; not above r if there are none.
func (f *fetching) round(ctx context.Context) (up clock.Timestamp, err error) {
	t := f.t
	canBump := len(f.earlier) == 0 && len(f.parts) == 0
	f.first = f.first && canBump && len(f.todo) == 1
	reqs := make([]route.Addressed, 0, len(f.todo)+1)
	for _, a := range f.todo {
		reqs = append(reqs, f.addressed(a, canBump))
	}
	moved := f.refreshed.Less(f.ord.r) && len(f.earlier) > 0
	if moved && !t.db.o.Unsafe.SkipRefresh {
		reqs = append(reqs, t.refreshRequest(f.earlier, f.refreshed, f.ord.r))
	}
	todo := f.todo
	f.todo = nil
	results := t.db.o.Router.Spread(ctx, reqs)
	for i := range results {
		res := &results[i]
		if res.Index == len(todo) {
			if res.Err != nil {
				if f.lock != nil {
					t.db.m.Refreshes.WithLabelValues("failed").Inc()
					return up, t.failed(res.Err)
				}
				return up, t.stale(res.Err, f.ord.r)
			}
			continue
		}
		a := ask{index: todo[res.Index].index, req: res.Request.Read}
		to, err := f.answer(a, res)
		if err != nil {
			return up, err
		}
		up = up.Forward(to)
	}
	if moved {
		f.refreshed = f.ord.r
		t.db.m.Refreshes.WithLabelValues("ok").Inc()
	}
	return up, nil
}

// addressed makes the request for a read at r. The limit is lowered for the node that the request really goes to: only
// route knows which one that is, and after a redirection it is another (X5).
func (f *fetching) addressed(a ask, canBump bool) route.Addressed {
	t, ord := f.t, f.ord
	req := *a.req
	req.Txn, req.Start = t.id, t.age
	req.ReadTS, req.Limit, req.MaxLimit = ord.r, ord.g, ord.g
	req.CanBump = canBump && (ord.r.Less(ord.g) || f.lock != nil)
	req.AnyReplica, req.Fresh = !t.o.Past.Present(), nil
	out := route.Addressed{Request: kv.Request{Read: &req}}
	if first := f.first; first || f.lock != nil || ord.r.Less(ord.g) {
		out.Prepare = func(node kv.NodeID, q *kv.Request) {
			rd := *q.Read
			q.Read = &rd
			if first {
				f.place(node, &req, &rd)
			}
			if f.lock != nil { // it reads the newest version: no limit matters
				f.lockAt(q)
				return
			}
			t.mu.Lock()
			observed, known := t.observed[node]
			t.mu.Unlock()
			if known {
				rd.Limit = ord.limit(observed, known)
			}
		}
	}
	return out
}

// answer takes one piece's answer in. It returns where r has to go for it.
func (f *fetching) answer(a ask, res *route.Result) (clock.Timestamp, error) {
	t := f.t
	t.mu.Lock()
	if f.ord.r.Less(f.ord.g) { // else no limit can be lowered, now or later
		t.observed.note(res)
	}
	seen, known := t.observed[res.Node]
	t.mu.Unlock()
	if err := res.Err; err != nil {
		if f.lockAgain(err) {
			f.todo = append(f.todo, a)
			return f.ord.r, nil
		}
		if err.Code != kv.ErrUncertain {
			return f.ord.r, t.failed(err)
		}
		f.todo = append(f.todo, a)
		return f.ord.above(err.TS, seen, known), nil
	}
	resp := res.Response.Read
	switch {
	case resp == nil || len(resp.Rows) != len(a.req.Spans) || len(resp.Values) != len(a.req.Keys):
		return f.ord.r, kv.Errorf(kv.ErrInternal, "node %d answered a read of %d keys and %d spans with something else", res.Node, len(a.req.Keys), len(a.req.Spans))
	case !wellFormed(a.req, resp):
		return f.ord.r, kv.Errorf(kv.ErrInternal, "node %d answered with keys without their values or counts", res.Node)
	case resp.ReadTS.Less(resp.Newest):
		return f.ord.r, kv.Errorf(kv.ErrInternal, "node %d read at %s and saw a version at %s", res.Node, resp.ReadTS, resp.Newest)
	case a.req.Fresh != nil && resp.Placed != nil:
		if err := f.placed(a.req, resp, res.Node); err != nil {
			return f.ord.r, err
		}
	case resp.ReadTS.Less(a.req.ReadTS) || (!a.req.CanBump && resp.ReadTS != a.req.ReadTS):
		return f.ord.r, kv.Errorf(kv.ErrInternal, "node %d was asked to read at %s and did at %s", res.Node, a.req.ReadTS, resp.ReadTS)
	}
	f.parts = append(f.parts, part{ask: a, resp: resp})
	return resp.ReadTS, nil
}

// wellFormed reports whether each row has what it has to have beside its key.
func wellFormed(q *kv.ReadRequest, resp *kv.ReadResponse) bool {
	for i := range resp.Rows {
		rows, counts, values := &resp.Rows[i], 0, 0
		if q.Groups != nil {
			counts = len(rows.Keys)
		}
		if q.Groups == nil || q.Groups.First {
			values = len(rows.Keys)
		}
		if len(rows.Counts) != counts || len(rows.Values) != values {
			return false
		}
	}
	return true
}

// moveUp moves r, and puts what was read in this operation below it back: reading it again, beside the uncertain pieces,
// costs no more time than asking whether it is still so.
func (f *fetching) moveUp(to clock.Timestamp) {
	if f.lock == nil {
		f.t.db.countUncertain(true)
	}
	f.ord.forward(to)
	keep := f.parts[:0]
	for _, p := range f.parts {
		if p.resp.ReadTS == f.ord.r {
			keep = append(keep, p)
		} else {
			f.todo = append(f.todo, p.ask)
		}
	}
	f.parts = keep
}

// Get reads one key; nil: it has no value.
func (t *Txn) Get(ctx context.Context, key kv.Key) ([]byte, error) {
	vals, err := t.GetMany(ctx, []kv.Key{key})
	if err != nil {
		return nil, err
	}
	return vals[0], nil
}

// GetMany reads keys, from all their ranges at once. A key without a value gives nil.
func (t *Txn) GetMany(ctx context.Context, ks []kv.Key) ([][]byte, error) {
	values, _, err := t.getMany(ctx, ks, Lock{})
	return values, err
}

func (t *Txn) getMany(ctx context.Context, ks []kv.Key, l Lock) (out [][]byte, skipped []bool, _ error) {
	if _, err := t.ready(ctx); err != nil {
		return nil, nil, err
	}
	out, skipped = make([][]byte, len(ks)), make([]bool, len(ks))
	want := t.unwritten(ks, out)
	if len(want) == 0 {
		return out, skipped, nil
	}
	slices.SortFunc(want, func(a, b int) int { return ks[a].Compare(ks[b]) })
	sorted := make([]kv.Key, 0, len(want))
	for _, i := range want {
		if n := len(sorted); n == 0 || !sorted[n-1].Equal(ks[i]) {
			sorted = append(sorted, ks[i])
		}
	}
	parts, err := t.fetch(ctx, []kv.ReadRequest{{Keys: sorted, Lock: t.readLock(l), Own: t.ownUpTo(math.MaxUint64)}})
	if err != nil {
		return nil, nil, err
	}
	// Ranges hold contiguous keys, so the parts in order of their first keys are the sorted keys.
	slices.SortFunc(parts, func(a, b part) int { return a.req.Keys[0].Compare(b.req.Keys[0]) })
	for _, p := range parts {
		for j, k := range p.req.Keys {
			skip := slices.ContainsFunc(p.resp.Skipped, k.Equal)
			for len(want) > 0 && ks[want[0]].Equal(k) {
				if len(p.resp.Values[j]) > 0 {
					out[want[0]] = p.resp.Values[j]
				}
				skipped[want[0]] = skip
				want = want[1:]
			}
		}
	}
	if len(want) > 0 {
		return nil, nil, kv.Errorf(kv.ErrInternal, "the ranges left out key %s", ks[want[0]])
	}
	return out, skipped, nil
}

// unwritten fills in what the transaction itself has written, and lists the others.
func (t *Txn) unwritten(ks []kv.Key, out [][]byte) (want []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range ks {
		if v, ok := t.writes.get(k, t.writes.seq); ok {
			out[i] = v.value
		} else {
			want = append(want, i)
		}
	}
	return want
}

// byStart orders chunks of rows of the same span.
func byStart(a, b chunk) int { return cmp.Compare(string(a.span.Start), string(b.span.Start)) }
