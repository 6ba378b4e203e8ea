// Command sqlsimrun runs simulated clusters under SQL: seeds, or one seed with its trace.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/longitude-db/longitude/internal/sim"
	"github.com/longitude-db/longitude/internal/sim/sqlsim"
)

func main() {
	seeds := flag.Int("seeds", 10, "how many seeds to run")
	first := flag.Uint64("first", 1, "the first of them")
	seed := flag.Uint64("seed", 0, "run this seed alone")
	trace := flag.Bool("trace", false, "with -seed: print every event")
	twice := flag.Bool("twice", false, "run each seed twice and compare the traces")
	controls := flag.Bool("controls", false, "run the negative controls")
	control := flag.String("control", "", "with -controls: only this one")
	flag.Parse()
	if *seed != 0 {
		*first, *seeds = *seed, 1
	}
	failed := 0
	if *controls {
		for _, k := range sqlsim.Controls {
			if *control != "" && *control != k.Name {
				continue
			}
			found, falseAlarms := 0, 0
			for s := *first; s < *first+uint64(*seeds); s++ {
				if res := k.Run(s); len(res.Anomalies) > 0 {
					found++
				}
				if res := k.Sound(s); res.Failed() {
					falseAlarms++
					fmt.Printf("%s, seed %d, with nothing broken: %s\n", k.Name, s, res.Problem())
				}
			}
			fmt.Printf("%-20s found by %d of %d seeds: %s\n", k.Name, found, *seeds, k.Breaks)
			if found == 0 || falseAlarms > 0 {
				failed++
			}
		}
	} else {
		for s := *first; s < *first+uint64(*seeds); s++ {
			o := sim.Options{}
			if *trace {
				o.Out = os.Stdout
			}
			res := sim.Run(sqlsim.Config(s), o)
			fmt.Println(res.Line())
			switch {
			case res.Failed():
				failed++
				res.Report(os.Stdout, 40)
			case *twice && sim.Run(sqlsim.Config(s), sim.Options{}).Hash != res.Hash:
				failed++
				fmt.Printf("seed %d: another run has another trace\n", s)
			}
		}
		fmt.Printf("%d of %d seeds failed\n", failed, *seeds)
	}
	if failed > 0 {
		os.Exit(1)
	}
}
