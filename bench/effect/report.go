package effect

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/longitude-db/longitude/bench/estimate"
	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/social"
)

// place is a field of the map.
type place struct {
	ordering string
	eps      time.Duration
	likes    int
	workers  int
}

// metric is what a map shows.
type metric struct {
	name, file string
	share      bool
	of         func(social.Row) float64
}

var metrics = []metric{
	{"uncertainty restarts per 1,000 operations", "restarts", false, restarts},
	{"commit wait needed, ms a transaction", "wait-needed", false, func(r social.Row) float64 { return r.CommitWaitNeeded }},
	{"commit wait stood still for, ms a transaction", "wait", false, func(r social.Row) float64 { return r.CommitWaitMean }},
	{"share of the needed commit wait that is hidden", "hidden", true, func(r social.Row) float64 { return r.CommitWaitHidden }},
	{"read p50, ms", "read-p50", false, func(r social.Row) float64 { return r.ReadP50 }},
	{"like p50, ms", "like-p50", false, func(r social.Row) float64 { return r.LikeP50 }},
	{"processor time an operation, µs of all nodes", "cpu", false, func(r social.Row) float64 { return r.ServerCPU }},
	{"throughput, operations per second", "throughput", false, func(r social.Row) float64 { return r.OpsPerSec }},
}

func restarts(r social.Row) float64 {
	ops := r.OpsPerSec * r.DurationSeconds
	if ops == 0 {
		return 0
	}
	return float64(r.UncertaintyRestarts) / ops * 1000
}

// table finds what was measured at a place.
type table map[place]grid.Result

func tableOf(results []grid.Result) table {
	t := table{}
	for _, r := range results {
		t[place{r.Point.Ordering, r.Point.Eps, r.Point.Likes, r.Point.Workers}] = r
	}
	return t
}

func (t table) at(p place, f func(social.Row) float64) float64 {
	r, ok := t[p]
	if !ok {
		return math.NaN()
	}
	return f(r.Row)
}

// versus is the ratio of wait to uncertainty of a figure of slices.
func (t table) versus(eps time.Duration, likes, workers int, f func(grid.Slice) float64) estimate.Ratio {
	one := func(ordering string) (vs []float64) {
		for _, s := range t[place{ordering, eps, likes, workers}].Slices {
			vs = append(vs, f(s))
		}
		return vs
	}
	return estimate.Paired(one("wait"), one("uncertainty"))
}

// heat makes the map of one figure for one number of workers.
func (o Options) heat(title string, workers int, share, ratio bool, at func(eps time.Duration, likes int) float64) *figure.Heat {
	h := &figure.Heat{Title: title, X: "ε of the clocks", Y: "likes", Share: share, Ratio: ratio}
	for _, e := range o.Eps {
		h.Columns = append(h.Columns, e.String())
	}
	for _, l := range o.Likes {
		h.Rows = append(h.Rows, fmt.Sprint(l))
		var row []float64
		for _, e := range o.Eps {
			row = append(row, at(e, l))
		}
		h.Values = append(h.Values, row)
	}
	return h
}

// scale gives maps of one figure the same ends, so that they can be compared.
func scale(hs []*figure.Heat) {
	low, high := math.Inf(1), 0.0
	for _, h := range hs {
		for _, row := range h.Values {
			for _, v := range row {
				if v > 0 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	for _, h := range hs {
		if high > 0 {
			h.Low, h.High = low, high
		}
	}
}

// Report puts the page together. about says with what it was measured.
func Report(o Options, about string, results []grid.Result) (*figure.Report, error) {
	t := tableOf(results)
	r := &figure.Report{Title: "The effect map: what a clock's bound costs, by ordering"}
	r.Text("%s", about)
	r.Text("Social workload, %g %% reads, %d nodes in one process, %s added to each message, widest bound / narrowest %.3g, share of likes to one post %g; %s of warm-up for each ordering in each field, then up to %d slices of %s of each, in turns on the same cluster and tables. All data verified. The real offsets of the clocks are the same everywhere (0.1 to 0.25 ms, or half of ε where that is less): only what the nodes know differs.",
		o.ReadFraction*100, o.Nodes, o.Latency, o.Inequality, o.Hot, o.WarmUp, o.Slices, o.Duration/time.Duration(o.Slices))
	r.Heading("Where each ordering wins")
	r.Text("The throughput of wait divided by that of uncertainty: above 1 waiting out the uncertainty is faster than restarting because of it, below 1 it is slower. Wait is also the stronger guarantee (strictly serializable), so a tie is its win.")
	for _, of := range []struct {
		name, file string
		f          func(grid.Slice) float64
	}{
		{"throughput", "winner", func(s grid.Slice) float64 { return s.OpsPerSec }},
		{"processor time an operation", "cpu-ratio", func(s grid.Slice) float64 { return s.ServerCPU }},
	} {
		for _, k := range o.Workers {
			h := o.heat(fmt.Sprintf("%s: wait / uncertainty, %d workers", of.name, k), k, false, true, func(e time.Duration, l int) float64 { return t.versus(e, l, k, of.f).Value })
			h.Invert = of.file == "cpu-ratio"
			if err := add(r, h, fmt.Sprintf("%s-k%d", of.file, k)); err != nil {
				return nil, err
			}
		}
	}
	r.Text("The same ratios of throughput with their 95 %% intervals. **wait** or **uncertainty** wins where the interval leaves no doubt; elsewhere the machine did not show a difference.")
	r.Table(o.winners(t))
	r.Text("Why: with uncertainty ordering a read meets more versions in its window (which is 2ε wide) the more likes arrive in that time, and each pulls it up, or makes it begin again; that costs work. With wait ordering nothing is uncertain, and a transaction stands still until its timestamp is past, which costs time but no work: 2ε from its beginning, of which the statements, round trips and replication hide what they take themselves.")
	r.Heading("Where waiting begins to cost")
	r.Text("The smallest ε of the map at which a transaction of the wait ordering stands still for more than a tenth of the median like. Below it the wait is free: it passes under work that has to be done anyway.")
	r.Table(o.onset(t))
	for _, m := range metrics {
		r.Heading(m.name)
		var hs []*figure.Heat
		var names []string
		for _, k := range o.Workers {
			for _, ord := range orderings {
				hs = append(hs, o.heat(fmt.Sprintf("%s, %d workers", ord, k), k, m.share, false, func(e time.Duration, l int) float64 {
					return t.at(place{ord, e, l, k}, m.of)
				}))
				names = append(names, fmt.Sprintf("%s-%s-k%d", m.file, ord, k))
			}
		}
		scale(hs)
		for i, h := range hs {
			if err := add(r, h, names[i]); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// winners are the ratios of throughput with who won.
func (o Options) winners(t table) [][]string {
	head := []string{"likes a read counts", "workers"}
	for _, e := range o.Eps {
		head = append(head, "ε "+e.String())
	}
	rows := [][]string{head}
	for _, l := range o.Likes {
		for _, k := range o.Workers {
			row := []string{fmt.Sprint(l), fmt.Sprint(k)}
			for _, e := range o.Eps {
				x := t.versus(e, l, k, func(s grid.Slice) float64 { return s.OpsPerSec })
				cell := x.String()
				switch {
				case x.Value > 1+x.Error:
					cell += " **wait**"
				case x.Value*(1+x.Error) < 1:
					cell += " **uncertainty**"
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func add(r *figure.Report, h *figure.Heat, name string) error {
	svg, err := h.Draw()
	if err != nil {
		return err
	}
	r.Figure(name, strings.TrimSpace(h.Title), svg)
	return nil
}

// onset is the point where waiting begins to cost.
func (o Options) onset(t table) [][]string {
	rows := [][]string{{"likes a read counts", "workers", "ε where waiting costs", "stood still ms", "like p50 ms", "hidden"}}
	for _, l := range o.Likes {
		for _, k := range o.Workers {
			row := []string{fmt.Sprint(l), fmt.Sprint(k), "nowhere on the map", "–", "–", "–"}
			for _, e := range o.Eps {
				p := place{"wait", e, l, k}
				wait := t.at(p, func(r social.Row) float64 { return r.CommitWaitMean })
				like := t.at(p, func(r social.Row) float64 { return r.LikeP50 })
				if wait > like/10 {
					row = []string{fmt.Sprint(l), fmt.Sprint(k), e.String(), figure.Short(wait), figure.Short(like),
						fmt.Sprintf("%.0f %%", 100*t.at(p, func(r social.Row) float64 { return r.CommitWaitHidden }))}
					break
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}
