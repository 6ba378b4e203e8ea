package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// What MySQL evaluates of conditions (WHERE, ON, HAVING) before it reads a row, and so warns of or fails with even if there is none:
//
//   - conditions that are constant, from left to right, until one decides;
//   - constants that a column is compared with by =, <=>, <>, <, <=, > or >=, or BETWEEN; and those of IN, if all are texts.
//
// Constants elsewhere, as in a select list, are evaluated when a row needs them.

// decide evaluates the constant conditions of a plan: those of inner joins, then those of WHERE, then those of outer joins and of derived
// tables. Where one of WHERE is not true, MySQL does not look at those below.
func (z *optimizer) decide(n rel.Node) rel.Node {
	var conds *[]expr.Node
	switch n := n.(type) {
	case *rel.Filter:
		z.decideJoins(n.Child)
		conds = &n.Conds
	case *rel.Join:
		conds = &n.On
	}
	if conds != nil {
		left, never := z.conjuncts(*conds)
		if *conds = left; never {
			*conds = []expr.Node{&expr.Lit{V: expr.False, T: expr.TBool}}
		}
		if j, ok := n.(*rel.Join); never && (!ok || j.Kind == rel.Inner || j.Kind == rel.Semi) && oneBlock(n) {
			return empty(n)
		}
	}
	for i, c := range n.Children() {
		if d := z.decide(c); d != c {
			n.SetChild(i, d)
		}
	}
	return n
}

// decideJoins evaluates the constant conditions of the inner joins that a plan begins with.
func (z *optimizer) decideJoins(n rel.Node) {
	j, ok := n.(*rel.Join)
	if !ok || j.Kind != rel.Inner {
		return
	}
	z.decideJoins(j.Left)
	left, never := z.conjuncts(j.On)
	if j.On = left; never {
		j.On = []expr.Node{&expr.Lit{V: expr.False, T: expr.TBool}}
	}
}

// oneBlock reports whether MySQL makes one query block of a plan, with its derived tables.
func oneBlock(n rel.Node) bool {
	switch n.(type) {
	case *rel.Filter, *rel.Join, *rel.Project, *rel.Scan:
	default:
		if len(n.Children()) > 0 {
			return false
		}
	}
	for _, c := range n.Children() {
		if !oneBlock(c) {
			return false
		}
	}
	return true
}

// compareConstants evaluates the constants that columns are compared with in the conditions of a plan, and reports whether there were any.
func (z *optimizer) compareConstants(n rel.Node) (some bool) {
	var conds []expr.Node
	var within rel.Cols
	switch n := n.(type) {
	case *rel.Filter:
		conds = n.Conds
	case *rel.Scan:
		conds = n.Filter
	case *rel.Join:
		if conds = n.On; n.Kind == rel.Left {
			within = given(n.Right)
		}
	}
	for i, c := range conds {
		if d := z.comparisons(c, within); d != c {
			conds[i], some = d, true
		}
	}
	for _, c := range n.Children() {
		some = z.compareConstants(c) || some
	}
	return some
}

// condition evaluates what is constant in a condition, and gives what is left of it.
func (z *optimizer) condition(n expr.Node) expr.Node {
	if l, ok := n.(*expr.Lit); ok {
		return z.truthOf(l)
	}
	if expr.IsConst(n) && !volatile(n) {
		if l, ok := z.known(n).(*expr.Lit); ok {
			return z.truthOf(l)
		}
		return n
	}
	if c, ok := n.(*expr.Call); ok && (c.Name == "and" || c.Name == "or") {
		return z.logic(c)
	}
	return n
}

// comparisons evaluates the constants that columns are compared with in a condition. within are the columns whose comparisons count; nil:
// all.
func (z *optimizer) comparisons(n expr.Node, within rel.Cols) expr.Node {
	c, ok := n.(*expr.Call)
	if !ok {
		return n
	}
	switch c.Name {
	case "and", "or":
		args := make([]expr.Node, len(c.Args))
		for i, a := range c.Args {
			args[i] = z.comparisons(a, within)
		}
		return changed(c, args)
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "not between", "in", "not in":
		return z.againstConstants(c, within)
	}
	return n
}

// changed is a call with these arguments.
func changed(c *expr.Call, args []expr.Node) expr.Node {
	if slices.Equal(args, c.Args) {
		return c
	}
	if m, ok := rebuild(c, args); ok {
		return m
	}
	return c
}

// truthOf is what a literal is as a condition.
func (z *optimizer) truthOf(l *expr.Lit) expr.Node {
	is, known, err := expr.Truth(z.env, l.V)
	switch {
	case z.failedWith(err):
		return l
	case !known:
		return &expr.Lit{T: expr.TBool}
	}
	return &expr.Lit{V: expr.Bool(is), T: expr.TBool}
}

// logic is AND or OR below which what is constant has been evaluated.
func (z *optimizer) logic(c *expr.Call) expr.Node {
	var args []expr.Node
	for _, a := range c.Args {
		a = z.condition(a)
		if l, ok := a.(*expr.Lit); ok && !l.V.IsNull() {
			if is, _ := truth(l); is == (c.Name == "or") {
				if !anyFn(args, volatile) {
					return l
				}
			} else {
				continue
			}
		}
		args = append(args, a)
	}
	switch len(args) {
	case 0:
		return &expr.Lit{V: expr.Bool(c.Name == "and"), T: expr.TBool}
	case 1:
		return args[0]
	}
	return changed(c, args)
}

// againstConstants evaluates the constants that a column is compared with. A text that is compared as a number becomes one.
func (z *optimizer) againstConstants(c *expr.Call, within rel.Cols) expr.Node {
	list, between := c.Name == "in" || c.Name == "not in", c.Name == "between" || c.Name == "not between"
	var column *rel.Col
	for i, a := range c.Args {
		if col, ok := a.(*rel.Col); ok && (i == 0 || len(c.Args) == 2 && !list || between && expr.IsConst(c.Args[0])) {
			column = col
		}
	}
	if column == nil || within != nil && !within[column.ID] {
		return c
	}
	mixed := list && anyFn(c.Args[1:], func(a expr.Node) bool { return !expr.IsConst(a) || volatile(a) || !a.Type().IsString() })
	args := slices.Clone(c.Args)
	for i, a := range args {
		if !expr.IsConst(a) || volatile(a) {
			continue
		}
		if mixed {
			if _, ok := a.(*expr.Lit); !ok && a.Type().IsString() {
				args[i] = z.silent(a)
			}
			continue
		}
		if between && i > 0 && c.Args[0] != expr.Node(column) {
			return c
		}
		args[i] = z.comparable(c.Name, column, a)
	}
	return changed(c, args)
}

// comparable is a constant that a column is compared with.
func (z *optimizer) comparable(operation string, column *rel.Col, constant expr.Node) expr.Node {
	n := z.silent(constant)
	how, err := expr.ComparisonOf(operation, column, n)
	if err != nil || how.Class != expr.ClassFloat || !n.Type().IsString() || column.T.IsString() {
		return n
	}
	number, err := expr.Build("as", "", expr.TFloat, n)
	if err != nil {
		return n
	}
	return z.known(number)
}

// known is the value of an expression without columns, evaluated now: it warns, and what it fails with is the statement's error.
func (z *optimizer) known(n expr.Node) expr.Node {
	if _, ok := n.(*expr.Lit); ok {
		return n
	}
	if _, ok := n.(*expr.Tuple); ok {
		return n
	}
	v, err := n.Eval(z.env)
	if z.failedWith(err) {
		return n
	}
	return &expr.Lit{V: v, T: n.Type()}
}

// silent is known, of an expression whose value MySQL keeps: if it is a text, making it a number gives no warning. Literals are not kept.
func (z *optimizer) silent(n expr.Node) expr.Node {
	if _, ok := n.(*expr.Lit); ok {
		return n
	}
	k := z.known(n)
	if l, ok := k.(*expr.Lit); ok {
		return &expr.Lit{V: l.V.From(expr.Silent), T: l.T}
	}
	return k
}

// failedWith keeps the first error of an evaluation, which is the statement's.
func (z *optimizer) failedWith(err error) bool {
	if err == nil {
		err = z.env.Failed()
	}
	if err != nil && z.failed == nil {
		z.failed = err
	}
	return err != nil
}
