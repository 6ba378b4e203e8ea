package sim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/txn"
)

// lieAndHeal plays a cluster in which the clock of one machine, a leaseholder like all others, begins to lie, and is mended
// some seconds later. Clients run from when the liar has been fenced (or would have been) until all is well again.
func lieAndHeal(t *testing.T, seed uint64, off time.Duration, unsafe cluster.Unsafe) (r *run, fencedAfter, servesAfter time.Duration) {
	t.Helper()
	cfg := ControlConfig(seed)
	cfg.UnsafeCluster, cfg.Honest, cfg.Think, cfg.MaxSteps = unsafe, false, 60*time.Millisecond, 4_000_000
	// Precise clocks and quick disks: the liar is wrong for long, compared with what a transaction takes.
	cfg.Clocks = []clock.Conditions{{Bound: time.Millisecond}, {Bound: 50 * time.Microsecond}, {Bound: 2 * time.Millisecond, Offset: time.Millisecond}}
	cfg.SupportDuration, cfg.Heartbeat, cfg.Disk = time.Second, 125*time.Millisecond, 0
	cfg.Workloads, cfg.Orderings = []string{"register", "order", "bank"}, []txn.Ordering{txn.Wait}
	r = &run{World: newWorld(cfg, newTrace(200, nil, false))}
	t.Cleanup(r.close)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, r.pending())
		}
	}
	for _, name := range cfg.Workloads {
		r.loads = append(r.loads, newWorkload(name))
	}
	must(r.bootAll())
	must(r.setup())
	liar := r.Machines[seed%3]
	honest := cfg.Clocks[liar.Index]
	liar.Source.Set(clock.Conditions{Bound: honest.Bound, Offset: off, Lying: true})
	began := r.Loop.Now()
	isFenced := func() bool { why, _ := liar.Clock.Fenced(); return why != "" }
	if unsafe.NoFence {
		must(r.runUntil(off.Abs()+5*time.Second, "the others contradict the liar", func() bool {
			nodes, _ := r.Machines[(seed+1)%3].Node.Cluster.Falsetickers()
			_, err := liar.Clock.Now()
			return len(nodes) == 1 && err == nil
		}))
	} else {
		must(r.runUntil(off.Abs()+5*time.Second, "the liar fences itself", isFenced))
		fencedAfter = r.Loop.Now() - began
		must(r.runUntil(3*time.Second, "its leases are elsewhere", func() bool {
			for _, x := range liar.Node.Store.Ranges() {
				if x.Leads {
					return false
				}
			}
			return true
		}))
	}
	for _, m := range r.Machines {
		r.startClients(m)
	}
	r.Loop.Run(4*time.Second, nil)
	if got := isFenced(); got == unsafe.NoFence {
		t.Fatalf("seed %d: fenced %v after 4 s of lying", seed, got)
	}
	if unsafe.NoFence {
		r.quiet = true
		r.Loop.Run(10*time.Second, nil)
		return r, 0, 0
	}
	for _, m := range r.Machines {
		if m != liar && isFencedAt(m) {
			t.Fatalf("seed %d: %s is fenced, which is honest", seed, m.Name)
		}
	}
	liar.Source.Set(honest)
	healed := r.Loop.Now()
	must(r.runUntil(off.Abs()+20*time.Second, "its clock is good again", func() bool { _, err := liar.Clock.Now(); return err == nil }))
	servesAfter = r.Loop.Now() - healed
	must(r.live(r.Loop.Now()))
	must(r.settle())
	return r, fencedAfter, servesAfter
}

func isFencedAt(m *Machine) bool { why, _ := m.Clock.Fenced(); return why != "" }

func (r *run) anomalies() (out []check.Anomaly) {
	for _, l := range r.loads {
		out = append(out, l.Check()...)
	}
	return out
}

// TestLiarIsFenced: from the moment that a lying node has fenced itself histories are strictly serializable, through all
// nodes that answer; the liar leads nothing, nobody honest is fenced, and it comes back by itself. In both directions, far and
// near.
func TestLiarIsFenced(t *testing.T) {
	t.Parallel()
	for i, off := range []time.Duration{500 * time.Millisecond, -500 * time.Millisecond, 30 * time.Millisecond, -30 * time.Millisecond, 20 * time.Second} {
		t.Run(fmt.Sprint(off), func(t *testing.T) {
			r, fenced, serves := lieAndHeal(t, uint64(i+1), off, cluster.Unsafe{})
			for _, a := range r.anomalies() {
				t.Error(a)
			}
			ops := 0
			for _, l := range r.loads {
				ops += l.Ops()[check.OK]
			}
			if ops < 100 {
				t.Errorf("only %d operations succeeded", ops)
			}
			t.Logf("fenced after %s, serves again %s after its clock is good; %d operations", fenced, serves, ops)
		})
	}
}

// TestDrawnLies: lies in drawn clusters, with drawn faults once the fence stands. The liar is found out in time, no honest node is
// fenced, and what histories have to hold they hold.
func TestDrawnLies(t *testing.T) {
	t.Parallel()
	seeds := uint64(8)
	if testing.Short() || raceEnabled {
		seeds = 2
	}
	fenced := 0.0
	for seed := uint64(1); seed <= seeds; seed++ {
		cfg := Draw(seed)
		cfg.Idle = 0
		if cfg.Lie.Offset == 0 {
			cfg.drawLie(rand.New(rand.NewPCG(seed, 0x11e5)))
		}
		res := Run(cfg, Options{})
		if res.Failed() {
			var b bytes.Buffer
			res.Report(&b, 40)
			t.Error(b.String())
		}
		fenced += res.Probes["sim_liars_fenced_total"]
		t.Logf("%s; %d operations excused", res.Line(), res.Excused)
	}
	if fenced < float64(seeds)/2 {
		t.Errorf("%.0f liars fenced in %d runs: the test does not test much", fenced, seeds)
	}
}

// TestExcuse: what overlaps a time of doubt, and δ after it, is stretched to δ before and 2δ after, and nothing else is touched.
func TestExcuse(t *testing.T) {
	const s, δ = time.Second, time.Second - 2*lieEvery
	w := &World{Config: Config{Lie: Lie{Offset: δ}}, doubts: []doubt{{10 * s, 12 * s}}}
	w.history.keeps = true
	type moment struct {
		op  int
		at  time.Duration
		end bool
	}
	ops := make([]check.Op, 7)
	for _, m := range []moment{{0, 7 * s, false}, {0, 8 * s, true}, // long before
		{1, 9*s + s/2, false}, {1, 10*s - s/10, true}, // just before
		{2, 9*s + s/2, false}, {3, 10*s + s/2, false}, {2, 11 * s, true}, // into it; 3: no end
		{4, 11*s + s/2, false}, {4, 12*s + s/2, true}, // over its end
		{5, 13*s + s/2, false}, {5, 14*s - s/10, true}, // after it and δ
		{6, 15 * s, false}, {6, 16 * s, true}} { // long after
		o := &ops[m.op]
		if !m.end {
			o.Invoke = w.history.next(o, m.at)
		} else {
			o.Outcome, o.Return = check.OK, w.history.next(o, m.at)
		}
	}
	before := slices.Clone(ops)
	w.excuse()
	for _, i := range []int{0, 1, 5, 6} {
		if ops[i] != before[i] {
			t.Errorf("operation %d: [%d,%d], was [%d,%d]", i, ops[i].Invoke, ops[i].Return, before[i].Invoke, before[i].Return)
		}
	}
	if o := ops[3]; o.Outcome != check.Unknown || o.Invoke != ops[0].Return {
		t.Errorf("operation without an end: %+v", o)
	}
	for _, i := range []int{2, 4} {
		if o := ops[i]; o.Invoke != ops[0].Return || o.Return <= ops[5].Return-1 || o.Return > ops[6].Invoke {
			t.Errorf("operation %d: [%d,%d]", i, o.Invoke, o.Return)
		}
	}
	if w.excused != 3 {
		t.Errorf("%d excused", w.excused)
	}
}

// TestExcuseOfSeveralDoubts: which doubts an operation overlaps is judged by its own time, not by what another doubt has made of
// it; one that is stretched to the end of the history overlaps the next doubt as well (seed 1770 met it).
func TestExcuseOfSeveralDoubts(t *testing.T) {
	const s, δ = time.Second, time.Second - 2*lieEvery
	w := &World{Config: Config{Lie: Lie{Offset: δ}}, doubts: []doubt{{10 * s, 11 * s}, {12 * s, 13 * s}}}
	w.history.keeps = true
	ops := make([]check.Op, 2)
	for i, at := range []time.Duration{10 * s, 12 * s} {
		o := &ops[i]
		o.Invoke = w.history.next(o, at+s/4)
		o.Outcome, o.Return = check.OK, w.history.next(o, at+s/2)
	}
	w.excuse()
	if a, b := ops[0], ops[1]; a.Invoke != 1 || a.Return <= b.Invoke || b.Invoke > 2 || b.Return != int64(len(w.history.times))+1 {
		t.Errorf("[%d,%d] and [%d,%d]", a.Invoke, a.Return, b.Invoke, b.Return)
	}
}

// TestExcuseIsNeeded: without it the checkers find in some of these runs what a clock did before the fence stood.
func TestExcuseIsNeeded(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 12; seed++ {
		cfg := ControlConfig(seed)
		cfg.Workloads, cfg.Clients, cfg.Think, cfg.FaultFor, cfg.MaxSteps = []string{"order", "monotonic"}, 3, 5*time.Millisecond, 8*time.Second, 4_000_000
		off := time.Duration(1-2*int64(seed%2)) * 400 * time.Millisecond
		cfg.Lie = Lie{Who: int(seed % 3), Offset: off, After: 500 * time.Millisecond, For: time.Second}
		cfg.LiveWithin += 15 * time.Second
		r := &run{World: newWorld(cfg, newTrace(200, nil, false))}
		err := r.play()
		found := r.anomalies()
		r.excuse()
		left := r.anomalies()
		r.close()
		if err != nil || len(left) > 0 {
			t.Fatalf("seed %d: %v, %v", seed, err, left)
		}
		if len(found) > 0 {
			t.Logf("seed %d: %d anomalies that are excused, the first: %s", seed, len(found), found[0])
			return
		}
	}
	t.Error("a liar shows in no history before the fence stands: nothing needs to be excused")
}

// TestUnfencedLiarIsFound is the control: the same without the fence, and the checkers find what it prevents.
func TestUnfencedLiarIsFound(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 8; seed++ {
		off := 500 * time.Millisecond
		if seed%2 == 0 {
			off = -off
		}
		r, _, _ := lieAndHeal(t, seed, off, cluster.Unsafe{NoFence: true})
		if as := r.anomalies(); len(as) > 0 {
			t.Logf("seed %d: %d anomalies, the first: %s", seed, len(as), as[0])
			return
		}
	}
	t.Error("a lying clock that goes on being used shows in no history: the test of the fence proves nothing")
}

// TestUnequalBoundsPassTheCheckers: bounds of 0.05, 1 and 50 ms, errors up to the edge of each, with every kind of
// workload: nothing is missed.
func TestUnequalBoundsPassTheCheckers(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 4; seed++ {
		cfg := ControlConfig(seed)
		sign := time.Duration(1 - 2*int64(seed%2))
		cfg.Clocks = []clock.Conditions{
			{Bound: 50 * time.Microsecond, Offset: 50 * time.Microsecond * sign}, {Bound: time.Millisecond, Offset: -time.Millisecond * sign},
			{Bound: 50 * time.Millisecond, Offset: 50 * time.Millisecond * sign},
		}
		cfg.MaxSteps = 4_000_000
		res := Run(cfg, Options{})
		if res.Failed() {
			t.Errorf("seed %d: %s", seed, res.Problem())
		}
		if n := res.Ops[check.OK]; n < 100 {
			t.Errorf("seed %d: only %d operations succeeded", seed, n)
		}
	}
}
