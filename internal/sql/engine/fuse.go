package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// fused is an expression of a finished plan, evaluated by package expr as one tree. To the plan it looks as it was.
type fused struct {
	sql.Expression
	node expr.Node
	t    sql.Type
	run  evaluation
}

// unfused is what a fused expression looked like to the planner.
func unfused(e sql.Expression) sql.Expression {
	if f, ok := e.(*fused); ok {
		return f.Expression
	}
	return e
}

// Eval implements sql.Expression.
func (f *fused) Eval(ctx *sql.Context, row sql.Row) (any, error) { return f.run.eval(ctx, f.node, row) }

// Type implements sql.Expression.
func (f *fused) Type(*sql.Context) sql.Type { return f.t }

// WithChildren implements sql.Expression.
func (f *fused) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := f.Expression.WithChildren(ctx, cs...)
	if err != nil || onlyShown(ctx, e) {
		return e, err
	}
	n, _, err := fuse(ctx, e)
	return n, err
}

// onlyShown reports whether an expression is only for its text: go-mysql-server puts something that cannot be evaluated in place of the
// subqueries when it names a column (plan/str_expr.go).
func onlyShown(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		s, ok := e.(*plan.Subquery)
		if !ok {
			return false
		}
		_, shown := s.Query.(*plan.StrExpr)
		return shown
	})
}

// CollationCoercibility implements sql.CollationCoercible.
func (f *fused) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	t := f.node.Type()
	return sql.CollationID(t.Collation), byte(t.Coerc)
}

// fuse makes fused expressions of the largest parts of an expression that package expr evaluates; false: there are none.
func fuse(ctx *sql.Context, e sql.Expression) (sql.Expression, bool, error) {
	if _, ok := e.(*fused); ok {
		return e, false, nil
	}
	if !ours(e) {
		return withChildren(ctx, e, fuse)
	}
	inner, _, err := fuseForeign(ctx, e)
	if err != nil {
		return nil, false, err
	}
	n, err := lowered(ctx, inner)
	if err != nil {
		return nil, false, err
	}
	return &fused{Expression: inner, node: n, t: resultType(inner, n.Type())}, true, nil
}

// ours reports whether package expr evaluates an expression.
func ours(e sql.Expression) bool {
	switch e.(type) {
	case *scalar, *plan.InSubquery:
		return true
	}
	_, _, _, ok := operator(e)
	return ok
}

// fuseForeign fuses below the parts of a tree that package expr does not evaluate.
func fuseForeign(ctx *sql.Context, e sql.Expression) (sql.Expression, bool, error) {
	return withChildren(ctx, e, func(ctx *sql.Context, c sql.Expression) (sql.Expression, bool, error) {
		if _, tuple := c.(expression.Tuple); tuple || ours(c) {
			return fuseForeign(ctx, c)
		}
		return withChildren(ctx, c, fuse)
	})
}

func withChildren(ctx *sql.Context, e sql.Expression, fn func(*sql.Context, sql.Expression) (sql.Expression, bool, error)) (sql.Expression, bool, error) {
	children := e.Children()
	var out []sql.Expression
	for i, c := range children {
		if c == nil {
			continue
		}
		n, changed, err := fn(ctx, c)
		if err != nil {
			return nil, false, err
		}
		if changed {
			if out == nil {
				out = append([]sql.Expression{}, children...)
			}
			out[i] = n
		}
	}
	if out == nil {
		return e, false, nil
	}
	n, err := e.WithChildren(ctx, out...)
	return n, true, err
}

// fusePlan is the analyzer's last rule: go-mysql-server has found its indexes and joins by its own expressions, which are
// evaluated by package expr from here on.
func fusePlan(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		x, ok := n.(sql.Expressioner)
		if !ok {
			return n, transform.SameTree, nil
		}
		es := x.Expressions()
		same := true
		out := make([]sql.Expression, len(es))
		for i, e := range es {
			if e == nil {
				continue
			}
			f, changed, err := fuseOf(ctx, n, e)
			if err != nil {
				return nil, transform.SameTree, err
			}
			out[i] = f
			same = same && !changed
		}
		if same {
			return n, transform.SameTree, nil
		}
		n, err := x.WithExpressions(ctx, out...)
		return n, transform.NewTree, err
	})
}

// fuseOf fuses an expression of a node. A merge join looks at its first condition by itself.
func fuseOf(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, bool, error) {
	j, ok := n.(*plan.JoinNode)
	if !ok || !j.Op.IsMerge() {
		return fuse(ctx, e)
	}
	conditions := expression.SplitConjunction(ctx, e)
	changed := false
	for i, c := range conditions[1:] {
		f, did, err := fuse(ctx, c)
		if err != nil {
			return nil, false, err
		}
		conditions[i+1] = f
		changed = changed || did
	}
	if !changed {
		return e, false, nil
	}
	return expression.JoinAnd(conditions...), true, nil
}
