package sim

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestIllDisks: a node whose disk is full or fails stops by itself, loses nothing that was acknowledged, and serves again
// once its disk is well. One whose reads fail may go on: what it reads mostly is in memory.
func TestIllDisks(t *testing.T) {
	t.Parallel()
	for _, a := range append(slices.Clone(failing), fullDisk) {
		t.Run(a.name, func(t *testing.T) {
			for seed := range uint64(2) {
				c := ControlConfig(seed + 1)
				c.Workloads, c.Think, c.FaultFor = []string{"bank", "lists"}, 5*time.Millisecond, 3*time.Second
				c.Keep, c.Flush = 20, 300*time.Millisecond
				c.Script = func(w *World) {
					m := w.Machines[1]
					w.Loop.At(w.Loop.Now()+300*time.Millisecond, func() { m.diskFault.inject(a) })
					w.Loop.At(w.Loop.Now()+1500*time.Millisecond, func() {
						m.diskFault.inject(diskFault{})
						m.Boot()
					})
				}
				res := Run(c, Options{Keep: 100_000})
				if res.Failed() {
					t.Fatal(res.Problem())
				}
				stopped := slices.ContainsFunc(res.Tail, func(l string) bool { return strings.Contains(l, "m2     stops by itself") })
				if !stopped && (a.write != 0 || a.sync != 0) {
					t.Errorf("seed %d: the node did not stop", seed+1)
				}
			}
		})
	}
}

// TestDiskFaults: disks that stand still, fill on all machines, lose a directory or hold damaged bits. What is guaranteed: nothing that was
// acknowledged is missing, no answer is wrong, the cluster comes back; a majority with sound disks serves meanwhile.
func TestDiskFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		shows []string // each must be in some trace
	}{
		{"full-disks", []string{"m1     stops by itself", "m2     stops by itself", "m3     stops by itself"}},
		{"stall-disk", []string{"disk of log stands still", "disk of state stands still"}},
		{"lost-directory", []string{"does not start: store store cannot be opened: the directory state is missing", "does not start: store store cannot be opened: the directory log is missing"}},
		{"damage", []string{"disk damaged", "stops by itself", "does not start: store store cannot be opened"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			seen := map[string]bool{}
			for seed := uint64(1); seed <= 6 && (seed <= 2 || len(seen) < len(c.shows)); seed++ {
				cfg := ControlConfig(seed)
				cfg.Workloads, cfg.Think, cfg.Clients, cfg.FaultFor = []string{"bank", "lists"}, 5*time.Millisecond, 2, 8*time.Second
				cfg.Keep, cfg.Flush, cfg.MaxSteps = 200, 300*time.Millisecond, 4_000_000
				cfg.Faults, cfg.FaultEvery = []string{c.fault}, 1500*time.Millisecond
				cfg.Available = cfg.availableWithin()
				res := Run(cfg, Options{Keep: 200_000})
				if res.Failed() {
					t.Fatalf("seed %d: %s", seed, res.Problem())
				}
				for _, s := range c.shows {
					if slices.ContainsFunc(res.Tail, func(l string) bool { return strings.Contains(l, s) }) {
						seen[s] = true
					}
				}
			}
			for _, s := range c.shows {
				if !seen[s] {
					t.Errorf("no run shows %q", s)
				}
			}
		})
	}
}
