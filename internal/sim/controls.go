package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
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
	// Shows, if set, says whether it shows in something else that the run came to.
	Shows func(*Result) bool
}

// Controls are all of them. The first is the reference: the same runs with nothing broken, which must be clean.
var Controls = []Control{
	{Name: "reference", Breaks: "nothing", Change: func(c *Config) {}},
	{Name: "no-commit-wait", Breaks: "rule 2 for the own commit timestamp", Within: 10,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{NoCommitWait: true} }},
	{Name: "no-read-wait", Breaks: "rule 2 for versions that were read", Within: 20,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{NoReadWait: true} }},
	{Name: "unpaid-schema", Breaks: "rule 2 for what a transaction uses that another one has read: a schema", Within: 20,
		Change: func(c *Config) {
			c.Unsafe = txn.Unsafe{NoElsewhereWait: true}
			c.Workloads, c.Think, c.Clients, c.FaultFor = []string{"plans"}, 10*time.Millisecond, 2, 3*time.Second
			// Two wide clocks and a precise one that has not heard of the change.
			const eps = 100 * time.Millisecond
			c.Clocks = []clock.Conditions{{Bound: eps}, {Bound: eps}, {Bound: time.Millisecond}}
		}},
	{Name: "skip-refresh", Breaks: "rule 3's refresh: c passes r unseen", Within: 20,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{SkipRefresh: true} }},
	{Name: "trust-staged", Breaks: "recovery: staged records count as committed, their writes are not asked", Within: 20,
		Change: func(c *Config) {
			c.Unsafe = txn.Unsafe{TrustStaged: true}
			// A record is staged long before the last of the writes that it names has arrived, and others are in the way.
			c.Workloads, c.Think, c.Clients, c.FaultFor = []string{"bank"}, 5*time.Millisecond, 3, 3*time.Second
			c.Link = LinkConditions{Base: time.Millisecond, Jitter: 20 * time.Millisecond}
		}},
	{Name: "lying-clock", Breaks: "the bound of one clock, and nobody fences itself", Within: 10, Change: lie},
	{Name: "dropped-sync", Breaks: "disks: a crash takes up to half a second of acknowledged writes", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.DropSync, c.Faults, c.FaultEvery = 500*time.Millisecond, []string{"power"}, 500*time.Millisecond
		}},
	{Name: "early-release", Breaks: "rule 2 for versions that a reader itself made of another's intents", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{EarlyRelease: true}
			c.Workloads, c.Think, c.Clients, c.FaultFor = []string{"paired-keys"}, 10*time.Millisecond, 3, 6*time.Second
			// A commit is decided in a fifth of the time that it has to be waited for; its intents go some time later.
			c.Link = LinkConditions{Base: 10 * time.Millisecond, Jitter: 10 * time.Millisecond}
			const eps = 200 * time.Millisecond
			c.Clocks = []clock.Conditions{{Bound: eps, Offset: eps}, {Bound: eps, Offset: -eps}, {Bound: eps, Offset: -eps}}
		}},
	{Name: "stale-reading", Breaks: "rule 1: a transaction starts from a reading of up to 100 ms ago", Within: 10,
		Change: func(c *Config) { c.Unsafe = txn.Unsafe{StaleReading: 100 * time.Millisecond} }},
	{Name: "placed-low", Breaks: "rule 1 at the leaseholder: it places transactions at its earliest", Within: 20,
		Change: func(c *Config) { c.UnsafeReplicas = replica.Unsafe{PlaceLow: true} }},
	{Name: "placed-unmarked", Breaks: "what is read by the leaseholder's reading is not remembered in the timestamp cache", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{PlaceUnmarked: true}
			c.Workloads, c.Think, c.Clients = []string{"lists", "write-skew", "bank"}, 5*time.Millisecond, 3
		}},
	{Name: "early-past", Breaks: "rule 2 at the leaseholder: it calls past what is not", Within: 20,
		Change: func(c *Config) { c.UnsafeReplicas = replica.Unsafe{EarlyPast: true} }},
	{Name: "unclosed-reads", Breaks: "F3: a follower does not wait until a read of the present is closed", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{Unclosed: true}
			c.Far, c.ClosedLag, c.ClosedEvery = 60*time.Millisecond, 2*time.Millisecond, 2*time.Millisecond
			c.Link = LinkConditions{Base: 100 * time.Microsecond, Jitter: 100 * time.Microsecond}
			for i := range c.Clocks {
				c.Clocks[i] = clock.Conditions{Bound: 2 * time.Millisecond}
			}
			c.Clients, c.FaultFor, c.MaxSteps = 3, 4*time.Second, 4_000_000
		}},
	{Name: "split-unclosed", Breaks: "F1: a leaseholder closes timestamps while its split is in flight", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{SplitUnclosed: true}
			c.Workloads, c.Clients, c.Think = []string{"lately"}, 4, 100*time.Millisecond
			c.SupportDuration, c.Heartbeat, c.Tick, c.Request = 2*time.Second, 250*time.Millisecond, 50*time.Millisecond, 300*time.Millisecond
			c.ClosedLag, c.ClosedEvery, c.Disk = 5*time.Millisecond, 5*time.Millisecond, time.Millisecond
			c.MaxSteps, c.FaultFor, c.Script = 2_000_000, 10*time.Second, splitSlowly
		}},
	{Name: "ignored-support", Breaks: "P1: stores vote against the leader that they support", Within: 20,
		Change: func(c *Config) {
			c.UnsafeCluster = cluster.Unsafe{IgnoreSupport: true}
			// Who is restarted does not know who led, and so asks the new leader while the old one's support lasts.
			isolateInTurn(c, 8*time.Second, func(w *World, x int) {
				o := w.Machines[(x+1)%len(w.Machines)]
				o.Crash(false)
				w.Loop.At(w.Loop.Now()+100*time.Millisecond, o.Boot)
			})
		}},
	{Name: "exclusion-without-cap", Breaks: "P9: a range that stands still is excluded, and its lease goes on", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{ExcludeUncapped: true}
			c.Workloads, c.Think, c.Clients = []string{"estate"}, 40*time.Millisecond, 6
			c.SupportDuration, c.Heartbeat, c.Tick, c.Request = time.Second, 125*time.Millisecond, 50*time.Millisecond, 200*time.Millisecond
			c.Progress = 200 * time.Millisecond // sooner than all readers wait for what stands still
			c.MaxSteps, c.FaultFor = 2_000_000, parts*6*time.Second
			c.Script = func(w *World) {
				for x := range parts {
					w.Loop.At(w.Loop.Now()+time.Duration(x)*6*time.Second, func() {
						if m, id := leaseholder(w, partSpan('r', x).Start); m != nil {
							m.event("the task of r%d stands still", id)
							m.wedge(id, 5*time.Second)
						}
					})
				}
			}
		}},
	{Name: "earliest-lease", Breaks: "L2: a leader holds its lease against its earliest", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{EarliestLease: true}
			isolateInTurn(c, 2*time.Second, func(*World, int) {})
			// In wait ordering what is read now is at latest, which is past T: the other half of L2 refuses that.
			c.Orderings = []txn.Ordering{txn.Uncertainty}
			wide := clock.Conditions{Bound: 450 * time.Millisecond, Offset: -450 * time.Millisecond}
			c.Clocks = []clock.Conditions{wide, {Bound: time.Millisecond}, {Bound: time.Millisecond}}
		}},
	{Name: "forgotten-reads", Breaks: "L3: a new lease does not know what the one before served", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{ForgetReads: true}
			c.Workloads, c.Think = []string{"bank", "snapshots", "lists"}, 5*time.Millisecond
			c.Faults, c.FaultEvery, c.FaultFor = []string{"lease"}, 50*time.Millisecond, 5*time.Second
		}},
	{Name: "dropped-marks", Breaks: "L3 for reads that are further ahead than all others: a lease is handed on without them", Within: 20,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{DropMarks: true}
			c.Workloads, c.Think, c.Clients = []string{"plans"}, 5*time.Millisecond, 2
			c.Faults, c.FaultEvery, c.FaultFor = []string{"lease"}, 50*time.Millisecond, 5*time.Second
		}},
	{Name: "disorder", Breaks: "A1: one node applies neighbouring commands in the wrong order", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.UnsafeReplicas, c.Wrong = replica.Unsafe{Disorder: true}, func(i int) bool { return i == 1 }
			c.Workloads, c.Think = []string{"bank", "lists", "snapshots"}, 5*time.Millisecond
			c.Clients, c.FaultFor = 3, 4*time.Second
		}},
	{Name: "no-step-down", Breaks: "unheard.go: a leader that hears no quorum goes on sending heartbeats", Within: 20, Stops: true,
		Change: func(c *Config) {
			// Its heartbeats request nothing, which would be evidence enough for the others.
			c.UnsafeReplicas, c.UnsafeCluster = replica.Unsafe{KeepTicking: true}, cluster.Unsafe{NoSuspicion: true}
			inTurn(c, deafen)
		}},
	{Name: "support-to-the-unheard", Breaks: "P8: a store asks for the support of peers that it does not hear", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.UnsafeCluster = cluster.Unsafe{AskUnheard: true}
			inTurn(c, deafen)
		}},
	{Name: "mired-lease", Breaks: "mired.go: a leader whose entries reach no quorum keeps its lease", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.UnsafeReplicas = replica.Unsafe{StayMired: true}
			inTurn(c, func(w *World, x int) func() { return w.block(x, -1) })
		}},
	{Name: "one-lane", Breaks: "N7 of package rpc: what leases hang on waits behind what is large", Within: 20,
		Change: func(c *Config) {
			c.OneLane = true
			c.Workloads, c.Clients, c.SupportDuration, c.Heartbeat = []string{"register"}, 1, 600*time.Millisecond, 75*time.Millisecond
			c.Rate, c.Room, c.FaultFor, c.MaxSteps = 10e6, 1500*time.Millisecond, 6*time.Second, 2_000_000
			c.Script = func(w *World) {
				for x := range w.Machines {
					w.flood(x, 0.8)
				}
			}
		},
		Shows: leasesLost},
	{Name: "no-marker", Breaks: "T9: a machine that was suspended is not told", Within: 20,
		Change: func(c *Config) {
			c.Marker = NoMarker
			suspendInTurn(c)
		}},
	{Name: "polled-marker", Breaks: "T9: only the poller looks at the marker, not every reading", Within: 20,
		Change: func(c *Config) {
			c.Marker, c.ClockPoll = MarkerInPolls, 500*time.Millisecond
			suspendInTurn(c)
		}},
	{Name: "vote-by-readings", Breaks: "F2: disjoint readings count as conflicts, so an honest node is fenced", Within: 20, Stops: true,
		Change: func(c *Config) {
			c.UnsafeCluster = cluster.Unsafe{VoteByReadings: true}
			r := rand.New(rand.NewPCG(c.Seed, 0xf2))
			c.Clocks = []clock.Conditions{{Bound: 50 * time.Microsecond}, {Bound: 50 * time.Millisecond}, {Bound: time.Millisecond}}
			c.Link = LinkConditions{Base: 50 * time.Microsecond, Jitter: 50 * time.Microsecond}
			c.FaultFor, c.Workloads, c.MaxSteps = 4*time.Second, nil, 2_000_000
			off := 10*time.Millisecond + time.Duration(r.Int64N(int64(30*time.Millisecond)))
			c.Script = func(w *World) {
				w.Loop.At(w.Loop.Now()+time.Second, func() {
					m := w.Machines[2]
					m.event("begins to lie by %s", off)
					m.Source.Set(clock.Conditions{Bound: time.Millisecond, Offset: off, Lying: true})
				})
			}
		}},
	{Name: "unfenced-lie", Breaks: "the vote: a liar that all others contradict is not fenced in time", Within: 4, Stops: true,
		Change: func(c *Config) {
			c.UnsafeCluster = cluster.Unsafe{NoFence: true}
			c.FaultFor, c.MaxSteps = 8*time.Second, 4_000_000
			c.drawLie(rand.New(rand.NewPCG(c.Seed, 0x11e5)))
			c.Lie.After = time.Second
		}},
	{Name: "uncertainty", Breaks: "nothing, but guarantees less: causal reverse", Within: 20,
		Change: func(c *Config) {
			c.Orderings = []txn.Ordering{txn.Uncertainty}
			// One node's earliest lags: its bound is wide, and what it hears from the others, which are precise, is old.
			c.Far = 30 * time.Millisecond
			c.Clocks = []clock.Conditions{{Bound: 100 * time.Millisecond}, {Bound: 50 * time.Microsecond}, {Bound: 50 * time.Microsecond}}
			c.Workloads, c.SupportDuration, c.Heartbeat, c.Tick = []string{"order"}, 2*time.Second, 250*time.Millisecond, 100*time.Millisecond
			c.Link = LinkConditions{Base: 50 * time.Microsecond, Jitter: 50 * time.Microsecond}
			c.Clients, c.Think, c.FaultFor = 1, 60*time.Millisecond, 15*time.Second
		},
		Finds: []check.Kind{check.CausalReverse}},
}

// ControlConfig is the run of a control with a seed: no faults, clocks that are off as far as they may be, clients that
// hardly rest, `wait` ordering.
func ControlConfig(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0xc7))
	c := Draw(seed)
	c.Nodes, c.Faults, c.Loss, c.Far, c.Idle, c.Asleep, c.Clocks, c.Lie = 3, nil, 0, 0, 0, 0, nil, Lie{}
	c.Rate, c.Room, c.Damage = 0, 0, 0
	c.Request, c.Progress, c.MaxSteps = 10*time.Second, 0, 500_000
	c.StallP, c.Link.Dup, c.Link.SpikeP = 0, 0, 0
	c.Link.Base = logUniform(r, 20*time.Microsecond, time.Millisecond)
	c.Link.Jitter = c.Link.Base
	c.Orderings = []txn.Ordering{txn.Wait}
	c.Available, c.LongP, c.OperateEvery, c.Factor = 0, 0, 0, usualFactor
	c.Late, c.Link.DupCalls, c.Queue, c.Spill, c.Through, c.Locks, c.Cache, c.Spans = 0, 0, 0, 0, 0, 0, 0, 0
	c.Workloads = []string{"register", "bank", "order"}
	c.Clients, c.Think = 1, 20*time.Millisecond
	c.FaultFor = 1500 * time.Millisecond
	for i := range c.Nodes {
		eps := logUniform(r, 2*time.Millisecond, 30*time.Millisecond)
		c.Clocks = append(c.Clocks, clock.Conditions{Bound: eps, Offset: []time.Duration{-eps, eps, 0}[(i+int(seed))%3]})
	}
	return c
}

// leasesLost reports whether a leader had to refuse what it was asked, in a run in which no node fails.
func leasesLost(r *Result) bool { return r.Probes["replica_lease_refused_total"] > 0 }

// isolateInTurn cuts one node after another off from the others for longer than support lasts, beginning with the first, while
// clients everywhere go on.
func isolateInTurn(c *Config, support time.Duration, also func(w *World, x int)) {
	c.Workloads, c.Think, c.Clients = []string{"local-reads"}, 20*time.Millisecond, 3
	c.SupportDuration, c.Heartbeat, c.Tick = support, support/8, 50*time.Millisecond
	c.Request, c.Resets = time.Second, false
	c.MaxSteps, c.FaultFor = 2_000_000, 3*(support+3*time.Second)
	c.Script = func(w *World) {
		for x := range w.Machines {
			w.Loop.At(w.Loop.Now()+time.Duration(x)*(support+3*time.Second), func() {
				w.event("isolate %s", w.Machines[x].Name)
				mend := cutBetween(w, func(a, b int) bool { return (a == x) != (b == x) })
				w.Loop.At(w.Loop.Now()+support+2*time.Second, mend)
				also(w, x)
			})
		}
	}
}

// splitSlowly splits the ranges of workload "lately", one after another, at leaseholders whose disks are slow at that moment: the
// others have applied a split, and lead its right half, long before the leaseholder that made it.
func splitSlowly(w *World) {
	for x := range parts {
		w.Loop.At(w.Loop.Now()+time.Duration(x)*3*time.Second, func() { splitOneSlowly(w, pastKey(parts+x), kv.RangeID(1000+x)) })
	}
}

func splitOneSlowly(w *World, key kv.Key, right kv.RangeID) {
	m, left := leaseholder(w, key)
	if m == nil {
		return
	}
	m.slow = 100 * time.Millisecond
	m.RT.Go("split", func() {
		for range 10 {
			resp := m.Node.Store.Execute(&kv.Batch{Requests: []kv.Request{{Range: left, Admin: &kv.AdminRequest{SplitAt: key, NewRange: right}}}})
			m.event("split at %s: %v", key, resp.Responses[0].Err)
			if e := resp.Responses[0].Err; e == nil || e.Code != kv.ErrUnavailable {
				return
			}
		}
	})
	var applied func()
	applied = func() {
		for _, o := range w.Machines {
			if o != m && o.Serving() && slices.ContainsFunc(o.Node.Store.Ranges(), func(i replica.RangeInfo) bool { return i.Desc.ID == right }) {
				m.slow, m.stuck = 0, 1500*time.Millisecond
				m.event("disk stands still for %s", m.stuck)
				return
			}
		}
		w.Loop.At(w.Loop.Now()+time.Millisecond, applied)
	}
	applied()
}

// leaseholder is the machine that leads the range of a key, and the range.
func leaseholder(w *World, key kv.Key) (*Machine, kv.RangeID) {
	for _, m := range w.Machines {
		if !m.Serving() {
			continue
		}
		for _, i := range m.Node.Store.Ranges() {
			if i.Leads && i.Desc.Span.Contains(key) {
				return m, i.Desc.ID
			}
		}
	}
	return nil, 0
}

// inTurn makes one node after another ill, for longer than ranges may take to be served.
func inTurn(c *Config, inject func(w *World, x int) (heal func())) {
	c.Workloads, c.Think, c.Clients = []string{"register"}, 50*time.Millisecond, 1
	c.Available = c.availableWithin()
	each := 2 * c.Available
	c.MaxSteps, c.FaultFor = 2_000_000, 3*each
	c.Script = func(w *World) {
		for x := range w.Machines {
			f := Fault{"in turn", func(w *World, _ *rand.Rand, _ time.Duration) (func(), bool) { return inject(w, x), true }}
			w.Loop.At(w.Loop.Now()+time.Duration(x)*each, func() { w.inject(f, w.faultRand, each-time.Second) })
		}
	}
}

// lie makes one clock wrong by more than it reports, by less than messages between nodes would contradict at once, or by more.
func lie(c *Config) {
	r := rand.New(rand.NewPCG(c.Seed, 0x11e))
	off := logUniform(r, 20*time.Millisecond, 400*time.Millisecond)
	if r.IntN(2) == 0 {
		off = -off
	}
	c.Honest = false
	c.UnsafeCluster = cluster.Unsafe{NoFence: true} // nobody is to notice in time
	c.Clocks[r.IntN(len(c.Clocks))] = clock.Conditions{Bound: 100 * time.Microsecond, Offset: off, Lying: true}
}

// Run makes the control's run of a seed, and tells whether what is broken showed.
func (k Control) Run(seed uint64) (res *Result, found bool) {
	res = Run(k.Config(seed), Options{})
	return res, k.hit(res)
}

// Sound is the same run with every rule in force.
func (k Control) Sound(seed uint64) Config {
	c := k.Config(seed)
	c.Unsafe, c.UnsafeReplicas, c.UnsafeCluster, c.OneLane = txn.Unsafe{}, replica.Unsafe{}, cluster.Unsafe{}, false
	c.Marker = MarkerInReadings
	c.MaxSteps *= 4 // what bounds a run that is broken must not end one that is only busy
	return c
}

// Config is the control's run of a seed.
func (k Control) Config(seed uint64) Config {
	c := ControlConfig(seed)
	k.Change(&c)
	return c
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
	if k.Shows != nil {
		return k.Shows(r)
	}
	if k.Stops && r.Err != nil {
		return true
	}
	if len(k.Finds) == 0 {
		return len(r.Anomalies) > 0
	}
	return slices.ContainsFunc(r.Tolerated, func(a check.Anomaly) bool { return slices.Contains(k.Finds, a.Kind) })
}
