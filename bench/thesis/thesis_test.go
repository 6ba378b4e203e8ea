package thesis

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/harness"
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
		if _, ok := all[factKey{0.5, m.fact, m.op, 500}]; !ok && m.fact != "" {
			t.Errorf("%s is not in the thesis's tables", m.name)
		}
	}
}

func TestPlans(t *testing.T) {
	full, quick := Full(), Quick()
	f, q := full.Plan(), quick.Plan()
	if len(f.Blocks) != 4*10*2 || len(f.Blocks[0].Points) != 1 || !f.Alone || full.Check() != nil {
		t.Errorf("full: %d blocks, %v", len(f.Blocks), full.Check())
	}
	if len(q.Blocks) != 2*2 || len(q.Blocks[0].Points) != 4 || q.Alone || q.Budget > 6*time.Minute || quick.Check() != nil {
		t.Errorf("quick: %d blocks, %v", len(q.Blocks), quick.Check())
	}
	quick.Nodes, quick.Eps, quick.Workers = 2, time.Hour, nil
	if err := quick.Check(); err == nil || !strings.Contains(err.Error(), "nodes is 2") || !strings.Contains(err.Error(), "eps is") || !strings.Contains(err.Error(), "workers are") {
		t.Error(err)
	}
}

// results of a machine whose speed changes from round to round; each regime is faster than the one before it by a step.
func results(t *testing.T, rounds int) (out []grid.Result) {
	t.Helper()
	histogram := func(msec float64) string {
		h := harness.NewHistogram()
		for i := range 100 {
			if err := h.RecordValue(int64(1000 * msec * (1 + float64(i)/100))); err != nil {
				t.Fatal(err)
			}
		}
		s, err := harness.Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for i, regime := range Regimes {
		for _, f := range []float64{0.95, 0.5} {
			for _, k := range []int{50, 120} {
				r := grid.Result{Paired: true, Point: grid.Point{Cluster: regime, Workers: k, ReadFraction: f}, Load: "1.00 1.00 1.00 on 2 processors",
					Row: social.Row{CommitWaitMean: 0.25, CommitWaitHidden: 0.5, Verified: true}}
				for round := range rounds {
					speed := float64(i+1) / float64(1+round%3)
					r.Slices = append(r.Slices, grid.Slice{Round: round, Seconds: 2, OpsPerSec: 100 * speed, Ops: int64(200 * speed), Restarts: uint64(60 * (3 - i)),
						ServerCPU: 1200 / float64(i+1), ClientCPU: 100, Busy: 0.9, Others: 0.25, Idle: 0.03,
						ReadHistogram: histogram(10 / speed), LikeHistogram: histogram(2 / speed)})
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// TestReport compares the whole page with the one that is kept. To make it again after a change that is meant: remove it.
func TestReport(t *testing.T) {
	o := Quick()
	o.Workers = []int{50, 120}
	r, err := Report(o, About{"longitude bench thesis --quick", "v0", "2 processors", "2026-01-01"}, results(t, 6))
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
	if len(svgs) != 18 || err != nil || strings.Count(string(html), "<svg") != 18 || !strings.Contains(string(html), "Figure 16.") || strings.Contains(string(html), "<?xml") {
		t.Errorf("%d plots, want 16 as in the thesis and two of processor time; %v", len(svgs), err)
	}
}

// Two runs on a machine that was three times slower during the second agree; one whose modified regime gained nothing does not.
func TestCompare(t *testing.T) {
	a, b := results(t, 6), results(t, 8)
	for i := range b {
		for j := range b[i].Slices {
			b[i].Slices[j].OpsPerSec /= 3
		}
	}
	compare := func() string {
		var w bytes.Buffer
		if err := Compare(&w, a, b); err != nil {
			t.Fatal(err)
		}
		return w.String()
	}
	summary := func(s string) string { return s[strings.LastIndex(s, "\n\n"):] }
	if got := compare(); !strings.Contains(got, "within 20 %: 72 of 72 (100 %) of restarts") || strings.Contains(got, "apart") {
		t.Error(summary(got))
	}
	for i := range b {
		if b[i].Point.Cluster == "modified" && b[i].Point.ReadFraction == 0.5 {
			for j := range b[i].Slices {
				b[i].Slices[j].OpsPerSec /= 3
			}
		}
	}
	if got := compare(); !strings.Contains(got, "within 20 %: 68 of 72 (94 %)") {
		t.Error(summary(got))
	}
	if err := Compare(io.Discard, a, nil); err == nil {
		t.Error("a run without results agrees with another")
	}
}
