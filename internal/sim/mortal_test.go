package sim

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

// mortal is the runtime of production for one process among several in a test: after kill its tasks end where they wait,
// as if the process were gone.
type mortal struct {
	base  time.Time
	rt    rt.Runtime
	dead  chan struct{}
	once  sync.Once
	tasks atomic.Int64
}

func newMortal() *mortal {
	return &mortal{base: time.Now(), rt: rt.New(), dead: make(chan struct{})}
}

func (m *mortal) kill() { m.once.Do(func() { close(m.dead) }) }

func (m *mortal) isDead() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

// drained waits until no task is left.
func (m *mortal) drained(limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if m.tasks.Load() == 0 {
			return true
		}
	}
	return false
}

func (m *mortal) Now() time.Duration { return m.rt.Now() }
func (m *mortal) Uint64() uint64     { return m.rt.Uint64() }

func (m *mortal) Go(_ string, fn func()) {
	if m.isDead() {
		return
	}
	m.tasks.Add(1)
	go func() {
		defer m.tasks.Add(-1)
		fn()
	}()
}

func (m *mortal) Sleep(d time.Duration) { m.NewSignal().Wait(max(d, 0)) }

func (m *mortal) After(d time.Duration, fn func()) func() bool {
	return time.AfterFunc(d, func() { m.Go("after", fn) }).Stop
}

func (m *mortal) NewSignal() rt.Signal { return &mortalSignal{m: m, ch: make(chan struct{})} }

type mortalSignal struct {
	m    *mortal
	once sync.Once
	ch   chan struct{}
}

func (s *mortalSignal) Fire() { s.once.Do(func() { close(s.ch) }) }

func (s *mortalSignal) Fired() bool {
	select {
	case <-s.ch:
		return true
	default:
		return false
	}
}

func (s *mortalSignal) Wait(limit time.Duration) bool {
	if s.m.isDead() {
		runtime.Goexit()
	}
	if s.Fired() {
		return true
	}
	if limit <= 0 {
		return false
	}
	var timeout <-chan time.Time
	if limit != rt.Forever {
		t := time.NewTimer(limit)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-s.ch:
		return true
	case <-timeout:
		return s.Fired()
	case <-s.m.dead:
		runtime.Goexit()
		return false
	}
}

func TestMortal(t *testing.T) {
	m := newMortal()
	var unwound, ran atomic.Int64
	for range 3 {
		m.Go("t", func() {
			defer unwound.Add(1)
			m.Sleep(time.Hour)
			ran.Add(1)
		})
	}
	m.Go("t", func() {
		defer unwound.Add(1)
		m.NewSignal().Wait(rt.Forever)
		ran.Add(1)
	})
	time.Sleep(5 * time.Millisecond)
	m.kill()
	if !m.drained(5*time.Second) || unwound.Load() != 4 || ran.Load() != 0 {
		t.Errorf("%d tasks unwound, %d went on", unwound.Load(), ran.Load())
	}
	m.Go("late", func() { t.Error("a task started after the kill") })
}
