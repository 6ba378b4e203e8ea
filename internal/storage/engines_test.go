package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

func open(t *testing.T, fs vfs.FS, dir string) *Engines {
	t.Helper()
	e, err := Open(Options{FS: fs, Dir: dir, Cache: 1 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func writeBoth(t *testing.T, e *Engines, n int) {
	t.Helper()
	key := fmt.Appendf(nil, "k%02d", n)
	l, s := e.Log.NewBatch(), e.State.NewBatch()
	defer l.Close()
	defer s.Close()
	if err := l.Set(key, []byte("entry"), nil); err != nil {
		t.Fatal(err)
	}
	if err := e.CommitLog(l); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(Key(key), []byte("applied"), nil); err != nil {
		t.Fatal(err)
	}
	if err := e.ApplyState(s); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *pebble.DB) (n int) {
	t.Helper()
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("k\x00")})
	if err != nil {
		t.Fatal(err)
	}
	for it.First(); it.Valid(); it.Next() {
		n++
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// S1, S2: a crash keeps every acknowledged log batch, and of state what was flushed.
func TestCrashKeepsTheLogAndFlushedState(t *testing.T) {
	fs := vfs.NewCrashableMem()
	e := open(t, fs, "a/store")
	if err := e.Claim(Identity{Cluster: kv.ClusterID{1}, Node: 3}); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		writeBoth(t, e, n)
		if n == 4 {
			if err := e.FlushState(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, ok, _ := e.Durable(Key(kv.Key("k04"))); !ok {
		t.Error("k04 was flushed, but does not read as durable")
	}
	if _, ok, _ := e.Durable(Key(kv.Key("k05"))); ok {
		t.Error("k05 was not flushed, but reads as durable")
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	e = open(t, crashed, "a/store")
	defer e.Close()
	if n := count(t, e.Log); n != 10 {
		t.Errorf("log has %d of 10 acknowledged entries", n)
	}
	if n := count(t, e.State); n != 5 {
		t.Errorf("state has %d keys, 5 were flushed", n)
	}
	if id, ok, err := e.Identity(); err != nil || !ok || id.Node != 3 || id.Cluster != (kv.ClusterID{1}) {
		t.Errorf("identity after the crash: %v %v %v", id, ok, err)
	}
}

// S1, S2 again, at every sync: whatever moment the disk is cut off at, no acknowledged entry is missing and state is a
// prefix.
func TestCrashAtEverySync(t *testing.T) {
	fs := vfs.NewCrashableMem()
	type cut struct {
		disk  *vfs.MemFS
		acked int
	}
	var cuts []cut
	acked := 0
	watched := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			cuts = append(cuts, cut{fs.CrashClone(vfs.CrashCloneCfg{}), acked})
		}
		return nil
	}))
	e := open(t, watched, "store")
	cuts = nil // making the store is a matter of its own
	for n := range 8 {
		writeBoth(t, e, n)
		acked++
		if n%3 == 2 {
			if err := e.FlushState(); err != nil {
				t.Fatal(err)
			}
		}
	}
	taken := cuts
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for i, c := range taken {
		e := open(t, c.disk, "store")
		if n := count(t, e.Log); n < c.acked {
			t.Errorf("cut %d: log has %d entries, %d were acknowledged", i, n, c.acked)
		}
		if n := count(t, e.State); n > c.acked+1 || n%3 != 0 {
			t.Errorf("cut %d: state has %d keys, which is no flushed prefix", i, n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(taken) < 8 {
		t.Errorf("only %d syncs for 8 acknowledged batches", len(taken))
	}
}

// Opening fails in words that say what to do.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(dir, "used")
	running := open(t, nil, used)
	defer running.Close()

	strange := filepath.Join(dir, "strange")
	db, err := pebble.Open(filepath.Join(strange, "log"), &pebble.Options{Logger: &pebbleLogger{report: &reporter{log: running.report.log}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Set([]byte("x"), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	newer := vfs.NewMem()
	e := open(t, newer, "store")
	if err := e.putNote(formatNote, []byte{9}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	failing := func(err error) vfs.FS {
		return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpMkdirAll || op.Kind == errorfs.OpCreate {
				return &os.PathError{Op: "open", Path: op.Path, Err: err}
			}
			return nil
		}))
	}
	for _, c := range []struct {
		name string
		fs   vfs.FS
		dir  string
		want []string
	}{
		{"not a directory", nil, file, []string{"not a directory", "hint: give --store a directory"}},
		{"below a file", nil, filepath.Join(file, "x"), []string{"hint: give --store a directory"}},
		{"locked", nil, used, []string{"in use by another process", "hint:"}},
		{"another database", nil, strange, []string{"not a Longitude store"}},
		{"another format", newer, "store", []string{"format [9]", "knows format 1"}},
		{"no permission", failing(syscall.EACCES), "store", []string{"permission denied", "chown"}},
		{"disk full", failing(syscall.ENOSPC), "store", []string{"no space left", "disk is full"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(Options{FS: c.fs, Dir: c.dir, Deterministic: true})
			if err == nil {
				t.Fatal("opened")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
		})
	}
}

// An operator who reads that data are damaged must not be sent to an empty directory: the node would come back under a
// new id, and its ranges would go on with one replica less. (Before, the hint was "move the directory away and start the node
// anew on an empty one, the other replicas will refill it", which they do not.)
func TestDamagedDataHint(t *testing.T) {
	err := error(&FatalError{Dir: "store", Err: fmt.Errorf("sst: %w", pebble.ErrCorruption), Hint: hint(pebble.ErrCorruption)})
	for _, want := range []string{"data on disk are damaged", "Do not empty the directory", "new node", "Keep the directory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	for _, trap := range []string{"refill", "the others serve its ranges", "nothing acknowledged is lost"} {
		if strings.Contains(err.Error(), trap) {
			t.Errorf("%q promises what does not hold: %v", trap, err)
		}
	}
	e := open(t, vfs.NewMem(), "store")
	defer e.Close()
	if err := e.Claim(Identity{Cluster: kv.ClusterID{1}, Node: 1}); err != nil {
		t.Fatal(err)
	}
	if err := e.Claim(Identity{Cluster: kv.ClusterID{2}, Node: 1}); err == nil || !strings.Contains(err.Error(), "an empty one makes a new node of it") {
		t.Errorf("the store of another cluster: %v", err)
	}
}

// S3: a store is claimed once.
func TestClaim(t *testing.T) {
	e := open(t, vfs.NewMem(), "store")
	defer e.Close()
	one := Identity{Cluster: kv.ClusterID{1}, Node: 1}
	if _, ok, err := e.Identity(); ok || err != nil {
		t.Fatalf("a new store has an identity: %v", err)
	}
	for range 2 {
		if err := e.Claim(one); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Claim(Identity{Cluster: one.Cluster, Node: 2}); err == nil || !strings.Contains(err.Error(), "belongs to node 1, not to node 2") {
		t.Error(err)
	}
	if err := e.Claim(Identity{Cluster: kv.ClusterID{2}, Node: 1}); err == nil || !strings.Contains(err.Error(), "of cluster 01000000") {
		t.Error(err)
	}
}

// S4: fail the first sync of a commit, then the second, and so on: what was acknowledged before is there afterwards,
// nothing is acknowledged from then on, and it is told once.
func TestWriteErrorsAreFatal(t *testing.T) {
	for failAt := range 6 {
		mem := vfs.NewCrashableMem()
		syncs := -1 << 30
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			switch op.Kind {
			case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
				if strings.Contains(op.Path, "log") {
					syncs++
					if syncs > failAt {
						return syscall.ENOSPC
					}
				}
			}
			return nil
		}))
		var told []*FatalError
		e, err := Open(Options{FS: fs, Dir: "store", Deterministic: true, OnFatal: func(f *FatalError) { told = append(told, f) }})
		if err != nil {
			t.Fatal(err)
		}
		syncs = 0
		acked := 0
		for n := range 8 {
			b := e.Log.NewBatch()
			if err := b.Set(fmt.Appendf(nil, "k%02d", n), nil, nil); err != nil {
				t.Fatal(err)
			}
			err := e.CommitLog(b)
			if err == nil && e.Failed() != nil {
				t.Fatal("acknowledged after a failure")
			}
			if err != nil && !strings.Contains(err.Error(), "disk is full") {
				t.Fatalf("unclear: %v", err)
			}
			if err == nil {
				acked++
			}
		}
		if acked != failAt {
			t.Errorf("sync %d fails: %d batches acknowledged", failAt, acked)
		}
		if len(told) != 1 || e.ApplyState(e.State.NewBatch()) == nil || e.FlushState() == nil {
			t.Errorf("told %d times; later writes must fail", len(told))
		}
		after := open(t, mem.CrashClone(vfs.CrashCloneCfg{}), "store")
		if n := count(t, after.Log); n < acked {
			t.Errorf("%d entries after the crash, %d acknowledged", n, acked)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// S4: a flush on a full disk fails. Pebble repeats it for ever, and nobody may wait for that; nor may closing.
func TestFlushOnAFullDiskReturns(t *testing.T) {
	var full atomic.Bool
	fs := errorfs.Wrap(vfs.NewCrashableMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpFileWrite) {
			return syscall.ENOSPC
		}
		return nil
	}))
	told := make(chan *FatalError, 10)
	e, err := Open(Options{FS: fs, Dir: "store", Deterministic: true, OnFatal: func(f *FatalError) { told <- f }})
	if err != nil {
		t.Fatal(err)
	}
	b := e.State.NewBatch()
	if err := b.Set(Key(kv.Key("k")), []byte("v"), nil); err != nil {
		t.Fatal(err)
	}
	if err := e.ApplyState(b); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	if err := e.FlushState(); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("the flush says: %v", err)
	}
	if err := e.FlushState(); err == nil {
		t.Error("a second one succeeds")
	}
	<-told        // by the flush, in the background: perhaps later than the callers hear of it
	_ = e.Close() // what it says does not matter; that it returns does
	if n := len(told); n > 0 {
		t.Errorf("told %d times more", n)
	}
}

// S4: the disk fills up just as a batch needs a new log file. Pebble panics then, and leaves a mutex in a state in which
// nobody can recover from the panic. A failing disk also must not be worked on: what it takes and what not is chance.
func TestAFullDiskInTheMidstOfALogRotation(t *testing.T) {
	mem := vfs.NewCrashableMem()
	var full atomic.Bool
	var worked atomic.Int32
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !full.Load() || op.Kind.ReadOrWrite() == errorfs.OpIsRead {
			return nil
		}
		switch op.Kind {
		case errorfs.OpFileClose, errorfs.OpRemove:
			return nil
		}
		worked.Add(1)
		return syscall.ENOSPC
	}))
	var told atomic.Int32
	e, err := Open(Options{FS: fs, Dir: "store", Deterministic: true, OnFatal: func(*FatalError) { told.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		writeBoth(t, e, n+1)
	}
	before := worked.Load()
	full.Store(true)
	b := e.Log.NewBatch()
	if err := b.Set([]byte("large"), make([]byte, 48<<20), nil); err != nil { // more than half a memtable: it gets a log of its own
		t.Fatal(err)
	}
	if err := e.CommitLog(b); err == nil || !strings.Contains(err.Error(), "disk is full") || told.Load() != 1 {
		t.Errorf("the commit says %v, told %d times", err, told.Load())
	}
	if n := worked.Load() - before; n != 1 {
		t.Errorf("%d writes to a disk that has failed at the first", n)
	}
	_ = e.Close()
	after := open(t, mem.CrashClone(vfs.CrashCloneCfg{}), "store")
	if n := count(t, after.Log); n != 3 {
		t.Errorf("%d entries, 3 were acknowledged", n)
	}
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// A disk that is full when the store is opened: what the log has is flushed then, in vain. The error is told, and the
// store opens once there is room.
func TestOpeningOnAFullDiskReturns(t *testing.T) {
	mem := vfs.NewCrashableMem()
	e := open(t, mem, "store")
	writeBoth(t, e, 1)
	disk := mem.CrashClone(vfs.CrashCloneCfg{})
	_ = e.Close()
	fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}))
	if _, err := Open(Options{FS: fs, Dir: "store", Deterministic: true}); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Fatalf("opened: %v", err)
	}
	after := open(t, disk.CrashClone(vfs.CrashCloneCfg{}), "store")
	if n := count(t, after.Log); n != 1 {
		t.Errorf("%d entries, 1 was acknowledged", n)
	}
	if err := after.Close(); err != nil {
		t.Error(err)
	}
}

// Engine keys sort as the package says, and decode to what they were made of.
func TestKeys(t *testing.T) {
	ts := func(w int64, l uint32) clock.Timestamp { return clock.Timestamp{Wall: w, Logical: l} }
	type kt struct {
		k  string
		ts clock.Timestamp
	}
	sorted := []kt{{"", ts(0, 0)}, {"", ts(5, 0)}, {"\x00", ts(0, 0)}, {"a", ts(0, 0)}, {"a", ts(9, 1)}, {"a", ts(9, 0)},
		{"a", ts(8, 7)}, {"a", ts(0, 1)}, {"a\x00", ts(3, 0)}, {"a\x00\x00", ts(0, 0)}, {"a\x00b", ts(9, 9)}, {"ab", ts(1, 0)}, {"b", ts(0, 0)}}
	var prev []byte
	for i, s := range sorted {
		var e []byte
		if s.ts.IsZero() {
			e = Key(kv.Key(s.k))
		} else {
			e = Version(kv.Key(s.k), s.ts)
		}
		k, got, err := Decode(e)
		if err != nil || string(k) != s.k || got != s.ts {
			t.Errorf("%q@%v decodes to %q@%v, %v", s.k, s.ts, k, got, err)
		}
		if i > 0 && cockroachkvs.Compare(prev, e) >= 0 {
			t.Errorf("%x does not sort before %x", prev, e)
		}
		prev = e
	}
	for _, bad := range []string{"", "\x01", "a", "a\x00\x01\x02\x03"} {
		if _, _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q decodes", bad)
		}
	}
}

func TestNotesAndMetrics(t *testing.T) {
	e := open(t, vfs.NewMem(), "store")
	if _, ok, err := e.Note("high water"); ok || err != nil {
		t.Error(ok, err)
	}
	if err := e.SetNote("high water", []byte("7")); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := e.Note("high water"); string(v) != "7" || !ok || err != nil {
		t.Error(v, ok, err)
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(e.Collectors()...)
	for range 2 { // open and closed
		families, err := reg.Gather()
		if err != nil || len(families) == 0 {
			t.Errorf("%d families, %v", len(families), err)
		}
		if e.isOpen.Load() {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if e.Close() == nil {
		t.Error("closed twice")
	}
}

// A store that does nothing in the background merges its tables when it is flushed: reads do not have to look into one for each flush. What is in
// it stays as it was, and two stores that were written alike have the same tables.
func TestFlushesMergeTables(t *testing.T) {
	const writes = 10 * mergeAt
	var files [2]string
	for i := range files {
		fs := vfs.NewMem()
		e := open(t, fs, "store")
		for n := range writes {
			writeBoth(t, e, n)
			if err := e.FlushState(); err != nil {
				t.Fatal(err)
			}
			levels, err := e.State.SSTables()
			if err != nil {
				t.Fatal(err)
			}
			if len(levels[0]) >= mergeAt {
				t.Fatalf("after %d flushes there are %d tables over each other", n+1, len(levels[0]))
			}
		}
		if got := count(t, e.State); got != writes {
			t.Errorf("%d keys are left of %d", got, writes)
		}
		levels, err := e.State.SSTables(pebble.WithProperties())
		if err != nil {
			t.Fatal(err)
		}
		for level, tables := range levels {
			for _, table := range tables {
				files[i] += fmt.Sprintf("L%d %d %d; ", level, table.FileNum, table.Size)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if files[0] != files[1] {
		t.Errorf("two stores have\n%s\n%s", files[0], files[1])
	}
}
