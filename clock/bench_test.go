package clock

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"
)

// What a reading costs, in one run to be compared: time.Now, ours, ours from 8 goroutines, and the way that other clients
// of chronyd take (a mutex, two clock reads, floating point).

var sink int64

func BenchmarkTimeNow(b *testing.B) {
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		n += int64(time.Now().Nanosecond())
	}
	sink = n
}

func BenchmarkNow(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	b.ReportAllocs()
	var n Instant
	for b.Loop() {
		iv, err := c.Now()
		if err != nil {
			b.Fatal(err)
		}
		n += iv.Latest
	}
	sink = int64(n)
}

func BenchmarkNow8Goroutines(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	parallel8(b, func() error { _, err := c.Now(); return err })
}

func BenchmarkTimeNow8Goroutines(b *testing.B) {
	parallel8(b, func() error { _ = time.Now(); return nil })
}

func BenchmarkObserve(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	iv, _ := c.Now()
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(1, iv.Earliest, iv.Latest+1<<40)
	}
}

func BenchmarkMutexAndFloat(b *testing.B) {
	m := newMutexClock()
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		_, l := m.now()
		n += l.UnixNano()
	}
	sink = n
}

func BenchmarkMutexAndFloat8Goroutines(b *testing.B) {
	m := newMutexClock()
	parallel8(b, func() error { m.now(); return nil })
}

func parallel8(b *testing.B, f func() error) {
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// mutexClock is the baseline: the daemon's figures under a mutex, evaluated in floating point against the wall clock.
type mutexClock struct {
	mu                        sync.Mutex
	ref                       time.Time
	delay, dispersion, corr   float64
	skewPPM, residPPM, maxPPM float64
}

func newMutexClock() *mutexClock {
	return &mutexClock{ref: time.Now(), delay: 1e-4, dispersion: 2e-5, corr: 1e-6, skewPPM: 0.1, residPPM: 0.01, maxPPM: 50}
}

func (m *mutexClock) now() (earliest, latest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := time.Now()
	age := time.Since(m.ref).Seconds()
	e := m.delay/2 + m.dispersion + math.Abs(m.corr) + age*(m.skewPPM+math.Abs(m.residPPM)+m.maxPPM)*1e-6
	d := time.Duration(math.Ceil(e * 1e9))
	return t.Add(-d), t.Add(d)
}
