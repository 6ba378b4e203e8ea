package sim

import (
	"math/rand/v2"
	"time"
)

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
