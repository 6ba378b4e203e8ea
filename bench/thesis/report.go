package thesis

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// where is a place in the plots.
type where struct {
	reads   float64
	workers int
	regime  string
}

// medians are over the rounds of one place.
type medians struct {
	byRound         map[int]*medians // of one round each; nil in those
	restarts, ops   float64
	read, like      [3]float64 // p50, p95, p99
	wait, hidden    float64
	errors          int64
	lowest, highest float64 // throughput of the worst and of the best round
}

// summarize takes medians over rounds (T2).
func summarize(results []grid.Result) map[where]*medians {
	rows, rounds := map[where][]social.Row{}, map[where]map[int]*medians{}
	for _, r := range results {
		w := where{r.Point.ReadFraction, r.Point.Workers, r.Point.Cluster}
		rows[w] = append(rows[w], r.Row)
		if rounds[w] == nil {
			rounds[w] = map[int]*medians{}
		}
		rounds[w][r.Point.Round] = mediansOf([]social.Row{r.Row})
	}
	out := map[where]*medians{}
	for w, rs := range rows {
		out[w] = mediansOf(rs)
		out[w].byRound = rounds[w]
	}
	return out
}

func mediansOf(rs []social.Row) *medians {
	of := func(f func(social.Row) float64) float64 {
		var vs []float64
		for _, r := range rs {
			vs = append(vs, f(r))
		}
		return harness.Median(vs)
	}
	m := &medians{
		lowest:   math.Inf(1),
		restarts: of(func(r social.Row) float64 { return float64(r.UncertaintyRestarts) / r.DurationSeconds * 60 }),
		ops:      of(func(r social.Row) float64 { return r.OpsPerSec }),
		read:     [3]float64{of(func(r social.Row) float64 { return r.ReadP50 }), of(func(r social.Row) float64 { return r.ReadP95 }), of(func(r social.Row) float64 { return r.ReadP99 })},
		like:     [3]float64{of(func(r social.Row) float64 { return r.LikeP50 }), of(func(r social.Row) float64 { return r.LikeP95 }), of(func(r social.Row) float64 { return r.LikeP99 })},
		wait:     of(func(r social.Row) float64 { return r.CommitWaitMean }), hidden: of(func(r social.Row) float64 { return r.CommitWaitHidden }),
	}
	for _, r := range rs {
		m.errors += r.ClientErrors
		m.lowest, m.highest = min(m.lowest, r.OpsPerSec), max(m.highest, r.OpsPerSec)
	}
	return m
}

// ratio is the median of the ratios within rounds (T2), NaN without one.
func ratio(m metric, a, b *medians) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	var vs []float64
	for round, x := range a.byRound {
		if y := b.byRound[round]; y != nil && m.of(y) != 0 {
			vs = append(vs, m.of(x)/m.of(y))
		}
	}
	if len(vs) == 0 {
		return math.NaN()
	}
	return harness.Median(vs)
}

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
	ours := summarize(results)
	r := &figure.Report{Title: "What bounded clocks do to a database: chapter 4 of the thesis, repeated"}
	about(r, o, a, results)
	fractions := slices.Backward(slices.Sorted(maps.Keys(keysOf(ours, func(w where) float64 { return w.reads }))))
	for _, f := range fractions {
		workers := slices.Sorted(maps.Keys(keysOf(ours, func(w where) int {
			if w.reads != f {
				return 0
			}
			return w.workers
		})))
		workers = slices.DeleteFunc(workers, func(k int) bool { return k == 0 })
		r.Heading(fmt.Sprintf("%g %% reads", f*100))
		for _, m := range metrics {
			svg, err := plotOf(m, f, workers, ours)
			if err != nil {
				return nil, err
			}
			r.Figure(fmt.Sprintf("reads%g-%s", f*100, m.file), fmt.Sprintf("%s at %g %% reads", m.name, f*100), svg)
		}
		r.Table(measured(f, workers, ours))
		r.Text("Beside the thesis, as ratios. Restarts and latencies are better below 1, throughput above. Ours are medians of the ratios within rounds. The thesis has no strict regime; what its modified one gained is what strict is measured by, and strict / modified is what strictness costs.")
		r.Table(compared(f, workers, ours, theirs))
	}
	return r, nil
}

func keysOf[K comparable](ours map[where]*medians, f func(where) K) map[K]bool {
	out := map[K]bool{}
	for w := range ours {
		out[f(w)] = true
	}
	return out
}

func about(r *figure.Report, o Options, a About, results []grid.Result) {
	how := "each point on a cluster of its own"
	if o.Together {
		how = "the clusters of all regimes in one process, measured in turns"
	}
	rounds := 0
	for _, x := range results {
		rounds = max(rounds, x.Point.Round+1)
	}
	r.Text("Measured with `%s`, version %s, %s, on %s.", a.Command, a.Version, a.Date, a.Machine)
	r.Text("%d nodes in one process, %s added to each message between them; %d posts, %d likes at the beginning; %s of warm-up and %s of measurement for each point, %s; medians over rounds, of which there were %d. All data verified.",
		o.Nodes, o.Latency, o.Posts, o.Likes, o.WarmUp, o.Duration, how, rounds)
	r.Table([][]string{{"regime", "clocks", "ordering"},
		{"regular", "assumed to be within 500 ms of each other", "uncertainty: restart when a version might be too new"},
		{"regular-250", "assumed to be within 250 ms", "uncertainty"},
		{"modified", fmt.Sprintf("known to ±%s (widest / narrowest node: %.3g)", o.Eps, o.Inequality), "uncertainty"},
		{"strict", "as modified", "wait: strictly serializable"}})
	if n := len(results); n > 0 && results[n-1].Load != "" {
		r.Text("Load of the machine (over 1, 5 and 15 minutes) at the first point %s; at the last %s. With more than there are processors, other work took part of them.", results[0].Load, results[n-1].Load)
	}
}

func plotOf(m metric, f float64, workers []int, ours map[where]*medians) ([]byte, error) {
	var lines []figure.Line
	for _, regime := range Regimes {
		l := figure.Line{Name: regime}
		for _, k := range workers {
			y := math.NaN()
			if x := ours[where{f, k, regime}]; x != nil {
				y = m.of(x)
			}
			l.X, l.Y = append(l.X, float64(k)), append(l.Y, y)
		}
		lines = append(lines, l)
	}
	return figure.Lines(fmt.Sprintf("%s, %g %% reads", m.name, f*100), "workers (K)", m.unit, lines)
}

// measured is our figures as they are.
func measured(f float64, workers []int, ours map[where]*medians) [][]string {
	rows := [][]string{{"regime", "workers", "restarts / min", "ops/s", "lowest – highest round", "read p50", "p95", "p99", "like p50", "p95", "p99 ms", "commit wait ms", "hidden", "errors"}}
	for _, k := range workers {
		for _, regime := range Regimes {
			m := ours[where{f, k, regime}]
			if m == nil {
				continue
			}
			row := []string{regime, fmt.Sprint(k), figure.Short(m.restarts), figure.Short(m.ops), figure.Short(m.lowest) + " – " + figure.Short(m.highest)}
			for _, v := range append(m.read[:], m.like[:]...) {
				row = append(row, figure.Short(v))
			}
			rows = append(rows, append(row, fmt.Sprintf("%.3f", m.wait), fmt.Sprintf("%.0f %%", m.hidden*100), fmt.Sprint(m.errors)))
		}
	}
	return rows
}

// compared is the thesis's ratios beside ours.
func compared(f float64, workers []int, ours map[where]*medians, theirs map[factKey]fact) [][]string {
	rows := [][]string{{"metric", "workers", "thesis: modified / regular", "ours: modified / regular", "ours: strict / regular", "ours: strict / modified"}}
	for _, m := range metrics {
		for _, k := range workers {
			at := func(regime string) *medians { return ours[where{f, k, regime}] }
			their := math.NaN()
			if t, ok := theirs[factKey{f, m.fact, m.op, k}]; ok {
				their = t.modified / t.regular
			}
			rows = append(rows, []string{m.name, fmt.Sprint(k), written(their),
				written(ratio(m, at("modified"), at("regular"))), written(ratio(m, at("strict"), at("regular"))), written(ratio(m, at("strict"), at("modified")))})
		}
	}
	return rows
}

func written(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}
