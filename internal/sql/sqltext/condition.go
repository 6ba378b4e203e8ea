package sqltext

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// MySQL keeps conditions after it has resolved what is no condition in them: x AND y of numbers is (0 <> x) and (0 <> y), and NOT is moved
// into what it negates as far as that has an opposite.

var opposites = map[string]string{"=": "<>", "<>": "=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// conditionCalls are the functions that are conditions.
var conditionCalls = map[string]bool{"regexp_like": true, "json_valid": true, "json_contains": true, "json_contains_path": true, "json_overlaps": true,
	"member of": true, "isnull": true, "is_uuid": true, "is_ipv4": false, "exists": true, "xor": true}

// isCondition reports whether an expression is true or false by its nature.
func isCondition(e sqlparser.Expr) bool {
	switch e := inParens(e).(type) {
	case *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.XorExpr, *sqlparser.NotExpr, *sqlparser.IsExpr, *sqlparser.RangeCond, sqlparser.BoolVal:
		return true
	case *sqlparser.ComparisonExpr:
		return e.Operator != sqlparser.JSONExtractOp && e.Operator != sqlparser.JSONUnquoteExtractOp
	case *sqlparser.UnaryExpr:
		return e.Operator == sqlparser.BangStr
	case *sqlparser.FuncExpr:
		return conditionCalls[e.Name.Lowered()]
	}
	return false
}

// truth writes an expression where a condition is wanted.
func (w *writer) truth(e sqlparser.Expr) { w.condition(e, false) }

// condition writes a condition, or its opposite.
func (w *writer) condition(e sqlparser.Expr, negated bool) {
	e = inParens(e)
	switch e := e.(type) {
	case *sqlparser.NotExpr:
		w.condition(e.Expr, !negated)
		return
	case *sqlparser.UnaryExpr:
		if e.Operator == sqlparser.BangStr {
			w.condition(e.Expr, !negated)
			return
		}
	case *sqlparser.AndExpr:
		w.chain(e, "and", "or", negated)
		return
	case *sqlparser.OrExpr:
		w.chain(e, "or", "and", negated)
		return
	case *sqlparser.XorExpr:
		w.put("(")
		w.condition(e.Left, negated)
		w.put(" xor ")
		w.condition(e.Right, false)
		w.put(")")
		return
	case *sqlparser.IsExpr:
		w.is(e, negated)
		return
	case *sqlparser.RangeCond:
		not := strings.EqualFold(e.Operator, sqlparser.NotBetweenStr) != negated
		w.put("(")
		w.expr(e.Left)
		w.put(map[bool]string{false: " between ", true: " not between "}[not])
		w.expr(e.From)
		w.put(" and ")
		w.expr(e.To)
		w.put(")")
		return
	case *sqlparser.ComparisonExpr:
		w.comparison(e, negated)
		return
	}
	switch {
	case !isCondition(e):
		w.put(map[bool]string{false: "(0 <> ", true: "(0 = "}[negated])
		w.expr(e)
		w.put(")")
	case negated:
		w.put("(not(")
		w.expr(e)
		w.put("))")
	default:
		w.expr(e)
	}
}

// chain writes conditions that stand side by side, those in parentheses among them.
func (w *writer) chain(e sqlparser.Expr, op, opposite string, negated bool) {
	var all []sqlparser.Expr
	var add func(e sqlparser.Expr)
	add = func(e sqlparser.Expr) {
		switch x := inParens(e).(type) {
		case *sqlparser.AndExpr:
			if op == "and" {
				add(x.Left)
				add(x.Right)
				return
			}
		case *sqlparser.OrExpr:
			if op == "or" {
				add(x.Left)
				add(x.Right)
				return
			}
		}
		all = append(all, e)
	}
	add(e)
	if negated {
		op = opposite
	}
	w.put("(")
	for i, e := range all {
		if i > 0 {
			w.put(" ", op, " ")
		}
		w.condition(e, negated)
	}
	w.put(")")
}

func (w *writer) is(e *sqlparser.IsExpr, negated bool) {
	op := strings.ToLower(e.Operator)
	if op == sqlparser.IsNullStr || op == sqlparser.IsNotNullStr {
		if (op == sqlparser.IsNotNullStr) != negated {
			op = sqlparser.IsNotNullStr
		} else {
			op = sqlparser.IsNullStr
		}
		w.put("(")
		w.expr(e.Expr)
		w.put(" ", op, ")")
		return
	}
	if negated {
		if rest, ok := strings.CutPrefix(op, "is not "); ok {
			op = "is " + rest
		} else {
			op = "is not " + strings.TrimPrefix(op, "is ")
		}
	}
	w.put("(")
	w.truth(e.Expr)
	w.put(" ", op, ")")
}

func (w *writer) comparison(e *sqlparser.ComparisonExpr, negated bool) {
	op := strings.ToLower(e.Operator)
	switch op {
	case sqlparser.JSONExtractOp, sqlparser.JSONUnquoteExtractOp:
		w.binary(&sqlparser.BinaryExpr{Operator: op, Left: e.Left, Right: e.Right})
		return
	case sqlparser.InStr, sqlparser.NotInStr:
		not := op == sqlparser.NotInStr != negated
		in, ok := e.Right.(sqlparser.ValTuple)
		if !ok {
			w.fail(e)
			return
		}
		w.put("(")
		w.expr(e.Left)
		w.put(map[bool]string{false: " in ", true: " not in "}[not])
		w.list("(", in...)
		w.put(")")
		return
	case sqlparser.LikeStr, sqlparser.NotLikeStr:
		w.negation(op == sqlparser.NotLikeStr != negated, func() {
			w.put("(")
			w.expr(e.Left)
			w.put(" like ")
			w.expr(e.Right)
			if e.Escape != nil {
				w.put(" escape ")
				w.expr(e.Escape)
			}
			w.put(")")
		})
		return
	case sqlparser.RegexpStr, sqlparser.NotRegexpStr:
		w.negation(op == sqlparser.NotRegexpStr != negated, func() { w.list("regexp_like(", e.Left, e.Right) })
		return
	case sqlparser.NotEqualStr:
		op = "<>"
	}
	if negated {
		if opposites[op] == "" {
			w.negation(true, func() { w.between(e.Left, op, e.Right) })
			return
		}
		op = opposites[op]
	}
	w.between(e.Left, op, e.Right)
}

func (w *writer) negation(negated bool, write func()) {
	if negated {
		w.put("(not(")
	}
	write()
	if negated {
		w.put("))")
	}
}
