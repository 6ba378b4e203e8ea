package eventloop

import "time"

// Pause keeps the runtime's tasks from running until virtual time until (E4). A second pause can only extend the first.
// It is called from the loop or from a task of another runtime.
func (r *Runtime) Pause(until time.Duration) {
	if l := r.l; l.cur != nil && l.cur.r == r {
		panic("eventloop: a task paused its own runtime; use PauseHere, or Loop.At")
	}
	r.hold(until)
}

// PauseHere pauses the runtime from within one of its tasks, at whatever it is doing: between reading a clock, say, and
// acting on it. When the pause is over this task goes on before any other of the runtime. It may hold mutexes, as a
// goroutine may whose process is stopped: until then the loop itself must not call what waits for them. Outside of a task of
// the runtime, or if the runtime is paused for longer already, it does nothing and returns false.
func (r *Runtime) PauseHere(until time.Duration) bool {
	t := r.l.cur
	if t == nil || t.r != r || t.dead || !r.hold(until) {
		return false
	}
	r.midway = t
	block(t)
	return true
}

// Suspend is Pause with the runtime's clock standing still (E6). It does nothing, and returns false, if the runtime is paused
// already.
func (r *Runtime) Suspend(until time.Duration) bool {
	if r.Paused() {
		return false
	}
	r.Pause(until)
	return r.stand(until)
}

// SuspendHere is PauseHere with the runtime's clock standing still (E6).
func (r *Runtime) SuspendHere(until time.Duration) bool {
	t := r.l.cur
	if t == nil || t.r != r || t.dead || r.Paused() || !r.hold(until) {
		return false
	}
	r.stand(until)
	r.midway = t
	block(t)
	return true
}

// stand puts off what goes by the runtime's clock.
func (r *Runtime) stand(until time.Duration) bool {
	d := until - r.l.now
	if r.dead || d <= 0 {
		return false
	}
	r.stood += d
	for _, t := range r.l.timers {
		if t.of == r {
			t.at += d
		}
	}
	r.l.timers.order()
	return true
}

func (r *Runtime) hold(until time.Duration) bool {
	l := r.l
	if r.dead || until <= l.now || until <= r.pausedUntil {
		return false
	}
	r.pausedUntil = until
	ready := l.ready[:0]
	for _, t := range l.ready {
		if t.r == r {
			r.held = append(r.held, t)
		} else {
			ready = append(ready, t)
		}
	}
	clear(l.ready[len(ready):])
	l.ready = ready
	l.push(&timer{at: until, fire: r.resume})
	return true
}

func (r *Runtime) resume() {
	if r.l.now < r.pausedUntil {
		return // the pause was extended
	}
	if t := r.midway; t != nil && !t.dead {
		r.l.first = append(r.l.first, t)
	}
	r.midway = nil
	for _, t := range r.held {
		if !t.dead {
			r.l.ready = append(r.l.ready, t)
		}
	}
	r.held = nil
}
