//go:build unix

package clock

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A guest is paused while its monotonic clock stands still. The next poll is up to 100 ms away, and until then the anchor says
// what the time was before the pause. The marker changes before the guest goes on, so no reading after that is given.
func TestMarkerIsReadWithEveryReading(t *testing.T) {
	for name, change := range map[string][2]uint64{"marker": {1, 0}, "generation": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			m := newVMMachine(t)
			m.poll("")
			must(t, m.c)
			m.page(4, 0, 0) // an update of the page that is no disruption
			must(t, m.c)
			m.page(6, change[0], change[1])
			refuses(t, m.c, ErrDisrupted)
			if iv, err := m.c.ReportedInterval(); err != ErrDisrupted {
				t.Errorf("it reports %s, %v", iv, err)
			}
			st := m.c.Status()
			if st.State != Disrupted || !strings.Contains(st.Why, "disruption marker") || st.Err != ErrDisrupted {
				t.Errorf("status: %s, %v, %q", st.State, st.Err, st.Why)
			}
			// A peer that knows it is not contradicted by what the anchor says.
			// True time has gone on by an hour, and the monotonic clock has not.
			if now := m.truth().Add(time.Hour); m.c.ObserveReported(2, now.Add(-time.Millisecond), now.Add(time.Millisecond)) || m.c.Observe(2, now.Add(-time.Millisecond), now.Add(time.Millisecond)) {
				t.Error("it contradicts a peer by what it does not believe itself")
			}
			m.poll("the hypervisor says that time was disrupted")
			refuses(t, m.c, ErrDisrupted)
			m.update++
			m.poll("")
			must(t, m.c)
		})
	}
}

// The marker changes between the first look at it and the monotonic clock, or between that and the second look: the pause was in
// the middle of a reading.
func TestMarkerChangesDuringAReading(t *testing.T) {
	for _, after := range []bool{false, true} {
		m := newVMMachine(t)
		var hook func()
		mono := m.machine.mono
		m.c = New(m, Options{Mono: func() time.Duration {
			if hook != nil && !after {
				hook()
			}
			now := mono()
			if hook != nil && after {
				hook()
			}
			return now
		}, Wall: m.machine.wall, Boot: func() (time.Duration, bool) { return mono(), true }})
		m.poll("")
		must(t, m.c)
		hook = func() { hook = nil; m.page(4, 1, 0) }
		if iv, err := m.c.Now(); err != ErrDisrupted {
			t.Errorf("paused in the middle of a reading (after the clock was read: %v): %s, %v", after, iv, err)
		}
		hook = func() { hook = nil; m.page(6, 2, 0) }
		if _, err := m.c.ReportedInterval(); err != ErrDisrupted {
			t.Errorf("paused in the middle of a report (after the clock was read: %v): %v", after, err)
		}
	}
}

// A sample that was taken before a disruption, and comes into use after it, gives no reading either.
func TestMarkerChangesBetweenAnswerAndAnchor(t *testing.T) {
	m := newVMMachine(t)
	s, err := m.Read(m.c.poll.host)
	if err != nil {
		t.Fatal(err)
	}
	m.page(4, 1, 0)
	if err := m.c.accept(s); err != nil {
		t.Fatal(err)
	}
	refuses(t, m.c, ErrDisrupted)
}

// Of several sources on two pages each page counts, and one page that all of them watch counts once.
func TestMarkersOfSeveralSources(t *testing.T) {
	a, b, c := newVMMachine(t), newVMMachine(t), newVMMachine(t)
	c.vm.path = a.path
	a.update, b.update, c.update = 1, 1, 1
	host := &a.machine
	all, err := NewAll(member{a, "a"}, member{b, "b"}, member{c, "c"})
	if err != nil {
		t.Fatal(err)
	}
	clk := host.clock(all)
	if err := clk.Poll(); err != nil {
		t.Fatal(err)
	}
	must(t, clk)
	n := 0
	for m := clk.anchor.Load().marker; m != nil; m = m.next {
		n++
	}
	if n != 2 {
		t.Errorf("%d pages are looked at, want 2", n)
	}
	b.page(4, 1, 0)
	refuses(t, clk, ErrDisrupted)
}

// member gives a source another name.
type member struct {
	Source
	name string
}

func (m member) String() string { return m.name }

// The page that readers look at outlives the source: it is unmapped when the last anchor that refers to it is gone, and not while
// anybody may read. Without that a change of the source would be a segmentation fault for whoever reads the clock just then.
func TestMarkerOutlivesItsSource(t *testing.T) {
	m := newVMMachine(t)
	m.poll("")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, _ = m.c.Now()
					runtime.Gosched()
				}
			}
		})
	}
	for i := range 8 {
		if err := os.Remove(m.path); err != nil { // as a daemon or a driver that is loaded again does
			t.Fatal(err)
		}
		m.page(uint32(2*i), 0, 0)
		m.poll("")
		runtime.GC()
	}
	m.vm.close()
	runtime.GC()
	must(t, m.c)
	close(done)
	wg.Wait()
}

func BenchmarkNowWithMarker(b *testing.B) {
	path := filepath.Join(b.TempDir(), "vmclock0")
	if err := os.WriteFile(path, vmclockPage(2, 5, 6), 0o644); err != nil {
		b.Fatal(err)
	}
	vm := vmclock{path: path}
	c := New(guarded{Static{D: time.Millisecond}, &vm}, Options{})
	if err := c.Poll(); err != nil {
		b.Fatal(err)
	}
	if c.anchor.Load().marker == nil {
		b.Fatal("no marker is looked at")
	}
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

// guarded is a source under a watch.
type guarded struct {
	Source
	vm *vmclock
}

func (g guarded) Read(h *Host) (Sample, error) {
	return g.vm.guard(func() (Sample, error) { return g.Source.Read(h) })
}
