package bind

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// subquery makes a subquery of a kind; left are the expressions that its rows are compared with.
func (b *binder) subquery(e *sqlparser.Subquery, kind rel.SubqueryKind, left []expr.Node, s *scope) (*rel.Subquery, error) {
	anyValue := b.anyValue
	b.anyValue = false
	b.nested, b.exists = true, kind == rel.Exists
	b.existential = kind != rel.Scalar && kind != rel.RowEquals
	q, err := b.statement(e.Select, s)
	b.anyValue = anyValue
	if err != nil {
		return nil, err
	}
	out := &rel.Subquery{Kind: kind, Plan: q.plan, Left: left, T: expr.TBool, Text: "subquery"}
	for _, c := range q.cols {
		out.Out = append(out.Out, c.id)
		out.Types = append(out.Types, b.meta.Columns[c.id].Type)
	}
	b.subqueries++
	if kind == rel.In && (q.merged || withoutTables(e.Select)) || kind == rel.Exists && q.merged {
		if b.semijoins == nil {
			b.semijoins = map[*rel.Subquery]bool{}
		}
		b.semijoins[out] = true
	}
	return out, nil
}

// withoutTables reports whether a query is a row of expressions: IN (SELECT 5) is an equality.
func withoutTables(stmt sqlparser.SelectStatement) bool {
	s, ok := queryInParens(stmt).(*sqlparser.Select)
	return ok && isDual(s.From) && s.Where == nil && s.Having == nil && s.Limit == nil && len(s.GroupBy) == 0 && !hasAggregates(s)
}

// operandColumns is error 1241.
func operandColumns(n int) error {
	return expr.Errorf(1241, "21000", "Operand should contain %d column(s)", n)
}

// scalarSubquery is (SELECT ...) as a value.
func (b *binder) scalarSubquery(e *sqlparser.Subquery, s *scope) (expr.Node, error) {
	q, err := b.subquery(e, rel.Scalar, nil, s)
	if err != nil {
		return nil, err
	}
	if len(q.Out) != 1 {
		return nil, operandColumns(1)
	}
	q.Alone = withoutTables(e.Select)
	if q.T = q.Types[0]; q.T.Name == expr.EnumType || q.T.Name == expr.SetType { // MySQL keeps the text
		q.T = expr.Type{Name: expr.Char, Length: q.T.Length, Collation: q.T.Collation, Coerc: q.T.Coerc}
	}
	return q, nil
}

func (b *binder) existsExpr(e *sqlparser.ExistsExpr, negated bool, s *scope) (expr.Node, error) {
	q, err := b.subquery(e.Subquery, rel.Exists, nil, s)
	if err != nil {
		return nil, err
	}
	q.Negated = negated
	return q, nil
}

// columnsOf are the parts of a row, or the one expression.
func columnsOf(n expr.Node) []expr.Node {
	if t, ok := n.(*expr.Tuple); ok {
		return t.Nodes
	}
	return []expr.Node{n}
}

// inSubquery is left IN (SELECT ...).
func (b *binder) inSubquery(left sqlparser.Expr, e *sqlparser.Subquery, negated bool, s *scope) (expr.Node, error) {
	if isSubquery(left) && isRow(left) {
		return nil, unsupported("a comparison of rows of two subqueries")
	}
	l, err := b.leftOperand(left, s)
	if err != nil {
		return nil, err
	}
	q, err := b.compared(l, e, rel.In, "", s)
	if err != nil {
		return nil, err
	}
	q.Negated = negated
	return q, nil
}

// leftOperand binds what the rows of a subquery are compared with.
func (b *binder) leftOperand(e sqlparser.Expr, s *scope) (expr.Node, error) {
	compared := s.compared
	s.compared = true
	n, err := b.operand(e, s)
	s.compared = compared
	return n, err
}

// compared is a subquery whose rows are compared with an expression or a row.
func (b *binder) compared(left expr.Node, e *sqlparser.Subquery, kind rel.SubqueryKind, op string, s *scope) (*rel.Subquery, error) {
	nodes := columnsOf(left)
	q, err := b.subquery(e, kind, nodes, s)
	if err != nil {
		return nil, err
	}
	q.Op = op
	if len(q.Out) != len(nodes) {
		return nil, operandColumns(len(nodes))
	}
	if kind != rel.RowEquals && hasLimit(e.Select) {
		return nil, expr.Errorf(1235, "42000", "This version of MySQL doesn't yet support 'LIMIT & IN/ALL/ANY/SOME subquery'")
	}
	for i, n := range nodes { // the types must be comparable: 1267
		if op == "" {
			op = "="
		}
		if _, err := expr.Build(op, "", nil, n, &expr.Lit{T: q.Types[i]}); err != nil {
			return nil, err
		}
		c := constantOf(q.Plan, q.Out[i])
		if c == nil && q.Types[i].HasDate() { // a constant on the left is read as a date before the first row
			c = &expr.Lit{T: q.Types[i]}
		}
		if c != nil && b.set.Env != nil {
			if err := expr.ConstantDates(b.set.Env, op, n, c); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// constantOf is the expression of constants that a column of a plan is; nil: it is none.
func constantOf(n rel.Node, id rel.ColID) expr.Node {
	p, ok := n.(*rel.Project)
	if !ok {
		return nil
	}
	if i := slices.Index(p.Cols, id); i >= 0 {
		if expr.IsConst(p.Exprs[i]) {
			return p.Exprs[i]
		}
		return nil
	}
	return constantOf(p.Child, id)
}

func hasLimit(stmt sqlparser.SelectStatement) bool {
	switch s := stmt.(type) {
	case *sqlparser.Select:
		return s.Limit != nil
	case *sqlparser.SetOp:
		return s.Limit != nil
	case *sqlparser.ParenSelect:
		return hasLimit(s.Select)
	}
	return false
}

// quantifiers are the comments behind the first SELECT of a subquery that stand for ANY and ALL, which the parser does not know.
var quantifiers = map[string]rel.SubqueryKind{"/*any*/": rel.AnyOf, "/*all*/": rel.AllOf}

// quantifier is what stands before a subquery: ANY, ALL or nothing (Scalar).
func quantifier(stmt sqlparser.SelectStatement) rel.SubqueryKind {
	for {
		switch s := stmt.(type) {
		case *sqlparser.ParenSelect:
			stmt = s.Select
		case *sqlparser.SetOp:
			stmt = s.Left
		case *sqlparser.Select:
			for _, c := range s.Comments {
				if k, ok := quantifiers[strings.ToLower(string(c))]; ok {
					return k
				}
			}
			return rel.Scalar
		default:
			return rel.Scalar
		}
	}
}

// mirrored are comparisons with their sides exchanged.
var mirrored = map[string]string{"=": "=", "<=>": "<=>", "<>": "<>", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// subqueryComparison is a comparison with a subquery on a side that is no plain scalar: ANY, ALL, or a row; nil: it is none of them.
func (b *binder) subqueryComparison(e *sqlparser.ComparisonExpr, op string, s *scope) (expr.Node, error) {
	if right, ok := inParens(e.Right).(*sqlparser.Subquery); ok {
		kind := quantifier(right.Select)
		if kind == rel.Scalar {
			if !isRow(e.Left) {
				return nil, nil
			}
			if isSubquery(e.Left) {
				return nil, unsupported("a comparison of rows of two subqueries")
			}
			kind = rel.RowEquals
		}
		left, err := b.leftOperand(e.Left, s)
		if err != nil {
			return nil, err
		}
		negated := false
		switch {
		case kind == rel.AnyOf && op == "=":
			kind, op = rel.In, ""
		case kind == rel.AllOf && (op == "<>" || op == "!="):
			kind, op, negated = rel.In, "", true
		}
		q, err := b.compared(left, right, kind, op, s)
		if err != nil {
			return nil, err
		}
		q.Negated = negated
		if len(q.Left) > 1 && (kind == rel.AnyOf || kind == rel.AllOf) && op != "<>" && op != "=" && op != "!=" {
			return nil, operandColumns(1)
		}
		return q, nil
	}
	left, ok := inParens(e.Left).(*sqlparser.Subquery)
	if ok && isSubquery(e.Right) && isRow(e.Right) {
		return nil, unsupported("a comparison of rows of two subqueries")
	}
	if !ok || !isRow(e.Right) {
		return nil, nil
	}
	right, err := b.operand(e.Right, s)
	if err != nil {
		return nil, err
	}
	return b.compared(right, left, rel.RowEquals, mirrored[op], s)
}

func isSubquery(e sqlparser.Expr) bool {
	_, ok := inParens(e).(*sqlparser.Subquery)
	return ok
}

// isRow reports whether an expression is a row of several.
func isRow(e sqlparser.Expr) bool {
	switch e := inParens(e).(type) {
	case sqlparser.ValTuple:
		return len(e) > 1
	case *sqlparser.FuncExpr:
		return e.Name.Lowered() == "row"
	case *sqlparser.Subquery:
		return width(e.Select) > 1
	}
	return false
}

// width is how many expressions the select list of a query has, * not counted.
func width(stmt sqlparser.SelectStatement) int {
	switch s := stmt.(type) {
	case *sqlparser.ParenSelect:
		return width(s.Select)
	case *sqlparser.SetOp:
		return width(s.Left)
	case *sqlparser.Select:
		return len(s.SelectExprs)
	}
	return 1
}
