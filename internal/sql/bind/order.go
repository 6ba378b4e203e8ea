package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// orderBy binds ORDER BY. A number, and what stands in the select list, is the value there; constants do not order anything. distinct is
// the error, if any, that SELECT DISTINCT makes of it.
func (b *binder) orderBy(list sqlparser.OrderBy, s *scope) (out []rel.SortKey, distinct, err error) {
	s.clause, s.allowAggregates = orderClause, true
	for i, o := range list {
		s.number = i + 1
		n, listed, err := b.orderKey(inParens(o.Expr), s)
		if err != nil {
			return nil, nil, err
		}
		if !listed && distinct == nil && s.sel.QueryOpts.Distinct && b.set.OnlyFullGroupBy && !s.keysGiven() {
			distinct = b.distinctError(n, s)
		}
		if n == nil || expr.IsConst(n) {
			continue
		}
		out = append(out, rel.SortKey{Expr: n, Desc: o.Direction == sqlparser.DescScr})
	}
	return out, distinct, nil
}

// orderKey is one of the expressions of ORDER BY; nil: it is a constant of the select list. listed: it stands in the select list.
func (b *binder) orderKey(e sqlparser.Expr, s *scope) (n expr.Node, listed bool, err error) {
	it, err := position(e, s)
	if err != nil {
		return nil, false, err
	}
	if name, ok := e.(*sqlparser.ColName); ok && it == nil && name.StoredProcVal == nil && !isVariable(name) {
		if it, _, err = b.findItem(name, s); err != nil {
			return nil, false, err
		}
	}
	if it != nil {
		return b.itemKeyOf(it), true, nil
	}
	loose := len(s.loose)
	s.below = s.below[:0]
	if k := b.matchKey(e, s, true); k != nil {
		n = b.ref(k.out)
	} else if n, err = b.scalar(e, s); err != nil {
		return nil, false, err
	}
	if !expr.IsConst(n) {
		for _, it := range s.items {
			if rel.Same(n, it.node) {
				s.loose = s.loose[:loose] // the select list has been looked at
				return b.itemKeyOf(it), true, nil
			}
		}
	}
	return n, false, nil
}

// itemKeyOf orders by an expression of the select list.
func (b *binder) itemKeyOf(it *item) expr.Node {
	if expr.IsConst(it.node) {
		return nil
	}
	id := b.columnOf(it)
	it.sorted = true
	return b.ref(id)
}

// keysGiven reports whether the rows of a grouped query are distinct anyway, because its select list has all keys of GROUP BY, or because
// it is one row.
func (s *scope) keysGiven() bool {
	if s.group == nil || s.group.rollup {
		return false
	}
	for i := range s.group.keys {
		given := false
		for _, it := range s.items {
			given = given || it.given && it.id == s.group.keys[i].out
		}
		if !given {
			return false
		}
	}
	return true
}

// distinctError is error 3065: an expression of ORDER BY reads a column that SELECT DISTINCT does not give; 3066: it calls an aggregate.
func (b *binder) distinctError(n expr.Node, s *scope) error {
	bad, found := rel.ColID(0), false
	look := func(id rel.ColID) {
		if found {
			return
		}
		for _, it := range s.items {
			if it.given && it.id == id {
				return
			}
		}
		bad, found = id, true
	}
	rel.Walk(n, func(n expr.Node) bool {
		if col, ok := n.(*rel.Col); ok && !b.outer[col] {
			look(col.ID)
		}
		return true
	})
	for _, id := range s.below {
		look(id)
	}
	switch {
	case !found:
		return nil
	case s.group != nil && s.group.isAggregate(bad):
		return expr.Errorf(3066, "HY000", "Expression #%d of ORDER BY clause is not in SELECT list, contains aggregate function; "+
			"this is incompatible with DISTINCT", s.number)
	}
	return expr.Errorf(3065, "HY000",
		"Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; "+
			"this is incompatible with DISTINCT", s.number, b.plainName(bad))
}
