//go:build unix

package clock

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a page that another process, or the hypervisor, writes at any moment.
//
// HAZARD: if its writer truncates the file, touching the page is a SIGBUS, which kills a Go program unless the goroutine has
// asked for a panic. So the page is touched in copy alone, by the goroutine that polls. Readers of the clock never see it, except
// for the hypervisor's (share), which is a device.
type mapping struct {
	path string
	mem  []byte
	file fileID
}

// open maps the file at path, again if that is another file by now: a daemon that removes its file and makes a new one leaves
// the old mapping behind as it was, for ever. size is what a regular file has to hold.
func (m *mapping) open(size int64) error {
	var st unix.Stat_t
	if err := unix.Stat(m.path, &st); err != nil {
		m.close()
		return &fs.PathError{Op: "stat", Path: m.path, Err: err}
	}
	if regular := st.Mode&unix.S_IFMT == unix.S_IFREG; regular && st.Size < size {
		m.close()
		return fmt.Errorf("%s has %d bytes, fewer than %d: it is being made, or is something else", m.path, st.Size, size)
	} else if !regular && st.Mode&unix.S_IFMT != unix.S_IFCHR {
		m.close()
		return fmt.Errorf("%s is neither a file nor a character device", m.path)
	}
	file := fileID{uint64(st.Dev), uint64(st.Ino)}
	if m.mem != nil && m.file == file {
		return nil
	}
	m.close()
	mem, err := mapFile(m.path)
	if err != nil {
		return err
	}
	// Between Stat and mapFile another file may have come: then the next call maps it.
	m.mem, m.file = mem, file
	return nil
}

// mapFile maps the first page of a file.
func mapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // what was put in its place must not make us wait
	if err != nil {
		return nil, err
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &fs.PathError{Op: "mmap", Path: path, Err: err}
	}
	return mem, nil
}

// share maps the page once more, for readers: that mapping stays for as long as anything refers to it. If another file is at the path
// by now, readers see a marker that differs from what was copied, or the next open finds out.
func (m *mapping) share() (*sharedPage, error) {
	mem, err := mapFile(m.path)
	if err != nil {
		return nil, err
	}
	p := &sharedPage{file: m.file, words: (*[vmclockBytes / 8]uint64)(unsafe.Pointer(&mem[0]))}
	runtime.AddCleanup(p, func(mem []byte) { _ = unix.Munmap(mem) }, mem)
	return p, nil
}

func (m *mapping) close() {
	if m.mem != nil {
		_ = unix.Munmap(m.mem)
		m.mem = nil
	}
}

// copyTries bounds the attempts at a copy between two updates, which take some 50 ns each.
const copyTries = 100

// copy takes a copy of the first len(to) bytes between two updates of the writer, who makes the number at seq odd, changes
// what he wants to, and makes it even again. seq is the offset of a word of 32 bits, to may have any multiple of 8 bytes.
// Every access is atomic and so ordered: none moves before the first look at the number or behind the second one.
func (m *mapping) copy(to []byte, seq int, number func(word uint32) uint32) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface {
			error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		err = fmt.Errorf("%s was truncated while it was read (%w)", m.path, fault)
		m.close()
	}()
	word := (*uint32)(unsafe.Pointer(&m.mem[seq]))
	for range copyTries {
		before := atomic.LoadUint32(word)
		if number(before)%2 != 0 {
			continue
		}
		for i := 0; i < len(to); i += 8 {
			binary.NativeEndian.PutUint64(to[i:], atomic.LoadUint64((*uint64)(unsafe.Pointer(&m.mem[i]))))
		}
		if atomic.LoadUint32(word) == before {
			// The word was copied once more, as part of its neighbours: no update began, so it is the same.
			return nil
		}
	}
	return fmt.Errorf("%s: %w (tried %d times)", m.path, errTorn, copyTries)
}
