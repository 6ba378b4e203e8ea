package engine

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// kindOf says how values of a type are encoded.
func kindOf(t sql.Type) (rowcodec.Kind, error) {
	base := t.Type()
	switch {
	case base == sqltypes.Year, base == sqltypes.Enum, base == sqltypes.Set, base == sqltypes.Bit, sqltypes.IsUnsigned(base):
		return rowcodec.Uint, nil
	case sqltypes.IsSigned(base), base == sqltypes.Date, base == sqltypes.Datetime, base == sqltypes.Timestamp, base == sqltypes.Time:
		return rowcodec.Int, nil
	case sqltypes.IsFloat(base):
		return rowcodec.Float, nil
	case base == sqltypes.Decimal:
		return rowcodec.Decimal, nil
	case base == sqltypes.Char, base == sqltypes.VarChar, base == sqltypes.Text:
		return rowcodec.Text, nil
	case base == sqltypes.Binary, base == sqltypes.VarBinary, base == sqltypes.Blob, base == sqltypes.TypeJSON:
		return rowcodec.Bytes, nil
	}
	return 0, fmt.Errorf("columns of type %s are not supported", t)
}

// toDatum encodes a value that is of the column's type already.
func toDatum(ctx context.Context, kind rowcodec.Kind, v any) (rowcodec.Datum, error) {
	d := rowcodec.Datum{Kind: kind}
	switch v := v.(type) {
	case nil:
		return rowcodec.Datum{}, nil
	case int8:
		d.I = int64(v)
	case int16:
		d.I = int64(v)
	case int32:
		d.I = int64(v)
	case int64:
		d.I = v
	case int:
		d.I = int64(v)
	case uint8:
		d.U = uint64(v)
	case uint16:
		d.U = uint64(v)
	case uint32:
		d.U = uint64(v)
	case uint64:
		d.U = v
	case float32:
		d.F = float64(v)
	case float64:
		d.F = v
	case bool:
		if v {
			d.I = 1
		}
	case *apd.Decimal:
		d.B = []byte(v.Text('f'))
	case time.Time:
		d.I = v.UnixMicro()
	case types.Timespan:
		d.I = int64(v)
	case string:
		d.B = []byte(v)
	case []byte:
		d.B = v
	case sql.JSONWrapper:
		b, err := types.JsonToMySqlBytes(ctx, v)
		if err != nil {
			return d, err
		}
		d.B = b
	case sql.AnyWrapper:
		inner, err := v.UnwrapAny(ctx)
		if err != nil {
			return d, err
		}
		return toDatum(ctx, kind, inner)
	default:
		return d, fmt.Errorf("a value of Go type %T cannot be stored as %s", v, kind)
	}
	if kind == rowcodec.Uint && d.I > 0 { // a year is a signed number for the engine
		d.U, d.I = uint64(d.I), 0
	}
	return d, nil
}

// fromDatum returns the decoder of a type's values.
func fromDatum(t sql.Type) func(rowcodec.Datum) (any, error) {
	plain := func(f func(rowcodec.Datum) any) func(rowcodec.Datum) (any, error) {
		return func(d rowcodec.Datum) (any, error) { return f(d), nil }
	}
	switch t.Type() {
	case sqltypes.Int8:
		return plain(func(d rowcodec.Datum) any { return int8(d.I) })
	case sqltypes.Int16:
		return plain(func(d rowcodec.Datum) any { return int16(d.I) })
	case sqltypes.Int24, sqltypes.Int32:
		return plain(func(d rowcodec.Datum) any { return int32(d.I) })
	case sqltypes.Int64:
		return plain(func(d rowcodec.Datum) any { return d.I })
	case sqltypes.Uint8:
		return plain(func(d rowcodec.Datum) any { return uint8(d.U) })
	case sqltypes.Uint16, sqltypes.Enum:
		return plain(func(d rowcodec.Datum) any { return uint16(d.U) })
	case sqltypes.Uint24, sqltypes.Uint32:
		return plain(func(d rowcodec.Datum) any { return uint32(d.U) })
	case sqltypes.Uint64, sqltypes.Set, sqltypes.Bit:
		return plain(func(d rowcodec.Datum) any { return d.U })
	case sqltypes.Year:
		return plain(func(d rowcodec.Datum) any { return int16(d.U) })
	case sqltypes.Float32:
		return plain(func(d rowcodec.Datum) any { return float32(d.F) })
	case sqltypes.Float64:
		return plain(func(d rowcodec.Datum) any { return d.F })
	case sqltypes.Decimal:
		return func(d rowcodec.Datum) (any, error) {
			v, _, err := apd.NewFromString(string(d.B))
			return v, err
		}
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return plain(func(d rowcodec.Datum) any { return time.UnixMicro(d.I).UTC() })
	case sqltypes.Time:
		return plain(func(d rowcodec.Datum) any { return types.Timespan(d.I) })
	case sqltypes.TypeJSON:
		return plain(func(d rowcodec.Datum) any { return types.NewLazyJSONDocument(append([]byte{}, d.B...)) })
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text:
		// What was read is never written to, so the text need not be copied.
		return plain(func(d rowcodec.Datum) any { return unsafe.String(unsafe.SliceData(d.B), len(d.B)) })
	}
	return plain(func(d rowcodec.Datum) any { return append([]byte{}, d.B...) })
}

// orderOf is the collation of a type's texts; nil: its values are not texts. The error says that their order is not known here.
func orderOf(t sql.Type) (*collation.Collation, error) {
	ct, ok := t.(sql.TypeWithCollation)
	if !ok || types.IsBinaryType(t) {
		return nil, nil
	}
	if ct.Collation() == sql.Collation_Unspecified {
		return nil, nil
	}
	return collation.ByName(ct.Collation().Name())
}

// sortKey returns how texts of a type sort (rowcodec C1), or nil if as their bytes.
func sortKey(t sql.Type) (func(dst, text []byte) []byte, error) {
	c, err := orderOf(t)
	if err != nil || c == nil || c.Bytewise() {
		return nil, err
	}
	return c.AppendKeyBytes, nil
}

// sqlUint64 reads an AUTO_INCREMENT value; ok is false if it is not a whole number from 0 on.
func sqlUint64(ctx context.Context, v any) (n uint64, ok bool, err error) {
	c, in, err := types.Uint64.Convert(ctx, v)
	if err != nil {
		return 0, false, err
	}
	n, ok = c.(uint64)
	return n, ok && in == sql.InRange, nil
}
