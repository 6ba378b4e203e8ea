package optimize

import (
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A semi join reads its left side and asks of each row whether it has a partner. Where the right side has few rows, and they lead to rows
// of the left side by an index, it is cheaper the other way around: the different keys of the right side are looked up in the left one.
//
//	WHERE id IN (SELECT customer_id FROM orders WHERE ...)    the customers of some orders, by their primary key
//
// Each row of the left side is found once, since the keys that are looked up are different under the comparison by which it is found.

// semiByLookup is a semi join as a lookup of the right side's keys in the left side; nil: that is not cheaper, or cannot be. part is
// which part of the left side would be read before enough rows are there.
func (z *optimizer) semiByLookup(j *rel.Join, part float64) *rel.Join {
	if j.Kind != rel.Semi || j.Lateral || j.Straight || z.o.NoAccess || z.o.NoJoinMethods || part < 0.5 {
		return nil
	}
	s := tableBelow(j.Left)
	if s == nil || s.Access != nil || s.Limit > 0 || meets(outerOf(j.Right), given(j.Left)) || meets(outerOf(j.Left), given(j.Right)) {
		return nil
	}
	hash, rest := z.hashKeys(j)
	if len(hash) == 0 || len(rest) > 0 {
		return nil
	}
	var keys []rel.ColID
	right := j.Right.Columns()
	for _, k := range hash {
		col, ok := k.Right.(*rel.Col)
		if !ok || k.NullSafe || !slices.Contains(right, col.ID) {
			return nil
		}
		across, err := expr.ComparisonOf("=", k.Left, k.Right)
		among, err2 := expr.ComparisonOf("=", col, col)
		if err != nil || err2 != nil || across != among { // values that are different may be equal to one row
			return nil
		}
		keys = append(keys, col.ID)
	}
	p := z.bestPath(s, s.Filter, j.On)
	if p == nil || p.never || !readsLeft(p, given(j.Right)) {
		return nil
	}
	rows := z.estimate(j.Right)
	if 2*(costBuild*rows+rows*p.lookupCost()) > part*z.wholeCost(s)+costBuild*rows {
		return nil
	}
	out := &rel.Join{Kind: rel.Inner, Left: j.Right, Right: j.Left, On: j.On}
	unique := rel.Cols{}
	addCols(unique, keys)
	if !z.unique(j.Right, unique) {
		out.Left = &rel.Distinct{Child: j.Right, Cols: keys}
	}
	return out
}

// tableBelow is the table that a plan reads; nil: it is more than a table, or calculates what has another value each time, which is to be
// done once for each row and not for each pair.
func tableBelow(n rel.Node) *rel.Scan {
	for {
		switch m := n.(type) {
		case *rel.Scan:
			return m
		case *rel.Filter:
			if anyFn(m.Conds, volatile) {
				return nil
			}
			n = m.Child
		case *rel.Project:
			if anyFn(m.Exprs, volatile) {
				return nil
			}
			n = m.Child
		default:
			return nil
		}
	}
}
