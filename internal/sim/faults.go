package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// Fault is one kind of misfortune. Strike brings it about now, for about d, and returns what ends it (nil: it passes by
// itself); false means that it does not apply at the moment.
type Fault struct {
	Name   string
	Strike func(w *World, r *rand.Rand, d time.Duration) (heal func(), ok bool)
}

// faults is what a run draws from. To add one, add it here.
var faults = []Fault{
	{"power", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return crash(w, r, true) }},
	{"kill", func(w *World, r *rand.Rand, d time.Duration) (func(), bool) { return crash(w, r, false) }},
	{"stop", stopCleanly},
	{"pause", pause},
	{"partition", partition},
	{"oneway", oneWay},
	{"isolate", isolate},
	{"bridge", bridge},
	{"weather", badWeather},
	{"clock", clockFault},
	{"lease", moveLease},
	{"split", split},
}

func faultNames() (names []string) {
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

// trouble makes faults until the end, then heals everything and calls over. It runs on the loop, on no machine.
func (w *World) trouble(end time.Duration, over func()) {
	r := w.faultRand
	var kinds []Fault
	for _, f := range faults {
		for _, name := range w.Config.Faults {
			if f.Name == name {
				kinds = append(kinds, f)
			}
		}
	}
	w.Net.weather.Loss = w.Config.Loss
	// The idle time begins in the middle. What was done to the cluster is undone before.
	w.idleFrom = (w.Loop.Now() + end - w.Config.Idle) / 2
	w.idleTo = w.idleFrom + w.Config.Idle
	var heals []func()
	heal := func() {
		for _, h := range heals {
			h()
		}
		heals = nil
		w.Net.MendAll()
		w.Net.weather.Loss = 0
		for i, m := range w.Machines {
			m.Source.Set(w.Config.Clocks[i])
			m.Boot()
		}
	}
	if w.Config.Idle > 0 {
		w.Loop.At(w.idleFrom, func() {
			w.event("idle until %.0f", w.idleTo.Seconds())
			heal()
		})
		w.Loop.At(w.idleTo, func() { w.Net.weather.Loss = w.Config.Loss })
	}
	if len(kinds) > 0 {
		var next func()
		next = func() {
			if w.Loop.Now() >= end {
				return
			}
			if w.idle() {
				w.Loop.At(w.idleTo, next)
				return
			}
			// Mostly short, now and then longer than every promise and timeout.
			d := logUniform(r, 20*time.Millisecond, 6*time.Second)
			if heal, ok := kinds[r.IntN(len(kinds))].Strike(w, r, d); ok && heal != nil {
				done := false
				once := func() {
					if !done {
						done = true
						heal()
					}
				}
				heals = append(heals, once)
				w.Loop.At(w.Loop.Now()+d, once)
			}
			w.Loop.At(w.Loop.Now()+time.Duration(r.ExpFloat64()*float64(w.Config.FaultEvery)), next)
		}
		w.Loop.At(w.Loop.Now(), next)
	}
	w.Loop.At(end, func() {
		w.event("faults end")
		heal()
		over()
	})
}

// idle reports whether nothing is to happen now.
func (w *World) idle() bool { return w.idleFrom <= w.Loop.Now() && w.Loop.Now() < w.idleTo }

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
	m.Pause(w.Loop.Now() + d)
	return nil, true
}

// partition cuts the machines into two groups.
func partition(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	side := make([]bool, len(w.Machines))
	for i := range side {
		side[i] = r.IntN(2) == 0
	}
	w.event("partition %v", side)
	return cutBetween(w, func(a, b int) bool { return side[a] != side[b] }), true
}

func oneWay(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	from := r.IntN(len(w.Machines))
	to := (from + 1 + r.IntN(len(w.Machines)-1)) % len(w.Machines)
	w.event("one way: nothing from %s to %s", w.Machines[from].Name, w.Machines[to].Name)
	return cutBetween(w, func(a, b int) bool { return a == from && b == to }), true
}

func isolate(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	w.event("isolate %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return (a == x) != (b == x) }), true
}

// bridge leaves one machine connected with all others, and these not with each other.
func bridge(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	w.event("bridge %s", w.Machines[x].Name)
	return cutBetween(w, func(a, b int) bool { return a != x && b != x }), true
}

func cutBetween(w *World, apart func(a, b int) bool) (mend func()) {
	each := func(do func(a, b int)) {
		for a := range w.Machines {
			for b := range w.Machines {
				if a != b && apart(a, b) {
					do(a, b)
				}
			}
		}
	}
	each(w.Net.Cut)
	return func() {
		w.event("mended")
		each(w.Net.Mend)
	}
}

// badWeather makes one machine's links slow and lossy.
func badWeather(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	x := r.IntN(len(w.Machines))
	bad := w.Config.Weather
	bad.Jitter += logUniform(r, time.Millisecond, time.Second)
	bad.Loss, bad.Dup = r.Float64()/2, r.Float64()/4
	w.event("bad weather at %s: +%s loss %.2f", w.Machines[x].Name, bad.Jitter, bad.Loss)
	set := func(wt *Weather) {
		for i := range w.Machines {
			if i != x {
				w.Net.worse[i][x], w.Net.worse[x][i] = wt, wt
			}
		}
	}
	set(&bad)
	return func() { set(nil) }, true
}

// clockFault makes an honest clock worse: another error, a bound that is suddenly a thousand times wider, or no source.
func clockFault(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	i := r.IntN(len(w.Machines))
	m, c := w.Machines[i], w.Config.Clocks[i]
	if c.Lying {
		return nil, false
	}
	switch r.IntN(4) {
	case 0:
		c.Lost = true
	case 1:
		c.Bound = min(c.Bound*1000, 2*time.Second)
	case 2:
		c.Bound = min(c.Bound*time.Duration(2+r.IntN(50)), time.Second)
		c.Offset = time.Duration((2*r.Float64() - 1) * float64(c.Bound))
	case 3:
		c.State = clock.Disrupted
	}
	m.Source.Set(c)
	m.event("clock offset=%s bound=%s lost=%v state=%s", c.Offset, c.Bound, c.Lost, c.State)
	return func() { m.Source.Set(w.Config.Clocks[i]) }, true
}

// moveLease asks some node to move the lease of some range. It is a fault in that requests meet it half-way.
func moveLease(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil {
		return nil, false
	}
	loads := w.Config.Workloads
	key := partSpan(newWorkload(loads[r.IntN(len(loads))]).Splits()[0][1], r.IntN(parts)).Start
	to := kv.NodeID(1 + r.IntN(len(w.Machines)))
	m.RT.Go("lease", func() {
		err := m.Node.Router.TransferLease(route.WithDeadline(context.Background(), m.RT.Now()+d), key, to)
		m.event("lease of %s to n%d: %v", key, to, err)
	})
	return nil, true
}

// split cuts a range in the middle of a workload's data.
func split(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Serving)
	if m == nil || w.cuts >= 6 {
		return nil, false
	}
	w.cuts++
	loads := w.Config.Workloads
	letter := newWorkload(loads[r.IntN(len(loads))]).Splits()[0][1]
	key := dataKey(letter, r.IntN(parts), digitsOf(r.IntN(10)))
	m.RT.Go("split", func() {
		err := m.Node.Router.Split(route.WithDeadline(context.Background(), m.RT.Now()+d), key)
		m.event("split at %s: %v", key, err)
	})
	return nil, true
}

func digitsOf(n int) string { return string(digits(int64(n))) }
