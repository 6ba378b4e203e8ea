package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Conditions with OR.
//
// What all parts of an OR demand is demanded by itself: (a AND b) OR (a AND c) is a AND (b OR c). Then a can be the condition of a join, or
// find rows by an index.
//
// Of an OR that reads both sides of a join each side gets what it says of that side alone: of (n1 = 'F' AND n2 = 'G') OR (n1 = 'G' AND n2 =
// 'F') the left side n1 = 'F' OR n1 = 'G'. Nothing is taken away for it. Only comparisons of columns with constants of their kind are
// added, which neither warn nor fail.

// branches are the parts of an OR, each as the list of what it demands.
func branches(or *expr.Call) [][]expr.Node {
	var demands func(n expr.Node) []expr.Node
	demands = func(n expr.Node) []expr.Node {
		c, ok := n.(*expr.Call)
		if !ok || c.Name != "and" {
			return []expr.Node{n}
		}
		var out []expr.Node
		for _, a := range c.Args {
			out = append(out, demands(a)...)
		}
		return out
	}
	out := make([][]expr.Node, len(or.Args))
	for i, a := range or.Args {
		out[i] = demands(a)
	}
	return out
}

// junction is the AND or OR of conditions.
func junction(name string, conds []expr.Node) (expr.Node, bool) {
	if len(conds) == 1 {
		return conds[0], true
	}
	c, err := expr.Build(name, "", nil, conds...)
	return c, err == nil
}

// common takes what all parts of an OR demand out of them. Nil: there is nothing.
func common(or *expr.Call) []expr.Node {
	parts := branches(or)
	var out []expr.Node
	for _, c := range parts[0] {
		if volatile(c) || subqueriesIn(c) {
			return nil // conditions do not move across these
		}
		in := func(part []expr.Node) bool {
			return slices.ContainsFunc(part, func(d expr.Node) bool { return rel.Same(c, d) })
		}
		if !in(out) && !slices.ContainsFunc(parts[1:], func(part []expr.Node) bool { return !in(part) }) {
			out = append(out, c)
		}
	}
	if out == nil {
		return nil
	}
	var rest []expr.Node
	for _, part := range parts {
		part = slices.DeleteFunc(part, func(c expr.Node) bool {
			return slices.ContainsFunc(out, func(d expr.Node) bool { return rel.Same(c, d) })
		})
		if len(part) == 0 {
			return out // this part demands nothing else
		}
		c, ok := junction("and", part)
		if !ok {
			return nil
		}
		rest = append(rest, c)
	}
	c, ok := junction("or", rest)
	if !ok {
		return nil
	}
	return append(out, c)
}

// commonOf is common of a condition that is an OR.
func (z *optimizer) commonOf(c *expr.Call) []expr.Node {
	if z.o.NoTransitive || c.Name != "or" {
		return nil
	}
	return common(c)
}

// oneSided is what an OR says of columns of one side of a join alone; nil: a part of it says nothing of them.
func oneSided(or *expr.Call, side rel.Cols) expr.Node {
	var out []expr.Node
	for _, part := range branches(or) {
		var here []expr.Node
		for _, c := range part {
			if !plain(c) || !meets(reads(c), side) {
				continue
			}
			if d, ok := clone(c, nil); ok {
				here = append(here, d)
			}
		}
		if here == nil {
			return nil
		}
		c, ok := junction("and", here)
		if !ok {
			return nil
		}
		out = append(out, c)
	}
	c, ok := junction("or", out)
	if !ok {
		return nil
	}
	return c
}

// plain reports whether a condition compares a column with constants of its kind.
func plain(n expr.Node) bool {
	c, ok := n.(*expr.Call)
	if !ok {
		return false
	}
	switch c.Name {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "in", "like":
	default:
		return false
	}
	col, ok := c.Args[0].(*rel.Col)
	if !ok {
		return false
	}
	for _, a := range c.Args[1:] {
		l, ok := a.(*expr.Lit)
		if !ok || l.V.IsNull() || l.V.Kind() != col.T.Kind() && !(l.V.Kind() == expr.KindInt && col.T.IsNumber()) {
			return false
		}
	}
	return true
}

// bySides adds to the conditions of the two sides of an inner join what those that read both of them say of one alone.
func (z *optimizer) bySides(on []expr.Node, left, right rel.Cols, toLeft, toRight []expr.Node) (l, r []expr.Node) {
	for _, c := range on {
		or, ok := c.(*expr.Call)
		if !ok || or.Name != "or" || z.divided[or] {
			continue
		}
		z.divided[or] = true
		if d := oneSided(or, left); d != nil {
			toLeft = append(toLeft, d)
		}
		if d := oneSided(or, right); d != nil {
			toRight = append(toRight, d)
		}
	}
	return toLeft, toRight
}
