package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/estimate"
	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/processes"
	"github.com/longitude-db/longitude/internal/client"
)

// txnOptions are those of bench txn.
type txnOptions struct {
	parts    []string
	out      string
	quick    bool
	latency  time.Duration
	against  string
	apart    bool // each node in a process of its own
	nodes    int
	duration time.Duration // of each slice
	slices   int
}

func newBenchTxn() *cobra.Command {
	o := &txnOptions{}
	c := &cobra.Command{
		Use:   "txn",
		Short: "what transactions cost: commits over ranges, a hot row, readers beside writers, TPC-C-like contention, commit wait",
		Long: `Start clusters and measure transactions on them, with both orderings in turns, and write a report (Markdown, HTML, JSON):

  commit    one row; three rows of one range; three rows of three ranges on three nodes. Round trips are counted
  hot       64 clients add to one row
  readers   read-only transactions alone, and beside writers of the same rows
  tpcc      orders and payments over two warehouses, with a hot district; TPC-C's consistency conditions at the end
  wait      how much of the commit wait is hidden, at ε = 0.05, 0.5, 1 and 5 ms

With --against, another build of this program runs beside it, part by part, slice by slice: before and after in one run. The nodes
of a cluster are together in one process. Where the other build is too old for that, each node of both is one of its own.`,
		Example: `  longitude bench txn --quick --out out/txn
  longitude bench txn --parts commit,hot --latency 5ms --against ./longitude-before`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringSliceVar(&o.parts, "parts", partNames(), "what to measure")
	f.StringVar(&o.out, "out", "txn", "directory of the report; made if it is missing")
	f.BoolVar(&o.quick, "quick", false, "short slices: under three minutes on two processors")
	f.DurationVar(&o.latency, "latency", 5*time.Millisecond, "delay of each message between nodes in the part commit, for its round trips to be countable; the other parts have 0.5 ms")
	f.StringVar(&o.against, "against", "", "another build of this program, to run the same beside this one")
	f.BoolVar(&o.apart, "processes", false, "run each node in a process of its own, by start; so are those of both builds where the other one is too old to hold several")
	f.IntVar(&o.nodes, "nodes", 3, "nodes of each cluster, 3 to 9")
	f.DurationVar(&o.duration, "slice", 3*time.Second, "length of a slice; with --quick 1s")
	f.IntVar(&o.slices, "slices", 10, "slices of each setting; with --quick 4")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.quick && !c.Flags().Changed("slice") {
			o.duration = time.Second
		}
		if o.quick && !c.Flags().Changed("slices") {
			o.slices = 4
		}
		if err := o.check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		return o.run(c)
	}
	return c
}

func (o *txnOptions) check() (err error) {
	bad := func(cond bool, format string, args ...any) {
		if cond {
			err = errors.Join(err, fmt.Errorf(format, args...))
		}
	}
	for _, p := range o.parts {
		bad(txnParts[p] == nil, "--parts: there is no %q; there are %s", p, strings.Join(partNames(), ", "))
	}
	bad(o.latency < 0 || o.latency > time.Second, "--latency %s: wanted: 0 to 1s", o.latency)
	bad(o.nodes < 3 || o.nodes > 9, "--nodes %d: wanted: 3 to 9", o.nodes)
	bad(o.duration <= 0 || o.slices < 1, "--slice %s and --slices %d: wanted: more than 0, 1 or more", o.duration, o.slices)
	if o.against != "" {
		_, e := os.Stat(o.against)
		err = errors.Join(err, e)
	}
	return err
}

// txnRun is one under way.
type txnRun struct {
	*txnOptions
	c      *cobra.Command
	say    harness.Say
	live   *liveView
	report *figure.Report
	dir    string          // of stores
	flags  processes.Flags // of `start` that all builds have; with apart
	serial int
	all    []txnResult
}

// txnResult is a measured setting, for programs.
type txnResult struct {
	Part    string             `json:"part"`
	Setting string             `json:"setting"`
	Counted map[string]float64 `json:"counted,omitempty"` // what the nodes counted meanwhile, warm-ups included
	Result  *harness.Result    `json:"result"`            // medians of the slices
	Slices  []*harness.Result  `json:"slices"`

	exported client.Metrics // what the nodes export at the end, whether it has grown or not
}

func (o *txnOptions) run(c *cobra.Command) (err error) {
	live := newLive(c)
	ctx, stop := interruptible(c.Context(), nil)
	defer stop()
	dir, err := os.MkdirTemp("", "longitude-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &txnRun{txnOptions: o, c: c, say: live.progress(), live: live, dir: dir, report: &figure.Report{Title: "What transactions cost"}}
	if err := r.setUp(ctx); err != nil {
		return err
	}
	r.report.Text("Measured with `longitude %s`, version %s, %s, %d processors, %s/%s. %s, clients in another; slices of %s, %d of each setting, in turns. Figures are medians over slices; ratios are trimmed means of the ratios within rounds, with their 95 %% intervals. All data verified.",
		strings.Join(os.Args[1:], " "), version, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, r.place(), o.duration, o.slices)
	if w := r.withheld(); w != "" {
		r.report.Text("%s", w)
	}
	for _, p := range o.parts {
		r.say("part %s", p)
		if err := txnParts[p](ctx, r); err != nil {
			return errors.Join(fmt.Errorf("part %s: %w", p, err), r.write())
		}
	}
	if err := r.write(); err != nil {
		return err
	}
	_, err = io.WriteString(c.OutOrStdout(), r.report.Markdown())
	return err
}

func (r *txnRun) write() error {
	if len(r.all) == 0 {
		return nil
	}
	if err := r.report.Write(r.out); err != nil {
		return err
	}
	b, err := json.MarshalIndent(map[string]any{"settings": r.all}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "results.json"), b, 0o644)
}

// setting is one of those that take turns.
type setting struct {
	*harness.Side
	name string
}

// measure sets settings up, runs them in turns, and keeps their results.
func (r *txnRun) measure(ctx context.Context, part string, settings []*setting, l harness.Load) error {
	var sides []*harness.Side
	for _, s := range settings {
		if err := s.Workload.Setup(ctx, s.Target, func(string, ...any) {}); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		sides = append(sides, s.Side)
	}
	r.idle(ctx, settings)
	return r.again(ctx, part, settings, sides, l)
}

// idle finds out what the clusters use while nobody asks them anything.
func (r *txnRun) idle(ctx context.Context, settings []*setting) {
	var ts []*harness.Target
	for _, s := range settings {
		ts = append(ts, s.Target)
	}
	pause(ctx, 300*time.Millisecond)
	harness.MeasureIdle(ctx, time.Second, ts...)
}

// again runs settings that are set up.
func (r *txnRun) again(ctx context.Context, part string, settings []*setting, sides []*harness.Side, l harness.Load) error {
	for _, s := range settings {
		s.Results, s.Counted = nil, nil
	}
	if r.live.Terminal() {
		r.live.Begin(part, settings[0].Workload.Classes())
	}
	if l.Duration == 0 {
		l.Duration = r.duration
	}
	if l.WarmUp == 0 {
		l.WarmUp = 200 * time.Millisecond
	}
	err := harness.Turns(ctx, sides, l, r.slices, func(string, ...any) {}, func(s harness.Second) {
		if r.live.Terminal() {
			r.live.Second(s)
		}
	})
	if err != nil {
		return err
	}
	for _, s := range settings {
		x := txnResult{Part: part, Setting: s.name, Result: harness.Combine(s.Results), Slices: s.Results}
		if f := x.Result.Fault(); f != "" {
			return errors.New(f)
		}
		if x.Result.Errors > 0 {
			r.say("%s: %d errors; the first: %s", s.name, x.Result.Errors, x.Result.FirstError)
			r.report.Text("%s, %s: %d operations failed and are in no figure; the first: %s", part, s.name, x.Result.Errors, x.Result.FirstError)
		}
		if s.Target.Metrics != nil {
			if x.exported, err = s.Target.Metrics(ctx); err != nil {
				return err
			}
		}
		x.Counted = map[string]float64{}
		for k, v := range s.Counted {
			if counted(k) {
				x.Counted[k] = v
			}
		}
		r.all = append(r.all, x)
	}
	return nil
}

// counted tells the counters that say something of transactions.
func counted(name string) bool {
	return (strings.HasPrefix(name, "longitude_txn_") || strings.HasPrefix(name, "longitude_sql_repeated") || strings.HasPrefix(name, "longitude_sql_statements") ||
		strings.HasPrefix(name, "longitude_sql_deadlocks") || strings.HasPrefix(name, "longitude_route_") || strings.HasPrefix(name, "longitude_replica_")) && !strings.Contains(name, "_bucket")
}

// sum adds up the counters whose names begin so.
func (x txnResult) sum(prefix string) (n float64) {
	for k, v := range x.Counted {
		if strings.HasPrefix(k, prefix) {
			n += v
		}
	}
	return n
}

// counts reports whether the nodes of a setting count something of this name at all: older builds do not count all that this one does.
func (x txnResult) counts(name string) bool {
	_, ok := x.exported[name]
	return ok
}

// last are the results of the settings that were measured last.
func (r *txnRun) last(n int) []txnResult { return r.all[len(r.all)-n:] }

// versus is the ratio of a figure of slices, of the last settings' first to their second.
func versus(a, b txnResult, f func(*harness.Result) float64) string {
	var x, y []float64
	for i := range min(len(a.Slices), len(b.Slices)) {
		x, y = append(x, f(a.Slices[i])), append(y, f(b.Slices[i]))
	}
	return estimate.Paired(x, y).String()
}
