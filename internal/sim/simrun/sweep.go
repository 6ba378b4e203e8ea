package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/longitude-db/longitude/internal/sim"
)

// sweep runs many seeds, some at a time.
type sweep struct {
	first                 uint64
	n, tail               int
	twice, hashes, probes bool

	mu      sync.Mutex
	next    int // seeds given out
	done    int
	failed  []string
	why     []string // what each of these showed
	virtual time.Duration
	reached sim.Probes
	lines   map[uint64]string // with hashes: those that wait for their turn
	printed uint64
	gap     float64 // the largest of the runs', as a share of what was permitted
	gapOf   uint64
	began   time.Time
	costs   []cost
	used    time.Duration // processor time when the last run ended
	alone   bool          // one run at a time: what the process uses is that run's
}

func (s *sweep) run(parallel int) bool {
	s.began, s.reached, s.lines, s.alone = time.Now(), sim.Probes{}, map[uint64]string{}, parallel == 1
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for {
				seed, ok := s.take()
				if !ok {
					return
				}
				res := sim.Run(sim.Draw(seed), sim.Options{})
				differs := s.twice && sim.Run(sim.Draw(seed), sim.Options{}).Hash != res.Hash
				s.took(seed, res, differs)
			}
		})
	}
	wg.Wait()
	s.sum()
	return len(s.failed) == 0
}

func (s *sweep) take() (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == s.n {
		return 0, false
	}
	s.next++
	return s.first + uint64(s.next) - 1, true
}

// took takes a result in and shows it.
func (s *sweep) took(seed uint64, res *sim.Result, differs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.virtual += res.Virtual
	s.reached.Add(res.Probes)
	c := cost{seed: seed, cpu: res.Real, steps: res.Steps, kind: kindOf(res.Config)}
	if now := processorTime(); s.alone {
		c.cpu, s.used = now-s.used, now
	}
	s.costs = append(s.costs, c)
	if a := res.Config.Available; a > 0 && res.Gap.Seconds()/a.Seconds() > s.gap {
		s.gap, s.gapOf = res.Gap.Seconds()/a.Seconds(), seed
	}
	if res.Failed() || differs {
		s.failed = append(s.failed, fmt.Sprint(seed))
		what := "a second run had another trace"
		if res.Failed() {
			what = res.Found()
		}
		s.why = append(s.why, fmt.Sprintf("seed %d: %.300s", seed, what))
	}
	if s.hashes {
		s.lines[seed] = fmt.Sprintf("%d %016x %d", seed, res.Hash, res.Steps)
		for ; s.lines[s.first+s.printed] != ""; s.printed++ {
			fmt.Println(s.lines[s.first+s.printed])
			delete(s.lines, s.first+s.printed)
		}
		return
	}
	fmt.Println(res.Line())
	if differs {
		fmt.Printf("seed %d: a second run had another trace; see -seed %d -twice\n", seed, seed)
	}
	if res.Failed() {
		res.Report(os.Stdout, s.tail)
	}
	if s.done%50 == 0 && s.done < s.n {
		s.progress()
	}
}

func (s *sweep) progress() {
	real := time.Since(s.began)
	fmt.Printf("%d of %d seeds, %d failed; %s of cluster time in %s: %.0f times as fast as real time, %.0f seeds an hour, %.2f s of a processor each\n",
		s.done, s.n, len(s.failed), s.virtual.Round(time.Second), real.Round(time.Second), s.virtual.Seconds()/real.Seconds(),
		float64(s.done)/real.Hours(), processorTime().Seconds()/float64(s.done))
	if s.gap > 0 {
		fmt.Printf("the longest time without service was %.0f %% of what is permitted, by seed %d\n", 100*s.gap, s.gapOf)
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// sum says what came of it all.
func (s *sweep) sum() {
	if len(s.failed) > 0 {
		defer func() {
			for _, line := range s.why {
				fmt.Fprintln(os.Stderr, line)
			}
		}()
		defer fmt.Fprintf(os.Stderr, "failed at commit %s: seeds %s\nreplay: make sim SEED=%s\n", sim.Commit(), strings.Join(s.failed, " "), s.failed[0])
	}
	if s.hashes {
		return
	}
	if s.probes {
		for _, k := range slices.Sorted(maps.Keys(s.reached)) {
			fmt.Printf("%12.0f %s\n", s.reached[k], k)
		}
	}
	if never := s.reached.Never(); len(never) > 0 {
		fmt.Printf("never reached: %s\n", strings.Join(never, ", "))
	}
	s.progress()
	showCosts(os.Stdout, s.costs)
}
