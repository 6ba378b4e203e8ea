package engine

import (
	"slices"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// conditions are what a WHERE clause says of columns, by their places.
type conditions struct {
	equal     map[int]operand
	low, high map[int]bounding
}

type bounding struct {
	operand operand
	open    bool
}

// spanned reads SELECT of the rows within one span of one index, when no other index comes into question, or the order of rows
// is asked for: which one the ordinary path uses, and so the order, is certain then.
func (c *compiler) spanned(f *selectForm, s *sqlparser.Select) form {
	if s.Limit != nil && !c.limit(f, s.Limit) || s.Lock != nil && s.Lock.Type != "" {
		return nil
	}
	k := conditions{equal: map[int]operand{}, low: map[int]bounding{}, high: map[int]bounding{}}
	out := &spanForm{selectForm: f}
	switch {
	case s.Where == nil && s.Limit != nil && len(s.OrderBy) > 0: // the first or last rows
		out.x = c.l.primary
	case s.Where == nil || s.Where.Type != sqlparser.WhereStr || !c.conditions(s.Where.Expr, &k):
		return nil
	default:
		out.x = c.onlyIndex(&k)
	}
	if out.x == nil {
		return nil
	}
	for _, col := range f.columns {
		out.places = append(out.places, col.at)
	}
	parts := out.x.parts
	for len(out.equal) < len(parts) {
		p := &parts[len(out.equal)]
		o, ok := k.equal[p.at]
		if !ok {
			break
		}
		out.equal = append(out.equal, spanOperand{c.l.keyOf(p), o})
		delete(k.equal, p.at)
	}
	ordered := c.inOrder(out, s.OrderBy)
	if !ordered && !c.sorted(out, s.OrderBy) {
		return nil
	}
	if s.QueryOpts.Distinct {
		if ordered || len(f.columns) != 1 || f.columns[0].at != out.sort.at {
			return nil
		}
		out.sort.distinct = true
	}
	if n := len(out.equal); n < len(parts) && (out.x.isPK || c.anyOrder || ordered && len(s.OrderBy) > 0) { // else the ordinary path may think another index better
		p := &parts[n]
		bound := func(m map[int]bounding) *spanBound {
			b, ok := m[p.at]
			if !ok {
				return nil
			}
			delete(m, p.at)
			return &spanBound{spanOperand{c.l.keyOf(p), b.operand}, b.open}
		}
		out.low, out.high = bound(k.low), bound(k.high)
	}
	if len(k.equal)+len(k.low)+len(k.high) > 0 {
		return nil
	}
	return out
}

// inOrder reports whether the order that is asked for is that of the index, or its reverse. Rows that the statement does not
// tell apart have to come out in one order whatever the ordinary path reads and sorts: that of the primary key, since it sorts
// stably, unless it could sort by another index.
func (c *compiler) inOrder(f *spanForm, by sqlparser.OrderBy) bool {
	order := slices.Concat(f.x.parts, f.x.suffix)
	fixed := len(f.equal)
	next := fixed
	for i, o := range by {
		at := c.column(o.Expr)
		if at < 0 {
			return false
		}
		if slices.ContainsFunc(order[:fixed], func(p part) bool { return p.at == at }) {
			continue // all rows have the same
		}
		if next == len(order) {
			break // no two rows are left to be told apart
		}
		if order[next].at != at {
			return false
		}
		reverse := o.Direction == sqlparser.DescScr
		if i > 0 && next > fixed && reverse != f.reverse {
			return false
		}
		f.reverse = reverse
		next++
	}
	if next == len(order) || len(by) == 0 {
		return true
	}
	for _, x := range c.l.all() {
		if x != f.x && slices.ContainsFunc(by, func(o *sqlparser.Order) bool { return c.column(o.Expr) == x.parts[0].at }) {
			return false
		}
	}
	return !f.reverse
}

// onlyIndex is the one index that begins with a column of the conditions; nil: there is none, or more than one.
func (c *compiler) onlyIndex(k *conditions) (only *indexLayout) {
	named := func(at int) bool {
		_, e := k.equal[at]
		_, l := k.low[at]
		_, h := k.high[at]
		return e || l || h
	}
	for _, x := range c.l.all() {
		if !named(x.parts[0].at) || x.desc.State != catalog.Public {
			continue
		}
		if only != nil || x.prefixes != nil {
			return nil
		}
		only = x
	}
	return only
}

// conditions reads a = 1 AND b >= 2 AND b < 3. Of each column there may be one of each kind.
func (c *compiler) conditions(e sqlparser.Expr, k *conditions) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return c.conditions(e.Left, k) && c.conditions(e.Right, k)
	case *sqlparser.ParenExpr:
		return c.conditions(e.Expr, k)
	case *sqlparser.RangeCond:
		at := c.column(e.Left)
		low, ok := c.operand(e.From)
		high, ok2 := c.operand(e.To)
		return e.Operator == sqlparser.BetweenStr && ok && ok2 && put(k.low, at, bounding{low, false}) && put(k.high, at, bounding{high, false})
	case *sqlparser.ComparisonExpr:
		o, ok := c.operand(e.Right)
		at := c.column(e.Left)
		if !ok || e.Escape != nil {
			return false
		}
		switch e.Operator {
		case sqlparser.EqualStr:
			return put(k.equal, at, o)
		case sqlparser.GreaterEqualStr:
			return put(k.low, at, bounding{o, false})
		case sqlparser.GreaterThanStr:
			return put(k.low, at, bounding{o, true})
		case sqlparser.LessEqualStr:
			return put(k.high, at, bounding{o, false})
		case sqlparser.LessThanStr:
			return put(k.high, at, bounding{o, true})
		}
	}
	return false
}

// put notes what is said of a column, once.
func put[T any](m map[int]T, at int, v T) bool {
	if _, known := m[at]; known || at < 0 {
		return false
	}
	m[at] = v
	return true
}
