package engine

import (
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// queryRowSender gives the rows of a query to the output.
type queryRowSender struct {
	x       *execution
	ctx     *sql.Context
	columns []wireColumn
	buf     []byte
}

// wireColumn is how the values of a column are sent.
type wireColumn struct {
	t    expr.Type
	wire querypb.Type
	// encode makes bytes of a text in UTF-8 for clients that want another character set; nil: they want it as it is.
	encode func(text []byte) ([]byte, bool)
}

func newQueryRowSender(x *execution, ctx *sql.Context, q *rel.Query) *queryRowSender {
	s := &queryRowSender{x: x, ctx: ctx}
	results := ctx.GetCharacterSetResults()
	for _, o := range q.Out {
		t := q.Meta.Columns[o.Col].Type
		c := wireColumn{t: t, wire: wireType(t)}
		if to := results; !plainResults(to) && isText(t) {
			c.encode = to.Encoder().Encode
		} else if from := sql.CollationID(t.Collation).CharacterSet(); plainResults(to) && to != sql.CharacterSet_utf8mb4 && isText(t) && !plainResults(from) {
			c.encode = from.Encoder().Encode // without character_set_results texts go out in their own
		}
		s.columns = append(s.columns, c)
	}
	return s
}

func isText(t expr.Type) bool {
	switch t.Kind() {
	case expr.KindText, expr.KindEnum, expr.KindSet, expr.KindJSON:
		return true
	}
	return false
}

// send adds a row to the output.
func (s *queryRowSender) send(env *expr.Env, row []expr.Value) error {
	if s.x.out.form == valueRows {
		values := make([]sqltypes.Value, len(row))
		for i, v := range row {
			if v.IsNull() {
				values[i] = sqltypes.NULL
				continue
			}
			b, err := s.columns[i].text(env, s.room(), v)
			if err != nil {
				return err
			}
			from := len(s.buf)
			s.buf = b
			values[i] = sqltypes.MakeTrusted(s.columns[i].wire, b[from:len(b):len(b)])
		}
		return s.x.out.row(s.ctx, values, s.x.more)
	}
	return s.packed(env, row)
}

// room is the buffer with room for a short value, so that those that were made of it before stay as they are.
func (s *queryRowSender) room() []byte {
	if cap(s.buf)-len(s.buf) < 32 {
		s.buf = make([]byte, 0, min(max(sendingChunk, 2*cap(s.buf)), 64<<10))
	}
	return s.buf
}

// packed adds a row as a packet (packets.go).
func (s *queryRowSender) packed(env *expr.Env, row []expr.Value) error {
	out := s.x.out
	p := &out.packets
	if p.buf == nil {
		p.buf = rowBuffers.Get().(*[]byte)
	}
	b, from := *p.buf, len(*p.buf)
	binaryForm := out.form == binaryRows
	if binaryForm { // a zero, and a bit for each column that is NULL
		for range 1 + (len(row)+9)/8 {
			b = append(b, 0)
		}
	}
	for i, v := range row {
		switch {
		case !v.IsNull():
			var err error
			if binaryForm {
				b, err = s.columns[i].binary(env, b, v)
			} else {
				b, err = s.columns[i].lengthEncoded(env, b, v)
			}
			if err != nil {
				return err
			}
		case binaryForm:
			b[from+1+(i+2)/8] |= 1 << ((i + 2) % 8)
		default:
			b = append(b, nullText)
		}
	}
	*p.buf, p.ends = b, append(p.ends, len(b))
	out.bytes += len(b) - from + 16
	return out.grown(s.ctx, s.x.more)
}

// lengthEncoded appends a value as a text with its length before it.
func (c *wireColumn) lengthEncoded(env *expr.Env, b []byte, v expr.Value) ([]byte, error) {
	if c.encode == nil {
		switch v.Kind() {
		case expr.KindText, expr.KindBytes, expr.KindBit, expr.KindEnum, expr.KindSet:
			s := v.RawText()
			return appendLengthEncoded(b, unsafe.Slice(unsafe.StringData(s), len(s))), nil
		}
	}
	at := len(b)
	out, err := c.text(env, append(b, 0), v)
	if err != nil {
		return nil, err
	}
	if n := len(out) - at - 1; n < nullText {
		out[at] = byte(n)
		return out, nil
	}
	text := append([]byte{}, out[at+1:]...)
	return appendLengthEncoded(out[:at], text), nil
}

// text appends a value as the text protocol has it.
func (c *wireColumn) text(env *expr.Env, b []byte, v expr.Value) ([]byte, error) {
	switch v.Kind() {
	case expr.KindInt:
		return appendZerofill(b, strconv.AppendInt(nil, v.RawInt(), 10), c.t), nil
	case expr.KindUint:
		if v.IsYear() {
			return temporal.AppendYear(b, int(v.RawUint())), nil
		}
		return appendZerofill(b, strconv.AppendUint(nil, v.RawUint(), 10), c.t), nil
	case expr.KindFloat:
		if c.t.Scale != expr.NotFixed && c.t.Kind() == expr.KindFloat {
			return appendZerofill(b, []byte(number.FormatFixed(v.RawFloat(), c.t.Scale)), c.t), nil
		}
		if c.t.Name == expr.FloatType || v.IsSingle() {
			return appendZerofill(b, []byte(number.FormatFloat(float32(v.RawFloat()))), c.t), nil
		}
		return appendZerofill(b, []byte(number.FormatDouble(v.RawFloat())), c.t), nil
	case expr.KindDecimal:
		if c.t.Kind() == expr.KindDecimal {
			return appendZerofill(b, []byte(number.Text(v.Shown())), c.t), nil
		}
	case expr.KindDate:
		return temporal.AppendDate(b, temporal.DateTime(v.RawInt())), nil
	case expr.KindDatetime:
		return temporal.AppendDateTime(b, temporal.DateTime(v.RawInt()), c.t.Scale), nil
	case expr.KindTime:
		return temporal.AppendTime(b, temporal.Duration(v.RawInt()), c.t.Scale), nil
	case expr.KindOther:
		return appendHostValue(b, v)
	}
	s, err := expr.ToText(env, v)
	if err != nil {
		return nil, err
	}
	if c.encode != nil && v.Kind() != expr.KindBytes && v.Kind() != expr.KindBit {
		if e, ok := c.encode([]byte(s)); ok {
			return append(b, e...), nil
		}
	}
	return append(b, s...), nil
}

// appendZerofill writes a number as wide as it is shown.
func appendZerofill(b, digits []byte, t expr.Type) []byte {
	if t.Zerofill {
		for n := shownWidth(t) - len(digits); n > 0; n-- {
			b = append(b, '0')
		}
	}
	return append(b, digits...)
}

// appendHostValue writes a geometry or a vector.
func appendHostValue(b []byte, v expr.Value) ([]byte, error) {
	switch x := v.Raw().(type) {
	case types.GeometryValue:
		return append(b, x.Serialize()...), nil
	case []byte:
		return append(b, x...), nil
	case string:
		return append(b, x...), nil
	}
	return nil, expr.Errorf(1235, "42000", "This version of Longitude doesn't yet support values of Go type %T in results", v.Raw())
}

// binary appends a value as the binary protocol has it.
func (c *wireColumn) binary(env *expr.Env, b []byte, v expr.Value) ([]byte, error) {
	switch v.Kind() {
	case expr.KindInt, expr.KindUint:
		n := v.RawUint()
		switch c.t.Name {
		case expr.TinyInt:
			return append(b, byte(n)), nil
		case expr.SmallInt, expr.YearType:
			return binary.LittleEndian.AppendUint16(b, uint16(n)), nil
		case expr.MediumInt, expr.IntType:
			return binary.LittleEndian.AppendUint32(b, uint32(n)), nil
		case expr.BigInt:
			return binary.LittleEndian.AppendUint64(b, n), nil
		}
	case expr.KindFloat:
		if c.t.Name == expr.FloatType {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v.RawFloat()))), nil
		}
		if c.t.Name == expr.DoubleType {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.RawFloat())), nil
		}
	case expr.KindDate, expr.KindDatetime:
		return appendBinaryDate(b, temporal.DateTime(v.RawInt()), c.t), nil
	case expr.KindTime:
		return appendBinaryTime(b, temporal.Duration(v.RawInt())), nil
	}
	return c.lengthEncoded(env, b, v)
}

// appendBinaryDate writes as many parts of a date or a time as are not zero.
func appendBinaryDate(b []byte, d temporal.DateTime, t expr.Type) []byte {
	n := byte(11)
	switch {
	case d == 0:
		return append(b, 0)
	case t.Name == expr.DateType || !d.HasTime():
		n = 4
	case d.Micro() == 0:
		n = 7
	}
	b = binary.LittleEndian.AppendUint16(append(b, n), uint16(d.Year()))
	b = append(b, byte(d.Month()), byte(d.Day()))
	if n > 4 {
		b = append(b, byte(d.Hour()), byte(d.Minute()), byte(d.Second()))
	}
	if n > 7 {
		b = binary.LittleEndian.AppendUint32(b, uint32(d.Micro()))
	}
	return b
}

func appendBinaryTime(b []byte, d temporal.Duration) []byte {
	n, negative := byte(12), byte(0)
	switch {
	case d == 0:
		return append(b, 0)
	case d.Micro() == 0:
		n = 8
	}
	if d < 0 {
		negative = 1
	}
	b = binary.LittleEndian.AppendUint32(append(b, n, negative), uint32(d.Hour()/24))
	b = append(b, byte(d.Hour()%24), byte(d.Minute()), byte(d.Second()))
	if n > 8 {
		b = binary.LittleEndian.AppendUint32(b, uint32(d.Micro()))
	}
	return b
}
