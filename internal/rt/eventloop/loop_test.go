package eventloop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

// order runs ten tasks that sleep and yield, and returns the order in which they spoke.
func order(seed uint64) string {
	l := New(seed)
	var out strings.Builder
	for n := range 2 {
		r := l.Runtime(fmt.Sprint("n", n))
		for i := range 5 {
			r.Go("t", func() {
				for range 4 {
					fmt.Fprintf(&out, "%d.%d@%d ", n, i, r.Now()/time.Millisecond)
					r.Sleep(time.Duration(r.Uint64()%3) * time.Millisecond)
				}
			})
		}
	}
	l.Run(time.Second, nil)
	return out.String()
}

func TestSeedDecidesOrder(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		a, b := order(seed), order(seed)
		if a != b {
			t.Fatalf("seed %d ran twice:\n%s\n%s", seed, a, b)
		}
		seen[a] = true
	}
	if len(seen) < 20 {
		t.Errorf("20 seeds gave only %d orders", len(seen))
	}
}

func TestTimersOfOneInstantAreDrawn(t *testing.T) {
	first := map[int]int{}
	for seed := range uint64(40) {
		l := New(seed)
		r := l.Runtime("n")
		got := -1
		for i := range 4 {
			r.After(time.Millisecond, func() {
				if got < 0 {
					got = i
				}
			})
		}
		l.Run(time.Second, nil)
		first[got]++
	}
	if len(first) != 4 {
		t.Errorf("of 4 timers at one instant these ran first: %v", first)
	}
}

func TestSleepMovesTimeAndNothingElseDoes(t *testing.T) {
	l := New(1)
	r := l.Runtime("n")
	var woke []time.Duration
	r.Go("a", func() {
		for range 3 {
			r.Sleep(time.Hour)
			woke = append(woke, r.Now())
		}
	})
	if l.Run(150*time.Minute, nil) {
		t.Error("Run without a condition reported that it was met")
	}
	if want := []time.Duration{time.Hour, 2 * time.Hour}; !slices.Equal(woke, want) || l.Now() != 150*time.Minute {
		t.Errorf("woke at %v, now %s; want %v, 2h30m", woke, l.Now(), want)
	}
	if !l.Run(time.Hour, func() bool { return len(woke) == 3 }) {
		t.Error("the condition was met but Run did not say so")
	}
	if l.Now() != 3*time.Hour {
		t.Errorf("Run went on to %s after the condition was met", l.Now())
	}
}

func TestKillUnwinds(t *testing.T) {
	l := New(3)
	a, b := l.Runtime("a"), l.Runtime("b")
	var log []string
	sig := a.NewSignal()
	for i := range 3 {
		a.Go("waiter", func() {
			defer func() {
				log = append(log, fmt.Sprint("unwound ", i))
				a.Go("late", func() { log = append(log, "BAD: a task started on a killed runtime") })
				a.After(0, func() { log = append(log, "BAD: a timer of a killed runtime fired") })
				sig.Fire()
				a.Sleep(time.Second) // refused: the rest of this deferred call must not run
				log = append(log, "BAD: slept on a killed runtime")
			}()
			sig.Wait(rt.Forever)
			log = append(log, "BAD: a killed task went on")
		})
	}
	a.After(time.Second, func() { log = append(log, "BAD: a timer of a killed runtime fired") })
	b.Go("killer", func() {
		b.Sleep(500 * time.Millisecond)
		a.Kill()
		log = append(log, "killed")
		a.Kill() // nothing more happens
	})
	l.Run(time.Minute, nil)
	want := []string{"unwound 0", "unwound 1", "unwound 2", "killed"}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	if !a.Dead() || b.Dead() {
		t.Error("Dead is wrong")
	}
}

func TestKilledBeforeItRan(t *testing.T) {
	l := New(1)
	r := l.Runtime("n")
	r.Go("a", func() { t.Error("a task ran although its runtime was killed first") })
	r.Kill()
	l.Run(time.Second, nil)
}

func TestBlockingOnAKilledRuntimeIsLoud(t *testing.T) {
	l := New(1)
	a, b := l.Runtime("a"), l.Runtime("b")
	a.Kill()
	b.Go("stray", func() { a.Sleep(1) })
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "task b/stray blocks on the killed runtime a") {
			t.Errorf("panic was %q", p)
		}
	}()
	l.Run(time.Second, nil)
}

func TestPanicKeepsItsStack(t *testing.T) {
	l := New(1)
	l.Runtime("n").Go("boom", func() { explode() })
	defer func() {
		p := fmt.Sprint(recover())
		if !strings.Contains(p, "task n/boom: bang") || !strings.Contains(p, "explode") {
			t.Errorf("panic was %q", p)
		}
	}()
	l.Run(time.Second, nil)
}

//go:noinline
func explode() { panic("bang") }

func TestPauseHoldsTasksTimersAndArrivals(t *testing.T) {
	l := New(5)
	a, b := l.Runtime("a"), l.Runtime("b")
	var log []string
	say := func(s string) { log = append(log, fmt.Sprintf("%s@%d", s, l.Now()/time.Millisecond)) }
	sig := a.NewSignal()
	a.Go("sleeper", func() { a.Sleep(10 * time.Millisecond); say("slept") })
	a.Go("waiter", func() {
		a.Sleep(time.Millisecond)
		// The signal comes in time, but the task that waits for it is stopped: it must see the signal, not a timeout
		// that it would have missed.
		if !sig.Wait(200 * time.Millisecond) {
			say("BAD: timed out")
		}
		say("got signal")
	})
	a.After(20*time.Millisecond, func() { say("after") })
	l.At(2*time.Millisecond, func() { a.Pause(100 * time.Millisecond); a.Pause(50 * time.Millisecond) })
	l.At(30*time.Millisecond, func() {
		if !a.Paused() {
			t.Error("not paused")
		}
		a.Go("arrival", func() { say("arrived") })
		sig.Fire()
	})
	b.Go("other", func() { b.Sleep(40 * time.Millisecond); say("b runs") })
	l.Run(time.Second, nil)
	if log[0] != "b runs@40" {
		t.Errorf("the other runtime did not run: %q", log)
	}
	slices.Sort(log)
	want := []string{"after@100", "arrived@100", "b runs@40", "got signal@100", "slept@100"}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

func TestPauseTakesReadyTasksAndEndsOnKill(t *testing.T) {
	l := New(5)
	a := l.Runtime("a")
	ran := 0
	for range 3 {
		a.Go("t", func() { ran++ })
	}
	a.Pause(time.Second)
	l.Run(500*time.Millisecond, nil)
	if ran != 0 {
		t.Fatalf("%d ready tasks ran during the pause", ran)
	}
	a.Pause(2 * time.Second) // extended
	l.Run(time.Second, nil)
	if ran != 0 {
		t.Fatalf("%d tasks ran although the pause was extended", ran)
	}
	a.Kill()
	l.Run(time.Minute, nil)
	if ran != 0 || a.Paused() {
		t.Errorf("killed while paused: %d tasks ran, paused=%v", ran, a.Paused())
	}
}

func TestStall(t *testing.T) {
	l := New(1)
	l.Stall = func(runtime, task string) time.Duration {
		if task == "slow" {
			return time.Second
		}
		return 0
	}
	r := l.Runtime("n")
	var slow, fast time.Duration
	r.Go("slow", func() { slow = r.Now() })
	r.Go("fast", func() { fast = r.Now() })
	l.Run(time.Minute, nil)
	if slow != time.Second || fast != 0 {
		t.Errorf("slow ran at %s, fast at %s", slow, fast)
	}
}

func TestTimeouts(t *testing.T) {
	l := New(1)
	r := l.Runtime("n")
	r.Go("t", func() {
		s := r.NewSignal()
		if s.Wait(0) || s.Wait(-1) || s.Wait(time.Millisecond) || s.Fired() {
			t.Error("a signal that never came was reported")
		}
		if r.Now() != time.Millisecond {
			t.Errorf("waits of 0, -1ns and 1ms took %s", r.Now())
		}
		r.After(time.Millisecond, s.Fire)
		if !s.Wait(time.Hour) || r.Now() != 2*time.Millisecond {
			t.Errorf("the signal came at 2ms and was seen at %s", r.Now())
		}
		s.Fire() // nothing
		if !s.Wait(0) {
			t.Error("a signal does not stay fired")
		}
		stop := r.After(time.Millisecond, func() { t.Error("a stopped timer fired") })
		if !stop() || stop() {
			t.Error("stop must report once that it was in time")
		}
		f := rt.NewFuture[int](r)
		if _, err := f.Get(time.Millisecond); !errors.Is(err, rt.ErrTimeout) {
			t.Errorf("Get of an unset future: %v", err)
		}
	})
	l.Run(time.Hour, nil)
}

func TestSpinIsFound(t *testing.T) {
	l := New(1)
	l.limit = 1000
	r := l.Runtime("n")
	r.Go("spinner", func() {
		for {
			r.Sleep(0)
		}
	})
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "task n/spinner") {
			t.Errorf("panic was %q", p)
		}
	}()
	l.Run(time.Second, nil)
}

// BenchmarkSwitch is one task giving way to another and being resumed: two coroutine switches and the choice.
func BenchmarkSwitch(b *testing.B) {
	l := New(1)
	r := l.Runtime("n")
	n := 0
	for range 50 {
		r.Go("t", func() {
			for n < b.N {
				n++
				r.Sleep(time.Microsecond)
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	l.Run(rt.Forever/2, func() bool { return n >= b.N })
}
