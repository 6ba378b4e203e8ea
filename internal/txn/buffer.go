package txn

import (
	"github.com/google/btree"

	"github.com/longitude-db/longitude/internal/kv"
)

// buffer holds a transaction's writes in key order until the commit. Every write has a number; a savepoint and a scan
// remember the number of the last write before them, so that a rollback can take writes back, and so that a statement that
// writes what it scans does not meet its own writes.
type buffer struct {
	tree  *btree.BTreeG[*buffered]
	seq   uint64
	fence uint64 // a version up to here may still be asked for, and is not replaced in place
	bytes int
}

// buffered is the writes to one key, oldest first.
type buffered struct {
	key      kv.Key
	versions []version
}

type version struct {
	seq   uint64
	value []byte // nil: deleted
	// mustNotExist: the key had no value before the transaction, says its first write to it (Insert).
	mustNotExist bool
}

// put buffers a write. insert is for a key that has no value yet; it reports false if the buffer gives it one.
func (b *buffer) put(key kv.Key, value []byte, insert bool) bool {
	if b.tree == nil {
		b.tree = btree.NewG(16, func(x, y *buffered) bool { return x.key.Less(y.key) })
	}
	e, ok := b.tree.Get(&buffered{key: key})
	if !ok {
		e = &buffered{key: key}
		b.tree.ReplaceOrInsert(e)
		b.bytes += len(key)
	}
	v := version{value: value, mustNotExist: insert}
	if n := len(e.versions); n > 0 {
		last := &e.versions[n-1]
		if insert && last.value != nil {
			return false
		}
		// What the key must have been before the transaction was said by the first write to it.
		v.mustNotExist = last.mustNotExist
		if last.seq > b.fence {
			b.bytes -= len(last.value)
			e.versions = e.versions[:n-1]
		}
	}
	b.seq++
	v.seq = b.seq
	e.versions = append(e.versions, v)
	b.bytes += len(value)
	return true
}

// mark returns a number that separates the writes so far from those to come.
func (b *buffer) mark() uint64 {
	b.fence = b.seq
	return b.seq
}

// at is the newest version no later than the mark.
func (e *buffered) at(mark uint64) (version, bool) {
	for i := len(e.versions) - 1; i >= 0; i-- {
		if e.versions[i].seq <= mark {
			return e.versions[i], true
		}
	}
	return version{}, false
}

// get returns what the transaction wrote to the key, up to the mark.
func (b *buffer) get(key kv.Key, mark uint64) (version, bool) {
	if b.tree == nil {
		return version{}, false
	}
	e, ok := b.tree.Get(&buffered{key: key})
	if !ok {
		return version{}, false
	}
	return e.at(mark)
}

// rollback takes back the writes after the mark.
func (b *buffer) rollback(mark uint64) {
	if b.tree == nil {
		return
	}
	var gone []*buffered
	b.tree.Ascend(func(e *buffered) bool {
		n := len(e.versions)
		for n > 0 && e.versions[n-1].seq > mark {
			n--
			b.bytes -= len(e.versions[n].value)
		}
		e.versions = e.versions[:n]
		if n == 0 {
			gone = append(gone, e)
		}
		return true
	})
	for _, e := range gone {
		b.tree.Delete(e)
		b.bytes -= len(e.key)
	}
}

// puts lists the writes to commit, in key order.
func (b *buffer) puts() []kv.Put {
	if b.tree == nil || b.tree.Len() == 0 {
		return nil
	}
	out := make([]kv.Put, 0, b.tree.Len())
	b.tree.Ascend(func(e *buffered) bool {
		v := e.versions[len(e.versions)-1]
		out = append(out, kv.Put{Key: e.key, Value: v.value, Delete: v.value == nil, MustNotExist: v.mustNotExist})
		return true
	})
	return out
}

// in lists the keys of the span that have been written up to the mark, in order.
func (b *buffer) in(span kv.Span, mark uint64) (over []*buffered) {
	if b.tree == nil || b.tree.Len() == 0 {
		return nil
	}
	b.tree.AscendRange(&buffered{key: span.Start}, &buffered{key: span.End}, func(e *buffered) bool {
		if _, ok := e.at(mark); ok {
			over = append(over, e)
		}
		return true
	})
	return over
}

// merge lays the writes in the span, up to the mark, over rows read from it. Rows and result are in key order, or in
// reverse.
func (b *buffer) merge(rows []KeyValue, span kv.Span, mark uint64, reverse bool) []KeyValue {
	over := b.in(span, mark)
	if len(over) == 0 {
		return rows
	}
	before := func(x, y kv.Key) bool { return x.Less(y) }
	if reverse {
		before = func(x, y kv.Key) bool { return y.Less(x) }
		for i, j := 0, len(over)-1; i < j; i, j = i+1, j-1 {
			over[i], over[j] = over[j], over[i]
		}
	}
	out := make([]KeyValue, 0, len(rows)+len(over))
	for len(rows) > 0 || len(over) > 0 {
		if len(over) == 0 || (len(rows) > 0 && before(rows[0].Key, over[0].key)) {
			out = append(out, rows[0])
			rows = rows[1:]
			continue
		}
		if len(rows) > 0 && rows[0].Key.Equal(over[0].key) {
			rows = rows[1:]
		}
		if v, _ := over[0].at(mark); v.value != nil {
			out = append(out, KeyValue{Key: over[0].key, Value: v.value})
		}
		over = over[1:]
	}
	return out
}
