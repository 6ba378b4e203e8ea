// Package effect draws the map of what clocks cost: uncertainty restarts, commit wait and its hidden share, latency and
// throughput of the social workload over the bound of the clocks (ε), the length of reads and the number of clients, for both
// orderings; and says where each of them wins, and from where on waiting costs.
//
//	M1  Both orderings are measured on the same cluster and the same tables, in short slices in turns (A B, B A, ...), and
//	    compared within rounds. So neither gets the longer tables, or the quieter machine.
package effect

import (
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
)

// Options are the axes of the map and what is held fixed.
type Options struct {
	Eps          []time.Duration // half the width of readings
	Likes        []int           // read length
	Workers      []int           // contention
	ReadFraction float64
	Posts        int
	Hot          float64
	Nodes        int
	Latency      time.Duration
	Inequality   float64
	WarmUp       time.Duration
	Duration     time.Duration // of the measurement of each point, all its slices together
	Slices       int
	Ramp         time.Duration // before each slice, not measured
	Budget       time.Duration // 0: no limit; else points get fewer slices, but two or more
}

// Full takes a few hours.
func Full() Options {
	us, ms := time.Microsecond, time.Millisecond
	return Options{Eps: []time.Duration{10 * us, 30 * us, 100 * us, 300 * us, ms, 3 * ms, 10 * ms, 30 * ms, 100 * ms, 250 * ms, 500 * ms},
		Likes: []int{300, 1000, 3000, 10000}, Workers: []int{6, 24, 96}, ReadFraction: 0.8, Posts: 100, Nodes: 3, Latency: 500 * us, Inequality: 5.0 / 3,
		WarmUp: 3 * time.Second, Duration: 45 * time.Second, Slices: 10, Ramp: 500 * ms}
}

// Quick takes minutes.
func Quick() Options {
	o := Full()
	us, ms := time.Microsecond, time.Millisecond
	o.Eps = []time.Duration{10 * us, 100 * us, ms, 10 * ms, 100 * ms, 500 * ms}
	o.Likes, o.Workers, o.WarmUp, o.Duration, o.Slices, o.Ramp, o.Budget = []int{300, 3000}, []int{6, 48}, 300*ms, 4*time.Second, 6, 200*ms, 5*time.Minute
	return o
}

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	bad(len(o.Eps) == 0 || len(o.Likes) == 0 || len(o.Workers) == 0, "eps %v, likes %v, workers %v: wanted: one or more of each", o.Eps, o.Likes, o.Workers)
	for _, e := range o.Eps {
		bad(e < time.Microsecond || e > 500*time.Millisecond, "eps is %s, wanted: 1µs to 500ms", e)
	}
	for _, l := range o.Likes {
		bad(l < o.Posts, "likes is %d, wanted: one or more for each of %d posts", l, o.Posts)
	}
	for _, k := range o.Workers {
		bad(k < 1, "workers is %d, wanted: 1 or more", k)
	}
	bad(o.Nodes < 3 || o.Nodes > 9, "nodes is %d, wanted: 3 to 9", o.Nodes)
	bad(!(o.ReadFraction > 0 && o.ReadFraction < 1), "read fraction is %g, wanted: more than 0 and less than 1", o.ReadFraction)
	bad(!(o.Inequality >= 1 && o.Inequality <= 100), "inequality is %g, wanted: 1 to 100", o.Inequality)
	bad(!(o.Hot >= 0 && o.Hot <= 1), "hot is %g, wanted: 0 to 1", o.Hot)
	bad(o.Latency < 0 || o.Latency > time.Second, "latency is %s, wanted: 0 to 1s", o.Latency)
	bad(o.Duration <= 0 || o.WarmUp < 0 || o.Ramp < 0 || o.Slices < 1, "duration %s, warm-up %s, ramp %s and slices %d: wanted: more than 0, 0 or more, 0 or more, 1 or more", o.Duration, o.WarmUp, o.Ramp, o.Slices)
	return errors.Join(faults...)
}

// Orderings that are compared.
var orderings = []string{"uncertainty", "wait"}

// Plan is the points that the options mean: a cluster for each bound, and a block for each field of the map.
func (o Options) Plan() grid.Plan {
	p := grid.Plan{Name: "map", Budget: o.Budget}
	t := grid.Timing{WarmUp: o.WarmUp, Ramp: o.Ramp, Slice: o.Duration / time.Duration(o.Slices), Slices: o.Slices}
	for _, e := range o.Eps {
		clocks, width := grid.Bounded(e, o.Inequality, o.Nodes)
		c := grid.Cluster{Name: "eps-" + e.String(), Ordering: "wait", Clocks: clocks, Latency: o.Latency, Width: width}
		for _, l := range o.Likes {
			for _, k := range o.Workers {
				b := grid.Block{Clusters: []grid.Cluster{c}, Timing: t}
				for _, ord := range orderings {
					b.Points = append(b.Points, grid.Point{Cluster: c.Name, Ordering: ord, Workers: k, ReadFraction: o.ReadFraction, Posts: o.Posts, Likes: l, Hot: o.Hot, Eps: e})
				}
				p.Blocks = append(p.Blocks, b)
			}
		}
	}
	return p
}
