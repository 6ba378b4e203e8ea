package main

import (
	"fmt"
	"os"

	"github.com/longitude-db/longitude/internal/sim"
)

// runControl makes the run of a negative control with a seed.
func runControl(name string, seed uint64, sound, trace, steps, logs bool, tail int) bool {
	for _, k := range sim.Controls {
		if k.Name == name {
			cfg := k.Config(seed)
			if sound {
				cfg = k.Sound(seed)
			}
			return show(cfg, trace, steps, logs, tail)
		}
	}
	fmt.Fprintf(os.Stderr, "simrun: there is no control %q\n", name)
	return false
}

// runControls measures how many of the seeds find what is broken on purpose.
func runControls(only string, seeds int) bool {
	ok := true
	for _, k := range sim.Controls {
		if only != "" && k.Name != only {
			continue
		}
		hits, first := 0, uint64(0)
		var shown *sim.Result
		for seed := uint64(1); seed <= uint64(seeds); seed++ {
			if res, found := k.Run(seed); found {
				if hits++; first == 0 {
					first, shown = seed, res
				}
			} else if k.Within == 0 && res.Failed() {
				shown = res
			}
		}
		switch {
		case k.Within == 0 && shown != nil:
			ok = false
			fmt.Printf("%-16s NOT CLEAN: seed %d\n%s\n", k.Name, shown.Config.Seed, shown.Problem())
		case k.Within == 0:
			fmt.Printf("%-16s clean over %d seeds\n", k.Name, seeds)
		case first == 0 || first > uint64(k.Within):
			ok = false
			fmt.Printf("%-16s NOT FOUND within %d seeds (first by seed %d)\n", k.Name, k.Within, first)
		default:
			fmt.Printf("%-16s first by seed %d (limit %d), by %d of %d seeds; %s\n", k.Name, first, k.Within, hits, seeds, shown.Found())
		}
	}
	return ok
}
