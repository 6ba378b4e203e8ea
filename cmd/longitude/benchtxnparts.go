package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/bench/commit"
	"github.com/longitude-db/longitude/bench/counter"
	"github.com/longitude-db/longitude/bench/figure"
	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/readers"
	"github.com/longitude-db/longitude/bench/tpcc"
)

// txnParts are what bench txn measures.
var txnParts = map[string]func(context.Context, *txnRun) error{
	"commit": partCommit, "hot": partHot, "readers": partReaders, "tpcc": partTPCC, "wait": partWait,
}

// partNames are in the order of the report.
func partNames() []string { return []string{"commit", "hot", "readers", "tpcc", "wait"} }

// commitsCounted is what is looked at to tell whether a build counts what its transactions do.
const (
	commitsCounted = "longitude_txn_commits_total"
	waitsCounted   = "longitude_txn_commit_wait_needed_seconds_count"
	notCounted     = "not counted"
)

// zone is the delay between nodes where a part does not count round trips.
const zone = 500 * time.Microsecond

// bounded is a cluster whose clocks are known to ±eps.
func (r *txnRun) bounded(eps, delay time.Duration) nodesSpec {
	clocks, _ := grid.Bounded(eps, 5.0/3, r.nodes)
	return nodesSpec{Clocks: clocks, Ordering: "wait", Delay: delay}
}

// orderings starts what is compared: both orderings on one cluster, or this build and another one, and gives them to f.
func (r *txnRun) orderings(ctx context.Context, s nodesSpec, fresh func() (harness.Workload, error), f func([]*setting) error) (err error) {
	type source struct {
		name, ordering, binary string
	}
	from := []source{{"wait", "wait", ""}, {"uncertainty", "uncertainty", ""}}
	if r.against != "" {
		from = []source{{"this build", "wait", ""}, {r.other(), "wait", r.against}}
	}
	up := map[string]held{}
	defer func() {
		for _, p := range up {
			err = errors.Join(err, p.Stop())
		}
	}()
	var out []*setting
	defer func() {
		for _, s := range out {
			s.Target.Close()
		}
	}()
	for i, x := range from {
		if up[x.binary] == nil {
			if up[x.binary], err = r.cluster(ctx, fmt.Sprint("cluster", i), s, x.binary); err != nil {
				return err
			}
		}
		t, err := up[x.binary].Target(ctx, harness.TargetOptions{Name: x.name, Database: fmt.Sprint("txn", i), Ordering: x.ordering, Drop: true})
		if err != nil {
			return err
		}
		w, err := fresh()
		if err != nil {
			t.Close()
			return err
		}
		out = append(out, &setting{name: x.name, Side: &harness.Side{Target: t, Workload: w}})
	}
	return f(out)
}

func percentOf(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

func partCommit(ctx context.Context, r *txnRun) error {
	r.report.Heading("Commits, by where the rows lie")
	return r.orderings(ctx, r.bounded(500*time.Microsecond, r.latency), func() (harness.Workload, error) { return commit.New(), nil }, func(ss []*setting) error {
		if err := r.measure(ctx, "commit", ss, harness.Load{Workers: 6, Seed: 1, Duration: r.duration * 3 / 2}); err != nil {
			return err
		}
		rows := [][]string{{"setting", "transaction", "p50 ms", "round trips", "p99 ms", "µs CPU/op"}}
		trip := 2 * r.latency.Seconds() * 1000
		if !r.delayed() {
			trip = 0 // what there is not cannot be counted
		}
		for _, x := range r.last(len(ss)) {
			for _, c := range x.Result.Classes {
				trips := "–"
				if trip > 0 {
					trips = fmt.Sprintf("%.2f", c.P50/trip)
				}
				rows = append(rows, []string{x.Setting, c.Name, figure.Short(c.P50), trips, figure.Short(c.P99), figure.Short(c.ServerCPU)})
			}
		}
		far := fmt.Sprintf("with %s on the way between any two: a round trip is %s", r.latency, 2*r.latency)
		if !r.delayed() {
			far = "without a delay between them, so that round trips cannot be counted"
		}
		r.report.Text("One statement, a transaction of its own, from 6 clients at %d nodes, %s. Clients do not meet. Where a transaction's rows are led by another node, as two thirds of the single ones are and two of each three in three ranges, it takes one round trip to read and lock them, one to take the writes there, and one for them to reach another replica: three; at the leader's own node one. What is above that is processing, and rounds beyond the necessary ones.", r.nodes, far)
		r.report.Table(rows)
		r.report.Text("%s", r.kinds(len(ss)))
		r.ratios(ss)
		return nil
	})
}

// kinds says how the commits were done, as the nodes counted them.
func (r *txnRun) kinds(n int) string {
	out := "Counted by the nodes:"
	for _, x := range r.last(n) {
		if !x.counts(commitsCounted) {
			out += fmt.Sprintf(" %s: not counted by this build.", x.Setting)
			continue
		}
		one, parallel, intents := x.sum("longitude_txn_commits_total{kind=one-phase}"), x.sum("longitude_txn_commits_total{kind=parallel}"), x.sum("longitude_txn_commits_total{kind=intents}")
		share := 0.0
		if parallel+intents > 0 {
			share = parallel / (parallel + intents)
		}
		out += fmt.Sprintf(" %s: %.0f commits in one range, all in one round; %.0f over several ranges in one round and %.0f in more (%s in one).", x.Setting, one, parallel, intents, percentOf(share))
	}
	return out
}

// ratios adds the first setting's ratios to the second.
func (r *txnRun) ratios(ss []*setting) {
	last := r.last(len(ss))
	rows := [][]string{{ss[0].name + " / " + ss[1].name, "ops/s", "p50", "CPU/op"}}
	for i, c := range last[0].Result.Classes {
		if c.Ops == 0 {
			continue
		}
		class := func(f func(harness.ClassResult) float64) string {
			return versus(last[0], last[1], func(x *harness.Result) float64 { return f(x.Classes[i]) })
		}
		rows = append(rows, []string{c.Name, class(func(c harness.ClassResult) float64 { return c.OpsPerSec }), class(func(c harness.ClassResult) float64 { return c.P50 }),
			class(func(c harness.ClassResult) float64 { return c.ServerCPU })})
	}
	if len(last[0].Result.Classes) > 1 || serverCPU(last[0].Result) > 0 {
		rows = append(rows, []string{"all", versus(last[0], last[1], func(x *harness.Result) float64 { return x.OpsPerSec }), "–", versus(last[0], last[1], serverCPU)})
	}
	r.report.Table(rows)
}

func serverCPU(x *harness.Result) float64 {
	if x.CPU == nil {
		return 0
	}
	return x.CPU.ServerPerOp
}

// retries is what was begun again, by client and by server, as shares of the operations.
func retries(x txnResult) (byClient, byServer string) {
	ops := 0.0
	for _, s := range x.Slices {
		ops += s.OpsPerSec * s.Seconds
	}
	if ops == 0 {
		return "–", "–"
	}
	byClient = percentOf(float64(x.Result.Retries) / ops)
	if !x.counts(commitsCounted) {
		return byClient, notCounted
	}
	return byClient, percentOf(x.sum("longitude_txn_restarts_total") / max(1, x.sum(commitsCounted)))
}

func partHot(ctx context.Context, r *txnRun) error {
	const clients = 64
	r.report.Heading("A hot row")
	fresh := func() (harness.Workload, error) { return counter.New(counter.Options{Counters: 1}) }
	return r.orderings(ctx, r.bounded(500*time.Microsecond, zone), fresh, func(ss []*setting) error {
		if err := r.measure(ctx, "hot", ss, harness.Load{Workers: clients, Seed: 1}); err != nil {
			return err
		}
		r.report.Text("%d clients at %d nodes add one to the same row, a statement each. A queue would serve them one after the other without any retry; no addition was lost.", clients, r.nodes)
		rows := [][]string{{"setting", "ops/s", "p50 ms", "p99 ms", "µs CPU/op", "begun again by clients", "restarted inside"}}
		for _, x := range r.last(len(ss)) {
			c := x.Result.Class("add")
			byClient, byServer := retries(x)
			rows = append(rows, []string{x.Setting, figure.Short(c.OpsPerSec), figure.Short(c.P50), figure.Short(c.P99), figure.Short(serverCPU(x.Result)), byClient, byServer})
		}
		r.report.Table(rows)
		r.ratios(ss)
		return nil
	})
}

func partReaders(ctx context.Context, r *txnRun) error {
	r.report.Heading("Readers beside writers")
	return r.orderings(ctx, r.bounded(500*time.Microsecond, zone), func() (harness.Workload, error) { return readers.New(), nil }, func(ss []*setting) error {
		r.report.Text("6 clients add up 600 rows, which lie on three nodes, twice in a read-only transaction; 6 others move amounts between two of these rows. Both sums must be the same, and what was there at the beginning.")
		rows := [][]string{{"setting", "who runs", "reads/s", "read p50 ms", "read p99 ms", "reads begun again", "writes/s", "write p50 ms", "write p99 ms"}}
		var sides []*harness.Side
		for _, s := range ss {
			if err := s.Workload.Setup(ctx, s.Target, func(string, ...any) {}); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			sides = append(sides, s.Side)
		}
		r.idle(ctx, ss)
		for _, m := range []struct {
			mode    readers.Mode
			name    string
			workers int
		}{{readers.Readers, "readers", 6}, {readers.Writers, "writers", 6}, {readers.Both, "both", 12}} {
			again := map[string]int64{}
			for _, s := range ss {
				w := s.Workload.(*readers.Workload)
				w.Run(m.mode)
				again[s.name] = w.Again()
			}
			if err := r.again(ctx, "readers: "+m.name, ss, sides, harness.Load{Workers: m.workers, Seed: 1}); err != nil {
				return err
			}
			for i, x := range r.last(len(ss)) {
				row := []string{x.Setting, m.name}
				rd, wr := x.Result.Class("read"), x.Result.Class("write")
				if m.mode == readers.Writers {
					row = append(row, "–", "–", "–", "–")
				} else {
					row = append(row, figure.Short(rd.OpsPerSec), figure.Short(rd.P50), figure.Short(rd.P99), fmt.Sprint(ss[i].Workload.(*readers.Workload).Again()-again[x.Setting]))
				}
				if m.mode == readers.Readers {
					row = append(row, "–", "–", "–")
				} else {
					row = append(row, figure.Short(wr.OpsPerSec), figure.Short(wr.P50), figure.Short(wr.P99))
				}
				rows = append(rows, row)
			}
		}
		r.report.Table(rows)
		return nil
	})
}

func partTPCC(ctx context.Context, r *txnRun) error {
	const clients = 24
	r.report.Heading("TPC-C-like contention")
	o := tpcc.Options{Warehouses: 2, Hot: 0.25}
	return r.orderings(ctx, r.bounded(500*time.Microsecond, zone), func() (harness.Workload, error) { return tpcc.New(o) }, func(ss []*setting) error {
		if err := r.measure(ctx, "tpcc", ss, harness.Load{Workers: clients, Seed: 1}); err != nil {
			return err
		}
		r.report.Text("%d clients without think time enter orders (49 %%), pay (47 %%) and look at their last order (4 %%), over %d warehouses of ten districts; a quarter of them want one district. TPC-C's consistency conditions 1 to 4, 8 and 9 held at the end. This is not TPC-C.", clients, o.Warehouses)
		rows := [][]string{{"setting", "transactions/s", "new-order p50 ms", "p99", "payment p50 ms", "p99", "µs CPU/op", "begun again by clients", "restarted inside"}}
		for _, x := range r.last(len(ss)) {
			no, pay := x.Result.Class("new-order"), x.Result.Class("payment")
			byClient, byServer := retries(x)
			rows = append(rows, []string{x.Setting, figure.Short(x.Result.OpsPerSec), figure.Short(no.P50), figure.Short(no.P99), figure.Short(pay.P50), figure.Short(pay.P99),
				figure.Short(serverCPU(x.Result)), byClient, byServer})
		}
		r.report.Table(rows)
		r.ratios(ss)
		return nil
	})
}

func partWait(ctx context.Context, r *txnRun) error {
	r.report.Heading("How much of the commit wait is hidden")
	r.report.Text("Additions to rows that nobody else wants, one and three to a transaction, in one range and three, from 6 clients. Needed: how far, at its start, the newest timestamp that a transaction depends on was from being certainly past. Stood still: what was left of that when everything else was done. Hidden is the rest.")
	rows := [][]string{{"ε", "ordering", "needed ms", "stood still ms", "hidden", "p50 ms", "p99 ms"}}
	ratios := [][]string{{"ε", "ops/s", "p50 of 1 row", "CPU/op"}}
	for _, eps := range []time.Duration{50 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		err := r.orderings(ctx, r.bounded(eps, zone), func() (harness.Workload, error) { return commit.New(), nil }, func(ss []*setting) error {
			if err := r.measure(ctx, "wait: "+eps.String(), ss, harness.Load{Workers: 6, Seed: 1, Duration: r.duration * 3 / 2}); err != nil {
				return err
			}
			last := r.last(len(ss))
			for _, x := range last {
				t := x.Result.Txns
				if t == nil {
					return fmt.Errorf("what the nodes counted is not known: %w", x.Result.Missing)
				}
				c := x.Result.Classes[0]
				needed, stood, hidden := notCounted, notCounted, notCounted
				if x.counts(waitsCounted) {
					needed, stood, hidden = fmt.Sprintf("%.3f", t.WaitNeeded), fmt.Sprintf("%.3f", t.WaitMean), fmt.Sprintf("%.0f %%", t.WaitHidden*100)
				}
				rows = append(rows, []string{eps.String(), x.Setting, needed, stood, hidden, figure.Short(c.P50), figure.Short(c.P99)})
			}
			ratios = append(ratios, []string{eps.String(), versus(last[0], last[1], func(x *harness.Result) float64 { return x.OpsPerSec }),
				versus(last[0], last[1], func(x *harness.Result) float64 { return x.Classes[0].P50 }), versus(last[0], last[1], serverCPU)})
			return nil
		})
		if err != nil {
			return fmt.Errorf("ε %s: %w", eps, err)
		}
	}
	r.report.Table(rows)
	first := "wait / uncertainty"
	if r.against != "" {
		first = "this build / " + r.other()
	}
	r.report.Text("As ratios, %s:", first)
	r.report.Table(ratios)
	return nil
}
