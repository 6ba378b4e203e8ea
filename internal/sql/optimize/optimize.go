package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Options switches rules off, for tests and for finding out which rule is wrong. The zero Options has all rules.
type Options struct {
	NoSimplify, NoInline, NoPush, NoOuter, NoTransitive, NoSemi, NoOrder, NoPrune, NoAccess, NoJoinMethods, NoSort, NoLimit, NoDistinct,
	NoCount, NoGenerated bool
}

// Optimize changes the plans of a query in place: that of the query, of the subqueries in its expressions and of its common table
// expressions. env evaluates constants: it warns of them, and an error is that of a constant condition.
func Optimize(q *rel.Query, env *expr.Env, o Options) error {
	z := &optimizer{meta: q.Meta, env: env, o: o, done: map[any]bool{}, scans: map[*rel.Shared]int{}, rollups: map[*rel.Group]*rel.Project{},
		divided: map[*expr.Call]bool{}}
	var out []rel.ColID
	for _, c := range q.Out {
		out = append(out, c.Col)
	}
	visit(q.Root, func(n rel.Node) {
		if s, ok := n.(*rel.SharedScan); ok {
			z.scans[s.From]++
		}
	})
	q.Root = z.plan(q.Root, out, all)
	return z.failed
}

// optimizer is the work on one query.
type optimizer struct {
	meta *rel.Metadata
	env  *expr.Env
	o    Options
	done map[any]bool            // subqueries and common table expressions whose plans are optimized
	rows map[*rel.Shared]float64 // estimates: each of many names may be read twice by the next
	// scans is how many places of the statement read a common table expression.
	scans map[*rel.Shared]int
	// depth is how many subqueries in expressions are around the plan that is being optimized.
	depth int
	// rollups are the operators that calculate the keys of groupings WITH ROLLUP.
	rollups map[*rel.Group]*rel.Project
	// divided are conditions with OR of which the sides of joins have got their shares.
	divided map[*expr.Call]bool
	// failed is what evaluating a constant failed with first.
	failed error
}

// plan optimizes one plan, of which the columns out are wanted, and so many rows.
func (z *optimizer) plan(n rel.Node, out []rel.ColID, rows float64) rel.Node {
	if !z.o.NoSimplify {
		n = z.simplify(n)
	}
	if !z.o.NoInline && z.depth == 0 {
		n = z.inline(n)
	}
	n = z.pushAll(n)
	if !z.o.NoSimplify && !z.o.NoPush { // what was an outer join may have no rows now
		n = z.reduce(n)
	}
	if !z.o.NoSemi {
		if changed := z.semiJoins(&n); changed {
			n = z.pushAll(n)
		}
	}
	if !z.o.NoDistinct {
		n = z.dropDistinct(n)
	}
	if !z.o.NoGenerated {
		z.readGenerated(n)
	}
	if !z.o.NoOrder {
		n = z.orderJoins(n)
	}
	wanted := rel.Cols{}
	for _, id := range out {
		wanted[id] = true
	}
	z.prune(&n, wanted)
	n = z.physical(n, rows)
	z.inner(n)
	return n
}

// inner optimizes the plans that hang on a plan: of subqueries in expressions and of common table expressions.
func (z *optimizer) inner(n rel.Node) {
	rel.EachExpr(n, func(slot *expr.Node) {
		rel.Walk(*slot, func(e expr.Node) bool {
			if s, ok := e.(*rel.Subquery); ok && !z.done[s] {
				z.done[s] = true
				out, rows := s.Out, all
				if s.Kind == rel.Exists {
					out, rows = nil, 1
				}
				z.depth++
				s.Plan = z.plan(s.Plan, out, rows)
				z.depth--
				if s.Kind == rel.Exists && !z.o.NoLimit {
					z.tellLimit(&s.Plan, 1)
				}
			}
			return true
		})
	})
	if s, ok := n.(*rel.SharedScan); ok && !z.done[s.From] {
		z.done[s.From] = true
		s.From.Plan = z.plan(s.From.Plan, s.From.Cols, all)
	}
	for _, c := range n.Children() {
		z.inner(c)
	}
}
