//go:build unix

package clock

import (
	"encoding/binary"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writable is a segment as its writer maps it.
type writable struct{ m mapping }

func (w *writable) open(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.m.mem, err = unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.m.close)
}

// update writes v into three fields that are far apart, between an odd generation and the even one gen.
func (w *writable) update(gen uint16, v int64) {
	word := func(g uint16) uint32 {
		var b [4]byte
		binary.NativeEndian.PutUint16(b[:], 2)
		binary.NativeEndian.PutUint16(b[2:], g)
		return binary.NativeEndian.Uint32(b[:])
	}
	at := func(i int) unsafe.Pointer { return unsafe.Pointer(&w.m.mem[i]) }
	atomic.StoreUint32((*uint32)(at(12)), word(gen-1))
	atomic.StoreInt64((*int64)(at(48)), v)
	runtime.Gosched() // where a reader does most harm
	atomic.StoreInt64((*int64)(at(56)), v)
	atomic.StoreUint32((*uint32)(at(64)), uint32(v))
	atomic.StoreUint32((*uint32)(at(12)), word(gen))
}
