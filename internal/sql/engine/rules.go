package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// addRules corrects the analyzer: its rule that turns IN (SELECT ...) into joins also takes NOT IN for an anti-join, which
// is wrong where NULLs are about. It is kept from seeing those.
func (e *Engine) addRules() {
	for _, b := range e.gms.Analyzer.Batches {
		for i, r := range b.Rules {
			switch r.Id.String() {
			case "unnestInSubqueries":
				b.Rules[i].Apply = sparingNotIn(r.Apply)
			case "simplifyFilters":
				b.Rules[i].Apply = boundLikes(r.Apply)
			}
		}
	}
}

func sparingNotIn(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		hidden, same, err := transform.NodeExprs(ctx, n, hideNotIn)
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
		shown, _, err := transform.NodeExprs(ctx, out, showNotIn)
		return shown, transform.NewTree, err
	}
}

// spared is a negated subquery that the rule does not recognize.
type spared struct{ *expression.Not }

// WithChildren implements sql.Expression.
func (s *spared) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	n, err := s.Not.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &spared{n.(*expression.Not)}, nil
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

func showNotIn(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if s, ok := e.(*spared); ok {
		return s.Not, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}
