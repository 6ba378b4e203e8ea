//go:build invariants || assert

package clock

import (
	"fmt"
	"sync/atomic"
)

// asserted is what Now costs too much to keep in production: the latest earliest that anybody was given.
type asserted struct{ given atomic.Int64 }

// read takes a reading and checks T2 and T3 from outside, without looking at how they are kept.
func (a *asserted) read(c *Clock) (Interval, error) {
	before := a.given.Load()
	iv, err := c.read()
	if err != nil {
		return iv, err
	}
	if iv.Earliest > iv.Latest {
		panic(fmt.Sprintf("clock: T2: earliest %d is after latest %d", iv.Earliest, iv.Latest))
	}
	if int64(iv.Earliest) < before {
		panic(fmt.Sprintf("clock: T3: earliest %d was given although %d had been before", iv.Earliest, before))
	}
	for g := a.given.Load(); g < int64(iv.Earliest); g = a.given.Load() {
		if a.given.CompareAndSwap(g, int64(iv.Earliest)) {
			break
		}
	}
	return iv, nil
}
