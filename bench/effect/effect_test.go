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
	for _, g := range o.Plan().Groups {
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
			out = append(out, grid.Result{Point: p, Row: row})
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
	for _, want := range []string{"| 300 | 6 | 10ms | 15.0 | 20.0 | 25 % |", "| 3000 | 48 | 10ms |", "![throughput wait / uncertainty, 6 workers](winner-k6.svg)"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	html, err := r.HTML()
	if n := strings.Count(html, "<svg"); err != nil || n != 2+len(metrics)*4 {
		t.Errorf("%d maps, %v", n, err)
	}
	if !strings.Contains(html, ">1.25<") || !strings.Contains(html, ">0.50<") {
		t.Error("the map of ratios lacks their values")
	}
}

// Both orderings stand beside each other at each point, and take turns in being first.
func TestPlanAlternates(t *testing.T) {
	o := Quick()
	first := map[string]int{}
	for _, g := range o.Plan().Groups {
		if len(g.Clusters) != 1 || len(g.Points) != 8 {
			t.Fatalf("%+v", g)
		}
		for i := 0; i < len(g.Points); i += 2 {
			a, b := g.Points[i], g.Points[i+1]
			first[a.Ordering]++
			b.Ordering, a.Ordering = "", ""
			if a != b {
				t.Errorf("%+v beside %+v", a, b)
			}
		}
	}
	if first["wait"] != first["uncertainty"] {
		t.Error(first)
	}
}
