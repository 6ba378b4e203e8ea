package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A subquery that is a condition of its own, EXISTS (...) or x IN (...), becomes a semi join with the tables of the subquery, NOT EXISTS
// and NOT IN an anti join: the subquery is not executed for each row, and the joins' methods apply. The conditions of the subquery that
// read columns from outside become conditions of the join.
//
//	EXISTS       row passes iff a row of the subquery satisfies them: the semi join's definition.
//	IN           the same with the equality added: where it is NULL, IN is NULL or false, and the row does not pass either.
//	NOT EXISTS   row passes iff no row satisfies them: the anti join's definition.
//	NOT IN       the same with the equality added, but only if neither side of it may be NULL: with a NULL the row must not pass.
//
// The conditions can be taken out if nothing above them in the subquery depends on which rows they let through: no aggregate, LIMIT,
// window, set operation, or right side of an outer join. What else reads a column from outside keeps the subquery as it is, and so
// does a comparison that has no hash keys. A subquery without outer columns is executed once anyway: EXISTS stays.

// semiJoins puts joins in place of subqueries in the conditions of a plan; it reports whether it found any.
func (z *optimizer) semiJoins(root *rel.Node) bool {
	changed := false
	*root = bottomUp(*root, func(n rel.Node) rel.Node {
		var conds *[]expr.Node
		switch n := n.(type) {
		case *rel.Scan:
			conds = &n.Filter
		case *rel.Filter:
			conds = &n.Conds
		case *rel.Join:
			if n.Kind != rel.Inner {
				return n
			}
			conds = &n.On
		default:
			return n
		}
		var kept []expr.Node
		var joins []*rel.Join
		if anyFn(*conds, volatile) {
			return n
		}
		for _, c := range *conds {
			if j := z.semiJoin(c, n); j != nil {
				joins = append(joins, j)
				continue
			}
			kept = append(kept, c)
		}
		if len(joins) == 0 {
			return n
		}
		kept, later := split(kept, func(c expr.Node) bool { return !dependent(c) }) // what may be dear is asked of the rows that are left
		changed = true
		*conds = kept
		out := n
		if f, ok := n.(*rel.Filter); ok && len(kept) == 0 {
			out = f.Child
		}
		for _, j := range joins {
			j.Left = out
			out = j
		}
		return filter(out, later)
	})
	return changed
}

// semiJoin is the join that a condition stands for, without its left side; nil: there is none.
func (z *optimizer) semiJoin(c expr.Node, left rel.Node) *rel.Join {
	negated := false
	for {
		call, ok := c.(*expr.Call)
		if !ok || call.Name != "not" {
			break
		}
		negated, c = !negated, call.Args[0]
	}
	s, ok := c.(*rel.Subquery)
	if !ok || s.Volatile || z.done[s] {
		return nil
	}
	negated = negated != s.Negated
	in := s.Kind == rel.In || s.Kind == rel.AnyOf && s.Op == "=" || s.Kind == rel.AllOf && (s.Op == "<>" || s.Op == "!=")
	if s.Kind == rel.AllOf {
		negated = !negated
	}
	if !in && (s.Kind != rel.Exists || len(s.Outer) == 0) {
		return nil
	}
	outer := rel.Cols{}
	addCols(outer, s.Outer)
	if !in && !meets(outer, given(left)) {
		return nil
	}
	s.Plan = z.simplified(s.Plan)
	plan := z.stripped(s.Plan, s.Kind == rel.Exists)
	var on []expr.Node
	if in {
		if len(s.Left) != len(s.Out) {
			return nil
		}
		for i, l := range s.Left {
			right := z.meta.Ref(s.Out[i])
			how, err := expr.ComparisonOf("in", l, right)
			if err != nil || !hashable(how, l.Type(), right.T) || expr.IsConst(l) || volatile(l) || subqueriesIn(l) {
				return nil
			}
			if negated && !(z.notNull(l, left) && z.notNull(right, plan)) {
				return nil
			}
			e, ok := build("=", l, right)
			if !ok {
				return nil
			}
			on = append(on, e)
		}
	}
	if !z.takeable(plan, outer) {
		return nil
	}
	plan, taken := take(plan, outer)
	kind := rel.Semi
	if negated {
		kind = rel.Anti
	}
	j := &rel.Join{Kind: kind, Right: plan, On: append(taken, on...)}
	j.Right = z.pushAll(j.Right)
	z.semiJoins(&j.Right)
	return j
}

// stripped is a subquery's plan without what decides neither whether there are rows nor which values there are.
func (z *optimizer) stripped(n rel.Node, exists bool) rel.Node {
	for {
		switch m := n.(type) {
		case *rel.Sort:
			if m.Limit != nil {
				return n
			}
			n = m.Child
		case *rel.Distinct:
			n = m.Child
		case *rel.One:
			if !exists {
				return n
			}
			n = m.Child
		case *rel.Limit:
			if is, _ := truth(countOf(m)); !exists || m.Offset != nil || m.FoundRows || !is {
				return n
			}
			n = m.Child
		case *rel.Project:
			if !exists || anyFn(m.Exprs, volatile) {
				return n
			}
			n = m.Child
		default:
			return n
		}
	}
}

func countOf(n *rel.Limit) expr.Node {
	if n.Count == nil {
		return &expr.Lit{V: expr.True, T: expr.TBool}
	}
	return n.Count
}

// takeable reports whether take finds all that reads outer columns.
func (z *optimizer) takeable(n rel.Node, outer rel.Cols) bool {
	own := func(es []expr.Node) bool { return !meets(reads(es...), outer) }
	free := func(n rel.Node) bool { return !meets(outerOf(n), outer) }
	conds := func(es []expr.Node) bool {
		return !anyFn(es, func(c expr.Node) bool { return meets(reads(c), outer) && (volatile(c) || subqueriesIn(c)) })
	}
	switch n := n.(type) {
	case *rel.Scan:
		return conds(n.Filter)
	case *rel.Filter:
		return conds(n.Conds) && z.takeable(n.Child, outer)
	case *rel.Project:
		return own(n.Exprs) && z.takeable(n.Child, outer)
	case *rel.Join:
		switch {
		case n.Lateral || n.Straight:
			return free(n)
		case n.Kind == rel.Inner:
			return conds(n.On) && z.takeable(n.Left, outer) && z.takeable(n.Right, outer)
		}
		return own(n.On) && z.takeable(n.Left, outer) && free(n.Right)
	}
	return free(n)
}

// take takes the conditions that read outer columns out of a plan.
func take(n rel.Node, outer rel.Cols) (rel.Node, []expr.Node) {
	var taken []expr.Node
	part := func(conds []expr.Node) (kept []expr.Node) {
		for _, c := range conds {
			if meets(reads(c), outer) {
				taken = append(taken, c)
			} else {
				kept = append(kept, c)
			}
		}
		return kept
	}
	switch n := n.(type) {
	case *rel.Scan:
		n.Filter = part(n.Filter)
	case *rel.Filter:
		child, below := take(n.Child, outer)
		n.Child, taken = child, below
		n.Conds = part(n.Conds)
		if len(n.Conds) == 0 {
			return n.Child, taken
		}
	case *rel.Project:
		n.Child, taken = take(n.Child, outer)
	case *rel.Join:
		if n.Lateral || n.Straight {
			return n, nil
		}
		var right []expr.Node
		n.Left, taken = take(n.Left, outer)
		if n.Kind == rel.Inner {
			n.Right, right = take(n.Right, outer)
			taken = append(taken, right...)
			n.On = part(n.On)
		}
	}
	return n, taken
}

// hashable reports whether values that are equal in a comparison have equal hash keys, whatever row they come from.
func hashable(how expr.Comparison, a, b expr.Type) bool {
	switch how.Class {
	case expr.ClassText, expr.ClassBytes:
		return a.IsString() && b.IsString()
	case expr.ClassInt, expr.ClassDecimal, expr.ClassFloat:
		return a.IsNumber() && b.IsNumber()
	case expr.ClassDatetime:
		return a.HasDate() && b.HasDate()
	case expr.ClassTime:
		return a.Kind() == expr.KindTime && b.Kind() == expr.KindTime
	}
	return false
}

// notNull reports whether an expression is not NULL in any row of a plan.
func (z *optimizer) notNull(e expr.Node, n rel.Node) bool {
	switch e := e.(type) {
	case *expr.Lit:
		return !e.V.IsNull()
	case *rel.Col:
		return z.columnNotNull(e.ID, n)
	}
	return false
}

func (z *optimizer) columnNotNull(id rel.ColID, n rel.Node) bool {
	one := rel.Cols{id: true}
	switch n := n.(type) {
	case *rel.Scan:
		return slices.Contains(n.Cols, id) && (!z.meta.Columns[id].Nullable || rejects(n.Filter, one))
	case *rel.Filter:
		return rejects(n.Conds, one) || z.columnNotNull(id, n.Child)
	case *rel.Project:
		if i := slices.Index(n.Cols, id); i >= 0 {
			return z.notNull(n.Exprs[i], n.Child)
		}
		return z.columnNotNull(id, n.Child)
	case *rel.Join:
		if slices.Contains(n.Left.Columns(), id) {
			return z.columnNotNull(id, n.Left) || n.Kind != rel.Left && n.Kind != rel.Anti && rejects(n.On, one)
		}
		return n.Kind == rel.Inner && (rejects(n.On, one) || z.columnNotNull(id, n.Right))
	case *rel.Group:
		if !n.Rollup && slices.Contains(n.Keys, id) {
			return z.columnNotNull(id, n.Child)
		}
		for _, a := range n.Aggs {
			if a.Col == id {
				return a.Name == "count"
			}
		}
	case *rel.SetOp:
		if i := slices.Index(n.Cols, id); i >= 0 {
			return z.columnNotNull(n.LeftCols[i], n.Left) && (n.Kind != rel.Union || z.columnNotNull(n.RightCols[i], n.Right))
		}
	case *rel.Sort, *rel.Distinct, *rel.Limit, *rel.Window:
		return z.columnNotNull(id, n.Children()[0])
	}
	return false
}
