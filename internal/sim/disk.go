package sim

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is a machine's disk as one process sees it: files in memory that know what was synced, and what goes wrong with
// them. Pebble writes from goroutines of its own while the loop waits for it, so it has a lock; what happens on it is told
// to the loop by alarm, which makes the loop look before anything else runs.
type Disk struct {
	vfs.FS
	mem    *vfs.MemFS
	faults *diskFaultState // the machine's: it outlives the process
	alarm  *atomic.Int32
	dead   atomic.Bool // the power has failed: nothing that the process still does may be seen by anybody

	mu sync.Mutex
	// syncs counts. At sync crashAt (0: never) the power fails, before it has any effect or just after.
	syncs, crashAt uint64
	after          bool
	left           *vfs.MemFS // what the power failure left; nil: it has not struck
	failure        error      // why the store stopped by itself
	told           bool       // of the failure
	logs           map[string]*tail
	rot            *rot // the machine's; nil: nothing is damaged
}

// diskFault is what operations on a disk answer. The zero value is a well one.
type diskFault struct {
	name              string
	write, sync, read syscall.Errno
}

var fullDisk = diskFault{name: "full", write: syscall.ENOSPC}

// failing are the ways in which a disk fails.
var failing = []diskFault{
	{name: "failing at writes", write: syscall.EIO, sync: syscall.EIO},
	{name: "failing at syncs", sync: syscall.EIO},
	{name: "failing at reads", read: syscall.EIO},
	{name: "failing at everything", write: syscall.EIO, sync: syscall.EIO, read: syscall.EIO},
}

// diskFaultState is the present fault of a machine's disk.
type diskFaultState struct {
	mu sync.Mutex
	diskFault
	failed bool // an operation has failed since the process was started
}

// inject makes the disk ill, or with the zero value well.
func (i *diskFaultState) inject(a diskFault) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.diskFault = a
}

func (i *diskFaultState) check(which *syscall.Errno) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if *which == 0 {
		return nil
	}
	i.failed = true
	return *which
}

func (i *diskFaultState) onWrite() error { return i.check(&i.write) }
func (i *diskFaultState) onSync() error  { return i.check(&i.sync) }
func (i *diskFaultState) onRead() error  { return i.check(&i.read) }

// current names what the disk suffers from; empty: nothing.
func (i *diskFaultState) current() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.name
}

// hasFailed reports whether an operation has failed, to this process.
func (i *diskFaultState) hasFailed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.failed
}

// processStarted begins a process.
func (i *diskFaultState) processStarted() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failed = false
}

func newDisk(mem *vfs.MemFS, i *diskFaultState, alarm *atomic.Int32) *Disk {
	return &Disk{FS: mem, mem: mem, faults: i, alarm: alarm, logs: map[string]*tail{}}
}

// crashAtSync lets the power fail at the n-th sync from now on: before it has any effect, or after.
func (d *Disk) crashAtSync(n uint64, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashAt, d.after = d.syncs+n, after
}

// disarm takes crashAtSync back.
func (d *Disk) disarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashAt = 0
}

// powerFail takes down what the power failure leaves, if this is the sync.
func (d *Disk) powerFail(after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !after {
		d.syncs++
	}
	if d.left == nil && d.crashAt != 0 && d.syncs == d.crashAt && d.after == after {
		d.left = d.remains()
		d.dead.Store(true)
		d.alarm.Add(1)
	}
}

// fail notes that the store has stopped by itself.
func (d *Disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == nil {
		d.failure = err
		d.alarm.Add(1)
	}
}

// struck says what has happened since it was last asked: what a power failure leaves, or why the store has stopped.
func (d *Disk) struck() (left *vfs.MemFS, failure error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure != nil && !d.told {
		d.told = true
		failure = d.failure
	}
	return d.left, failure
}

// The file system: everything that creates or opens a file gives one whose operations can fail.

func (d *Disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.faults.onWrite(); err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	f, err := d.wrapped(name, func() (vfs.File, error) { return d.FS.Create(name, c) })
	if err == nil && isLog(name) {
		f.(*diskFile).tail = d.follow(name)
	}
	return f, err
}

func (d *Disk) Remove(name string) error {
	if err := d.forget(name); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

func (d *Disk) Rename(old, name string) error {
	if err := d.forget(old); err != nil {
		return err
	}
	return d.FS.Rename(old, name)
}

func (d *Disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := d.faults.onRead(); err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return d.wrapped(name, func() (vfs.File, error) { return d.FS.Open(name, opts...) })
}

func (d *Disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return d.wrapped(name, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, c, opts...) })
}

func (d *Disk) OpenDir(name string) (vfs.File, error) {
	return d.wrapped(name, func() (vfs.File, error) { return d.FS.OpenDir(name) })
}

func (d *Disk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.faults.onWrite(); err != nil {
		return nil, fmt.Errorf("reuse %s: %w", old, err)
	}
	if err := d.forget(old); err != nil {
		return nil, err
	}
	return d.wrapped(name, func() (vfs.File, error) { return d.FS.ReuseForWrite(old, name, c) })
}

func (d *Disk) wrapped(name string, open func() (vfs.File, error)) (vfs.File, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, d: d, name: name}, nil
}

type diskFile struct {
	vfs.File
	d    *Disk
	tail *tail // of a log; guarded by d.mu
	name string
	pos  int64 // of the next Read
}

func (f *diskFile) Write(p []byte) (int, error) {
	if err := f.d.faults.onWrite(); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	if f.tail != nil {
		f.d.mu.Lock()
		f.tail.written += int64(n)
		f.d.mu.Unlock()
	}
	return n, err
}

func (f *diskFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.d.faults.onWrite(); err != nil {
		return 0, err
	}
	if f.tail != nil {
		panic("sim: a log is only appended to")
	}
	return f.File.WriteAt(p, at)
}

func (f *diskFile) Read(p []byte) (int, error) {
	if err := f.d.faults.onRead(); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	f.damage(p[:n], f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *diskFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.d.faults.onRead(); err != nil {
		return 0, err
	}
	n, err := f.File.ReadAt(p, at)
	f.damage(p[:n], at)
	return n, err
}

func (f *diskFile) Sync() error { return f.synced(f.File.Sync) }

func (f *diskFile) SyncData() error { return f.synced(f.File.SyncData) }

// synced is a sync: it fails, or the power fails with it, or it is done.
func (f *diskFile) synced(do func() error) error {
	f.d.powerFail(false)
	if err := f.d.faults.onSync(); err != nil {
		return err
	}
	var err error
	if f.tail != nil {
		f.d.mu.Lock()
		f.tail.synced = f.tail.written
		f.d.mu.Unlock()
	} else {
		err = do()
	}
	f.d.powerFail(true)
	return err
}
