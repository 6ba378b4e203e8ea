package sim

import (
	"math/rand/v2"
	"time"
)

func choose(w *World, r *rand.Rand, ok func(*Machine) bool) *Machine {
	var ms []*Machine
	for _, m := range w.Machines {
		if ok(m) {
			ms = append(ms, m)
		}
	}
	if len(ms) == 0 {
		return nil
	}
	return ms[r.IntN(len(ms))]
}

func crash(w *World, r *rand.Rand, power bool) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.Crash(power)
	if r.IntN(8) == 0 { // the room loses power
		for _, o := range w.Machines {
			if o.Up() && power {
				o.Crash(true)
				w.Loop.At(w.Loop.Now()+time.Duration(r.Int64N(int64(time.Second))), o.Boot)
			}
		}
	}
	return m.Boot, true
}

func stopCleanly(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil {
		return nil, false
	}
	stopped, due := false, false
	m.StopCleanly(func() {
		stopped = true
		if due {
			m.Boot()
		}
	})
	return func() {
		due = true
		if stopped {
			m.Boot()
		}
	}, true
}

// pause stops a process, often for longer than a lease.
func pause(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.Pause(w.Loop.Now() + w.still(d))
	return nil, true
}

// freezeAtReading pauses a process after one of its next readings of the clock, before anything is done with it: for longer
// than its bound, often for longer than a lease.
func freezeAtReading(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.freeze = freeze{after: r.IntN(100), d: d}
	return nil, true
}

// suspendMachine suspends a virtual machine, as it is or after one of its next readings of the monotonic clock.
func suspendMachine(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, func(m *Machine) bool { return m.Up() && !m.RT.Paused() })
	if m == nil {
		return nil, false
	}
	unmeasured := logUniform(r, time.Millisecond, 2*time.Second)
	if r.IntN(2) == 0 {
		m.freeze = freeze{after: r.IntN(100), d: d, suspend: true, unmeasured: unmeasured}
		return nil, true
	}
	d = w.still(d)
	m.event("suspended for %s", d)
	m.Suspend(d, unmeasured)
	return nil, true
}

// crashAtSync lets the power of a machine fail at one of its next syncs: before that has any effect, or just after.
func crashAtSync(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	n, after := uint64(1+r.IntN(40)), r.IntN(2) == 0
	m.event("power is to fail at sync %d from now, after=%v", n, after)
	disk := m.Disk
	disk.crashAtSync(n, after)
	return func() {
		disk.disarm()
		m.Boot()
	}, true
}
