package engine

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// AUTO_INCREMENT values are taken from blocks, which a node reserves from a counter that is not part of any transaction.
//
//	D1  A value is given out once: blocks do not overlap, and what a block has left when its node stops is not used again.
//	D2  In columns of 8 bytes each node takes its blocks from a shard of its own: the values below 2^53 (the greatest whole
//	    number that JavaScript knows) are cut into 32 shards of 2^48, node n uses shard (n-1) mod 32. Rows that several
//	    nodes insert therefore lie in different ranges, and there is no hot spot at the end of the table.
//	D3  A value that a client gives itself moves the shard that it lies in up. A node that has reserved a block around it
//	    may still give it out; the row is then refused by its key and inserted again with another value.
const (
	shardBits  = 48
	shardCount = 32
	// smallBlock is the block of columns of 4 bytes. Columns of 1 to 3 bytes have so few values that none are reserved.
	smallBlock = 64
)

// sequence is one counter: of a table, since it was last started over, and of a shard.
type sequence struct {
	table uint64
	start uint32
	shard uint64
}

func (s sequence) name() string { return fmt.Sprintf("sql/id/%d/%d/%d", s.table, s.start, s.shard) }

// block is what is left of a reservation: [next, end).
type block struct {
	mu        taskMutex
	next, end uint64
	above     uint64 // the counter is known to be at or above
}

type idBlocks struct {
	e      *Engine
	mu     sync.Mutex
	blocks map[sequence]*block
}

func newIDBlocks(e *Engine) *idBlocks { return &idBlocks{e: e, blocks: map[sequence]*block{}} }

func (b *idBlocks) block(s sequence) *block {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.blocks[s]
	if x == nil {
		x = &block{}
		b.blocks[s] = x
	}
	return x
}

// take returns the next value of a sequence, counting from 1.
func (b *idBlocks) take(ctx context.Context, s sequence, size uint64) (uint64, error) {
	x := b.block(s)
	x.mu.lock(b.e.o.RT)
	defer x.mu.unlock()
	if x.next >= x.end {
		first, err := b.e.o.Router.Increment(ctx, s.name(), size)
		if err != nil {
			return 0, fmt.Errorf("no AUTO_INCREMENT values can be had: %w", err)
		}
		x.next, x.end = first, first+size
		x.above = max(x.above, x.end-1)
	}
	v := x.next
	x.next++
	return v, nil
}

// pass moves a sequence beyond a value that was used by other means (D3).
func (b *idBlocks) pass(ctx context.Context, s sequence, v, size uint64) error {
	x := b.block(s)
	x.mu.lock(b.e.o.RT)
	defer x.mu.unlock()
	if x.next <= v && v < x.end {
		x.next = v + 1
	}
	if v <= x.above {
		return nil
	}
	first, err := b.e.o.Router.Increment(ctx, s.name(), size) // where the counter is
	if err != nil {
		return err
	}
	last := first + size - 1
	if last < v {
		more := v - last + size - 1
		if first, err = b.e.o.Router.Increment(ctx, s.name(), more); err != nil {
			return err
		}
		last = first + more - 1
	}
	x.above = last
	if x.next >= x.end && v < last { // what was reserved behind v is ours
		x.next, x.end = max(first, v+1), last+1
	}
	return nil
}

// width says how the values of a column are cut up.
func width(t sql.Type) (sharded bool, block uint64, most uint64) {
	switch t.Type() {
	case sqltypes.Int64, sqltypes.Uint64, sqltypes.Decimal, sqltypes.Float64:
		return true, 0, shardCount<<shardBits - 1
	case sqltypes.Int32:
		return false, smallBlock, math.MaxInt32
	case sqltypes.Uint32:
		return false, smallBlock, math.MaxUint32
	case sqltypes.Int24, sqltypes.Float32:
		return false, 1, 1<<23 - 1
	case sqltypes.Uint24:
		return false, 1, 1<<24 - 1
	case sqltypes.Int16:
		return false, 1, math.MaxInt16
	case sqltypes.Uint16:
		return false, 1, math.MaxUint16
	case sqltypes.Int8:
		return false, 1, math.MaxInt8
	}
	return false, 1, math.MaxUint8
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
	ids := t.db.e.ids
	sharded, size, most := width(t.l.schema.Schema[t.l.autoInc].Type)
	if sharded {
		size = t.db.e.o.IDBlock
	}
	base := sequenceBase(t.l.desc)
	if given != nil {
		c, in, err := sqlUint64(ctx, given)
		low := c & (1<<shardBits - 1)
		if err != nil || !in || c == 0 || c > most || low <= base {
			return c, nil // none that is generated; whether it fits is the column's business
		}
		return c, ids.pass(ctx, t.sequence(c>>shardBits, sharded), low-base, size)
	}
	shard := uint64(0)
	if sharded {
		shard = (uint64(t.db.e.o.NodeID) + shardCount - 1) % shardCount
	}
	v, err := ids.take(ctx, t.sequence(shard, sharded), size)
	if err != nil {
		return 0, err
	}
	if v = (v + base) | shard<<shardBits; v > most {
		return 0, errIDsExhausted
	}
	s.stmt.generate(t.l, v)
	return v, nil
}

// sequenceBase is what is added to the counter: the generator of a table can be told where to begin.
func sequenceBase(d *catalog.Table) uint64 {
	if d.SequenceStart == 0 || d.SequenceStart > 1<<shardBits {
		return 0
	}
	return d.SequenceStart - 1
}

func (t *table) sequence(shard uint64, sharded bool) sequence {
	if !sharded {
		shard = 0
	}
	return sequence{table: t.l.desc.ID, start: t.l.desc.Sequence, shard: shard}
}

// rowID is the key of a row without one.
func (b *idBlocks) rowID(ctx context.Context, l *layout) (uint64, error) {
	shard := (uint64(b.e.o.NodeID) + shardCount - 1) % shardCount
	v, err := b.take(ctx, sequence{table: l.desc.ID, start: l.desc.Sequence, shard: shard}, b.e.o.IDBlock)
	return v | shard<<shardBits, err
}

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter: for SHOW CREATE TABLE and the like.
func (t *table) PeekNextAutoIncrementValue(*sql.Context) (uint64, error) {
	if t.l.autoInc < 0 {
		return 0, sql.ErrNoAutoIncrementCol
	}
	sharded, _, _ := width(t.l.schema.Schema[t.l.autoInc].Type)
	shard := uint64(0)
	if sharded {
		shard = (uint64(t.db.e.o.NodeID) + shardCount - 1) % shardCount
	}
	x := t.db.e.ids.block(t.sequence(shard, sharded))
	x.mu.lock(t.db.e.o.RT)
	defer x.mu.unlock()
	return max(1, x.next) + sequenceBase(t.l.desc), nil
}

// AutoIncrementSetter implements sql.AutoIncrementTable.
func (t *table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter { return idSetter{t} }

type idSetter struct{ t *table }

// SetAutoIncrementValue starts the generator over: ALTER TABLE ... AUTO_INCREMENT = n.
func (s idSetter) SetAutoIncrementValue(ctx *sql.Context, v uint64) error {
	return s.t.alter(ctx, func(d *catalog.Table) error {
		d.Sequence++
		d.SequenceStart = v
		return nil
	})
}

// AcquireAutoIncrementLock implements sql.AutoIncrementSetter. Values of one statement need not be consecutive.
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
