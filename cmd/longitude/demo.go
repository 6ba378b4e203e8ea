package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
	"github.com/longitude-db/longitude/internal/demo"
)

func newDemo() *cobra.Command {
	var (
		o        demo.Options
		w        social.Options
		l        harness.Load
		regimes  string
		jsonFile string
		exit     bool
	)
	c := &cobra.Command{
		Use:   "demo",
		Short: "start three nodes in this process and show what clocks do to them",
		Long: `Start nodes in this process, each with its own store, clock and loopback ports, and run the social workload on them
under one regime of clocks after the other. Print a table, and stay up for you to connect.

Regimes:
` + aboutRegimes(),
		Example: `  longitude demo
  longitude demo --exit --duration 10s --workers 100 --latency 1ms --json demo.json
  longitude demo --regimes strict --read-fraction 0.5`,
		Args: noArgs,
	}
	f := c.Flags()
	f.IntVar(&o.Nodes, "nodes", 3, "nodes of the cluster, 1 to 9")
	f.DurationVar(&o.Latency, "latency", 0, "delay of each message between nodes, as between availability zones, like 1ms")
	f.StringVar(&regimes, "regimes", "regular,modified,strict", "regimes to run, in this order")
	f.StringVar(&jsonFile, "json", "", "write the results to this file as well")
	f.BoolVar(&exit, "exit", false, "stop after the table")
	f.StringVar(&o.Dir, "dir", "", "directory for the stores, kept afterwards (default: a temporary one, removed)")
	loadFlags(f, &l)
	socialFlags(f, &w)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.Nodes < 1 || o.Nodes > 9 {
			return usagef(c, "--nodes %d: wanted: 1 to 9", o.Nodes)
		}
		if o.Latency < 0 || o.Latency > time.Second {
			return usagef(c, "--latency %s: wanted: 0 to 1s", o.Latency)
		}
		for name := range strings.SplitSeq(regimes, ",") {
			r, err := demo.Find(strings.TrimSpace(name))
			if err != nil {
				return usagef(c, "--regimes: %w", err)
			}
			o.Regimes = append(o.Regimes, r)
		}
		if err := errors.Join(l.Check(), w.Check()); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		o.Workload, o.Load, o.Version = w, l, version
		return runDemo(c, o, jsonFile, exit)
	}
	return c
}

func aboutRegimes() string {
	var b strings.Builder
	for _, r := range demo.Regimes {
		fmt.Fprintf(&b, "  %-9s %s\n", r.Name, r.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

func runDemo(c *cobra.Command, o demo.Options, jsonFile string, exit bool) (err error) {
	var out *os.File
	if jsonFile != "" {
		// Before the work, so that a bad name does not cost it.
		if out, err = os.Create(jsonFile); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
		defer out.Close()
	}
	tuneMemory()
	live := newLive(c)
	o.Progress = live.progress()
	o.Live = live.Second
	ctx, stop := interruptible(c.Context(), func(os.Signal) { o.Progress("stopping") })
	defer stop()
	live.Begin("social", []string{"read", "like"})
	d, err := demo.New(o)
	if err != nil {
		return err
	}
	defer func() {
		if e := d.Close(); err == nil {
			err = e
		}
	}()
	results, err := d.Run(ctx)
	if len(results) > 0 {
		if e := reportRows(c, results, out); err == nil {
			err = e
		}
	}
	if err != nil || exit {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "\nThe cluster of regime %s stays up; Ctrl-C ends it.\n", o.Regimes[len(o.Regimes)-1].Name)
	for _, n := range d.Cluster().Nodes {
		a := n.Addrs()
		host, port, _ := strings.Cut(a.SQL, ":")
		fmt.Fprintf(w, "\nnode %d   mysql -h %s -P %s -u root %s\n", n.ID(), host, port, d.Cluster().Database)
		fmt.Fprintf(w, "         %s sql --url mysql://root@%s/%s\n", os.Args[0], a.SQL, d.Cluster().Database)
		fmt.Fprintf(w, "         console http://%s/   metrics http://%s/metrics   health http://%s/healthz\n", a.HTTP, a.HTTP, a.HTTP)
	}
	<-ctx.Done()
	return nil
}

// reportRows prints the rows of regimes, and fails if the data of one did not hold.
func reportRows(c *cobra.Command, rows []*social.Row, out *os.File) error {
	if err := social.WriteTable(c.OutOrStdout(), rows); err != nil {
		return err
	}
	if out != nil {
		if err := social.WriteJSON(out, rows); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	for _, r := range rows {
		if !r.Verified {
			return fmt.Errorf("the data of regime %s are wrong: %s", r.Regime, r.Violations[0])
		}
	}
	return nil
}
