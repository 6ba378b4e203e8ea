package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/longitude-db/longitude/bench/effect"
	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/thesis"
)

func newBenchThesis() *cobra.Command {
	o, out, quick := thesis.Full(), "", false
	c := &cobra.Command{
		Use:   "thesis",
		Short: "repeat chapter 4 of the thesis on clusters in this process, as a report with plots",
		Long: `Run the social workload under four regimes of clocks, over the number of clients, with 95 and 50 % reads, on clusters of
nodes in one process with a delay between them, and write a report (Markdown, HTML, plots, CSV, JSON) that sets the thesis's
figures beside what was measured. What is measured is kept in the directory: a run that was stopped goes on where it was
when it is started again with the same options.

  regular      clocks assumed to be within 500 ms, restarts when uncertain
  regular-250  the same, within 250 ms
  modified     clocks known to ±ε, restarts when uncertain
  strict       clocks known to ±ε, strictly serializable`,
		Example: `  longitude bench thesis --quick --out out/thesis
  longitude bench thesis --quick --workers 450 --likes 5000 --eps 5ms --nodes 5 --out out/other`,
		Args: noArgs,
	}
	f := c.Flags()
	f.BoolVar(&quick, "quick", false, "few points and short slices in turns: under six minutes on two processors instead of hours")
	f.StringVar(&out, "out", "thesis", "directory of the report and of what has been measured; made if it is missing")
	f.IntSliceVar(&o.Workers, "workers", o.Workers, "numbers of clients (K); with --quick six for each processor, and 50 for each two")
	f.Float64SliceVar(&o.ReadFractions, "read-fractions", o.ReadFractions, "how often an operation is a read")
	f.IntVar(&o.Likes, "likes", o.Likes, "likes to load: how much a read has to read")
	f.DurationVar(&o.Eps, "eps", o.Eps, "bound of the clocks of modified and strict: the geometric mean over the nodes")
	fixedFlags(f, &o.Nodes, &o.Latency, &o.Inequality, &o.Hot, &o.Posts, &o.WarmUp, &o.Duration, &o.Slices)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if quick {
			q := thesis.Quick()
			o.Together, o.Budget, o.Ramp = q.Together, q.Budget, q.Ramp
			for flag, set := range map[string]func(){
				"workers": func() { o.Workers = q.Workers }, "slices": func() { o.Slices = q.Slices }, "latency": func() { o.Latency = q.Latency },
				"warm-up": func() { o.WarmUp = q.WarmUp }, "duration": func() { o.Duration = q.Duration },
			} {
				if !c.Flags().Changed(flag) {
					set()
				}
			}
		}
		if err := o.Check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		return runGrid(c, o.Plan(), out, func(a thesis.About, results []grid.Result) (*figure.Report, error) {
			return thesis.Report(o, a, results)
		})
	}
	c.AddCommand(newThesisCompare())
	return c
}

func newBenchMap() *cobra.Command {
	o, out, quick := effect.Full(), "", false
	var eps []string
	c := &cobra.Command{
		Use:   "map",
		Short: "map what clocks cost over their bound, the length of reads and contention, for both orderings",
		Long: `Run the social workload over the bound of the clocks (ε), the number of likes that a read counts, and the number of clients,
with both orderings, on clusters of nodes in one process, and write a page with heat maps: restarts, commit wait and its hidden
share, latency, throughput, which ordering wins where, and from where on waiting costs. It can be stopped and goes on when
it is started again with the same options.`,
		Example: `  longitude bench map --quick --out out/map
  longitude bench map --eps 100us,1ms,10ms --likes 1000 --workers 10,100 --hot 0.9`,
		Args: noArgs,
	}
	f := c.Flags()
	f.BoolVar(&quick, "quick", false, "few points and short slices in turns: five to ten minutes on two processors instead of hours")
	f.StringVar(&out, "out", "map", "directory of the page and of what has been measured; made if it is missing")
	f.StringSliceVar(&eps, "eps", nil, "bounds of the clocks (default 10us to 500ms)")
	f.IntSliceVar(&o.Likes, "likes", o.Likes, "numbers of likes to load; with --quick 300,3000")
	f.IntSliceVar(&o.Workers, "workers", o.Workers, "numbers of clients; with --quick 6,48")
	f.Float64Var(&o.ReadFraction, "read-fraction", o.ReadFraction, "how often an operation is a read")
	fixedFlags(f, &o.Nodes, &o.Latency, &o.Inequality, &o.Hot, &o.Posts, &o.WarmUp, &o.Duration, &o.Slices)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if quick {
			q := effect.Quick()
			o.Eps, o.Ramp, o.Budget = q.Eps, q.Ramp, q.Budget
			for flag, set := range map[string]func(){
				"likes": func() { o.Likes = q.Likes }, "workers": func() { o.Workers = q.Workers }, "slices": func() { o.Slices = q.Slices },
				"warm-up": func() { o.WarmUp = q.WarmUp }, "duration": func() { o.Duration = q.Duration },
			} {
				if !c.Flags().Changed(flag) {
					set()
				}
			}
		}
		if len(eps) > 0 {
			o.Eps = nil
		}
		for _, e := range eps {
			d, err := time.ParseDuration(e)
			if err != nil {
				return usagef(c, "--eps: %w", err)
			}
			o.Eps = append(o.Eps, d)
		}
		if err := o.Check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		return runGrid(c, o.Plan(), out, func(a thesis.About, results []grid.Result) (*figure.Report, error) {
			about := fmt.Sprintf("Measured with `%s`, version %s, %s, on %s.", a.Command, a.Version, a.Date, a.Machine)
			if n := len(results); n > 0 && results[n-1].Load != "" {
				about += fmt.Sprintf(" Load of the machine (over 1, 5 and 15 minutes) at the first point %s; at the last %s.", results[0].Load, results[n-1].Load)
			}
			return effect.Report(o, about, results)
		})
	}
	return c
}

// fixedFlags are what thesis and map hold fixed.
func fixedFlags(f *pflag.FlagSet, nodes *int, latency *time.Duration, inequality, hot *float64, posts *int, warmUp, duration *time.Duration, slices *int) {
	f.IntVar(nodes, "nodes", *nodes, "nodes of each cluster, 3 to 9")
	f.DurationVar(latency, "latency", *latency, "delay of each message between nodes, as between availability zones; for thesis --quick 5ms")
	f.Float64Var(inequality, "inequality", *inequality, "widest bound of a node's clock divided by the narrowest, 1 to 100")
	f.Float64Var(hot, "hot", *hot, "share of new likes that go to one post, 0 to 1")
	f.IntVar(posts, "posts", *posts, "posts to load")
	f.DurationVar(warmUp, "warm-up", *warmUp, "how long to run before each point, without measuring; with --quick about a second")
	f.DurationVar(duration, "duration", *duration, "how long to measure each point, all its slices together; with --quick seconds")
	f.IntVar(slices, "slices", *slices, "how many slices the measurement of a point is cut into; with --quick they take turns with those of other points")
}

// runGrid measures a plan and writes the report, of what there is if it is interrupted.
func runGrid(c *cobra.Command, p grid.Plan, dir string, report func(thesis.About, []grid.Result) (*figure.Report, error)) error {
	live := newLive(c)
	say := live.progress()
	ctx, stop := interruptible(c.Context(), func(os.Signal) {
		say("stopping; what is measured is kept in %s, and goes on from there when started again", dir)
	})
	defer stop()
	o := grid.Options{Dir: dir, Start: startPoint(c), Say: say}
	if live.Terminal() {
		o.Live = live.Live
	}
	results, err := grid.Run(ctx, p, o)
	if len(results) == 0 {
		return err
	}
	a := thesis.About{Command: "longitude " + strings.Join(os.Args[1:], " "), Version: version, Date: time.Now().UTC().Format(time.DateOnly),
		Machine: fmt.Sprintf("%d processors, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)}
	r, e := report(a, results)
	if e == nil {
		e = r.Write(dir)
	}
	if e == nil {
		e = grid.Write(dir, results)
	}
	if err == nil {
		err = e
	}
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "%s\n%s\n", filepath.Join(dir, "report.md"), filepath.Join(dir, "report.html"))
	}
	return err
}

// startPoint starts clusters for points, each in a process of its own.
func startPoint(cmd *cobra.Command) grid.Starter {
	return func(ctx context.Context, c grid.Cluster, dir string) (*grid.Running, error) {
		const database = "social"
		p, err := startNodes(ctx, nodesSpec{Dir: dir, Clocks: c.Clocks, Ordering: c.Ordering, Delay: c.Latency, MaxUncertainty: max(time.Second, 2*c.Width), Database: database},
			profileOf(cmd, c.Name))
		if err != nil {
			return nil, err
		}
		return &grid.Running{
			Target: func(ctx context.Context, ordering string) (*harness.Target, error) {
				return p.Target(ctx, harness.TargetOptions{Name: c.Name, Database: database, Ordering: ordering})
			},
			Stop: p.Stop,
		}, nil
	}
}

func newThesisCompare() *cobra.Command {
	return &cobra.Command{
		Use:   "compare DIR DIR",
		Short: "tell how well the ratios of two runs agree",
		Long: `Read what two runs of bench thesis have written, and print each ratio of both with its 95 % interval, the ratio of the two,
and how many are within 20 %.`,
		Example: `  longitude bench thesis compare out/thesis out/thesis-again`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef(c, "%d directories, wanted: those of two runs", len(args))
			}
			a, err := grid.Read(args[0])
			if err != nil {
				return err
			}
			b, err := grid.Read(args[1])
			if err != nil {
				return err
			}
			return thesis.Compare(c.OutOrStdout(), a, b)
		},
	}
}
