package bind

import (
	"reflect"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// kindOf is the Go type of a syntax tree.
func kindOf(x any) reflect.Type { return reflect.TypeOf(x) }

// same reports whether two expressions are the same: the same calls of the same columns and constants. Functions that give another
// value each time are never the same.
func (b *binder) same(x, y expr.Node) bool {
	x, y = withoutOnce(x), withoutOnce(y)
	if x == y {
		return true
	}
	switch x := x.(type) {
	case *rel.Col:
		y, ok := y.(*rel.Col)
		return ok && x.ID == y.ID
	case *expr.Lit:
		y, ok := y.(*expr.Lit)
		return ok && sameValue(x.V, y.V)
	case *expr.Tuple: // MySQL does not see that two rows are the same
		return false
	case *expr.Call:
		y, ok := y.(*expr.Call)
		return ok && x.Name == y.Name && !x.Volatile && !y.Volatile && reflect.DeepEqual(x.Extra, y.Extra) && b.allSame(x.Args, y.Args)
	case rel.Parent:
		y, ok := y.(rel.Parent)
		return ok && b.hostCalls[x] != "" && b.hostCalls[x] == b.hostCalls[y] && b.allSame(x.Args(), y.Args()) && !isVolatile(x)
	}
	return false
}

func (b *binder) allSame(x, y []expr.Node) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !b.same(x[i], y[i]) {
			return false
		}
	}
	return true
}

func sameValue(x, y expr.Value) bool {
	if x.Kind() != y.Kind() {
		return false
	}
	if x.Kind() == expr.KindDecimal {
		return x.RawDecimal().Cmp(y.RawDecimal()) == 0
	}
	if x.Kind() == expr.KindJSON || x.Kind() == expr.KindOther {
		return false
	}
	return x == y
}

// isVolatile reports whether an expression may give another value each time that it is evaluated for the same row.
func isVolatile(n expr.Node) (is bool) {
	rel.Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Call:
			is = is || n.Volatile
		case *rel.Subquery:
			is = is || n.Volatile
		case rel.Volatile:
			is = is || n.Volatile()
		}
		return !is
	})
	return is
}
