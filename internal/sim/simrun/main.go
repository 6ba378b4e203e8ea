// Command simrun simulates clusters: many seeds, or one again with its trace.
//
//	go run ./internal/sim/simrun -seeds 100 -first 1     # that many seeds from the first
//	go run ./internal/sim/simrun -seed 42 -trace         # one, with one line per event
//	go run ./internal/sim/simrun -seed 42 -twice         # one, twice, and where the two runs part
//	go run ./internal/sim/simrun -seeds 100 -twice       # each of them twice: the traces must be the same
//	go run ./internal/sim/simrun -seeds 100 -hashes      # one line per seed, to compare with another machine's
//	go run ./internal/sim/simrun -controls               # what is broken on purpose, and when it is found
//	go run ./internal/sim/simrun -control NAME -seed 3   # one of these runs again, with -sound with nothing broken
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"

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
		sound    = flag.Bool("sound", false, "with -control and -seed: the same run with nothing broken")
		hashes   = flag.Bool("hashes", false, "print only seeds and the hashes of their traces, in order")
		probes   = flag.Bool("probes", false, "print how often what was reached")
		parallel = flag.Int("parallel", runtime.GOMAXPROCS(0), "seeds to run at a time")
		tail     = flag.Int("tail", 40, "lines of trace to print of a failed run")
		cpu      = flag.String("cpuprofile", "", "write a profile of the processor time to this file")
		mem      = flag.String("memprofile", "", "write a profile of what was allocated to this file")
	)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "simrun: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	// A run makes much garbage and keeps little: rather more memory, within limits, than a third of the time for collecting.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(int64(max(1, *parallel)) << 30)
	// No more processors than runs. A run is one thread of control, but for Pebble's goroutines, which it waits for: on a second
	// processor each of these hand-overs would wake a thread.
	runtime.GOMAXPROCS(max(1, *parallel))
	stop := profile(*cpu, *mem)
	ok := true
	switch {
	case *control != "" && *seed != 0:
		ok = runControl(*control, *seed, *sound, *trace, *steps, *logs, *tail)
	case *controls || *control != "":
		ok = runControls(*control, *seeds)
	case *seed != 0 && *twice:
		ok = runTwice(*seed)
	case *seed != 0:
		ok = runOne(*seed, *trace, *steps, *logs, *tail)
	default:
		ok = (&sweep{first: *first, n: *seeds, tail: *tail, twice: *twice, hashes: *hashes, probes: *probes}).run(max(1, *parallel))
	}
	stop()
	if !ok {
		os.Exit(1)
	}
}

// profile begins to write the profiles that were asked for; what it returns ends them.
func profile(cpu, mem string) (stop func()) {
	create := func(name string) *os.File {
		f, err := os.Create(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "simrun: %v\n", err)
			os.Exit(2)
		}
		return f
	}
	var c *os.File
	if cpu != "" {
		c = create(cpu)
		if err := pprof.StartCPUProfile(c); err != nil {
			fmt.Fprintf(os.Stderr, "simrun: %v\n", err)
			os.Exit(2)
		}
	}
	return func() {
		if c != nil {
			pprof.StopCPUProfile()
			c.Close()
		}
		if mem != "" {
			m := create(mem)
			defer m.Close()
			if err := pprof.Lookup("allocs").WriteTo(m, 0); err != nil {
				fmt.Fprintf(os.Stderr, "simrun: %v\n", err)
			}
		}
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
