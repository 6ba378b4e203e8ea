package storage

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A bit of the log is flipped at rest, before its last two blocks. The store must not be opened with fewer entries than were
// acknowledged, and says that data are damaged. (Before, the first write-ahead log of a store was in a format that takes damage
// for its end: the store was opened with all entries after the flipped bit gone.)
func TestDamagedLogIsNotOpened(t *testing.T) {
	mem := vfs.NewCrashableMem()
	e := open(t, mem, "store")
	const entries = 400
	for n := range entries {
		b := e.Log.NewBatch()
		if err := b.Set(fmt.Appendf(nil, "k%04d", n), make([]byte, 300), nil); err != nil {
			t.Fatal(err)
		}
		if err := e.CommitLog(b); err != nil {
			t.Fatal(err)
		}
	}
	disk := mem.CrashClone(vfs.CrashCloneCfg{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := disk.List("store/log")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(n string) bool { return !strings.HasSuffix(n, ".log") })
	name := "store/log/" + slices.Max(files)
	f, err := disk.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(data)-64<<10; at += len(data) / 50 {
		damaged := slices.Clone(data)
		damaged[at] ^= 1 << (at % 8)
		fs := disk.CrashClone(vfs.CrashCloneCfg{})
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(damaged); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Options{FS: fs, Dir: "store", Cache: 1 << 20, Deterministic: true})
		if err == nil {
			t.Fatalf("with byte %d of %d damaged it is opened, with %d of %d entries", at, len(data), count(t, e.Log), entries)
		}
		if !strings.Contains(err.Error(), "data on disk are damaged") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}
