package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/internal/client"
	"github.com/longitude-db/longitude/internal/demo"
)

func newBench() *cobra.Command {
	var p profiles
	o := defaultBench()
	c := &cobra.Command{
		Use:   "bench",
		Short: "measure a cluster, or another MySQL server, and verify its data",
		Long: `Measure what clients see of a server that speaks the MySQL protocol, and verify at the end that it kept what it
acknowledged. Without a workload: the social workload on three nodes that it starts, under the regime strict.`,
		Example: `  longitude bench
  longitude bench ycsb --url 127.0.0.1:26257 --url 127.0.0.1:26267 --url 127.0.0.1:26277
  longitude bench ycsb --demo --vs mysql://root@127.0.0.1:3306/ycsb
  longitude bench bank --url 127.0.0.1:26257 --rate 500 --json bank.json
  longitude bench thesis --quick --out out/thesis`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return needsCommand(c, args)
			}
			o.demo = true
			return runBench(c, o, []string{"social"}, func(string) (harness.Workload, error) { return canonical() })
		},
	}
	c.PersistentFlags().StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of this process, the clients, to this file, for go tool pprof; one of each cluster started goes beside it, as FILE.CLUSTER")
	c.PersistentFlags().StringVar(&p.mem, "memprofile", "", "write a memory profile of this process to this file at the end")
	for _, sub := range []*cobra.Command{newBenchSocial(), newBenchYCSB(), newBenchBank(), newBenchCounter(), newBenchLatency(), newBenchTxn(), newBenchThesis(), newBenchMap(), newBenchNodes()} {
		c.AddCommand(sub)
	}
	for _, sub := range append(c.Commands(), c) {
		run := sub.RunE
		sub.RunE = func(c *cobra.Command, args []string) error { return p.around(func() error { return run(c, args) }) }
	}
	return c
}

// benchOptions are what all workloads have in common.
type benchOptions struct {
	urls     []string
	vs       []string
	demo     bool
	regime   string
	nodes    int
	latency  time.Duration
	pids     []int
	vsPIDs   []int
	database string
	ordering string
	name     string
	drop     bool
	load     harness.Load
	slices   int
	json     string
	csv      string
}

func defaultBench() *benchOptions {
	o := &benchOptions{}
	o.flags(&cobra.Command{})
	return o
}

func (o *benchOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.urls, "url", nil, "SQL address of a node, as in longitude sql; given once for each node (default 127.0.0.1:"+client.DefaultPort+")")
	f.StringArrayVar(&o.vs, "vs", nil, "SQL address of another server to compare with, in turns; given once for each of its nodes")
	f.BoolVar(&o.demo, "demo", false, "instead of --url: start nodes, in a process of their own, and measure those")
	f.StringVar(&o.regime, "demo-regime", "strict", "clocks and ordering of the nodes of --demo; longitude demo --help lists them")
	f.IntVar(&o.nodes, "demo-nodes", 3, "how many nodes --demo starts, 1 to 9")
	f.DurationVar(&o.latency, "demo-latency", 0, "delay of each message between the nodes of --demo, as between availability zones, like 1ms")
	f.IntSliceVar(&o.pids, "pid", nil, "processes of the server of --url, to count their processor time (default: those that listen there, if on this machine and of this user)")
	f.IntSliceVar(&o.vsPIDs, "vs-pid", nil, "the same for the server of --vs")
	f.StringVar(&o.database, "database", "longitude_bench", "database to use where a URL names none; made if it is missing")
	f.BoolVar(&o.drop, "drop", false, "drop the workload's tables if they are there already")
	f.StringVar(&o.ordering, "ordering", "", "ordering of the workers' transactions: wait or uncertainty (default: the nodes')")
	f.StringVar(&o.name, "name", "cluster", "what to call the server of --url in the result")
	f.Float64Var(&o.load.Rate, "rate", 0, "operations per second of an open loop, with latencies counted from when each was due; 0: closed loop")
	f.IntVar(&o.slices, "slices", 5, "with --vs: turns of each server, each of --duration divided by this")
	f.StringVar(&o.json, "json", "", "write the results, with a point for each second, to this file as well")
	f.StringVar(&o.csv, "csv", "", "write the points for each second to this file as well")
	loadFlags(f, &o.load)
}

// check reports all that is wrong with the options.
func (o *benchOptions) check() (demo.Regime, error) {
	err := o.load.Check()
	bad := func(cond bool, format string, args ...any) {
		if cond {
			err = errors.Join(err, fmt.Errorf(format, args...))
		}
	}
	bad(o.ordering != "" && o.ordering != "wait" && o.ordering != "uncertainty", "--ordering %q: wanted: wait or uncertainty", o.ordering)
	bad(o.demo && len(o.urls) > 0, "--demo starts nodes of its own, and --url names others: give one of them")
	bad(o.nodes < 1 || o.nodes > 9, "--demo-nodes %d: wanted: 1 to 9", o.nodes)
	bad(o.latency < 0 || o.latency > time.Second, "--demo-latency %s: wanted: 0 to 1s", o.latency)
	bad(o.demo && len(o.pids) > 0, "--pid: the processes of --demo are known")
	bad(o.slices < 1, "--slices %d: wanted: 1 or more", o.slices)
	for _, u := range append(o.urls, o.vs...) {
		_, e := client.Parse(u)
		err = errors.Join(err, e)
	}
	r, e := demo.Find(o.regime)
	return r, errors.Join(err, e)
}

// runBench measures workloads one after the other, each with tables of its own.
func runBench(c *cobra.Command, o *benchOptions, names []string, workload func(name string) (harness.Workload, error)) (err error) {
	regime, err := o.check()
	for _, n := range names {
		_, e := workload(n)
		err = errors.Join(err, e)
	}
	if err != nil {
		return &usageError{c.CommandPath(), err}
	}
	// Before the work, so that a bad name does not cost it.
	outputs, err := openOutputs(map[string]string{"json": o.json, "csv": o.csv})
	if err != nil {
		return err
	}
	defer outputs.close()
	live := newLive(c)
	ctx, stop := interruptible(c.Context(), nil)
	defer stop()

	b := &benchRun{c: c, o: o, live: live, say: live.progress()}
	if o.demo {
		dir, err := os.MkdirTemp("", "longitude-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		b.say("starting %d nodes in a process of their own: %s", o.nodes, regime.About)
		spec := nodesSpec{Dir: filepath.Join(dir, "stores"), Ordering: regime.Ordering, Delay: o.latency, Database: o.database}
		for i := range o.nodes {
			spec.Clocks = append(spec.Clocks, regime.Clock(i))
		}
		cluster, err := startNodes(ctx, spec, profileOf(c, "demo"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cluster.Stop()) }()
		if b.a, err = cluster.Target(ctx, harness.TargetOptions{Name: "demo", Database: o.database, Ordering: o.ordering, Drop: true}); err != nil {
			return err
		}
	} else {
		if len(o.urls) == 0 {
			o.urls = []string{"127.0.0.1:" + client.DefaultPort}
		}
		if b.a, err = harness.Open(ctx, harness.TargetOptions{Name: o.name, URLs: o.urls, Database: o.database, Ordering: o.ordering, Drop: o.drop}); err != nil {
			return err
		}
		b.knowCPU(b.a, o.urls, o.pids)
	}
	defer b.a.Close()
	if len(o.vs) > 0 {
		if b.b, err = harness.Open(ctx, harness.TargetOptions{Name: "other", URLs: o.vs, Database: o.database, Drop: o.drop}); err != nil {
			return err
		}
		defer b.b.Close()
		b.knowCPU(b.b, o.vs, o.vsPIDs)
	}
	for i, n := range names {
		// The tables of the workload before are this run's own.
		b.a.Drop = b.a.Drop || i > 0
		if b.b != nil {
			b.b.Drop = b.b.Drop || i > 0
		}
		if err := b.workload(ctx, func() harness.Workload { w, _ := workload(n); return w }); err != nil {
			return errors.Join(err, b.write(outputs))
		}
	}
	if err := b.write(outputs); err != nil {
		return err
	}
	for _, r := range b.all {
		if f := r.Fault(); f != "" {
			return errors.New(f)
		}
	}
	return nil
}

// outputs are files that results are written to at the end.
type outputs map[string]*os.File

func openOutputs(names map[string]string) (outputs, error) {
	out := outputs{}
	for flag, name := range names {
		if name == "" {
			continue
		}
		f, err := os.Create(name)
		if err != nil {
			out.close()
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		out[flag] = f
	}
	return out, nil
}

func (o outputs) close() {
	for _, f := range o {
		f.Close()
	}
}

func (o outputs) write(flag string, write func(io.Writer) error) error {
	f := o[flag]
	if f == nil {
		return nil
	}
	if err := write(f); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// profiles are of this process: of the clients, and of the nodes with --demo.
type profiles struct{ cpu, mem string }

func (p *profiles) around(f func() error) (err error) {
	if p.cpu != "" {
		out, err := os.Create(p.cpu)
		if err != nil {
			return fmt.Errorf("--cpuprofile: %w", err)
		}
		defer out.Close()
		if err := pprof.StartCPUProfile(out); err != nil {
			return fmt.Errorf("--cpuprofile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	if p.mem != "" {
		out, e := os.Create(p.mem)
		if e != nil {
			return fmt.Errorf("--memprofile: %w", e)
		}
		defer func() {
			runtime.GC()
			if e := errors.Join(pprof.Lookup("allocs").WriteTo(out, 0), out.Close()); err == nil && e != nil {
				err = fmt.Errorf("--memprofile: %w", e)
			}
		}()
	}
	return f()
}
