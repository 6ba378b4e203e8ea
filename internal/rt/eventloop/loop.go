// Package eventloop is the runtime of simulation: every task is a coroutine, all of them are stepped by one loop on
// virtual time, and which of several ready tasks runs next is drawn from the seed.
//
//	E1  One task runs at a time; it runs until it blocks. So there are no data races, and a run depends on nothing but
//	    the seed and the code.
//	E2  Virtual time moves only when no task is ready, straight to the next timer.
//	E3  A killed runtime (a crashed node) never runs again: its tasks unwind at the point where they wait, its timers
//	    do not fire, and whatever its deferred calls ask of it is refused.
//	E4  A paused runtime (a stopped process, a stalled machine) runs no task until its time has come. Its timers go off
//	    and its messages arrive meanwhile, as they do in a kernel, and are seen when it goes on. No task notices the
//	    pause except by reading a clock.
//	E5  A task that runs forever at one instant is a bug of the code under test: the loop panics and names it.
//	E6  A suspended runtime (a virtual machine that does not run) is paused, and its own clock stands still: Now and its timers
//	    go on from where they were.
package eventloop

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	first  []*task // that go on before any other: they were paused while they ran (PauseHere)
	cur    *task
	spare  []*coroutine // of tasks that have ended
	steps  uint64
	spun   int // steps since virtual time last moved; at most limit (E5)
	limit  int

	// Trace, if set, is told each switch to a task. It must not block.
	Trace func(now time.Duration, runtime, task string)
	// Stall, if set, says how long a task that has become ready waits for a processor. Without it running takes no time
	// at all, and what lies between reading a clock and acting on it is never long.
	Stall func(runtime, task string) time.Duration
}

// spinLimit is how many steps may run at one instant (E5): far above what any burst of work needs.
const spinLimit = 5_000_000

// New makes a loop whose choices are drawn from the seed.
func New(seed uint64) *Loop {
	return &Loop{rng: rand.New(rand.NewPCG(seed, 0x6c6f6e6769747564)), limit: spinLimit}
}

// Now is the virtual time since the loop began.
func (l *Loop) Now() time.Duration { return l.now }

// Steps counts task switches so far.
func (l *Loop) Steps() uint64 { return l.steps }

// Rand draws from the loop's seed.
func (l *Loop) Rand() *rand.Rand { return l.rng }

// At calls fn from the loop itself, not in a task, at virtual time t (if that has passed, once no task is ready). fn must
// not block.
func (l *Loop) At(t time.Duration, fn func()) { l.push(&timer{at: t, fire: fn}) }

// Run steps until done returns true, until the limit of virtual time has passed since the call, or until nothing is
// left that could happen. It reports whether done returned true.
func (l *Loop) Run(limit time.Duration, done func() bool) bool {
	end := l.now + limit
	for {
		if done != nil && done() {
			return true
		}
		if len(l.ready)+len(l.first) > 0 {
			l.step()
			continue
		}
		if len(l.timers) == 0 || l.timers[0].at > end {
			l.now = max(l.now, end)
			return false
		}
		// All timers of one instant go off before any task runs, so that the order of the tasks that they wake is drawn
		// from the seed and not that of setting the timers.
		if l.timers[0].at > l.now {
			l.now, l.spun = l.timers[0].at, 0
		}
		for len(l.timers) > 0 && l.timers[0].at <= l.now {
			l.timers.pop().fire()
		}
	}
}

// next takes one of the ready tasks out.
func (l *Loop) next() *task {
	if len(l.first) > 0 {
		t := l.first[0]
		l.first = l.first[1:]
		return t
	}
	i := 0
	if n := len(l.ready); n > 1 {
		i = l.rng.IntN(n)
	}
	t := l.ready[i]
	l.ready[i] = l.ready[len(l.ready)-1]
	l.ready[len(l.ready)-1] = nil
	l.ready = l.ready[:len(l.ready)-1]
	return t
}

func (l *Loop) step() {
	t := l.next()
	t.queued = false
	if t.dead {
		return
	}
	l.steps++
	if l.spun++; l.spun > l.limit {
		panic(fmt.Sprintf("eventloop: %d steps at %s without time moving; now in task %s/%s", l.spun, l.now, t.r.name, t.name))
	}
	if l.Trace != nil {
		l.Trace(l.now, t.r.name, t.name)
	}
	l.cur = t
	t.co.next()
	l.cur = nil
	if t.co.fn == nil {
		t.dead = true
		t.r.drop(t)
		l.retire(t.co)
	}
}

func (l *Loop) makeReady(t *task) {
	if t.queued || t.dead {
		return
	}
	t.queued = true
	if l.Stall != nil {
		if d := l.Stall(t.r.name, t.name); d > 0 {
			l.push(&timer{at: l.now + d, fire: func() { l.admit(t) }})
			return
		}
	}
	l.admit(t)
}

// admit lets a ready task run, unless its runtime is paused (E4).
func (l *Loop) admit(t *task) {
	switch {
	case t.dead:
	case l.now < t.r.pausedUntil:
		t.r.held = append(t.r.held, t)
	default:
		l.ready = append(l.ready, t)
	}
}

func (l *Loop) push(t *timer) {
	l.seq++
	t.seq = l.seq
	t.at = max(t.at, l.now)
	l.timers.push(t)
}

func (l *Loop) cancel(t *timer) bool {
	if t.index < 0 {
		return false
	}
	l.timers.remove(t)
	return true
}

// Runtime is one node's view of the loop.
type Runtime struct {
	l     *Loop
	name  string
	dead  bool
	tasks []*task // that have not ended, in no order
	order uint64

	pausedUntil time.Duration
	held        []*task // ready, but the runtime is paused
	midway      *task   // paused while it ran

	stood time.Duration // for how long its clock has stood still (E6)
}

var _ rt.Runtime = (*Runtime)(nil)

// Runtime makes a runtime; its name appears in traces.
func (l *Loop) Runtime(name string) *Runtime {
	return &Runtime{l: l, name: name}
}

type task struct {
	r      *Runtime
	name   string
	id     uint64
	index  int // in r.tasks
	co     *coroutine
	queued bool
	dead   bool
}

// drop takes a task that has ended off the list.
func (r *Runtime) drop(t *task) {
	last := len(r.tasks) - 1
	if last < t.index || r.tasks[t.index] != t {
		return // the runtime was killed
	}
	r.tasks[t.index] = r.tasks[last]
	r.tasks[t.index].index = t.index
	r.tasks[last] = nil
	r.tasks = r.tasks[:last]
}

type killed struct{}

// UnwindsTask is for rt.Unwinds.
func (killed) UnwindsTask() {}

// Go starts a task. On a killed runtime it does nothing.
func (r *Runtime) Go(name string, fn func()) {
	if r.dead {
		return
	}
	r.order++
	t := &task{r: r, name: name, id: r.order, co: r.l.coroutine()}
	t.co.fn, t.co.task = fn, t
	t.index, r.tasks = len(r.tasks), append(r.tasks, t)
	r.l.makeReady(t)
}

// current is the task that is about to block on something of this runtime.
func (r *Runtime) current() *task {
	t := r.l.cur
	switch {
	case t == nil:
		panic("eventloop: a blocking call outside of a task, on runtime " + r.name)
	case t.dead || t.r.dead:
		panic(killed{}) // a deferred call of a task that is being unwound
	case r.dead:
		// Nothing would ever wake it. Unwinding it silently would hide the mistake.
		panic(fmt.Sprintf("eventloop: task %s/%s blocks on the killed runtime %s", t.r.name, t.name, r.name))
	}
	return t
}

// block suspends the current task until somebody makes it ready.
func block(t *task) {
	if !t.co.yield(struct{}{}) {
		t.dead = true
		panic(killed{})
	}
}

// Now is the loop's virtual time, less what the runtime was suspended for.
func (r *Runtime) Now() time.Duration { return r.l.now - r.stood }

// Uint64 draws from the loop's seed.
func (r *Runtime) Uint64() uint64 { return r.l.rng.Uint64() }

// Sleep suspends the task for d of virtual time.
func (r *Runtime) Sleep(d time.Duration) {
	t := r.current()
	r.l.push(&timer{at: r.l.now + d, of: r, fire: func() { r.l.makeReady(t) }})
	block(t)
}

// After runs fn as a task after d of virtual time.
func (r *Runtime) After(d time.Duration, fn func()) (stop func() bool) {
	if r.dead {
		return func() bool { return false }
	}
	tm := &timer{at: r.l.now + d, of: r, fire: func() { r.Go("after", fn) }}
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
	ts := slices.Clone(r.tasks)
	sortTasks(ts)
	cur := r.l.cur
	for _, t := range ts {
		if t == cur {
			panic("eventloop: a task killed its own runtime; use Loop.At")
		}
		t.dead = true
		r.l.cur = t
		t.co.stop()
	}
	r.l.cur = cur
	r.tasks, r.held = nil, nil
}

// Paused reports whether the runtime is paused.
func (r *Runtime) Paused() bool { return !r.dead && r.l.now < r.pausedUntil }

// Dead reports whether the runtime was killed.
func (r *Runtime) Dead() bool { return r.dead }
