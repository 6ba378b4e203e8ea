package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/txn"
)

// Control is a negative control: a run with something broken on purpose, which must show within so many seeds. A checker
// that has never found anything proves nothing.
type Control struct {
	Name   string
	Breaks string // what
	Within int    // seeds
	Change func(*Config)
	// Finds are the kinds that count as found; none: any. With Stops a cluster that stops by an assertion counts too.
	Finds []check.Kind
	Stops bool
}

// Controls are all of them. The first is the reference: the same runs with nothing broken, which must be clean.
var Controls = []Control{
	{Name: "reference", Breaks: "nothing", Change: func(c *Config) {}},
	{Name: "no-commit-wait", Breaks: "rule 2 for the own commit timestamp", Within: 10,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{NoCommitWait: true} }},
	{Name: "no-read-wait", Breaks: "rule 2 for versions that were read", Within: 20,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{NoReadWait: true} }},
	{Name: "skip-refresh", Breaks: "rule 3's refresh: c passes r unseen", Within: 20,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{SkipRefresh: true} }},
	{Name: "trust-staged", Breaks: "recovery: staged records count as committed, their writes are not asked", Within: 20,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{TrustStaged: true} }},
	{Name: "lying-clock", Breaks: "the bound of one clock", Within: 10, Change: lie},
	{Name: "dropped-sync", Breaks: "disks: a crash takes up to half a second of acknowledged writes", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.DropSync, c.Faults, c.FaultEvery = 500*time.Millisecond, []string{"power"}, 500*time.Millisecond
		}},
	{Name: "uncertainty", Breaks: "nothing, but promises less: causal reverse", Within: 20,
		Change: func(c *Config) {
			c.Orderings = []txn.Ordering{txn.Uncertainty}
			// One node's earliest lags: its bound is wide, and what it hears from the others, which are precise, is old.
			c.Far = 30 * time.Millisecond
			c.Clocks = []clock.Conditions{{Bound: 100 * time.Millisecond}, {Bound: 50 * time.Microsecond}, {Bound: 50 * time.Microsecond}}
			c.Workloads, c.Promise, c.Heartbeat, c.Tick = []string{"order"}, 2*time.Second, 250*time.Millisecond, 100*time.Millisecond
			c.Weather = Weather{Base: 50 * time.Microsecond, Jitter: 50 * time.Microsecond}
			c.Clients, c.Think, c.FaultFor = 1, 60*time.Millisecond, 15*time.Second
		},
		Finds: []check.Kind{check.CausalReverse}},
}

// ControlConfig is the run of a control with a seed: no faults, clocks that are off as far as they may be, clients that
// hardly rest, `wait` ordering.
func ControlConfig(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0xc7))
	c := Draw(seed)
	c.Nodes, c.Faults, c.Loss, c.Far, c.Idle, c.Clocks = 3, nil, 0, 0, 0, nil
	c.Request, c.MaxSteps = 10*time.Second, 500_000
	c.StallP, c.Weather.Dup, c.Weather.SpikeP = 0, 0, 0
	c.Weather.Base = logUniform(r, 20*time.Microsecond, time.Millisecond)
	c.Weather.Jitter = c.Weather.Base
	c.Orderings = []txn.Ordering{txn.Wait}
	c.Workloads = workloadNames()
	c.Clients, c.Think = 1, 20*time.Millisecond
	c.FaultFor = 1500 * time.Millisecond
	for i := range c.Nodes {
		eps := logUniform(r, 2*time.Millisecond, 30*time.Millisecond)
		c.Clocks = append(c.Clocks, clock.Conditions{Bound: eps, Offset: []time.Duration{-eps, eps, 0}[(i+int(seed))%3]})
	}
	return c
}

// lie makes one clock wrong by more than it claims, by less than messages between nodes would disprove at once, or by more.
func lie(c *Config) {
	r := rand.New(rand.NewPCG(c.Seed, 0x11e))
	off := logUniform(r, 20*time.Millisecond, 400*time.Millisecond)
	if r.IntN(2) == 0 {
		off = -off
	}
	c.Honest = false
	c.Clocks[r.IntN(len(c.Clocks))] = clock.Conditions{Bound: 100 * time.Microsecond, Offset: off, Lying: true}
}

// Run makes the control's run of a seed, and tells whether what is broken showed.
func (k Control) Run(seed uint64) (res *Result, found bool) {
	cfg := ControlConfig(seed)
	k.Change(&cfg)
	res = Run(cfg, Options{})
	return res, k.hit(res)
}

// Try runs a control from seed 1 on until it is found. It returns the seed that found it, or 0, and the last result.
func (k Control) Try(seeds int) (found uint64, last *Result) {
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		var hit bool
		if last, hit = k.Run(seed); hit {
			return seed, last
		}
	}
	return 0, last
}

func (k Control) hit(r *Result) bool {
	if k.Stops && r.Err != nil {
		return true
	}
	if len(k.Finds) == 0 {
		return len(r.Anomalies) > 0
	}
	return slices.ContainsFunc(r.Tolerated, func(a check.Anomaly) bool { return slices.Contains(k.Finds, a.Kind) })
}
