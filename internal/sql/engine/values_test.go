package engine

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

func drawText(r *rand.Rand) string {
	alphabet := []string{"a", "A", "b", "B", "z", "ä", "Ä", "é", "e", "ß", "s", "ø", "o", " ", "-", "0", "9", "世", "я", "Я", "\U0001f600", "ı", "i", "I"}
	var s strings.Builder
	for range r.Intn(5) {
		s.WriteString(alphabet[r.Intn(len(alphabet))])
	}
	return s.String()
}

// Key order is the order that go-mysql-server compares by, for every type, and values come back as they were.
func TestKeysOrderAsTheEngineCompares(t *testing.T) {
	ctx := sql.NewEmptyContext()
	number := func(r *rand.Rand) any {
		return []any{r.Intn(300) - 150, r.Int63() - r.Int63(), r.NormFloat64() * 1000, 0}[r.Intn(4)]
	}
	words := func(r *rand.Rand) any { return drawText(r) }
	date := func(r *rand.Rand) any {
		return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", 1000+r.Intn(9000), 1+r.Intn(12), 1+r.Intn(28), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1_000_000))
	}
	var cases []struct {
		typ  sql.Type
		draw func(*rand.Rand) any
	}
	add := func(typ sql.Type, draw func(*rand.Rand) any) {
		cases = append(cases, struct {
			typ  sql.Type
			draw func(*rand.Rand) any
		}{typ, draw})
	}
	for _, typ := range []sql.Type{types.Int8, types.Uint8, types.Int16, types.Uint16, types.Int24, types.Uint24, types.Int32, types.Uint32, types.Int64, types.Uint64,
		types.Float32, types.Float64, types.MustCreateColumnDecimalType(20, 4), types.MustCreateColumnDecimalType(10, 0), types.MustCreateColumnDecimalType(30, 30)} {
		add(typ, number)
	}
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin", "utf8mb4_0900_bin", "utf8mb3_general_ci",
		"utf8mb4_0900_as_cs", "utf8mb4_unicode_520_ci", "utf8mb3_bin"} {
		c, err := sql.ParseCollation("", name, false)
		if err != nil {
			t.Fatal(err)
		}
		add(types.MustCreateString(sqltypes.VarChar, 50, c), words)
		add(types.MustCreateString(sqltypes.Text, 1000, c), words)
	}
	add(types.MustCreateBinary(sqltypes.VarBinary, 50), words)
	add(types.MustCreateBinary(sqltypes.Binary, 20), words)
	add(types.MustCreateDatetimeType(sqltypes.Datetime, 6), date)
	add(types.MustCreateDatetimeType(sqltypes.Datetime, 0), date)
	add(types.MustCreateDatetimeType(sqltypes.Date, 0), date)
	add(types.MustCreateDatetimeType(sqltypes.Timestamp, 6), func(r *rand.Rand) any { return fmt.Sprint(1980+r.Intn(50)) + date(r).(string)[4:] })
	add(types.Time, func(r *rand.Rand) any {
		return fmt.Sprintf("%d:%02d:%02d.%06d", r.Intn(1600)-800, r.Intn(60), r.Intn(60), r.Intn(3))
	})
	add(types.Year, func(r *rand.Rand) any { return 1901 + r.Intn(255) })
	add(types.MustCreateEnumType([]string{"a", "b", "c"}, defaultCollation), func(r *rand.Rand) any { return []string{"a", "b", "c"}[r.Intn(3)] })
	add(types.MustCreateSetType([]string{"a", "b", "c"}, defaultCollation), func(r *rand.Rand) any { return []string{"", "a", "a,c", "b,c"}[r.Intn(4)] })
	add(types.MustCreateBitType(20), func(r *rand.Rand) any { return r.Intn(1 << 20) })

	r := rand.New(rand.NewSource(3))
	for _, c := range cases {
		kind, err := kindOf(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		col := rowcodec.Column{ID: 1, Kind: kind}
		if kind == rowcodec.Text {
			if col.SortKey, err = sortKey(c.typ); err != nil {
				t.Fatal(err)
			}
		}
		if d, ok := c.typ.(sql.DecimalType); ok {
			col.Scale = int(d.Scale())
		}
		draw := func() (any, rowcodec.Datum, []byte, bool) {
			if r.Intn(20) == 0 {
				return nil, rowcodec.Datum{}, []byte{0}, true
			}
			v, in, err := c.typ.Convert(ctx, c.draw(r))
			if err != nil || in != sql.InRange {
				return nil, rowcodec.Datum{}, nil, false
			}
			d, err := toDatum(ctx, kind, v)
			if err != nil {
				t.Fatalf("%s: %v", c.typ, err)
			}
			k, err := rowcodec.AppendKey(nil, &col, d)
			if err != nil {
				t.Fatalf("%s: %v: %v", c.typ, v, err)
			}
			return v, d, k, true
		}
		compared := 0
		for range 4000 {
			a, da, ka, okA := draw()
			b, _, kb, okB := draw()
			if !okA || !okB {
				continue
			}
			compared++
			want := 0
			switch {
			case a == nil || b == nil: // NULLs first; the engine's comparison puts them last
				if a != nil {
					want = 1
				} else if b != nil {
					want = -1
				}
			default:
				if order, _ := orderOf(c.typ); order != nil {
					want = order.Compare(fmt.Sprint(a), fmt.Sprint(b)) // the engine's own comparison knows neither expansions nor PAD SPACE
				} else if want, err = c.typ.Compare(context.Background(), a, b); err != nil {
					t.Fatal(err)
				}
			}
			if got := bytes.Compare(ka, kb); got != want {
				t.Fatalf("%s: %v and %v compare as %d, their keys %x and %x as %d", c.typ, a, b, want, ka, kb, got)
			}
			if a == nil {
				continue
			}
			value := rowcodec.AppendValue(rowcodec.BeginValue(nil), &col, da)
			rd, err := rowcodec.ReadValue(value)
			if err != nil {
				t.Fatal(err)
			}
			_, d, _, err := rd.Next()
			if err != nil {
				t.Fatal(err)
			}
			if d, err = d.As(&col); err != nil {
				t.Fatal(err)
			}
			back, err := fromDatum(c.typ)(d)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := c.typ.Compare(context.Background(), a, back); err != nil || n != 0 || fmt.Sprintf("%T", a) != fmt.Sprintf("%T", back) {
				t.Fatalf("%s: %v (%T) came back as %v (%T), %v", c.typ, a, a, back, back, err)
			}
		}
		if compared < 100 {
			t.Errorf("%s: only %d values were comparable", c.typ, compared)
		}
		d, err := describeType(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := columnType(d); err != nil || !again.Equals(c.typ) {
			t.Errorf("%s is described as %+v, which is %v (%v)", c.typ, d, again, err)
		}
	}
}
