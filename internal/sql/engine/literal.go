package engine

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// literalKind is what a constant, or the value of a parameter, is before a column gives it a type.
type literalKind uint8

const (
	nullLiteral literalKind = iota
	intLiteral
	decimalLiteral
	floatLiteral
	textLiteral
)

// literal is a constant as it was written.
type literal struct {
	kind literalKind
	text []byte
}

// operand is a constant of the statement itself, or one of those that came with it.
type operand struct {
	parameter int // its place, or -1
	negative  bool
	constant  literal
	// fixed is a constant as the column stores it that it is assigned to, found when the plan was made.
	fixed *rowcodec.Datum
}

// literal is the operand's value in one execution. False: leave it to the ordinary path.
func (o *operand) literal(given []literal) (literal, bool) {
	if o.parameter < 0 {
		return o.constant, true
	}
	if o.parameter >= len(given) {
		return literal{}, false
	}
	l := given[o.parameter]
	if !o.negative {
		return l, true
	}
	if l.kind != intLiteral && l.kind != decimalLiteral || len(l.text) == 0 || l.text[0] == '-' || len(l.text) > 18 {
		return literal{}, false
	}
	return literal{l.kind, append([]byte{'-'}, l.text...)}, true
}

// parameterNames are those that the parser gives to parameters.
var parameterNames = func() (out [maxConstants]string) {
	for i := range out {
		out[i] = "v" + strconv.Itoa(i+1)
	}
	return out
}()

func parameterName(i int) string { return parameterNames[i] }

// assign turns a constant into a column's value, exactly as the ordinary path stores it. False: it would not be stored as it
// is, or not without more ado; the ordinary path knows what is to be said about that.
type assign func(ctx *sql.Context, l literal) (rowcodec.Datum, bool)

func never(*sql.Context, literal) (rowcodec.Datum, bool) { return rowcodec.Datum{}, false }

// assigner returns how constants are stored in the column at a place.
func (l *layout) assigner(at int) assign {
	typ := l.schema.Schema[at].Type
	base := typ.Type()
	kind := l.columns[at].Kind
	var f assign
	switch {
	case base == sqltypes.Year, base == sqltypes.Bit, base == sqltypes.Enum, base == sqltypes.Set, base == sqltypes.Time, base == sqltypes.TypeJSON:
		f = never
	case sqltypes.IsSigned(base), sqltypes.IsUnsigned(base):
		f = wholeNumbers(base)
	case kind == rowcodec.Text && plainCharset(typ):
		f = texts(typ)
		if l.fixed[at] {
			inFull := f
			f = func(ctx *sql.Context, l literal) (rowcodec.Datum, bool) {
				l.text = withoutPadding(l.text)
				return inFull(ctx, l)
			}
		}
	case base == sqltypes.VarBinary, base == sqltypes.Blob:
		f = byteStrings(typ)
	case base == sqltypes.Decimal, base == sqltypes.Float64, base == sqltypes.Float32, base == sqltypes.Date, base == sqltypes.Datetime, base == sqltypes.Timestamp:
		f = converted(typ, kind)
	default:
		f = never
	}
	return func(ctx *sql.Context, l literal) (rowcodec.Datum, bool) {
		if l.kind == nullLiteral {
			return rowcodec.Datum{}, true
		}
		return f(ctx, l)
	}
}

// plainCharset reports whether a type's texts are kept and sent as they come.
func plainCharset(t sql.Type) bool {
	c, ok := t.(sql.TypeWithCollation)
	return ok && (c.Collation().CharacterSet() == sql.CharacterSet_utf8mb4 || c.Collation().CharacterSet() == sql.CharacterSet_utf8mb3)
}

func isUTF8MB4(t sql.Type) bool {
	c, ok := t.(sql.TypeWithCollation)
	return ok && c.Collation().CharacterSet() == sql.CharacterSet_utf8mb4
}

// integers says what integers a type has.
var integers = map[string]struct {
	low  int64
	high uint64
}{
	"INT8": {math.MinInt8, math.MaxInt8}, "INT16": {math.MinInt16, math.MaxInt16}, "INT24": {-1 << 23, 1<<23 - 1},
	"INT32": {math.MinInt32, math.MaxInt32}, "INT64": {math.MinInt64, math.MaxInt64},
	"UINT8": {0, math.MaxUint8}, "UINT16": {0, math.MaxUint16}, "UINT24": {0, 1<<24 - 1}, "UINT32": {0, math.MaxUint32}, "UINT64": {0, math.MaxUint64},
}

func wholeNumbers(base querypb.Type) assign {
	has, ok := integers[base.String()]
	if !ok {
		return never
	}
	signed := sqltypes.IsSigned(base)
	return func(_ *sql.Context, l literal) (rowcodec.Datum, bool) {
		if l.kind != intLiteral {
			return rowcodec.Datum{}, false
		}
		if signed {
			n, err := strconv.ParseInt(bytesAsString(l.text), 10, 64)
			return rowcodec.Datum{Kind: rowcodec.Int, I: n}, err == nil && n >= has.low && (n < 0 || uint64(n) <= has.high)
		}
		n, err := strconv.ParseUint(bytesAsString(l.text), 10, 64)
		return rowcodec.Datum{Kind: rowcodec.Uint, U: n}, err == nil && n <= has.high
	}
}

// texts stores what is no longer than the column may hold.
func texts(typ sql.Type) assign {
	st, ok := typ.(types.StringType)
	if !ok {
		return never
	}
	byBytes, spaces := typ.Type() == sqltypes.Text, typ.Type() != sqltypes.Char
	narrow := st.CharacterSet() == sql.CharacterSet_utf8mb3
	chars, most := st.MaxCharacterLength(), st.MaxByteLength()
	return func(_ *sql.Context, l literal) (rowcodec.Datum, bool) {
		if l.kind != textLiteral || !utf8.Valid(l.text) || narrow && hasWide(l.text) {
			return rowcodec.Datum{}, false
		}
		if !spaces && len(l.text) > 0 && l.text[len(l.text)-1] == ' ' { // CHAR loses them when it is stored
			return rowcodec.Datum{}, false
		}
		if byBytes && int64(len(l.text)) > most || !byBytes && int64(len(l.text)) > chars && int64(utf8.RuneCount(l.text)) > chars {
			return rowcodec.Datum{}, false
		}
		return rowcodec.Datum{Kind: rowcodec.Text, B: clone(l.text)}, true
	}
}

// hasWide reports characters of more than three bytes.
func hasWide(b []byte) bool {
	for _, c := range b {
		if c >= 0xf0 {
			return true
		}
	}
	return false
}

func byteStrings(typ sql.Type) assign {
	st, ok := typ.(types.StringType)
	if !ok {
		return never
	}
	most := min(st.MaxByteLength(), st.MaxCharacterLength())
	return func(_ *sql.Context, l literal) (rowcodec.Datum, bool) {
		if l.kind != textLiteral || int64(len(l.text)) > most {
			return rowcodec.Datum{}, false
		}
		return rowcodec.Datum{Kind: rowcodec.Bytes, B: clone(l.text)}, true
	}
}

// clone is a copy that is not nil: what a statement came in is used again.
func clone(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }

// converted stores what is assigned without a warning or a note.
func converted(typ sql.Type, kind rowcodec.Kind) assign {
	t := exprType(typ, expr.Implicit)
	return func(ctx *sql.Context, l literal) (rowcodec.Datum, bool) {
		v, ok := l.constant()
		if !ok {
			return rowcodec.Datum{}, false
		}
		env, told := environment(ctx), false
		env.Change, env.Ignore, env.Note = true, false, nil
		env.Warn = func(uint16, string) { told = true }
		v, err := expr.Assign(env, v, &expr.Target{Type: t})
		if err != nil || told || env.Failed() != nil {
			return rowcodec.Datum{}, false
		}
		c, err := toHost(v, t)
		if err != nil {
			return rowcodec.Datum{}, false
		}
		d, err := toDatum(ctx, kind, c)
		return d, err == nil
	}
}

// constant is the literal as a value of an expression.
func (l literal) constant() (expr.Value, bool) {
	text := string(l.text)
	switch l.kind {
	case intLiteral:
		n, err := strconv.ParseInt(text, 10, 64)
		return expr.Int(n), err == nil
	case decimalLiteral:
		if strings.ContainsAny(text, "eE") || !strings.Contains(text, ".") {
			return expr.Null, false
		}
		d, s := number.ParseDecimal(text)
		return expr.Decimal(d), s.Clean()
	case floatLiteral:
		f, err := strconv.ParseFloat(text, 64)
		return expr.Float(f), err == nil
	case textLiteral:
		return expr.Text(text), utf8.ValidString(text)
	}
	return expr.Null, false
}

// keyOf returns how a constant that a column of a key is compared with is found in the key. Only constants of the column's own
// class are compared there; for others MySQL's rules of comparison decide, and the ordinary path knows them.
func (l *layout) keyOf(p *part) assign {
	typ := l.schema.Schema[p.at].Type
	f := l.assigner(p.at)
	switch base := typ.Type(); {
	case p.col.Prefix > 0:
		return never
	case p.col.Kind == rowcodec.Int && sqltypes.IsSigned(base), p.col.Kind == rowcodec.Uint && sqltypes.IsUnsigned(base):
	case p.col.Kind == rowcodec.Text && isUTF8MB4(typ):
		f = texts(typ) // spaces at the end count if the collation says so, in CHAR columns too
	case base == sqltypes.VarBinary:
	default:
		return never
	}
	return func(ctx *sql.Context, l literal) (rowcodec.Datum, bool) {
		if l.kind == nullLiteral {
			return rowcodec.Datum{}, false
		}
		return f(ctx, l)
	}
}
