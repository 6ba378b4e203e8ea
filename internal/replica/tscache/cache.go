// Package tscache is the timestamp cache of a range's leaseholder: up to which timestamp each key has been read, and by
// whom, so that no write lands below a read that has been served.
//
//	C1  Get returns a timestamp no lower than any that was added for a key of the span.
//	C2  It names a transaction only if no other has read at that timestamp or above it.
//	C3  Until memory runs out it returns exactly the highest one added for the key, or the low water if that is higher.
//
// Memory is bounded by two generations. When the younger is full it becomes the older, and the older is forgotten: the
// low water rises to its highest timestamp (C1), so that later writes are pushed a little higher than they had to be.
package tscache

import (
	"cmp"
	"slices"
	"sync"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// DefaultBytes is the memory that a range's cache may take, roughly.
const DefaultBytes = 4 << 20

// read is the highest timestamp at which something was read, and by whom; the zero id: by several, or it is not known.
type read struct {
	ts  clock.Timestamp
	txn kv.TxnID
}

// join is the higher of two reads (C2).
func (r read) join(o read) read {
	switch r.ts.Compare(o.ts) {
	case -1:
		return o
	case 0:
		if r.txn != o.txn {
			r.txn = kv.TxnID{}
		}
	}
	return r
}

// Cache is a timestamp cache. Its methods may be called from any task.
type Cache struct {
	mu    sync.Mutex
	limit int // bytes of one generation
	low   read
	max   clock.Timestamp
	young *generation
	old   *generation
}

// New makes a cache that takes every key as read at low by an unknown transaction. limit is in bytes; 0: DefaultBytes.
func New(low clock.Timestamp, limit int) *Cache {
	if limit <= 0 {
		limit = DefaultBytes
	}
	return &Cache{limit: limit / 2, low: read{ts: low}, max: low, young: newGeneration(), old: newGeneration()}
}

// Add records that a transaction has read a span at ts. The zero id is for readers that are no transaction.
func (c *Cache) Add(s kv.Span, ts clock.Timestamp, txn kv.TxnID) {
	if s.Empty() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := (read{ts, txn}); c.matters(r) {
		c.young.addSpan(s, r)
		c.rotate()
	}
}

// AddPoint is Add for one key.
func (c *Cache) AddPoint(k kv.Key, ts clock.Timestamp, txn kv.TxnID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := (read{ts, txn}); c.matters(r) {
		c.young.addPoint(k, r)
		c.rotate()
	}
}

func (c *Cache) matters(r read) bool {
	c.max = c.max.Forward(r.ts)
	return c.low.ts.Less(r.ts)
}

func (c *Cache) rotate() {
	if c.young.bytes < c.limit {
		return
	}
	c.low = c.low.join(read{ts: c.old.max})
	c.old, c.young = c.young, newGeneration()
}

// Get returns the highest timestamp at which a key of the span was read, and the transaction if it was only one. It costs
// more than GetPoint: it looks at every point in the cache.
func (c *Cache) Get(s kv.Span) (clock.Timestamp, kv.TxnID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.low
	for _, g := range []*generation{c.young, c.old} {
		r = r.join(g.getSpan(s))
	}
	return r.ts, r.txn
}

// GetPoint is Get for one key.
func (c *Cache) GetPoint(k kv.Key) (clock.Timestamp, kv.TxnID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.low.join(c.young.getPoint(k)).join(c.old.getPoint(k))
	return r.ts, r.txn
}

// Max is the highest timestamp in the cache, the low water included.
func (c *Cache) Max() clock.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.max
}

// Mark is the highest timestamp at which a span was read.
type Mark struct {
	Span kv.Span
	TS   clock.Timestamp
}

// Above says what the cache holds, in a timestamp and at most n marks above it: for every key, the timestamp or the highest mark on
// it is no lower than what Get returns. The timestamp is no lower than low, and otherwise as low as n marks allow. The order of
// the marks is always the same for the same reads.
func (c *Cache) Above(low clock.Timestamp, n int) (clock.Timestamp, []Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	low = low.Forward(c.low.ts)
	var all []Mark
	for _, g := range []*generation{c.young, c.old} {
		all = g.above(low, all)
	}
	slices.SortFunc(all, func(a, b Mark) int {
		return cmp.Or(-a.TS.Compare(b.TS), a.Span.Start.Compare(b.Span.Start), a.Span.End.Compare(b.Span.End))
	})
	if len(all) > n {
		low, all = all[n].TS, all[:n]
	}
	// What is not above the timestamp says nothing.
	for len(all) > 0 && all[len(all)-1].TS.LessEq(low) {
		all = all[:len(all)-1]
	}
	return low, all
}

// Raise makes the cache take every key as read at ts.
func (c *Cache) Raise(ts clock.Timestamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.low = c.low.join(read{ts: ts})
	c.max = c.max.Forward(ts)
}

// LowWater is the timestamp at which every key counts as read.
func (c *Cache) LowWater() clock.Timestamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.low.ts
}
