package storage

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What memtables take does not come out of the block cache: Pebble counts both together, and with memtables that have
// grown to their size, as they do in every store that is written to, not one block would stay.
func TestMemtablesLeaveTheCacheAlone(t *testing.T) {
	e, err := Open(Options{FS: vfs.NewMem(), Dir: "store", Cache: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	value := make([]byte, 1<<20)
	for i := range value {
		value[i] = byte(i * i >> 7)
	}
	for i := range 80 { // more than a memtable in each instance
		l, s := e.Log.NewBatch(), e.State.NewBatch()
		if err := l.Set(Key(fmt.Appendf(nil, "entry %d", i)), value, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Set(Key(fmt.Appendf(nil, "key %03d", i)), value, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.CommitLog(l); err != nil {
			t.Fatal(err)
		}
		if err := e.ApplyState(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.FlushState(); err != nil {
		t.Fatal(err)
	}
	read := func() (misses int64) {
		before := e.State.Metrics().BlockCache.Misses
		for i := range 2 {
			_, closer, err := e.State.Get(Key(fmt.Appendf(nil, "key %03d", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := closer.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return e.State.Metrics().BlockCache.Misses - before
	}
	read()
	if misses := read(); misses > 0 {
		t.Errorf("two values that have just been read were read again: %d blocks", misses)
	}
}
