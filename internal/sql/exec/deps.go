package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

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
	rel.EachExpr(n, func(e *expr.Node) { ok = ok && steady(*e, own) })
	for _, c := range n.Children() {
		ok = ok && fixedBut(c, own)
	}
	return ok
}

// calm reports whether an operator and those below it call nothing that gives another value each time, so that their rows may be read
// before they are needed. It may say no where the answer is yes.
func calm(n rel.Node) bool { return calmBut(n, map[*rel.Shared]bool{}) }

// calmBut is calm without the shared queries that have been looked at: each may read the one before it twice.
func calmBut(n rel.Node, seen map[*rel.Shared]bool) bool {
	if s, ok := n.(*rel.SharedScan); ok && !seen[s.From] {
		seen[s.From] = true
		if !calmBut(s.From.Plan, seen) {
			return false
		}
	}
	if !calmExprs(n) {
		return false
	}
	for _, c := range n.Children() {
		if !calmBut(c, seen) {
			return false
		}
	}
	return true
}

func calmExprs(n rel.Node) bool {
	ok := true
	rel.EachExpr(n, func(e *expr.Node) { ok = ok && steady(*e, nil) })
	return ok
}

// steady reports whether the value of an expression depends on columns of own alone; nil: on any columns.
func steady(n expr.Node, own rel.Cols) bool {
	ok := true
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *rel.Col:
			ok = ok && (own == nil || own[n.ID])
		case *rel.Subquery:
			ok = ok && !n.Volatile
			for _, c := range n.Outer {
				ok = ok && (own == nil || own[c])
			}
		case *expr.Call:
			ok = ok && !n.Volatile
		case *expr.Tuple, *expr.Lit:
		case rel.Volatile:
			ok = ok && !n.Volatile()
		case rel.Parent: // its arguments follow
		default:
			ok = ok && expr.IsConst(n) // of the host, and nothing is known about it
		}
		return ok
	})
	return ok
}
