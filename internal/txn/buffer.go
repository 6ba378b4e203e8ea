package txn

import (
	"slices"

	"github.com/google/btree"

	"github.com/longitude-db/longitude/internal/kv"
)

// buffer holds a transaction's writes in key order until they are sent: all at the commit, or, of a large transaction, some
// before (spill.go). Every write has a number; a savepoint and a scan remember the number of the last write before them, so
// that a rollback can take writes back, and so that a statement that writes what it scans does not meet its own writes.
type buffer struct {
	tree *btree.BTreeG[*buffered]
	// sending are writes on their way to become intents; nil: none are. What is in the tree is newer.
	sending *btree.BTreeG[*buffered]
	seq     uint64
	marks   marks
	bytes   int           // of keys and values in the tree
	large   int           // of the largest value in the tree that is a large one, 0 if there are none
	count   int           // versions in the tree
	sent    uint64        // writes up to here have been sent, or are on their way
	ignored []kv.SeqRange // sent, and then taken back
}

// buffered is the writes to one key, oldest first.
type buffered struct {
	key      kv.Key
	versions []version
	first    [1]version // is all that most keys need
}

type version struct {
	seq   uint64
	value []byte // nil: deleted
	// mustNotExist: the key had no value before the transaction, says its first write to it (Insert).
	mustNotExist bool
}

// overhead is about what a write takes in memory beside its key and value.
const overhead = 160

// A value from largeValue to largestKept bytes does not count, one for each transaction: sent before the commit it would be replicated
// twice, as an intent and as the version that the intent becomes, and alone it is what one command can carry. Larger: a commit in
// one phase could come to more than that.
const (
	largeValue  = 1 << 20
	largestKept = 32 << 20
)

// size is about how much memory the writes take that are not sent yet, but for one large value.
func (b *buffer) size() int { return max(0, b.bytes-b.large) + overhead*b.count }

func newTree() *btree.BTreeG[*buffered] { return btree.NewWithFreeListG(16, byKey, unused) }

func byKey(x, y *buffered) bool { return x.key.Less(y.key) }

// unused is shared by all trees: each with a list of its own allocated it for nothing, since trees mostly grow.
var unused = btree.NewFreeListG[*buffered](btree.DefaultFreeListSize)

// put buffers a write. insert is for a key that has no value yet; it reports false if the buffer gives it one.
func (b *buffer) put(key kv.Key, value []byte, insert bool) bool {
	if b.tree == nil {
		b.tree = newTree()
	}
	if insert {
		if v, ok := b.get(key, b.seq); ok && v.value != nil {
			return false
		}
	}
	e := &buffered{key: key}
	if had, ok := b.tree.Get(e); ok {
		e = had
	} else {
		e.versions = e.first[:0]
		b.tree.ReplaceOrInsert(e)
		b.bytes += len(key)
	}
	v := version{value: value, mustNotExist: insert}
	if n := len(e.versions); n > 0 {
		// What the key must have been before the transaction was said by the first write to it.
		v.mustNotExist = e.versions[n-1].mustNotExist
	}
	b.seq++
	v.seq = b.seq
	e.versions = append(e.versions, v)
	b.bytes += len(value)
	if n := len(value); n >= largeValue && n <= largestKept {
		b.large = max(b.large, n)
	}
	b.count++
	if len(e.versions) > 1 {
		b.forget(e)
	}
	return true
}

// forget drops the versions of a key that nobody can ask for any more.
func (b *buffer) forget(e *buffered) {
	last := len(e.versions) - 1
	kept := e.versions[:0]
	for i, v := range e.versions {
		if i == last || b.marks.leadTo(v.seq, e.versions[i+1].seq) {
			kept = append(kept, v)
			continue
		}
		b.bytes -= len(v.value)
		b.count--
	}
	clear(e.versions[len(kept):])
	e.versions = kept
}

// mark returns a number that separates the writes so far from those to come. It holds until it is unmarked.
func (b *buffer) mark() uint64 {
	b.marks.add(b.seq)
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

// get returns what the transaction wrote to the key, up to the mark, as far as it is not an intent yet.
func (b *buffer) get(key kv.Key, mark uint64) (version, bool) {
	for _, tree := range [2]*btree.BTreeG[*buffered]{b.tree, b.sending} {
		if tree == nil {
			continue
		}
		if e, ok := tree.Get(&buffered{key: key}); ok {
			if v, ok := e.at(mark); ok {
				return v, true
			}
		}
	}
	return version{}, false
}

// rollback takes back the writes after the mark.
func (b *buffer) rollback(mark uint64) {
	bytes, count := cutBack(b.tree, mark)
	b.bytes, b.count = b.bytes-bytes, b.count-count
	cutBack(b.sending, mark)
	if b.sent > mark {
		n := len(b.ignored)
		for n > 0 && b.ignored[n-1].To >= mark {
			mark = min(mark, b.ignored[n-1].After)
			n--
		}
		b.ignored = append(b.ignored[:n:n], kv.SeqRange{After: mark, To: b.seq}) // a new list: requests have the old one
	}
}

// cutBack removes the writes after the mark from a tree, and returns what they were.
func cutBack(tree *btree.BTreeG[*buffered], mark uint64) (bytes, count int) {
	if tree == nil {
		return 0, 0
	}
	var gone []*buffered
	tree.Ascend(func(e *buffered) bool {
		n := len(e.versions)
		for n > 0 && e.versions[n-1].seq > mark {
			n--
			bytes += len(e.versions[n].value)
			count++
		}
		e.versions = e.versions[:n]
		if n == 0 {
			gone = append(gone, e)
		}
		return true
	})
	for _, e := range gone {
		tree.Delete(e)
		bytes += len(e.key)
	}
	return bytes, count
}

// puts lists the writes to send, in key order. numbered: of a transaction that sends them in several parts.
func (b *buffer) puts(numbered bool) []kv.Put {
	if b.tree == nil || b.tree.Len() == 0 {
		return nil
	}
	out := make([]kv.Put, 0, b.tree.Len())
	b.tree.Ascend(func(e *buffered) bool {
		b.forget(e)
		n := len(e.versions) - 1
		v := e.versions[n]
		p := kv.Put{Key: e.key, Value: v.value, Delete: v.value == nil, MustNotExist: v.mustNotExist}
		if numbered {
			p.Seq = v.seq
			for _, v := range e.versions[:n] {
				p.Earlier = append(p.Earlier, kv.Earlier{Seq: v.seq, Value: v.value, Delete: v.value == nil})
			}
		}
		out = append(out, p)
		return true
	})
	return out
}

// send takes the writes out of the buffer, to be sent now. They are still seen until landed.
func (b *buffer) send() []kv.Put {
	puts := b.puts(true)
	b.sending, b.tree, b.bytes, b.large, b.count, b.sent = b.tree, nil, 0, 0, 0, b.seq
	return puts
}

// landed: what was sent has become intents.
func (b *buffer) landed() { b.sending = nil }

// layers are the writes that are not known to be intents, as they are at a moment: a read takes them before it asks the
// ranges. What it does not find here has landed, and the ranges answer with it; what lands meanwhile it finds here.
type layers [2]*btree.BTreeG[*buffered]

func (b *buffer) layers() layers { return layers{b.sending, b.tree} }

// merge lays the writes in the span, up to the mark, over rows read from it. Rows and result are in key order, or in
// reverse.
func (l layers) merge(rows []KeyValue, span kv.Span, mark uint64, reverse bool) []KeyValue {
	for _, tree := range l {
		rows = mergeTree(tree, rows, span, mark, reverse)
	}
	return rows
}

// in lists the keys of the span that have been written up to the mark, in order. Of a key in both layers it has the later.
func (l layers) in(span kv.Span, mark uint64) []*buffered {
	early, late := writtenIn(l[0], span, mark), writtenIn(l[1], span, mark)
	if len(early) == 0 || len(late) == 0 {
		return append(early, late...)
	}
	byKey := func(a, b *buffered) int { return a.key.Compare(b.key) }
	all := append(late, early...)
	slices.SortStableFunc(all, byKey)
	return slices.CompactFunc(all, func(a, b *buffered) bool { return a.key.Equal(b.key) })
}

func writtenIn(tree *btree.BTreeG[*buffered], span kv.Span, mark uint64) (over []*buffered) {
	if tree == nil || tree.Len() == 0 {
		return nil
	}
	tree.AscendRange(&buffered{key: span.Start}, &buffered{key: span.End}, func(e *buffered) bool {
		if _, ok := e.at(mark); ok {
			over = append(over, e)
		}
		return true
	})
	return over
}

func mergeTree(tree *btree.BTreeG[*buffered], rows []KeyValue, span kv.Span, mark uint64, reverse bool) []KeyValue {
	over := writtenIn(tree, span, mark)
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
