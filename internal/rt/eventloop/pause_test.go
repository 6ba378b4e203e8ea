package eventloop

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// A task that is paused at what it is doing goes on before any other of its runtime, so that it may hold a mutex.
func TestPauseHereGoesOnFirst(t *testing.T) {
	for seed := range uint64(50) {
		l := New(seed)
		r, other := l.Runtime("n"), l.Runtime("o")
		var mu sync.Mutex
		var log []string
		note := func(r *Runtime, what string) { log = append(log, fmt.Sprintf("%s at %s", what, r.Now())) }
		r.Go("reader", func() {
			r.Sleep(time.Millisecond)
			mu.Lock()
			r.PauseHere(5 * time.Millisecond)
			r.PauseHere(4 * time.Millisecond) // is past
			note(r, "acts")
			mu.Unlock()
		})
		for range 5 {
			r.Go("waiter", func() {
				r.Sleep(3 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				note(r, "waits")
			})
		}
		other.Go("other", func() {
			other.Sleep(2 * time.Millisecond)
			note(other, "other")
		})
		if !l.Run(time.Second, func() bool { return len(log) == 7 }) {
			t.Fatalf("seed %d: %q", seed, log)
		}
		if want := []string{"other at 2ms", "acts at 5ms", "waits at 5ms"}; !slices.Equal(log[:3], want) {
			t.Fatalf("seed %d: %q", seed, log)
		}
	}
}

func TestPauseHereIsForOwnTasksOnly(t *testing.T) {
	l := New(1)
	r, other := l.Runtime("n"), l.Runtime("o")
	done := 0
	r.Go("a", func() { other.PauseHere(time.Hour); done++ })
	l.At(0, func() { r.PauseHere(time.Hour); done++ })
	if !l.Run(time.Second, func() bool { return done == 2 }) || r.Paused() || other.Paused() {
		t.Errorf("%d done, paused %v %v", done, r.Paused(), other.Paused())
	}
}

// A runtime that is killed while a task is paused in the midst of things unwinds that too.
func TestKillMidway(t *testing.T) {
	l := New(1)
	r := l.Runtime("n")
	unwound := false
	r.Go("a", func() {
		defer func() { unwound = true }()
		r.PauseHere(time.Second)
		t.Error("went on")
	})
	l.At(time.Millisecond, r.Kill)
	l.Run(2*time.Second, nil)
	if !unwound {
		t.Error("not unwound")
	}
}

// The clock of a suspended runtime stands still, and its timers with it; those of others do not. A paused one's do not either.
func TestSuspendedClockStandsStill(t *testing.T) {
	l := New(1)
	vm, stopped, other := l.Runtime("vm"), l.Runtime("stopped"), l.Runtime("other")
	var log []string
	for _, r := range []*Runtime{vm, stopped, other} {
		r.Go("sleeper", func() {
			r.Sleep(10 * time.Millisecond)
			log = append(log, fmt.Sprintf("%s slept until %s by its clock, %s by the loop's", r.name, r.Now(), l.Now()))
			sig := r.NewSignal()
			r.After(10*time.Millisecond, sig.Fire)
			sig.Wait(20 * time.Millisecond)
			log = append(log, fmt.Sprintf("%s at %s, %s", r.name, r.Now(), l.Now()))
		})
	}
	l.At(4*time.Millisecond, func() {
		stopped.Pause(34 * time.Millisecond)
		if !vm.Suspend(34*time.Millisecond) || vm.Suspend(50*time.Millisecond) {
			t.Error("suspended twice, or not at all")
		}
	})
	l.Run(time.Second, nil)
	want := []string{
		"other slept until 10ms by its clock, 10ms by the loop's", "other at 20ms, 20ms",
		"stopped slept until 34ms by its clock, 34ms by the loop's",
		"vm slept until 10ms by its clock, 40ms by the loop's",
		"stopped at 44ms, 44ms", "vm at 20ms, 50ms",
	}
	if !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
}

// A task that is suspended in the middle goes on first, as after PauseHere, and its clock has not moved.
func TestSuspendHere(t *testing.T) {
	l := New(1)
	r := l.Runtime("vm")
	r.Go("reader", func() {
		r.Sleep(time.Millisecond)
		before := r.Now()
		if !r.SuspendHere(time.Second) || r.Now() != before || l.Now() != time.Second {
			t.Errorf("at %s, %s by the loop", r.Now(), l.Now())
		}
		if r.SuspendHere(time.Millisecond) {
			t.Error("suspended into the past")
		}
	})
	l.Run(2*time.Second, nil)
	if r.SuspendHere(3 * time.Second) {
		t.Error("suspended although no task runs")
	}
}
