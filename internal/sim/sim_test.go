package sim

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestSeeds runs the first seeds.
func TestSeeds(t *testing.T) {
	t.Parallel()
	last := uint64(16)
	if testing.Short() || raceEnabled {
		last = 4
	}
	var virtual, real time.Duration
	for seed := uint64(1); seed <= last; seed++ {
		res := Run(Draw(seed), Options{})
		virtual, real = virtual+res.Virtual, real+res.Real
		if testing.Verbose() {
			t.Log(res.Line())
		}
		if res.Failed() {
			var b bytes.Buffer
			res.Report(&b, 40)
			t.Error(b.String())
		}
		if res.Ops[check.OK] < 20 {
			t.Errorf("seed %d: only %d operations succeeded", seed, res.Ops[check.OK])
		}
	}
	t.Logf("%d seeds, %s of cluster time, %.0f times as fast as real time", last, virtual.Round(time.Second), virtual.Seconds()/real.Seconds())
}

// TestSameSeedSameTrace is V1.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	seeds := []uint64{101, 102, 103, 104, 105, 106, 107, 108, 109, 110}
	if testing.Short() || raceEnabled {
		seeds = seeds[:2]
	}
	hashes := map[uint64]uint64{}
	for _, seed := range seeds {
		cfg := Draw(seed)
		cfg.FaultFor = 4 * time.Second
		a, b := Run(cfg, Options{}), Run(cfg, Options{})
		if a.Hash != b.Hash || a.Steps != b.Steps {
			t.Errorf("seed %d: hash %x after %d steps, then %x after %d: see simrun -seed %d -twice", seed, a.Hash, a.Steps, b.Hash, b.Steps, seed)
		}
		if other, twice := hashes[a.Hash]; twice {
			t.Errorf("seeds %d and %d did the same", other, seed)
		}
		hashes[a.Hash] = seed
	}
}

// TestControls breaks things on purpose: each must be found within its number of seeds, and with nothing broken the same
// runs must be clean.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, k := range Controls {
		t.Run(k.Name, func(t *testing.T) {
			if k.Within == 0 {
				n := 4
				if testing.Short() || raceEnabled {
					n = 1
				}
				if found, last := k.Try(n); found != 0 || last.Failed() {
					t.Errorf("seed %d is not clean although nothing is broken:\n%s", last.Config.Seed, last.Problem())
				}
				return
			}
			if c := k.Sound(1); c.Honest && c.DropSync == 0 {
				if res := Run(c, Options{}); res.Failed() {
					t.Errorf("the same run with nothing broken is not clean:\n%s", res.Problem())
				} else if k.Shows != nil && k.Shows(res) {
					t.Error("the same run with nothing broken shows what is to be found")
				}
			}
			found, last := k.Try(k.Within)
			if found == 0 {
				t.Errorf("breaking %s does not show within %d seeds", k.Breaks, k.Within)
				return
			}
			if len(k.Finds) > 0 && last.Failed() {
				t.Errorf("seed %d shows more than it may:\n%s", found, last.Problem())
			}
			t.Logf("seed %d: %s", found, last.Found())
		})
	}
}

func TestDrawnConfigsAreSound(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(500) {
		c := Draw(seed)
		if len(c.Clocks) != c.Nodes || len(c.Workloads) == 0 || c.SupportDuration < 4*c.Heartbeat {
			t.Errorf("seed %d: %s", seed, c)
		}
		for _, k := range c.Clocks {
			if k.Lying || k.Offset.Abs() > k.Bound {
				t.Errorf("seed %d has a dishonest clock: %+v", seed, k)
			}
		}
		for _, f := range append(c.Faults, c.Workloads...) {
			kinds[f]++
		}
	}
	for _, name := range slices.Concat(faultNames(), laterFaultNames(), workloadNames()) {
		if kinds[name] < 60 {
			t.Errorf("%s is in only %d of 500 runs", name, kinds[name])
		}
	}
	for _, f := range slices.Concat(laterFaults, lastFaults) {
		if kinds[f.Name] < 60 {
			t.Errorf("%s is in only %d of 500 runs", f.Name, kinds[f.Name])
		}
	}
}

func TestReportTellsHowToReplay(t *testing.T) {
	r := &Result{Config: Draw(7), Anomalies: []check.Anomaly{{Kind: check.StaleRead, Text: "x"}}, Tail: []string{"one", "two"}}
	var b bytes.Buffer
	r.Report(&b, 1)
	for _, want := range []string{"seed 7 failed at commit", "two\n", "stale read: x", "simrun -seed 7 -trace"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "one\n") {
		t.Error("more of the trace than was asked for")
	}
}

// TestReplicasThatDifferAreFound changes one value on one disk behind the cluster's back.
func TestReplicasThatDifferAreFound(t *testing.T) {
	cfg := ControlConfig(1)
	r := &run{World: newWorld(cfg, newTrace(0, nil, false))}
	defer r.close()
	if err := r.bootAll(); err != nil {
		t.Fatal(err)
	}
	if err := r.runUntil(setupLimit, "replicas", r.replicated); err != nil {
		t.Fatal(err)
	}
	if err := r.compareReplicas(); err != nil {
		t.Fatal(err)
	}
	e := r.Machines[1].Engines
	b := e.State.NewBatch()
	if err := b.Set(storage.Version(dataKey('x', 0, "stray"), clock.Timestamp{Wall: 7}), []byte{1, 'v'}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.ApplyState(b); err != nil {
		t.Fatal(err)
	}
	if err := r.compareReplicas(); err == nil || !strings.Contains(err.Error(), "x0/stray") {
		t.Errorf("not found: %v", err)
	}
}

// TestRunThatDoesNotRecover cuts a node off after the last fault, for good: the run has to fail, and to say what is pending.
func TestRunThatDoesNotRecover(t *testing.T) {
	cfg := ControlConfig(1)
	cfg.Workloads, cfg.LiveWithin = []string{"bank"}, 4*time.Second
	cfg.Script = func(w *World) {
		w.Loop.At(w.Loop.Now()+cfg.FaultFor+time.Nanosecond, func() {
			cutBetween(w, func(a, b int) bool { return (a == 2) != (b == 2) })
		})
	}
	res := Run(cfg, Options{})
	if !res.Failed() {
		t.Fatal("it counts as recovered")
	}
	for _, want := range []string{"not within", "every workload can be read through every node", "m3.1/live is at: snapshot", "m3 n3 serving=true", "m1 r2 gen"} {
		if !strings.Contains(res.Problem(), want) {
			t.Errorf("%q is not in:\n%s", want, res.Problem())
		}
	}
}

// TestFaultsEnd: what makes a machine stand still ends soon after the faults, since no healing ends it. (Seed 1986: a machine stood still
// for the half minute in which it should have served again.)
func TestFaultsEnd(t *testing.T) {
	w := &World{Loop: eventloop.New(1), faultsEnd: 10 * time.Second}
	for _, c := range []struct{ now, d, want time.Duration }{{0, time.Second, time.Second}, {0, time.Minute, 16 * time.Second}, {9, time.Minute, 7 * time.Second}, {12, time.Minute, 6 * time.Second}} {
		w.Loop.Run(c.now*time.Second-w.Loop.Now(), nil)
		if got := w.still(c.d); got != c.want {
			t.Errorf("%s, asked for at %s: %s", c.d, w.Loop.Now(), got)
		}
	}
}
