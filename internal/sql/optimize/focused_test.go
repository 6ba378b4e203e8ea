package optimize_test

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// judged says what of an answer must be the same.
type judged uint8

const (
	rowsSame  judged = iota // the rows as a bag, and the values of the sort keys in order
	keysSame                // the values of the sort keys in order: LIMIT takes any of equal rows
	countSame               // how many rows: LIMIT without an order takes any
)

// focused makes a small plan that one of the rules is about: conditions about indexed columns, orders, limits, DISTINCT, MIN and MAX, joins
// of a few tables, a subquery in a condition.
func (g *generator) focused() (rel.Node, []rel.ColID, judged) {
	switch g.pick(7) {
	case 0: // an index, and an order
		p := g.filtered(g.scan())
		return g.ordered(p)
	case 1:
		return g.ordered(g.filtered(g.chain(2 + g.pick(2))))
	case 2: // DISTINCT over some columns
		p := g.filtered(g.chain(1 + g.pick(2)))
		if g.pick(3) == 0 {
			p = g.group(p)
		}
		cols := g.some(p.cols)
		n := rel.Node(&rel.Distinct{Child: p.n, Cols: cols})
		return n, g.some(cols), rowsSame
	case 3: // an end of an index
		p := g.filtered(g.scan())
		top := g.group(p)
		n := top.n.(*rel.Group)
		n.Keys, n.Out, n.Scalar, n.Rollup = nil, nil, true, false
		var cols []rel.ColID
		for _, a := range n.Aggs {
			cols = append(cols, a.Col)
		}
		if len(cols) > 1 {
			cols = cols[g.pick(len(cols)):][:1]
		}
		return n, cols, rowsSame
	case 4:
		p := g.chain(1 + g.pick(2))
		cond := g.around(p)
		return &rel.Filter{Child: p.n, Conds: []expr.Node{cond}}, p.cols, rowsSame
	case 5: // OR, whose parts are about columns of their own or demand the same
		p := g.chain(1 + g.pick(2))
		p.n = &rel.Filter{Child: p.n, Conds: []expr.Node{g.alternatives(p.cols)}}
		return g.ordered(p)
	}
	p := g.group(g.filtered(g.chain(1 + g.pick(2))))
	if len(p.n.(*rel.Group).Keys) == 0 {
		return p.n, p.cols, rowsSame
	}
	keys := p.n.(*rel.Group).Out
	if g.pick(2) == 0 {
		p.n = &rel.Filter{Child: p.n, Conds: g.conds(1+g.pick(2), 0, p.cols, nil)}
	}
	return g.ordered(plan{p.n, append(append([]rel.ColID{}, keys...), p.cols[len(keys):]...)})
}

// alternatives is an OR of equalities with constants, some of them with something more.
func (g *generator) alternatives(cols []rel.ColID) expr.Node {
	id := cols[g.pick(len(cols))]
	all := g.literal(g.meta.Columns[id].Type)
	same := g.pick(3) == 0
	var parts []expr.Node
	for range 2 + g.pick(2) {
		c := cols[g.pick(len(cols))]
		if g.pick(2) == 0 {
			c = cols[g.pick(min(3, len(cols)))]
		}
		part := expr.Node(call("=", g.meta.Ref(c), g.literal(g.meta.Columns[c].Type)))
		if g.pick(3) == 0 {
			part = call("and", part, g.cond(0, cols, nil))
		}
		if same {
			l := *all.(*expr.Lit)
			part = call("and", call("<>", g.meta.Ref(id), &l), part)
		}
		parts = append(parts, part)
	}
	return call("or", parts...)
}

func (g *generator) some(cols []rel.ColID) (out []rel.ColID) {
	for _, c := range cols {
		if g.pick(2) == 0 {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return cols[:1]
	}
	return out
}

func (g *generator) filtered(p plan) plan {
	if n := g.pick(4); n > 0 {
		p.n = &rel.Filter{Child: p.n, Conds: g.conds(n, 0, p.cols, nil)}
	}
	return p
}

// chain joins tables, mostly by equalities.
func (g *generator) chain(tables int) plan {
	p := g.scan()
	for range tables - 1 {
		r := g.scan()
		j := &rel.Join{Left: p.n, Right: r.n, Kind: []rel.JoinKind{rel.Inner, rel.Inner, rel.Left}[g.pick(3)]}
		both := append(append([]rel.ColID{}, p.cols...), r.cols...)
		if e := g.equality(p.cols, r.cols); e != nil {
			j.On = append(j.On, e)
		}
		if g.pick(4) == 0 {
			j.On = append(j.On, g.conds(1, 0, both, nil)...)
		}
		if g.pick(6) == 0 {
			if e := g.sum(both); e != nil {
				j.On = append(j.On, e)
			}
		}
		p = plan{j, both}
	}
	return p
}

// sum is an equality with a sum of two columns.
func (g *generator) sum(cols []rel.ColID) expr.Node {
	var ints []rel.ColID
	for _, c := range cols {
		if g.meta.Columns[c].Type.Name == expr.BigInt {
			ints = append(ints, c)
		}
	}
	if len(ints) == 0 {
		return nil
	}
	one := func() *rel.Col { return g.meta.Ref(ints[g.pick(len(ints))]) }
	return call("=", call("+", one(), one()), one())
}

// ordered puts an order, a limit or both above a plan.
func (g *generator) ordered(p plan) (rel.Node, []rel.ColID, judged) {
	n, how := p.n, rowsSame
	if g.pick(4) > 0 {
		s := &rel.Sort{Child: n}
		first := p.cols
		if g.pick(2) == 0 {
			first = p.cols[:min(3, len(p.cols))]
		}
		desc := g.pick(3) == 0
		for range 1 + g.pick(2) {
			s.Keys = append(s.Keys, rel.SortKey{Expr: g.meta.Ref(first[g.pick(len(first))]), Desc: desc != (g.pick(5) == 0)})
		}
		n, how = s, keysSame
	} else {
		how = countSame
	}
	if g.pick(2) == 0 {
		l := &rel.Limit{Child: n, Count: intLit(int64(1 + g.pick(5)))}
		if g.pick(3) == 0 {
			l.Offset = intLit(int64(g.pick(3)))
		}
		return l, p.cols, how
	}
	if how == keysSame {
		return n, p.cols, rowsSame
	}
	return n, p.cols, rowsSame
}

// around is a condition with a subquery of one of many shapes.
func (g *generator) around(p plan) expr.Node {
	in := g.chain(1 + g.pick(2))
	if j, ok := in.n.(*rel.Join); ok && g.pick(3) == 0 { // a condition of the join reads a column from outside
		if e := g.equality(in.cols, p.cols); e != nil {
			j.On = append(j.On, e)
		}
	}
	if e := g.equality(in.cols, p.cols); e != nil && g.pick(4) > 0 {
		in.n = &rel.Filter{Child: in.n, Conds: []expr.Node{e}}
	}
	if g.pick(2) == 0 {
		in.n = &rel.Filter{Child: in.n, Conds: g.conds(1, 0, in.cols, p.cols)}
	}
	switch g.pick(6) {
	case 0:
		in = g.group(in)
	case 1:
		in.n = &rel.Distinct{Child: in.n, Cols: in.cols}
	case 2:
		in.n = &rel.Limit{Child: in.n, Count: intLit(int64(g.pick(2)))}
	case 3:
		in = g.project(in, p.cols)
	}
	s := &rel.Subquery{Kind: rel.Exists, Negated: g.pick(2) == 0, Plan: in.n, Out: in.cols, T: expr.TBool}
	if _, limited := in.n.(*rel.Limit); !limited && g.pick(2) == 0 {
		for range 10 {
			a, b := p.cols[g.pick(len(p.cols))], in.cols[g.pick(len(in.cols))]
			if g.comparable(a, b) {
				s.Kind, s.Left, s.Out = rel.In, []expr.Node{g.meta.Ref(a)}, []rel.ColID{b}
				break
			}
		}
	}
	g.finish(s, p.cols)
	return s
}
