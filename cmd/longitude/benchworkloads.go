package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/bank"
	"github.com/longitude-db/longitude/bench/counter"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/latency"
	"github.com/longitude-db/longitude/bench/social"
	"github.com/longitude-db/longitude/bench/ycsb"
)

// canonical is the workload of bench without arguments.
func canonical() (harness.Workload, error) {
	return social.New(social.Options{ReadFraction: 0.95, Posts: 100, Likes: 1000})
}

// workloadCommand is the command of a workload: its own flags are made by flags, which returns what makes the workload of
// a name.
func workloadCommand(use, short, long, example string, names func() []string, flags func(*cobra.Command) func(string) (harness.Workload, error)) *cobra.Command {
	o := &benchOptions{}
	c := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: noArgs}
	o.flags(c)
	workload := flags(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return runBench(c, o, names(), workload) }
	return c
}

func only(name string) func() []string { return func() []string { return []string{name} } }

func newBenchSocial() *cobra.Command {
	return workloadCommand("social", "list posts by their likes while others like them",
		`Make the tables posts and likes, fill them, split them over the nodes, and let workers list all posts by their number of
likes, or like one.`,
		`  longitude bench social --url 127.0.0.1:26257 --url 127.0.0.1:26267 --url 127.0.0.1:26277 --duration 30s`,
		only("social"), func(c *cobra.Command) func(string) (harness.Workload, error) {
			var o social.Options
			socialFlags(c.Flags(), &o)
			return func(string) (harness.Workload, error) { return social.New(o) }
		})
}

func newBenchYCSB() *cobra.Command {
	letters := ycsb.Letters
	return workloadCommand("ycsb", "the Yahoo! Cloud Serving Benchmark, core workloads A to F",
		`Run the core workloads of YCSB one after the other, each on freshly loaded records of 10 fields of 100 bytes:
  a  half reads, half updates of one field        d  reads of the latest records, 5% inserts
  b  95% reads, 5% updates                        e  scans of 1 to 100 records, 5% inserts
  c  reads only                                   f  half reads, half read-modify-writes in a transaction
Requests are zipfian (0.99) and scattered over the keys.`,
		`  longitude bench ycsb --workloads a,f --records 100000 --url 127.0.0.1:26257
  longitude bench ycsb --demo --vs mysql://root@127.0.0.1:3306/ycsb`,
		func() []string {
			var out []string
			for l := range strings.SplitSeq(letters, ",") {
				if l = strings.ToLower(strings.TrimSpace(l)); l != "" {
					out = append(out, l)
				}
			}
			return out
		}, func(c *cobra.Command) func(string) (harness.Workload, error) {
			var records int
			c.Flags().StringVar(&letters, "workloads", "a,b,c,d,e,f", "which of the core workloads to run, in this order")
			c.Flags().IntVar(&records, "records", 10000, "records to load")
			return func(letter string) (harness.Workload, error) {
				return ycsb.New(ycsb.Options{Letter: letter, Records: records})
			}
		})
}

func newBenchBank() *cobra.Command {
	return workloadCommand("bank", "transfers between accounts, whose sum must not change",
		`Move money between two accounts in a transaction that reads both and writes both, and now and then add up all accounts.`,
		`  longitude bench bank --accounts 100 --hot 4 --url 127.0.0.1:26257`,
		only("bank"), func(c *cobra.Command) func(string) (harness.Workload, error) {
			var o bank.Options
			f := c.Flags()
			f.IntVar(&o.Accounts, "accounts", 1000, "accounts to open")
			f.IntVar(&o.Hot, "hot", 0, "transfers are among this many accounts; 0: among all")
			f.Float64Var(&o.SumFraction, "sum-fraction", 0.05, "how often an operation adds up all accounts, 0 to 1")
			f.BoolVar(&o.Lock, "lock", true, "read FOR UPDATE in transfers; without it the database alone must notice that a balance has changed")
			return func(string) (harness.Workload, error) { return bank.New(o) }
		})
}

func newBenchCounter() *cobra.Command {
	return workloadCommand("counter", "additions to counters, none of which may be lost",
		`Add one to a counter, a statement each, and sometimes read one. With few counters all clients meet at the same rows.`,
		`  longitude bench counter --hot 1 --workers 100 --url 127.0.0.1:26257`,
		only("counter"), func(c *cobra.Command) func(string) (harness.Workload, error) {
			var o counter.Options
			c.Flags().IntVar(&o.Counters, "hot", 1, "counters; 1: all clients meet at one row")
			c.Flags().Float64Var(&o.ReadFraction, "read-fraction", 0.1, "how often an operation reads a counter, 0 to 1")
			return func(string) (harness.Workload, error) { return counter.New(o) }
		})
}

func newBenchLatency() *cobra.Command {
	return workloadCommand("latency", "what single statements cost, with nobody in the way",
		`Time statements in turns, on rows that no other client wants: a ping without a table, a read, an insert and an update of
one row, and a transaction of four round trips.
With --workers 1 nothing queues.`,
		`  longitude bench latency --workers 1 --url 127.0.0.1:26257 --vs mysql://root@127.0.0.1:3306/test`,
		only("latency"), func(c *cobra.Command) func(string) (harness.Workload, error) {
			return func(string) (harness.Workload, error) { return latency.New(), nil }
		})
}
