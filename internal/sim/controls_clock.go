package sim

import (
	"time"

	"github.com/longitude-db/longitude/clock"
)

// suspendInTurn suspends one machine after the other for longer than support lasts, beginning with the first, while clients
// everywhere go on. A machine hears of nobody for some time after it runs again.
func suspendInTurn(c *Config) {
	const support = time.Second
	c.Workloads, c.Think, c.Clients = []string{"local-reads"}, 10*time.Millisecond, 3
	c.SupportDuration, c.Heartbeat, c.Tick = support, support/8, 50*time.Millisecond
	c.Request, c.Resets = time.Second, false
	c.MaxSteps, c.FaultFor = 2_000_000, 3*(support+4*time.Second)
	for i := range c.Clocks {
		c.Clocks[i] = clock.Conditions{Bound: time.Millisecond}
	}
	c.Script = func(w *World) {
		for x := range w.Machines {
			w.Loop.At(w.Loop.Now()+time.Duration(x)*(support+4*time.Second), func() {
				w.event("suspend %s", w.Machines[x].Name)
				mend := cutBetween(w, func(a, b int) bool { return (a == x) != (b == x) })
				w.Machines[x].Suspend(support+2*time.Second, 500*time.Millisecond)
				w.Loop.At(w.Loop.Now()+support+3*time.Second, mend)
			})
		}
	}
}
