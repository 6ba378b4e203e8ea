package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// From a.x = b.y AND a.x = 5 follows b.y = 5, so that both tables can be read by an index. That holds if both equalities compare in the
// same way: with texts, under the same collation. The condition is added, none is taken away, and it has no column of an outer join's
// right side: it is made of the conditions of inner joins and of those of WHERE above them.

// transitive adds conditions to those of an inner join whose sides give left and right.
func (z *optimizer) transitive(pool []expr.Node, j *rel.Join) []expr.Node {
	equal := columnPairs(pool)
	for _, side := range []rel.Node{j.Left, j.Right} {
		equal = append(equal, pairsBelow(side)...)
	}
	if len(equal) == 0 {
		return pool
	}
	type fixed struct {
		col *rel.Col
		lit *expr.Lit
	}
	known := map[rel.ColID]bool{}
	var todo []fixed
	for _, c := range pool {
		if col, lit, ok := columnIsConstant(c); ok {
			known[col.ID] = true
			todo = append(todo, fixed{col, lit})
		}
	}
	own := given(j)
	out := slices.Clone(pool)
	for len(todo) > 0 {
		f := todo[0]
		todo = todo[1:]
		for _, p := range equal {
			other := p[1]
			if p[1].ID == f.col.ID {
				other = p[0]
			} else if p[0].ID != f.col.ID {
				continue
			}
			if known[other.ID] || !own[other.ID] || !alike(f.col.T, other.T) {
				continue
			}
			lit, col := *f.lit, *other
			e, ok := build("=", &col, &lit)
			if !ok {
				continue
			}
			known[other.ID] = true
			out = append(out, e)
			todo = append(todo, fixed{&col, &lit})
		}
	}
	return out
}

// alike reports whether columns of the two types are compared with each other and with constants in the same way.
func alike(a, b expr.Type) bool {
	if a.Kind() != b.Kind() || a.Collation != b.Collation {
		return false
	}
	switch a.Kind() {
	case expr.KindInt, expr.KindText, expr.KindBytes, expr.KindDecimal, expr.KindDate, expr.KindTime:
		return true
	case expr.KindUint, expr.KindDatetime, expr.KindFloat: // YEAR, TIMESTAMP and FLOAT read constants in their own way
		return a.Name == b.Name
	}
	return false
}

// columnPairs are the equalities between two columns.
func columnPairs(conds []expr.Node) (out [][2]*rel.Col) {
	for _, c := range conds {
		call, ok := c.(*expr.Call)
		if !ok || call.Name != "=" {
			continue
		}
		a, okA := call.Args[0].(*rel.Col)
		b, okB := call.Args[1].(*rel.Col)
		if okA && okB && alike(a.T, b.T) {
			out = append(out, [2]*rel.Col{a, b})
		}
	}
	return out
}

// pairsBelow are those of the inner joins below.
func pairsBelow(n rel.Node) [][2]*rel.Col {
	switch n := n.(type) {
	case *rel.Filter:
		return append(columnPairs(n.Conds), pairsBelow(n.Child)...)
	case *rel.Join:
		if n.Kind == rel.Inner {
			return slices.Concat(columnPairs(n.On), pairsBelow(n.Left), pairsBelow(n.Right))
		}
	}
	return nil
}

func columnIsConstant(c expr.Node) (*rel.Col, *expr.Lit, bool) {
	call, ok := c.(*expr.Call)
	if !ok || call.Name != "=" {
		return nil, nil, false
	}
	for i := range 2 {
		col, isCol := call.Args[i].(*rel.Col)
		lit, isLit := call.Args[1-i].(*expr.Lit)
		if isCol && isLit && !lit.V.IsNull() && lit.V.Kind() == col.T.Kind() {
			how, err := expr.ComparisonOf("=", col, lit)
			if err == nil && (how.Class != expr.ClassText || how.Collation == col.T.Collation) {
				return col, lit, true
			}
		}
	}
	return nil, nil, false
}
