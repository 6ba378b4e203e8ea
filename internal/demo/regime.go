package demo

import (
	"fmt"
	"time"

	"github.com/longitude-db/longitude/bench/grid"
)

// Regime is a way of taking timestamps from clocks.
type Regime struct {
	Name     string
	About    string
	Ordering string // of every session
	// Clock is the source of the node with this index.
	Clock func(i int) string
}

// The clocks of all regimes are off by the same amounts, different for each node; what differs is what the nodes know of
// it. An offset lies within its bound, so all of them are honest.
var (
	offsets = grid.Offsets
	bounds  = []time.Duration{300 * time.Microsecond, 400 * time.Microsecond, 500 * time.Microsecond}
)

func static(i int) string { return fmt.Sprintf("static:500ms,offset=%s", offsets[i%len(offsets)]) }

func bounded(i int) string {
	return fmt.Sprintf("sim:eps=%s,offset=%s", bounds[i%len(bounds)], offsets[i%len(offsets)])
}

// Regimes are all there are, in the order in which they are shown.
var Regimes = []Regime{
	{"regular", "clocks up to 500 ms apart, restarts when uncertain", "uncertainty", static},
	{"modified", "clocks within 0.3 to 0.5 ms of true time, restarts when uncertain", "uncertainty", bounded},
	{"strict", "clocks within 0.3 to 0.5 ms of true time, strictly serializable", "wait", bounded},
}

// Find looks a regime up by its name.
func Find(name string) (Regime, error) {
	for _, r := range Regimes {
		if r.Name == name {
			return r, nil
		}
	}
	return Regime{}, fmt.Errorf("there is no regime %q; there are regular, modified and strict", name)
}
