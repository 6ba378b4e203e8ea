package rt

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/rt/hrsleep"
	"github.com/longitude-db/longitude/internal/rt/workerpool"
)

// New returns the runtime of production: goroutines and the system's monotonic clock.
func New() Runtime { return &real{base: time.Now()} }

type real struct {
	base  time.Time
	tasks workerpool.Pool
}

func (r *real) Now() time.Duration     { return time.Since(r.base) }
func (r *real) Sleep(d time.Duration)  { hrsleep.Sleep(d) }
func (r *real) Go(_ string, fn func()) { r.tasks.Go(fn) }
func (r *real) NewSignal() Signal      { return &realSignal{ch: make(chan struct{})} }
func (r *real) Uint64() uint64         { return rand.Uint64() }
func (r *real) After(d time.Duration, fn func()) (stop func() bool) {
	return time.AfterFunc(d, fn).Stop
}

// timers are used again: most waits end before their limit.
var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

type realSignal struct {
	once sync.Once
	ch   chan struct{}
}

func (s *realSignal) Fire() { s.once.Do(func() { close(s.ch) }) }

func (s *realSignal) Fired() bool {
	select {
	case <-s.ch:
		return true
	default:
		return false
	}
}

func (s *realSignal) Wait(limit time.Duration) bool {
	if limit == Forever {
		<-s.ch
		return true
	}
	if s.Fired() {
		return true
	}
	if limit <= 0 {
		return false
	}
	t := timers.Get().(*time.Timer)
	t.Reset(limit)
	defer timers.Put(t)
	defer t.Stop() // after which nothing is in its channel
	select {
	case <-s.ch:
		return true
	case <-t.C:
		return s.Fired()
	}
}
