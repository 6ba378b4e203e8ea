// Command simrun simulates clusters: many seeds, or one again with its trace.
//
//	go run ./internal/sim/simrun -seeds 100 -first 1     # that many seeds from the first
//	go run ./internal/sim/simrun -seed 42 -trace         # one, with one line per event
//	go run ./internal/sim/simrun -seed 42 -twice         # one, twice, and where the two runs part
//	go run ./internal/sim/simrun -controls               # what is broken on purpose, and when it is found
package main

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

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
		probes   = flag.Bool("probes", false, "print how often what was reached")
		parallel = flag.Int("parallel", runtime.GOMAXPROCS(0), "seeds to run at a time")
		tail     = flag.Int("tail", 40, "lines of trace to print of a failed run")
	)
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "simrun: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
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
		ok = runMany(*first, *seeds, *parallel, *tail, *twice, *probes)
	}
	if !ok {
		os.Exit(1)
	}
}

func runOne(seed uint64, trace, steps, logs bool, tail int) bool {
	return show(sim.Draw(seed), trace, steps, logs, tail)
}

// runControl makes the run of a negative control with a seed.
func runControl(name string, seed uint64, trace, steps, logs bool, tail int) bool {
	for _, k := range sim.Controls {
		if k.Name == name {
			return show(k.Config(seed), trace, steps, logs, tail)
		}
	}
	fmt.Fprintf(os.Stderr, "simrun: there is no control %q\n", name)
	return false
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

func runMany(first uint64, n, parallel, tail int, twice, probes bool) bool {
	began := time.Now()
	var (
		mu      sync.Mutex
		wg      sync.WaitGroup
		failed  []string
		virtual time.Duration
		next    = first
		done    int
		reached = sim.Probes{}
	)
	for range max(1, parallel) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				mu.Lock()
				seed := next
				next++
				mu.Unlock()
				if seed >= first+uint64(n) {
					return
				}
				res := sim.Run(sim.Draw(seed), sim.Options{})
				differs := twice && sim.Run(sim.Draw(seed), sim.Options{}).Hash != res.Hash
				mu.Lock()
				done++
				virtual += res.Virtual
				reached.Add(res.Probes)
				fmt.Println(res.Line())
				if differs {
					fmt.Printf("seed %d: a second run had another trace; see -seed %d -twice\n", seed, seed)
				}
				if res.Failed() {
					res.Report(os.Stdout, tail)
				}
				if res.Failed() || differs {
					failed = append(failed, fmt.Sprint(seed))
				}
				if done%50 == 0 {
					progress(done, n, len(failed), virtual, began)
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	if probes {
		for _, k := range slices.Sorted(maps.Keys(reached)) {
			fmt.Printf("%12.0f %s\n", reached[k], k)
		}
	}
	if never := reached.Never(); len(never) > 0 {
		fmt.Printf("never reached: %s\n", strings.Join(never, ", "))
	}
	progress(done, n, len(failed), virtual, began)
	if len(failed) > 0 {
		fmt.Printf("failed at commit %s: seeds %s\nreplay: go run ./internal/sim/simrun -seed %s -trace\n", sim.Commit(), strings.Join(failed, " "), failed[0])
	}
	return len(failed) == 0
}

func progress(done, n, failed int, virtual time.Duration, began time.Time) {
	real := time.Since(began)
	fmt.Printf("%d of %d seeds, %d failed; %s of cluster time in %s: %.0f times as fast as real time\n",
		done, n, failed, virtual.Round(time.Second), real.Round(time.Second), virtual.Seconds()/real.Seconds())
}

// runTwice shows where two runs of one seed part.
func runTwice(seed uint64) bool {
	var lines [2][]string
	for i := range lines {
		var b strings.Builder
		res := sim.Run(sim.Draw(seed), sim.Options{Out: &b, Steps: true})
		fmt.Println(res.Line())
		lines[i] = strings.Split(b.String(), "\n")
	}
	a, b := lines[0], lines[1]
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		fmt.Printf("the same for %d lines, then:\n", i)
		for j := max(0, i-15); j < i; j++ {
			fmt.Println("   ", a[j])
		}
		for k, l := range lines {
			for j := i; j < min(i+8, len(l)); j++ {
				fmt.Println(k+1, " ", l[j])
			}
		}
		return false
	}
	fmt.Printf("the same for all %d lines\n", len(a))
	return true
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
