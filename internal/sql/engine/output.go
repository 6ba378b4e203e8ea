package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/txn"
)

// output holds a result back until it may be sent (S1), up to a limit of bytes. Beyond it rows are sent as they come,
// each batch after rule 2 is paid for what was read so far; the statement cannot be repeated then.
type output struct {
	s      *Session
	send   sender
	limit  int
	fields []*querypb.Field
	rows   [][]sqltypes.Value
	bytes  int
	// Rows of plans, if form says so, are packets for the connection c instead (packets.go). A result has one of the two.
	c       *mysql.Conn
	form    rowForm
	packets packets
	result  *sqltypes.Result // of a statement without rows
	sent    bool
}

func newOutput(s *Session, send sender, limit int) *output {
	return &output{s: s, send: send, limit: limit}
}

// reset forgets what was held back.
func (o *output) reset() {
	o.fields, o.rows, o.bytes, o.result = nil, nil, 0, nil
	o.packets.clear()
}

func (o *output) begin(fields []*querypb.Field) { o.fields = fields }

func (o *output) ok(r types.OkResult) {
	o.result = &sqltypes.Result{RowsAffected: r.RowsAffected, InsertID: r.InsertID}
	if r.Info != nil {
		o.result.Info = r.Info.String()
	}
}

func (o *output) row(ctx context.Context, values []sqltypes.Value, more bool) error {
	o.rows = append(o.rows, values)
	for _, v := range values {
		o.bytes += v.Len() + 16
	}
	return o.grown(ctx, more)
}

// grown sends what is held back if it has become too much.
func (o *output) grown(ctx context.Context, more bool) error {
	limit := o.limit
	if o.sent {
		limit = min(limit, 1<<20)
	}
	if o.bytes < limit {
		return nil
	}
	if t, ok := o.s.GetTransaction().(*tx); ok && t != nil && t.kv != nil {
		if err := t.note(t.kv.Release(ctx)); err != nil {
			return err
		}
		t.kv.SentRows()
		t.sent = true
	}
	o.sent = true
	if o.s.conn != nil {
		o.s.setStatus(o.s.e.context(ctx, o.s), o.s.conn)
	}
	err := o.deliver(more)
	o.rows, o.bytes = nil, 0
	return err
}

// deliver sends the rows that are held back.
func (o *output) deliver(more bool) error {
	if err := o.send(o.take(), more); err != nil {
		return err
	}
	return o.packets.send(o.c)
}

func (o *output) take() *sqltypes.Result {
	return &sqltypes.Result{Fields: o.fields, Rows: o.rows, RowsAffected: uint64(len(o.rows))}
}

// note adds to the plan that EXPLAIN ANALYZE shows how often the node had to begin again for it.
func (o *output) note(r txn.Repeats) {
	if len(o.fields) != 1 || o.sent {
		return
	}
	text := "Retries: none"
	if r.N > 0 {
		text = fmt.Sprintf("Retries: %d (%s), %s lost", r.N, r.Reasons(), r.Lost.Round(time.Microsecond))
	}
	o.rows = append(o.rows, []sqltypes.Value{sqltypes.MakeTrusted(o.fields[0].Type, []byte(text))})
}

// finish sends what is held back.
func (o *output) finish(more bool) error {
	switch {
	case o.result != nil && o.result.Info != "":
		return o.sendInfo(more)
	case o.result != nil:
		return o.send(o.result, more)
	case o.sent && len(o.rows) == 0 && len(o.packets.ends) == 0:
		return nil
	}
	return o.deliver(more)
}

// hasCharacters reports whether a type's values are texts. Numbers, dates and bits are bytes to clients, as MySQL says: PyMySQL took
// the bytes of a BIT for UTF-8.
func hasCharacters(t sql.Type) bool {
	switch t.Type() {
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.Enum, sqltypes.Set, sqltypes.TypeJSON:
		return true
	}
	return false
}

// resultFields describes the columns of a result.
func resultFields(ctx *sql.Context, s sql.Schema) []*querypb.Field {
	fields := make([]*querypb.Field, len(s))
	results := ctx.GetCharacterSetResults()
	for i, c := range s {
		f := &querypb.Field{Name: c.Name, OrgName: c.Name, Table: c.Source, OrgTable: c.Source, Database: c.DatabaseSource,
			Type: c.Type.Type(), ColumnLength: c.Type.MaxTextResponseByteLength(ctx), Charset: uint32(sql.Collation_Default.CharacterSet())}
		if t, ok := c.Type.(sql.TypeWithCollation); ok {
			f.Charset = uint32(t.Collation().CharacterSet())
		}
		switch {
		case types.IsBinaryType(c.Type), !hasCharacters(c.Type):
			f.Charset = uint32(sql.Collation_binary)
		case results != sql.CharacterSet_Unspecified:
			f.Charset = uint32(results)
		}
		flag := func(on bool, b querypb.MySqlFlag) {
			if on {
				f.Flags |= uint32(b)
			}
		}
		flag(!c.Nullable, querypb.MySqlFlag_NOT_NULL_FLAG)
		flag(c.AutoIncrement, querypb.MySqlFlag_AUTO_INCREMENT_FLAG)
		flag(c.PrimaryKey, querypb.MySqlFlag_PRI_KEY_FLAG)
		flag(types.IsUnsigned(c.Type) || types.IsYear(c.Type), querypb.MySqlFlag_UNSIGNED_FLAG)
		flag(types.IsYear(c.Type), querypb.MySqlFlag_ZEROFILL_FLAG)
		f.Decimals = decimalsOf(c.Type)
		fields[i] = f
	}
	return fields
}

// notFixed is the number of decimals that MySQL says of a FLOAT or DOUBLE without a scale (NOT_FIXED_DEC).
const notFixed = 31

// decimalsOf is how many digits behind the point a client is told of. Drivers print a time in binary form with as many.
func decimalsOf(t sql.Type) uint32 {
	if types.IsDecimal(t) {
		if d, ok := t.(sql.DecimalType); ok {
			return uint32(d.Scale())
		}
	}
	switch t := t.(type) {
	case types.TimeType:
		return uint32(timeDigits(t))
	case sql.DatetimeType:
		return uint32(t.Precision())
	}
	if types.IsFloat(t) {
		return notFixed
	}
	return 0
}
