package engine

import (
	"context"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// parser parses as go-mysql-server does and then writes operators as calls of functions, so that the planner asks the
// provider for them (functions.go) and has their types from the beginning: go-mysql-server's own operators have wrong types
// and values. Comparisons with a column stay as they are, because the planner finds indexes by them; they get their right
// meaning when the plan is done (fuse.go).
type parser struct{ *sql.MysqlParser }

var _ sql.Parser = parser{}

// ParseSimple implements sql.Parser.
func (p parser) ParseSimple(query string) (sqlparser.Statement, error) {
	marked, _ := markLiterals(query, false)
	s, err := p.MysqlParser.ParseSimple(marked)
	if err != nil {
		if q, ok := moreSyntax(marked); ok {
			s, err = p.MysqlParser.ParseSimple(q)
		}
	}
	if err != nil && marked != query {
		s, err = p.MysqlParser.ParseSimple(query) // the error names what was written
	}
	return rewriteStatement(s, query, marked, err)
}

// Parse implements sql.Parser.
func (p parser) Parse(ctx *sql.Context, query string, multi bool) (sqlparser.Statement, string, string, error) {
	return p.ParseWithOptions(ctx, query, ';', multi, sql.LoadSqlMode(ctx).ParserOptions())
}

// ParseWithOptions implements sql.Parser.
func (p parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o sqlparser.ParserOptions) (sqlparser.Statement, string, string, error) {
	query = sql.RemoveSpaceAndDelimiter(query, delimiter)
	marked, _ := markLiterals(query, o.AnsiQuotes)
	s, parsed, rest, err := p.MysqlParser.ParseWithOptions(ctx, marked, delimiter, multi, o)
	if err != nil && delimiter == ';' {
		if q, ok := moreSyntax(marked); ok {
			if s2, parsed2, rest2, err2 := p.MysqlParser.ParseWithOptions(ctx, q, delimiter, multi, o); err2 == nil {
				s, parsed, rest, err = s2, writtenLiterals(parsed2), rest2, nil
			}
		}
	}
	if marked != query {
		if err != nil {
			s, parsed, rest, err = p.MysqlParser.ParseWithOptions(ctx, query, delimiter, multi, o) // the error names what was written
		} else {
			rest = query[len(query)-len(rest):]
			if at := strings.Index(marked, parsed); at >= 0 {
				parsed = query[at : at+len(parsed)]
			}
		}
	}
	s, err = rewriteStatement(s, query, marked, err)
	return s, parsed, rest, err
}

// ParseOneWithOptions implements sql.Parser.
func (p parser) ParseOneWithOptions(ctx context.Context, query string, o sqlparser.ParserOptions) (sqlparser.Statement, int, error) {
	marked, _ := markLiterals(query, o.AnsiQuotes)
	s, end, err := p.MysqlParser.ParseOneWithOptions(ctx, marked, o)
	if err != nil {
		if q, ok := moreSyntax(marked); ok {
			if s2, end2, err2 := p.MysqlParser.ParseOneWithOptions(ctx, q, o); err2 == nil {
				s, end, err = s2, len(query)-(len(q)-end2), nil // what follows the statement is the same in both
			}
		}
	}
	if err != nil && marked != query {
		s, end, err = p.MysqlParser.ParseOneWithOptions(ctx, query, o) // the error names what was written
	}
	s, err = rewriteStatement(s, query, marked, err)
	return s, end, err
}

// rewriteStatement writes operators as calls. marked is what was parsed in place of what was written (typedliterals.go).
func rewriteStatement(s sqlparser.Statement, written, marked string, err error) (sqlparser.Statement, error) {
	if err != nil || s == nil {
		return s, err
	}
	if written != marked {
		restoreNames(s, written, marked)
	}
	v := reflect.ValueOf(&s).Elem()
	if err := (rewriting{expr: rewriteExpr, shapes: true}).in(v); err != nil {
		return nil, err
	}
	return s, nil
}

// rewriting is a way to rewrite a syntax tree.
type rewriting struct {
	expr   func(sqlparser.Expr) (sqlparser.Expr, error)
	shapes bool // also what stands beside expressions, as go-mysql-server's planner needs it
}

var syntaxExpr = reflect.TypeFor[sqlparser.Expr]()

// holders remembers which types can hold expressions: 0 not known yet, 1 yes, 2 no.
var holders sync.Map // reflect.Type → bool

// mayHold reports whether a value of the type can reach an expression.
func mayHold(t reflect.Type) bool {
	if h, ok := holders.Load(t); ok {
		return h.(bool)
	}
	h := reaches(t, map[reflect.Type]bool{})
	holders.Store(t, h)
	return h
}

func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return t.NumMethod() > 0 // of the syntax tree: whatever it holds decides
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return reaches(t.Elem(), seen)
	case reflect.Struct:
		if t.PkgPath() != syntaxExpr.PkgPath() {
			return false
		}
		for i := range t.NumField() {
			if t.Field(i).IsExported() && reaches(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// in rewrites the expressions that a settable value holds, innermost first.
func (r rewriting) in(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		in := v.Elem()
		switch in.Kind() {
		case reflect.Pointer:
			if err := r.in(in); err != nil {
				return err
			}
		case reflect.Struct, reflect.Slice: // a value in an interface cannot be changed in place
			if !mayHold(in.Type()) {
				return nil
			}
			n := reflect.New(in.Type()).Elem()
			n.Set(in)
			if err := r.in(n); err != nil {
				return err
			}
			v.Set(n)
		}
		if v.Type().Implements(syntaxExpr) {
			if e, ok := v.Interface().(sqlparser.Expr); ok {
				n, err := r.expr(e)
				if err != nil {
					return err
				}
				if reflect.TypeOf(n).AssignableTo(v.Type()) {
					v.Set(reflect.ValueOf(n))
				}
			}
		}
	case reflect.Pointer:
		if v.IsNil() || !mayHold(v.Type().Elem()) {
			return nil
		}
		return r.in(v.Elem())
	case reflect.Slice, reflect.Array:
		if !mayHold(v.Type().Elem()) {
			return nil
		}
		for i := range v.Len() {
			if err := r.in(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if r.shapes {
			if err := shape(v); err != nil {
				return err
			}
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && mayHold(f.Type()) {
				if err := r.in(f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// shape rewrites what stands beside expressions.
func shape(v reflect.Value) error {
	if fk, ok := v.Addr().Interface().(*sqlparser.ForeignKeyDefinition); ok {
		// go-mysql-server refuses this for its own parser only
		if fk.OnDelete == sqlparser.SetDefault || fk.OnUpdate == sqlparser.SetDefault {
			return sql.ErrForeignKeySetDefault.New()
		}
	}
	if c, ok := v.Addr().Interface().(*sqlparser.ColumnType); ok {
		c.Default = plainLiteral(c.Default)
		spellDefault(c)
		resolveTime(c)
	}
	if u, ok := v.Addr().Interface().(*sqlparser.SetOp); ok {
		nameOrder(u)
	}
	if l, ok := v.Addr().Interface().(*sqlparser.Limit); ok {
		boundLimit(l.Rowcount)
		boundLimit(l.Offset)
	}
	return nil
}

// function is a call in the syntax tree.
func callNode(name string, args ...sqlparser.Expr) *sqlparser.FuncExpr {
	f := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent(name)}
	for _, a := range args {
		f.Exprs = append(f.Exprs, &sqlparser.AliasedExpr{Expr: a})
	}
	return f
}

func textNode(s string) sqlparser.Expr { return sqlparser.NewStrVal([]byte(s)) }

// boundLimit makes a LIMIT beyond BIGINT, which go-mysql-server reads as a negative one, the largest BIGINT: clients write
// 18446744073709551615 for all rows.
func boundLimit(e sqlparser.Expr) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.IntVal {
		return
	}
	if n, err := strconv.ParseUint(string(v.Val), 10, 64); err == nil && n > math.MaxInt64/2 {
		v.Val = strconv.AppendInt(nil, math.MaxInt64/2, 10) // an offset is added to it
	}
}

// rewriteExpr gives the call that stands for an operator; other expressions stay.
func rewriteExpr(e sqlparser.Expr) (sqlparser.Expr, error) {
	if call, ok := typedLiteral(e); ok {
		return call, nil
	}
	n, err := operatorCall(e)
	if f, ok := n.(*sqlparser.FuncExpr); ok && n != e && expr.Lookup(f.Name.Lowered()) == nil {
		return e, err // go-mysql-server's
	}
	return n, err
}

func operatorCall(e sqlparser.Expr) (sqlparser.Expr, error) {
	switch e := e.(type) {
	case *sqlparser.BinaryExpr:
		return rewriteBinary(e), nil
	case *sqlparser.UnaryExpr:
		switch e.Operator {
		case sqlparser.UMinusStr:
			if _, literal := e.Expr.(*sqlparser.SQLVal); !literal {
				return callNode("neg", e.Expr), nil
			}
		case sqlparser.TildaStr:
			return callNode("~", e.Expr), nil
		case sqlparser.BinaryStr:
			return callNode("cast", e.Expr, textNode("binary")), nil
		}
	case *sqlparser.ConvertExpr:
		return rewriteConvert(e), nil
	case *sqlparser.ConvertUsingExpr:
		return callNode("convert using", e.Expr, textNode(e.Type)), nil
	case *sqlparser.CollateExpr:
		return callNode("collate", e.Expr, textNode(e.Collation)), nil
	case *sqlparser.SubstrExpr:
		var s sqlparser.Expr = e.Name
		if e.Name == nil {
			s = e.StrVal
		}
		if e.To == nil {
			return callNode("substring", s, e.From), nil
		}
		return callNode("substring", s, e.From, e.To), nil
	case *sqlparser.TrimExpr:
		dir := "BOTH"
		switch e.Dir {
		case sqlparser.Leading:
			dir = "LEADING"
		case sqlparser.Trailing:
			dir = "TRAILING"
		}
		return callNode("trim", e.Str, e.Pattern, textNode(dir)), nil
	case *sqlparser.CharExpr:
		f := callNode("char", textNode(e.Type))
		f.Exprs = append(f.Exprs, e.Exprs...)
		return f, nil
	case *sqlparser.CaseExpr:
		return rewriteCase(e), nil
	case *sqlparser.TimestampFuncExpr:
		if strings.EqualFold(e.Name, "timestampadd") {
			return callNode("date_add", e.Expr2, &sqlparser.IntervalExpr{Expr: e.Expr1, Unit: e.Unit}), nil
		}
		return callNode("timestampdiff", e.Expr1, e.Expr2, textNode(e.Unit)), nil
	case *sqlparser.ExtractFuncExpr:
		return callNode("extract", e.Expr, textNode(e.Unit)), nil
	case *sqlparser.ComparisonExpr:
		return rewriteComparison(e), nil
	}
	return e, nil
}

func rewriteBinary(e *sqlparser.BinaryExpr) sqlparser.Expr {
	left, isLeft := e.Left.(*sqlparser.IntervalExpr)
	right, isRight := e.Right.(*sqlparser.IntervalExpr)
	switch op := strings.ToLower(e.Operator); op {
	case sqlparser.JSONExtractOp, sqlparser.JSONUnquoteExtractOp:
		return e
	case "+":
		switch {
		case isLeft && !isRight:
			return callNode("date_add", e.Right, left)
		case isRight && !isLeft:
			return callNode("date_add", e.Left, right)
		case isLeft:
			return e
		}
		return callNode(op, e.Left, e.Right)
	case "-":
		switch {
		case isRight && !isLeft:
			return callNode("date_sub", e.Left, right)
		case isLeft:
			return e
		}
		return callNode(op, e.Left, e.Right)
	default:
		if isLeft || isRight {
			return e
		}
		return callNode(op, e.Left, e.Right)
	}
}

func rewriteConvert(e *sqlparser.ConvertExpr) sqlparser.Expr {
	args := []sqlparser.Expr{e.Expr, textNode(e.Type.Type)}
	if e.Type.Length != nil {
		args = append(args, e.Type.Length)
		if e.Type.Scale != nil {
			args = append(args, e.Type.Scale)
		}
	}
	f := callNode("cast", args...)
	if e.Type.Charset != "" {
		return callNode("convert using", f, textNode(e.Type.Charset))
	}
	return f
}

// rewriteCase writes CASE as a call whose first argument says its form, and then as package expr has it.
func rewriteCase(e *sqlparser.CaseExpr) sqlparser.Expr {
	form := ""
	var args []sqlparser.Expr
	if e.Expr != nil {
		form += "operand "
		args = append(args, e.Expr)
	}
	for _, w := range e.Whens {
		args = append(args, w.Cond, w.Val)
	}
	if e.Else != nil {
		form += "else"
		args = append(args, e.Else)
	}
	return callNode("case", append([]sqlparser.Expr{textNode(form)}, args...)...)
}

// comparisons that the evaluator takes at once; the rest is for the planner to look at.
var comparisons = map[string]bool{"=": true, "<": true, ">": true, "<=": true, ">=": true, "!=": true, "<=>": true}

// rewriteComparison makes a call of a comparison in which no side is a column and none holds a subquery: the planner, which
// looks for indexes and joins, has nothing to find in it, but would calculate it by itself if it is constant.
func rewriteComparison(e *sqlparser.ComparisonExpr) sqlparser.Expr {
	op := strings.ToLower(e.Operator)
	if !comparisons[op] || namesColumn(e.Left) || namesColumn(e.Right) || hasSubquery(e.Left) || hasSubquery(e.Right) {
		return e
	}
	return callNode(op, e.Left, e.Right)
}

func namesColumn(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.ColName, sqlparser.ValTuple:
		return true
	case *sqlparser.ParenExpr:
		return namesColumn(e.Expr)
	}
	return false
}

func hasSubquery(e sqlparser.Expr) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case *sqlparser.Subquery:
			found = true
		}
		return !found, nil
	}, e)
	return found
}
