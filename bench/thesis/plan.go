// Package thesis repeats chapter 4 of the thesis "Utilizing highly synchronized clocks in distributed databases" (Lund
// University): the social workload under several regimes of clocks, over the number of clients, with 95 and with 50 % reads;
// and sets the thesis's own figures beside ours, as ratios, because machines and databases differ.
//
//	T1  All regimes get the same workload, the same machine and clocks that are equally far off; they differ in what the
//	    nodes know of their clocks and in how transactions are ordered.
//	T2  Regimes are measured in short slices that take turns, and compared within rounds: what the machine does besides changes
//	    from round to round, and so cancels. Throughput and processor time are trimmed means of the ratios within rounds;
//	    restarts and percentiles are of all rounds put together, because a slice has too few of them. Every ratio has the
//	    interval that holds the true one with 95 % confidence (estimate). No result whose data did not verify gets into a
//	    report (grid).
//	T3  Whether the machine was saturated is measured and said at each point: then a latency is mostly queueing for a processor
//	    and says what throughput says, and only processor time an operation is the database's own.
package thesis

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
)

// Options are what the thesis held fixed or names as its limits, made parameters.
type Options struct {
	Workers       []int
	ReadFractions []float64
	Posts, Likes  int           // likes: how much a read has to read
	Hot           float64       // share of likes that go to one post
	Nodes         int           // 3 to 9
	Latency       time.Duration // added to each message between nodes
	Eps           time.Duration // half the width of bounded readings
	Inequality    float64       // widest bound of a node divided by the narrowest
	WarmUp        time.Duration
	Duration      time.Duration // of the measurement of each point, all its slices together
	Slices        int           // of each point
	Ramp          time.Duration // before each slice, not measured
	// Together keeps the clusters of all regimes up and measures them in turns, so that what else the machine does hits
	// all alike. Otherwise each point has a cluster of its own, alone, as in the thesis.
	Together bool
	Budget   time.Duration // Together: rounds that would end after it are left out, but for the first two
}

// Full is as in the thesis; it takes hours.
func Full() Options {
	o := Options{ReadFractions: []float64{0.95, 0.5}, Posts: 100, Likes: 1000, Nodes: 3, Latency: 500 * time.Microsecond,
		Eps: 400 * time.Microsecond, Inequality: 5.0 / 3, WarmUp: time.Minute, Duration: 5 * time.Minute, Slices: 10, Ramp: time.Second}
	for k := 50; k <= 500; k += 50 {
		o.Workers = append(o.Workers, k)
	}
	return o
}

// Quick shows the same in minutes: two numbers of clients, scaled to this machine's processors, in many short slices. With the
// few clients, and with more time on the way than in a processor, latencies are the protocol's; with the many, the processors
// are saturated, as in the thesis, and throughput is what an operation costs.
func Quick() Options {
	o := Full()
	p := runtime.NumCPU()
	o.Workers, o.Latency = []int{6 * p, 50 * max(1, p/2)}, 5*time.Millisecond
	o.WarmUp, o.Duration, o.Slices, o.Ramp = 1500*time.Millisecond, 24*time.Second, 20, 200*time.Millisecond
	o.Together, o.Budget = true, 5*time.Minute+15*time.Second
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
	bad(len(o.Workers) == 0 || slices.Min(o.Workers) < 1, "workers are %v, wanted: one number or more, each 1 or more", o.Workers)
	bad(len(o.ReadFractions) == 0, "no read fraction")
	for _, f := range o.ReadFractions {
		bad(!(f > 0 && f < 1), "read fraction is %g, wanted: more than 0 and less than 1", f)
	}
	bad(o.Nodes < 3 || o.Nodes > 9, "nodes is %d, wanted: 3 to 9", o.Nodes)
	bad(o.Latency < 0 || o.Latency > time.Second, "latency is %s, wanted: 0 to 1s", o.Latency)
	bad(o.Eps < time.Microsecond || o.Eps > 500*time.Millisecond, "eps is %s, wanted: 1µs to 500ms", o.Eps)
	bad(!(o.Inequality >= 1 && o.Inequality <= 100), "inequality is %g, wanted: 1 to 100", o.Inequality)
	bad(o.Duration <= 0 || o.WarmUp < 0 || o.Ramp < 0 || o.Slices < 1, "duration %s, warm-up %s, ramp %s and slices %d: wanted: more than 0, 0 or more, 0 or more, 1 or more", o.Duration, o.WarmUp, o.Ramp, o.Slices)
	bad(!(o.Hot >= 0 && o.Hot <= 1), "hot is %g, wanted: 0 to 1", o.Hot)
	bad(o.Posts < 3 || o.Likes < o.Posts, "posts %d and likes %d: wanted: 3 posts or more, and a like or more for each", o.Posts, o.Likes)
	return errors.Join(faults...)
}

// Regimes are the names, in the order of reports; the first is what the others are compared with.
var Regimes = []string{"regular", "regular-250", "modified", "strict"}

func (o Options) clusters() (out []grid.Cluster) {
	bounded, width := grid.Bounded(o.Eps, o.Inequality, o.Nodes)
	for _, c := range []grid.Cluster{
		{Ordering: "uncertainty", Clocks: grid.Assumed(500*time.Millisecond, o.Nodes), Width: 500 * time.Millisecond},
		{Ordering: "uncertainty", Clocks: grid.Assumed(250*time.Millisecond, o.Nodes), Width: 250 * time.Millisecond},
		{Ordering: "uncertainty", Clocks: bounded, Width: width},
		{Ordering: "wait", Clocks: bounded, Width: width},
	} {
		c.Name, c.Latency = Regimes[len(out)], o.Latency
		out = append(out, c)
	}
	return out
}

// saturating is how many clients for each processor certainly keep it busy.
const saturating = 10

// Plan is the points that the options mean.
func (o Options) Plan() grid.Plan {
	p := grid.Plan{Name: "thesis", Budget: o.Budget, Alone: !o.Together}
	t := grid.Timing{WarmUp: o.WarmUp, Ramp: o.Ramp, Slice: o.Duration / time.Duration(o.Slices), Slices: o.Slices}
	clusters := o.clusters()
	for _, f := range o.ReadFractions {
		for _, k := range o.Workers {
			t := t
			if o.Together && k > saturating*runtime.NumCPU() {
				// Operations queue for a processor and take longer; a slice has to be longer than most of them.
				t.Slice, t.Slices = 2*t.Slice, max(2, t.Slices/2)
			}
			var points []grid.Point
			for _, r := range Regimes {
				points = append(points, grid.Point{Cluster: r, Workers: k, ReadFraction: f, Posts: o.Posts, Likes: o.Likes, Hot: o.Hot})
			}
			if o.Together {
				p.Blocks = append(p.Blocks, grid.Block{Clusters: clusters, Points: points, Timing: t})
				continue
			}
			for i := range points {
				p.Blocks = append(p.Blocks, grid.Block{Clusters: clusters[i : i+1], Points: points[i : i+1], Timing: t})
			}
		}
	}
	return p
}
