package rel

import (
	"reflect"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// Named is implemented by Parents that are the same if they have the same name and the same arguments: calls of functions that the host
// evaluates.
type Named interface {
	Parent
	FunctionName() string
}

// Wrapper is implemented by what stands for an expression and only decides when it is evaluated.
type Wrapper interface{ Unwrap() expr.Node }

// Unwrap is the expression itself.
func Unwrap(n expr.Node) expr.Node {
	for {
		w, ok := n.(Wrapper)
		if !ok {
			return n
		}
		n = w.Unwrap()
	}
}

// Same reports whether two expressions are the same: the same calls of the same columns and constants. Functions that give another
// value each time are never the same.
func Same(x, y expr.Node) bool {
	x, y = Unwrap(x), Unwrap(y)
	if x == y {
		return true
	}
	switch x := x.(type) {
	case *Col:
		y, ok := y.(*Col)
		return ok && x.ID == y.ID
	case *expr.Lit:
		y, ok := y.(*expr.Lit)
		return ok && SameValue(x.V, y.V)
	case *expr.Tuple: // MySQL does not see that two rows are the same, but of an equality, which it takes apart
		return false
	case *expr.Call:
		y, ok := y.(*expr.Call)
		return ok && x.Name == y.Name && !x.Volatile && !y.Volatile && reflect.DeepEqual(x.Extra, y.Extra) && AllSame(parts(x), parts(y))
	case Named:
		y, ok := y.(Named)
		return ok && x.FunctionName() != "" && x.FunctionName() == y.FunctionName() && AllSame(x.Args(), y.Args()) && !IsVolatile(x)
	}
	return false
}

// parts are the arguments of a call; those of an equality of rows are the expressions in the rows.
func parts(c *expr.Call) []expr.Node {
	switch c.Name {
	case "=", "<=>", "<>", "!=":
	default:
		return c.Args
	}
	out := make([]expr.Node, 0, len(c.Args))
	for _, a := range c.Args {
		if t, ok := Unwrap(a).(*expr.Tuple); ok {
			out = append(out, t.Nodes...)
		} else {
			out = append(out, a)
		}
	}
	return out
}

// AllSame is Same of lists.
func AllSame(x, y []expr.Node) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !Same(x[i], y[i]) {
			return false
		}
	}
	return true
}

// SameValue reports whether two constants are the same value of the same kind.
func SameValue(x, y expr.Value) bool {
	if x.Kind() != y.Kind() {
		return false
	}
	if x.Kind() == expr.KindDecimal {
		return x.RawDecimal().Cmp(y.RawDecimal()) == 0
	}
	if x.Kind() == expr.KindJSON || x.Kind() == expr.KindOther {
		return false
	}
	return x.From(expr.Calculated) == y.From(expr.Calculated) // wherever texts come from
}

// IsVolatile reports whether an expression may give another value each time that it is evaluated for the same row.
func IsVolatile(n expr.Node) (is bool) {
	Walk(n, func(n expr.Node) bool {
		switch n := n.(type) {
		case *expr.Call:
			is = is || n.Volatile
		case *Subquery:
			is = is || n.Volatile
		case Volatile:
			is = is || n.Volatile()
		}
		return !is
	})
	return is
}
