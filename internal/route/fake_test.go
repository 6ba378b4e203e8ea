package route

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// fleet is nodes that hold replicas and answer as ranges do. Data reads answer with the key itself.
type fleet struct {
	loop   *eventloop.Loop
	rt     *eventloop.Runtime
	ranges []*held
	silent map[kv.NodeID]bool // does not answer
	dead   map[kv.NodeID]bool // and is known not to
	busy   map[kv.NodeID]int  // answers this often that it is not available
	mute   map[kv.NodeID]int  // executes this often without an answer
	early  map[kv.NodeID]int  // answers this often that its lease does not reach so far
	inline map[string][]byte
	swaps  map[kv.TxnID]bool // by name: whether it was done
	trace  []string
}

type held struct {
	desc   kv.RangeDescriptor
	leader kv.NodeID
	hint   kv.NodeID // what the others say who leads
}

func newFleet() *fleet {
	loop := eventloop.New(1)
	return &fleet{loop: loop, rt: loop.Runtime("test"), silent: map[kv.NodeID]bool{}, dead: map[kv.NodeID]bool{}, busy: map[kv.NodeID]int{},
		mute: map[kv.NodeID]int{}, early: map[kv.NodeID]int{}, inline: map[string][]byte{}, swaps: map[kv.TxnID]bool{}}
}

func (f *fleet) router(self kv.NodeID) *Router {
	return New(Options{RT: f.rt, Node: self, Transport: f, Limit: 5 * time.Second, Now: f.now, CallLimit: 500 * time.Millisecond,
		Local:      func(b *kv.Batch) *kv.BatchReply { return f.execute(self, b) },
		FirstRange: func() *kv.RangeDescriptor { d := f.ranges[0].desc; return &d },
		Alive:      func(n kv.NodeID) bool { return !f.dead[n] }})
}

func (f *fleet) Send(kv.NodeID, *kv.Message) { panic("not used") }

func (f *fleet) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	f.rt.Sleep(time.Millisecond)
	if f.silent[to] {
		f.trace = append(f.trace, fmt.Sprintf("n%d is silent", to))
		f.rt.Sleep(limit)
		return nil, rt.ErrTimeout
	}
	reply := f.execute(to, m.Batch)
	if f.mute[to] > 0 {
		f.mute[to]--
		f.trace = append(f.trace, fmt.Sprintf("n%d's answer is lost", to))
		f.rt.Sleep(limit)
		return nil, rt.ErrTimeout
	}
	return &kv.Message{BatchReply: reply}, nil
}

func (f *fleet) execute(n kv.NodeID, b *kv.Batch) *kv.BatchReply {
	out := &kv.BatchReply{Responses: make([]kv.Response, len(b.Requests))}
	var said []string
	for i := range b.Requests {
		out.Responses[i] = f.one(n, &b.Requests[i])
		s := "ok"
		if e := out.Responses[i].Err; e != nil {
			s = e.Code.String()
		}
		said = append(said, f.describe(&b.Requests[i])+": "+s)
	}
	f.trace = append(f.trace, fmt.Sprintf("n%d { %s }", n, strings.Join(said, "; ")))
	return out
}

func (f *fleet) describe(q *kv.Request) string {
	name := func(k kv.Key) string {
		return strings.Trim(fmt.Sprintf("%q", bytes.TrimPrefix(k, keys.DataPrefix)), `"`)
	}
	s := fmt.Sprintf("r%d", q.Range)
	switch {
	case q.Read != nil:
		s += " read"
		for _, k := range q.Read.Keys {
			s += " " + name(k)
		}
		for _, sp := range q.Read.Spans {
			s += " [" + name(sp.Start) + "," + name(sp.End) + ")"
		}
	case q.Write != nil:
		s += " write"
		for _, p := range q.Write.Puts {
			s += " " + name(p.Key)
		}
	case q.Inline != nil && q.Inline.Swap && bytes.HasPrefix(q.Inline.Key, keys.MetaPrefix):
		s += " publish"
	case q.Inline != nil && q.Inline.Swap:
		s += " swap " + string(q.Inline.Key[1:])
	case q.Inline != nil && bytes.HasPrefix(q.Inline.Span.Start, keys.MetaPrefix):
		s += " lookup"
	case q.Inline != nil:
		s += " load"
	case q.Admin != nil:
		s += " admin"
	}
	return s
}

func (f *fleet) one(n kv.NodeID, q *kv.Request) kv.Response {
	if f.busy[n] > 0 {
		f.busy[n]--
		return kv.Response{Err: kv.Errorf(kv.ErrUnavailable, "busy")}
	}
	if f.early[n] > 0 {
		f.early[n]--
		return kv.Response{Err: &kv.Error{Code: kv.ErrTooEarly, Leaseholder: n}}
	}
	key := keyIn(q)
	var asked, right *held
	for _, h := range f.ranges {
		if h.desc.ID == q.Range {
			asked = h
		}
		if h.desc.Span.Contains(key) {
			right = h
		}
	}
	_, member := right.desc.On(n)
	if asked != right || !member || !within(q, right.desc.Span) {
		e := kv.Errorf(kv.ErrRangeMismatch, "not mine")
		for _, h := range []*held{asked, right} {
			if h != nil {
				if _, ok := h.desc.On(n); ok {
					e.Descriptors = append(e.Descriptors, h.desc)
				}
			}
		}
		return kv.Response{Err: e}
	}
	if right.leader != n {
		return kv.Response{Err: &kv.Error{Code: kv.ErrNotLeaseholder, Leaseholder: right.hint}}
	}
	switch {
	case q.Read != nil:
		out := &kv.ReadResponse{}
		for _, k := range q.Read.Keys {
			out.Values = append(out.Values, k)
		}
		out.Rows = make([]kv.Rows, len(q.Read.Spans))
		return kv.Response{Read: out}
	case q.Write != nil:
		return kv.Response{Write: &kv.WriteResponse{}}
	case q.Inline != nil:
		return kv.Response{Inline: f.doInline(q.Inline)}
	case q.Admin != nil && q.Admin.SplitAt != nil:
		return kv.Response{Admin: &kv.AdminResponse{Descriptors: f.split(right, q.Admin.SplitAt, q.Admin.NewRange)}}
	case q.Admin != nil && q.Admin.TransferLease != 0:
		right.leader, right.hint = q.Admin.TransferLease, q.Admin.TransferLease
		return kv.Response{Admin: &kv.AdminResponse{Descriptors: []kv.RangeDescriptor{right.desc}}}
	}
	return kv.Response{Err: kv.Errorf(kv.ErrInternal, "unknown")}
}

func keyIn(q *kv.Request) kv.Key {
	if q.Admin != nil {
		if q.Admin.SplitAt != nil {
			return q.Admin.SplitAt
		}
		return q.Admin.Key
	}
	return keyOf(q)
}

func (f *fleet) split(left *held, at kv.Key, id kv.RangeID) []kv.RangeDescriptor {
	right := &held{desc: left.desc, leader: left.leader, hint: left.hint}
	right.desc.ID, right.desc.Span.Start = id, at
	left.desc.Span.End = at
	left.desc.Generation++
	right.desc.Generation = left.desc.Generation
	f.ranges = slices.Insert(f.ranges, slices.Index(f.ranges, left)+1, right)
	return []kv.RangeDescriptor{left.desc, right.desc}
}

func (f *fleet) doInline(q *kv.InlineRequest) *kv.InlineResponse {
	out := &kv.InlineResponse{}
	if q.Swap {
		have := f.inline[string(q.Key)]
		if done, known := f.swaps[q.ID]; known {
			if out.Swapped = done; !done {
				out.Values = [][]byte{have}
			}
			return out
		}
		f.swaps[q.ID] = bytes.Equal(have, q.Expect)
		if !bytes.Equal(have, q.Expect) {
			out.Values = [][]byte{have}
			return out
		}
		f.inline[string(q.Key)], out.Swapped = q.Value, true
		return out
	}
	for _, k := range slices.Sorted(maps.Keys(f.inline)) {
		if q.Span.Contains(kv.Key(k)) && (q.Limit == 0 || len(out.Keys) < q.Limit) {
			out.Keys, out.Values = append(out.Keys, kv.Key(k)), append(out.Values, f.inline[k])
		}
	}
	return out
}

func (f *fleet) now() (clock.Interval, error) {
	at := clock.Instant(time.Hour + f.loop.Now())
	return clock.Interval{Earliest: at, Latest: at}, nil
}

func (f *fleet) publish(d *kv.RangeDescriptor) {
	b, err := d.MarshalMsg(nil)
	if err != nil {
		panic(err)
	}
	f.inline[string(keys.Meta(d.Span.End))] = b
}

// in runs fn as a task to its end.
func (f *fleet) in(fn func()) {
	done := false
	f.rt.Go("test", func() { fn(); done = true })
	if !f.loop.Run(time.Minute, func() bool { return done }) {
		panic("a task hangs")
	}
}
