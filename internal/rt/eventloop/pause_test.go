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
