package clock

import (
	"fmt"
	"time"
)

// Static reads the system clock and believes it: true time is the fastest clock of the cluster, and every other clock is at
// most D behind it. Nothing checks that but peers. D is pairwise: clocks within ±D/2 of UTC satisfy it.
type Static struct {
	D      time.Duration
	Offset time.Duration // added to the system clock: to fit into a cluster, or to lie in a test
}

// Read implements Source. The rate is 0: the monotonic clock is slewed together with the wall clock, and about the wall
// clock nothing is known but D.
func (s Static) Read(h *Host) (Sample, error) {
	p := h.Pair()
	return Sample{
		State: Synchronized, Mono: p.Mono, Earliest: p.Earliest.Add(s.Offset), Latest: p.Latest.Add(s.Offset + s.D),
		Update: int64(p.Mono), Why: "assumed, not measured",
	}, nil
}

func (s Static) String() string {
	if s.Offset != 0 {
		return fmt.Sprintf("static:%s,offset=%s", s.D, s.Offset)
	}
	return fmt.Sprintf("static:%s", s.D)
}
