package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/internal/check/jepsen"
	"github.com/longitude-db/longitude/internal/client"
	"github.com/longitude-db/longitude/internal/verify"
)

func newVerify() *cobra.Command {
	var (
		urls     []string
		duration time.Duration
		history  string
		o        verify.Options
	)
	c := &cobra.Command{
		Use:   "verify",
		Short: "try a running cluster: does it keep what it promises?",
		Long: `Make a database of its own, run workloads in it through all nodes that are named, judge what the clients saw, and drop
it again. Nothing else is touched, so this can be done in production; the load is that of --workers busy clients.

Exit code 0: nothing wrong; 1: an anomaly, or the cluster did not answer.`,
		Example: `  longitude verify --url 127.0.0.1:26257 --url 127.0.0.1:26267 --url 127.0.0.1:26277 --duration 1m
  longitude verify --ordering uncertainty --workloads list-append,order --history history.json`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringArrayVar(&urls, "url", nil, "SQL address of a node, as in longitude sql; given once for each node (default 127.0.0.1:"+client.DefaultPort+")")
	f.DurationVar(&duration, "duration", 30*time.Second, "how long to run the workloads")
	f.IntVar(&o.Workers, "workers", 20, "clients, spread evenly over the nodes, each with a connection of its own")
	f.StringSliceVar(&o.Workloads, "workloads", verify.Workloads, "what the clients do")
	f.StringVar(&o.Ordering, "ordering", "", "ordering of the clients' transactions: wait or uncertainty (default: the nodes')")
	f.StringVar(&history, "history", "", "write the history of transactions and registers into this file, as longitude check reads it")
	f.BoolVar(&o.Split, "split", true, "cut the tables into ranges that different nodes lead")
	f.BoolVar(&o.Keep, "keep", false, "leave the database behind")
	f.DurationVar(&o.Timeout, "timeout", 10*time.Second, "after how long a client gives up waiting for an answer")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the clients' choices")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(urls) == 0 {
			urls = []string{"127.0.0.1:" + client.DefaultPort}
		}
		for _, u := range urls {
			cfg, err := client.Parse(u)
			if err != nil {
				return &usageError{c.CommandPath(), err}
			}
			o.Nodes = append(o.Nodes, cfg)
		}
		o.Progress = progressTo(c.ErrOrStderr())
		if err := o.Check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		if duration <= 0 {
			return usagef(c, "--duration %s: wanted: more than 0", duration)
		}
		var out *os.File
		if history != "" {
			var err error
			if out, err = os.Create(history); err != nil {
				return fmt.Errorf("--history: %w", err)
			}
			defer out.Close()
		}
		ctx, stop := interruptible(c.Context(), nil)
		defer stop()
		run, err := verify.Start(ctx, o)
		if err != nil {
			return err
		}
		run.Wait(ctx, duration)
		res, unfinished := run.Finish()
		if out != nil {
			err := jepsen.Write(out, res.History, res.Times)
			if err == nil {
				err = out.Close()
			}
			if err != nil {
				return fmt.Errorf("--history: %w", err)
			}
		}
		if err := writeVerified(c.OutOrStdout(), res, o.Nodes); err != nil {
			return err
		}
		if !res.Clean() {
			return fmt.Errorf("the cluster did not keep what it promises: see above\nhint: --history FILE keeps the evidence; clocks that lie are the likeliest cause, see SELECT * FROM longitude.clock")
		}
		return unfinished
	}
	return c
}

// writeVerified prints the verdict.
func writeVerified(w io.Writer, res *verify.Result, nodes []*mysql.Config) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %9s %7s %8s %8s  %s\n", "workload", "ok", "failed", "unknown", "ok/s", "verdict")
	for _, l := range res.Loads {
		verdict := "no anomaly found"
		switch {
		case len(l.Anomalies) > 0:
			verdict = fmt.Sprintf("%d ANOMALIES", len(l.Anomalies))
		case l.Undecided > 0:
			verdict = fmt.Sprintf("%d keys UNDECIDED: their operations took too long to order", l.Undecided)
		case l.OK == 0:
			verdict = "nothing was acknowledged"
		}
		fmt.Fprintf(&b, "%-12s %9d %7d %8d %8.0f  %s\n", l.Name, l.OK, l.Failed, l.Unknown, float64(l.OK)/res.Elapsed.Seconds(), verdict)
	}
	fmt.Fprintf(&b, "judged by %s over %d nodes; longest time without an acknowledgement %s\n", res.Model, len(nodes), res.Stall.Round(time.Millisecond))
	for _, l := range res.Loads {
		for _, e := range l.Errors {
			fmt.Fprintf(&b, "%s: %s\n", l.Name, e)
		}
	}
	for _, l := range res.Loads {
		for _, a := range l.Anomalies {
			fmt.Fprintf(&b, "\n%s: %s\n", l.Name, a)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
