package clock

import (
	"strings"
	"testing"
	"time"
)

// machine is a host whose clocks a test moves: true time, steps of the wall clock, suspension.
type machine struct {
	world
	stepped, slept time.Duration
}

func (m *machine) wall() Instant               { return m.truth().Add(m.stepped + m.slept) }
func (m *machine) boot() (time.Duration, bool) { return m.mono() + m.slept, true }

func (m *machine) clock(src Source) *Clock {
	return New(src, Options{Mono: m.mono, Wall: m.wall, Boot: m.boot})
}

// Somebody steps the system clock. Readers do not see it, because they read the anchor and the monotonic clock; the next
// poll does, whatever the source reports.
func TestStepOfTheWallClock(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, 2 * time.Microsecond, -2 * time.Microsecond, -time.Second} {
		m := &machine{}
		c := m.clock(Static{D: 500 * time.Millisecond})
		_ = c.Poll()
		before := must(t, c)
		m.stepped = step
		m.advance(time.Millisecond)
		if iv := must(t, c); iv.Earliest.Sub(before.Earliest) != time.Millisecond {
			t.Fatalf("a step of %s reached a reader", step)
		}
		if err := c.Poll(); err == nil || !strings.Contains(err.Error(), "stepped by "+step.String()) {
			t.Fatalf("step of %s: poll said %v", step, err)
		}
		refuses(t, c, ErrDisrupted)
		m.advance(100 * time.Millisecond)
		_ = c.Poll()
		if step == -time.Second { // more than the bound: it has to wait for what it gave out
			refuses(t, c, ErrDisrupted)
			m.advance(time.Second)
			_ = c.Poll()
		}
		if iv := must(t, c); iv.Earliest < before.Earliest {
			t.Fatalf("step of %s: earliest went back", step)
		}
	}
}

func TestNoStep(t *testing.T) {
	m := &machine{}
	c := m.clock(Static{D: time.Millisecond})
	for range 1000 {
		m.advance(100*time.Millisecond + 7)
		m.stepped += 10 // the differences that rounding and the vDSO show
		if err := c.Poll(); err != nil {
			t.Fatal(err)
		}
	}
}

// The machine sleeps: the monotonic clock stands still, the wall clock does not.
func TestSuspend(t *testing.T) {
	m := &machine{}
	c := m.clock(NewSim(Conditions{Bound: time.Millisecond}, m.truth)) // a source that would not see it
	_ = c.Poll()
	must(t, c)
	m.slept = 3 * time.Second
	m.advance(time.Millisecond)
	if err := c.Poll(); err == nil || !strings.Contains(err.Error(), "suspended for 3s") {
		t.Fatalf("poll said %v", err)
	}
	refuses(t, c, ErrDisrupted)
	m.advance(time.Millisecond)
	_ = c.Poll()
	must(t, c)
}

func TestPairOnTheRealMachine(t *testing.T) {
	c := New(Static{D: time.Millisecond}, Options{})
	var worst time.Duration
	for range 2000 {
		p := c.poll.host.Pair()
		if p.Latest < p.Earliest {
			t.Fatalf("%+v", p)
		}
		worst = max(worst, p.Latest.Sub(p.Earliest))
		if what, yes := c.poll.host.disruption(); yes {
			t.Fatalf("nothing happened, but: %s", what)
		}
	}
	t.Logf("widest of 2000 pairs: %s", worst)
}
