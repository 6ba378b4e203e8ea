package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// addRules corrects the analyzer.
//
//   - unnestInSubqueries also takes NOT IN (SELECT ...) for an anti-join, which is wrong where NULLs are about. It is kept from
//     seeing those.
//   - replaceCrossJoins moves conditions below outer joins (crossjoins.go).
//   - simplifyFilters takes LIKE without wildcards for = (likebounds.go).
//   - optimizeJoins and applyIndexesFromOuterScope use indexes for comparisons that indexes do not answer (fence.go), and the
//     former loses conditions of inner joins that stand behind outer ones (joins.go).
//   - applyDefaultSelectLimit limits also INSERT ... SELECT and the statements of procedures. It is left away (limitedSelect).
//   - applyHashIn compares the members of IN lists by hash, and texts by their bytes. It is left away.
//   - validateNoHiddenSystemColumns refuses the columns that functional indexes are made of (tableddl.go). It is left away.
func (e *Engine) addRules() {
	for _, b := range e.gms.Analyzer.Batches {
		for i, r := range b.Rules {
			switch r.Id.String() {
			case "unnestInSubqueries":
				b.Rules[i].Apply = sparing(r.Apply, hideNotIn)
			case "hoistOutOfScopeFilters":
				b.Rules[i].Apply = sparing(r.Apply, hideNotExists)
			case "unnestExistsSubqueries":
				b.Rules[i].Apply = sparing(r.Apply, hideExists)
			case "replaceCrossJoins":
				b.Rules[i].Apply = joinCrossed
			case "simplifyFilters":
				b.Rules[i].Apply = boundLikes(r.Apply)
			case "optimizeJoins":
				b.Rules[i].Apply = keepingConditions(fencing(r.Apply))
			case "applyIndexesFromOuterScope":
				b.Rules[i].Apply = fencing(r.Apply)
			case "applyHashIn", "applyDefaultSelectLimit":
				b.Rules[i].Apply = unchanged
			case "validateNoHiddenSystemColumns":
				b.Rules[i].Apply = unchanged
			}
		}
	}
}

// unchanged is a rule without effect.
func unchanged(_ *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return n, transform.SameTree, nil
}

// sparing keeps a rule from seeing what hide wraps into spared.
func sparing(apply analyzer.RuleFunc, hide transform.ExprFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		hidden, same, err := transform.NodeExprs(ctx, n, hide)
		if err != nil || same == transform.SameTree {
			return apply(ctx, a, n, scope, sel, flags)
		}
		out, changed, err := apply(ctx, a, hidden, scope, sel, flags)
		if err != nil {
			return n, transform.SameTree, err
		}
		if changed == transform.SameTree {
			return n, transform.SameTree, nil
		}
		shown, _, err := transform.NodeExprs(ctx, out, show)
		return shown, transform.NewTree, err
	}
}

// spared is an expression that a rule does not recognize.
type spared struct{ sql.Expression }

// WithChildren implements sql.Expression.
func (s *spared) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := s.Expression.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &spared{e}, nil
}

func show(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if s, ok := e.(*spared); ok {
		return s.Expression, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

func hideNotIn(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	n, ok := e.(*expression.Not)
	if !ok {
		return e, transform.SameTree, nil
	}
	switch c := n.Child.(type) {
	case *plan.InSubquery:
		return &spared{n}, transform.NewTree, nil
	case expression.Comparer:
		if _, sub := c.Right().(*plan.Subquery); sub {
			return &spared{n}, transform.NewTree, nil
		}
	}
	return e, transform.SameTree, nil
}

// hideNotExists is for the rule that moves conditions on outer columns alone out of subqueries: NOT EXISTS (SELECT ... WHERE x)
// becomes NOT (EXISTS (SELECT ...) AND x), which is NULL where x is.
func hideNotExists(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if n, ok := e.(*expression.Not); ok {
		switch n.Child.(type) {
		case *plan.ExistsSubquery, *plan.InSubquery:
			return &spared{n}, transform.NewTree, nil
		}
	}
	return e, transform.SameTree, nil
}

// hideExists is for the rule that makes joins of EXISTS. It throws away aggregates, which give a row always, and LIMIT and OFFSET.
// NOT EXISTS it does not see at all: the anti join is made a left join that looks for NULLs on the right side, and loses columns on
// the way (analyzer/indexed_joins.go, convertAntiToLeftJoin). The subquery is looked up for each row instead.
func hideExists(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if n, ok := e.(*expression.Not); ok {
		if _, ok := n.Child.(*plan.ExistsSubquery); ok {
			return &spared{n}, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	}
	if x, ok := e.(*plan.ExistsSubquery); ok && !plainRows(x.Query.Query) {
		return &spared{x}, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// plainRows reports whether a query has a row if and only if there is one behind its FROM and WHERE.
func plainRows(n sql.Node) bool {
	plain := true
	transform.Inspect(n, func(n sql.Node) bool {
		switch x := n.(type) {
		case *plan.GroupBy:
			plain = plain && len(x.GroupByExprs) > 0
		case *plan.Limit, *plan.Offset, *plan.TopN, *plan.SetOp, *plan.Having, *plan.Window:
			plain = false
		}
		return plain && !sql.IsOpaque(n)
	})
	return plain
}

// mentionsOther reports whether an expression has a column that is not among these.
func mentionsOther(ctx *sql.Context, e sql.Expression, cols sql.ColSet) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		g, ok := e.(*expression.GetField)
		return ok && !cols.Contains(g.Id())
	})
}
