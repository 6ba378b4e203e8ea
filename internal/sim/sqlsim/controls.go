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
	// of is the workload, and config the run of a seed.
	of     func(engine.Unsafe) sim.Workload
	config func(seed uint64) sim.Config
}

// Controls are all of them.
var Controls = []Control{
	{"ignored-write-only", "an index that is being built is not kept by writers", 10, engine.Unsafe{IgnoreWriteOnly: true}, ofTables, ControlConfig},
	{"blind-backfill", "the rows that an index is filled from are not refreshed when its entries are committed", 10, engine.Unsafe{BlindBackfill: true}, ofTables, ControlConfig},
	{"lapsed-locks", "a session whose lock of GET_LOCK has lapsed executes statements", 20, engine.Unsafe{LapsedLocks: true}, ofLocks, LocksConfig},
}

func ofTables(u engine.Unsafe) sim.Workload { return newWorkload(u) }
func ofLocks(u engine.Unsafe) sim.Workload  { return newNamedLocks(u) }

// ControlConfig is the run of a control with a seed: no faults, and clients that hardly rest.
func ControlConfig(seed uint64) sim.Config {
	c := sim.ControlConfig(seed)
	c.Workloads, c.Clients, c.Think, c.FaultFor = []string{"sql"}, 3, 10*time.Millisecond, 8*time.Second
	c.MaxSteps = 8_000_000
	return c
}

// standFor is how long a machine stands still: longer than a lock that is not renewed.
const standFor = 12 * time.Second

// LocksConfig is a run in which the machines stand still, one after the other, for longer than named locks last.
func LocksConfig(seed uint64) sim.Config {
	c := ControlConfig(seed)
	c.Clients, c.FaultFor = 2, 3*(standFor+3*time.Second)
	c.Script = func(w *sim.World) {
		for i, m := range w.Machines {
			w.Loop.At(w.Loop.Now()+time.Second+time.Duration(i)*(standFor+3*time.Second), func() { m.Pause(w.Loop.Now() + standFor) })
		}
	}
	return c
}

// Run makes the control's run of a seed.
func (k Control) Run(seed uint64) *sim.Result { return k.run(seed, k.Unsafe) }

// Sound is the same run with nothing broken.
func (k Control) Sound(seed uint64) *sim.Result { return k.run(seed, engine.Unsafe{}) }

func (k Control) run(seed uint64, u engine.Unsafe) *sim.Result {
	sim.Register(k.Name, func() sim.Workload { return k.of(u) })
	c := k.config(seed)
	c.Workloads = []string{k.Name}
	return sim.Run(c, sim.Options{})
}
