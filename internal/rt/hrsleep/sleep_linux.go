package hrsleep

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// timer is a timerfd that the runtime's poller watches.
type timer struct {
	f   *os.File // closed by its finalizer when the pool lets go of it
	fd  int
	buf [8]byte
}

var timers = sync.Pool{New: func() any {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return (*timer)(nil) // out of descriptors: time.Sleep will do
	}
	return &timer{f: os.NewFile(uintptr(fd), "timerfd"), fd: fd}
}}

// sleepFine reports whether it has slept.
func sleepFine(d time.Duration) bool {
	t := timers.Get().(*timer)
	if t == nil {
		return false
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(t.fd, 0, &spec, nil); err != nil {
		return false
	}
	if _, err := t.f.Read(t.buf[:]); err != nil {
		return false
	}
	timers.Put(t)
	return true
}
