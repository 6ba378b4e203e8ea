package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Parent is implemented by leaves of a host that have expressions below them (functions that the host evaluates).
type Parent interface {
	expr.Node
	// Args are the expressions below; SetArg puts another in place of one.
	Args() []expr.Node
	SetArg(i int, n expr.Node)
}

// Walk visits an expression and those below it, from the top; fn returns false to skip what is below. It does not go into the
// plans of subqueries, but into their left sides.
func Walk(n expr.Node, fn func(expr.Node) bool) {
	if n == nil || !fn(n) {
		return
	}
	switch n := n.(type) {
	case *expr.Call:
		for _, a := range n.Args {
			Walk(a, fn)
		}
	case *expr.Tuple:
		for _, a := range n.Nodes {
			Walk(a, fn)
		}
	case *Subquery:
		for _, a := range n.Left {
			Walk(a, fn)
		}
	case Parent:
		for _, a := range n.Args() {
			Walk(a, fn)
		}
	}
}
