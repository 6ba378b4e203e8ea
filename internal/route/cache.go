package route

import (
	"sync"

	"github.com/google/btree"

	"github.com/longitude-db/longitude/internal/kv"
)

// entry is what is remembered of a range.
type entry struct {
	end    kv.Key
	desc   *kv.RangeDescriptor // never changed
	leader kv.NodeID           // who answered last, or was hinted at; 0: unknown
}

// cache holds descriptors that do not overlap, ordered by their end keys: the range that holds k is the first one that
// ends after k, if it starts at or before k.
type cache struct {
	mu   sync.Mutex
	tree *btree.BTreeG[*entry]
	from entry                 // to search from
	byID map[kv.RangeID]*entry // never iterated: its order is not the seed's
}

func newCache() *cache {
	less := func(a, b *entry) bool { return a.end.Less(b.end) }
	return &cache{tree: btree.NewG(16, less), byID: map[kv.RangeID]*entry{}}
}

// get returns the range that holds the key, and who leads it, or nil.
func (c *cache) get(k kv.Key) (*kv.RangeDescriptor, kv.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.find(k); e != nil {
		return e.desc, e.leader
	}
	return nil, 0
}

// find is called with mu held.
func (c *cache) find(k kv.Key) (found *entry) {
	c.from.end = k
	defer func() { c.from.end = nil }()
	c.tree.AscendGreaterOrEqual(&c.from, func(e *entry) bool {
		if e.end.Equal(k) {
			return true // ends are exclusive
		}
		if e.desc.Span.Contains(k) {
			found = e
		}
		return false
	})
	return found
}

// insert takes a descriptor in, unless something newer is known of a part of its span (O2), and reports whether it did
// and was news.
func (c *cache) insert(d *kv.RangeDescriptor) bool {
	if d.Span.Empty() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byID[d.ID]; old != nil && old.desc.Generation >= d.Generation {
		return false
	}
	var over []*entry
	newer := false
	c.tree.AscendGreaterOrEqual(&entry{end: d.Span.Start}, func(e *entry) bool {
		if !e.desc.Span.Start.Less(d.Span.End) {
			return false
		}
		if e.desc.Span.Overlaps(d.Span) {
			over = append(over, e)
			newer = newer || (e.desc.ID != d.ID && e.desc.Generation >= d.Generation)
		}
		return true
	})
	if newer {
		return false
	}
	e := &entry{end: d.Span.End, desc: d}
	if old := c.byID[d.ID]; old != nil {
		e.leader = old.leader
		c.remove(old)
	}
	for _, o := range over {
		c.remove(o)
	}
	c.tree.ReplaceOrInsert(e)
	c.byID[d.ID] = e
	return true
}

// remove is called with mu held.
func (c *cache) remove(e *entry) {
	if c.byID[e.desc.ID] == e {
		delete(c.byID, e.desc.ID)
		c.tree.Delete(e)
	}
}

// evict forgets a descriptor that did not help, if it is still the one that is remembered.
func (c *cache) evict(d *kv.RangeDescriptor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[d.ID]; e != nil && e.desc == d {
		c.remove(e)
	}
}

// lead remembers who leads a range; 0 forgets it.
func (c *cache) lead(id kv.RangeID, n kv.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		e.leader = n
	}
}

// leader is who leads a range as far as is known.
func (c *cache) leader(id kv.RangeID) kv.NodeID {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		return e.leader
	}
	return 0
}
