// Package rt is the small runtime on which every package that must replay from a seed runs: it spawns tasks, sleeps, and
// hands results from one task to another. In production a task is a goroutine (New); in simulation it is a coroutine
// on one event loop with virtual time (package eventloop), and the same seed gives the same interleaving.
//
//	R1  Code in clock, cluster, replica, route and txn blocks only through this package. It starts no goroutine,
//	    makes no channel, reads no time but Runtime.Now (durations) and clock.Clock (order), and draws no randomness
//	    but Runtime.Uint64. Test imports_test.go at the module's root holds this.
//	R2  A sync.Mutex may be used, but is never held across a call that blocks (Sleep, Wait, Get, Take): under the
//	    event loop the other tasks could then never release it.
//	R3  Every wait has a limit, so nothing needs to be cancelled from outside; a context is asked at loop heads.
package rt

import (
	"errors"
	"math"
	"time"
)

// Forever is the limit of a wait that ends only by the event waited for.
const Forever = time.Duration(math.MaxInt64)

// ErrTimeout reports that a wait reached its limit.
var ErrTimeout = errors.New("timed out")

// Runtime spawns tasks and tells monotonic time. Its methods may be called from any task of the same runtime.
type Runtime interface {
	// Now is monotonic time since an arbitrary origin of this runtime. It orders nothing between nodes.
	Now() time.Duration
	// Sleep suspends the calling task for at least d.
	Sleep(d time.Duration)
	// Go starts fn as a task. The name appears in traces.
	Go(name string, fn func())
	// After runs fn as a task of its own once d has passed. The returned func prevents that and reports whether it
	// was in time.
	After(d time.Duration, fn func()) (stop func() bool)
	// NewSignal makes a one-shot event.
	NewSignal() Signal
	// Uint64 draws a random number: from the seed in simulation, from the system otherwise.
	Uint64() uint64
}

// Signal is an event that happens at most once.
type Signal interface {
	// Fire makes it happen. Further calls do nothing.
	Fire()
	// Fired reports whether it has happened.
	Fired() bool
	// Wait suspends the task until it has happened (true) or until the limit has passed (false).
	Wait(limit time.Duration) bool
}

// Unwinds reports whether a recovered value is that of a task which is being unwound, because its runtime was killed. A task that
// recovers it panics with it again.
func Unwinds(p any) bool {
	_, is := p.(interface{ UnwindsTask() })
	return is
}

// Jitter returns a duration drawn evenly from [d, d+d/2), to spread retries of many tasks.
func Jitter(r Runtime, d time.Duration) time.Duration {
	if d < 2 {
		return d
	}
	return d + time.Duration(r.Uint64()%uint64(d/2))
}
