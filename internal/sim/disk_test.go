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
					w.Loop.At(w.Loop.Now()+300*time.Millisecond, func() { m.illness.set(a) })
					w.Loop.At(w.Loop.Now()+1500*time.Millisecond, func() {
						m.illness.set(ailment{})
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
