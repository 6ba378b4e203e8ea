package engine

import (
	"strconv"
	"unsafe"

	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// rowSender turns rows into what goes to the client. Whole numbers and texts in UTF-8, which most values are, take no
// allocation of their own: the engine's own way makes a slice for each.
type rowSender struct {
	schema sql.Schema
	plain  []bool // by column: the value's bytes are the text's, or the number in decimal
	buf    []byte
}

// sendingChunk is what numbers are written to at first; their slices stay valid when another one is begun.
const sendingChunk = 1 << 10

func newRowSender(sc *sql.Context, schema sql.Schema) *rowSender {
	r := &rowSender{schema: schema, plain: make([]bool, len(schema))}
	results := sc.GetCharacterSetResults()
	for i, c := range schema {
		t, isText := c.Type.(types.StringType)
		switch {
		case isText && types.IsTextOnly(t) && t.Type() != sqltypes.Binary:
			to := results
			if to == sql.CharacterSet_Unspecified || to == sql.CharacterSet_binary {
				to = t.Collation().CharacterSet()
			}
			r.plain[i] = to == sql.CharacterSet_utf8mb4
		case types.IsInteger(c.Type):
			r.plain[i] = true
		}
	}
	return r
}

func (r *rowSender) values(sc *sql.Context, row sql.Row) ([]sqltypes.Value, error) {
	if len(row) != len(r.schema) || len(row) == 0 {
		return server.RowToSQL(sc, r.schema, row, nil, nil)
	}
	out := make([]sqltypes.Value, len(row))
	for i, v := range row {
		t := r.schema[i].Type
		if v == nil {
			out[i] = sqltypes.NULL
			continue
		}
		if r.plain[i] {
			if b, ok := r.bytes(t, v); ok {
				out[i] = sqltypes.MakeTrusted(t.Type(), b)
				continue
			}
		}
		var err error
		if out[i], err = wireValue(sc, t, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bytes are a value's, if it is of the Go type that belongs to its column's type. Those of a text are its own: nobody
// writes to what is sent.
func (r *rowSender) bytes(t sql.Type, v any) ([]byte, bool) {
	var n int64
	switch v := v.(type) {
	case string:
		if types.IsInteger(t) {
			return nil, false
		}
		return unsafe.Slice(unsafe.StringData(v), len(v)), true
	case int8:
		n = int64(v)
		return r.number(n, t.Type() == sqltypes.Int8)
	case int16:
		n = int64(v)
		return r.number(n, t.Type() == sqltypes.Int16)
	case int32:
		n = int64(v)
		return r.number(n, t.Type() == sqltypes.Int32)
	case int64:
		return r.number(v, t.Type() == sqltypes.Int64)
	case uint64:
		if t.Type() != sqltypes.Uint64 {
			return nil, false
		}
		from := r.room()
		r.buf = strconv.AppendUint(r.buf, v, 10)
		return r.buf[from:len(r.buf):len(r.buf)], true
	}
	return nil, false
}

func (r *rowSender) number(n int64, ok bool) ([]byte, bool) {
	if !ok {
		return nil, false
	}
	from := r.room()
	r.buf = strconv.AppendInt(r.buf, n, 10)
	return r.buf[from:len(r.buf):len(r.buf)], true
}

// room makes room for a number, and returns where it begins.
func (r *rowSender) room() int {
	if cap(r.buf)-len(r.buf) < 20 {
		r.buf = make([]byte, 0, min(max(sendingChunk, 2*cap(r.buf)), 64<<10))
	}
	return len(r.buf)
}
