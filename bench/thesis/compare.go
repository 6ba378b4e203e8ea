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
	// By kind of figure: those that a run of this length can know, and tails.
	counted, agreed := map[bool]int{}, map[bool]int{}
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
					counted[m.tail]++
					agreed[m.tail]++
				default:
					counted[m.tail]++
					if verdict = "apart"; overlap(x, y) {
						verdict = "apart, not more than the intervals allow"
					}
				}
				rows = append(rows, []string{m.name, pair[0] + " / " + pair[1], fmt.Sprintf("%g %%", at.reads*100), fmt.Sprint(at.workers), x.String(), y.String(),
					estimate.Ratio{Value: y.Value / x.Value, Error: math.NaN()}.String(), verdict})
			}
		}
	}
	if counted[false] == 0 {
		return fmt.Errorf("the two runs have no point in common that can be compared")
	}
	if err := harness.WriteAligned(w, rows, 2); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nwithin 20 %%: %s of restarts, throughput, processor time and medians; %s of 95th and 99th percentiles\n",
		share(agreed[false], counted[false]), share(agreed[true], counted[true]))
	return err
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
