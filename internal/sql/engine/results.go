package engine

import (
	"strconv"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// bytesAsString is a text for a function that does not keep it.
func bytesAsString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// resultColumn is a column of a compiled SELECT.
type resultColumn struct {
	at   int
	typ  sql.Type
	wire querypb.Type
	kind rowcodec.Kind
	// direct: whole numbers, and texts and bytes that go out as they are kept, need no detour by the engine's values.
	direct bool
	width  uint8 // of a whole number in the binary protocol
}

func (l *layout) resultColumn(at int) resultColumn {
	typ := l.schema.Schema[at].Type
	c := resultColumn{at: at, typ: typ, wire: typ.Type(), kind: l.columns[at].Kind}
	switch {
	case c.wire == sqltypes.Year, c.wire == sqltypes.Bit, c.wire == sqltypes.Enum, c.wire == sqltypes.Set:
	case sqltypes.IsIntegral(c.wire):
		c.direct, c.width = integers[c.wire.String()].high != 0, binaryWidth(c.wire)
	case c.kind == rowcodec.Text:
		c.direct = isUTF8MB4(typ)
	case c.wire == sqltypes.VarBinary, c.wire == sqltypes.Blob:
		c.direct = true
	}
	return c
}

// value is a datum as it is sent. Digits are put behind buf, which is returned.
func (c *resultColumn) value(ctx *sql.Context, l *layout, d rowcodec.Datum, plain bool, buf []byte) (sqltypes.Value, []byte, error) {
	if d.IsNull() {
		return sqltypes.NULL, buf, nil
	}
	if c.direct {
		switch c.kind {
		case rowcodec.Int:
			from := len(buf)
			buf = strconv.AppendInt(buf, d.I, 10)
			return sqltypes.MakeTrusted(c.wire, buf[from:len(buf):len(buf)]), buf, nil
		case rowcodec.Uint:
			from := len(buf)
			buf = strconv.AppendUint(buf, d.U, 10)
			return sqltypes.MakeTrusted(c.wire, buf[from:len(buf):len(buf)]), buf, nil
		case rowcodec.Bytes:
			return sqltypes.MakeTrusted(c.wire, d.B), buf, nil
		case rowcodec.Text:
			if plain {
				return sqltypes.MakeTrusted(c.wire, d.B), buf, nil
			}
		}
	}
	v, err := l.decode[c.at](d)
	if err != nil {
		return sqltypes.Value{}, buf, err
	}
	out, err := wireValue(ctx, c.typ, v)
	return out, buf, err
}

// wireValue is a value as it is sent. Approximate numbers are written as MySQL writes them (1e20, not 1e+20).
func wireValue(ctx *sql.Context, t sql.Type, v any) (sqltypes.Value, error) {
	switch v := v.(type) {
	case float64:
		if t.Type() == sqltypes.Float64 {
			return sqltypes.MakeTrusted(sqltypes.Float64, []byte(number.FormatDouble(v))), nil
		}
	case float32:
		if t.Type() == sqltypes.Float32 {
			return sqltypes.MakeTrusted(sqltypes.Float32, []byte(number.FormatFloat(v))), nil
		}
	case *apd.Decimal:
		// The type that go-mysql-server gives to decimals of which it knows no digits: 30 of them are not meant.
		if t == sql.Type(types.InternalDecimalType) {
			return sqltypes.MakeTrusted(sqltypes.Decimal, []byte(number.Text(number.Reduce(v)))), nil
		}
	}
	return t.SQL(ctx, nil, v)
}

// plainResults reports whether texts are sent as they are kept.
func plainResults(cs sql.CharacterSetID) bool {
	return cs == sql.CharacterSet_Unspecified || cs == sql.CharacterSet_binary || cs == sql.CharacterSet_utf8mb4
}
