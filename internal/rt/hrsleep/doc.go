// Package hrsleep sleeps for tens of microseconds and means it.
//
// time.Sleep wakes through the network poller when the process is idle, whose timeout is in whole milliseconds: 0.4 ms take
// over 1 ms, which would more than double a commit wait or an injected latency of 1 ms. A blocking nanosleep(2) is exact, but
// keeps its processor from all other goroutines until the runtime's monitor takes it away, up to 10 ms later; with two
// processors and some sleepers nothing else runs. Here the kernel's high-resolution timer makes a file descriptor readable,
// which the poller reports at once.
package hrsleep

import "time"

// finest is the longest sleep that gains from it.
const finest = 20 * time.Millisecond

// Sleep suspends the goroutine for at least d.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	if d > finest || !sleepFine(d) {
		time.Sleep(d)
	}
}
