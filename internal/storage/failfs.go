package storage

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failStop is the file system of an open store. With the first write, sync or change of a directory that fails the store has
// failed (S4): that is reported at once, and from then on nothing reaches the disk any more, although Pebble is told that
// all goes well.
//
// Pebble has no way to go on without its disk either, but its ways to end are worse: a log that cannot be rotated is a panic
// with a mutex that it does not hold, which nobody can recover from; a flush that fails is repeated for ever. And whatever
// it did next on a disk that works only sometimes (remove a log, after a flush that was not one) would be built on what is
// not there. What is on disk when the store fails is what a crash at that moment would have left.
//
// Until it is armed, errors pass: those of opening are the caller's.
type failStop struct {
	vfs.FS
	report *reporter
	armed  atomic.Bool
}

// check takes in what an operation returned. what and name are for people.
func (s *failStop) check(what, name string, err error) error {
	if err == nil || !s.armed.Load() {
		return err
	}
	s.report.fatal(fmt.Errorf("%s %s: %w", what, name, err))
	return nil
}

// stopped reports whether the disk is to be left alone.
func (s *failStop) stopped() bool { return s.armed.Load() && s.report.failed() != nil }

// file is what Pebble gets for a file that it makes.
func (s *failStop) file(what, name string, make func() (vfs.File, error)) (vfs.File, error) {
	if s.stopped() {
		return nowhere{}, nil
	}
	f, err := make()
	if err != nil {
		if err = s.check(what, name, err); err == nil {
			return nowhere{}, nil
		}
		return nil, err
	}
	return &failStopFile{File: f, s: s, name: name}, nil
}

func (s *failStop) change(what, name string, fn func() error) error {
	if s.stopped() {
		return nil
	}
	return s.check(what, name, fn())
}

// Create implements vfs.FS.
func (s *failStop) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file("create", name, func() (vfs.File, error) { return s.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (s *failStop) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return s.file("open", name, func() (vfs.File, error) { return s.FS.OpenReadWrite(name, c, o...) })
}

// ReuseForWrite implements vfs.FS.
func (s *failStop) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return s.file("reuse", oldname, func() (vfs.File, error) { return s.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenDir implements vfs.FS. Directories are opened to be synced.
func (s *failStop) OpenDir(name string) (vfs.File, error) {
	return s.file("open", name, func() (vfs.File, error) { return s.FS.OpenDir(name) })
}

// Link implements vfs.FS.
func (s *failStop) Link(oldname, newname string) error {
	return s.change("link", oldname, func() error { return s.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (s *failStop) Rename(oldname, newname string) error {
	return s.change("rename", oldname, func() error { return s.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (s *failStop) MkdirAll(dir string, perm os.FileMode) error {
	return s.change("make", dir, func() error { return s.FS.MkdirAll(dir, perm) })
}

// Remove implements vfs.FS. That a file cannot be removed is no failure: Pebble tries again.
func (s *failStop) Remove(name string) error {
	if s.stopped() {
		return nil
	}
	return s.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (s *failStop) RemoveAll(name string) error {
	if s.stopped() {
		return nil
	}
	return s.FS.RemoveAll(name)
}

// Unwrap implements vfs.FS.
func (s *failStop) Unwrap() vfs.FS { return s.FS }

// failStopFile is a file that is written.
type failStopFile struct {
	vfs.File
	s    *failStop
	name string
}

// Write implements vfs.File.
func (f *failStopFile) Write(p []byte) (n int, err error) {
	if f.s.stopped() {
		return len(p), nil
	}
	if n, err = f.File.Write(p); err != nil {
		if err = f.s.check("write", f.name, err); err == nil {
			n = len(p)
		}
	}
	return n, err
}

// WriteAt implements vfs.File.
func (f *failStopFile) WriteAt(p []byte, at int64) (n int, err error) {
	if f.s.stopped() {
		return len(p), nil
	}
	if n, err = f.File.WriteAt(p, at); err != nil {
		if err = f.s.check("write", f.name, err); err == nil {
			n = len(p)
		}
	}
	return n, err
}

// Preallocate implements vfs.File.
func (f *failStopFile) Preallocate(offset, length int64) error {
	return f.s.change("preallocate", f.name, func() error { return f.File.Preallocate(offset, length) })
}

// Sync implements vfs.File.
func (f *failStopFile) Sync() error { return f.s.change("sync", f.name, f.File.Sync) }

// SyncData implements vfs.File.
func (f *failStopFile) SyncData() error { return f.s.change("sync", f.name, f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *failStopFile) SyncTo(length int64) (full bool, err error) {
	err = f.s.change("sync", f.name, func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// Close implements vfs.File. File systems tell of some writes only here.
func (f *failStopFile) Close() error { return f.s.check("close", f.name, f.File.Close()) }

// nowhere is a file of a store that has failed.
type nowhere struct{}

var _ vfs.File = nowhere{}

func (nowhere) Close() error                           { return nil }
func (nowhere) Read([]byte) (int, error)               { return 0, io.EOF }
func (nowhere) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }
func (nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhere) Preallocate(int64, int64) error         { return nil }
func (nowhere) Stat() (vfs.FileInfo, error)            { return nil, os.ErrNotExist }
func (nowhere) Sync() error                            { return nil }
func (nowhere) SyncTo(int64) (bool, error)             { return false, nil }
func (nowhere) SyncData() error                        { return nil }
func (nowhere) Prefetch(int64, int64) error            { return nil }
func (nowhere) Fd() uintptr                            { return vfs.InvalidFd }
