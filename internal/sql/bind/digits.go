package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A quotient, and AVG, hold more digits than their types have (expr.Value.Shown). They have them as long as they are parts of an
// expression. Where MySQL keeps the rows of a derived table, because it groups or has DISTINCT, LIMIT or windows, it keeps the shown digits
// alone.

// dropHidden puts conversions to the shown digits on a derived table whose rows are kept.
func (b *binder) dropHidden(q *query) {
	if !kept(q.plan) {
		return
	}
	var types []expr.Type
	some := false
	for _, c := range q.cols {
		col := &b.meta.Columns[c.id]
		t := col.Type
		if t.Name == expr.DecimalType && col.Origin == nil && hiddenDigits(q.plan, c.id) {
			if !some {
				q.cols = append([]column(nil), q.cols...)
			}
			some = true
		} else {
			t = expr.TNull
		}
		types = append(types, t)
	}
	if !some {
		return
	}
	p := &rel.Project{Child: q.plan}
	for i, t := range types {
		if t.Name == expr.NullType {
			continue
		}
		c := &q.cols[i]
		as, err := expr.Build("as", c.name, t, b.ref(c.id))
		if err != nil {
			panic(err) // "as" takes every type
		}
		c.id = b.add(rel.Column{Name: c.name, Type: t, Nullable: b.mayBeNull(c.id)})
		p.Exprs, p.Cols = append(p.Exprs, as), append(p.Cols, c.id)
	}
	q.plan = p
}

// kept reports whether the rows of a query are kept before they are read.
func kept(n rel.Node) bool {
	for {
		switch in := n.(type) {
		case *rel.Group, *rel.Distinct, *rel.Limit, *rel.Window, *rel.SharedScan:
			return true
		case *rel.Project, *rel.Filter, *rel.Sort:
			n = in.Children()[0]
		default:
			return false
		}
	}
}

// hiddenDigits reports whether a column of a query may hold more digits than its type has.
func hiddenDigits(n rel.Node, id rel.ColID) bool {
	for {
		switch in := n.(type) {
		case *rel.Project:
			for i, c := range in.Cols {
				if c == id {
					return quotient(in.Exprs[i], in.Child)
				}
			}
			n = in.Child
		case *rel.Group:
			for i := range in.Aggs {
				if a := &in.Aggs[i]; a.Col == id {
					return a.Name == "avg" || a.Name != "sum" && len(a.Args) > 0 && quotient(a.Args[0], in.Child)
				}
			}
			for i, out := range in.Out {
				if out == id {
					id = in.Keys[i]
				}
			}
			n = in.Child
		case *rel.SharedScan:
			for i, c := range in.Cols {
				if c == id {
					return hiddenDigits(in.From.Plan, in.From.Cols[i])
				}
			}
			return false
		case *rel.Filter, *rel.Sort, *rel.Limit, *rel.Distinct, *rel.Window:
			n = in.Children()[0]
		default:
			return false
		}
	}
}

// quotient reports whether an expression over the rows of a tree may have more digits than its type.
func quotient(e expr.Node, child rel.Node) (is bool) {
	rel.Walk(e, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Call:
			switch n.Name {
			case "/":
				is = true
			case "as", "cast", "count":
				return false
			}
		case *rel.Col:
			is = is || n.T.Name == expr.DecimalType && hiddenDigits(child, n.ID)
		case *rel.Subquery:
			is = is || n.T.Name == expr.DecimalType
		}
		return !is
	})
	return is
}
