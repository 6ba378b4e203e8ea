package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// fromHost is a value of go-mysql-server as package expr has it. What matters is what the value is; the type says what the
// value does not: the elements of an ENUM, whether a time is a date.
func fromHost(ctx context.Context, v any, t expr.Type) (expr.Value, error) {
	switch v := v.(type) {
	case nil:
		return expr.Null, nil
	case bool:
		return expr.Bool(v), nil
	case int8:
		return integer(int64(v), t), nil
	case int16:
		return integer(int64(v), t), nil
	case int32:
		return integer(int64(v), t), nil
	case int64:
		return integer(v, t), nil
	case int:
		return integer(int64(v), t), nil
	case uint8:
		return unsigned(uint64(v), t)
	case uint16:
		return unsigned(uint64(v), t)
	case uint32:
		return unsigned(uint64(v), t)
	case uint64:
		return unsigned(v, t)
	case uint:
		return unsigned(uint64(v), t)
	case float32:
		return expr.Single(v), nil
	case float64:
		return expr.Float(v), nil
	case *apd.Decimal:
		return expr.Decimal(v), nil
	case string:
		if t.Kind() == expr.KindBytes {
			return expr.Bytes(v), nil
		}
		return expr.Text(v), nil
	case []byte:
		switch t.Kind() {
		case expr.KindText:
			return expr.Text(string(v)), nil
		case expr.KindBit:
			return expr.Bit(string(v), bigEndian(v)), nil
		}
		return expr.Bytes(string(v)), nil
	case time.Time:
		return fromTime(v, t), nil
	case types.Timespan:
		return expr.Packed(expr.KindTime, int64(v), t.Scale), nil
	case sql.JSONWrapper:
		return fromDocument(ctx, v)
	case sql.AnyWrapper:
		inner, err := v.UnwrapAny(ctx)
		if err != nil {
			return expr.Null, err
		}
		return fromHost(ctx, inner, t)
	}
	if t.Kind() == expr.KindJSON {
		return fromDocument(ctx, types.JSONDocument{Val: v})
	}
	return expr.Other(v), nil
}

func integer(n int64, t expr.Type) expr.Value {
	if t.Name == expr.YearType {
		return expr.Year(uint64(n))
	}
	if t.Kind() == expr.KindUint {
		return expr.Uint(uint64(n))
	}
	return expr.Int(n)
}

func unsigned(n uint64, t expr.Type) (expr.Value, error) {
	switch t.Name {
	case expr.EnumType:
		if n == 0 {
			return expr.Enum(0, ""), nil
		}
		if n > uint64(len(t.Elements)) {
			return expr.Null, fmt.Errorf("%d is no element of an ENUM of %d", n, len(t.Elements))
		}
		return expr.Enum(n, t.Elements[n-1]), nil
	case expr.SetType:
		return expr.Set(n, setText(n, t.Elements)), nil
	case expr.BitType:
		return expr.Bit(bitText(n, t.Length), n), nil
	case expr.YearType:
		return expr.Year(n), nil
	}
	if t.Kind() == expr.KindInt {
		return expr.Int(int64(n)), nil
	}
	return expr.Uint(n), nil
}

func setText(bits uint64, elements []string) string {
	out := ""
	for i, e := range elements {
		if bits>>i&1 == 1 {
			if out != "" {
				out += ","
			}
			out += e
		}
	}
	return out
}

// bitText is a BIT of so many bits as a binary string.
func bitText(n uint64, bits int) string {
	b := make([]byte, (max(bits, 1)+7)/8)
	for i := range b {
		b[len(b)-1-i] = byte(n >> (8 * i))
	}
	return string(b)
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

func fromTime(v time.Time, t expr.Type) expr.Value {
	kind, fsp := expr.KindDatetime, t.Scale
	if t.Name == expr.DateType {
		kind, fsp = expr.KindDate, 0
	}
	if v.Equal(types.ZeroTime) {
		return expr.Packed(kind, 0, fsp)
	}
	d, _ := temporal.FromTime(v)
	if kind == expr.KindDate {
		d = d.Date()
	}
	return expr.Packed(kind, int64(d), fsp)
}

// toHost is a value as go-mysql-server has it, as one of hostType(t).
func toHost(v expr.Value, t expr.Type) (any, error) {
	switch v.Kind() {
	case expr.KindNull:
		return nil, nil
	case expr.KindInt, expr.KindUint:
		return hostInteger(v, t), nil
	case expr.KindFloat:
		if t.Name == expr.FloatType {
			return float32(v.RawFloat()), nil
		}
		return v.RawFloat(), nil
	case expr.KindDecimal:
		return v.Shown(), nil
	case expr.KindText:
		return v.RawText(), nil
	case expr.KindBytes:
		return []byte(v.RawText()), nil
	case expr.KindBit:
		if t.Name == expr.BitType {
			return v.RawUint(), nil
		}
		return []byte(v.RawText()), nil
	case expr.KindEnum:
		if t.Name == expr.EnumType {
			return uint16(v.RawUint()), nil
		}
		return v.RawText(), nil
	case expr.KindSet:
		if t.Name == expr.SetType {
			return v.RawUint(), nil
		}
		return v.RawText(), nil
	case expr.KindDate, expr.KindDatetime:
		d := temporal.DateTime(v.RawInt())
		if d == 0 {
			return types.ZeroTime, nil
		}
		out, ok := d.Time(time.UTC)
		if !ok {
			return nil, expr.Errorf(1235, "42000", "This version of Longitude doesn't yet support dates with zero parts ('%s') in results", d)
		}
		return out, nil
	case expr.KindTime:
		return types.Timespan(v.RawInt()), nil
	case expr.KindJSON:
		s, err := expr.ToText(nil, v)
		return types.NewLazyJSONDocument([]byte(s)), err
	}
	return v.Raw(), nil
}

// hostInteger is an integer of the width of its type.
func hostInteger(v expr.Value, t expr.Type) any {
	n := v.RawInt()
	switch t.Name {
	case expr.TinyInt:
		if t.Unsigned {
			return uint8(n)
		}
		return int8(n)
	case expr.SmallInt:
		if t.Unsigned {
			return uint16(n)
		}
		return int16(n)
	case expr.MediumInt, expr.IntType:
		if t.Unsigned {
			return uint32(n)
		}
		return int32(n)
	case expr.YearType:
		return int16(n)
	}
	if t.Unsigned {
		return uint64(n)
	}
	return n
}

// fromDocument is a JSON document of go-mysql-server.
func fromDocument(ctx context.Context, w sql.JSONWrapper) (expr.Value, error) {
	b, err := types.JsonToMySqlBytes(ctx, w)
	return expr.StoredJSON(string(b)), err
}
