package sqlsim

import (
	"time"

	"github.com/longitude-db/longitude/internal/sim"
	"github.com/longitude-db/longitude/internal/sql/engine"
)

// Control is a negative control, as in package sim.
type Control struct {
	Name   string
	Breaks string
	Within int // seeds
	Unsafe engine.Unsafe
}

// Controls are all of them.
var Controls = []Control{
	{"ignored-write-only", "an index that is being built is not kept by writers", 10, engine.Unsafe{IgnoreWriteOnly: true}},
	{"blind-backfill", "the rows that an index is filled from are not refreshed when its entries are committed", 10, engine.Unsafe{BlindBackfill: true}},
}

// ControlConfig is the run of a control with a seed: no faults, and clients that hardly rest.
func ControlConfig(seed uint64) sim.Config {
	c := sim.ControlConfig(seed)
	c.Workloads, c.Clients, c.Think, c.FaultFor = []string{"sql"}, 3, 10*time.Millisecond, 8*time.Second
	c.MaxSteps = 8_000_000
	return c
}

// Run makes the control's run of a seed.
func (k Control) Run(seed uint64) *sim.Result {
	sim.Register(k.Name, func() sim.Workload { return newWorkload(k.Unsafe) })
	c := ControlConfig(seed)
	c.Workloads = []string{k.Name}
	return sim.Run(c, sim.Options{})
}
