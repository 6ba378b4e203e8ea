package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A key that is a number and equals a text of another table, or of a query around: MySQL looks the key up by the text made a number, and
// does not warn of one that is none. A table read otherwise would.

// keyNumbers are the numeric columns with which an index of a table of the plan begins, and the columns of those tables.
func keyNumbers(n rel.Node, keys map[rel.ColID]rel.Cols) {
	if s, ok := n.(*rel.Scan); ok {
		for _, x := range s.Table.Indexes() {
			parts := x.Parts()
			if len(parts) == 0 {
				continue
			}
			if i := slices.Index(s.Places, parts[0].Place); i >= 0 && s.Table.Columns()[parts[0].Place].Type.IsNumber() {
				keys[s.Cols[i]] = given(s)
			}
		}
	}
	for _, c := range n.Children() {
		keyNumbers(c, keys)
	}
}

// lookedUp makes the texts by which a plan's conditions look up keys silent.
func (z *optimizer) lookedUp(n rel.Node) {
	keys := map[rel.ColID]rel.Cols{}
	keyNumbers(n, keys)
	if len(keys) == 0 {
		return
	}
	bottomUp(n, func(n rel.Node) rel.Node {
		var conds []expr.Node
		switch n := n.(type) {
		case *rel.Filter:
			conds = n.Conds
		case *rel.Scan:
			conds = n.Filter
		case *rel.Join:
			conds = n.On
		}
		for i, c := range conds {
			if call, ok := c.(*expr.Call); ok && call.Name == "=" && len(call.Args) == 2 {
				conds[i] = silentKey(call, keys)
			}
		}
		return n
	})
}

func silentKey(c *expr.Call, keys map[rel.ColID]rel.Cols) expr.Node {
	for i := range 2 {
		key, ok := c.Args[i].(*rel.Col)
		if !ok || keys[key.ID] == nil {
			continue
		}
		by := c.Args[1-i]
		if !by.Type().IsString() || expr.IsConst(by) || volatile(by) {
			continue
		}
		for id := range reads(by) {
			if keys[key.ID][id] {
				return c
			}
		}
		quiet, err := expr.Build("silent", "", nil, by)
		if err != nil {
			return c
		}
		args := slices.Clone(c.Args)
		args[1-i] = quiet
		return changed(c, args)
	}
	return c
}

// decided is what a subquery with IN, ANY or ALL is whose rows all have the same constant, if that alone decides: MySQL does not execute
// it. Nil: it does not. Of texts in the select list of IN it warns.
func (z *optimizer) decided(s *rel.Subquery) *expr.Lit {
	if s.Kind != rel.In && s.Kind != rel.AnyOf && s.Kind != rel.AllOf || s.Volatile || len(s.Left) != len(s.Out) {
		return nil
	}
	for i, left := range s.Left {
		right := constantColumn(s.Plan, s.Out[i])
		if right == nil || !expr.IsConst(left) || volatile(left) || volatile(right) {
			continue
		}
		op := s.Op
		if s.Kind == rel.In {
			op = "="
		}
		env := *z.env
		env.Warn = nil
		a, err := left.Eval(&env)
		b, err2 := right.Eval(&env)
		if err != nil || err2 != nil || a.IsNull() || b.IsNull() {
			continue
		}
		if s.Kind == rel.In {
			env.Warn = z.env.Warn
		} else {
			b = b.From(expr.Silent)
		}
		c, err := expr.Build(op, "", nil, &expr.Lit{V: a.From(expr.Silent), T: left.Type()}, &expr.Lit{V: b, T: right.Type()})
		if err != nil {
			continue
		}
		v, err := c.Eval(&env)
		if err != nil || v.IsNull() || env.Failed() != nil {
			continue
		}
		is, _, err := expr.Truth(&env, v)
		if err == nil && is == (s.Kind == rel.AllOf) && (s.Kind == rel.In || len(s.Left) == 1) {
			return &expr.Lit{V: expr.Bool(is != s.Negated), T: s.T}
		}
	}
	return nil
}

// constantColumn is the constant that a column of a plan is in all rows; nil: it is none.
func constantColumn(n rel.Node, id rel.ColID) expr.Node {
	for {
		switch p := n.(type) {
		case *rel.Project:
			if i := slices.Index(p.Cols, id); i >= 0 {
				if expr.IsConst(p.Exprs[i]) {
					return p.Exprs[i]
				}
				return nil
			}
			n = p.Child
		case *rel.Filter:
			n = p.Child
		default:
			return nil
		}
	}
}
