package optimize

import (
	"math"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Numbers of rows are guessed from the sizes of tables and the shapes of conditions. They decide between plans that give the same rows.

// What a condition lets through.
const (
	selEqual  = 0.1  // column = constant, without an index that tells more
	selRange  = 0.33 // one bound
	selTwo    = 0.11 // two bounds, BETWEEN
	selLike   = 0.15 // LIKE with a beginning
	selOther  = 0.5  // what says nothing of its selectivity
	selIsNull = 0.1
)

// fewest is the least estimate: plans are compared by products, which must not become zero.
const fewest = 1

// matching is how many rows of a table have one value of a column that an index holds, which is not unique. Of types that have few values
// it is taken that all of them are used: half of the rows of a table may have status = 1.
func matching(rows float64, t expr.Type) float64 {
	return max(fewest, math.Sqrt(math.Sqrt(rows)), rows/values(t))
}

// values is how many different values a column of a type probably has at most.
func values(t expr.Type) float64 {
	switch t.Name {
	case expr.TinyInt, expr.SetType:
		return 16
	case expr.YearType:
		return 64
	case expr.EnumType:
		return max(4, float64(len(t.Elements)))
	case expr.BitType:
		return max(4, math.Exp2(float64(min(t.Length, 6))))
	case expr.DateType:
		return 4000
	}
	return all
}

// selectivity is the part of the rows for which a condition is true.
func selectivity(c expr.Node) float64 {
	call, ok := c.(*expr.Call)
	if !ok {
		return selOther
	}
	switch call.Name {
	case "=", "<=>":
		return selEqual
	case "<", "<=", ">", ">=":
		return selRange
	case "between":
		return selTwo
	case "like":
		return selLike
	case "in":
		return min(selOther, selEqual*float64(len(call.Args)-1))
	case "is null":
		return selIsNull
	case "is not null", "<>", "!=", "not in", "not like", "not between":
		return 1 - selEqual
	case "or":
		sum := 0.0
		for _, a := range call.Args {
			sum += selectivity(a)
		}
		return min(sum, 1-selEqual)
	}
	return selOther
}

func selectivityOf(conds []expr.Node) float64 {
	s := 1.0
	for _, c := range conds {
		s *= selectivity(c)
	}
	return s
}

// estimate is how many rows a plan gives, before or after ways to read were chosen.
func (z *optimizer) estimate(n rel.Node) float64 {
	switch n := n.(type) {
	case *rel.Scan:
		if n.Access != nil {
			return max(fewest, n.Rows)
		}
		if p := z.bestPath(n, n.Filter, nil); p != nil {
			return max(fewest, p.result)
		}
		return max(fewest, n.Table.Rows()*selectivityOf(n.Filter))
	case *rel.Values:
		return max(fewest, float64(len(n.Rows)))
	case *rel.Filter:
		return max(fewest, z.estimate(n.Child)*selectivityOf(n.Conds))
	case *rel.Join:
		l, r := z.estimate(n.Left), z.estimate(n.Right)
		if n.Kind == rel.Semi || n.Kind == rel.Anti {
			return max(fewest, l*selOther)
		}
		sel := z.joinSelectivity(n.On, n.Right, r)
		for i, k := range n.Hash {
			if col, ok := k.Right.(*rel.Col); ok && i == 0 {
				sel *= min(1, z.partners(col, n.Right, r)/r)
			} else {
				sel *= selEqual
			}
		}
		if s, ok := n.Right.(*rel.Scan); ok && s.Access != nil && readsOthers(s) { // r is what one lookup finds
			sel = 1
		}
		if n.Kind == rel.Left {
			return max(l, l*r*sel)
		}
		return max(fewest, l*r*sel)
	case *rel.Group:
		if n.Scalar {
			return 1
		}
		return max(fewest, math.Sqrt(z.estimate(n.Child)))
	case *rel.Limit:
		rows := z.estimate(n.Child)
		if c, ok := literalCount(n.Count); ok {
			rows = min(rows, max(fewest, c))
		}
		return rows
	case *rel.One:
		return 1
	case *rel.SetOp:
		l, r := z.estimate(n.Left), z.estimate(n.Right)
		if n.Kind == rel.Union {
			return l + r
		}
		return l
	case *rel.SharedScan:
		rows, ok := z.rows[n.From]
		if !ok {
			rows = z.estimate(n.From.Plan)
			if z.rows == nil {
				z.rows = map[*rel.Shared]float64{}
			}
			z.rows[n.From] = rows
		}
		return rows
	case *rel.Recursive:
		return z.estimate(n.Seed) * 10
	case *rel.WorkScan:
		return 10
	}
	cs := n.Children()
	if len(cs) == 0 {
		return fewest
	}
	return z.estimate(cs[0])
}

// joinSelectivity is the part of the pairs of rows that satisfy the conditions of a join. Of the first equality with a column of the
// right side it is assumed that each row of the left side meets as many rows as a value of an index has, one if it is unique.
func (z *optimizer) joinSelectivity(on []expr.Node, right rel.Node, rows float64) float64 {
	s, keyed := 1.0, false
	own := given(right)
	for _, c := range on {
		if col := equalColumn(c, own); col != nil && !keyed {
			keyed = true
			s *= min(1, z.partners(col, right, rows)/rows)
			continue
		}
		s *= selectivity(c)
	}
	return s
}

// equalColumn is the column of own that a condition says to be equal to something without columns of own.
func equalColumn(c expr.Node, own rel.Cols) *rel.Col {
	call, ok := c.(*expr.Call)
	if !ok || call.Name != "=" {
		return nil
	}
	for i := range 2 {
		if col, ok := call.Args[i].(*rel.Col); ok && own[col.ID] && !meets(reads(call.Args[1-i]), own) {
			return col
		}
	}
	return nil
}

// partners is how many rows of a plan have one value of a column.
func (z *optimizer) partners(col *rel.Col, n rel.Node, rows float64) float64 {
	if z.unique(n, rel.Cols{col.ID: true}) {
		return 1
	}
	return min(rows, matching(rows, col.T))
}

func literalCount(n expr.Node) (float64, bool) {
	l, ok := n.(*expr.Lit)
	if !ok {
		return 0, false
	}
	f, err := expr.ToFloat(&expr.Env{}, l.V)
	return f, err == nil
}

// Rows is about how many rows an operator of an optimized query gives.
func Rows(q *rel.Query, env *expr.Env, n rel.Node) float64 {
	z := &optimizer{meta: q.Meta, env: env, done: map[any]bool{}}
	return z.estimate(n)
}
