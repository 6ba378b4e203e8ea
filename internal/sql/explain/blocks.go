package explain

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// The table and the JSON form show queries in blocks, one for each SELECT. A plan has no blocks: what stands below a join and is no table
// is shown as a derived table.

// numbered gives subqueries, derived tables, common table expressions and the right sides of set operations their numbers: the query
// itself is 1, the others follow as they are found.
func numbered(root rel.Node) map[any]int {
	out := map[any]int{}
	next := 2
	give := func(k any) bool {
		if out[k] != 0 {
			return false
		}
		out[k] = next
		next++
		return true
	}
	var walk func(n rel.Node, table bool)
	walk = func(n rel.Node, table bool) {
		if table && isDerived(n) {
			give(n)
		}
		rel.EachExpr(n, func(slot *expr.Node) {
			rel.Walk(*slot, func(e expr.Node) bool {
				if s, ok := e.(*rel.Subquery); ok && give(s) {
					walk(s.Plan, false)
				}
				return true
			})
		})
		switch n := n.(type) {
		case *rel.SharedScan:
			if give(n.From) {
				walk(n.From.Plan, false)
			}
			return
		case *rel.SetOp:
			walk(n.Left, false)
			give(rightOf{n})
			walk(n.Right, false)
			return
		case *rel.Recursive:
			walk(n.Seed, false)
			give(rightOf{n})
			walk(n.Step, false)
			return
		}
		_, joins := n.(*rel.Join)
		_, groups := n.(*rel.Group)
		for _, c := range n.Children() {
			walk(c, joins || groups || table && passes(n))
		}
	}
	walk(root, false)
	return out
}

// rightOf stands for the right side of a set operation, or the step of a recursive query, in numbers.
type rightOf struct{ n rel.Node }

// isDerived reports whether an operator that stands where a table would is shown as a derived table.
func isDerived(n rel.Node) bool {
	switch n.(type) {
	case *rel.Group, *rel.Sort, *rel.Limit, *rel.Distinct, *rel.Window, *rel.SetOp, *rel.Recursive:
		return true
	}
	return false
}

// passes reports whether an operator belongs to the tables below it.
func passes(n rel.Node) bool {
	switch n.(type) {
	case *rel.Filter, *rel.Project:
		return true
	}
	return false
}
