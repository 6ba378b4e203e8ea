package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/social"
	"github.com/longitude-db/longitude/internal/client"
)

func newBench() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "run a workload against a running cluster",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsCommand,
	}
	c.AddCommand(newBenchSocial())
	return c
}

func newBenchSocial() *cobra.Command {
	var (
		urls     []string
		database string
		ordering string
		jsonFile string
		o        social.Options
	)
	c := &cobra.Command{
		Use:   "social",
		Short: "list posts by their likes while others like them",
		Long: `Make the tables posts and likes, fill them, split them over the nodes, and let workers list all posts by their
number of likes, or like one. At the end the data are verified.`,
		Example: `  longitude bench social --url 127.0.0.1:26257 --url 127.0.0.1:26267 --url 127.0.0.1:26277 --duration 30s`,
		Args:    noArgs,
	}
	f := c.Flags()
	f.StringArrayVar(&urls, "url", nil, "SQL address of a node, as in longitude sql; given once for each node (default 127.0.0.1:"+client.DefaultPort+")")
	f.StringVar(&database, "database", "social", "database to use; made if it is missing")
	f.BoolVar(&o.Drop, "drop", false, "drop the tables posts and likes if they are there already")
	f.StringVar(&ordering, "ordering", "", "ordering of the workers' transactions: wait or uncertainty (default: the nodes')")
	f.StringVar(&o.Regime, "regime", "cluster", "what to call the result")
	f.StringVar(&jsonFile, "json", "", "write the result to this file as well")
	workloadFlags(f, &o)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(urls) == 0 {
			urls = []string{"127.0.0.1:" + client.DefaultPort}
		}
		if ordering != "" && ordering != "wait" && ordering != "uncertainty" {
			return usagef(c, "--ordering %q: wanted: wait or uncertainty", ordering)
		}
		ctx, stop := interruptible(c.Context(), nil)
		defer stop()
		o.Progress = progressTo(c.ErrOrStderr())
		for _, u := range urls {
			cfg, err := client.Parse(u)
			if err != nil {
				return &usageError{c.CommandPath(), err}
			}
			if ordering != "" {
				if cfg.Params == nil {
					cfg.Params = map[string]string{}
				}
				cfg.Params["longitude_ordering"] = client.Quote(ordering)
			}
			if cfg.DBName == "" {
				cfg.DBName = database
			}
			if err := client.CreateDatabase(ctx, cfg); err != nil {
				return err
			}
			db, err := client.Open(cfg)
			if err != nil {
				return err
			}
			defer db.Close()
			o.Nodes = append(o.Nodes, db)
		}
		if err := o.Check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		o.Stats = social.MetricsOf(ctx, o.Nodes[0])
		var out *os.File
		if jsonFile != "" {
			var err error
			if out, err = os.Create(jsonFile); err != nil {
				return fmt.Errorf("--json: %w", err)
			}
			defer out.Close()
		}
		res, err := social.LoadAndRun(ctx, &o)
		if err != nil {
			return err
		}
		return report(c, []*social.Result{res}, out)
	}
	return c
}

// report prints the results, and fails if the data of one did not hold.
func report(c *cobra.Command, results []*social.Result, out *os.File) error {
	if err := social.WriteTable(c.OutOrStdout(), results); err != nil {
		return err
	}
	if out != nil {
		if err := social.WriteJSON(out, results); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	for _, r := range results {
		if !r.Verified {
			return fmt.Errorf("the data of regime %s are wrong: %s", r.Regime, r.Violations[0])
		}
	}
	return nil
}
