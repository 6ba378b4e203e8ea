package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Conditions are moved down to the operators that give the columns which they read. What each operator lets through:
//
//	Filter, Sort without limit   all
//	Project                      those that read nothing of what it calculates, or only what it renames
//	inner join                   those that read one side, to that side; the others become conditions of the join
//	left join                    those of WHERE that read the left side; those of ON that read the right side
//	semi and anti join           those of WHERE without a subquery that is executed for each row; those of ON that read the right side
//	Group without ROLLUP         those that read keys, if all rows of a group agree about them
//	Distinct                     those that read its columns, if equal rows agree about them
//	Window                       those that read partition columns, if all rows of a partition agree
//	SetOp                        to both sides, in their columns; without ALL if equal rows agree
//	Limit, One and the others    none
//
// A volatile condition is not moved (O3), and those behind it in WHERE are not moved before it.

// pushAll moves the conditions of a plan down.
func (z *optimizer) pushAll(n rel.Node) rel.Node {
	if z.o.NoPush {
		return n
	}
	return z.push(n, nil, nil)
}

// push gives the plan with conditions applied. witness are conditions that hold for each row of the result that is used, but which
// stand further up: they tell left joins that they are inner ones.
func (z *optimizer) push(n rel.Node, conds, witness []expr.Node) rel.Node {
	switch n := n.(type) {
	case *rel.Filter:
		return z.push(n.Child, append(slices.Clone(n.Conds), conds...), witness)
	case *rel.Scan:
		if len(n.Filter) == 0 && n.Limit == 0 {
			n.Filter = conds
			return n
		}
		if n.Limit == 0 {
			n.Filter = append(n.Filter, conds...)
			return n
		}
		return filter(n, conds)
	case *rel.Project:
		return z.pushProject(n, conds, witness)
	case *rel.Join:
		return z.pushJoin(n, conds, witness)
	case *rel.Sort:
		if n.Limit == nil {
			down, up := split(conds, func(expr.Node) bool { return true })
			n.Child = z.push(n.Child, down, append(slices.Clone(up), witness...))
			return filter(n, up)
		}
	case *rel.Group:
		down, up := split(conds, func(c expr.Node) bool {
			return !n.Rollup && !n.Scalar && z.agree(c, n.Keys, n)
		})
		n.Child = z.push(n.Child, down, nil)
		return filter(n, up)
	case *rel.Distinct:
		down, up := split(conds, func(c expr.Node) bool { return z.agree(c, n.Cols, n) })
		n.Child = z.push(n.Child, down, nil)
		return filter(n, up)
	case *rel.Window:
		var keys []rel.ColID
		for _, p := range n.Partition {
			if c, ok := p.(*rel.Col); ok {
				keys = append(keys, c.ID)
			}
		}
		down, up := split(conds, func(c expr.Node) bool { return z.agree(c, keys, n) })
		n.Child = z.push(n.Child, down, nil)
		return filter(n, up)
	case *rel.SetOp:
		return z.pushSetOp(n, conds)
	}
	for i, c := range n.Children() {
		n.SetChild(i, z.push(c, nil, nil))
	}
	return filter(n, conds)
}

// split parts conditions into those that are moved and those that stay, each in order. A volatile one stays, and so do all behind it.
func split(conds []expr.Node, moves func(expr.Node) bool) (down, up []expr.Node) {
	stop := false
	for _, c := range conds {
		stop = stop || volatile(c)
		if !stop && moves(c) {
			down = append(down, c)
		} else {
			up = append(up, c)
		}
	}
	return down, up
}

func (z *optimizer) pushProject(n *rel.Project, conds, witness []expr.Node) rel.Node {
	renamed := map[rel.ColID]expr.Node{}
	for i, e := range n.Exprs {
		switch e.(type) {
		case *rel.Col, *expr.Lit:
			renamed[n.Cols[i]] = e
		}
	}
	own := rel.Cols{}
	addCols(own, n.Cols)
	volatileBelow := anyFn(n.Exprs, volatile)
	var down, up []expr.Node
	for i, c := range conds {
		if volatile(c) {
			up = append(up, conds[i:]...)
			break
		}
		cols := reads(c)
		switch {
		case volatileBelow:
		case !meets(cols, own):
			down = append(down, c)
			continue
		case !subqueriesIn(c):
			if d, ok := substitute(c, renamed, own); ok {
				down = append(down, d)
				continue
			}
		}
		up = append(up, c)
	}
	n.Child = z.push(n.Child, down, append(slices.Clone(up), witness...))
	return filter(n, up)
}

// substitute builds a condition anew with what the columns own stand for in place of them. False: one of them stands for no simple
// expression, or the condition cannot be built anew.
func substitute(c expr.Node, for_ map[rel.ColID]expr.Node, own rel.Cols) (expr.Node, bool) {
	for id := range reads(c) {
		if own[id] && for_[id] == nil {
			return nil, false
		}
	}
	return clone(c, func(col *rel.Col) expr.Node {
		e := for_[col.ID]
		if e == nil || !own[col.ID] {
			return nil
		}
		d, _ := clone(e, nil)
		return d
	})
}

func (z *optimizer) pushJoin(n *rel.Join, conds, witness []expr.Node) rel.Node {
	left, right := given(n.Left), given(n.Right)
	if n.Kind == rel.Left && !z.o.NoOuter && (rejects(conds, right) || rejects(witness, right)) {
		n.Kind = rel.Inner
	}
	switch n.Kind {
	case rel.Inner:
		return z.pushInner(n, conds, witness, left, right)
	case rel.Left:
		down, up := split(conds, func(c expr.Node) bool { return !meets(reads(c), right) })
		toRight, on := split(n.On, func(c expr.Node) bool { cols := reads(c); return meets(cols, right) && !meets(cols, left) })
		n.On = on
		n.Left = z.push(n.Left, down, append(slices.Clone(up), witness...))
		n.Right = z.push(n.Right, toRight, on)
		if isEmpty(n.Left) {
			return empty(n)
		}
		return filter(n, up)
	}
	// semi and anti: only the left side's columns are given
	on := n.On
	var toRight []expr.Node
	if !n.NullAware {
		toRight, on = split(on, func(c expr.Node) bool { cols := reads(c); return meets(cols, right) && !meets(cols, left) })
	}
	n.On = on
	down, up := split(conds, func(c expr.Node) bool { return !dependent(c) })
	n.Left = z.push(n.Left, down, append(slices.Clone(up), witness...))
	n.Right = z.push(n.Right, toRight, nil)
	return filter(emptyJoin(n), up)
}

func (z *optimizer) pushInner(n *rel.Join, conds, witness []expr.Node, left, right rel.Cols) rel.Node {
	pool := append(slices.Clone(n.On), conds...)
	if !z.o.NoTransitive {
		pool = z.transitive(pool, n)
	}
	var toLeft, toRight, on, up []expr.Node
	for i, c := range pool {
		if volatile(c) {
			up = pool[i:]
			break
		}
		cols := reads(c)
		switch {
		case !meets(cols, right):
			toLeft = append(toLeft, c)
		case !meets(cols, left):
			toRight = append(toRight, c)
		default:
			on = append(on, c)
		}
	}
	if !z.o.NoTransitive {
		toLeft, toRight = z.bySides(on, left, right, toLeft, toRight)
	}
	above := append(append(slices.Clone(on), up...), witness...)
	n.Left = z.push(n.Left, toLeft, above)
	n.Right = z.push(n.Right, toRight, above)
	n.On = on
	if e := emptyJoin(n); e != rel.Node(n) {
		return e
	}
	return filter(n, up)
}

func (z *optimizer) pushSetOp(n *rel.SetOp, conds []expr.Node) rel.Node {
	sides := [2][]rel.ColID{n.LeftCols, n.RightCols}
	var down [2][]expr.Node
	own := rel.Cols{}
	addCols(own, n.Cols)
	down0, up := split(conds, func(c expr.Node) bool {
		if subqueriesIn(c) || !n.All && !z.agree(c, n.Cols, n) {
			return false
		}
		var both [2]expr.Node
		for i, side := range sides {
			for_ := map[rel.ColID]expr.Node{}
			for at, id := range n.Cols {
				col := z.meta.Ref(side[at])
				if !sameType(col.T, z.meta.Columns[id].Type) {
					return false
				}
				col.T = z.meta.Columns[id].Type // what the condition was built for; coercibility may differ
				for_[id] = col
			}
			var ok bool
			if both[i], ok = substitute(c, for_, own); !ok {
				return false
			}
		}
		down[0], down[1] = append(down[0], both[0]), append(down[1], both[1])
		return true
	})
	_ = down0 // their copies went to the sides
	n.Left = z.push(n.Left, down[0], nil)
	n.Right = z.push(n.Right, down[1], nil)
	return filter(n, up)
}

// agree reports whether a condition reads no other column of the operator than keys, and is the same for rows whose keys are equal as
// GROUP BY and DISTINCT compare them: 'a' and 'A' are, and LIKE BINARY tells them apart.
func (z *optimizer) agree(c expr.Node, keys []rel.ColID, n rel.Node) bool {
	own, others, cols := rel.Cols{}, given(n), reads(c)
	addCols(own, keys)
	if !meets(cols, own) || subqueriesIn(c) {
		return false
	}
	exact := true
	for id := range cols {
		if !own[id] && others[id] {
			return false
		}
		exact = exact && (!own[id] || distinguished(z.meta.Columns[id].Type))
	}
	return exact || z.comparesKey(c, own)
}

// distinguished reports whether two values of a type that are equal cannot be told apart by any function.
func distinguished(t expr.Type) bool {
	switch t.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindDecimal, expr.KindDate, expr.KindDatetime, expr.KindTime, expr.KindBytes, expr.KindEnum,
		expr.KindSet:
		return true
	case expr.KindText:
		c, err := collation.ByID(t.Collation)
		return err == nil && c.Bytewise()
	}
	return false
}

// comparesKey reports whether a condition compares a column, as it is, with constants under the collation of the column.
func (z *optimizer) comparesKey(c expr.Node, own rel.Cols) bool {
	call, ok := c.(*expr.Call)
	if !ok || !rowless(call) {
		return false
	}
	switch call.Name {
	case "is null", "is not null":
		_, isCol := call.Args[0].(*rel.Col)
		return isCol
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "not between", "in", "not in":
	default:
		return false
	}
	var t *expr.Type
	for _, a := range call.Args {
		switch a := a.(type) {
		case *rel.Col:
			if !own[a.ID] || t != nil && t.Collation != a.T.Collation {
				return false
			}
			t = &a.T
		case *expr.Lit:
		default:
			return false
		}
	}
	if t == nil {
		return false
	}
	how, err := expr.ComparisonOf(call.Name, call.Args...)
	return err == nil && how.Class == expr.ClassText && how.Collation == t.Collation
}
