// Package storage keeps one node's data: two Pebble instances under one directory.
//
//	log    Raft logs, hard states and the store's own notes. Written by CommitLog, which returns once the batch is on
//	       disk: one fsync for whatever the batch gathers of all groups.
//	state  what the logs have been applied to. Written by ApplyState, which syncs nothing; after a crash it is as of
//	       some earlier moment, and the log brings it forward again.
//
//	S1  What CommitLog has acknowledged survives any crash.
//	S2  After a crash state is a prefix of the batches applied to it: all of a batch or nothing, in order. How long the
//	    prefix is at least is what Durable reads.
//	S3  A store belongs to one node of one cluster and has one format, both recorded in it; it is never opened as
//	    another's, nor by two processes.
//	S4  After the first failed write nothing is acknowledged any more: the error is kept (Failed), told once to
//	    Options.OnFatal, and returned by every later write. Nor is anything written any more: the disk stays as a crash
//	    at that moment would have left it.
//	S5  Log and state are those of one store. Neither is opened without the other, or with another's (pair.go).
package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of a store.
type Options struct {
	FS  vfs.FS // nil: the operating system's, watched for slow operations
	Dir string // made if it does not exist

	// Cache is the block cache of both instances together, in bytes. Default 128 MiB. Reads that miss it cost a system
	// call, or a disk access, and the block has to be decompressed. Memory for writes comes on top of it: up to 128 MiB,
	// for a while twice that. What of it is not in use yet holds blocks, too.
	Cache int64
	// Deterministic is for simulation: nothing is written in the background, so that the bytes on (simulated) disk
	// depend on the calls alone. Tables of state are merged by FlushState, those of the log never.
	Deterministic bool
	// OnFatal is told, once, that the store cannot go on. It may end the process, or return; then writes fail (S4).
	// It must not call the store. Default: nothing.
	OnFatal func(*FatalError)
	Log     *slog.Logger // nil: discard
}

// Engines is an open store. Reading goes to Log and State directly; writing through CommitLog and ApplyState.
type Engines struct {
	Log   *pebble.DB
	State *pebble.DB

	fs     *failStop
	watch  io.Closer
	dir    string
	cache  *pebble.Cache
	lock   *pebble.Lock
	report *reporter
	stalls [2]atomic.Uint64 // of log and state
	isOpen atomic.Bool

	deterministic bool // Options.Deterministic
}

// Open opens the store in a directory, or makes a new one there if it is empty. Its errors are for people: they say what
// to do.
func Open(o Options) (*Engines, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Cache == 0 {
		o.Cache = 128 << 20
	}
	e := &Engines{dir: o.Dir, report: newReporter(o), deterministic: o.Deterministic}
	e.fs = &failStop{FS: e.watched(o), report: e.report}
	if err := e.open(o); err != nil {
		e.close()
		return nil, err
	}
	e.fs.armed.Store(true)
	e.isOpen.Store(true)
	return e, nil
}

func (e *Engines) open(o Options) (err error) {
	if err := makeDir(e.fs, o.Dir); err != nil {
		return explain(o.Dir, err)
	}
	if e.lock, err = pebble.LockDirectory(o.Dir, e.fs); err != nil {
		return explainLock(o.Dir, err)
	}
	log, state := e.logOptions(o), e.stateOptions(o)
	e.cache = pebble.NewCache(o.Cache + memtables(log, state))
	log.Cache, state.Cache = e.cache, e.cache
	if err := e.openLog(o, log); err != nil {
		return explain(o.Dir, err)
	}
	if err := e.checkFormat(); err != nil {
		return err
	}
	if e.State, err = e.openEngine("state", state); err != nil {
		return explain(o.Dir, err)
	}
	return e.checkPair(o.Deterministic)
}

// openLog opens the log instance, twice if it is new. The first write-ahead log of a new instance is begun in Pebble's oldest format,
// whatever format is asked for, and does not say how much of it was synced: a bit that is flipped anywhere in it would be taken for
// the end of it, and all that was acknowledged after that would silently be gone. From the second one on, damage is told from
// a torn tail, except in the last block.
func (e *Engines) openLog(o Options, opts *pebble.Options) error {
	old := false
	if dir := e.fs.PathJoin(e.dir, "log"); exists(e.fs, dir) {
		found, err := pebble.Peek(dir, e.fs)
		if err != nil {
			return err
		}
		old = found.Exists
	}
	var err error
	if e.Log, err = e.openEngine("log", opts); err != nil || old {
		return err
	}
	err, e.Log = e.Log.Close(), nil
	if err != nil {
		return err
	}
	again := e.logOptions(o)
	again.Cache = opts.Cache
	e.Log, err = e.openEngine("log", again)
	return err
}

func exists(fs vfs.FS, name string) bool {
	_, err := fs.Stat(name)
	return err == nil
}

// memtables is what the instances' memtables take away from the cache that they are given: of each the one that is written
// to and one that is being flushed. Pebble takes it from the blocks, down to nothing, although it is memory of its own.
func memtables(instances ...*pebble.Options) (bytes int64) {
	for _, o := range instances {
		bytes += 2 * int64(o.MemTableSize)
	}
	return bytes
}

// openEngine opens one instance. Pebble writes while it opens, and waits for ever for a flush that fails; so this does not
// wait for Pebble once the store has failed. Then the lock stays with whatever Pebble is still doing there: another try in
// this process would be two that write.
func (e *Engines) openEngine(name string, o *pebble.Options) (*pebble.DB, error) {
	type opened struct {
		db  *pebble.DB
		err error
	}
	done := make(chan opened, 1)
	go func() {
		db, err := pebble.Open(e.fs.PathJoin(e.dir, name), o)
		done <- opened{db, err}
	}()
	select {
	case r := <-done:
		return r.db, r.err
	case <-e.report.gone:
	}
	lock := e.lock
	e.lock = nil
	go func() {
		if r := <-done; r.db != nil {
			_ = r.db.Close()
		}
		_ = lock.Close()
	}()
	return nil, e.report.err.Load().Err
}

// CommitLog writes a batch to the log instance and returns once it is on disk.
func (e *Engines) CommitLog(b *pebble.Batch) error { return e.write(e.Log, b, pebble.Sync) }

// ApplyState writes a batch to the state instance. It is visible when the call returns, and durable some time after.
func (e *Engines) ApplyState(b *pebble.Batch) error { return e.write(e.State, b, pebble.NoSync) }

// write never trusts Pebble's nil alone: if a commit fails, Pebble tells its logger, which normally ends the process,
// and returns nil if that comes back.
func (e *Engines) write(db *pebble.DB, b *pebble.Batch, o *pebble.WriteOptions) error {
	if err := e.Failed(); err != nil {
		return err
	}
	if err := db.Apply(b, o); err != nil {
		return e.report.fatal(err)
	}
	return e.Failed()
}

// FlushState makes everything applied so far durable. It waits for the disk, but not for one that has failed: Pebble
// repeats a flush that fails for as long as it is open, and its Flush never returns.
func (e *Engines) FlushState() error {
	if err := e.Failed(); err != nil {
		return err
	}
	flushed, err := e.State.AsyncFlush()
	if err != nil {
		return e.report.fatal(err)
	}
	select {
	case <-flushed:
	case <-e.report.gone:
	}
	if err := e.Failed(); err != nil || !e.deterministic {
		return err
	}
	return e.mergeTables()
}

// mergeAt is from how many tables on that lie over each other they are merged, if nothing is done in the background. Every read looks into
// each of them: with hundreds, after minutes, that would be most of what a simulated node does.
const mergeAt = 8

// mergeTables does what Pebble does in the background otherwise.
func (e *Engines) mergeTables() error {
	if e.State.Metrics().Levels[0].TablesCount < mergeAt {
		return nil
	}
	first, last, err := ends(e.State)
	if err != nil || first == nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- e.State.Compact(context.Background(), first, last, false) }()
	select {
	case err := <-done:
		if err != nil && e.Failed() == nil {
			return e.report.fatal(err)
		}
	case <-e.report.gone:
	}
	return e.Failed()
}

// ends are the first and the last key of an instance; nil: it has none, or one alone.
func ends(db *pebble.DB) (first, last []byte, err error) {
	it, err := db.NewIter(nil)
	if err != nil {
		return nil, nil, err
	}
	if it.First() {
		first = bytes.Clone(it.Key())
	}
	if it.Last() {
		last = bytes.Clone(it.Key())
	}
	if bytes.Equal(first, last) {
		first = nil
	}
	return first, last, errors.Join(it.Error(), it.Close())
}

// Durable reads a key of the state instance as it would be read after a crash now. ok is false if it is absent.
func (e *Engines) Durable(engineKey []byte) (value []byte, ok bool, err error) {
	it, err := e.State.NewIter(&pebble.IterOptions{
		OnlyReadGuaranteedDurable: true,
		LowerBound:                engineKey,
		UpperBound:                append(engineKey[:len(engineKey):len(engineKey)], 0x00),
	})
	if err != nil {
		return nil, false, err
	}
	if it.First() {
		v, verr := it.ValueAndErr()
		value, ok, err = append([]byte(nil), v...), true, verr
	}
	return value, ok, errors.Join(err, it.Close())
}

// Failed returns the error that the store failed with (S4), a *FatalError, or nil.
func (e *Engines) Failed() error { return e.report.failed() }

// Dir is the store's directory.
func (e *Engines) Dir() string { return e.dir }

// Close closes the store. Nobody may be using it any more. State need not be flushed before: the log brings it back.
func (e *Engines) Close() error {
	if !e.isOpen.Swap(false) {
		return fmt.Errorf("store %s: closed twice", e.dir)
	}
	return e.close()
}

func (e *Engines) close() error {
	var errs []error
	for _, db := range []*pebble.DB{e.State, e.Log} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if e.cache != nil {
		e.cache.Unref()
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	if e.watch != nil {
		errs = append(errs, e.watch.Close())
	}
	return errors.Join(errs...)
}

// watched is the file system under the store: the operating system's, with a word in the log about what takes long, or the
// one that was given.
func (e *Engines) watched(o Options) vfs.FS {
	if o.FS != nil {
		return o.FS
	}
	fs, closer := vfs.WithDiskHealthChecks(vfs.Default, slowDisk, nil, func(i vfs.DiskSlowInfo) {
		o.Log.Warn("disk is slow", "op", i.OpType.String(), "path", i.Path, "for", i.Duration)
	})
	e.watch = closer
	return fs
}

// slowDisk is what an operation of the disk may take without being told of.
const slowDisk = 5 * time.Second

// makeDir makes a directory and its parents, each of which survives a crash once this returns.
func makeDir(fs vfs.FS, dir string) error {
	switch info, err := fs.Stat(dir); {
	case err == nil && !info.IsDir():
		return errNotDir
	case err == nil:
		return nil
	}
	if parent := fs.PathDir(dir); parent != dir {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
		if err := fs.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		return syncDir(fs, parent)
	}
	return fs.MkdirAll(dir, 0o755)
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
