package engine

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// The task that keeps the catalog's cache fresh takes no step while no statement uses the cache, goes on with the next use, and ends with
// the engine however it rests.
func TestUnusedCatalogRests(t *testing.T) {
	loop := eventloop.New(1)
	r := loop.Runtime("n")
	e := &Engine{}
	e.o.RT = r
	c := newSchemas(e, 0)
	looks, done := 0, false
	r.Go("renewal", func() {
		for !c.stop.Wait(50 * time.Millisecond) {
			looks++
			c.rest()
		}
		done = true
	})
	use := func() { _, _ = c.find(clock.Timestamp{}, clock.Timestamp{}) }
	loop.At(0, use)
	loop.Run(idleAfter+time.Second, nil)
	steps := loop.Steps()
	if loop.Run(time.Hour, nil); loop.Steps() != steps || looks == 0 {
		t.Errorf("%d steps in an hour without a use, after %d looks", loop.Steps()-steps, looks)
	}
	was := looks
	use()
	if loop.Run(time.Second, nil); looks < was+15 {
		t.Errorf("%d looks in the second after a use", looks-was)
	}
	loop.Run(time.Hour, nil)
	c.close()
	if loop.Run(time.Second, nil); !done {
		t.Error("it rests although the engine is closed")
	}
}
