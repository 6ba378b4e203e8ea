package sqlsim

import (
	"os"
	"strconv"
	"testing"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/sim"
)

// Some seeds with the ordinary faults; SQL_SEEDS=n for more. Q3 is what each of them is judged by.
func TestSQL(t *testing.T) {
	seeds := 4
	if v := os.Getenv("SQL_SEEDS"); v != "" {
		seeds, _ = strconv.Atoi(v)
	}
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		res := sim.Run(Config(seed), sim.Options{})
		t.Logf("%s", res.Line())
		if res.Failed() {
			t.Errorf("seed %d: %s", seed, res.Problem())
		}
		if res.Ops[check.OK] == 0 {
			t.Errorf("seed %d: no statement succeeded", seed)
		}
	}
}

// N3 of the engine's named locks, with the ordinary faults.
func TestNamedLocks(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		c := Config(seed)
		c.Workloads = []string{"locks"}
		res := sim.Run(c, sim.Options{})
		t.Logf("%s", res.Line())
		if res.Failed() || res.Ops[check.OK] == 0 {
			t.Errorf("seed %d: %s", seed, res.Problem())
		}
		if again := sim.Run(c, sim.Options{}); again.Hash != res.Hash {
			t.Errorf("seed %d: another run has another trace", seed)
		}
	}
}

// Q1.
func TestSameSeedSameTrace(t *testing.T) {
	for _, seed := range []uint64{1, 3} {
		a, b := sim.Run(Config(seed), sim.Options{}), sim.Run(Config(seed), sim.Options{})
		if a.Hash != b.Hash || a.Steps != b.Steps {
			t.Errorf("seed %d: %x in %d steps, and %x in %d", seed, a.Hash, a.Steps, b.Hash, b.Steps)
		}
	}
}

// Broken on purpose: each must be found within some seeds, and the same runs without it are clean.
func TestControls(t *testing.T) {
	for _, k := range Controls {
		t.Run(k.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= uint64(k.Within); seed++ {
				res := k.Run(seed)
				if len(res.Anomalies) == 0 {
					continue
				}
				t.Logf("seed %d: %s", seed, res.Problem())
				if sound := k.Sound(seed); sound.Failed() {
					t.Errorf("seed %d with nothing broken: %s", seed, sound.Problem())
				}
				return
			}
			t.Errorf("%s was not found within %d seeds", k.Breaks, k.Within)
		})
	}
}
