package bind

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// scalar binds an expression of one value.
func (b *binder) scalar(e sqlparser.Expr, s *scope) (expr.Node, error) {
	n, err := b.expression(e, s)
	if err != nil {
		return nil, err
	}
	if _, row := n.(*expr.Tuple); row {
		return nil, operandColumns(1)
	}
	return keep(n), nil
}

// operand binds an expression that may be a row.
func (b *binder) operand(e sqlparser.Expr, s *scope) (expr.Node, error) {
	n, err := b.expression(e, s)
	if err != nil {
		return nil, err
	}
	return keep(n), nil
}

// expression binds an expression.
func (b *binder) expression(e sqlparser.Expr, s *scope) (expr.Node, error) {
	switch e := e.(type) {
	case *sqlparser.ColName:
		return b.columnRef(e, s)
	case *sqlparser.SQLVal:
		n, err := b.literal(e)
		return b.rolledUp(n, s), err
	case *sqlparser.ParenExpr:
		return b.expression(e.Expr, s)
	case *sqlparser.NullVal:
		return b.rolledUp(&expr.Lit{T: expr.TNull}, s), nil
	case sqlparser.BoolVal:
		return b.rolledUp(&expr.Lit{V: expr.Bool(bool(e)), T: expr.TBool}, s), nil
	}
	if k := b.matchKey(e, s, false); k != nil {
		return b.ref(k.out), nil
	}
	switch e := e.(type) {
	case *sqlparser.ComparisonExpr:
		return b.comparison(e, s)
	case *sqlparser.AndExpr:
		return b.logic("and", s, e.Left, e.Right)
	case *sqlparser.OrExpr:
		return b.logic("or", s, e.Left, e.Right)
	case *sqlparser.XorExpr:
		return b.callOf("xor", nil, s, e.Left, e.Right)
	case *sqlparser.NotExpr:
		if x, ok := inParens(e.Expr).(*sqlparser.ExistsExpr); ok {
			return b.existsExpr(x, true, s)
		}
		return b.callOf("not", nil, s, e.Expr)
	case *sqlparser.IsExpr:
		n, err := b.callOf(strings.ToLower(e.Operator), nil, s, e.Expr)
		return b.knownNull(n), err
	case *sqlparser.RangeCond:
		return b.callOf(strings.ToLower(e.Operator), nil, s, e.Left, e.From, e.To)
	case *sqlparser.BinaryExpr:
		return b.binary(e, s)
	case *sqlparser.UnaryExpr:
		return b.unary(e, s)
	case *sqlparser.FuncExpr:
		return b.function(e, s)
	case *sqlparser.CaseExpr:
		return b.caseExpr(e, s)
	case sqlparser.ValTuple:
		return b.row(sqlparser.Exprs(e), s)
	case *sqlparser.Subquery:
		return b.scalarSubquery(e, s)
	case *sqlparser.ExistsExpr:
		return b.existsExpr(e, false, s)
	case *sqlparser.GroupConcatExpr:
		return b.groupConcat(e, s)
	case *sqlparser.IntervalExpr:
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near 'INTERVAL'")
	case *sqlparser.ValuesFuncExpr:
		return b.valuesCall(e, s)
	case *sqlparser.Default:
		return b.defaultOf(e, s)
	}
	return b.syntaxCall(e, s)
}

// row is (a, b).
func (b *binder) row(es sqlparser.Exprs, s *scope) (expr.Node, error) {
	out := &expr.Tuple{Nodes: make([]expr.Node, len(es))}
	for i, e := range es {
		n, err := b.operand(e, s)
		if err != nil {
			return nil, err
		}
		out.Nodes[i] = n
	}
	if len(es) == 1 {
		return out.Nodes[0], nil
	}
	return out, nil
}

// rowsLookedInto are the comparisons of rows that evaluate constants of the rows before they compare.
var rowsLookedInto = map[string]bool{"<": true, "<=": true, ">": true, ">=": true, "in": true, "not in": true}

// evaluateConstants evaluates the constants of a row that may be NULL: MySQL does so when it resolves the comparison, so that they warn and fail
// even if nothing asks for them.
func (b *binder) evaluateConstants(row *expr.Tuple) error {
	if b.set.Env == nil {
		return nil
	}
	for _, n := range row.Nodes {
		if _, inner := n.(*expr.Tuple); inner || !expr.IsConst(n) || !b.nullable(n) {
			continue
		}
		if _, err := n.Eval(b.set.Env); err != nil {
			return err
		}
	}
	return nil
}

// rowTakers are the calls whose arguments may be rows.
var rowTakers = map[string]bool{"=": true, "<>": true, "!=": true, "<=>": true, "<": true, "<=": true, ">": true, ">=": true, "in": true,
	"not in": true}

// call makes a call of a function or operator that package expr knows. Arguments that are constants while the call is not are
// calculated once.
func (b *binder) call(name string, extra any, args ...expr.Node) (expr.Node, error) {
	if b.calls++; b.calls%256 == 0 && b.set.Env != nil {
		if err := b.set.Env.Poll(); err != nil {
			return nil, err
		}
	}
	if !rowTakers[name] {
		for _, a := range args {
			if _, row := a.(*expr.Tuple); row {
				return nil, operandColumns(1)
			}
		}
	}
	if rowsLookedInto[name] {
		for _, a := range args {
			if row, ok := a.(*expr.Tuple); ok {
				if err := b.evaluateConstants(row); err != nil {
					return nil, err
				}
			}
		}
	}
	constant := true
	for _, a := range args {
		if !expr.IsConst(a) {
			constant = false
			break
		}
	}
	for i, a := range args {
		if constant {
			args[i] = withoutOnce(a)
		} else {
			args[i] = keep(a)
		}
	}
	text := ""
	if namedInErrors[name] {
		text = b.callText(name, extra, args)
	}
	b.datesBesideColumn(name, args)
	n, err := expr.Build(name, text, extra, args...)
	if err == nil && b.set.Env != nil {
		err = expr.ConstantDates(b.set.Env, name, args...)
	}
	if err != nil {
		return nil, err
	}
	b.warnOfDocuments(name, args)
	b.warnOfDigest(name, args)
	if name == "isnull" {
		return b.knownNull(n), nil
	}
	return n, nil
}

// callOf is call for arguments that are not bound yet.
func (b *binder) callOf(name string, extra any, s *scope, args ...sqlparser.Expr) (expr.Node, error) {
	nodes := make([]expr.Node, len(args))
	for i, a := range args {
		n, err := b.expression(a, s)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return b.call(name, extra, nodes...)
}

// knownNull is what IS NULL of what cannot be NULL is: MySQL does not evaluate it then. Of IS NOT NULL it evaluates constants. Dates may be
// zero, which counts as NULL there.
func (b *binder) knownNull(n expr.Node) expr.Node {
	c, ok := n.(*expr.Call)
	if !ok || c.Name != "is null" && c.Name != "isnull" && c.Name != "is not null" || c.Args[0].Type().HasDate() || b.nullable(c.Args[0]) || rel.IsVolatile(c) {
		return n
	}
	if c.Name == "is not null" && expr.IsConst(c.Args[0]) {
		return n
	}
	return &expr.Lit{V: expr.Bool(c.Name == "is not null"), T: expr.TBool}
}

// logic is AND or OR; a chain of them becomes one call.
func (b *binder) logic(name string, s *scope, left, right sqlparser.Expr) (expr.Node, error) {
	var nodes []expr.Node
	var add func(e sqlparser.Expr) error
	add = func(e sqlparser.Expr) error {
		var l, r sqlparser.Expr
		switch e := inParens(e).(type) {
		case *sqlparser.AndExpr:
			if name == "and" {
				l, r = e.Left, e.Right
			}
		case *sqlparser.OrExpr:
			if name == "or" {
				l, r = e.Left, e.Right
			}
		}
		if l != nil && b.matchKey(e, s, false) == nil {
			if err := add(l); err != nil {
				return err
			}
			return add(r)
		}
		n, err := b.expression(e, s)
		nodes = append(nodes, n)
		return err
	}
	if err := add(left); err != nil {
		return nil, err
	}
	if err := add(right); err != nil {
		return nil, err
	}
	return b.call(name, nil, nodes...)
}

// comparison is a comparison, IN, LIKE or REGEXP.
func (b *binder) comparison(e *sqlparser.ComparisonExpr, s *scope) (expr.Node, error) {
	op := strings.ToLower(e.Operator)
	if op == sqlparser.NotEqualStr {
		op = "<>"
	}
	switch op {
	case sqlparser.InStr, sqlparser.NotInStr:
		switch right := e.Right.(type) {
		case *sqlparser.Subquery:
			return b.inSubquery(e.Left, right, op == sqlparser.NotInStr, s)
		case sqlparser.ValTuple:
			if len(right) == 1 {
				if q, ok := right[0].(*sqlparser.Subquery); ok { // x IN ((SELECT ...))
					return b.inSubquery(e.Left, q, op == sqlparser.NotInStr, s)
				}
			}
			return b.callOf(op, nil, s, append([]sqlparser.Expr{e.Left}, right...)...)
		}
		return nil, unsupported("IN %T", e.Right)
	case sqlparser.LikeStr, sqlparser.NotLikeStr:
		if e.Escape != nil {
			return b.callOf(op, nil, s, e.Left, e.Right, e.Escape)
		}
		return b.callOf(op, nil, s, e.Left, e.Right)
	case sqlparser.RegexpStr:
		return b.hostCall("regexp_like", s, e.Left, e.Right)
	case sqlparser.NotRegexpStr:
		n, err := b.hostCall("regexp_like", s, e.Left, e.Right)
		if err != nil {
			return nil, err
		}
		return b.call("not", nil, n)
	case sqlparser.JSONExtractOp, sqlparser.JSONUnquoteExtractOp:
		return b.jsonPath(op, e.Left, e.Right, s)
	}
	if isSubquery(e.Left) || isSubquery(e.Right) {
		n, err := b.subqueryComparison(e, op, s)
		if n != nil || err != nil {
			return n, err
		}
	}
	return b.callOf(op, nil, s, e.Left, e.Right)
}

// binary is an arithmetic operator, or one of bits.
func (b *binder) binary(e *sqlparser.BinaryExpr, s *scope) (expr.Node, error) {
	op := strings.ToLower(e.Operator)
	if op == sqlparser.JSONExtractOp || op == sqlparser.JSONUnquoteExtractOp {
		return b.jsonPath(op, e.Left, e.Right, s)
	}
	left, isLeft := e.Left.(*sqlparser.IntervalExpr)
	right, isRight := e.Right.(*sqlparser.IntervalExpr)
	switch {
	case op == "+" && isLeft && !isRight:
		return b.callOf("date_add", strings.ToUpper(left.Unit), s, e.Right, left.Expr)
	case op == "+" && isRight && !isLeft:
		return b.callOf("date_add", strings.ToUpper(right.Unit), s, e.Left, right.Expr)
	case op == "-" && isRight && !isLeft:
		return b.callOf("date_sub", strings.ToUpper(right.Unit), s, e.Left, right.Expr)
	}
	var extra any
	if op == "/" || op == "-" {
		extra = b.set.Arith
	}
	return b.callOf(op, extra, s, e.Left, e.Right)
}

// unary is -x, ~x, !x, BINARY x or _charset'x'.
func (b *binder) unary(e *sqlparser.UnaryExpr, s *scope) (expr.Node, error) {
	switch e.Operator {
	case sqlparser.UPlusStr:
		return b.expression(e.Expr, s)
	case sqlparser.UMinusStr:
		if v, ok := inParens(e.Expr).(*sqlparser.SQLVal); ok { // MySQL keeps -1 as -(1)
			n, err := b.negative(v)
			l, ok := n.(*expr.Lit)
			double := ok && l.V.Kind() == expr.KindFloat // -1e20 is an operation, which may be out of range
			if !double && (n != nil || err != nil) {
				return b.rolledUp(n, s), err
			}
		}
		return b.callOf("neg", nil, s, e.Expr)
	case sqlparser.TildaStr:
		return b.callOf("~", nil, s, e.Expr)
	case sqlparser.BangStr:
		return b.callOf("not", nil, s, e.Expr)
	case sqlparser.BinaryStr:
		return b.callOf("cast", expr.TBytes(-1), s, e.Expr)
	}
	if strings.HasPrefix(e.Operator, "_") {
		return b.introduced(strings.TrimSpace(e.Operator[1:]), e.Expr)
	}
	return nil, unsupported("operator %s", e.Operator)
}

// caseExpr is CASE.
func (b *binder) caseExpr(e *sqlparser.CaseExpr, s *scope) (expr.Node, error) {
	form := expr.CaseForm{Operand: e.Expr != nil, Else: e.Else != nil}
	var args []sqlparser.Expr
	if e.Expr != nil {
		args = append(args, e.Expr)
	}
	for _, w := range e.Whens {
		args = append(args, w.Cond, w.Val)
	}
	if e.Else != nil {
		args = append(args, e.Else)
	}
	return b.callOf("case", form, s, args...)
}

// namedInErrors are the calls whose text stands in errors and warnings.
var namedInErrors = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "mod": true, "div": true, "neg": true,
	"cast": true, "exp": true, "pow": true, "power": true, "log": true, "tan": true, "cot": true, "degrees": true, "abs": true,
	"str_to_date": true, "sinh": true, "sqrt": true, "ln": true, "log2": true, "log10": true, "radians": true, "round": true, "truncate": true,
	"ceil": true, "ceiling": true, "floor": true, "date_add": true, "date_sub": true, "adddate": true, "subdate": true, "addtime": true,
	"subtime": true, "timestamp": true, "inet_ntoa": true, "greatest": true, "least": true}

// maxText is how long the text of an expression becomes: errors name no more of it.
const maxText = 1000

// castNames are the types of CAST as errors name them.
var castNames = map[expr.Name]string{expr.DecimalType: "decimal", expr.FloatType: "float", expr.DoubleType: "double", expr.DateType: "date",
	expr.DatetimeType: "datetime", expr.TimeType: "time", expr.YearType: "year", expr.JSONType: "json"}

// castText is CAST as MySQL writes it in errors.
func castText(arg string, extra any) string {
	t, ok := extra.(expr.Type)
	name := castNames[t.Name]
	switch {
	case !ok:
		return "cast(" + arg + ")"
	case name == "" && t.IsString() && t.Kind() == expr.KindBytes:
		name = "binary"
	case name == "" && t.IsString():
		name = "char"
	case name == "" && t.Unsigned:
		name = "unsigned"
	case name == "":
		name = "signed"
	}
	switch {
	case t.Name == expr.DecimalType:
		name += fmt.Sprintf("(%d,%d)", t.Length, t.Scale)
	case t.IsString() && t.Length >= 0, t.IsTemporal() && t.Scale > 0:
		n := t.Scale
		if t.IsString() {
			n = t.Length
		}
		name += fmt.Sprintf("(%d)", n)
	}
	return "cast(" + arg + " as " + name + ")"
}

// callText is a call as MySQL writes it in errors.
func (b *binder) callText(name string, extra any, args []expr.Node) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = b.text(a)
	}
	var out string
	switch {
	case len(args) == 2 && infix[name] != "":
		out = "(" + texts[0] + " " + infix[name] + " " + texts[1] + ")"
	case name == "neg":
		out = "-(" + texts[0] + ")"
	case intervals[name] != "" && len(args) == 2:
		unit, ok := extra.(string)
		if !ok {
			unit = "day"
		}
		out = "(" + texts[0] + intervals[name] + texts[1] + " " + strings.ToLower(unit) + ")"
	case typedLiterals[name] != "":
		out = typedLiterals[name] + texts[0]
	case name == "cast":
		out = castText(texts[0], extra)
	default:
		out = name + "(" + strings.Join(texts, ",") + ")"
	}
	if len(out) > maxText {
		out = out[:maxText]
	}
	return out
}

// typedLiterals are the words before the texts of literals of dates and times.
var typedLiterals = map[string]string{"date literal": "DATE", "time literal": "TIME", "timestamp literal": "TIMESTAMP"}

// intervals are the functions that add or subtract an interval, as the operator in their place.
var intervals = map[string]string{"date_add": " + interval ", "date_sub": " - interval ", "adddate": " + interval ",
	"subdate": " - interval "}

// infix are the operators that are written between their arguments.
var infix = map[string]string{"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "mod": "%", "div": "DIV", "=": "=", "<": "<", ">": ">",
	"<=": "<=", ">=": ">=", "<>": "<>", "!=": "<>", "<=>": "<=>", "&": "&", "|": "|", "^": "^", "<<": "<<", ">>": ">>", "and": "and",
	"or": "or", "xor": "xor"}

// text is an expression as MySQL writes it in errors.
func (b *binder) text(n expr.Node) string {
	switch n := withoutOnce(n).(type) {
	case *rel.Col:
		return b.quotedName(n.ID)
	case *expr.Lit:
		if n.V.IsNull() {
			return "NULL"
		}
		t, err := expr.ToText(b.set.Env, n.V)
		if err != nil {
			return "?"
		}
		switch {
		case n.T.Kind() == expr.KindDate:
			return "DATE'" + t + "'"
		case n.T.Kind() == expr.KindDatetime:
			return "TIMESTAMP'" + t + "'"
		case n.T.Kind() == expr.KindTime:
			return "TIME'" + t + "'"
		case n.T.IsString():
			return "'" + t + "'"
		case strings.HasPrefix(t, "-"):
			return "-(" + t[1:] + ")"
		}
		return t
	case *expr.Call:
		if n.Text != "" {
			return n.Text
		}
		return b.callText(n.Name, n.Extra, n.Args)
	case rel.Parent:
		return b.callText(b.hostCalls[n], nil, n.Args())
	}
	return "(select ...)"
}

// quotedName is how errors call a column in an expression.
func (b *binder) quotedName(id rel.ColID) string {
	if n, ok := b.names[id]; ok {
		return n.quoted()
	}
	c := &b.meta.Columns[id]
	if o := c.Origin; o != nil {
		return quoted(o.Database, o.Alias, o.Column)
	}
	return c.Name
}

// plainName is how errors call a column by itself.
func (b *binder) plainName(id rel.ColID) string { return strings.ReplaceAll(b.quotedName(id), "`", "") }
