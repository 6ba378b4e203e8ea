package effect

import (
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/social"
)

// measured is a world in which waiting begins to cost at 10 ms, and wait ordering is faster up to there.
func measured(o Options) (out []grid.Result) {
	for _, g := range o.Plan().Blocks {
		for _, p := range g.Points {
			row := social.Row{OpsPerSec: 100, DurationSeconds: 10, LikeP50: 20, ReadP50: 50, CommitWaitHidden: 1, Verified: true}
			if p.Ordering == "wait" {
				row.OpsPerSec = 125
				if p.Eps >= 10*time.Millisecond {
					row.OpsPerSec, row.CommitWaitMean, row.CommitWaitHidden = 50, 15, 0.25
				}
			} else {
				row.UncertaintyRestarts = uint64(p.Eps / time.Millisecond)
			}
			r := grid.Result{Point: p, Row: row, Paired: true}
			for range 4 {
				r.Slices = append(r.Slices, grid.Slice{OpsPerSec: row.OpsPerSec, ServerCPU: 1e6 / row.OpsPerSec})
			}
			out = append(out, r)
		}
	}
	return out
}

func TestReport(t *testing.T) {
	o := Quick()
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := Report(o, "about", measured(o))
	if err != nil {
		t.Fatal(err)
	}
	text := r.Markdown()
	for _, want := range []string{"| 300 | 6 | 10ms | 15.0 | 20.0 | 25 % | 10ms | 0.50 ±0 % |", "| 3000 | 48 | 10ms |", "![throughput: wait / uncertainty, 6 workers](winner-k6.svg)", "| 1.25 ±0 % **wait** | 0.50 ±0 % **uncertainty** |"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	html, err := r.HTML()
	if n := strings.Count(html, "<svg"); err != nil || n != 4+len(metrics)*4 {
		t.Errorf("%d maps, %v", n, err)
	}
	if !strings.Contains(html, ">1.25<") || !strings.Contains(html, ">0.50<") {
		t.Error("the map of ratios lacks their values")
	}
}

// Each field of the map is both orderings on one cluster, which stays up for the other fields of its bound.
func TestPlan(t *testing.T) {
	o := Quick()
	seen := map[grid.Point]bool{}
	for _, b := range o.Plan().Blocks {
		if len(b.Clusters) != 1 || len(b.Points) != 2 || b.Points[0].Ordering == b.Points[1].Ordering {
			t.Fatalf("%+v", b)
		}
		one, other := b.Points[0], b.Points[1]
		one.Ordering, other.Ordering = "", ""
		if one != other || one.Cluster != b.Clusters[0].Name || seen[one] {
			t.Errorf("%+v beside %+v", one, other)
		}
		seen[one] = true
	}
	if len(seen) != len(o.Eps)*len(o.Likes)*len(o.Workers) {
		t.Errorf("%d fields", len(seen))
	}
}

// The least that a quick run measures, two slices of everything, fits into its budget, on a machine of any speed: it is slices of
// fixed lengths. So a run that finds the machine busy ends in minutes too.
func TestQuickFitsItsBudget(t *testing.T) {
	o, least := Quick(), time.Duration(0)
	for _, b := range o.Plan().Blocks {
		least += time.Duration(len(b.Points)) * (b.Timing.WarmUp + 2*(b.Timing.Ramp+b.Timing.Slice))
	}
	if o.Budget <= 0 || least > o.Budget {
		t.Errorf("the least is %s, the budget %s", least, o.Budget)
	}
}
