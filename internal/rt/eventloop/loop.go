// Package eventloop is the runtime of simulation: every task is a coroutine, all of them are stepped by one loop on
// virtual time, and which of several ready tasks runs next is drawn from the seed.
//
//	E1  One task runs at a time; it runs until it blocks. So there are no data races, and a run depends on nothing but
//	    the seed and the code.
//	E2  Virtual time moves only when no task is ready, straight to the next timer.
//	E3  A killed runtime (a crashed node) never runs again: its tasks unwind at the point where they wait, its timers
//	    do not fire, and whatever its deferred calls ask of it is refused.
package eventloop

import (
	"container/heap"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

// Loop steps the tasks of all runtimes made from it. It is used from one goroutine.
type Loop struct {
	now    time.Duration
	rng    *rand.Rand
	timers timerHeap
	seq    uint64
	ready  []*task
	cur    *task
	steps  uint64

	// Trace, if set, is told each switch to a task. It must not block.
	Trace func(now time.Duration, runtime, task string)
}

// New makes a loop whose choices are drawn from the seed.
func New(seed uint64) *Loop {
	return &Loop{rng: rand.New(rand.NewPCG(seed, 0x6c6f6e6769747564))}
}

// Now is the virtual time since the loop began.
func (l *Loop) Now() time.Duration { return l.now }

// Steps counts task switches so far.
func (l *Loop) Steps() uint64 { return l.steps }

// Rand draws from the loop's seed.
func (l *Loop) Rand() *rand.Rand { return l.rng }

// At calls fn from the loop itself, not in a task, at virtual time t (at once if that has passed). fn must not block.
func (l *Loop) At(t time.Duration, fn func()) { l.push(&timer{at: t, fire: fn}) }

// Run steps until done returns true, until the limit of virtual time has passed since the call, or until nothing is
// left that could happen. It reports whether done returned true.
func (l *Loop) Run(limit time.Duration, done func() bool) bool {
	end := l.now + limit
	for {
		if done != nil && done() {
			return true
		}
		if len(l.ready) > 0 {
			l.step()
			continue
		}
		if l.timers.Len() == 0 || l.timers[0].at > end {
			l.now = max(l.now, end)
			return false
		}
		t := heap.Pop(&l.timers).(*timer)
		l.now = max(l.now, t.at)
		t.index = -1
		t.fire()
	}
}

func (l *Loop) step() {
	i := 0
	if n := len(l.ready); n > 1 {
		i = l.rng.IntN(n)
	}
	t := l.ready[i]
	l.ready[i] = l.ready[len(l.ready)-1]
	l.ready[len(l.ready)-1] = nil
	l.ready = l.ready[:len(l.ready)-1]
	t.queued = false
	if t.dead {
		return
	}
	l.steps++
	if l.Trace != nil {
		l.Trace(l.now, t.r.name, t.name)
	}
	l.cur = t
	_, alive := t.next()
	l.cur = nil
	if !alive {
		t.dead = true
		delete(t.r.tasks, t)
	}
}

func (l *Loop) makeReady(t *task) {
	if !t.queued && !t.dead {
		t.queued = true
		l.ready = append(l.ready, t)
	}
}

func (l *Loop) push(t *timer) {
	l.seq++
	t.seq = l.seq
	t.at = max(t.at, l.now)
	heap.Push(&l.timers, t)
}

func (l *Loop) cancel(t *timer) bool {
	if t.index < 0 {
		return false
	}
	heap.Remove(&l.timers, t.index)
	t.index = -1
	return true
}

// Runtime is one node's view of the loop.
type Runtime struct {
	l     *Loop
	name  string
	dead  bool
	tasks map[*task]struct{}
	order uint64
}

var _ rt.Runtime = (*Runtime)(nil)

// Runtime makes a runtime; its name appears in traces.
func (l *Loop) Runtime(name string) *Runtime {
	return &Runtime{l: l, name: name, tasks: map[*task]struct{}{}}
}

type task struct {
	r      *Runtime
	name   string
	id     uint64
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	queued bool
	dead   bool
}

type killed struct{}

// Go starts a task. On a killed runtime it does nothing.
func (r *Runtime) Go(name string, fn func()) {
	if r.dead {
		return
	}
	r.order++
	t := &task{r: r, name: name, id: r.order}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(killed); !ok {
					panic(fmt.Sprintf("%s/%s: %v", r.name, name, p))
				}
			}
		}()
		fn()
	})
	r.tasks[t] = struct{}{}
	r.l.makeReady(t)
}

// block suspends the current task until somebody makes it ready.
func (r *Runtime) block() {
	t := r.l.cur
	if t == nil {
		panic("eventloop: a blocking call outside of a task")
	}
	if r.dead || t.dead {
		panic(killed{})
	}
	if !t.yield(struct{}{}) {
		t.dead = true
		panic(killed{})
	}
}

// Now is the loop's virtual time.
func (r *Runtime) Now() time.Duration { return r.l.now }

// Uint64 draws from the loop's seed.
func (r *Runtime) Uint64() uint64 { return r.l.rng.Uint64() }

// Sleep suspends the task for d of virtual time.
func (r *Runtime) Sleep(d time.Duration) {
	if r.dead {
		panic(killed{})
	}
	t := r.l.cur
	tm := &timer{at: r.l.now + d, fire: func() { r.l.makeReady(t) }}
	r.l.push(tm)
	r.block()
}

// After runs fn as a task after d of virtual time.
func (r *Runtime) After(d time.Duration, fn func()) (stop func() bool) {
	if r.dead {
		return func() bool { return false }
	}
	tm := &timer{at: r.l.now + d, fire: func() { r.Go("after", fn) }}
	r.l.push(tm)
	return func() bool { return r.l.cancel(tm) }
}

// Kill ends the runtime: its tasks unwind now and nothing of it runs again. It is called from the loop (see At) or
// from a task of another runtime.
func (r *Runtime) Kill() {
	if r.dead {
		return
	}
	r.dead = true
	ts := make([]*task, 0, len(r.tasks))
	for t := range r.tasks {
		ts = append(ts, t)
	}
	sortTasks(ts) // unwinding runs deferred calls, so its order must not be a map's
	cur := r.l.cur
	for _, t := range ts {
		if t == cur {
			panic("eventloop: a task killed its own runtime; use Loop.At")
		}
		t.dead = true
		r.l.cur = t
		t.stop()
	}
	r.l.cur = cur
	r.tasks = nil
}

// Dead reports whether the runtime was killed.
func (r *Runtime) Dead() bool { return r.dead }
