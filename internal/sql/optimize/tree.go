package optimize

import (
	"strings"

	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// bottomUp puts fn(n) in place of each operator of a plan, from the leaves up. It does not go into plans of subqueries.
func bottomUp(n rel.Node, fn func(rel.Node) rel.Node) rel.Node {
	for i, c := range n.Children() {
		if d := bottomUp(c, fn); d != c {
			n.SetChild(i, d)
		}
	}
	return fn(n)
}

// visit calls fn for each operator of a plan, plans of subqueries and of common table expressions included.
func visit(n rel.Node, fn func(rel.Node)) { visitor{fn, map[any]bool{}}.node(n) }

type visitor struct {
	fn   func(rel.Node)
	seen map[any]bool
}

func (v visitor) node(n rel.Node) {
	v.fn(n)
	rel.EachExpr(n, func(slot *expr.Node) {
		rel.Walk(*slot, func(e expr.Node) bool {
			if s, ok := e.(*rel.Subquery); ok && !v.seen[s] {
				v.seen[s] = true
				v.node(s.Plan)
			}
			return true
		})
	})
	if s, ok := n.(*rel.SharedScan); ok && !v.seen[s.From] {
		v.seen[s.From] = true
		v.node(s.From.Plan)
	}
	for _, c := range n.Children() {
		v.node(c)
	}
}

// given is the set of the columns that an operator gives.
func given(n rel.Node) rel.Cols {
	out := rel.Cols{}
	for _, id := range n.Columns() {
		out[id] = true
	}
	return out
}

// reads is the set of the columns that expressions read.
func reads(es ...expr.Node) rel.Cols {
	out := rel.Cols{}
	rel.CollectCols(out, es...)
	return out
}

// within reports whether all columns of a are in b.
func within(a, b rel.Cols) bool {
	for id := range a {
		if !b[id] {
			return false
		}
	}
	return true
}

// meets reports whether a column is in both.
func meets(a, b rel.Cols) bool {
	for id := range a {
		if b[id] {
			return true
		}
	}
	return false
}

// produced are the columns that the operators of a plan give, at any depth: what it reads beyond them is outer.
func produced(n rel.Node) rel.Cols {
	out := rel.Cols{}
	visit(n, func(n rel.Node) {
		for _, id := range n.Columns() {
			out[id] = true
		}
		switch n := n.(type) { // columns that Sort.Keep or a semi join hides
		case *rel.SetOp:
			addCols(out, n.LeftCols, n.RightCols)
		case *rel.Recursive:
			addCols(out, n.SeedCols, n.StepCols)
		case *rel.SharedScan:
			addCols(out, n.From.Cols)
		}
	})
	return out
}

func addCols(into rel.Cols, lists ...[]rel.ColID) {
	for _, l := range lists {
		for _, id := range l {
			into[id] = true
		}
	}
}

// outerOf are the columns that a plan reads and does not give: those of the queries around it.
func outerOf(n rel.Node) rel.Cols {
	all, own := rel.Cols{}, produced(n)
	visit(n, func(n rel.Node) {
		rel.EachExpr(n, func(slot *expr.Node) { rel.CollectCols(all, *slot) })
	})
	for id := range own {
		delete(all, id)
	}
	return all
}

// volatile reports whether an expression must be evaluated where and as often as the statement has it (O3).
func volatile(n expr.Node) bool {
	is := false
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *rel.Col, *expr.Lit, *expr.Tuple:
		case *expr.Call:
			is = is || n.Volatile
		case *rel.Subquery:
			is = is || n.Volatile
		case rel.Volatile:
			is = is || n.Volatile()
		case rel.Parent:
		default:
			is = is || !expr.IsConst(n)
		}
		return !is
	})
	return is
}

// subqueriesIn reports whether an expression has a subquery.
func subqueriesIn(n expr.Node) bool {
	has := false
	rel.Walk(n, func(n expr.Node) bool {
		if _, ok := n.(*rel.Subquery); ok {
			has = true
		}
		return !has
	})
	return has
}

// dependent reports whether an expression holds a subquery that is executed for each row.
func dependent(n expr.Node) bool {
	has := false
	rel.Walk(n, func(n expr.Node) bool {
		if s, ok := n.(*rel.Subquery); ok && len(s.Outer) > 0 {
			has = true
		}
		return !has
	})
	return has
}

// clone builds an expression anew, with other expressions in place of columns: with(id) nil leaves the column. A call keeps what it
// compares with in closures, so its arguments cannot be exchanged. False: it holds what cannot be built anew (a subquery, a leaf of the
// host), or the copy would have another type.
func clone(n expr.Node, with func(*rel.Col) expr.Node) (expr.Node, bool) {
	switch n := n.(type) {
	case *rel.Col:
		if with != nil {
			if e := with(n); e != nil {
				return e, true
			}
		}
		c := *n
		return &c, true
	case *expr.Lit:
		l := *n
		return &l, true
	case *expr.Tuple:
		args, ok := cloneAll(n.Nodes, with)
		return &expr.Tuple{Nodes: args}, ok
	case *expr.Call:
		args, ok := cloneAll(n.Args, with)
		if !ok {
			return nil, false
		}
		return rebuild(n, args)
	}
	return nil, false
}

func cloneAll(ns []expr.Node, with func(*rel.Col) expr.Node) ([]expr.Node, bool) {
	out := make([]expr.Node, len(ns))
	for i, n := range ns {
		var ok bool
		if out[i], ok = clone(n, with); !ok {
			return nil, false
		}
	}
	return out, true
}

// rebuild builds a call anew over other arguments.
func rebuild(c *expr.Call, args []expr.Node) (expr.Node, bool) {
	f := expr.Lookup(c.Name)
	if f == nil || f.Name != c.Name {
		return nil, false
	}
	d, err := expr.Build(c.Name, c.Text, c.Extra, args...)
	if err != nil || !sameType(d.T, c.T) {
		return nil, false
	}
	d.Volatile = c.Volatile
	return d, true
}

// sameType reports whether values of the types are held, compared and shown alike.
func sameType(a, b expr.Type) bool {
	return a.Name == b.Name && a.Unsigned == b.Unsigned && a.Collation == b.Collation && a.Scale == b.Scale && a.Length == b.Length &&
		a.Zerofill == b.Zerofill && slices.Equal(a.Elements, b.Elements)
}

// build makes a call of a function that exists for all types; a fault of this package if it does not.
func build(name string, args ...expr.Node) (*expr.Call, bool) {
	text := ""
	if len(args) == 2 {
		text = "(" + rel.ExprText(args[0]) + " " + name + " " + rel.ExprText(args[1]) + ")"
	}
	c, err := expr.Build(name, text, nil, args...)
	return c, err == nil
}

// filter puts conditions above a plan.
func filter(n rel.Node, conds []expr.Node) rel.Node {
	if len(conds) == 0 {
		return n
	}
	if f, ok := n.(*rel.Filter); ok {
		f.Conds = append(f.Conds, conds...)
		return f
	}
	return &rel.Filter{Child: n, Conds: conds}
}

// empty is a plan without rows that has the columns of another one.
func empty(n rel.Node) *rel.Values { return &rel.Values{Cols: slices.Clone(n.Columns())} }

func isEmpty(n rel.Node) bool {
	v, ok := n.(*rel.Values)
	return ok && len(v.Rows) == 0
}

// truth is the value of a literal as a condition.
func truth(n expr.Node) (is, literal bool) {
	l, ok := n.(*expr.Lit)
	if !ok {
		return false, false
	}
	b, known, err := expr.Truth(&expr.Env{}, l.V)
	return b && known, err == nil
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
