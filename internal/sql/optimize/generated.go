package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// An expression that a generated column of a table holds is read from the column, where that helps: as a side of a comparison, for which
// an index on the column may be used, and where rows are sorted or projected by it. The column has the expression's type, so the value
// is the same, but for the digits of a quotient beyond its scale: MySQL reads the column, too.
//
// Above an outer join the column is NULL where the row has no partner, and the expression need not be. So what stands there is left.

// readGenerated puts columns in the place of expressions throughout a plan, and returns those that may be read above it.
func (z *optimizer) readGenerated(n rel.Node) []rel.Generated {
	switch n := n.(type) {
	case *rel.Scan:
		var out []rel.Generated
		for _, g := range n.Generated {
			g.Expr = z.fold(g.Expr)
			if col := z.meta.Columns[g.Col]; !rel.IsVolatile(g.Expr) && sameValues(col.Type, g.Expr.Type()) {
				out = append(out, g)
			}
		}
		z.generatedIn(n.Filter, out)
		return out
	case *rel.Join:
		left, right := z.readGenerated(n.Left), z.readGenerated(n.Right)
		z.generatedIn(n.On, append(left[:len(left):len(left)], right...))
		if n.Kind == rel.Inner {
			return append(left, right...)
		}
		return left
	}
	var below []rel.Generated
	for _, c := range n.Children() {
		below = z.readGenerated(c)
	}
	switch n := n.(type) {
	case *rel.Filter:
		z.generatedIn(n.Conds, below)
		return below
	case *rel.Project:
		for i, e := range n.Exprs {
			n.Exprs[i] = z.generatedColumn(e, below)
		}
		return below
	case *rel.Sort:
		for i := range n.Keys {
			n.Keys[i].Expr = z.generatedColumn(n.Keys[i].Expr, below)
		}
		return below
	case *rel.Limit:
		return below
	}
	return nil
}

// sameValues reports whether a column holds the values of an expression as they are.
func sameValues(col, e expr.Type) bool {
	return col.Kind() == e.Kind() && col.Unsigned == e.Unsigned && col.Collation == e.Collation && col.Scale == e.Scale &&
		(!col.IsString() || col.Length >= e.Length && e.Length >= 0)
}

// generatedColumn is the column that holds an expression; the expression itself if none does.
func (z *optimizer) generatedColumn(e expr.Node, gs []rel.Generated) expr.Node {
	if _, col := e.(*rel.Col); col || len(gs) == 0 || expr.IsConst(e) {
		return e
	}
	for _, g := range gs {
		if rel.Same(e, g.Expr) {
			return z.meta.Ref(g.Col)
		}
	}
	return e
}

// indexable are the comparisons of which MySQL looks for generated columns.
var indexable = map[string]bool{"=": true, "<=>": true, "<": true, "<=": true, ">": true, ">=": true, "between": true, "in": true,
	"member of": true}

func (z *optimizer) generatedIn(conds []expr.Node, gs []rel.Generated) {
	if len(gs) == 0 {
		return
	}
	for i, c := range conds {
		conds[i] = z.comparedGenerated(c, gs)
	}
}

// comparedGenerated is a condition with columns in the place of the expressions that it compares.
func (z *optimizer) comparedGenerated(c expr.Node, gs []rel.Generated) expr.Node {
	call, ok := c.(*expr.Call)
	if !ok {
		return c
	}
	var with func(expr.Node, []rel.Generated) expr.Node
	switch {
	case call.Name == "and" || call.Name == "or":
		with = z.comparedGenerated
	case indexable[call.Name]:
		with = z.generatedColumn
	default:
		return c
	}
	args, changed := make([]expr.Node, len(call.Args)), false
	for i, a := range call.Args {
		args[i] = with(a, gs)
		changed = changed || args[i] != a
	}
	if !changed {
		return c
	}
	if out, ok := rebuild(call, args); ok {
		return out
	}
	return c
}
