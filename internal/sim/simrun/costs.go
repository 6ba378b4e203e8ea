package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/sim"
)

// cost is what one run took.
type cost struct {
	seed  uint64
	cpu   time.Duration // of a processor; a guess from real time if other runs go on beside it
	steps uint64
	kind  string
}

// kindOf names what makes a run dear, if anything does.
func kindOf(c sim.Config) string {
	switch {
	case c.Idle > 0 && c.Asleep == 0:
		return "idle for minutes"
	case c.Idle > 0:
		return "asleep for minutes"
	case c.ClosedEvery > 0 && c.Nodes >= 5:
		return "5 nodes and more, timestamps closed often"
	case c.ClosedEvery > 0:
		return "timestamps closed often"
	case c.Nodes >= 5:
		return "5 nodes and more"
	}
	return "others"
}

// showCosts prints how the processor time is distributed over seeds and kinds of runs.
func showCosts(out io.Writer, all []cost) {
	if len(all) == 0 {
		return
	}
	var total time.Duration
	var steps uint64
	type sum struct {
		kind string
		n    int
		cpu  time.Duration
	}
	sums := map[string]*sum{}
	for _, c := range all {
		total, steps = total+c.cpu, steps+c.steps
		s := sums[c.kind]
		if s == nil {
			s = &sum{kind: c.kind}
			sums[c.kind] = s
		}
		s.n, s.cpu = s.n+1, s.cpu+c.cpu
	}
	slices.SortFunc(all, func(a, b cost) int { return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.seed, b.seed)) })
	quantile := func(q float64) float64 { return all[int(q*float64(len(all)-1))].cpu.Seconds() }
	fmt.Fprintf(out, "processor time of a seed: mean %.2f s, median %.2f, 90 %% %.2f, 99 %% %.2f, most %.2f; %.1f µs a step\n",
		total.Seconds()/float64(len(all)), quantile(0.5), quantile(0.9), quantile(0.99), quantile(1), total.Seconds()*1e6/float64(max(1, steps)))
	var kinds []*sum
	for _, s := range sums {
		kinds = append(kinds, s)
	}
	slices.SortFunc(kinds, func(a, b *sum) int { return cmp.Or(cmp.Compare(b.cpu, a.cpu), strings.Compare(a.kind, b.kind)) })
	for _, s := range kinds {
		fmt.Fprintf(out, "  %5.1f %% by %4.1f %% of the seeds, %6.2f s each: %s\n",
			100*s.cpu.Seconds()/total.Seconds(), 100*float64(s.n)/float64(len(all)), s.cpu.Seconds()/float64(s.n), s.kind)
	}
	for i := len(all) - 1; i >= max(0, len(all)-5); i-- {
		fmt.Fprintf(out, "  seed %d: %.2f s, %d steps (%s)\n", all[i].seed, all[i].cpu.Seconds(), all[i].steps, all[i].kind)
	}
}
