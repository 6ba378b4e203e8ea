package sim

import (
	"testing"
	"time"
)

// A machine that cannot apply what comes in one range loses that range's replica and nothing else: the range is served by the others, and all
// other ranges by it, while the fault lasts; with a version that can apply it, the replica comes level with the others.
func TestQuarantinedReplicas(t *testing.T) {
	quarantined := 0.0
	for seed := range uint64(3) {
		c := ControlConfig(seed + 1)
		c.Workloads, c.Think = []string{"register", "bank"}, 50*time.Millisecond
		c.Faults, c.FaultEvery, c.LongP = []string{"poison"}, 2*time.Second, 0.5
		c.Available = c.availableWithin()
		c.FaultFor, c.MaxSteps = 2*c.Available, 2_000_000
		res := Run(c, Options{})
		if res.Failed() {
			t.Errorf("seed %d: %s", seed+1, res.Problem())
		}
		quarantined += res.Probes["sim_quarantined_total"]
	}
	if quarantined == 0 {
		t.Error("nothing was ever quarantined")
	}
}
