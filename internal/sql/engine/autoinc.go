package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// AUTO_INCREMENT values are taken from blocks (idblocks.go), which a node reserves from a counter that is not part of any transaction.
//
//	D1  A value is given out once: blocks do not overlap, and what a block has left when its node stops is not used again.
//	D2  A table is dense, or spread (catalog.Table.Dense). Dense: all nodes take blocks of consecutive values from one counter; a block is
//	    as large as what the node has used lately, so that values are small and follow each other. Spread, in columns of 8 bytes: each
//	    node takes its blocks from a shard of its own; the values below 2^53 (the greatest whole number that JavaScript knows) are cut
//	    into 32 shards of 2^48, node n uses shard (n-1) mod 32. Rows that several nodes insert then lie in different ranges, and there
//	    is no hot spot at the end of the table.
//	D3  A value that a client gives itself moves the counter that it belongs to up. A node that has reserved a block around it
//	    may still give it out; the row is then refused by its key and inserted again with another value.
//	D4  The values of one INSERT ... VALUES are consecutive: clients work out those of the other rows from LAST_INSERT_ID().
//	D5  A generator that is started over (ALTER TABLE ... AUTO_INCREMENT = n) begins at n, or above the greatest value in the table if that
//	    is not below n. The values are read in the transaction that starts it over, so an insert meanwhile is a conflict.
const (
	shardBits  = 48
	shardCount = 32
	// maxReserved bounds the values that one statement reserves.
	maxReserved = 1 << 20
)

// idsVariable chooses between dense and spread for tables that the session creates (D2).
const idsVariable = "longitude_auto_increment"

const (
	idsDense  = "dense"
	idsSpread = "spread"
)

// width says how many values a column of this type has, and of how many a block is at least and at most. 0 at most: of as many as
// Options say.
func width(t sql.Type) (wide bool, least, most, top uint64) {
	switch t.Type() {
	case sqltypes.Int64:
		return true, smallBlock, 0, math.MaxInt64
	case sqltypes.Uint64:
		return true, smallBlock, 0, math.MaxUint64
	case sqltypes.Decimal, sqltypes.Float64:
		return true, smallBlock, 0, shardCount<<shardBits - 1
	case sqltypes.Int32:
		return false, smallBlock, 0, math.MaxInt32
	case sqltypes.Uint32:
		return false, smallBlock, 0, math.MaxUint32
	case sqltypes.Int24, sqltypes.Float32:
		return false, 1, 1, 1<<23 - 1
	case sqltypes.Uint24:
		return false, 1, 1, 1<<24 - 1
	case sqltypes.Int16:
		return false, 1, 1, math.MaxInt16
	case sqltypes.Uint16:
		return false, 1, 1, math.MaxUint16
	case sqltypes.Int8:
		return false, 1, 1, math.MaxInt8
	}
	return false, 1, 1, math.MaxUint8
}

// shard is the node's (D2).
func (e *Engine) shard() uint64 { return (uint64(e.o.NodeID) + shardCount - 1) % shardCount }

// generator is where a table's values come from, on this node.
type generator struct {
	seq    sequence
	spread bool
	shard  uint64
	base   uint64 // is added to the counter
	top    uint64
	size   blockSize
}

func (t *table) generator() (g generator) {
	d := t.l.desc
	wide, least, most, top := width(t.l.schema.Schema[t.l.autoInc].Type)
	g.top, g.size = top, blockSize{least, most}
	if most == 0 {
		g.size.most = max(t.db.e.o.IDBlock, least)
	}
	if g.spread = wide && !d.Dense; g.spread {
		g.shard = t.db.e.shard()
		g.top, g.size = shardCount<<shardBits-1, blockSize{t.db.e.o.IDBlock, t.db.e.o.IDBlock}
	}
	g.seq = sequence{table: d.ID, start: d.Sequence, shard: g.shard}
	if d.SequenceStart > 0 && (!g.spread || d.SequenceStart <= 1<<shardBits) {
		g.base = d.SequenceStart - 1
	}
	return g
}

// value is what a number of the counter stands for; ok is false if there are none left.
func (g *generator) value(n uint64) (v uint64, ok bool) {
	if n > g.top || g.base > g.top-n {
		return 0, false
	}
	v = n + g.base
	if g.spread {
		if v >= 1<<shardBits {
			return 0, false
		}
		v |= g.shard << shardBits
	}
	return v, true
}

// counted is the counter to which a value belongs that was given, and its number there; ok is false if it is none of any.
func (g *generator) counted(v uint64) (s sequence, n uint64, ok bool) {
	s, n = g.seq, v
	if g.spread {
		s.shard, n = v>>shardBits, v&(1<<shardBits-1)
	}
	return s, n - g.base, v <= g.top && n > g.base
}

var _ sql.AutoIncrementTable = (*table)(nil)

// GetNextAutoIncrementValue implements sql.AutoIncrementTable.
func (t *table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return 0, err
	}
	if t.l.autoInc < 0 {
		return 0, sql.ErrNoAutoIncrementCol
	}
	g := t.generator()
	if given != nil {
		c, in, err := sqlUint64(ctx, given)
		if err != nil || !in || c == 0 {
			return c, nil
		}
		of, n, ok := g.counted(c)
		if !ok {
			return c, nil // none that is generated; whether it fits is the column's business
		}
		return c, t.db.e.ids.pass(ctx, of, n, g.top-g.base, g.size, s.stmt.rowsOf(t.l))
	}
	n, err := s.stmt.reserved(ctx, t, &g)
	if err != nil {
		return 0, err
	}
	v, ok := g.value(n)
	if !ok {
		return 0, errIDsExhausted
	}
	s.stmt.generate(t.l, v)
	return v, nil
}

// reservation is what a statement has reserved for the rows that it inserts (D4).
type reservation struct {
	into      string // the table
	rows      int    // how many it gives, beginning with the next
	seq       sequence
	next, end uint64
}

// inserts notes how many rows a statement inserts, if it says so.
func (r *reservation) inserts(stmt sqlparser.Statement) {
	if i, ok := stmt.(*sqlparser.Insert); ok {
		switch rows := i.Rows.(type) {
		case *sqlparser.AliasedValues:
			r.into, r.rows = i.Table.Name.String(), len(rows.Values)
		case sqlparser.Values:
			r.into, r.rows = i.Table.Name.String(), len(rows)
		}
	}
}

// rowsOf is how many rows the statement inserts into the table, as far as it says; at least 1.
func (s *statement) rowsOf(l *layout) uint64 {
	if s.ids.rows < 2 || !strings.EqualFold(s.ids.into, l.desc.Name) {
		return 1
	}
	return min(uint64(s.ids.rows), maxReserved)
}

// reserved returns the next number of the counter for the statement.
func (s *statement) reserved(ctx context.Context, t *table, g *generator) (uint64, error) {
	r := &s.ids
	if r.next < r.end && r.seq == g.seq {
		r.next++
		return r.next - 1, nil
	}
	n := s.rowsOf(t.l)
	first, err := t.db.e.ids.take(ctx, g.seq, n, g.size)
	if err != nil || n == 1 {
		return first, err
	}
	r.seq, r.next, r.end = g.seq, first+1, first+n
	return first, nil
}

// rowID is the key of a row without one.
func (b *idBlocks) rowID(ctx context.Context, l *layout) (uint64, error) {
	shard := b.e.shard()
	v, err := b.take(ctx, sequence{table: l.desc.ID, start: l.desc.Sequence, shard: shard}, 1, blockSize{b.e.o.IDBlock, b.e.o.IDBlock})
	return v | shard<<shardBits, err
}

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter: for SHOW CREATE TABLE and the like. Other nodes may have reserved it.
func (t *table) PeekNextAutoIncrementValue(ctx *sql.Context) (uint64, error) {
	if t.l.autoInc < 0 {
		return 0, sql.ErrNoAutoIncrementCol
	}
	g := t.generator()
	n, err := t.db.e.ids.peek(ctx, g.seq)
	if err != nil {
		return 0, err
	}
	v, ok := g.value(n)
	if !ok {
		v = g.top
	}
	if g.spread {
		v &= 1<<shardBits - 1
	}
	return v, nil
}

// AutoIncrementSetter implements sql.AutoIncrementTable.
func (t *table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter { return idSetter{t} }

type idSetter struct{ t *table }

// SetAutoIncrementValue starts the generator over (D5): ALTER TABLE ... AUTO_INCREMENT = n, and CREATE TABLE.
func (s idSetter) SetAutoIncrementValue(ctx *sql.Context, v uint64) error {
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	d, err := x.table(s.t.l.desc.ID)
	if err != nil {
		return err
	}
	if !s.t.isFresh(x) && d.Primary.ID == s.t.l.desc.Primary.ID { // else it is being truncated
		top, err := s.t.greatestID(ctx, x)
		if err != nil {
			return err
		}
		v = max(v, top+1)
	}
	return s.t.alter(ctx, func(d *catalog.Table) error {
		d.Sequence++
		d.SequenceStart = v
		return nil
	})
}

// AcquireAutoIncrementLock implements sql.AutoIncrementSetter. D4 needs no lock.
func (s idSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) { return func() {}, nil }

// Close implements sql.Closer.
func (s idSetter) Close(*sql.Context) error { return nil }

// generate notes a generated value: its key needs no look-up.
func (s *statement) generate(l *layout, v uint64) {
	if s.generated == nil {
		s.generated = map[uint64]uint64{}
	}
	s.generated[l.desc.ID] = v
}

func (s *statement) isGenerated(l *layout, row sql.Row) bool {
	if l.autoInc < 0 {
		return false
	}
	v, ok := s.generated[l.desc.ID]
	if !ok {
		return false
	}
	c, in, err := sqlUint64(context.Background(), row[l.autoInc])
	return err == nil && in && c == v
}

// loader is what can tell how far a counter is.
type loader interface {
	Load(ctx context.Context, name string) ([]byte, error)
}

// stands is the last number that was taken from a counter; 0: none, or it cannot be told.
func (b *idBlocks) stands(ctx context.Context, s sequence) (uint64, error) {
	l, ok := b.e.o.Router.(loader)
	if !ok {
		return 0, nil
	}
	v, err := l.Load(ctx, s.name())
	if err != nil || len(v) == 0 {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("counter %s holds %d bytes instead of 8", s.name(), len(v))
	}
	return binary.BigEndian.Uint64(v), nil
}
