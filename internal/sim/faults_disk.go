package sim

import (
	"math/rand/v2"
	"time"
)

// sicken makes a machine's disk ill. The process stops by itself when it finds out, and is started again when the disk is
// well.
func sicken(w *World, r *rand.Rand, a ailment) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.event("disk %s", a.name)
	m.illness.set(a)
	return func() {
		m.event("disk well")
		m.illness.set(ailment{})
		m.Boot()
	}, true
}

// slowSyncs makes the syncs of a machine's log take long, up to seconds.
func slowSyncs(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.slow = logUniform(r, 20*time.Millisecond, 4*time.Second)
	m.event("disk slow: syncs take up to %s", m.slow)
	return func() { m.slowUntil, m.slow = w.Loop.Now()+m.slow, 0 }, true
}
