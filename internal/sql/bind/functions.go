package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// special are functions whose arguments or meaning are not what the syntax shows. The others go to package expr, or to the host.
var special map[string]func(b *binder, e *sqlparser.FuncExpr, s *scope) (expr.Node, error)

func init() {
	interval := func(b *binder, e *sqlparser.FuncExpr, s *scope) (expr.Node, error) { return b.dateInterval(e, s) }
	special = map[string]func(b *binder, e *sqlparser.FuncExpr, s *scope) (expr.Node, error){
		"date_add": interval, "date_sub": interval, "adddate": interval, "subdate": interval,
		"any_value": (*binder).anyValueCall,
		"grouping":  (*binder).groupingCall,
		":=":        (*binder).assignmentCall,
		"row": func(b *binder, e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
			args, err := plainArgs(e.Exprs)
			if err != nil {
				return nil, err
			}
			return b.row(args, s)
		},
	}
}

// plainArgs are the arguments of a call without * among them.
func plainArgs(es sqlparser.SelectExprs) ([]sqlparser.Expr, error) {
	out := make([]sqlparser.Expr, len(es))
	for i, e := range es {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '*'")
		}
		out[i] = a.Expr
	}
	return out, nil
}

// function binds a call that is written as one.
func (b *binder) function(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	name := strings.ToLower(e.Name.String())
	if e.Over != nil {
		return b.windowCall(e, s)
	}
	if !e.Qualifier.IsEmpty() {
		args, err := plainArgs(e.Exprs)
		if err != nil {
			return nil, err
		}
		return b.hostCall(e.Qualifier.String()+"."+name, s, args...)
	}
	if name == "found_rows" {
		b.warn(1287, "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.")
	}
	if isAggregate(name) {
		return b.aggregate(&aggregateFunc{name: name, args: e.Exprs, distinct: e.Distinct, text: func() string { return sqlparser.String(e) }}, s)
	}
	if e.Distinct {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near 'DISTINCT'")
	}
	if f := special[name]; f != nil {
		return f(b, e, s)
	}
	args, err := plainArgs(e.Exprs)
	if err != nil {
		return nil, err
	}
	if expr.Lookup(name) == nil {
		return b.hostCall(name, s, args...)
	}
	var extra any
	switch name {
	case "trim":
		extra = "BOTH"
	case "/", "-":
		extra = b.set.Arith
	}
	return b.callOf(name, extra, s, args...)
}

// dateInterval is DATE_ADD and its like, with an INTERVAL, or with a number of days.
func (b *binder) dateInterval(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	args, err := plainArgs(e.Exprs)
	if err != nil {
		return nil, err
	}
	name := e.Name.Lowered()
	if len(args) != 2 {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", name)
	}
	unit := "DAY"
	if i, ok := args[1].(*sqlparser.IntervalExpr); ok {
		args[1], unit = i.Expr, strings.ToUpper(i.Unit)
	} else if strings.HasPrefix(name, "date_") {
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", name)
	}
	return b.callOf(name, unit, s, args...)
}

// anyValueCall is ANY_VALUE(): its argument, for which ONLY_FULL_GROUP_BY does not ask whether the group decides it.
func (b *binder) anyValueCall(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	args, err := plainArgs(e.Exprs)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, expr.Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", e.Name.String())
	}
	was := b.anyValue
	b.anyValue = true
	n, err := b.expression(args[0], s)
	b.anyValue = was
	return n, err
}

// assignmentCall is @name := value, which is written as a call of := with the two.
func (b *binder) assignmentCall(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	args, err := plainArgs(e.Exprs)
	if err != nil {
		return nil, err
	}
	if len(args) != 2 {
		return nil, unsupported("an assignment of %d operands", len(args))
	}
	name, ok := args[0].(*sqlparser.ColName)
	if !ok {
		return nil, unsupported("an assignment to %T", args[0])
	}
	v, scope, _, err := sqlparser.VarScopeForColName(name)
	if err != nil || scope != sqlparser.SetScope_User {
		return nil, unsupported("an assignment to %s", name.String())
	}
	n, err := b.scalar(args[1], s)
	if err != nil {
		return nil, err
	}
	return b.h.SetUserVariable(v.Name.String(), n)
}

// hostCall is a call of a function that the host evaluates.
func (b *binder) hostCall(name string, s *scope, args ...sqlparser.Expr) (expr.Node, error) {
	nodes := make([]expr.Node, len(args))
	for i, a := range args {
		if _, ok := a.(*sqlparser.IntervalExpr); ok {
			return nil, unsupported("%s with an INTERVAL", name)
		}
		n, err := b.scalar(a, s)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return b.hostNode(name, nodes)
}

func (b *binder) hostNode(name string, args []expr.Node) (expr.Node, error) {
	n, err := b.h.Function(name, b.callText(name, nil, args), args)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, b.unknownFunction(name)
	}
	if b.hostCalls == nil {
		b.hostCalls = map[expr.Node]string{}
	}
	b.hostCalls[n] = name
	return n, nil
}

func (b *binder) unknownFunction(name string) error {
	if b.database != "" && !strings.Contains(name, ".") {
		name = b.database + "." + name
	}
	return expr.Errorf(1305, "42000", "FUNCTION %s does not exist", name)
}

// jsonPath is column->path and column->>path.
func (b *binder) jsonPath(op string, left, right sqlparser.Expr, s *scope) (expr.Node, error) {
	n, err := b.callOf("json_extract", nil, s, left, right)
	if err != nil || op == sqlparser.JSONExtractOp {
		return n, err
	}
	return b.call("json_unquote", nil, n)
}

// syntaxCall binds the functions that have a syntax of their own.
func (b *binder) syntaxCall(e sqlparser.Expr, s *scope) (expr.Node, error) {
	switch e := e.(type) {
	case *sqlparser.ConvertExpr:
		return b.convert(e, s)
	case *sqlparser.ConvertUsingExpr:
		id, err := b.h.CharacterSet(strings.ToLower(e.Type))
		if err != nil {
			return nil, err
		}
		return b.callOf("convert using", id, s, e.Expr)
	case *sqlparser.CollateExpr:
		id, err := b.h.Collation(strings.ToLower(e.Collation))
		if err != nil {
			return nil, err
		}
		return b.callOf("collate", id, s, e.Expr)
	case *sqlparser.SubstrExpr:
		var text sqlparser.Expr = e.Name
		if e.Name == nil {
			text = e.StrVal
		}
		if e.To == nil {
			return b.callOf("substring", nil, s, text, e.From)
		}
		return b.callOf("substring", nil, s, text, e.From, e.To)
	case *sqlparser.TrimExpr:
		side := map[string]string{sqlparser.Leading: "LEADING", sqlparser.Trailing: "TRAILING"}[e.Dir]
		if side == "" {
			side = "BOTH"
		}
		return b.callOf("trim", side, s, e.Str, e.Pattern)
	case *sqlparser.CharExpr:
		args, err := plainArgs(e.Exprs)
		if err != nil {
			return nil, err
		}
		id := uint16(expr.BinaryCollation)
		if e.Type != "" {
			if id, err = b.h.CharacterSet(strings.ToLower(e.Type)); err != nil {
				return nil, err
			}
		}
		return b.callOf("char", id, s, args...)
	case *sqlparser.TimestampFuncExpr:
		if strings.EqualFold(e.Name, "timestampadd") {
			return b.callOf("date_add", strings.ToUpper(e.Unit), s, e.Expr2, e.Expr1)
		}
		return b.callOf("timestampdiff", strings.ToUpper(e.Unit), s, e.Expr1, e.Expr2)
	case *sqlparser.ExtractFuncExpr:
		return b.callOf("extract", strings.ToUpper(e.Unit), s, e.Expr)
	}
	return nil, unsupported("%T", e)
}

// convert is CAST and CONVERT.
func (b *binder) convert(e *sqlparser.ConvertExpr, s *scope) (expr.Node, error) {
	arg, err := b.expression(e.Expr, s)
	if err != nil {
		return nil, err
	}
	t, err := b.castType(e.Type, arg)
	if err != nil {
		return nil, err
	}
	if e.Type.Charset == "" {
		return b.call("cast", t, arg)
	}
	id, err := b.h.CharacterSet(strings.ToLower(e.Type.Charset))
	switch {
	case err != nil:
		return nil, err
	case id == expr.BinaryCollation: // as CAST AS BINARY is kept
		return b.call("cast", expr.TBytes(t.Length), arg)
	case id == t.Collation:
		return b.call("cast", t, arg)
	}
	n, err := b.call("cast", t, arg)
	if err != nil {
		return nil, err
	}
	return b.call("convert using", id, n)
}

// castType is the type that a CAST names.
func (b *binder) castType(t *sqlparser.ConvertType, arg expr.Node) (expr.Type, error) {
	number := func(v *sqlparser.SQLVal, missing int) int {
		if v == nil {
			return missing
		}
		return int(literalInt(v))
	}
	seconds := func() (int, error) {
		fsp := number(t.Length, 0)
		if fsp > 6 {
			return 0, expr.Errorf(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 6.", fsp, b.text(arg))
		}
		return fsp, nil
	}
	switch name := strings.ToLower(t.Type); name {
	case "binary":
		return expr.TBytes(number(t.Length, -1)), nil
	case "char", "nchar", "character":
		return expr.TText(number(t.Length, -1), b.connectionCollation(), expr.Implicit), nil
	case "date":
		return expr.TDate, nil
	case "datetime":
		fsp, err := seconds()
		return expr.TDatetime(fsp), err
	case "time":
		fsp, err := seconds()
		return expr.TTime(fsp), err
	case "decimal":
		return b.castDecimal(number(t.Length, 10), number(t.Scale, 0), arg)
	case "float":
		f := expr.TFloat
		if number(t.Length, 0) <= 24 {
			f.Name, f.Length = expr.FloatType, 12
		}
		return f, nil
	case "double", "real":
		return expr.TFloat, nil
	case "json":
		return expr.TJSON, nil
	case "signed", "integer", "signed integer", "int":
		return expr.TInt, nil
	case "unsigned", "unsigned integer":
		return expr.TUint, nil
	case "year":
		return expr.Type{Name: expr.YearType, Unsigned: true, Length: 4, Collation: expr.BinaryCollation, Coerc: expr.Numeric}, nil
	default:
		return expr.Type{}, expr.Errorf(1064, "42000", "CAST knows no type %s", name)
	}
}

func (b *binder) castDecimal(precision, scale int, arg expr.Node) (expr.Type, error) {
	switch {
	case precision > 65:
		return expr.Type{}, expr.Errorf(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 65.", precision, b.text(arg))
	case scale > 30:
		return expr.Type{}, expr.Errorf(1425, "42000", "Too big scale %d specified for column '%s'. Maximum is 30.", scale, b.text(arg))
	case precision == 0 && scale == 0:
		precision = 10
	case scale > precision:
		return expr.Type{}, expr.Errorf(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').")
	}
	return expr.TDecimal(precision, scale), nil
}
