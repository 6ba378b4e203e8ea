package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// expressions calls fn for each expression of an operator itself, not of those below it.
func expressions(n rel.Node, fn func(expr.Node)) {
	list := func(ns []expr.Node) {
		for _, e := range ns {
			fn(e)
		}
	}
	some := func(ns ...expr.Node) {
		for _, e := range ns {
			if e != nil {
				fn(e)
			}
		}
	}
	order := func(keys []rel.SortKey) {
		for _, k := range keys {
			fn(k.Expr)
		}
	}
	agg := func(a *rel.Agg) {
		list(a.Args)
		order(a.Order)
	}
	switch n := n.(type) {
	case *rel.Scan:
		list(n.Filter)
		if n.Access != nil {
			for _, s := range n.Access.Spans {
				list(s.Equal)
				for _, b := range []*rel.Bound{s.Low, s.High} {
					if b != nil {
						fn(b.Value)
					}
				}
			}
		}
	case *rel.Values:
		for _, row := range n.Rows {
			list(row)
		}
	case *rel.Filter:
		list(n.Conds)
	case *rel.Project:
		list(n.Exprs)
	case *rel.Join:
		list(n.On)
		for _, k := range n.Hash {
			some(k.Left, k.Right)
		}
	case *rel.Group:
		for i := range n.Aggs {
			agg(&n.Aggs[i])
		}
	case *rel.Sort:
		order(n.Keys)
		some(n.Limit)
	case *rel.Limit:
		some(n.Count, n.Offset)
	case *rel.Window:
		list(n.Partition)
		order(n.Order)
		for _, f := range n.Funcs {
			list(f.Args)
			if f.Agg != nil {
				agg(f.Agg)
			}
			if f.Frame != nil {
				some(f.Frame.Start.Value, f.Frame.End.Value)
			}
		}
	case *rel.Recursive:
		some(n.Limit, n.Offset)
	}
}

// fixed reports whether an operator gives the same rows each time in a statement: it, and all below it, read no columns but their
// own, and call nothing that gives another value each time. It may say no where the answer is yes.
func fixed(n rel.Node) bool {
	own := rel.Cols{}
	var collect func(n rel.Node)
	collect = func(n rel.Node) {
		for _, c := range n.Columns() {
			own[c] = true
		}
		if s, ok := n.(*rel.Recursive); ok {
			for _, cols := range [][]rel.ColID{s.SeedCols, s.StepCols} {
				for _, c := range cols {
					own[c] = true
				}
			}
		}
		for _, c := range n.Children() {
			collect(c)
		}
	}
	collect(n)
	return fixedBut(n, own)
}

func fixedBut(n rel.Node, own rel.Cols) bool {
	switch n := n.(type) {
	case *rel.WorkScan:
		return false
	case *rel.SharedScan:
		for _, c := range n.From.Outer {
			if !own[c] {
				return false
			}
		}
	}
	ok := true
	expressions(n, func(e expr.Node) { ok = ok && steady(e, own) })
	for _, c := range n.Children() {
		ok = ok && fixedBut(c, own)
	}
	return ok
}

// steady reports whether the value of an expression depends on columns of own alone.
func steady(n expr.Node, own rel.Cols) bool {
	ok := true
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *rel.Col:
			ok = ok && own[n.ID]
		case *rel.Subquery:
			ok = ok && !n.Volatile
			for _, c := range n.Outer {
				ok = ok && own[c]
			}
		case *expr.Call:
			ok = ok && !n.Volatile
		case *expr.Tuple, *expr.Lit:
		default:
			ok = ok && expr.IsConst(n) // of the host: who knows
		}
		return ok
	})
	return ok
}
