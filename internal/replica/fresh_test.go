package replica

import (
	"math/rand/v2"
	"testing"

	"github.com/longitude-db/longitude/clock"
)

// TestLower: where a transaction stands after the leaseholder has taken a reading for it (W1). Two digits stand for an instant.
func TestLower(t *testing.T) {
	at := func(w int64) clock.Timestamp { return clock.Timestamp{Wall: w} }
	for _, c := range []struct {
		name         string
		r, g         int64
		earliest     clock.Instant
		latest       clock.Instant
		floor        int64
		wantR, wantG int64
	}{
		{"wait: the leaseholder's latest is lower", 90, 90, 40, 50, 0, 50, 50},
		{"wait: the coordinator's is", 45, 45, 40, 50, 0, 45, 45},
		{"wait: not below the floor", 90, 90, 40, 50, 60, 60, 60},
		{"wait: a floor below changes nothing", 90, 90, 40, 50, 30, 50, 50},
		{"uncertainty: the window becomes narrower at both ends", 10, 90, 40, 50, 0, 40, 50},
		{"uncertainty: each end by its own reading", 45, 90, 40, 50, 0, 45, 50},
		{"uncertainty: a long way here, and r is as high as g", 10, 30, 40, 50, 0, 30, 30},
		{"uncertainty: floor", 60, 90, 40, 50, 60, 60, 60},
	} {
		r, g := lower(at(c.r), at(c.g), clock.Interval{Earliest: c.earliest, Latest: c.latest}, at(c.floor))
		if r != at(c.wantR) || g != at(c.wantG) {
			t.Errorf("%s: r=%s g=%s, want %d and %d", c.name, r, g, c.wantR, c.wantG)
		}
	}
}

// TestLowerIsSound: whatever the two clocks are like, as long as both are within their bounds g is not below true time at the
// beginning, and r is neither above g nor, in `wait` ordering, below it.
func TestLowerIsSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	reading := func(now int64) clock.Interval {
		return clock.Interval{Earliest: clock.Instant(now - rng.Int64N(50)), Latest: clock.Instant(now + rng.Int64N(50))}
	}
	for range 100_000 {
		begin := 1000 + rng.Int64N(100)
		own, there := reading(begin), reading(begin+rng.Int64N(60))
		floor := clock.Timestamp{Wall: int64(own.Latest) - rng.Int64N(100)}
		r, g := lower(own.Limit(), own.Limit(), there, floor)
		if r != g || g.Wall < begin || own.Limit().Less(g) || g.Less(floor) {
			t.Fatalf("begin %d, own %v, there %v, floor %s: r=%s g=%s", begin, own, there, floor, r, g)
		}
		if r, g = lower(own.Start(), own.Limit(), there, clock.Timestamp{}); g.Less(r) || g.Wall < begin || own.Limit().Less(g) {
			t.Fatalf("uncertainty: begin %d, own %v, there %v: r=%s g=%s", begin, own, there, r, g)
		}
	}
}
