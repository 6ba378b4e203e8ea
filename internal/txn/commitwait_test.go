package txn

import (
	"context"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// TestWaitWhileTheRatchetHolds waits for a timestamp at the earliest end of a reading that stands still for a while, as it does
// after a step of the source until the clock has caught up (rule T3 of package clock). The wait must end soon after Earliest moves
// again, and must not read the clock each microsecond until then (simulation seed 2950 took ten million readings in half a minute).
func TestWaitWhileTheRatchetHolds(t *testing.T) {
	for _, held := range []time.Duration{0, 10 * time.Microsecond, time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
		loop := eventloop.New(1)
		run := loop.Runtime("n")
		readings := 0
		db := &DB{o: DBOptions{RT: run, Limit: time.Minute, Now: func() (clock.Interval, error) {
			readings++
			e := clock.Instant(epoch).Add(max(0, run.Now()-held))
			return clock.Interval{Earliest: e, Latest: e.Add(time.Second)}, nil
		}}}
		var took time.Duration
		var err error
		done := false
		run.Go("wait", func() {
			began := run.Now()
			err = db.waitPast(context.Background(), clock.Timestamp{Wall: epoch})
			took, done = run.Now()-began, true
		})
		if !loop.Run(time.Minute, func() bool { return done }) {
			t.Fatalf("Earliest held for %s: still waiting after a minute", held)
		}
		loop.Close()
		if err != nil || took < held || took > held+held/4+2*time.Microsecond || readings > 100 {
			t.Errorf("Earliest held for %s: waited %s with %d readings: %v", held, took, readings, err)
		}
	}
}
