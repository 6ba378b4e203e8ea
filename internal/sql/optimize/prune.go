package optimize

import (
	"maps"
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Columns that no operator above reads, and that the statement does not give, are not read, calculated or kept. An expression is not
// evaluated then, so that it cannot fail: MySQL does not evaluate what a query does not use of a derived table, either. What is volatile
// stays, because an assignment to a user variable is wanted for its effect.

// prune drops what is not in wanted; wanted is changed.
func (z *optimizer) prune(at *rel.Node, wanted rel.Cols) {
	if z.o.NoPrune {
		return
	}
	n := *at
	readsOf := func(es ...expr.Node) { rel.CollectCols(wanted, es...) }
	switch n := n.(type) {
	case *rel.Scan:
		readsOf(n.Filter...)
		var places []int
		cols := []rel.ColID{}
		for i, id := range n.Cols {
			if wanted[id] {
				places, cols = append(places, n.Places[i]), append(cols, id)
			}
		}
		n.Places, n.Cols = places, cols
		return
	case *rel.Values:
		var keep []int
		for i, id := range n.Cols {
			if wanted[id] || anyFn(column(n.Rows, i), volatile) {
				keep = append(keep, i)
			}
		}
		if len(keep) < len(n.Cols) {
			for r, row := range n.Rows {
				n.Rows[r] = picked(row, keep)
			}
			n.Cols = picked(n.Cols, keep)
		}
		return
	case *rel.Project:
		var keep []int
		for i, e := range n.Exprs {
			if wanted[n.Cols[i]] || volatile(e) {
				keep = append(keep, i)
				readsOf(e)
			}
		}
		n.Exprs, n.Cols = picked(n.Exprs, keep), picked(n.Cols, keep)
		if len(keep) == 0 {
			*at = n.Child
			z.prune(at, wanted)
			return
		}
		z.prune(&n.Child, wanted)
		return
	case *rel.Group:
		var keep []int
		for i, a := range n.Aggs {
			if wanted[a.Col] {
				keep = append(keep, i)
			}
		}
		n.Aggs = picked(n.Aggs, keep)
		below := rel.Cols{}
		addCols(below, n.Keys)
		rel.EachExpr(n, func(slot *expr.Node) { rel.CollectCols(below, *slot) })
		z.prune(&n.Child, below)
		return
	case *rel.Sort:
		n.Keep = []rel.ColID{}
		for _, id := range sorted(given(n.Child)) {
			if wanted[id] {
				n.Keep = append(n.Keep, id)
			}
		}
		readsOf(keyExprs(n.Keys)...)
	case *rel.Distinct:
		addCols(wanted, n.Cols)
	case *rel.Window:
		var keep []int
		for i, f := range n.Funcs {
			if wanted[f.Col] {
				keep = append(keep, i)
			}
		}
		n.Funcs = picked(n.Funcs, keep)
		if len(keep) == 0 {
			*at = n.Child
			z.prune(at, wanted)
			return
		}
		rel.EachExpr(n, func(slot *expr.Node) { readsOf(*slot) })
	case *rel.SetOp:
		z.pruneSetOp(n, wanted)
		return
	case *rel.SharedScan:
		return
	case *rel.Recursive:
		z.pruneRecursive(n)
		return
	case *rel.Join:
		readsOf(n.On...)
		if n.Lateral {
			for id := range outerOf(n.Right) {
				wanted[id] = true
			}
		}
		right := rel.Cols{}
		for id := range wanted {
			right[id] = true
		}
		z.prune(&n.Left, wanted)
		z.prune(&n.Right, right)
		return
	default:
		rel.EachExpr(n, func(slot *expr.Node) { readsOf(*slot) })
	}
	for i, c := range n.Children() {
		z.prune(&c, wanted)
		n.SetChild(i, c)
	}
}

func sorted(cols rel.Cols) []rel.ColID { return slices.Sorted(maps.Keys(cols)) }

func column(rows [][]expr.Node, i int) (out []expr.Node) {
	for _, r := range rows {
		out = append(out, r[i])
	}
	return out
}

func picked[T any](from []T, at []int) []T {
	out := make([]T, 0, len(at))
	for _, i := range at {
		out = append(out, from[i])
	}
	return out
}

func keyExprs(ks []rel.SortKey) (out []expr.Node) {
	for _, k := range ks {
		out = append(out, k.Expr)
	}
	return out
}

// pruneSetOp drops columns of both sides. Only UNION ALL may: the others compare all of them.
func (z *optimizer) pruneSetOp(n *rel.SetOp, wanted rel.Cols) {
	if n.All && n.Kind == rel.Union {
		var keep []int
		for i, id := range n.Cols {
			if wanted[id] {
				keep = append(keep, i)
			}
		}
		n.Cols, n.LeftCols, n.RightCols = picked(n.Cols, keep), picked(n.LeftCols, keep), picked(n.RightCols, keep)
	}
	for i, cols := range [][]rel.ColID{n.LeftCols, n.RightCols} {
		below := rel.Cols{}
		addCols(below, cols)
		c := n.Children()[i]
		z.prune(&c, below)
		n.SetChild(i, c)
	}
}

// pruneRecursive keeps all columns: the step reads them, and rows are told apart by them.
func (z *optimizer) pruneRecursive(n *rel.Recursive) {
	for i, cols := range [][]rel.ColID{n.SeedCols, n.StepCols} {
		below := rel.Cols{}
		addCols(below, cols)
		c := n.Children()[i]
		z.prune(&c, below)
		n.SetChild(i, c)
	}
}
