package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// orderBy binds ORDER BY. A number, and what stands in the select list, is the value there; constants do not order anything.
func (b *binder) orderBy(list sqlparser.OrderBy, s *scope) ([]rel.SortKey, error) {
	s.clause, s.allowAggregates = orderClause, true
	var out []rel.SortKey
	one := s.group != nil && !s.group.explicit // a single row, which needs no order: MySQL forgets ORDER BY after it has looked at the names
	loose := len(s.loose)
	for i, o := range list {
		s.number = i + 1
		n, err := b.orderKey(inParens(o.Expr), s)
		if err != nil {
			return nil, err
		}
		if n == nil || expr.IsConst(n) {
			continue
		}
		out = append(out, rel.SortKey{Expr: n, Desc: o.Direction == sqlparser.DescScr})
	}
	if one {
		s.loose = s.loose[:loose]
		return nil, nil
	}
	return out, nil
}

// orderKey is one of the expressions of ORDER BY; nil: it is a constant of the select list.
func (b *binder) orderKey(e sqlparser.Expr, s *scope) (expr.Node, error) {
	it, err := position(e, s)
	if err != nil {
		return nil, err
	}
	if name, ok := e.(*sqlparser.ColName); ok && it == nil && name.StoredProcVal == nil && !isVariable(name) {
		if it, _, err = b.findItem(name, s); err != nil {
			return nil, err
		}
	}
	if it != nil {
		return b.itemKeyOf(it), nil
	}
	loose := len(s.loose)
	s.below = s.below[:0]
	n, err := b.scalar(e, s)
	if err != nil {
		return nil, err
	}
	if !expr.IsConst(n) {
		for _, it := range s.items {
			if b.same(n, it.node) {
				s.loose = s.loose[:loose] // the select list has been looked at
				return b.itemKeyOf(it), nil
			}
		}
	}
	if s.sel.QueryOpts.Distinct && b.set.OnlyFullGroupBy {
		return n, b.checkDistinct(n, s)
	}
	return n, nil
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

// checkDistinct reports error 3065: an expression of ORDER BY reads a column that SELECT DISTINCT does not give.
func (b *binder) checkDistinct(n expr.Node, s *scope) error {
	bad, found := rel.ColID(0), false
	look := func(id rel.ColID) {
		if found || s.group != nil && s.group.isAggregate(id) {
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
	if !found {
		return nil
	}
	return expr.Errorf(3065, "HY000", "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT list; "+
		"this is incompatible with DISTINCT", s.number, b.plainName(bad))
}
