package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// scan reads rows of a table.
type scan struct {
	x     *Execution
	n     *rel.Scan
	types []expr.Type // of the columns of the index, Suffix included
	req   Request
	rows  Rows
	left  int // -1: all
}

func newScan(x *Execution, n *rel.Scan) *scan {
	s := &scan{x: x, n: n}
	s.req = Request{Table: n.Table, Places: n.Places}
	if len(n.Filter) == 0 {
		s.req.Limit = n.Limit
	}
	s.req.Uses = n.Limit
	if n.Access != nil {
		s.req.Index, s.req.Reverse = n.Access.Index, n.Access.Reverse
		cols := n.Table.Columns()
		for _, parts := range [][]rel.IndexPart{n.Access.Index.Parts(), n.Access.Index.Suffix()} {
			for _, p := range parts {
				s.types = append(s.types, cols[p.Place].Type)
			}
		}
	}
	return s
}

func (s *scan) open() error {
	if err := s.close(); err != nil {
		return err
	}
	s.left = -1
	if s.n.Limit > 0 {
		s.left = s.n.Limit
	}
	if s.n.Access != nil && len(s.n.Access.Spans) > 0 {
		spans, err := s.spans()
		if err != nil {
			return err
		}
		if len(spans) == 0 {
			s.left = 0
			return nil
		}
		s.req.Spans = spans
	}
	rows, err := s.x.src.Read(&s.req)
	s.rows = rows
	return err
}

func (s *scan) next() (bool, error) {
	for s.left != 0 {
		if err := s.x.tick(); err != nil {
			return false, err
		}
		ok, err := s.rows.Next(s.x.regs, s.n.Cols)
		if err != nil {
			return false, err
		}
		if !ok {
			return false, s.close()
		}
		if len(s.n.Filter) > 0 {
			if ok, err = s.x.holds(s.n.Filter); err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		}
		s.left--
		return true, nil
	}
	return false, nil
}

func (s *scan) close() error {
	s.left = 0
	if s.rows == nil {
		return nil
	}
	err := s.rows.Close()
	s.rows = nil
	return err
}

// spans evaluates the spans of the access. Those that can hold no row are left out, and so are those that are the same.
func (s *scan) spans() ([]KeySpan, error) {
	spans := make([]KeySpan, 0, len(s.n.Access.Spans))
	var seen map[string]bool
	var key exactKey
	for i := range s.n.Access.Spans {
		k, found, err := s.span(&s.n.Access.Spans[i])
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if len(s.n.Access.Spans) > 1 {
			if k.key(&key); key.ok {
				if seen[string(key.bytes)] {
					continue
				}
				if seen == nil {
					seen = make(map[string]bool, len(s.n.Access.Spans))
				}
				seen[string(key.bytes)] = true
			}
		}
		spans = append(spans, k)
	}
	return spans, nil
}

// key is the same for spans that are the same.
func (k *KeySpan) key(out *exactKey) {
	out.reset()
	for _, v := range k.Equal {
		out.add(v)
	}
	flags := byte(0)
	for i, is := range []bool{k.Low != nil, k.High != nil, k.LowOpen, k.HighOpen, k.IncludeNull} {
		if is {
			flags |= 1 << i
		}
	}
	out.bytes = append(out.bytes, 0xff, flags)
	if k.Low != nil {
		out.add(*k.Low)
	}
	if k.High != nil {
		out.add(*k.High)
	}
	if k.Prefix != nil {
		out.bytes = append(out.bytes, 0xfe)
		out.add(*k.Prefix)
	}
}

// span evaluates a span; false: there are no rows in it. A value that has no place in the order of the index, as the comparison would
// put it there, makes the span wider: the conditions are checked of each row (Filter).
func (s *scan) span(n *rel.Span) (k KeySpan, found bool, err error) {
	k.Equal = make([]expr.Value, 0, len(n.Equal))
	for i, e := range n.Equal {
		v, err := e.Eval(s.x.env)
		if err != nil {
			return k, false, err
		}
		if v.IsNull() {
			if n.NullSafe == nil || !n.NullSafe[i] {
				return k, false, nil
			}
			k.Equal = append(k.Equal, v)
			continue
		}
		to, how := s.x.place(s.types[i], e, v)
		switch how {
		case unplaced:
			k.IncludeNull = true
			return k, true, nil
		case below, under:
			return k, false, nil // nothing is equal to it
		}
		k.Equal = append(k.Equal, to)
	}
	if n.Prefix != nil {
		v, err := n.Prefix.Eval(s.x.env)
		if err != nil || v.IsNull() {
			return k, false, err
		}
		if v.Kind() == expr.KindText {
			k.Prefix = &v
		} else {
			k.IncludeNull = true // it has no place in the order of the index
		}
		return k, true, nil
	}
	k.IncludeNull = n.Low == nil && n.High == nil
	if k.Low, k.LowOpen, found, err = s.bound(n.Low, len(n.Equal), true); err != nil || !found {
		return k, false, err
	}
	if k.High, k.HighOpen, found, err = s.bound(n.High, len(n.Equal), false); err != nil || !found {
		return k, false, err
	}
	return k, true, nil
}

// bound evaluates one end of a span; false: nothing is within.
func (s *scan) bound(b *rel.Bound, at int, low bool) (*expr.Value, bool, bool, error) {
	if b == nil {
		return nil, false, true, nil
	}
	v, err := b.Value.Eval(s.x.env)
	if err != nil || v.IsNull() {
		return nil, false, false, err
	}
	if s.types[at].Kind() == expr.KindEnum {
		return nil, false, true, nil // ordered by number, and compared as texts
	}
	to, how := s.x.place(s.types[at], b.Value, v)
	switch how {
	case exact:
		return &to, b.Open, true, nil
	case below:
		return &to, false, true, nil // as a lower end it lets in one value too many
	case under:
		return nil, false, low, nil
	}
	return nil, false, true, nil
}
