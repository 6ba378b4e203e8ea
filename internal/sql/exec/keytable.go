package exec

import (
	"bytes"
	"hash/maphash"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// keyTable numbers different keys from 0, in the order in which they are added.
type keyTable struct {
	held
	seed   maphash.Seed
	slots  []int32 // the number of a key + 1, by hash; a power of two, at least half of them 0
	hashes []uint64
	ends   []int // where each key ends in bytes
	bytes  []byte
}

func newKeyTable(m *memory) *keyTable {
	return &keyTable{held: held{m: m}, seed: maphash.MakeSeed(), slots: make([]int32, 16)}
}

func (t *keyTable) len() int { return len(t.ends) }

func (t *keyTable) key(i int) []byte {
	from := 0
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.bytes[from:t.ends[i]]
}

// find is the number of a key; -1: it is not there.
func (t *keyTable) find(key []byte) int {
	i, _ := t.search(key, maphash.Bytes(t.seed, key))
	return i
}

// search gives the number of a key, or -1 and the free slot in which it belongs.
func (t *keyTable) search(key []byte, hash uint64) (number, slot int) {
	mask := len(t.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		i := int(t.slots[at]) - 1
		if i < 0 {
			return -1, at
		}
		if t.hashes[i] == hash && bytes.Equal(t.key(i), key) {
			return i, at
		}
	}
}

// add gives a key its number; fresh: it was not there. The key is copied.
func (t *keyTable) add(key []byte) (number int, fresh bool, err error) {
	hash := maphash.Bytes(t.seed, key)
	i, slot := t.search(key, hash)
	if i >= 0 {
		return i, false, nil
	}
	i = len(t.ends)
	t.slots[slot] = int32(i + 1)
	t.bytes = append(t.bytes, key...)
	t.ends = append(t.ends, len(t.bytes))
	t.hashes = append(t.hashes, hash)
	if 2*len(t.ends) > len(t.slots) {
		t.grow()
	}
	return i, true, t.take(int64(len(key)) + 32)
}

func (t *keyTable) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	mask := len(t.slots) - 1
	for i, h := range t.hashes {
		at := int(h) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = int32(i + 1)
	}
}

// reset forgets all keys.
func (t *keyTable) reset() {
	t.hashes, t.ends, t.bytes = t.hashes[:0], t.ends[:0], t.bytes[:0]
	if len(t.slots) > 1024 {
		t.slots, t.hashes, t.ends, t.bytes = make([]int32, 16), nil, nil, nil
	} else {
		clear(t.slots)
	}
	t.free()
}

// rowKeys makes the keys of rows as GROUP BY compares them.
type rowKeys struct {
	env  *expr.Env
	cols []rel.ColID
	keys *expr.Keys
	buf  []byte
}

// newRowKeys makes the keys of columns.
func (x *Execution) newRowKeys(cols []rel.ColID) (*rowKeys, error) {
	types := make([]expr.Type, len(cols))
	for i, c := range cols {
		types[i] = x.q.Meta.Columns[c].Type
	}
	keys, err := expr.NewKeys(types)
	return &rowKeys{env: x.env, cols: cols, keys: keys}, err
}

// of is the key of the row in the registers; it is overwritten by the next one.
func (k *rowKeys) of(regs []expr.Value) ([]byte, error) {
	var err error
	b := k.buf[:0]
	for i, c := range k.cols {
		if b, err = k.keys.Append(b, k.env, i, regs[c]); err != nil {
			return nil, err
		}
	}
	k.buf = b
	return b, nil
}
