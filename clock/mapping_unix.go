//go:build unix

package clock

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a page that another process, or the hypervisor, writes at any moment.
//
// HAZARD: if its writer truncates the file, touching the page is a SIGBUS, which kills a Go program unless the goroutine has
// asked for a panic. So the page is touched in copy alone, by the goroutine that polls; readers of the clock never see it.
type mapping struct {
	path string
	mem  []byte
	dev  uint64
	ino  uint64
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
	if m.mem != nil && m.dev == uint64(st.Dev) && m.ino == uint64(st.Ino) {
		return nil
	}
	m.close()
	f, err := os.OpenFile(m.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // what was put in its place must not make us wait
	if err != nil {
		return err
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return &fs.PathError{Op: "mmap", Path: m.path, Err: err}
	}
	// Between Stat and OpenFile another file may have come: then the next call maps it.
	m.mem, m.dev, m.ino = mem, uint64(st.Dev), uint64(st.Ino)
	return nil
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
