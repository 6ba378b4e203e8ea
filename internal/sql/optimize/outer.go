package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A left join is an inner one if a condition above it is never true for the rows that it adds: those whose columns of the right side
// are all NULL. Such rows are dropped by the condition, and all others an inner join gives as well.

// rejects reports whether one of the conditions is not true for any row in which the columns are NULL.
func rejects(conds []expr.Node, cols rel.Cols) bool {
	for _, c := range conds {
		if !volatile(c) && neverTrue(c, cols) {
			return true
		}
	}
	return false
}

// strictCalls are the functions that give NULL if any of their arguments is NULL.
var strictCalls = map[string]bool{"=": true, "<>": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true,
	"*": true, "/": true, "div": true, "%": true, "mod": true, "neg": true, "like": true, "not like": true, "xor": true, "not": true,
	"abs": true, "lower": true, "upper": true, "length": true, "char_length": true, "year": true, "month": true, "day": true, "cast": true,
	"collate": true, "concat": true, "date_add": true, "date_sub": true, "floor": true, "ceiling": true, "round": true, "substring": true}

// firstStrict are those that give NULL if their first argument is NULL.
var firstStrict = map[string]bool{"between": true, "not between": true, "in": true, "not in": true, "as": true}

// isNullFor reports whether an expression is NULL for each row in which the columns are NULL.
func isNullFor(n expr.Node, cols rel.Cols) bool {
	switch n := n.(type) {
	case *rel.Col:
		return cols[n.ID]
	case *expr.Lit:
		return n.V.IsNull()
	case *expr.Call:
		if !rowless(n) {
			return false
		}
		switch {
		case strictCalls[n.Name]:
			return anyFn(n.Args, func(a expr.Node) bool { return isNullFor(a, cols) })
		case firstStrict[n.Name]:
			return isNullFor(n.Args[0], cols)
		case n.Name == "and" || n.Name == "or" || n.Name == "coalesce" || n.Name == "ifnull":
			return !anyFn(n.Args, func(a expr.Node) bool { return !isNullFor(a, cols) })
		}
	}
	return false
}

// rowless reports whether no argument is a row of expressions: a row with a NULL may differ from another nevertheless.
func rowless(n *expr.Call) bool {
	return !anyFn(n.Args, func(a expr.Node) bool { _, is := a.(*expr.Tuple); return is })
}

// neverTrue reports whether a condition is not true, for any row in which the columns are NULL.
func neverTrue(n expr.Node, cols rel.Cols) bool {
	if isNullFor(n, cols) {
		return true
	}
	if s, ok := n.(*rel.Subquery); ok {
		return s.Kind == rel.In && !s.Negated && len(s.Left) == 1 && isNullFor(s.Left[0], cols)
	}
	c, ok := n.(*expr.Call)
	if !ok {
		if l, isLit := n.(*expr.Lit); isLit {
			is, literal := truth(l)
			return literal && !is
		}
		return false
	}
	never := func(a expr.Node) bool { return neverTrue(a, cols) }
	switch c.Name {
	case "and":
		return anyFn(c.Args, never)
	case "or":
		return !anyFn(c.Args, func(a expr.Node) bool { return !never(a) })
	case "is true":
		return never(c.Args[0])
	case "is not null", "is false":
		return isNullFor(c.Args[0], cols)
	case "=": // rows of expressions: each part must be equal
		parts := conjunctsOf(c)
		return anyFn(parts, never)
	case "<=>":
		a, b := c.Args[0], c.Args[1]
		return rowless(c) && (isNullFor(a, cols) && isNotNull(b) || isNullFor(b, cols) && isNotNull(a))
	}
	return false
}

func isNotNull(n expr.Node) bool {
	l, ok := n.(*expr.Lit)
	return ok && !l.V.IsNull()
}
