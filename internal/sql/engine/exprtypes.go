package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// exprType is a type of go-mysql-server as package expr has it. coerc is how firmly a text of it has its collation.
func exprType(t sql.Type, coerc expr.Coercibility) expr.Type {
	if t == nil {
		return expr.TNull
	}
	out := expr.Type{Collation: expr.BinaryCollation, Coerc: expr.Numeric, Length: -1}
	base := t.Type()
	number := func(n expr.Name, width int) expr.Type {
		out.Name, out.Length, out.Unsigned = n, width, sqltypes.IsUnsigned(base)
		if nt, ok := t.(sql.NumberType); ok && nt.DisplayWidth() > 0 {
			out.Length = nt.DisplayWidth()
		}
		return out
	}
	switch base {
	case sqltypes.Null:
		return expr.TNull
	case sqltypes.Int8, sqltypes.Uint8:
		return number(expr.TinyInt, 4)
	case sqltypes.Int16, sqltypes.Uint16:
		return number(expr.SmallInt, 6)
	case sqltypes.Int24, sqltypes.Uint24:
		return number(expr.MediumInt, 9)
	case sqltypes.Int32, sqltypes.Uint32:
		return number(expr.IntType, 11)
	case sqltypes.Int64, sqltypes.Uint64:
		return number(expr.BigInt, 20)
	case sqltypes.Year:
		out.Name, out.Length, out.Unsigned = expr.YearType, 4, true
	case sqltypes.Float32:
		out.Name, out.Length, out.Scale = expr.FloatType, 12, expr.NotFixed
	case sqltypes.Float64:
		out.Name, out.Length, out.Scale = expr.DoubleType, 22, expr.NotFixed
	case sqltypes.Decimal:
		out.Name = expr.DecimalType
		out.Length, out.Scale = 65, 30
		if d, ok := t.(sql.DecimalType); ok {
			out.Length, out.Scale = int(d.Precision()), int(d.Scale())
		}
	case sqltypes.Bit:
		out.Name, out.Length, out.Unsigned, out.Coerc = expr.BitType, 64, true, expr.Implicit
		if b, ok := t.(types.BitType); ok {
			out.Length = int(b.NumberOfBits())
		}
	case sqltypes.Date:
		out.Name, out.Length = expr.DateType, 10
	case sqltypes.Datetime, sqltypes.Timestamp:
		out.Name, out.Length = expr.DatetimeType, 19
		if base == sqltypes.Timestamp {
			out.Name = expr.TimestampType
		}
		if d, ok := t.(sql.DatetimeType); ok {
			out.Scale = d.Precision()
		}
	case sqltypes.Time:
		out.Name, out.Length, out.Scale = expr.TimeType, 10, timeDigits(t)
	case sqltypes.TypeJSON:
		out = expr.TJSON
	case sqltypes.Enum, sqltypes.Set:
		out.Coerc = coerc
		switch e := t.(type) {
		case sql.EnumType:
			out.Name, out.Elements, out.Collation = expr.EnumType, e.Values(), uint16(e.Collation())
		case sql.SetType:
			out.Name, out.Elements, out.Collation = expr.SetType, e.Values(), uint16(e.Collation())
		}
		for _, e := range out.Elements {
			if out.Name == expr.SetType {
				out.Length += len([]rune(e)) + 1
			} else {
				out.Length = max(out.Length, len([]rune(e)))
			}
		}
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.Binary, sqltypes.VarBinary, sqltypes.Blob:
		out.Coerc = coerc
		collation := sql.Collation_Default
		if s, ok := t.(sql.TypeWithCollation); ok {
			collation = s.Collation()
		}
		if collation == sql.Collation_Unspecified { // a column of a table that is being made
			collation = defaultCollation
		}
		if s, ok := t.(sql.StringType); ok {
			out.Length = int(s.MaxCharacterLength())
		}
		text := collation != sql.Collation_binary && !types.IsBinaryType(t)
		switch base {
		case sqltypes.Char, sqltypes.Binary:
			out.Name = expr.Char
			if !text {
				out.Name = expr.Binary
			}
		case sqltypes.VarChar, sqltypes.VarBinary:
			out.Name = expr.Varchar
			if !text {
				out.Name = expr.Varbinary
			}
		default:
			out.Name = expr.TextType
			if !text {
				out.Name = expr.Blob
			}
		}
		if text {
			out.Collation = uint16(collation)
		}
	default:
		out.Name = expr.OtherType
	}
	return out
}

// hostType is a type of package expr as go-mysql-server has it: that of what a scalar's Eval gives.
func hostType(t expr.Type) sql.Type {
	switch t.Name {
	case expr.NullType:
		return types.Null
	case expr.TinyInt:
		return pick(t.Unsigned, types.Uint8, types.Int8)
	case expr.SmallInt:
		return pick(t.Unsigned, types.Uint16, types.Int16)
	case expr.MediumInt:
		return pick(t.Unsigned, types.Uint24, types.Int24)
	case expr.IntType:
		return pick(t.Unsigned, types.Uint32, types.Int32)
	case expr.BigInt:
		return pick(t.Unsigned, types.Uint64, types.Int64)
	case expr.YearType:
		return types.Year
	case expr.FloatType:
		return types.Float32
	case expr.DoubleType:
		return types.Float64
	case expr.DecimalType:
		if t.Length == 65 && t.Scale == 30 { // see wireValue
			return types.InternalDecimalType
		}
		if d, err := types.CreateDecimalType(uint8(min(t.Length, 65)), uint8(min(t.Scale, 30))); err == nil {
			return d
		}
		return types.InternalDecimalType
	case expr.BitType:
		if b, err := types.CreateBitType(uint8(min(max(t.Length, 1), 64))); err == nil {
			return b
		}
	case expr.DateType:
		return types.Date
	case expr.DatetimeType:
		return types.MustCreateDatetimeType(sqltypes.Datetime, min(t.Scale, 6))
	case expr.TimestampType:
		return types.MustCreateDatetimeType(sqltypes.Timestamp, min(t.Scale, 6))
	case expr.TimeType:
		return timeType{fsp: min(t.Scale, 6)}
	case expr.JSONType:
		return types.JSON
	case expr.EnumType:
		if e, err := types.CreateEnumType(t.Elements, sql.CollationID(t.Collation)); err == nil {
			return e
		}
	case expr.SetType:
		if e, err := types.CreateSetType(t.Elements, sql.CollationID(t.Collation)); err == nil {
			return e
		}
	case expr.Char, expr.Varchar, expr.TextType:
		return stringType(t, sqltypes.VarChar, sqltypes.Text, sql.CollationID(t.Collation), 16383)
	case expr.Binary, expr.Varbinary, expr.Blob:
		return stringType(t, sqltypes.VarBinary, sqltypes.Blob, sql.Collation_binary, 65535)
	}
	return types.LongText
}

// resultType is the type of what an expression gives. That of a CAST to DECIMAL(65,30) is meant as it is written (see wireValue).
func resultType(e sql.Expression, t expr.Type) sql.Type {
	if s, ok := e.(*scalar); ok && s.name == "cast" && t.Name == expr.DecimalType {
		if d, err := types.CreateDecimalType(uint8(t.Length), uint8(t.Scale)); err == nil {
			return d
		}
	}
	return hostType(t)
}

func pick(unsigned bool, u, s sql.Type) sql.Type {
	if unsigned {
		return u
	}
	return s
}

// stringType is a string type of the length that an expression may have.
func stringType(t expr.Type, short, long query.Type, c sql.CollationID, most int) sql.Type {
	if t.Length >= 0 && t.Length <= most && t.Name != expr.TextType && t.Name != expr.Blob {
		if s, err := types.CreateString(short, int64(max(t.Length, 1)), c); err == nil {
			return s
		}
	}
	if long == sqltypes.Blob {
		return types.LongBlob
	}
	return types.CreateLongText(c)
}
