package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server reorders the joins of a statement (memo/join_order_builder.go). In
//
//	x LEFT JOIN y ON x.k = y.k JOIN z ON x.k = z.k AND y.v <> z.d
//
// it may join x with z first, then y; of the conditions of an inner join those that become decidable at an outer join (here
// y.v <> z.d, when y comes in) are then left away: addPlans hands them to addJoin as filters of the result, and addJoinToGroup
// does not use them. What it is given to reorder is therefore brought into a form in which that cannot happen:
//
//	O1  An outer join whose inner side must not be NULL, because a condition above is true of no NULL (here y.v <> z.d), is an
//	    inner join. The two give the same rows, and inner joins are reordered freely and rightly.
//	O2  A condition of an inner join that mentions the inner side of an outer join below it is evaluated on the joined rows:
//	    σ(a ⋈ b) is a ⋈ b with the condition. So is one that mentions one side of its own join only, if there is an outer, semi or
//	    anti join anywhere in the tree.
//	O3  What O2 lifts goes up to the place above which rows could be lost or made up: the right side of an outer, semi or anti
//	    join, or the top. So do filters between joins.
//
// What O2 lifts can no longer be looked up in an index. Conditions that are true of NULLs are rare in joins: <=>, IS NULL, OR, and
// functions.

// keepingConditions is the rule that plans joins, over trees that keep O1 to O3.
func keepingConditions(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if !n.Resolved() || plan.IsNoRowNode(n) {
			return apply(ctx, a, n, scope, sel, flags)
		}
		lifted, same, err := prepareJoins(ctx, n)
		if err != nil || same == transform.SameTree {
			return apply(ctx, a, n, scope, sel, flags)
		}
		out, _, err := apply(ctx, a, lifted, scope, sel, flags)
		return out, transform.NewTree, err
	}
}

// prepareJoins finds the topmost joins of a plan and prepares their trees.
func prepareJoins(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if sql.IsOpaque(n) {
		return n, transform.SameTree, nil
	}
	if _, ok := n.(*plan.JoinNode); ok {
		simple, err := partialJoins(ctx, n)
		if err == nil {
			simple, err = innerJoins(ctx, simple, sql.ColSet{})
		}
		if err != nil {
			return n, transform.SameTree, err
		}
		l := lifter{mixed: mixedJoins(simple)}
		out, err := l.join(ctx, simple)
		if err != nil || simple == n && !l.lifted {
			return n, transform.SameTree, err
		}
		return l.filtered(ctx, out), transform.NewTree, nil
	}
	children := n.Children()
	same := transform.SameTree
	for i, c := range children {
		out, s, err := prepareJoins(ctx, c)
		if err != nil {
			return n, transform.SameTree, err
		}
		if s == transform.NewTree {
			if same == transform.SameTree {
				children = append([]sql.Node(nil), children...)
			}
			children[i], same = out, transform.NewTree
		}
	}
	if same == transform.SameTree {
		return n, same, nil
	}
	out, err := n.WithChildren(ctx, children...)
	return out, transform.NewTree, err
}

// partialJoins keeps the planner from making inner joins of semi joins, and left joins of anti joins, where it would lose its way
// (analyzer/indexed_joins.go, convertSemiToInnerJoin and convertAntiToLeftJoin): it takes the columns of a derived table on the left
// side for those of the tables below it, and those of a table with an alias by their place among all of the table's columns.
func partialJoins(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	j, ok := n.(*plan.JoinNode)
	if !ok {
		if f, ok := n.(*plan.Filter); ok {
			child, err := partialJoins(ctx, f.Child)
			if err != nil || child == f.Child {
				return n, err
			}
			return f.WithChildren(ctx, child)
		}
		return n, nil
	}
	left, err := partialJoins(ctx, j.Left())
	if err != nil {
		return nil, err
	}
	right, err := partialJoins(ctx, j.Right())
	if err != nil {
		return nil, err
	}
	cond := j.Filter
	if j.Op.IsPartial() && cond != nil {
		plain := true
		if left, err = wholeTables(ctx, left, &plain); err != nil {
			return nil, err
		}
		if !plain {
			cond = expression.JoinAnd(cond, &fence{expression.NewLiteral(true, types.Boolean)})
		}
	}
	if left == j.Left() && right == j.Right() && cond == j.Filter {
		return n, nil
	}
	return plan.NewJoin(ctx, left, right, j.Op, cond).WithComment(j.Comment()), nil
}

// wholeTables is a tree of joins whose tables with an alias have all their columns. plain becomes false if there are others than
// tables in it.
func wholeTables(ctx *sql.Context, n sql.Node, plain *bool) (sql.Node, error) {
	switch x := n.(type) {
	case *plan.JoinNode, *plan.Filter:
		children := append([]sql.Node(nil), n.Children()...)
		same := true
		for i, c := range children {
			out, err := wholeTables(ctx, c, plain)
			if err != nil {
				return nil, err
			}
			same = same && out == c
			children[i] = out
		}
		if same {
			return n, nil
		}
		return n.WithChildren(ctx, children...)
	case *plan.TableAlias:
		r, ok := x.Child.(*plan.ResolvedTable)
		if !ok {
			*plain = false
			return n, nil
		}
		p, ok := r.Table.(sql.ProjectedTable)
		if !ok || p.Projections() == nil || len(p.Projections()) == r.Columns().Len() {
			return n, nil
		}
		own, ok := r.Table.(*table)
		if !ok {
			*plain = false
			return n, nil
		}
		whole, err := r.ReplaceTable(ctx, own.whole())
		if err != nil {
			return nil, err
		}
		return x.WithChildren(ctx, whole.(sql.Node))
	case *plan.ResolvedTable:
		return n, nil
	}
	*plain = false
	return n, nil
}

// innerJoins is O1. No row in which one of the columns in rejected is NULL is wanted.
func innerJoins(ctx *sql.Context, n sql.Node, rejected sql.ColSet) (sql.Node, error) {
	if f, ok := n.(*plan.Filter); ok {
		child, err := innerJoins(ctx, f.Child, rejected.Union(rejectedBy(ctx, f.Expression)))
		if err != nil || child == f.Child {
			return n, err
		}
		return f.WithChildren(ctx, child)
	}
	j, ok := n.(*plan.JoinNode)
	if !ok {
		return n, nil
	}
	op, own := j.Op, rejectedBy(ctx, j.Filter)
	left, right := rejected, sql.ColSet{}
	switch {
	case op == plan.JoinTypeLeftOuter && rejected.Intersects(tableColumns(j.Right())):
		op = plan.JoinTypeInner
		fallthrough
	case op == plan.JoinTypeInner, op == plan.JoinTypeCross:
		left = rejected.Union(own)
		right = left
	case op == plan.JoinTypeLeftOuter:
		right = own
	case op == plan.JoinTypeSemi:
		left, right = rejected.Union(own), own
	case op == plan.JoinTypeAnti, op == plan.JoinTypeAntiIncludeNulls:
	default:
		left = sql.ColSet{}
	}
	l, err := innerJoins(ctx, j.Left(), left)
	if err != nil {
		return nil, err
	}
	r, err := innerJoins(ctx, j.Right(), right)
	if err != nil {
		return nil, err
	}
	if l == j.Left() && r == j.Right() && op == j.Op {
		return n, nil
	}
	return plan.NewJoin(ctx, l, r, op, j.Filter).WithComment(j.Comment()), nil
}

// rejectedBy are columns of which a condition is not true if one of them is NULL.
func rejectedBy(ctx *sql.Context, e sql.Expression) (out sql.ColSet) {
	if e == nil {
		return out
	}
	for _, c := range expression.SplitConjunction(ctx, e) {
		if n, ok := c.(*expression.Not); ok {
			if isNull, ok := n.Child.(*expression.IsNull); ok {
				out = out.Union(strictColumns(isNull.Child))
				continue
			}
			c = n.Child
		}
		switch x := c.(type) {
		case *expression.Equals, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan, *expression.LessThanOrEqual:
			cmp := x.(expression.Comparer)
			out = out.Union(strictColumns(cmp.Left())).Union(strictColumns(cmp.Right()))
		case *expression.InTuple:
			out = out.Union(strictColumns(x.Left()))
		}
	}
	return out
}

// strictColumns are columns of which an expression is NULL if one of them is NULL.
func strictColumns(e sql.Expression) (out sql.ColSet) {
	switch x := e.(type) {
	case *expression.GetField:
		out.Add(x.Id())
	case *expression.Arithmetic, *expression.UnaryMinus:
		for _, c := range x.Children() {
			out = out.Union(strictColumns(c))
		}
	}
	return out
}

// lifter takes conditions out of one tree of joins (O2, O3).
type lifter struct {
	lifted     bool
	conditions []sql.Expression // on their way up
	partial    bool             // there is an outer, semi or anti join below
	mixed      bool             // there is one in the tree
	inner      sql.ColSet       // the columns of the inner sides of those
}

// filtered is n under the conditions that go no further.
func (l *lifter) filtered(ctx *sql.Context, n sql.Node) sql.Node {
	if len(l.conditions) == 0 {
		return n
	}
	f := plan.NewFilter(ctx, expression.JoinAnd(l.conditions...), n)
	l.conditions = nil
	return f
}

func (l *lifter) lift(c sql.Expression) { l.conditions, l.lifted = append(l.conditions, c), true }

// join lifts what has to be lifted out of a tree of joins.
func (l *lifter) join(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	if f, ok := n.(*plan.Filter); ok && isJoin(f.Child) {
		child, err := l.join(ctx, f.Child)
		for _, c := range expression.SplitConjunction(ctx, f.Expression) {
			l.lift(c)
		}
		return child, err
	}
	j, ok := n.(*plan.JoinNode)
	if !ok {
		return n, nil
	}
	left, err := l.join(ctx, j.Left())
	if err != nil {
		return nil, err
	}
	right := j.Right()
	if j.Op == plan.JoinTypeInner || j.Op == plan.JoinTypeCross {
		right, err = l.join(ctx, right)
	} else {
		below := lifter{mixed: mixedJoins(right)}
		if right, err = below.join(ctx, right); err == nil {
			right = below.filtered(ctx, right)
		}
		l.lifted = l.lifted || below.lifted
		l.partial, l.inner = true, l.inner.Union(tableColumns(j.Right()))
	}
	if err != nil {
		return nil, err
	}
	cond, op := j.Filter, j.Op
	if op == plan.JoinTypeInner && (l.partial || l.mixed) && cond != nil {
		var stays []sql.Expression
		lc, rc := tableColumns(j.Left()), tableColumns(j.Right())
		for _, c := range expression.SplitConjunction(ctx, cond) {
			if mentions(ctx, c, l.inner) || !mentions(ctx, c, lc) || !mentions(ctx, c, rc) {
				l.lift(c)
			} else {
				stays = append(stays, c)
			}
		}
		if len(stays) == 0 {
			return plan.NewCrossJoin(ctx, left, right).WithComment(j.Comment()), nil
		}
		cond = expression.JoinAnd(stays...)
	}
	if left == j.Left() && right == j.Right() && cond == j.Filter {
		return n, nil
	}
	return plan.NewJoin(ctx, left, right, op, cond).WithComment(j.Comment()), nil
}

// mixedJoins reports whether a tree has joins that are not inner ones.
func mixedJoins(n sql.Node) bool {
	switch x := n.(type) {
	case *plan.Filter:
		return mixedJoins(x.Child)
	case *plan.JoinNode:
		return x.Op != plan.JoinTypeInner && x.Op != plan.JoinTypeCross || mixedJoins(x.Left()) || mixedJoins(x.Right())
	}
	return false
}

// isJoin reports whether there is a join behind filters.
func isJoin(n sql.Node) bool {
	if f, ok := n.(*plan.Filter); ok {
		return isJoin(f.Child)
	}
	_, ok := n.(*plan.JoinNode)
	return ok
}

// tableColumns are the columns of all tables below a node.
func tableColumns(n sql.Node) (out sql.ColSet) {
	if t, ok := n.(plan.TableIdNode); ok {
		return t.Columns()
	}
	for _, c := range n.Children() {
		out = out.Union(tableColumns(c))
	}
	return out
}

func mentions(ctx *sql.Context, e sql.Expression, cols sql.ColSet) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch x := e.(type) {
		case *expression.GetField:
			return cols.Contains(x.Id())
		case *plan.Subquery:
			return x.Correlated().Intersects(cols)
		}
		return false
	})
}
