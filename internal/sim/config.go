package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/txn"
)

// Config is one run, all of it drawn from the seed by Draw. A test may change what was drawn.
type Config struct {
	Seed  uint64
	Nodes int
	// Factor is how many replicas ranges have, once there are as many nodes.
	Factor int
	// Late is how many of them are not there at first; they join while others work (fault "join"), at last when faults end.
	Late int

	// Link is that of the whole network while there are no faults; while there are, messages may also be lost.
	Link LinkConditions
	Loss float64
	// Rate is how many bytes a second each link carries, in each direction and each lane, and Room how much may wait for it: as
	// much as it carries in that time. 0: no limit, and nothing waits.
	Rate float64
	Room time.Duration
	// Damage is the share of messages that arrive damaged while there are faults: their connections end.
	Damage float64
	// Far is how much longer every message to or from the first machine takes: it stands in another place.
	Far time.Duration
	// Resets: a call to a process that dies or is not there fails at once, as with TCP. Without it callers wait.
	Resets bool
	// Clocks holds the conditions of each machine's clock; Honest says that all of them keep their bounds.
	Clocks []clock.Conditions
	Honest bool
	// Lie is a clock that goes wrong while the fence is on.
	Lie Lie
	// Marker is what the hypervisor tells suspended machines; anything but the zero value is for negative controls.
	Marker Marker

	// Disk is how long a sync takes, a tenth of them up to ten times as long.
	Disk time.Duration
	// Keep is how many log entries leaders keep for followers that are away: few make snapshots common. Flush is the time
	// between flushes of state.
	Keep  uint64
	Flush time.Duration
	// Queue is how many messages may wait for a range; 0: the default. Few make dropped ones common.
	Queue int32
	// Locks, Cache and Spans are how many locks a range keeps, the bytes of its timestamp cache, and how many spans a
	// transaction remembers of what it has read; 0: the defaults, which no run comes near.
	Locks, Cache, Spans int
	// Progress is how long a range may stand still before its lease is given up; 0: the default.
	Progress time.Duration
	// Request is how long a range lets a request wait; short ones make unknown outcomes common.
	Request time.Duration

	// StallP is the share of wake-ups that wait up to Stall for a processor.
	StallP float64
	Stall  time.Duration

	SupportDuration, Heartbeat, Tick, ClockPoll time.Duration

	// Orderings is what clients choose from.
	Orderings []txn.Ordering
	Workloads []string
	Clients   int           // per machine and workload
	Think     time.Duration // clients rest up to this long between operations

	// Locking is the share of transactions that read what they are going to write with locks.
	Locking float64

	// Spill is how much memory a transaction's writes may take before it lays intents for them; 0: the default, which none of
	// the workloads reaches.
	Spill int
	// Through is how many intents a read has to meet before it reads through them; 0: the default, which is rarely reached.
	Through int

	// Faults are injected into the cluster for FaultFor, one each FaultEvery on average.
	Faults     []string
	FaultFor   time.Duration
	FaultEvery time.Duration
	// OperateEvery is the average time between two acts of operators: splits, of which there are at most Cuts, lease moves, and
	// additions of replicas; 0: there are none.
	OperateEvery time.Duration
	Cuts         int
	// Script, if set, is injected in place of drawn faults: for controls.
	Script func(w *World)
	// Idle is a long time in the middle of it in which nobody asks anything and nothing goes wrong: long enough for what is
	// kept for minutes to be collected.
	Idle time.Duration
	// Asleep is how much of that all processes are stopped for, at a stretch: the minutes pass, and nobody spends them on
	// heartbeats.
	Asleep time.Duration
	// Available is how long a range may take to be served by a quorum that is well and connected, while faults last (V6); 0: that
	// is not watched. LongP is the share of faults that last for about as long.
	Available time.Duration
	LongP     float64
	// LiveWithin is how long after the last fault the cluster may take to serve everything again.
	LiveWithin time.Duration
	// ClosedLag is how far behind the present timestamps are closed; short: transactions are pushed by that.
	ClosedLag time.Duration
	// ClosedEvery is how often followers are told, beside heartbeats; 0: never.
	ClosedEvery time.Duration

	// MaxSteps is about ten times the task switches that a busy run takes. A cluster that needs more storms itself with
	// messages.
	MaxSteps uint64

	// These are for negative controls: rules of transactions, of replicas (on the machines that Wrong says; nil: on all) and
	// of support turned off, and disks that lose up to so much of what they have acknowledged.
	Unsafe         txn.Unsafe
	UnsafeReplicas replica.Unsafe
	Wrong          func(machine int) bool
	UnsafeCluster  cluster.Unsafe
	DropSync       time.Duration
	// OneLane: what leases hang on takes the lane of everything else.
	OneLane bool
}

// Draw makes the run of a seed. Whole kinds of faults are missing from many runs, so that a rare one is not always
// drowned by the others (swarm testing), and some runs have no faults at all.
func Draw(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0xc0ff))
	c := Config{Seed: seed, Honest: true, Resets: r.IntN(2) == 0, LiveWithin: 30 * time.Second, MaxSteps: 10_000_000}
	c.Nodes = []int{3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 7, 9}[r.IntN(14)]
	c.drawLink(r)
	if r.IntN(4) == 0 {
		c.Far = logUniform(r, time.Millisecond, 60*time.Millisecond)
	}
	c.drawClocks(r)
	if r.IntN(2) == 0 {
		c.StallP, c.Stall = []float64{0.001, 0.01, 0.2}[r.IntN(3)], logUniform(r, 50*time.Microsecond, 50*time.Millisecond)
	}
	c.SupportDuration = []time.Duration{600 * time.Millisecond, time.Second, 2 * time.Second}[r.IntN(3)]
	c.Heartbeat = c.SupportDuration / 8
	c.Tick = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond}[r.IntN(2)]
	c.ClockPoll = []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}[r.IntN(3)]

	if r.IntN(3) > 0 {
		c.Disk = logUniform(r, 20*time.Microsecond, 10*time.Millisecond)
	}
	c.Keep, c.Flush, c.Request = 4096, 30*time.Second, 10*time.Second
	if r.IntN(2) == 0 {
		// A command needs a trip to the followers and back. With less nothing could ever be known to be done.
		c.Request = max(logUniform(r, 100*time.Millisecond, 5*time.Second), c.leastRequest())
	}
	if r.IntN(2) == 0 {
		c.Keep, c.Flush = uint64(1+r.IntN(50)), logUniform(r, 200*time.Millisecond, 5*time.Second)
	}

	c.Orderings = [][]txn.Ordering{{txn.Wait}, {txn.Wait}, {txn.Uncertainty}, {txn.Wait, txn.Uncertainty}}[r.IntN(4)]
	c.Workloads = some(r, workloadNames(), 1+r.IntN(5))
	c.Clients = 1 + r.IntN(3)
	// All clients together ask at most some hundred times a second, of many nodes less often, for which each time costs more:
	// more makes a run long, but not more telling.
	total := time.Duration(c.Nodes * c.Clients * len(c.Workloads))
	c.Think = logUniform(r, total*time.Duration(c.Nodes)*time.Millisecond, max(300*time.Millisecond, 2*total*time.Duration(c.Nodes)*time.Millisecond))

	c.FaultFor = time.Duration(6+r.IntN(14)) * time.Second
	c.FaultEvery = logUniform(r, 300*time.Millisecond, 4*time.Second)
	if r.IntN(24) == 0 {
		c.Idle, c.MaxSteps = 12*time.Minute, 4*c.MaxSteps
	}
	if r.IntN(10) > 0 {
		c.Faults = pick(r, faultNames(), 0.5)
		if r.IntN(2) == 0 {
			c.Loss = logUniformF(r, 0.001, 0.1)
		}
	}
	if c.Nodes > usualFactor && slices.Contains(c.Faults, joins) {
		c.Late = 1 + r.IntN(min(2, c.Nodes-usualFactor))
	}
	if c.Link.Dup > 0 && r.IntN(2) == 0 {
		c.Link.DupCalls = c.Link.Dup
		c.Link.DupLate = logUniform(r, time.Millisecond, 8*time.Second)
	}
	c.ClosedLag = logUniform(r, 10*time.Millisecond, 4*time.Second)
	if r.IntN(2) == 0 {
		c.Locking = []float64{0.3, 0.9, 1}[r.IntN(3)]
	}
	if r.IntN(8) == 0 {
		c.Queue = int32(2 + r.IntN(60))
	}
	if r.IntN(2) == 0 {
		c.Spill = []int{1, 1, 300, 1000}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		c.ClosedEvery = logUniform(r, 2*time.Millisecond, 100*time.Millisecond)
		if r.IntN(2) == 0 { // so that what is far reads at hand
			c.ClosedLag, c.Far = logUniform(r, time.Millisecond, 20*time.Millisecond), logUniform(r, 20*time.Millisecond, 80*time.Millisecond)
			c.Request = max(c.Request, c.leastRequest())
		}
	}
	for _, w := range laterWorkloads {
		if r.IntN(4) == 0 {
			c.Workloads = append(c.Workloads, w.name)
		}
	}
	if r.IntN(4) == 0 {
		c.Locks = 8 << r.IntN(4)
	}
	if r.IntN(4) == 0 {
		c.Cache = 1 << (10 + r.IntN(7))
	}
	if r.IntN(4) == 0 {
		c.Spans = 1 << r.IntN(6)
	}
	c.Through = []int{0, 1, 2}[r.IntN(3)]
	if c.Spill > 0 && c.Queue > 0 { // writers wait with intents laid: where they fill all of a range's places, nobody can read
		c.Queue = max(c.Queue, int32(4*c.Nodes*c.Clients*len(c.Workloads)))
	}
	if r.IntN(3) == 0 {
		c.Rate, c.Room = logUniformF(r, 2e6, 1e8), logUniform(r, 50*time.Millisecond, 1500*time.Millisecond)
	}
	if len(c.Faults) > 0 {
		if r.IntN(4) == 0 {
			c.Damage = logUniformF(r, 1e-5, 1e-2)
		}
		for _, f := range laterFaultNames() {
			if r.IntN(3) == 0 {
				c.Faults = append(c.Faults, f)
			}
		}
	}
	c.Progress = logUniform(r, 300*time.Millisecond, 2*time.Second)
	c.drawUnequalClocks(r)
	c.Factor = usualFactor
	switch {
	case c.Nodes >= 5 && r.IntN(2) == 0:
		c.Factor = 5
	case r.IntN(16) == 0:
		c.Factor = 1
	}
	c.OperateEvery, c.Cuts = logUniform(r, 300*time.Millisecond, 8*time.Second), []int{6, 6, 12, 30}[r.IntN(4)]
	if past := "past"; !slices.Contains(c.Workloads, past) && r.IntN(4) == 0 { // beside splits above all
		c.Workloads = append(c.Workloads, past)
	}
	c.Available = c.availableWithin()
	if r.IntN(4) == 0 {
		c.LongP = []float64{0.1, 0.5}[r.IntN(2)]
		c.FaultFor = max(c.FaultFor, 2*c.Available)
	}
	if r.IntN(5) == 0 && c.Idle == 0 {
		c.drawLie(r)
	}
	if c.Idle > 0 && r.IntN(8) > 0 {
		c.Asleep = 10 * time.Minute
	}
	// Each round is a message from each node to each other one: at most some thousand of these a second.
	if c.ClosedEvery > 0 {
		c.ClosedEvery = max(c.ClosedEvery, time.Duration(c.Nodes*(c.Nodes-1))*time.Second/3000)
	}
	for _, f := range lastFaults {
		if len(c.Faults) > 0 && r.IntN(4) == 0 {
			c.Faults = append(c.Faults, f.Name)
		}
	}
	return c
}

// usualFactor is the replication factor of most runs.
const usualFactor = 3

// leastRequest is the shortest limit of a request with which clients that contend are served: twenty round trips. A write in a queue behind
// others waits for some of them, and one that is given up was work for nothing, and begins again at the end. (Seeds 496, 3030.)
func (c *Config) leastRequest() time.Duration {
	return 40 * (c.Link.Base + c.Link.Jitter + c.Far)
}

func (c *Config) drawLink(r *rand.Rand) {
	base := logUniform(r, 20*time.Microsecond, 5*time.Millisecond)
	c.Link = LinkConditions{Base: base, Jitter: time.Duration(float64(base) * r.Float64() * 2)}
	if r.IntN(2) == 0 {
		c.Link.SpikeP, c.Link.Spike = logUniformF(r, 0.0005, 0.02), logUniform(r, time.Millisecond, 300*time.Millisecond)
	}
	if r.IntN(2) == 0 {
		c.Link.Dup = logUniformF(r, 0.001, 0.2)
	}
}

// drawClocks gives each machine an honest clock of its own quality: bounds differ between nodes by up to three powers of
// ten, and the error may be anywhere inside.
func (c *Config) drawClocks(r *rand.Rand) {
	lo, hi := 20*time.Microsecond, 20*time.Millisecond
	if r.IntN(4) == 0 {
		hi = 300 * time.Millisecond
	}
	for range c.Nodes {
		eps := logUniform(r, lo, hi)
		offset := time.Duration((2*r.Float64() - 1) * float64(eps))
		if r.IntN(4) == 0 { // as far off as it may be
			offset = time.Duration(math.Copysign(float64(eps), float64(offset)))
		}
		c.Clocks = append(c.Clocks, clock.Conditions{Offset: offset, Bound: eps, Drift: r.Int64N(40_000) - 20_000})
	}
}

// drawUnequalClocks sets bounds of 0.05, 1 and 50 ms beside each other in one run of three, each off by up to all of it. The ratchet
// then carries much from the narrow to the wide.
func (c *Config) drawUnequalClocks(r *rand.Rand) {
	if r.IntN(3) > 0 {
		return
	}
	bounds := []time.Duration{50 * time.Microsecond, time.Millisecond, 50 * time.Millisecond}
	first := r.IntN(len(bounds))
	for i := range c.Clocks {
		eps := bounds[(first+i)%len(bounds)]
		off := []time.Duration{-eps, 0, eps, time.Duration((2*r.Float64() - 1) * float64(eps))}[r.IntN(4)]
		c.Clocks[i] = clock.Conditions{Offset: off, Bound: eps, Drift: c.Clocks[i].Drift}
	}
}

// strict reports whether every client of the run uses `wait` ordering, so that not even causal reverse may show.
func (c *Config) strict() bool {
	for _, o := range c.Orderings {
		if o != txn.Wait {
			return false
		}
	}
	return true
}

// String is the run in two lines.
func (c Config) String() string {
	var clocks []string
	for _, k := range c.Clocks {
		lie := ""
		if k.Lying {
			lie = "!"
		}
		clocks = append(clocks, fmt.Sprintf("%s±%s%s", k.Offset.Round(time.Microsecond), k.Bound.Round(time.Microsecond), lie))
	}
	return fmt.Sprintf("%d nodes (%d late), %d replicas, orderings %v, workloads %v with %d clients each, support %s, delay %s+%s spikes %.3f*%s dup %.3f calls %.3f*%s loss %.3f far %s resets %v, links of %.1f MB/s with room for %s, damage %.5f, stalls %.3f*%s, disk %s, keeps %d, queues %d, locks %d, cache %d, spans %d, requests %s\n"+
		"  clocks %s; faults %v every %s for %s (long %.1f), operators every %s (%d cuts), available within %s, lie %s of m%d after %s for %s, idle %s (asleep %s), locking %.1f, spill %d, through %d",
		c.Nodes, c.Late, c.Factor, c.Orderings, c.Workloads, c.Clients, c.SupportDuration, c.Link.Base.Round(time.Microsecond), c.Link.Jitter.Round(time.Microsecond),
		c.Link.SpikeP, c.Link.Spike.Round(time.Microsecond), c.Link.Dup, c.Link.DupCalls, c.Link.DupLate.Round(time.Millisecond), c.Loss, c.Far.Round(time.Microsecond), c.Resets, c.Rate/1e6, c.Room.Round(time.Millisecond), c.Damage, c.StallP, c.Stall.Round(time.Microsecond), c.Disk.Round(time.Microsecond), c.Keep, c.Queue, c.Locks, c.Cache, c.Spans, c.Request.Round(time.Millisecond),
		strings.Join(clocks, " "), c.Faults, c.FaultEvery.Round(time.Millisecond), c.FaultFor.Round(time.Millisecond), c.LongP, c.OperateEvery.Round(time.Millisecond), c.Cuts, c.Available.Round(time.Millisecond),
		c.Lie.Offset.Round(time.Millisecond), c.Lie.Who+1, c.Lie.After.Round(time.Millisecond), c.Lie.For.Round(time.Millisecond), c.Idle, c.Asleep, c.Locking, c.Spill, c.Through)
}

// logUniform draws evenly on the logarithmic scale.
func logUniform(r *rand.Rand, lo, hi time.Duration) time.Duration {
	return time.Duration(logUniformF(r, float64(lo), float64(hi)))
}

func logUniformF(r *rand.Rand, lo, hi float64) float64 {
	x := lo * math.Exp(r.Float64()*math.Log(hi/lo))
	// Processors differ in the last bits of an exponential; a run must be the same on all of them.
	return math.Float64frombits(math.Float64bits(x) &^ (1<<26 - 1))
}

// some takes n of them, in the order that they have.
func some(r *rand.Rand, from []string, n int) (out []string) {
	which := r.Perm(len(from))[:n]
	slices.Sort(which)
	for _, i := range which {
		out = append(out, from[i])
	}
	return out
}

// pick keeps each with probability p, and at least one.
func pick(r *rand.Rand, from []string, p float64) (out []string) {
	one := r.IntN(len(from))
	for i, f := range from {
		if r.Float64() < p || i == one {
			out = append(out, f)
		}
	}
	return out
}
