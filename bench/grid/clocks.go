package grid

import (
	"fmt"
	"math"
	"time"
)

// Offsets are how far the nodes' clocks are off, whatever the nodes know of it: between regimes only the knowledge differs.
var Offsets = []time.Duration{100 * time.Microsecond, -200 * time.Microsecond, 250 * time.Microsecond}

// Assumed are the clocks of nodes that only assume that no two of them are further apart than d.
func Assumed(d time.Duration, nodes int) (clocks []string) {
	for i := range nodes {
		clocks = append(clocks, fmt.Sprintf("static:%s,offset=%s", d, Offsets[i%len(Offsets)]))
	}
	return clocks
}

// Bounded are clocks whose bounds are known: eps is their geometric mean, and the widest is inequality times the narrowest,
// with even steps in between. A clock is off by no more than its bound.
func Bounded(eps time.Duration, inequality float64, nodes int) (clocks []string, widest time.Duration) {
	for i := range nodes {
		at := 0.0
		if nodes > 1 {
			at = float64(i)/float64(nodes-1) - 0.5
		}
		bound := time.Duration(math.Round(float64(eps) * math.Pow(inequality, at)))
		off := min(max(Offsets[i%len(Offsets)], -bound/2), bound/2)
		clocks = append(clocks, fmt.Sprintf("sim:eps=%s,offset=%s", bound, off))
		widest = max(widest, 2*bound)
	}
	return clocks, widest
}
