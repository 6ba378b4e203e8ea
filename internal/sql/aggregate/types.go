package aggregate

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// names are the aggregates by lower-case name, with the name of the implementation.
var names = map[string]string{
	"count": "count", "sum": "sum", "avg": "avg", "min": "min", "max": "max", "group_concat": "group_concat", "any_value": "any_value",
	"bit_and": "bit_and", "bit_or": "bit_or", "bit_xor": "bit_xor",
	"std": "stddev_pop", "stddev": "stddev_pop", "stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp",
	"variance": "var_pop", "var_pop": "var_pop", "var_samp": "var_samp",
	"json_arrayagg": "json_arrayagg", "json_objectagg": "json_objectagg",
}

// Known reports whether a name is that of an aggregate of this package.
func Known(name string) bool { return names[strings.ToLower(name)] != "" }

// Nullable reports whether an aggregate may be NULL.
func Nullable(name string) bool {
	switch strings.ToLower(name) {
	case "count", "bit_and", "bit_or", "bit_xor":
		return false
	}
	return true
}

// longInteger is how many digits MySQL adds to the precision of a sum: as many as a count of rows may have, and two.
const longInteger = 22

// maxBitBytes is how long the binary strings may be that BIT_AND, BIT_OR and BIT_XOR take.
const maxBitBytes = 511

// Resolve finds the type of an aggregate of arguments with these types. known is false if this package has no aggregate of the name.
// distinct says whether DISTINCT was written. COUNT(*) has no arguments. Errors: 1582 (not so many arguments), 3514 (a binary string
// that is too long for a bit operation), 1267 (GROUP_CONCAT of texts without a collation in common).
func Resolve(name string, args []expr.Type, distinct bool, env *expr.Env) (t expr.Type, known bool, err error) {
	name = names[strings.ToLower(name)]
	if name == "" {
		return expr.Type{}, false, nil
	}
	switch {
	case name == "json_objectagg":
		if len(args) != 2 {
			return expr.Type{}, true, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near 'JSON_OBJECTAGG'")
		}
		return expr.TJSON, true, nil
	case name == "group_concat" && len(args) > 0, name == "count" && (len(args) <= 1 || distinct):
	case name == "count" || len(args) != 1:
		return expr.Type{}, true, expr.Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", strings.ToUpper(name))
	}
	switch name {
	case "count":
		t = expr.TInt
		t.Length = 21
	case "sum", "avg":
		t = sumType(name, args[0], env.DivPrecision)
	case "min", "max":
		t = extremeType(args[0])
	case "any_value":
		t = args[0]
		t.Truth = false
	case "json_arrayagg":
		t = expr.TJSON
	case "bit_and", "bit_or", "bit_xor":
		if args[0].Kind() != expr.KindBytes {
			t = expr.TUint
			t.Length = 21
			break
		}
		if args[0].Length < 0 || args[0].Length > maxBitBytes {
			return t, true, expr.Errorf(3514, "HY000",
				"Aggregate bitwise functions cannot accept arguments longer than %d bytes; consider using the SUBSTRING() function", maxBitBytes)
		}
		t = expr.TBytes(args[0].Length)
	case "group_concat":
		t, err = concatType(args, env.GroupConcatMax)
	default:
		t = expr.TFloat
	}
	return t, true, err
}

// exact reports whether sums of values of a type are exact.
func exact(t expr.Type) bool {
	return t.IsInteger() || t.Name == expr.DecimalType || t.IsTemporal()
}

// sumType is the type of SUM and AVG (MySQL: Item_sum_sum and Item_sum_avg, resolve_type).
func sumType(name string, arg expr.Type, increment int) expr.Type {
	if !exact(arg) {
		t := expr.TFloat
		if arg.Name == expr.FloatType || arg.Name == expr.DoubleType {
			if arg.Scale < expr.NotFixed {
				t.Scale = arg.Scale
				if name == "avg" {
					t.Scale = min(arg.Scale+increment, 30)
				}
			}
		}
		return t
	}
	precision, scale := digits(arg)
	if name == "sum" {
		return expr.TDecimal(precision+longInteger, scale)
	}
	return expr.TDecimal(precision+increment, scale+increment)
}

// digits is the precision and scale of a value as a decimal; of a BIGINT that is an expression as wide as the expression.
func digits(t expr.Type) (precision, scale int) {
	precision, scale = t.Digits()
	if t.Name == expr.BigInt && t.Length > 0 {
		width := t.Length
		if !t.Unsigned {
			width--
		}
		precision = min(precision, max(width, 1))
	}
	return precision, scale
}

// extremeType is the type of MIN and MAX: that of the argument, but the text of an ENUM or a SET, which are ordered as texts.
func extremeType(t expr.Type) expr.Type {
	if t.Name == expr.EnumType || t.Name == expr.SetType {
		return expr.Type{Name: expr.Char, Collation: t.Collation, Coerc: t.Coerc, Length: t.Length}
	}
	t.Truth = false
	return t
}

// typed is an expression of which only the type is known.
type typed struct{ t expr.Type }

// Type implements expr.Node.
func (n typed) Type() expr.Type { return n.t }

// Eval implements expr.Node; the value is never asked for.
func (n typed) Eval(*expr.Env) (expr.Value, error) { return expr.Null, nil }

// concatType is the type of GROUP_CONCAT: a text as CONCAT of the arguments is one, at most limit bytes long.
func concatType(args []expr.Type, limit int) (expr.Type, error) {
	nodes := make([]expr.Node, len(args))
	for i, t := range args {
		nodes[i] = typed{t}
	}
	c, err := expr.Build("concat", "group_concat", nil, nodes...)
	if err != nil {
		return expr.Type{}, err
	}
	t := c.Type()
	if t.Kind() == expr.KindBytes {
		t.Name = expr.Varbinary
		if limit > 512 {
			t.Name = expr.Blob
		}
	} else {
		t.Name = expr.Varchar
		if limit > 512 {
			t.Name = expr.TextType
		}
	}
	t.Length = limit
	return t, nil
}
