package thesis

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/longitude-db/longitude/bench/estimate"
	"github.com/longitude-db/longitude/bench/grid"
)

// where is a place in the plots.
type where struct {
	reads   float64
	workers int
	regime  string
}

// measured is what was measured at one place.
type measured struct {
	grid.Result
	read, like *latencies
}

// latencies are those of a class, by slice: how often each value occurred.
type latencies struct {
	values []float64 // ms, ascending
	counts [][]int64 // by slice, then value
}

// sort puts results where they belong.
func sorted(results []grid.Result) (map[where]*measured, error) {
	out := map[where]*measured{}
	for _, r := range results {
		m := &measured{Result: r}
		var err error
		if m.read, err = latenciesOf(r.Slices, func(s grid.Slice) string { return s.ReadHistogram }); err == nil {
			m.like, err = latenciesOf(r.Slices, func(s grid.Slice) string { return s.LikeHistogram })
		}
		if err != nil {
			return nil, err
		}
		out[where{r.Point.ReadFraction, r.Point.Workers, r.Point.Cluster}] = m
	}
	return out, nil
}

func latenciesOf(ss []grid.Slice, of func(grid.Slice) string) (*latencies, error) {
	bySlice := make([]map[float64]int64, len(ss))
	all := map[float64]bool{}
	for i, s := range ss {
		h, err := hdrhistogram.Decode([]byte(of(s)))
		if err != nil {
			return nil, fmt.Errorf("a histogram of latencies: %w", err)
		}
		bySlice[i] = map[float64]int64{}
		for _, b := range h.Distribution() {
			if b.Count > 0 {
				v := float64(b.To) / 1000
				bySlice[i][v] += b.Count
				all[v] = true
			}
		}
	}
	l := &latencies{}
	for v := range all {
		l.values = append(l.values, v)
	}
	slices.Sort(l.values)
	for _, m := range bySlice {
		row := make([]int64, len(l.values))
		for i, v := range l.values {
			row[i] = m[v]
		}
		l.counts = append(l.counts, row)
	}
	return l, nil
}

// percentile of the slices that are given by number; NaN if they have no operation.
func (l *latencies) percentile(p float64, rounds []int) float64 {
	sums, n := make([]int64, len(l.values)), int64(0)
	for _, r := range rounds {
		for i, c := range l.counts[r] {
			sums[i] += c
			n += c
		}
	}
	left := int64(math.Ceil(p / 100 * float64(n)))
	for i, c := range sums {
		if left -= c; left <= 0 && n > 0 {
			return l.values[i]
		}
	}
	return math.NaN()
}

// metric is a figure that is compared, and where the thesis has it.
type metric struct {
	name, unit, file string
	fact, op         string // metric and operation in facts.csv; empty: the thesis does not report it
	tail             bool   // of few operations; it takes a longer run than most to know it
	// mean: the trimmed mean over slices, else of all slices together.
	mean bool
	of   func(m *measured, rounds []int) float64
}

// metrics are those of the thesis's tables C.1 to D.5, in their order, and the processor time that explains throughput.
var metrics = []metric{
	{"uncertainty restarts", "per minute", "restarts", "uncertainty_restarts", "all", false, false, func(m *measured, rounds []int) float64 {
		n, seconds := 0.0, 0.0
		for _, r := range rounds {
			n, seconds = n+float64(m.Slices[r].Restarts), seconds+m.Slices[r].Seconds
		}
		return n / seconds * 60
	}},
	{"throughput", "operations per second", "throughput", "throughput_ops_per_sec", "all", false, true, func(m *measured, rounds []int) float64 {
		return trimmed(rounds, func(r int) float64 { return m.Slices[r].OpsPerSec })
	}},
	{"processor time an operation", "µs, all nodes", "cpu", "", "", false, true, func(m *measured, rounds []int) float64 {
		return trimmed(rounds, func(r int) float64 { return m.Slices[r].ServerCPU })
	}},
	latency("read p50", 50, (*measured).reads), latency("like p50", 50, (*measured).likes),
	latency("read p95", 95, (*measured).reads), latency("like p95", 95, (*measured).likes),
	latency("read p99", 99, (*measured).reads), latency("like p99", 99, (*measured).likes),
}

func (m *measured) reads() *latencies { return m.read }
func (m *measured) likes() *latencies { return m.like }

func latency(name string, p float64, of func(*measured) *latencies) metric {
	op := name[:4]
	return metric{name: name, unit: "ms", file: fmt.Sprintf("%s-p%g", op, p), fact: fmt.Sprintf("p%g_ms", p), op: op, tail: p > 50,
		of: func(m *measured, rounds []int) float64 { return of(m).percentile(p, rounds) }}
}

func trimmed(rounds []int, of func(round int) float64) float64 {
	var vs []float64
	for _, r := range rounds {
		vs = append(vs, of(r))
	}
	return estimate.Trimmed(vs)
}

// at is the figure over all slices.
func (m metric) at(x *measured) float64 {
	if x == nil {
		return math.NaN()
	}
	return m.of(x, all(x))
}

func all(x *measured) (rounds []int) {
	for i := range x.Slices {
		rounds = append(rounds, i)
	}
	return rounds
}

// ratio compares two places (T2).
func (m metric) ratio(a, b *measured) estimate.Ratio {
	if a == nil || b == nil {
		return estimate.Ratio{Value: math.NaN(), Error: math.NaN()}
	}
	if m.mean && a.Paired && b.Paired {
		one := func(x *measured) (vs []float64) {
			for i := range x.Slices {
				vs = append(vs, m.of(x, []int{i}))
			}
			return vs
		}
		return estimate.Paired(one(a), one(b))
	}
	return estimate.Of(len(a.Slices), len(b.Slices), a.Paired && b.Paired, func(ra, rb []int) float64 {
		return m.of(a, ra) / m.of(b, rb)
	})
}
