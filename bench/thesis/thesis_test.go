package thesis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/social"
)

// The thesis's tables, against what its text says of them: the best of each.
func TestFacts(t *testing.T) {
	all, err := facts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 160 {
		t.Errorf("%d rows, want 2 shares of reads, 8 metrics, 10 numbers of workers", len(all))
	}
	ratio := func(metric, op string, k int) float64 {
		f := all[factKey{0.95, metric, op, k}]
		return f.modified / f.regular
	}
	for name, c := range map[string][2]float64{
		"9 times fewer restarts": {ratio("uncertainty_restarts", "all", 450), 1 / 9.05}, "read p50 -47 %": {ratio("p50_ms", "read", 450), 0.528},
		"like p50 -37 %": {ratio("p50_ms", "like", 450), 0.633}, "1.76 times throughput": {ratio("throughput_ops_per_sec", "all", 450), 1.764},
	} {
		if c[0] < c[1]*0.99 || c[0] > c[1]*1.01 {
			t.Errorf("%s: the table gives %.3f, want %.3f", name, c[0], c[1])
		}
	}
	for _, m := range metrics {
		if _, ok := all[factKey{0.5, m.fact, m.op, 500}]; !ok {
			t.Errorf("%s is not in the thesis's tables", m.name)
		}
	}
}

func TestPlans(t *testing.T) {
	count := func(p grid.Plan) (n int) {
		for _, g := range p.Groups {
			n += len(g.Points)
		}
		return n
	}
	full, quick := Full(), Quick()
	if f, q := full.Plan(), quick.Plan(); count(f) != 4*10*2 || len(f.Groups) != 80 || count(q) != 4*2*2*3 || len(q.Groups) != 3 || full.Check() != nil || quick.Check() != nil {
		t.Errorf("full: %d points in %d groups; quick: %d in %d", count(f), len(f.Groups), count(q), len(q.Groups))
	}
	quick.Nodes, quick.Eps, quick.Workers = 2, time.Hour, nil
	if err := quick.Check(); err == nil || !strings.Contains(err.Error(), "nodes is 2") || !strings.Contains(err.Error(), "eps is") || !strings.Contains(err.Error(), "workers are") {
		t.Error(err)
	}
}

// results of two rounds whose medians are round numbers.
func results() (out []grid.Result) {
	for round := range 2 {
		for i, regime := range Regimes {
			for _, f := range []float64{0.95, 0.5} {
				for _, k := range []int{50, 450} {
					speed := float64(i+1) * float64(1+2*round) / 2 // median over rounds: i+1
					out = append(out, grid.Result{
						Point: grid.Point{Cluster: regime, Round: round, Workers: k, ReadFraction: f},
						Row: social.Row{Regime: regime, Workers: k, OpsPerSec: 100 * speed, ReadP50: 10 * speed, ReadP95: 20 * speed, ReadP99: 30 * speed,
							LikeP50: speed, LikeP95: 2 * speed, LikeP99: 3 * speed, UncertaintyRestarts: uint64(60 * (4 - i)), DurationSeconds: 60,
							CommitWaitMean: 0.25, CommitWaitHidden: 0.5, Verified: true},
						Load: "1.00 1.00 1.00 on 2 processors",
					})
				}
			}
		}
	}
	return out
}

// TestReport compares the whole page with the one that is kept. To make it again after a change that is meant: remove it.
func TestReport(t *testing.T) {
	o := Quick()
	o.Workers = []int{50, 450}
	r, err := Report(o, About{"longitude bench thesis --quick", "v0", "2 processors", "2026-01-01"}, results())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, golden := r.Markdown(), filepath.Join("testdata", "report.md")
	want, err := os.ReadFile(golden)
	if os.IsNotExist(err) {
		t.Errorf("%s is made; look at it", golden)
		_ = os.MkdirAll("testdata", 0o755)
		_ = os.WriteFile(golden, []byte(got), 0o644)
	} else if err != nil {
		t.Fatal(err)
	} else if got != string(want) {
		t.Errorf("the page is not that of %s:\n%s", golden, got)
	}
	svgs, _ := filepath.Glob(filepath.Join(dir, "*.svg"))
	html, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if len(svgs) != 16 || err != nil || strings.Count(string(html), "<svg") != 16 || strings.Contains(string(html), "<?xml") {
		t.Errorf("%d plots, want 16 as in the thesis; %v", len(svgs), err)
	}
}
