package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// DISTINCT is dropped where no two rows can be equal: its columns hold a unique key of each table that is joined, or the keys of a
// GROUP BY. A unique key counts if none of its columns may be NULL, since NULLs are equal for DISTINCT.

func (z *optimizer) dropDistinct(n rel.Node) rel.Node {
	return bottomUp(n, func(n rel.Node) rel.Node {
		if d, ok := n.(*rel.Distinct); ok {
			cols := rel.Cols{}
			addCols(cols, d.Cols)
			if z.unique(d.Child, cols) {
				return d.Child
			}
		}
		return n
	})
}

// unique reports whether no two rows of a plan are equal in the columns. They may hold columns that the plan does not give.
func (z *optimizer) unique(n rel.Node, cols rel.Cols) bool {
	switch n := n.(type) {
	case *rel.Scan:
		return z.scanUnique(n, cols)
	case *rel.Values:
		return len(n.Rows) <= 1
	case *rel.Filter:
		return z.unique(n.Child, withFixed(cols, n.Conds))
	case *rel.Project:
		below := rel.Cols{}
		for id := range cols {
			below[id] = true
		}
		for i, e := range n.Exprs {
			if c, ok := e.(*rel.Col); ok && cols[n.Cols[i]] {
				below[c.ID] = true
			}
		}
		return z.unique(n.Child, below)
	case *rel.Join:
		switch n.Kind {
		case rel.Semi, rel.Anti:
			return z.unique(n.Left, cols)
		case rel.Inner:
			cols = withFixed(cols, n.On)
		}
		return z.unique(n.Left, cols) && z.unique(n.Right, cols)
	case *rel.Group:
		if n.Scalar {
			return true
		}
		keys := rel.Cols{}
		addCols(keys, n.Out)
		return !n.Rollup && within(keys, cols)
	case *rel.Distinct:
		keys := rel.Cols{}
		addCols(keys, n.Cols)
		return within(keys, cols) || z.unique(n.Child, cols)
	case *rel.Sort, *rel.Limit, *rel.Window, *rel.One:
		return z.unique(n.Children()[0], cols)
	}
	return false
}

// withFixed adds the columns that conditions fix to one value, or to the value of a column that is there already.
func withFixed(cols rel.Cols, conds []expr.Node) rel.Cols {
	out := rel.Cols{}
	for id := range cols {
		out[id] = true
	}
	for range 2 { // a second time for what the first found
		for _, c := range conds {
			if col, _, ok := columnIsConstant(c); ok && distinguished(col.T) {
				out[col.ID] = true
			}
			for _, p := range columnPairs([]expr.Node{c}) {
				if distinguished(p[0].T) && (out[p[0].ID] || out[p[1].ID]) {
					out[p[0].ID], out[p[1].ID] = true, true
				}
			}
		}
	}
	return out
}

func (z *optimizer) scanUnique(n *rel.Scan, cols rel.Cols) bool {
	cols = withFixed(cols, n.Filter)
	for _, x := range n.Table.Indexes() {
		if !x.Unique() {
			continue
		}
		all := true
		for _, p := range x.Parts() {
			id, ok := columnAt(n, p.Place)
			all = all && ok && cols[id] && p.Prefix == 0 && !n.Table.Columns()[p.Place].Nullable
		}
		if all {
			return true
		}
	}
	return false
}

// columnAt is the column that a scan gives a place of its table.
func columnAt(n *rel.Scan, place int) (rel.ColID, bool) {
	for i, at := range n.Places {
		if at == place {
			return n.Cols[i], true
		}
	}
	return 0, false
}
