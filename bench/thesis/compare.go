package thesis

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/longitude-db/longitude/bench/estimate"
	"github.com/longitude-db/longitude/bench/grid"
	"github.com/longitude-db/longitude/bench/harness"
)

// agreement is how far two ratios may be apart.
const agreement = 0.2

// against are the pairs of regimes whose ratios are reported.
var against = [][2]string{{"regular-250", "regular"}, {"modified", "regular"}, {"strict", "regular"}, {"strict", "modified"}}

// Compare writes how well the ratios of two runs agree: each of them, and the share that is within 20 %.
func Compare(w io.Writer, a, b []grid.Result) error {
	one, err := sorted(a)
	if err != nil {
		return err
	}
	two, err := sorted(b)
	if err != nil {
		return err
	}
	rows := [][]string{{"metric", "regimes", "reads", "workers", "first run", "second run", "ratio of ratios", ""}}
	counted, agreed := map[string]int{}, map[string]int{} // by metric
	for _, m := range metrics {
		for _, pair := range against {
			for _, at := range places(one) {
				x := m.ratio(one[where{at.reads, at.workers, pair[0]}], one[where{at.reads, at.workers, pair[1]}])
				y := m.ratio(two[where{at.reads, at.workers, pair[0]}], two[where{at.reads, at.workers, pair[1]}])
				if math.IsNaN(x.Value) || math.IsNaN(y.Value) || math.IsInf(x.Value, 0) || math.IsInf(y.Value, 0) {
					continue
				}
				verdict := "within 20 %"
				switch {
				case x.Value == 0 && y.Value == 0:
					verdict = "none in both" // that strict has no restarts is no feat of repeatability
				case estimate.Agree(x.Value, y.Value, agreement):
					counted[m.name]++
					agreed[m.name]++
				default:
					counted[m.name]++
					if verdict = "apart"; overlap(x, y) {
						verdict = "apart, not more than the intervals allow"
					}
				}
				rows = append(rows, []string{m.name, pair[0] + " / " + pair[1], fmt.Sprintf("%g %%", at.reads*100), fmt.Sprint(at.workers), x.String(), y.String(),
					estimate.Ratio{Value: y.Value / x.Value, Error: math.NaN()}.String(), verdict})
			}
		}
	}
	if len(counted) == 0 {
		return fmt.Errorf("the two runs have no point in common that can be compared")
	}
	if err := harness.WriteAligned(w, rows, 2); err != nil {
		return err
	}
	// Apart from each other: figures that a run of this length can know, and tails.
	of := map[bool][2]int{}
	summary := [][]string{{"", "within 20 %"}}
	for _, m := range metrics {
		if counted[m.name] > 0 {
			summary = append(summary, []string{m.name, share(agreed[m.name], counted[m.name])})
			of[m.tail] = [2]int{of[m.tail][0] + agreed[m.name], of[m.tail][1] + counted[m.name]}
		}
	}
	summary = append(summary, []string{"all of these but 95th and 99th percentiles", share(of[false][0], of[false][1])}, []string{"95th and 99th percentiles", share(of[true][0], of[true][1])})
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return harness.WriteAligned(w, summary, 1)
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", n, of, 100*float64(n)/float64(of))
}

// overlap reports whether two intervals have a value in common.
func overlap(x, y estimate.Ratio) bool {
	return math.Abs(math.Log(x.Value/y.Value)) <= math.Log1p(x.Error)+math.Log1p(y.Error)
}

// places are those of the first regime, in the order of reports.
func places(ours map[where]*measured) []where {
	var out []where
	for w := range maps.Keys(ours) {
		if w.regime == Regimes[0] {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b where) int {
		if a.reads != b.reads {
			return int(math.Copysign(1, b.reads-a.reads))
		}
		return a.workers - b.workers
	})
	return out
}
