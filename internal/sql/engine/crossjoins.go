package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// joinCrossed replaces go-mysql-server's rule that makes inner joins of cross joins and conditions of WHERE
// (analyzer/replace_cross_joins.go). That one also takes cross joins on the inner side of outer joins, where the condition then no
// longer holds for the rows that the outer join makes up, and any condition in which some comparison is about the two sides,
// whatever else it is about.
//
// A condition goes to the topmost cross join both of whose sides it mentions, and that is reached from it over inner and cross
// joins and the outer sides of others.
func joinCrossed(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !n.Resolved() {
		return n, transform.SameTree, nil
	}
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok || !isJoin(f.Child) {
			return n, transform.SameTree, nil
		}
		conds := expression.SplitConjunction(ctx, f.Expression)
		child, err := takeConditions(ctx, f.Child, &conds)
		if err != nil || child == f.Child {
			return n, transform.SameTree, err
		}
		if len(conds) == 0 {
			return child, transform.NewTree, nil
		}
		return plan.NewFilter(ctx, expression.JoinAnd(conds...), child), transform.NewTree, nil
	})
}

// takeConditions gives cross joins below n the conditions that belong there, and removes these from the list.
func takeConditions(ctx *sql.Context, n sql.Node, conds *[]sql.Expression) (sql.Node, error) {
	if f, ok := n.(*plan.Filter); ok {
		child, err := takeConditions(ctx, f.Child, conds)
		if err != nil || child == f.Child {
			return n, err
		}
		return f.WithChildren(ctx, child)
	}
	j, ok := n.(*plan.JoinNode)
	if !ok || j.Op.IsLateral() || j.Op.IsFullOuter() {
		return n, nil
	}
	var own []sql.Expression
	if j.Op == plan.JoinTypeCross {
		lc, rc := tableColumns(j.Left()), tableColumns(j.Right())
		var rest []sql.Expression
		for _, c := range *conds {
			if compares(ctx, c, lc, rc) {
				own = append(own, c)
			} else {
				rest = append(rest, c)
			}
		}
		*conds = rest
	}
	left, err := takeConditions(ctx, j.Left(), conds)
	if err != nil {
		return nil, err
	}
	right := j.Right()
	if j.Op == plan.JoinTypeCross || j.Op == plan.JoinTypeInner {
		if right, err = takeConditions(ctx, right, conds); err != nil {
			return nil, err
		}
	}
	if left == j.Left() && right == j.Right() && len(own) == 0 {
		return n, nil
	}
	if len(own) > 0 {
		return plan.NewInnerJoin(ctx, left, right, expression.JoinAnd(own...)).WithComment(j.Comment()), nil
	}
	return plan.NewJoin(ctx, left, right, j.Op, j.Filter).WithComment(j.Comment()), nil
}

// compares reports whether a condition is about both sides, and about nothing else.
func compares(ctx *sql.Context, e sql.Expression, left, right sql.ColSet) bool {
	inLeft, inRight, elsewhere := false, false, false
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch x := e.(type) {
		case *expression.GetField:
			switch {
			case left.Contains(x.Id()):
				inLeft = true
			case right.Contains(x.Id()):
				inRight = true
			default:
				elsewhere = true
			}
		case *plan.Subquery:
			elsewhere = true
		}
		return false
	})
	return inLeft && inRight && !elsewhere
}
