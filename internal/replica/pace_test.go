package replica

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// TestPace: what is closed comes in every 10 ms, 70 ms behind our earliest.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	e := func(at time.Duration) clock.Instant { return clock.Instant(time.Hour + at) }
	ts := func(at time.Duration) clock.Timestamp { return clock.Timestamp{Wall: int64(e(at))} }
	var p pace
	now := time.Duration(0)
	come := func(n int, every, behind time.Duration) {
		for range n {
			now += every
			p.note(now, e(now), ts(now-behind))
		}
	}
	check := func(when string, at clock.Timestamp, want time.Duration, ok bool) {
		t.Helper()
		if got, known := p.closesIn(now, e(now), at); got.Round(ms) != want || known != ok {
			t.Errorf("%s: %s %t, want %s %t", when, got, known, want, ok)
		}
	}
	come(paceEnough-1, 10*ms, 70*ms)
	check("too few", ts(now), 0, false)
	come(1, 10*ms, 70*ms)
	check("the present", ts(now), 80*ms, true)
	check("a latest above it", ts(now+2*ms), 82*ms, true)
	check("closed, or about to be", ts(now-75*ms), 10*ms, true)
	come(1, 10*ms, 120*ms)
	check("one was late: so may the next be", ts(now), 130*ms, true)
	come(100, 10*ms, 70*ms)
	check("that is long ago", ts(now), 80*ms, true)
	now += 41 * ms
	check("nothing comes any more", ts(now), 0, false)
}
