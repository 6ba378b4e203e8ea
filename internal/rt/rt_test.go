package rt_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// both runs a test body as a task on either runtime: what holds in simulation must hold in production.
func both(t *testing.T, body func(t *testing.T, r rt.Runtime)) {
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		r := rt.New()
		done := make(chan struct{})
		r.Go("test", func() { defer close(done); body(t, r) })
		<-done
	})
	t.Run("eventloop", func(t *testing.T) {
		for seed := range uint64(20) {
			l := eventloop.New(seed)
			r := l.Runtime("n")
			done := false
			r.Go("test", func() { body(t, r); done = true })
			if !l.Run(time.Hour, func() bool { return done }) {
				t.Fatalf("seed %d: the body did not end", seed)
			}
		}
	})
}

func TestQueueKeepsOrderPerSenderAndLosesNothing(t *testing.T) {
	both(t, func(t *testing.T, r rt.Runtime) {
		const senders, each = 4, 50
		q := rt.NewQueue[[2]int](r, 0)
		g := rt.NewGroup(r)
		for s := range senders {
			g.Go("sender", func() {
				for i := range each {
					if !q.Push([2]int{s, i}) {
						t.Error("push refused")
					}
					if i%7 == 0 {
						r.Sleep(time.Microsecond)
					}
				}
			})
		}
		r.Go("closer", func() {
			if !g.Wait(rt.Forever) {
				t.Error("Wait(Forever) gave up")
			}
			q.Close()
		})
		var next [senders]int
		for {
			items, open := q.Take(rt.Forever)
			if !open {
				break
			}
			for _, it := range items {
				if it[1] != next[it[0]] {
					t.Errorf("sender %d: item %d came when %d was due", it[0], it[1], next[it[0]])
				}
				next[it[0]]++
			}
		}
		if next != [senders]int{each, each, each, each} {
			t.Errorf("received %v", next)
		}
		if q.Push([2]int{}) {
			t.Error("a closed queue took an item")
		}
	})
}

func TestQueueLimitTimeoutAndClose(t *testing.T) {
	both(t, func(t *testing.T, r rt.Runtime) {
		q := rt.NewQueue[int](r, 2)
		if items, open := q.Take(time.Millisecond); len(items) != 0 || !open {
			t.Errorf("empty queue: %v, open=%v", items, open)
		}
		if got := []bool{q.Push(1), q.Push(2), q.Push(3)}; !slices.Equal(got, []bool{true, true, false}) {
			t.Errorf("a queue of 2 took %v", got)
		}
		q.Close()
		if items, open := q.Take(0); !slices.Equal(items, []int{1, 2}) || !open {
			t.Errorf("what was pushed before Close: %v, open=%v", items, open)
		}
		if items, open := q.Take(rt.Forever); len(items) != 0 || open {
			t.Errorf("after Close: %v, open=%v", items, open)
		}
	})
}

func TestFutureIsSetOnceAndSeenByAll(t *testing.T) {
	both(t, func(t *testing.T, r rt.Runtime) {
		f := rt.NewFuture[int](r)
		g := rt.NewGroup(r)
		var mu sync.Mutex
		won, sum := 0, 0
		for i := 1; i <= 5; i++ {
			g.Go("get", func() {
				v, err := f.Get(rt.Forever)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				sum += v
				mu.Unlock()
			})
			g.Go("set", func() {
				if f.Set(7, nil) {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		if !g.Wait(time.Minute) {
			t.Error("tasks did not end")
		}
		if won != 1 || sum != 35 {
			t.Errorf("%d setters won, getters saw a sum of %d", won, sum)
		}
	})
}

func TestGroupWaits(t *testing.T) {
	both(t, func(t *testing.T, r rt.Runtime) {
		g := rt.NewGroup(r)
		if !g.Wait(0) {
			t.Error("an empty group is idle")
		}
		release := r.NewSignal()
		g.Go("t", func() { release.Wait(rt.Forever) })
		if g.Wait(time.Millisecond) {
			t.Error("Wait did not wait")
		}
		release.Fire()
		if !g.Wait(time.Minute) || !g.Wait(0) {
			t.Error("the group's task ended but Wait does not say so")
		}
	})
}

func TestAfterAndSleep(t *testing.T) {
	both(t, func(t *testing.T, r rt.Runtime) {
		begin := r.Now()
		f := rt.NewFuture[time.Duration](r)
		r.After(3*time.Millisecond, func() { f.Set(r.Now()-begin, nil) })
		if d, err := f.Get(time.Minute); err != nil || d < 3*time.Millisecond {
			t.Errorf("After(3ms) ran after %s (%v)", d, err)
		}
		begin = r.Now()
		r.Sleep(2 * time.Millisecond)
		if d := r.Now() - begin; d < 2*time.Millisecond {
			t.Errorf("Sleep(2ms) took %s", d)
		}
		stop := r.After(time.Hour, func() { t.Error("fired") })
		if !stop() {
			t.Error("stop was in time")
		}
	})
}

func TestJitter(t *testing.T) {
	r := rt.New()
	for range 1000 {
		if d := rt.Jitter(r, 100); d < 100 || d >= 150 {
			t.Fatalf("Jitter(100) = %d", d)
		}
	}
	if rt.Jitter(r, 1) != 1 || rt.Jitter(r, 0) != 0 {
		t.Error("tiny durations must stay")
	}
}
