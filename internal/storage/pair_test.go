package storage

import (
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// S5: a store that has lost one of its two directories is not opened, and the error says which one and what to do. Before,
// a log without state was opened as a node that holds no range, and state without a log as a new node's.
func TestOneDirectoryLost(t *testing.T) {
	for _, c := range []struct{ lost, want string }{
		{"log", "the directory log is missing"},
		{"state", "the directory state is missing"},
	} {
		t.Run(c.lost, func(t *testing.T) {
			fs := vfs.NewMem()
			e := open(t, fs, "store")
			writeBoth(t, e, 1)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if err := fs.RemoveAll("store/" + c.lost); err != nil {
				t.Fatal(err)
			}
			for try := range 2 { // the first try may have made an empty directory
				_, err := Open(Options{FS: fs, Dir: "store", Deterministic: true})
				if err == nil {
					t.Fatalf("try %d: opened", try+1)
				}
				for _, want := range []string{c.want, "hint: mount or restore", "Do not start this node on an empty directory"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("try %d: %q is not in: %v", try+1, want, err)
					}
				}
			}
		})
	}
}

// S5: the log of one store and the state of another.
func TestDirectoriesOfTwoStores(t *testing.T) {
	fs := vfs.NewMem()
	for _, dir := range []string{"a", "b"} {
		e, err := Open(Options{FS: fs, Dir: dir, Cache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.RemoveAll("a/state"); err != nil {
		t.Fatal(err)
	}
	if err := fs.Rename("b/state", "a/state"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{FS: fs, Dir: "a", Cache: 1 << 20}); err == nil || !strings.Contains(err.Error(), "another store's") {
		t.Errorf("opened: %v", err)
	}
}

// S5: a power failure at any sync of making a store is not taken for a loss.
func TestCrashWhileAStoreIsMade(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var mu sync.Mutex // Pebble also syncs on its own
	var cuts []*vfs.MemFS
	e := open(t, errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			mu.Lock()
			defer mu.Unlock()
			cuts = append(cuts, mem.CrashClone(vfs.CrashCloneCfg{}))
		}
		return nil
	})), "store")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if len(cuts) < 8 {
		t.Errorf("only %d syncs", len(cuts))
	}
	for n, cut := range cuts {
		e, err := Open(Options{FS: cut, Dir: "store", Cache: 1 << 20, Deterministic: true})
		if err != nil {
			t.Fatalf("after a crash at sync %d: %v", n, err)
		}
		writeBoth(t, e, 1)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
