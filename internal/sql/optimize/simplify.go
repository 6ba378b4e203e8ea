package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Constants are evaluated once, conjunctions taken apart, conditions that are always true dropped; a plan whose condition is never true
// becomes one without rows.
//
// A condition of WHERE or ON lets a row pass iff it is true, so AND is the same as the list of its parts, and NULL the same as FALSE. A
// constant that fails or warns is left as it is unless it is a condition or what a column is compared with (constants.go): it does so when,
// and only if, a row reaches it (O2).

func (z *optimizer) simplify(n rel.Node) rel.Node {
	visit(n, func(n rel.Node) {
		if g, ok := n.(*rel.Group); ok && g.Rollup {
			if p, ok := g.Child.(*rel.Project); ok {
				z.rollups[g] = p
			}
		}
	})
	n = z.reduce(z.decide(n))
	if z.compareConstants(n) {
		n = z.reduce(n)
	}
	z.lookedUp(n)
	return n
}

// reduce folds constants, and drops what their values decide.
func (z *optimizer) reduce(n rel.Node) rel.Node {
	return bottomUp(n, func(n rel.Node) rel.Node {
		rel.EachExpr(n, func(slot *expr.Node) { *slot = z.fold(*slot) })
		switch n := n.(type) {
		case *rel.Filter:
			conds, never := z.conjuncts(n.Conds)
			if never || isEmpty(n.Child) {
				return empty(n)
			}
			if len(conds) == 0 {
				return n.Child
			}
			n.Conds = conds
		case *rel.Scan:
			conds, never := z.conjuncts(n.Filter)
			if never {
				return empty(n)
			}
			n.Filter = conds
		case *rel.Join:
			conds, never := z.conjuncts(n.On)
			if !never {
				n.On = conds
				return emptyJoin(n)
			}
			switch n.Kind {
			case rel.Inner, rel.Semi:
				return empty(n)
			case rel.Anti:
				return n.Left
			}
			n.On, n.Right = nil, empty(n.Right)
		case *rel.SetOp:
			if n.Kind != rel.Union && isEmpty(n.Left) || n.Kind == rel.Intersect && isEmpty(n.Right) {
				return empty(n)
			}
		case *rel.Group:
			switch {
			case !isEmpty(n.Child) || n.Scalar:
			case n.Rollup:
				return totalOfNone(n, z.rollups[n])
			default:
				return empty(n)
			}
		case *rel.Project, *rel.Sort, *rel.Distinct, *rel.Window, *rel.One, *rel.Limit:
			if isEmpty(n.Children()[0]) {
				return empty(n)
			}
		}
		return n
	})
}

// totalOfNone is ROLLUP where a condition is known to be never true: MySQL gives one row, in which the keys have the values that they have
// of a row of NULLs, as if there was no ROLLUP. keys calculates those that are no columns; nil: all are.
func totalOfNone(n *rel.Group, keys *rel.Project) rel.Node {
	p := &rel.Project{Child: &rel.Group{Child: n.Child, Aggs: n.Aggs, Scalar: true}}
	null := func(col *rel.Col) expr.Node { return &expr.Lit{T: col.T} }
	for i, id := range n.Keys {
		var e expr.Node = &expr.Lit{T: expr.TNull}
		if keys != nil {
			if at := slices.Index(keys.Cols, id); at >= 0 {
				if c, ok := clone(keys.Exprs[at], null); ok {
					e = c
				}
			}
		}
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, n.Out[i])
	}
	for _, g := range n.Grouping {
		p.Exprs, p.Cols = append(p.Exprs, &expr.Lit{V: expr.Int(0), T: expr.TBool}), append(p.Cols, g.Col)
	}
	return p
}

// emptyJoin is a join one of whose sides has no rows.
func emptyJoin(n *rel.Join) rel.Node {
	switch {
	case isEmpty(n.Left), isEmpty(n.Right) && (n.Kind == rel.Inner || n.Kind == rel.Semi):
		return empty(n)
	case isEmpty(n.Right) && n.Kind == rel.Anti:
		return n.Left
	}
	return n
}

// conjuncts takes conditions apart; never: one of them is not true for any row, and none before it is volatile.
func (z *optimizer) conjuncts(conds []expr.Node) (out []expr.Node, never bool) {
	for _, c := range conds {
		no := false
		if call, ok := c.(*expr.Call); !ok || call.Name != "and" {
			c = z.condition(c)
		}
		switch c := c.(type) {
		case *expr.Lit:
			is, err := z.isTrue(c)
			if err == nil && is {
				continue
			}
			no = err == nil
		case *expr.Call:
			if parts := conjunctsOf(c); parts != nil {
				inner, isNever := z.conjuncts(parts)
				if !isNever {
					out = append(out, inner...)
					continue
				}
				no = true
			} else if parts := z.commonOf(c); parts != nil {
				inner, isNever := z.conjuncts(parts)
				if !isNever {
					out = append(out, inner...)
					continue
				}
				no = true
			} else {
				no = neverTrue(c, nil)
			}
		}
		if no && !anyFn(out, volatile) {
			return nil, true
		}
		out = append(out, c)
	}
	return out, false
}

func anyFn(ns []expr.Node, fn func(expr.Node) bool) bool {
	for _, n := range ns {
		if fn(n) {
			return true
		}
	}
	return false
}

func (z *optimizer) isTrue(l *expr.Lit) (bool, error) {
	is, known, err := expr.Truth(z.env, l.V)
	return is && known, err
}

// conjunctsOf are the conditions that are all true iff the call is: of AND, and of an equality of rows. Nil: it is one.
func conjunctsOf(c *expr.Call) []expr.Node {
	if c.Name == "and" {
		return c.Args
	}
	if c.Name != "=" && c.Name != "<=>" {
		return nil
	}
	a, okA := c.Args[0].(*expr.Tuple)
	b, okB := c.Args[1].(*expr.Tuple)
	if !okA || !okB || len(a.Nodes) != len(b.Nodes) {
		return nil
	}
	var out []expr.Node
	for i := range a.Nodes {
		e, ok := build(c.Name, a.Nodes[i], b.Nodes[i])
		if !ok {
			return nil
		}
		out = append(out, e)
	}
	return out
}

// fold evaluates what is constant.
func (z *optimizer) fold(n expr.Node) expr.Node {
	switch n := n.(type) {
	case *expr.Tuple:
		out, changed := make([]expr.Node, len(n.Nodes)), false
		for i, a := range n.Nodes {
			out[i] = z.fold(a)
			changed = changed || out[i] != a
		}
		if changed {
			return &expr.Tuple{Nodes: out}
		}
		return n
	case *rel.Subquery:
		for i, a := range n.Left {
			n.Left[i] = z.fold(a)
		}
		if l := z.decided(n); l != nil {
			return l
		}
		return n
	case *expr.Call:
		if n.Constant() {
			return z.constant(n)
		}
		args, changed := make([]expr.Node, len(n.Args)), false
		for i, a := range n.Args {
			args[i] = z.fold(a)
			changed = changed || args[i] != a
		}
		if !changed {
			return n
		}
		if m, ok := rebuild(n, args); ok {
			return m
		}
		return n
	case rel.Parent:
		if expr.IsConst(n) {
			return z.constant(n)
		}
		for i, a := range n.Args() {
			if f := z.fold(a); f != a {
				n.SetArg(i, f)
			}
		}
	}
	return n
}

// constant is the value of an expression without columns; the expression itself, if it fails or warns.
func (z *optimizer) constant(n expr.Node) expr.Node {
	env, warned := *z.env, false
	env.Warn = func(uint16, string) { warned = true }
	v, err := n.Eval(&env)
	if err != nil || env.Failed() != nil || warned {
		return n
	}
	return &expr.Lit{V: v, T: n.Type()}
}
