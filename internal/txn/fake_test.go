package txn

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// world is a naive second implementation of everything below this package: all ranges of all nodes in one structure,
// each request executed in one indivisible step. What it does is what package kv says that ranges do, and nothing else.
type world struct {
	mu       sync.Mutex
	loop     *eventloop.Loop // nil with goroutines
	base     rt.Runtime
	ranges   []*fakeRange
	nodes    map[kv.NodeID]*fakeNode
	rows     map[string]*row
	records  map[kv.TxnID]*kv.Record
	reads    []readMark
	inline   map[string][]byte
	observed map[kv.NodeID]clock.Timestamp
	// recoveries counts staged transactions that were finished by others than their coordinator.
	recoveries int
	wrong      error // a range found a contradiction
	// recover: whoever meets a staged transaction calls DB.Push, instead of the naive recovery here.
	recover bool
	staged  *kv.PushRequest // met by the last step
	busy    *waiting
	held    map[string]bool // writes to these keys are still on their way
	// copied is a key: the next write to it is delivered again after copyAfter.
	again     func() time.Duration // after which a write is delivered again; 0: it is not
	copied    string
	copyAfter time.Duration
	deny      func(*kv.WriteRequest) *kv.Error
	page      int               // how many rows one request counts; 0: all
	calls     map[string]string // one-phase commits that are under way, or were refused
	refuse    map[string]bool   // parts of the ranges' side that are left out, for negative controls

	latency func() time.Duration
	lose    func() bool // an answer
	dies    func() bool // a coordinator, once it has acknowledged
	now     func() time.Duration
	trace   func(string, ...any)
}

type fakeRange struct {
	desc     kv.RangeDescriptor
	leader   kv.NodeID
	lowWater clock.Timestamp
	locks    *fakeLocks
}

type fakeNode struct {
	id     kv.NodeID
	w      *world
	rt     rt.Runtime
	offset time.Duration
	eps    time.Duration
	lie    time.Duration // how far true time is outside the interval that the node believes in
	db     *DB
	router *route.Router
}

type row struct {
	versions []fakeVersion // ascending
	intent   *kv.Intent
	values   map[uint64]fakeVersion // of the intent's transaction, by number
}

// own is what the transaction of the intent sees of its own writes.
func (r *row) own(seq uint64, ignored []kv.SeqRange) (v fakeVersion, ok bool) {
	best := uint64(0)
	for s, x := range r.values {
		taken := slices.ContainsFunc(ignored, func(i kv.SeqRange) bool { return i.After < s && s <= i.To })
		if s <= seq && !taken && (!ok || s > best) {
			v, best, ok = x, s, true
		}
	}
	return v, ok
}

type fakeVersion struct {
	ts    clock.Timestamp
	value []byte // nil: deleted
}

type readMark struct {
	span kv.Span
	ts   clock.Timestamp
	txn  kv.TxnID
}

const epoch = 1_700_000_000_000_000_000

func newWorld(loop *eventloop.Loop) *world {
	w := &world{loop: loop, nodes: map[kv.NodeID]*fakeNode{}, rows: map[string]*row{}, records: map[kv.TxnID]*kv.Record{},
		inline: map[string][]byte{}, observed: map[kv.NodeID]clock.Timestamp{}, refuse: map[string]bool{}, held: map[string]bool{}}
	if loop != nil {
		w.now = loop.Now
	} else {
		w.base = rt.New()
		w.now = w.base.Now
	}
	w.ranges = []*fakeRange{{desc: kv.RangeDescriptor{ID: 1, Span: kv.Span{Start: keys.Min, End: keys.Max}, Generation: 1}}}
	return w
}

func (w *world) addNode(id kv.NodeID, offset, eps time.Duration, o DBOptions) *fakeNode {
	n := &fakeNode{id: id, w: w, offset: offset, eps: eps}
	if w.loop != nil {
		n.rt = w.loop.Runtime(fmt.Sprintf("n%d", id))
	} else {
		n.rt = w.base
	}
	n.router = route.New(route.Options{RT: n.rt, Node: id, Local: func(b *kv.Batch) *kv.BatchReply { return w.execute(n, b) },
		Transport: fakeTransport{n}, Now: n.reading, CallLimit: 300 * time.Millisecond, FirstRange: func() *kv.RangeDescriptor {
			w.mu.Lock()
			defer w.mu.Unlock()
			d := w.ranges[0].desc
			return &d
		}})
	o.RT, o.Router, o.Now = n.rt, n.router, n.reading
	n.db = Open(o)
	w.nodes[id] = n
	for _, r := range w.ranges {
		r.desc.Replicas = append(r.desc.Replicas, kv.Replica{Node: id, ID: kv.ReplicaID(id)})
		if r.leader == 0 {
			r.leader = id
		}
	}
	return n
}

// reading is an interval of width 2·eps around the node's clock, which is off by offset (at most eps, unless it lies).
func (n *fakeNode) reading() (clock.Interval, error) {
	at := clock.Instant(epoch + int64(n.w.now()+n.offset+n.lie))
	return clock.Interval{Earliest: at.Add(-n.eps), Latest: at.Add(n.eps)}, nil
}

// split makes key the start of a new range led by the node.
func (w *world) split(key kv.Key, leader kv.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.ranges, func(r *fakeRange) bool { return r.desc.Span.Contains(key) })
	left := w.ranges[i]
	right := &fakeRange{desc: left.desc, leader: leader, lowWater: w.highest()}
	right.desc.ID = kv.RangeID(len(w.ranges) + 1)
	left.desc.Span.End, right.desc.Span.Start = key, key
	left.desc.Generation++
	right.desc.Generation = left.desc.Generation
	left.locks = nil // of both halves: they may be lost at any time
	w.ranges = slices.Insert(w.ranges, i+1, right)
	for _, r := range []*fakeRange{left, right} {
		b, _ := r.desc.MarshalMsg(nil)
		w.inline[string(keys.Meta(r.desc.Span.End))] = b
	}
}

// lead moves a lease. The new one begins no lower than anything that the old one served (L3).
func (w *world) lead(key kv.Key, to kv.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.ranges {
		if r.desc.Span.Contains(key) && r.leader != to {
			r.leader, r.lowWater, r.locks = to, w.highest(), nil
		}
	}
}

// highest is a timestamp no lower than any served so far.
func (w *world) highest() (ts clock.Timestamp) {
	for _, m := range w.reads {
		ts = ts.Forward(m.ts)
	}
	for _, o := range w.observed {
		ts = ts.Forward(o)
	}
	return ts
}

type fakeTransport struct{ n *fakeNode }

func (t fakeTransport) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	w := t.n.w
	if w.latency != nil {
		t.n.rt.Sleep(w.latency())
	}
	if w.lose != nil && w.lose() { // the request
		t.n.rt.Sleep(limit)
		return nil, rt.ErrTimeout
	}
	for i := range m.Batch.Requests {
		q := &m.Batch.Requests[i]
		if q.Write != nil && w.again != nil {
			if d := w.again(); d > 0 {
				n := w.nodes[to]
				n.rt.After(d, func() { w.execute(n, &kv.Batch{Requests: []kv.Request{*q}}) })
			}
		}
		if q.Write != nil && string(q.Write.Puts[0].Key) == w.copied {
			w.copied = ""
			n := w.nodes[to]
			n.rt.After(w.copyAfter, func() { w.execute(n, &kv.Batch{Requests: []kv.Request{*q}}) })
		}
	}
	reply := w.execute(w.nodes[to], m.Batch)
	if w.latency != nil {
		t.n.rt.Sleep(w.latency())
	}
	if w.lose != nil && w.lose() { // the answer
		t.n.rt.Sleep(limit)
		return nil, rt.ErrTimeout
	}
	return &kv.Message{BatchReply: reply}, nil
}

func (fakeTransport) Send(kv.NodeID, *kv.Message) { panic("not used") }

// execute runs the requests of a batch side by side, as a store does.
func (w *world) execute(n *fakeNode, b *kv.Batch) *kv.BatchReply {
	out := &kv.BatchReply{Responses: make([]kv.Response, len(b.Requests))}
	// A copy through the wire format, so that nothing is shared that would not be.
	wire, _ := b.MarshalMsg(nil)
	b = new(kv.Batch)
	if _, err := b.UnmarshalMsg(wire); err != nil {
		panic(err)
	}
	if len(b.Requests) == 1 {
		out.Responses[0] = w.one(n, &b.Requests[0])
		return out
	}
	g := rt.NewGroup(n.rt)
	for i := range b.Requests {
		g.Go("exec", func() { out.Responses[i] = w.one(n, &b.Requests[i]) })
	}
	g.Wait(rt.Forever)
	return out
}

// one executes a request, waiting as long as an intent is in its way.
func (w *world) one(n *fakeNode, q *kv.Request) kv.Response {
	began := n.rt.Now()
	ended, copied := w.once(n, q)
	if copied != nil {
		return kv.Response{Err: copied}
	}
	q = w.placed(n, q)
	for {
		w.mu.Lock()
		w.staged = nil
		var resp kv.Response
		blocked := w.late(q)
		if !blocked {
			w.busy = nil
			resp, blocked = w.step(n, q)
			if e := w.tooLong(n, q, n.rt.Now()-began); blocked && e != nil {
				resp, blocked = kv.Response{Err: e}, false
			}
		}
		staged := w.staged
		w.mu.Unlock()
		if blocked && staged != nil {
			_, _ = n.db.Push(context.Background(), staged)
		}
		if !blocked {
			if w.trace != nil {
				w.trace("n%d %s", n.id, describe(q, &resp))
			}
			w.finish(n, q, &resp, began)
			ended(&resp)
			return resp
		}
		if n.rt.Now()-began > 8*time.Second {
			return kv.Response{Err: kv.Errorf(kv.ErrConflict, "waited too long")}
		}
		n.rt.Sleep(time.Millisecond)
	}
}

// late: a write that has not arrived yet, or a word.
func (w *world) late(q *kv.Request) bool {
	if isNote(q) {
		return w.held[string(key("notes"))]
	}
	return q.Write != nil && slices.ContainsFunc(q.Write.Puts, func(p kv.Put) bool { return w.held[string(p.Key)] })
}

// isNote: it tells a range of a commit timestamp.
func isNote(q *kv.Request) bool {
	return q.Refresh != nil && q.Refresh.Note
}

// step is one indivisible evaluation. blocked: try again later.
func (w *world) step(n *fakeNode, q *kv.Request) (resp kv.Response, blocked bool) {
	key := fakeKey(q)
	var r *fakeRange
	for _, x := range w.ranges {
		if x.desc.Span.Contains(key) {
			r = x
		}
	}
	if r.desc.ID != q.Range || !inside(q, r.desc.Span) {
		e := kv.Errorf(kv.ErrRangeMismatch, "r%d does not hold %s", q.Range, key)
		for _, x := range w.ranges {
			if x.desc.ID == q.Range || x == r {
				e.Descriptors = append(e.Descriptors, x.desc)
			}
		}
		return kv.Response{Err: e}, false
	}
	if r.leader != n.id {
		return kv.Response{Err: &kv.Error{Code: kv.ErrNotLeaseholder, Leaseholder: r.leader}}, false
	}
	skip, blocked, e := w.lock(n, r, q)
	if blocked || e != nil {
		return kv.Response{Err: e}, blocked
	}
	if resp, blocked = w.evaluate(n, r, q); !blocked {
		w.unlock(n, r, q, &resp)
		if len(skip) > 0 && resp.Read != nil {
			w.leaveOut(q.Read, resp.Read, skip)
		}
	}
	return resp, blocked
}

func (w *world) evaluate(n *fakeNode, r *fakeRange, q *kv.Request) (resp kv.Response, blocked bool) {
	switch {
	case q.Locks != nil:
		return kv.Response{}, false
	case q.Read != nil:
		return w.read(n, r, q.Read)
	case q.Refresh != nil:
		w.observe(n, q.Refresh.To)
		if q.Refresh.Note {
			return kv.Response{}, false
		}
		if e := w.refresh(q.Refresh.Txn, q.Refresh.Spans, q.Refresh.From, q.Refresh.To); e != nil {
			return kv.Response{Err: e}, false
		}
		return kv.Response{}, false
	case q.Write != nil:
		return w.write(n, r, q.Write)
	case q.EndTxn != nil:
		return w.end(n, q.EndTxn), false
	case q.Resolve != nil:
		ks, more := q.Resolve.Keys, []kv.Span(nil)
		for i, s := range q.Resolve.Spans { // a few at a time
			if ks = append(ks, w.in(s)...); len(ks) > 3 {
				more = append([]kv.Span{{Start: ks[3], End: s.End}}, q.Resolve.Spans[i+1:]...)
				ks = ks[:3]
				break
			}
		}
		for _, k := range ks {
			if w.refuse["resolves"] {
				break
			}
			w.resolve(n, k, q.Resolve.Txn, q.Resolve.Status)
		}
		return kv.Response{Resolve: &kv.ResolveResponse{More: more}}, false
	case q.Push != nil:
		return kv.Response{EndTxn: w.asked(n, q.Push)}, false
	case q.Query != nil:
		return kv.Response{Query: &kv.QueryResponse{Missing: w.missing(q.Query.Txn, q.Query.Keys, q.Query.TS, q.Query.Seq)}}, false
	case q.Recover != nil:
		rec := w.record(q.Recover.Push.Txn, q.Recover.Push.Start)
		if rec.State == kv.Staged && rec.CommitTS == q.Recover.TS {
			w.recovered(n, rec, &q.Recover.Push, q.Recover.Missing)
		}
		return kv.Response{EndTxn: w.asked(n, &q.Recover.Push)}, false
	case q.Heartbeat != nil:
		rec := w.record(q.Heartbeat.Txn, q.Heartbeat.Start)
		rec.Touched = max(rec.Touched, q.Heartbeat.Now)
		if len(q.Heartbeat.Spans) > 0 {
			rec.Spans = q.Heartbeat.Spans
		}
		return kv.Response{EndTxn: &kv.TxnStatus{State: rec.State, CommitTS: rec.CommitTS}}, false
	case q.Inline != nil:
		return w.doInline(q.Inline), false
	}
	panic("fake: unknown request")
}

func fakeKey(q *kv.Request) kv.Key {
	switch {
	case q.Read != nil && len(q.Read.Keys) > 0:
		return q.Read.Keys[0]
	case q.Read != nil:
		return q.Read.Spans[0].Start
	case q.Refresh != nil:
		return q.Refresh.Spans[0].Start
	case q.Write != nil:
		return q.Write.Puts[0].Key
	case q.EndTxn != nil:
		return q.EndTxn.Anchor
	case q.Resolve != nil:
		return append(slices.Clone(q.Resolve.Keys), slotOf(q.Resolve.Spans))[0]
	case q.Heartbeat != nil:
		return q.Heartbeat.Anchor
	case q.Push != nil:
		return q.Push.Anchor
	case q.Query != nil:
		return q.Query.Keys[0]
	case q.Recover != nil:
		return q.Recover.Push.Anchor
	case q.Locks != nil:
		return q.Locks.Key
	case q.Inline.Swap:
		return q.Inline.Key
	}
	return q.Inline.Span.Start
}

func slotOf(spans []kv.Span) kv.Key {
	if len(spans) == 0 {
		return nil
	}
	return spans[0].Start
}

func inside(q *kv.Request, s kv.Span) bool {
	ok := true
	for _, sp := range fakeSpans(q) {
		ok = ok && s.ContainsSpan(sp)
	}
	return ok
}

func fakeSpans(q *kv.Request) (out []kv.Span) {
	switch {
	case q.Read != nil:
		out = append(out, q.Read.Spans...)
		for _, k := range q.Read.Keys {
			out = append(out, kv.Point(k))
		}
	case q.Refresh != nil:
		out = q.Refresh.Spans
	case q.Write != nil:
		out = append(out, q.Write.Refresh...)
		for _, p := range q.Write.Puts {
			out = append(out, kv.Point(p.Key))
		}
	case q.Resolve != nil:
		for _, k := range q.Resolve.Keys {
			out = append(out, kv.Point(k))
		}
		out = append(out, q.Resolve.Spans...)
	case q.Query != nil:
		for _, k := range q.Query.Keys {
			out = append(out, kv.Point(k))
		}
	}
	return out
}

func (w *world) row(k kv.Key) *row {
	r := w.rows[string(k)]
	if r == nil {
		r = &row{}
		w.rows[string(k)] = r
	}
	return r
}

// in lists the keys of a span in order.
func (w *world) in(s kv.Span) (out []kv.Key) {
	for _, k := range slices.Sorted(maps.Keys(w.rows)) {
		if s.Contains(kv.Key(k)) {
			out = append(out, kv.Key(k))
		}
	}
	return out
}

func (w *world) observe(n *fakeNode, ts clock.Timestamp) {
	if !w.refuse["notes"] {
		w.observed[n.id] = w.observed[n.id].Forward(ts)
	}
}

func (w *world) read(n *fakeNode, rg *fakeRange, q *kv.ReadRequest) (kv.Response, bool) {
	observed := w.observed[n.id].Forward(rg.lowWater)
	low := q.MaxLimit
	if rg.lowWater.Less(low) {
		low = rg.lowWater
	}
	limit := q.Limit.Forward(low)
	if q.Lock != nil {
		limit = clock.MaxTimestamp
	}
	spans := slices.Clone(q.Spans)
	for _, k := range q.Keys {
		spans = append(spans, kv.Point(k))
	}
	r, bumped := q.ReadTS, 0
	for again := true; again; {
		again = false
		for _, s := range spans {
			for _, k := range w.in(s) {
				row := w.row(k)
				if in := row.intent; in != nil && in.Txn != q.Txn && in.TS.LessEq(limit) {
					push := &kv.PushRequest{Kind: kv.PushTimestamp, To: limit}
					if q.Lock != nil {
						push = &kv.PushRequest{Kind: kv.PushAbort, Pusher: q.Txn, PusherStart: q.Start}
					}
					if !w.push(n, k, in, push) {
						return kv.Response{}, true
					}
				}
				for _, v := range row.versions {
					if !r.Less(v.ts) || limit.Less(v.ts) {
						continue
					}
					if !q.CanBump {
						return kv.Response{Err: &kv.Error{Code: kv.ErrUncertain, TS: v.ts, Observed: observed, Key: k}}, false
					}
					up := observed
					if limit.Less(up) {
						up = limit
					}
					r, again = up.Forward(v.ts), true
					bumped++
				}
			}
		}
	}
	out := &kv.ReadResponse{ReadTS: r, Observed: observed, Bumped: bumped}
	see := func(k kv.Key) (val []byte) {
		if in := w.row(k).intent; in != nil && in.Txn == q.Txn && q.Own != nil {
			if v, ok := w.row(k).own(q.Own.Seq, q.Own.Ignored); ok {
				return v.value
			}
		}
		for _, v := range w.row(k).versions {
			if v.ts.LessEq(r) {
				val = v.value
				if q := v.ts; out.Newest.Less(q) {
					out.Newest = q
				}
			}
		}
		return val
	}
	for _, k := range q.Keys {
		out.Values = append(out.Values, see(k))
		w.mark(q, readMark{kv.Point(k), r, q.Txn})
	}
	left := q.MaxRows
	if q.Groups != nil {
		left = w.page
	}
	limited := left > 0
	for _, s := range q.Spans {
		rows := kv.Rows{}
		ks := w.in(s)
		if q.Reverse {
			slices.Reverse(ks)
		}
		read := s
		for _, k := range ks {
			if limited && left == 0 {
				rows.More, rows.Resume = true, kv.Span{Start: k, End: s.End}
				read.End = k
				if q.Reverse {
					rows.Resume = kv.Span{Start: s.Start, End: keys.Next(k)}
					read = kv.Span{Start: keys.Next(k), End: s.End}
				}
				break
			}
			if v := see(k); v != nil {
				rows.Keys, rows.Values = append(rows.Keys, k), append(rows.Values, v)
				left--
			}
		}
		if q.Groups != nil {
			rows = counted(rows, q.Groups)
		}
		out.Rows = append(out.Rows, rows)
		w.mark(q, readMark{read, r, q.Txn})
	}
	return kv.Response{Read: out}, false
}

// counted is the groups of rows.
func counted(rows kv.Rows, g *kv.Grouping) kv.Rows {
	out := kv.Rows{More: rows.More, Resume: rows.Resume}
	last := ""
	for i, k := range rows.Keys {
		end, err := keys.GroupEnd(k, g)
		if err != nil {
			panic(err)
		}
		if n := len(out.Counts); n > 0 && string(k[:end]) == last {
			out.Counts[n-1]++
			continue
		}
		last = string(k[:end])
		out.Keys, out.Counts = append(out.Keys, k), append(out.Counts, 1)
		if g.First {
			out.Values = append(out.Values, rows.Values[i])
		}
	}
	return out
}

// refresh: no version and no foreign intent in (from, to] on the spans, and none will come.
func (w *world) refresh(id kv.TxnID, spans []kv.Span, from, to clock.Timestamp) *kv.Error {
	for _, s := range spans {
		for _, k := range w.in(s) {
			row := w.row(k)
			if row.intent != nil && row.intent.Txn != id && row.intent.TS.LessEq(to) {
				return &kv.Error{Code: kv.ErrRefresh, Key: k, TS: row.intent.TS, Msg: "intent"}
			}
			for _, v := range row.versions {
				if from.Less(v.ts) && v.ts.LessEq(to) {
					return &kv.Error{Code: kv.ErrRefresh, Key: k, TS: v.ts, Msg: "version"}
				}
			}
		}
	}
	for _, s := range spans {
		w.reads = append(w.reads, readMark{s, to, id})
	}
	return nil
}

func (w *world) doInline(q *kv.InlineRequest) kv.Response {
	out := &kv.InlineResponse{}
	if q.Swap {
		have := w.inline[string(q.Key)]
		if !bytes.Equal(have, q.Expect) {
			out.Values = [][]byte{have}
			return kv.Response{Inline: out}
		}
		w.inline[string(q.Key)], out.Swapped = q.Value, true
		return kv.Response{Inline: out}
	}
	for _, k := range slices.Sorted(maps.Keys(w.inline)) {
		if q.Span.Contains(kv.Key(k)) && (q.Limit == 0 || len(out.Keys) < q.Limit) {
			out.Keys, out.Values = append(out.Keys, kv.Key(k)), append(out.Values, w.inline[k])
		}
	}
	return kv.Response{Inline: out}
}

// in runs fn as a task of the node and steps the loop until it has ended.
func (n *fakeNode) in(fn func(ctx context.Context)) {
	done := false
	n.rt.Go("test", func() {
		fn(context.Background())
		done = true
	})
	if !n.w.loop.Run(time.Hour, func() bool { return done }) {
		panic("fake: a task hangs")
	}
}
