package engine

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// describeType is how a column's type is kept in the catalog.
func describeType(t sql.Type) (catalog.Type, error) {
	out := catalog.Type{Name: t.Type().String()}
	if _, err := orderOf(t); err != nil {
		return out, err
	}
	switch t := t.(type) {
	case sql.NumberType:
		out.Display = t.DisplayWidth()
	case sql.DecimalType:
		out.Precision, out.Scale = int(t.Precision()), int(t.Scale())
	case types.StringType:
		out.Length, out.Collation = t.Length(), t.Collation().Name()
		if types.IsBinaryType(t) {
			out.Collation = ""
		}
	case sql.EnumType:
		out.Values, out.Collation = t.Values(), t.Collation().Name()
	case sql.SetType:
		out.Values, out.Collation = t.Values(), t.Collation().Name()
	case types.BitType:
		out.Length = int64(t.NumberOfBits())
	case sql.DatetimeType:
		out.Precision = t.Precision()
	case types.TimeType:
		out.Length = int64(timeDigits(t)) + 1 // 0 is a TIME of the versions that had six digits only
	case types.JsonType:
	default:
		if t.Type() != sqltypes.Year {
			return out, fmt.Errorf("columns of type %s are not supported", t)
		}
	}
	return out, nil
}

// columnType is the inverse of describeType.
func columnType(d catalog.Type) (sql.Type, error) {
	id, ok := query.Type_value[d.Name]
	if !ok {
		return nil, fmt.Errorf("the catalog names the type %s, which this version does not know", d.Name)
	}
	base := query.Type(id)
	collation := sql.Collation_binary
	if d.Collation != "" {
		var err error
		if collation, err = sql.ParseCollation("", d.Collation, false); err != nil {
			return nil, err
		}
	}
	switch {
	case sqltypes.IsIntegral(base) && base != sqltypes.Year, sqltypes.IsFloat(base):
		return types.CreateNumberTypeWithDisplayWidth(base, d.Display)
	case base == sqltypes.Decimal:
		return types.CreateColumnDecimalType(uint8(d.Precision), uint8(d.Scale))
	case base == sqltypes.Year:
		return types.Year, nil
	case base == sqltypes.Time:
		if d.Length == 0 {
			return timeType{fsp: 6}, nil
		}
		return timeType{fsp: int(d.Length) - 1}, nil
	case base == sqltypes.Date, base == sqltypes.Datetime, base == sqltypes.Timestamp:
		return types.CreateDatetimeType(base, d.Precision)
	case base == sqltypes.Binary, base == sqltypes.VarBinary, base == sqltypes.Blob:
		return types.CreateBinary(base, d.Length)
	case base == sqltypes.Char, base == sqltypes.VarChar, base == sqltypes.Text:
		return types.CreateString(base, d.Length, collation)
	case base == sqltypes.Bit:
		return types.CreateBitType(uint8(d.Length))
	case base == sqltypes.Enum:
		return types.CreateEnumType(d.Values, collation)
	case base == sqltypes.Set:
		return types.CreateSetType(d.Values, collation)
	case base == sqltypes.TypeJSON:
		return types.JSON, nil
	}
	return nil, fmt.Errorf("columns of type %s are not supported", d.Name)
}
