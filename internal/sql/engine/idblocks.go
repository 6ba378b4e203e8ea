package engine

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

const (
	// smallBlock is a block of a counter that was not used lately. It doubles with each block that is used up within blockLasts, up to
	// Options.IDBlock: a busy node asks a few times in a second. Larger at first: more is lost when a node stops, and what nodes
	// that take turns insert is further apart.
	smallBlock = 16
	blockLasts = 250 * time.Millisecond
	// calmAfter is how long after the last block one is small again.
	calmAfter = 10 * time.Second
)

// blockSize bounds a block.
type blockSize struct{ least, most uint64 }

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
	size      uint64 // of the latest
	filled    time.Time
}

// idBlocks are the reservations of one node. Numbers count from 1.
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
		if catalog.IsTemporary(s.table) { // one session has it: there is no counter to be asked
			x.next, x.end, x.above = 1, math.MaxUint64, math.MaxUint64
		}
		b.blocks[s] = x
	}
	return x
}

// forget lets go of the reservations for a temporary table that is gone.
func (b *idBlocks) forget(d *catalog.Table) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for start := range d.Sequence + 1 {
		delete(b.blocks, sequence{table: d.ID, start: start})
		delete(b.blocks, sequence{table: d.ID, start: start, shard: b.e.shard()})
	}
}

// next is how large the next block is.
func (x *block) nextSize(now time.Time, lim blockSize) uint64 {
	switch since := now.Sub(x.filled); {
	case x.size == 0, since > calmAfter:
		x.size = lim.least
	case since < blockLasts:
		x.size *= 2
	}
	x.filled = now
	x.size = max(lim.least, min(x.size, lim.most))
	return x.size
}

// take returns the first of n consecutive numbers. What is left of a block that is too small for them is lost, unless the next one begins
// where it ends.
func (b *idBlocks) take(ctx context.Context, s sequence, n uint64, lim blockSize) (uint64, error) {
	x := b.block(s)
	x.mu.lock(b.e.o.RT)
	defer x.mu.unlock()
	if x.next+n > x.end {
		size := max(x.nextSize(b.e.now(), lim), n)
		first, err := b.e.o.Router.Increment(ctx, s.name(), size)
		if err != nil {
			return 0, fmt.Errorf("no AUTO_INCREMENT values can be had: %w", err)
		}
		if first != x.end || x.next >= x.end {
			x.next = first
		}
		x.end = first + size
		x.above = max(x.above, x.end-1)
	}
	v := x.next
	x.next += n
	return v, nil
}

// pass moves a sequence beyond a number that was used by other means (D3). rows says how many more may be, top where the column ends.
func (b *idBlocks) pass(ctx context.Context, s sequence, v, top uint64, lim blockSize, rows uint64) error {
	x := b.block(s)
	x.mu.lock(b.e.o.RT)
	defer x.mu.unlock()
	if x.next <= v {
		x.next = min(v+1, x.end) // what is below is not given out any more, as in MySQL
	}
	if v <= x.above {
		return nil
	}
	size := max(x.nextSize(b.e.now(), lim), rows)
	have, err := b.stands(ctx, s)
	if err != nil {
		return err
	}
	if have >= v {
		x.above = have
		return nil
	}
	more := v - have
	if size < top-v {
		more += size
	}
	first, err := b.e.o.Router.Increment(ctx, s.name(), more)
	if err != nil {
		return err
	}
	last := first + more - 1
	x.above = max(x.above, last)
	if x.next >= x.end && v < last { // what was reserved behind v is ours
		x.next, x.end = max(first, v+1), last+1
	}
	return nil
}

// peek is the number that take would return next if nobody else took any.
func (b *idBlocks) peek(ctx context.Context, s sequence) (uint64, error) {
	x := b.block(s)
	x.mu.lock(b.e.o.RT)
	defer x.mu.unlock()
	if x.next < x.end {
		return x.next, nil
	}
	have, err := b.stands(ctx, s)
	return have + 1, err
}

// greatestID is the greatest AUTO_INCREMENT value in the table, without the part that is the shard; 0: there are none above that.
func (t *table) greatestID(ctx *sql.Context, x *tx) (top uint64, err error) {
	at := t.l.autoInc
	if at < 0 {
		return 0, sql.ErrNoAutoIncrementCol
	}
	of := t.l.primary
	if t.l.desc.Keyless() || of.parts[0].at != at {
		of = nil
		for _, i := range t.l.indexes {
			if i.countable(1) && i.parts[0].at == at {
				of = i
			}
		}
	}
	if of == nil {
		return 0, nil // MySQL does not allow such a table
	}
	if g := t.generator(); !g.spread {
		return t.greatestIn(ctx, x, of, of.whole())
	}
	for shard := range uint64(shardCount) {
		in := kv.Span{}
		kind := of.parts[0].col.Kind
		if in.Start, err = rowcodec.AppendKey(append(kv.Key{}, of.prefix...), &of.parts[0].col, idDatum(kind, shard<<shardBits)); err != nil {
			return 0, err
		}
		if in.End, err = rowcodec.AppendKey(append(kv.Key{}, of.prefix...), &of.parts[0].col, idDatum(kind, (shard+1)<<shardBits-1)); err != nil {
			return 0, err
		}
		in.End = keys.PrefixEnd(in.End)
		v, err := t.greatestIn(ctx, x, of, in)
		if err != nil {
			return 0, err
		}
		top = max(top, v&(1<<shardBits-1))
	}
	return top, nil
}

func idDatum(kind rowcodec.Kind, v uint64) rowcodec.Datum {
	d := rowcodec.Datum{Kind: kind}
	if kind == rowcodec.Uint {
		d.U = v
	} else {
		d.I = int64(v)
	}
	return d
}

// greatestIn is the greatest value of an index's first column in a span of it.
func (t *table) greatestIn(ctx *sql.Context, x *tx, of *indexLayout, in kv.Span) (uint64, error) {
	rows, err := x.attempt().Scan(ctx, in, txn.ScanOptions{Limit: 1, Reverse: true}).Next(ctx)
	if err != nil || len(rows) == 0 {
		return 0, x.note(err)
	}
	d, _, err := rowcodec.DecodeKey(rows[0].Key[len(of.prefix):], &of.parts[0].col)
	switch {
	case err != nil:
		return 0, t.l.corrupt(rows[0].Key, err)
	case d.Kind == rowcodec.Uint:
		return d.U, nil
	case d.Kind == rowcodec.Int && d.I > 0:
		return uint64(d.I), nil
	}
	return 0, nil
}
