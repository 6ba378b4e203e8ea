package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

var _ sql.FunctionProvider = (*provider)(nil)

// Function implements sql.FunctionProvider, which comes before the engine's own functions: what package expr knows is
// evaluated by it.
func (p *provider) Function(ctx *sql.Context, database, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	if f, ok := exactAggregate(name); ok {
		return f, true
	}
	if f := expr.Lookup(name); f == nil || hostFunctions[name] {
		if bounded, ok := boundedFunctions[name]; ok {
			return bounded, true
		}
		return storedFunction(ctx, database, name)
	}
	return ownFunction(name), true
}

// ownFunction is one that package expr evaluates.
func ownFunction(name string) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		return newCall(ctx, name, args)
	}}
}

// extendBuiltIns puts what package expr knows among go-mysql-server's own functions, which are all that it looks at when it resolves the
// generated columns of a table with foreign keys (rowexec/ddl.go, storedGeneratedColumnReferences): there is no provider to ask.
func extendBuiltIns() {
	at := map[string]int{}
	for i, f := range function.BuiltIns {
		at[f.FunctionName()] = i
	}
	for _, name := range expr.Names() {
		if hostFunctions[name] {
			continue
		}
		if i, ok := at[name]; ok {
			function.BuiltIns[i] = ownFunction(name)
		} else {
			function.BuiltIns = append(function.BuiltIns, ownFunction(name))
		}
	}
}

// hostFunctions are left to go-mysql-server although package expr has functions of these names: its planner looks for them by
// their Go types.
var hostFunctions = map[string]bool{"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "uuid": true, "uuid_to_bin": true, "values": true, "sleep": true}

// newCall makes the call of a function or of an operator that the parser wrote as one. What the syntax says beside the
// arguments comes as literals, and intervals as expressions of their own.
func newCall(ctx *sql.Context, name string, args []sql.Expression) (sql.Expression, error) {
	s := &scalar{name: name, args: args}
	literal := func(i int) string {
		if i < 0 || i >= len(args) {
			return ""
		}
		l, _ := args[i].(*expression.Literal)
		if l == nil {
			return ""
		}
		t, _ := l.Val.(string)
		return t
	}
	last := len(args) - 1
	var err error
	switch name {
	case "cast":
		s.args = args[:1]
		s.syntax = castSyntax(args)
		s.extra, err = castType(ctx, args)
	case "/", "-":
		s.extra = arithForm(ctx)
	case "convert using":
		s.args = args[:1]
		var cs sql.CharacterSetID
		cs, err = sql.ParseCharacterSet(literal(1))
		s.extra, s.syntax = uint16(cs.DefaultCollation()), literal(1)
	case "collate":
		s.args = args[:1]
		var c sql.CollationID
		c, err = sql.ParseCollation("", literal(1), false)
		s.extra, s.syntax = uint16(c), literal(1)
	case "char":
		s.args = args[1:]
		s.extra, s.syntax = uint16(expr.BinaryCollation), literal(0)
		if cs := literal(0); cs != "" {
			var c sql.CollationID
			c, err = sql.ParseCollation(cs, "", true)
			s.extra = uint16(c)
		}
	case "trim":
		if len(args) == 1 {
			s.extra = "BOTH"
			break
		}
		s.args = args[:last]
		s.extra, s.syntax = literal(last), literal(last)
	case "extract", "timestampdiff":
		s.args = args[:last]
		s.extra, s.syntax = strings.ToUpper(literal(last)), literal(last)
	case "case":
		form := literal(0)
		s.args = args[1:]
		s.extra, s.syntax = expr.CaseForm{Operand: strings.Contains(form, "operand"), Else: strings.Contains(form, "else")}, form
	case "date_add", "date_sub", "adddate", "subdate":
		if iv, ok := args[last].(*expression.Interval); ok && len(args) == 2 {
			s.args = []sql.Expression{args[0], iv.Child}
			s.extra, s.syntax = strings.ToUpper(iv.Unit), iv.Unit
		} else if strings.HasPrefix(name, "a") || strings.HasPrefix(name, "s") {
			s.extra = "DAY"
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.build(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// arithForm is what the session's variables say about the type of a quotient and of a difference.
func arithForm(ctx *sql.Context) expr.ArithForm {
	f := expr.ArithForm{DivPrecision: 4, SignedDifference: sql.LoadSqlMode(ctx).ModeEnabled("NO_UNSIGNED_SUBTRACTION")}
	if n, ok := integerVariable(ctx, "div_precision_increment"); ok {
		f.DivPrecision = int(n)
	}
	return f
}

// castSyntax is the type of a CAST as it was written.
func castSyntax(args []sql.Expression) string {
	out := strings.ToLower(args[1].(*expression.Literal).Val.(string))
	if len(args) > 2 {
		var ns []string
		for _, a := range args[2:] {
			ns = append(ns, a.String())
		}
		out += "(" + strings.Join(ns, ",") + ")"
	}
	return out
}

// castType is the type that a CAST names.
func castType(ctx *sql.Context, args []sql.Expression) (expr.Type, error) {
	number := func(i, missing int) int {
		if i >= len(args) {
			return missing
		}
		v, err := args[i].Eval(ctx, nil)
		if err != nil {
			return missing
		}
		n, _, err := types.Int64.Convert(ctx, v)
		if err != nil {
			return missing
		}
		return int(n.(int64))
	}
	switch t := strings.ToLower(args[1].(*expression.Literal).Val.(string)); t {
	case expression.ConvertToBinary:
		return expr.TBytes(number(2, -1)), nil
	case expression.ConvertToChar, expression.ConvertToNChar, "character":
		return expr.TText(number(2, -1), uint16(ctx.GetCollation()), expr.Implicit), nil
	case expression.ConvertToDate:
		return expr.TDate, nil
	case expression.ConvertToDatetime:
		fsp := number(2, 0)
		if fsp > 6 {
			return expr.Type{}, expr.Errorf(1426, "42000", "Too-big precision %d specified for 'CAST'. Maximum is 6.", fsp)
		}
		return expr.TDatetime(fsp), nil
	case expression.ConvertToTime:
		fsp := number(2, 0)
		if fsp > 6 {
			return expr.Type{}, expr.Errorf(1426, "42000", "Too-big precision %d specified for 'CAST'. Maximum is 6.", fsp)
		}
		return expr.TTime(fsp), nil
	case expression.ConvertToDecimal:
		p, s := number(2, 10), number(3, 0)
		switch {
		case p > 65:
			return expr.Type{}, expr.Errorf(1426, "42000", "Too-big precision %d specified for 'CAST'. Maximum is 65.", p)
		case s > 30:
			return expr.Type{}, expr.Errorf(1425, "42000", "Too big scale %d specified for column 'CAST'. Maximum is 30.", s)
		case s > p:
			return expr.Type{}, expr.Errorf(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').")
		}
		if p == 0 {
			p = 10
		}
		return expr.TDecimal(p, s), nil
	case expression.ConvertToFloat:
		t := expr.TFloat
		if number(2, 0) <= 24 {
			t.Name, t.Length = expr.FloatType, 12
		}
		return t, nil
	case expression.ConvertToDouble, expression.ConvertToReal:
		return expr.TFloat, nil
	case expression.ConvertToJSON:
		return expr.TJSON, nil
	case expression.ConvertToSigned, "integer", "signed integer", "int":
		return expr.TInt, nil
	case expression.ConvertToUnsigned, "unsigned integer":
		return expr.TUint, nil
	case expression.ConvertToYear:
		return expr.Type{Name: expr.YearType, Unsigned: true, Length: 4, Collation: expr.BinaryCollation, Coerc: expr.Numeric}, nil
	default:
		return expr.Type{}, expr.Errorf(1064, "42000", "CAST knows no type %s", t)
	}
}
