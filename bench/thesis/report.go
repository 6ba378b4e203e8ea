package thesis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/longitude-db/longitude/bench/estimate"
	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/grid"
)

// About says where and how a report was measured.
type About struct {
	Command, Version, Machine, Date string
}

// Report puts the page together.
func Report(o Options, a About, results []grid.Result) (*figure.Report, error) {
	theirs, err := facts()
	if err != nil {
		return nil, err
	}
	ours, err := sorted(results)
	if err != nil {
		return nil, err
	}
	r := &figure.Report{Title: "What bounded clocks do to a database: chapter 4 of the thesis, repeated"}
	about(r, o, a, results)
	number := 0
	for _, f := range slices.Backward(slices.Sorted(maps.Keys(keysOf(ours, func(w where) float64 { return w.reads })))) {
		var workers []int
		for _, k := range slices.Sorted(maps.Keys(keysOf(ours, func(w where) int { return w.workers }))) {
			for _, regime := range Regimes {
				if ours[where{f, k, regime}] != nil {
					workers = append(workers, k)
					break
				}
			}
		}
		r.Heading(fmt.Sprintf("%g %% reads", f*100))
		for _, m := range metrics {
			svg, err := plotOf(m, f, workers, ours)
			if err != nil {
				return nil, err
			}
			caption := fmt.Sprintf("%s at %g %% reads", m.name, f*100)
			if m.fact != "" {
				number++
				caption = fmt.Sprintf("Figure %d. %s", number, caption)
			}
			r.Figure(fmt.Sprintf("reads%g-%s", f*100, m.file), caption, svg)
		}
		r.Table(figures(f, workers, ours))
		r.Text("Beside the thesis, as ratios, ours with their 95 %% intervals. Restarts, processor time and latencies are better below 1, throughput above. The thesis has no strict regime; what its modified one gained is what strict is measured by, and strict / modified is what strictness costs. Where the thesis has no point at our number of clients, its first and its last stand for it.")
		r.Table(compared(f, workers, ours, theirs))
	}
	return r, nil
}

func keysOf[K comparable](ours map[where]*measured, f func(where) K) map[K]bool {
	out := map[K]bool{}
	for w := range ours {
		out[f(w)] = true
	}
	return out
}

func about(r *figure.Report, o Options, a About, results []grid.Result) {
	how := "each point on a cluster of its own, alone"
	if o.Together {
		how = "the clusters of all regimes up at once, each in a process of its own, and measured in turns (A B C D, D C B A, B C D A, ...)"
	}
	fewest, most := math.MaxInt, 0
	var idle float64
	for _, x := range results {
		fewest, most = min(fewest, len(x.Slices)), max(most, len(x.Slices))
		for _, s := range x.Slices {
			idle = max(idle, s.Idle)
		}
	}
	slices := fmt.Sprint(fewest)
	if most > fewest {
		slices = fmt.Sprintf("%d to %d", fewest, most)
	}
	r.Text("Measured with `%s`, version %s, %s, on %s.", a.Command, a.Version, a.Date, a.Machine)
	r.Text("%d nodes in one process, %s added to each message between them; %d posts, %d likes at the beginning, tables made anew for each point; %s of warm-up, then %s slices of %s each; %s. All data verified.",
		o.Nodes, o.Latency, o.Posts, o.Likes, o.WarmUp, slices, o.Duration/time.Duration(o.Slices), how)
	r.Table([][]string{{"regime", "clocks", "ordering"},
		{"regular", "assumed to be within 500 ms of each other", "uncertainty: restart when a version might be too new"},
		{"regular-250", "assumed to be within 250 ms", "uncertainty"},
		{"modified", fmt.Sprintf("known to ±%s (widest / narrowest node: %.3g)", o.Eps, o.Inequality), "uncertainty"},
		{"strict", "as modified", "wait: strictly serializable"}})
	r.Text("The thesis had a machine for each node; here clients and all nodes share the processors. So two figures are set beside each other: with few clients a transaction spends its time on the way between nodes, and latencies are the protocol's; with many the processors are saturated, and then throughput is what processor time an operation takes, which is measured by itself, because it hardly depends on what else the machine does. The tables say how busy the machine was at each point, and how much of that was other work; the idle clusters took no more than %.0f %% of it in any slice.", idle*100)
	if n := len(results); n > 0 && results[n-1].Load != "" {
		r.Text("Load of the machine (over 1, 5 and 15 minutes) after the first point %s; after the last %s.", results[0].Load, results[n-1].Load)
	}
}

func plotOf(m metric, f float64, workers []int, ours map[where]*measured) ([]byte, error) {
	var lines []figure.Line
	for _, regime := range Regimes {
		l := figure.Line{Name: regime}
		for _, k := range workers {
			l.X, l.Y = append(l.X, float64(k)), append(l.Y, m.at(ours[where{f, k, regime}]))
		}
		lines = append(lines, l)
	}
	return figure.Lines(fmt.Sprintf("%s, %g %% reads", m.name, f*100), "clients (K)", m.unit, lines)
}

// figures are ours as they are.
func figures(f float64, workers []int, ours map[where]*measured) [][]string {
	rows := [][]string{{"regime", "clients", "restarts / min", "ops/s", "lowest – highest slice", "µs CPU/op", "read p50", "p95", "p99", "like p50", "p95", "p99 ms", "commit wait ms", "hidden", "errors", "machine busy", "other work"}}
	for _, k := range workers {
		for _, regime := range Regimes {
			x := ours[where{f, k, regime}]
			if x == nil {
				continue
			}
			lowest, highest := math.Inf(1), 0.0
			for _, s := range x.Slices {
				lowest, highest = min(lowest, s.OpsPerSec), max(highest, s.OpsPerSec)
			}
			row := []string{regime, fmt.Sprint(k)}
			for _, m := range metrics[:3] {
				row = append(row, figure.Short(m.at(x)))
				if m.file == "throughput" {
					row = append(row, figure.Short(lowest)+" – "+figure.Short(highest))
				}
			}
			for _, l := range []*latencies{x.read, x.like} {
				for _, p := range []float64{50, 95, 99} {
					row = append(row, figure.Short(l.percentile(p, all(x))))
				}
			}
			busy, others := x.Shares()
			rows = append(rows, append(row, fmt.Sprintf("%.3f", x.Row.CommitWaitMean), fmt.Sprintf("%.0f %%", x.Row.CommitWaitHidden*100), fmt.Sprint(x.Row.ClientErrors),
				fmt.Sprintf("%.0f %%", busy*100), fmt.Sprintf("%.0f %%", others*100)))
		}
	}
	return rows
}

// compared is the thesis's ratios beside ours.
func compared(f float64, workers []int, ours map[where]*measured, theirs map[factKey]fact) [][]string {
	rows := [][]string{{"metric", "clients", "thesis: modified / regular", "ours: modified / regular", "ours: regular-250 / regular", "ours: strict / regular", "ours: strict / modified"}}
	for _, m := range metrics {
		for _, k := range workers {
			row := []string{m.name, fmt.Sprint(k), theirRatio(m, f, k, theirs)}
			for _, pair := range [][2]string{{"modified", "regular"}, {"regular-250", "regular"}, {"strict", "regular"}, {"strict", "modified"}} {
				row = append(row, m.ratio(ours[where{f, k, pair[0]}], ours[where{f, k, pair[1]}]).String())
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// theirRatio is the thesis's, at our number of clients if it has that, else at its first and last.
func theirRatio(m metric, f float64, k int, theirs map[factKey]fact) string {
	at := func(k int) (float64, bool) {
		t, ok := theirs[factKey{f, m.fact, m.op, k}]
		return t.modified / t.regular, ok
	}
	if v, ok := at(k); ok {
		return estimate.Ratio{Value: v, Error: math.NaN()}.String()
	}
	first, ok := at(50)
	last, ok2 := at(500)
	if !ok || !ok2 {
		return "–"
	}
	return fmt.Sprintf("K=50: %.2f, K=500: %.2f", first, last)
}
