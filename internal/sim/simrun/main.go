// Command simrun simulates clusters: many seeds, or one again with its trace.
//
//	go run ./internal/sim/simrun -seeds 100 -first 1     # that many seeds from the first
//	go run ./internal/sim/simrun -seed 42 -trace         # one, with one line per event
//	go run ./internal/sim/simrun -seed 42 -twice         # one, twice, and where the two runs part
//	go run ./internal/sim/simrun -seeds 100 -twice       # each of them twice: the traces must be the same
//	go run ./internal/sim/simrun -seeds 100 -hashes      # one line per seed, to compare with another machine's
//	go run ./internal/sim/simrun -controls               # what is broken on purpose, and when it is found
//	go run ./internal/sim/simrun -control NAME -seed 3   # one of these runs again
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/sim"
)

func main() {
	var (
		seeds    = flag.Int("seeds", 20, "how many seeds to run")
		first    = flag.Uint64("first", 1, "the first of them")
		seed     = flag.Uint64("seed", 0, "run this seed alone")
		trace    = flag.Bool("trace", false, "with -seed: print every event")
		steps    = flag.Bool("steps", false, "with -trace: print every task switch")
		logs     = flag.Bool("logs", false, "with -trace: print the nodes' logs")
		twice    = flag.Bool("twice", false, "run each seed twice and compare the traces")
		controls = flag.Bool("controls", false, "run the negative controls")
		control  = flag.String("control", "", "with -controls: only this one")
		hashes   = flag.Bool("hashes", false, "print only seeds and the hashes of their traces, in order")
		probes   = flag.Bool("probes", false, "print how often what was reached")
		parallel = flag.Int("parallel", runtime.GOMAXPROCS(0), "seeds to run at a time")
		tail     = flag.Int("tail", 40, "lines of trace to print of a failed run")
	)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "simrun: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	// A run makes much garbage and keeps little: rather more memory, within limits, than a third of the time for collecting.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(int64(max(1, *parallel)) << 30)
	ok := true
	switch {
	case *control != "" && *seed != 0:
		ok = runControl(*control, *seed, *trace, *steps, *logs, *tail)
	case *controls || *control != "":
		ok = runControls(*control, *seeds)
	case *seed != 0 && *twice:
		ok = runTwice(*seed)
	case *seed != 0:
		ok = runOne(*seed, *trace, *steps, *logs, *tail)
	default:
		ok = (&sweep{first: *first, n: *seeds, tail: *tail, twice: *twice, hashes: *hashes, probes: *probes}).run(max(1, *parallel))
	}
	if !ok {
		os.Exit(1)
	}
}

func runOne(seed uint64, trace, steps, logs bool, tail int) bool {
	return show(sim.Draw(seed), trace, steps, logs, tail)
}

func show(cfg sim.Config, trace, steps, logs bool, tail int) bool {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	o := sim.Options{Logs: logs, Steps: steps}
	if trace {
		o.Out, tail = out, 0
	}
	fmt.Fprintln(out, cfg)
	res := sim.Run(cfg, o)
	if res.Failed() {
		res.Report(out, tail)
	}
	fmt.Fprintln(out, res.Line())
	if len(res.Tolerated) > 0 {
		fmt.Fprintf(out, "permitted in this ordering: %s\n", check.Count(res.Tolerated))
	}
	return !res.Failed()
}
