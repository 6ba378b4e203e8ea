package engine

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// A value that is read straight from what is kept is the one that the way by go-mysql-server's values gives.
func TestDatumReaders(t *testing.T) {
	ctx := sql.NewEmptyContext()
	enum := types.MustCreateEnumType([]string{"a", "b", ""}, sql.Collation_utf8mb4_0900_ai_ci)
	set := types.MustCreateSetType([]string{"x", "y", "z"}, sql.Collation_utf8mb4_0900_ai_ci)
	type typed struct {
		typ    sql.Type
		values []any
	}
	cases := []typed{
		{types.Int8, []any{-128, 127, 0}}, {types.Int16, []any{-32768, 1}}, {types.Int24, []any{-8388608, 8388607}}, {types.Int32, []any{-1 << 31, 1<<31 - 1}},
		{types.Int64, []any{-1 << 63, 1<<63 - 1}}, {types.Uint8, []any{255}}, {types.Uint16, []any{65535}}, {types.Uint24, []any{1<<24 - 1}}, {types.Uint32, []any{1<<32 - 1}},
		{types.Uint64, []any{uint64(1<<64 - 1), 0}}, {types.Year, []any{1901, 2155, 0, 2024}}, {types.Float32, []any{0.1, -3.5e10, 0.0}}, {types.Float64, []any{0.1, 1e300, math.Copysign(0, -1)}},
		{types.MustCreateColumnDecimalType(10, 2), []any{"12.30", "-0.05", "0.00", "99999999.99", "-1.00"}},
		{types.MustCreateColumnDecimalType(65, 30), []any{"12345678901234567890.123456789012345678901234567890", "-1.000000000000000000000000000001"}},
		{types.MustCreateColumnDecimalType(18, 0), []any{"123456789012345678", "-123456789012345678", "0"}},
		{types.Date, []any{"0000-00-00", "0001-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "9999-12-31"}},
		{types.MustCreateDatetimeType(sqltypes.Datetime, 6), []any{"0000-00-00 00:00:00", "0001-02-03 04:05:06.5", "1969-12-31 23:59:59.999999",
			"1970-01-01 00:00:00", "2000-02-29 12:00:00.000001", "9999-12-31 23:59:59.999999"}},
		{types.MustCreateDatetimeType(sqltypes.Timestamp, 0), []any{"1970-01-01 00:00:01", "2038-01-19 03:14:07"}},
		{timeType{fsp: 3}, []any{"-838:59:59", "00:00:00.125", "11:12:13"}},
		{types.MustCreateStringWithDefaults(sqltypes.VarChar, 20), []any{"", "abc", "ß ü"}}, {types.Text, []any{"long"}},
		{types.MustCreateBinary(sqltypes.VarBinary, 20), []any{"\x00\xff", ""}}, {types.Blob, []any{"b"}},
		{types.MustCreateBitType(1), []any{1, 0}}, {types.MustCreateBitType(64), []any{uint64(1<<64 - 1)}}, {types.MustCreateBitType(12), []any{0xabc}},
		{enum, []any{"a", "b", ""}}, {set, []any{"", "x,z", "y"}}, {types.JSON, []any{`{"a": [1, 2]}`, `"t"`, `null`}},
	}
	for _, c := range cases {
		typ, values := c.typ, c.values
		et := exprType(typ, expr.Implicit)
		kind, err := kindOf(typ)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range values {
			v, _, err := typ.Convert(ctx, in)
			if err != nil {
				t.Fatalf("%s: %v: %v", typ, in, err)
			}
			d, err := toDatum(ctx, kind, v)
			if err != nil {
				t.Fatalf("%s: %v: %v", typ, in, err)
			}
			there, err := fromDatum(typ)(d)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fromHost(ctx, there, et)
			if err != nil {
				t.Fatal(err)
			}
			got, err := datumReaderOf(et, kind)(d)
			if err != nil || shown(got) != shown(want) || got.Kind() != et.Kind() {
				t.Errorf("%s: %v is read as %s (kind %d), by the detour as %s (kind %d): %v", typ, in, shown(got), got.Kind(), shown(want), want.Kind(), err)
			}
			if kind == rowcodec.Bytes && et.Kind() == expr.KindJSON {
				continue // no key
			}
			back, how, err := keyDatum(got, &rowcodec.Column{Kind: kind})
			if err != nil || how != exactly || !reflect.DeepEqual(normal(back), normal(d)) {
				t.Errorf("%s: %v as a key is %v, want %v (%d, %v)", typ, in, back, d, how, err)
			}
		}
	}
}

// normal is a datum whose empty bytes are nil.
func normal(d rowcodec.Datum) rowcodec.Datum {
	if len(d.B) == 0 {
		d.B = nil
	}
	return d
}

func shown(v expr.Value) string {
	text, err := expr.ToText(nil, v)
	digits := v.Fsp()
	if v.Kind() == expr.KindText || v.Kind() == expr.KindBytes { // it says where a text is from
		digits = 0
	}
	return fmt.Sprintf("%d/%d/%v/%q/%v", v.Kind(), digits, v.RawUint(), text, err)
}

// Dates that no row has are bounds nevertheless: the next day that there is stands in for them.
func TestKeptTime(t *testing.T) {
	for in, want := range map[string]string{"2024-00-00": "2024-01-01", "2024-02-00": "2024-02-01", "2023-02-29": "2023-03-01", "2023-12-00": "2023-12-01"} {
		var y, m, d int
		if _, err := fmt.Sscanf(in, "%d-%d-%d", &y, &m, &d); err != nil {
			t.Fatal(err)
		}
		micros, how := keptTime(temporal.Date(y, m, d))
		if got := string(temporal.AppendDate(nil, packedTime(micros, expr.KindDate))); got != want || how != above {
			t.Errorf("%s is kept as %s (%d), want %s", in, got, how, want)
		}
	}
}
