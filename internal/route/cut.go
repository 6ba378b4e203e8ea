package route

import (
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

// MaxPieceBytes is about how large a piece of a write may get: one piece is one Raft entry.
const MaxPieceBytes = 4 << 20

// keyOf is the key that says where a request goes.
func keyOf(q *kv.Request) kv.Key {
	switch {
	case q.Read != nil && len(q.Read.Keys) > 0:
		return q.Read.Keys[0]
	case q.Read != nil && len(q.Read.Spans) > 0:
		return q.Read.Spans[0].Start
	case q.Refresh != nil && len(q.Refresh.Spans) > 0:
		return q.Refresh.Spans[0].Start
	case q.Write != nil && len(q.Write.Puts) > 0:
		return q.Write.Puts[0].Key
	case q.EndTxn != nil:
		return q.EndTxn.Anchor
	case q.Resolve != nil && len(q.Resolve.Keys) > 0:
		return q.Resolve.Keys[0]
	case q.Resolve != nil && len(q.Resolve.Spans) > 0:
		return q.Resolve.Spans[0].Start
	case q.Push != nil:
		return q.Push.Anchor
	case q.Query != nil && len(q.Query.Keys) > 0:
		return q.Query.Keys[0]
	case q.Recover != nil:
		return q.Recover.Push.Anchor
	case q.Heartbeat != nil:
		return q.Heartbeat.Anchor
	case q.Locks != nil:
		return q.Locks.Key
	case q.Inline != nil && q.Inline.Swap:
		return q.Inline.Key
	case q.Inline != nil:
		return q.Inline.Span.Start
	}
	panic("route: a request that names no key needs an address")
}

// mutates reports whether executing the request twice, or not knowing whether it was executed, makes a difference.
func mutates(q *kv.Request) bool {
	return q.Write != nil || q.EndTxn != nil || q.Resolve != nil || (q.Inline != nil && q.Inline.Swap) || q.Admin != nil
}

// cuttable reports whether a request may be answered by several ranges, each a part.
func cuttable(q *kv.Request) bool {
	return q.Read != nil || q.Refresh != nil || q.Resolve != nil || q.Query != nil || (q.Write != nil && !q.Write.OnePhase)
}

// within reports whether everything that the request touches lies in the span.
func within(q *kv.Request, s kv.Span) bool {
	ks, spans := touched(q)
	for _, k := range ks {
		if !s.Contains(k) {
			return false
		}
	}
	for _, sp := range spans {
		if !s.ContainsSpan(sp) {
			return false
		}
	}
	return true
}

func touched(q *kv.Request) (ks []kv.Key, spans []kv.Span) {
	switch {
	case q.Read != nil:
		return q.Read.Keys, q.Read.Spans
	case q.Refresh != nil:
		return nil, q.Refresh.Spans
	case q.Write != nil:
		for i := range q.Write.Puts {
			ks = append(ks, q.Write.Puts[i].Key)
		}
		if q.Write.OnePhase {
			ks = append(ks, q.Write.Anchor)
		}
		return ks, q.Write.Refresh
	case q.Resolve != nil:
		return q.Resolve.Keys, q.Resolve.Spans
	case q.Query != nil:
		return q.Query.Keys, nil
	case q.Inline != nil && !q.Inline.Swap:
		return nil, []kv.Span{q.Inline.Span}
	case q.Locks != nil:
		return []kv.Key{q.Locks.Key}, nil
	}
	return nil, nil
}

func sizeOf(q *kv.Request) (n int) {
	if q.Write != nil {
		for i := range q.Write.Puts {
			n += len(q.Write.Puts[i].Key) + len(q.Write.Puts[i].Value)
		}
	}
	return n
}

// cut adds the pieces of an item to the engine, one per range that it touches. What cannot be cut is added whole.
func (e *engine) cut(it *item) {
	if !cuttable(&it.req) {
		e.items = append(e.items, it)
		return
	}
	if e.whole(it) {
		e.items = append(e.items, it)
		return
	}
	c := cutter{e: e, from: it, at: map[kv.RangeID]*item{}}
	if err := c.all(); err != nil {
		it.seq = it.res.Index
		it.fail(e.final(it, err))
		e.items = append(e.items, it)
		return
	}
	e.items = append(e.items, c.pieces...)
}

// whole reports whether a request is its own only piece, as far as the cache knows; most are.
func (e *engine) whole(it *item) bool {
	d, _ := e.r.cache.get(it.key)
	if d == nil || sizeOf(&it.req) > MaxPieceBytes || !within(&it.req, d.Span) {
		return false
	}
	_, spans := touched(&it.req)
	return !slices.ContainsFunc(spans, kv.Span.Empty) // which no piece has
}

// cutter deals the parts of one request out to pieces.
type cutter struct {
	e      *engine
	from   *item
	pieces []*item
	at     map[kv.RangeID]*item // the piece that takes more for this range
	bytes  map[*item]int
	last   *kv.RangeDescriptor // of the latest key
}

func (c *cutter) all() *kv.Error {
	q := &c.from.req
	switch {
	case q.Read != nil:
		for _, k := range q.Read.Keys {
			p, _, err := c.piece(k)
			if err != nil {
				return err
			}
			p.req.Read.Keys = append(p.req.Read.Keys, k)
		}
		return c.spans(q.Read.Spans, func(p *item, s kv.Span) { p.req.Read.Spans = append(p.req.Read.Spans, s) }, q.Read.Reverse)
	case q.Refresh != nil:
		return c.spans(q.Refresh.Spans, func(p *item, s kv.Span) { p.req.Refresh.Spans = append(p.req.Refresh.Spans, s) }, false)
	case q.Resolve != nil:
		for _, k := range q.Resolve.Keys {
			p, _, err := c.piece(k)
			if err != nil {
				return err
			}
			p.req.Resolve.Keys = append(p.req.Resolve.Keys, k)
		}
		return c.spans(q.Resolve.Spans, func(p *item, s kv.Span) { p.req.Resolve.Spans = append(p.req.Resolve.Spans, s) }, false)
	case q.Query != nil:
		for _, k := range q.Query.Keys {
			p, _, err := c.piece(k)
			if err != nil {
				return err
			}
			p.req.Query.Keys = append(p.req.Query.Keys, k)
		}
		return nil
	}
	return c.puts(q.Write.Puts)
}

func (c *cutter) puts(puts []kv.Put) *kv.Error {
	c.bytes = map[*item]int{}
	for _, put := range puts {
		p, d, err := c.piece(put.Key)
		if err != nil {
			return err
		}
		size := len(put.Key) + len(put.Value)
		if len(p.req.Write.Puts) > 0 && c.bytes[p]+size > MaxPieceBytes {
			delete(c.at, d.ID)
			if p, _, err = c.piece(put.Key); err != nil {
				return err
			}
		}
		c.bytes[p] += size
		p.req.Write.Puts = append(p.req.Write.Puts, put)
	}
	return nil
}

// spans cuts each span at the bounds of ranges. Pieces of a span that is read in reverse are dealt in reverse too.
func (c *cutter) spans(spans []kv.Span, add func(*item, kv.Span), reverse bool) *kv.Error {
	for _, s := range spans {
		var parts []kv.Span
		for !s.Empty() {
			d, err := c.e.r.lookup(c.e.ctx, s.Start, c.e.deadline)
			if err != nil {
				return err
			}
			part := s
			if d.Span.Contains(s.Start) && d.Span.End.Less(s.End) {
				part.End = d.Span.End
			}
			parts = append(parts, part)
			s.Start = part.End
		}
		for i := range parts {
			if reverse {
				i = len(parts) - 1 - i
			}
			p, _, err := c.piece(parts[i].Start)
			if err != nil {
				return err
			}
			add(p, parts[i])
		}
	}
	return nil
}

// piece returns the piece for the range that holds the key: a copy of the request with no keys in it yet.
func (c *cutter) piece(k kv.Key) (*item, *kv.RangeDescriptor, *kv.Error) {
	d := c.last
	if d == nil || !d.Span.Contains(k) { // keys come in order, mostly many of one range
		var err *kv.Error
		if d, err = c.e.r.lookup(c.e.ctx, k, c.e.deadline); err != nil {
			return nil, nil, err
		}
		c.last = d
	}
	if p := c.at[d.ID]; p != nil {
		return p, d, nil
	}
	p := &item{seq: c.from.res.Index, key: k, prep: c.from.prep, res: Result{Index: c.from.res.Index, Maybe: c.from.res.Maybe}}
	switch q := &c.from.req; {
	case q.Read != nil:
		r := *q.Read
		r.Keys, r.Spans = nil, nil
		p.req.Read = &r
	case q.Refresh != nil:
		r := *q.Refresh
		r.Spans = nil
		p.req.Refresh = &r
	case q.Resolve != nil:
		r := *q.Resolve
		r.Keys, r.Spans = nil, nil
		p.req.Resolve = &r
	case q.Query != nil:
		r := *q.Query
		r.Keys = nil
		p.req.Query = &r
	default:
		w := *q.Write
		w.Puts = nil
		p.req.Write = &w
	}
	c.at[d.ID] = p
	c.pieces = append(c.pieces, p)
	return p, d, nil
}
