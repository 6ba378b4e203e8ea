package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Volatile is implemented by leaves and functions of a host whose value, or whose effect, depends on how often and when they are
// evaluated: a user variable, an assignment to one. They are evaluated where the statement has them. Host leaves that are not
// constant (expr.Constant) and no Parent count as volatile.
type Volatile interface{ Volatile() bool }

// EachExpr calls fn with the place of each expression that an operator itself holds; fn may put another expression there.
func EachExpr(n Node, fn func(slot *expr.Node)) {
	list := func(es []expr.Node) {
		for i := range es {
			fn(&es[i])
		}
	}
	one := func(e *expr.Node) {
		if *e != nil {
			fn(e)
		}
	}
	keys := func(ks []SortKey) {
		for i := range ks {
			fn(&ks[i].Expr)
		}
	}
	switch n := n.(type) {
	case *Scan:
		if n.Access != nil {
			for i := range n.Access.Spans {
				s := &n.Access.Spans[i]
				list(s.Equal)
				for _, b := range []*Bound{s.Low, s.High} {
					if b != nil {
						fn(&b.Value)
					}
				}
				one(&s.Prefix)
			}
		}
		list(n.Filter)
	case *Values:
		for _, r := range n.Rows {
			list(r)
		}
	case *Filter:
		list(n.Conds)
	case *Project:
		list(n.Exprs)
	case *Join:
		for i := range n.Hash {
			fn(&n.Hash[i].Left)
			fn(&n.Hash[i].Right)
		}
		list(n.On)
	case *Group:
		for i := range n.Aggs {
			list(n.Aggs[i].Args)
			keys(n.Aggs[i].Order)
		}
	case *Sort:
		keys(n.Keys)
		one(&n.Limit)
	case *Limit:
		one(&n.Count)
		one(&n.Offset)
	case *Window:
		list(n.Partition)
		keys(n.Order)
		for i := range n.Funcs {
			f := &n.Funcs[i]
			list(f.Args)
			if f.Agg != nil {
				list(f.Agg.Args)
				keys(f.Agg.Order)
			}
			if f.Frame != nil {
				one(&f.Frame.Start.Value)
				one(&f.Frame.End.Value)
			}
		}
	case *Recursive:
		one(&n.Limit)
		one(&n.Offset)
	}
}
