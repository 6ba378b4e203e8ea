package sim

import (
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/clock"
)

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

// stepClock steps a machine's clock back, as far as its bound allows: it was ahead by all of it and is then behind by as
// much. What it says is true all the time.
func stepClock(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	i := r.IntN(len(w.Machines))
	m, c := w.Machines[i], w.Config.Clocks[i]
	if c.Lying {
		return nil, false
	}
	c.Bound = logUniform(r, max(c.Bound, time.Millisecond), max(2*c.Bound, 480*time.Millisecond))
	c.Drift = 0
	ahead, behind := c, c
	ahead.Offset, behind.Offset = c.Bound, -c.Bound
	m.event("clock ahead by %s, then a step back", c.Bound)
	m.Source.Set(ahead)
	healed := false
	w.Loop.At(w.Loop.Now()+d/2, func() {
		if !healed {
			m.event("clock steps back by %s", 2*c.Bound)
			m.Source.Set(behind)
		}
	})
	return func() {
		healed = true
		m.Source.Set(w.Config.Clocks[i])
	}, true
}
