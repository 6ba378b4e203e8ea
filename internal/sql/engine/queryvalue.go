package engine

import (
	"fmt"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// datumReader makes a value of what is kept of a column. The datum is not NULL. Values keep the memory of what was read, which is
// never written to.
type datumReader func(rowcodec.Datum) (expr.Value, error)

// datumReaderOf is how the values of a column of a type are read: as fromHost reads what fromDatum gives, without the detour.
func datumReaderOf(t expr.Type, kind rowcodec.Kind) datumReader {
	plain := func(f func(rowcodec.Datum) expr.Value) datumReader {
		return func(d rowcodec.Datum) (expr.Value, error) { return f(d), nil }
	}
	from := expr.Stored
	if t.Name == expr.TextType || t.Name == expr.Blob {
		from = expr.Silent
	}
	switch t.Kind() {
	case expr.KindInt:
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Int(d.I) })
	case expr.KindUint:
		if t.Name == expr.YearType {
			return plain(func(d rowcodec.Datum) expr.Value { return expr.Year(d.U) })
		}
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Uint(d.U) })
	case expr.KindFloat:
		if t.Name == expr.FloatType {
			return plain(func(d rowcodec.Datum) expr.Value { return expr.Single(float32(d.F)) })
		}
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Float(d.F) })
	case expr.KindDecimal:
		return readDecimal
	case expr.KindText:
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Text(bytesAsString(d.B)).From(from) })
	case expr.KindBytes:
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Bytes(bytesAsString(d.B)).From(from) })
	case expr.KindBit:
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Bit(bitText(d.U, t.Length), d.U) })
	case expr.KindEnum, expr.KindSet:
		return func(d rowcodec.Datum) (expr.Value, error) { return unsigned(d.U, t) }
	case expr.KindDate, expr.KindDatetime:
		k, fsp := t.Kind(), t.Scale
		if k == expr.KindDate {
			fsp = 0
		}
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Packed(k, int64(packedTime(d.I, k)), fsp) })
	case expr.KindTime:
		return plain(func(d rowcodec.Datum) expr.Value { return expr.Packed(expr.KindTime, d.I, t.Scale) })
	case expr.KindJSON:
		return plain(func(d rowcodec.Datum) expr.Value {
			return expr.StoredJSON(string(d.B))
		})
	}
	return func(rowcodec.Datum) (expr.Value, error) {
		return expr.Null, fmt.Errorf("values of kind %s cannot be read as a type that queries know", kind)
	}
}

// readDecimal reads a number that is kept as a text like -12.50. Most have so few digits that they need no parser.
func readDecimal(d rowcodec.Datum) (expr.Value, error) {
	if len(d.B) <= 18 {
		n, scale, negative, point := int64(0), int32(0), false, false
		for i, c := range d.B {
			switch {
			case c >= '0' && c <= '9':
				n = 10*n + int64(c-'0')
				if point {
					scale++
				}
			case c == '.' && !point:
				point = true
			case c == '-' && i == 0:
				negative = true
			default:
				return parseDecimal(d.B)
			}
		}
		out := apd.New(n, -scale)
		out.Negative = negative && n != 0
		return expr.Decimal(out), nil
	}
	return parseDecimal(d.B)
}

func parseDecimal(b []byte) (expr.Value, error) {
	v, _, err := apd.NewFromString(string(b))
	if err != nil {
		return expr.Null, err
	}
	return expr.Decimal(v), nil
}

// zeroMicros is how '0000-00-00' is kept.
var zeroMicros = types.ZeroTime.UnixMicro()

const (
	microsOfDay = int64(24 * 60 * 60 * 1_000_000)
	epochDay    = 719528 // the number of 1970-01-01 (temporal.DayNumber)
)

// packedTime is a date or a time that is kept as microseconds since 1970.
func packedTime(micros int64, k expr.Kind) temporal.DateTime {
	if micros == zeroMicros {
		return 0
	}
	day, clock := micros/microsOfDay, micros%microsOfDay
	if clock < 0 {
		day, clock = day-1, clock+microsOfDay
	}
	d := temporal.FromDayNumber(int(day) + epochDay)
	if d == 0 || day+epochDay < 366 { // before what days are counted from
		d, _ = temporal.FromTime(time.UnixMicro(micros).UTC())
		if k == expr.KindDate {
			d = d.Date()
		}
		return d
	}
	if k == expr.KindDate || clock == 0 {
		return d
	}
	s := int(clock / 1_000_000)
	return temporal.MakeDateTime(d.Year(), d.Month(), d.Day(), s/3600, s/60%60, s%60, int(clock%1_000_000))
}

// fit is how the datum of a key stands to the value that it was made of.
type fit uint8

const (
	exactly fit = iota
	above       // the datum is the next one above the value, which no row can have
)

// keyDatum is a value of a column's type as it stands in a key. The error is ours: the value is not of the column's type.
func keyDatum(v expr.Value, c *rowcodec.Column) (d rowcodec.Datum, how fit, err error) {
	d.Kind = c.Kind
	wrong := func() (rowcodec.Datum, fit, error) {
		return d, exactly, fmt.Errorf("a value of kind %d is no key of a column of kind %s", v.Kind(), c.Kind)
	}
	switch v.Kind() {
	case expr.KindNull:
		return rowcodec.Datum{}, exactly, nil
	case expr.KindInt, expr.KindTime:
		if c.Kind != rowcodec.Int {
			return wrong()
		}
		d.I = v.RawInt()
	case expr.KindUint, expr.KindBit, expr.KindEnum, expr.KindSet:
		if c.Kind != rowcodec.Uint {
			return wrong()
		}
		d.U = v.RawUint()
	case expr.KindFloat:
		if c.Kind != rowcodec.Float {
			return wrong()
		}
		d.F = v.RawFloat()
	case expr.KindDecimal:
		if c.Kind != rowcodec.Decimal {
			return wrong()
		}
		d.B = []byte(number.Text(v.RawDecimal()))
	case expr.KindText, expr.KindBytes:
		if c.Kind != rowcodec.Text && c.Kind != rowcodec.Bytes {
			return wrong()
		}
		d.B = []byte(v.RawText())
	case expr.KindDate, expr.KindDatetime:
		if c.Kind != rowcodec.Int {
			return wrong()
		}
		d.I, how = keptTime(temporal.DateTime(v.RawInt()))
	default:
		return wrong()
	}
	return d, how, nil
}

// keptTime is a date or a time as it is kept. Rows hold no dates with a month or day of zero, but for '0000-00-00', nor such as
// 31 February: above then, and the beginning of the next day that there is.
func keptTime(d temporal.DateTime) (micros int64, how fit) {
	if d == 0 {
		return zeroMicros, exactly
	}
	if t, ok := d.Time(time.UTC); ok {
		return t.UnixMicro(), exactly
	}
	year, month, day := d.Year(), d.Month(), d.Day()
	switch {
	case month == 0:
		month, day = 1, 1
	case day == 0:
		day = 1
	default: // there are not so many days in the month
		month, day = month+1, 1
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).UnixMicro(), above
}
