package rpc

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepExactly sleeps to some tens of microseconds. time.Sleep rounds up to whole milliseconds when the process is idle, which
// would double a latency of 1 ms.
func sleepExactly(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&ts, &ts) == unix.EINTR {
	}
}
