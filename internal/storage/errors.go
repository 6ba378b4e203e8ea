package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// FatalError says why the store cannot go on.
type FatalError struct {
	Dir  string
	Err  error
	Hint string // what to do
}

func (f *FatalError) Error() string {
	return fmt.Sprintf("store %s: %v\nthis node stops; the other nodes go on with each range of which they hold a majority of the replicas\nhint: %s", f.Dir, f.Err, f.Hint)
}

func (f *FatalError) Unwrap() error { return f.Err }

var (
	errNotDir      = errors.New("it is a file, not a directory")
	errNoStoreHere = errors.New("there is a Pebble database here that is not a Longitude store")
)

// damagedHint tells what to do about damaged data. It must not send the operator to an empty directory: a node on an empty
// store gets a new id and none of the data, and the old id keeps its place in every range (no replica is ever removed). Each
// range would then count three replicas, have two, and stop with the next node that fails.
const damagedHint = "data on disk are damaged: see dmesg and the health of the disk and of the memory. Keep the directory and leave this node stopped; " +
	"the other nodes hold the data and serve them, so keep those running. Do not empty the directory, and do not start this node on an empty one: " +
	"it would join as a new node and receive none of the data, while every range would go on counting the old one. " +
	"If every file can be copied without an error, copy the whole directory to a sound disk and start the node there; " +
	"a part of it, or an older copy, must not be started. If the copy does not start either, move the data to a new cluster while the other nodes serve them"

// hint tells what to do about an error of the file system.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), strings.Contains(err.Error(), "no space left"):
		return "the disk is full: free some space or move the directory to a larger disk, then start the node again"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not use the directory: run as its owner, or change the owner with chown -R"
	case errors.Is(err, syscall.EROFS):
		return "the file system is mounted read-only, often after a disk error: see dmesg"
	case errors.Is(err, errNotDir), errors.Is(err, syscall.ENOTDIR):
		return "give --store a directory, new or existing"
	case errors.Is(err, errNoStoreHere):
		return "give --store a directory of its own"
	case errors.Is(err, errLostState), errors.Is(err, errLostLog):
		return lostHint
	case errors.Is(err, pebble.ErrCorruption), pebble.IsCorruptionError(err):
		return damagedHint
	case errors.Is(err, syscall.EIO):
		return "the disk reports errors: see dmesg and the disk's health"
	}
	return "see the log above for what the storage engine was doing, and dmesg for the disk"
}

func explain(dir string, err error) error {
	return fmt.Errorf("store %s cannot be opened: %w\nhint: %s", dir, err, hint(err))
}

func explainLock(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held") ||
		(errors.Is(err, syscall.EACCES) && !errors.As(err, new(*fs.PathError))) { // what fcntl says, and open does not
		return fmt.Errorf("store %s is in use by another process\n"+
			"hint: a node may be running on it already: stop that one, or give this one another --store", dir)
	}
	return explain(dir, err)
}

// reporter keeps the first fatal error and tells of it once.
type reporter struct {
	dir     string
	log     *slog.Logger
	onFatal func(*FatalError)
	err     atomic.Pointer[FatalError]
	gone    chan struct{} // closed with the first error
}

func newReporter(o Options) *reporter {
	return &reporter{dir: o.Dir, log: o.Log, onFatal: o.OnFatal, gone: make(chan struct{})}
}

// retryPause is how long Pebble waits before it repeats a flush that has failed. It would do so at once, for ever: a full
// disk would cost a processor, and the log a line each time.
const retryPause = 20 * time.Millisecond

func (r *reporter) failed() error {
	if f := r.err.Load(); f != nil {
		return f
	}
	return nil
}

// fatal returns the error that stands: this one if it is the first.
func (r *reporter) fatal(err error) *FatalError {
	f := &FatalError{Dir: r.dir, Err: err, Hint: hint(err)}
	if !r.err.CompareAndSwap(nil, f) {
		r.log.Debug("storage failed again", "err", err)
		return r.err.Load()
	}
	close(r.gone)
	r.log.Error("storage failed", "err", err, "hint", f.Hint)
	if r.onFatal != nil {
		r.onFatal(f)
	}
	return f
}

// pebbleLogger takes what Pebble says. Fatalf returns, which Pebble bears: see Engines.write.
type pebbleLogger struct {
	report *reporter
	name   string
}

func (l *pebbleLogger) Infof(format string, args ...any) {
	l.report.log.Debug(fmt.Sprintf(format, args...), "engine", l.name)
}

func (l *pebbleLogger) Errorf(format string, args ...any) {
	l.report.log.Warn(fmt.Sprintf(format, args...), "engine", l.name)
}

func (l *pebbleLogger) Fatalf(format string, args ...any) {
	l.report.fatal(fmt.Errorf(strings.ReplaceAll(l.name+": "+format, ": %v", ": %w"), args...))
}

func (e *Engines) listener(name string, stalls int) *pebble.EventListener {
	log := e.report.log
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if errors.Is(err, pebble.ErrCancelledCompaction) {
				return
			}
			again := e.Failed() != nil
			e.report.fatal(fmt.Errorf("%s: in the background: %w", name, err))
			if again {
				time.Sleep(retryPause)
			}
		},
		DataCorruption: func(i pebble.DataCorruptionInfo) {
			e.report.fatal(fmt.Errorf("%s: %s: %w", name, i.Path, i.Details))
		},
		WriteStallBegin: func(i pebble.WriteStallBeginInfo) {
			e.stalls[stalls].Add(1)
			log.Warn("writes wait for flushes or compactions", "engine", name, "reason", i.Reason)
		},
		WriteStallEnd: func() { log.Info("writes go on", "engine", name) },
	}
}
