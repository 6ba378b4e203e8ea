package sim

import (
	"testing"
	"time"
)

// syncConfig is a short busy run whose second machine loses power at its n-th sync after clients have begun. Logs are short
// and state is flushed often, so that syncs of the log, of tables, of manifests and of notes take turns.
func syncConfig(n uint64, after bool) Config {
	c := ControlConfig(n)
	c.Workloads, c.Think, c.FaultFor = []string{"bank", "lists"}, 5*time.Millisecond, 1200*time.Millisecond
	c.Keep, c.Flush, c.Disk = 5, 150*time.Millisecond, 0
	c.SupportDuration, c.Heartbeat, c.Tick = 600*time.Millisecond, 75*time.Millisecond, 50*time.Millisecond
	c.Script = func(w *World) {
		m := w.Machines[1]
		m.Disk.crashAtSync(n, after)
		w.Loop.At(w.Loop.Now()+time.Second, func() {
			if m.Up() && m.life == 1 {
				m.event("no sync %d", n)
			}
			m.Boot()
		})
	}
	return c
}

// TestCrashAtEachSync lets the power fail at the first sync, the second, and so on, before it has any effect and just after.
func TestCrashAtEachSync(t *testing.T) {
	t.Parallel()
	last := uint64(24)
	if testing.Short() || raceEnabled {
		last = 6
	}
	struck := 0
	for n := uint64(1); n <= last; n++ {
		for _, after := range []bool{false, true} {
			res := Run(syncConfig(n, after), Options{Keep: 100_000})
			if res.Failed() {
				t.Fatalf("power fails at sync %d, after=%v:\n%s", n, after, res.Problem())
			}
			for _, l := range res.Tail {
				if len(l) > 21 && l[21:] == "power fails at a sync" {
					struck++
				}
			}
		}
	}
	if struck < int(last) {
		t.Errorf("power failed in only %d of %d runs", struck, 2*last)
	}
}
