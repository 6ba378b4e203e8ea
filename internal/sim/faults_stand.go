package sim

import (
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// wedged is when the tasks of a machine's ranges go on that stand still, although its process, its disk and its connections are
// well. It is a thing of one process.
type wedged struct {
	life   int
	ranges map[kv.RangeID]time.Duration
}

// longestStill bounds how long a task stands still: a store that is stopped waits for its tasks.
const longestStill = 8 * time.Second

// isWedged reports whether a task of the machine stands still.
func (m *Machine) isWedged() bool {
	if m.wedged.life != m.life {
		return false
	}
	for _, until := range m.wedged.ranges {
		if m.w.Loop.Now() < until {
			return true
		}
	}
	return false
}

// turnTime is how long a turn of a range's task takes, beside the time of the processor.
func (m *Machine) turnTime(id kv.RangeID) time.Duration {
	if m.wedged.life != m.life {
		return 0
	}
	return max(0, m.wedged.ranges[id]-m.w.Loop.Now())
}

// wedge makes the task of one range stand still on a machine, if possible on the one that leads it.
func wedge(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m, id := leaseholder(w, someRange(w, r))
	if m == nil || !m.Up() {
		return nil, false
	}
	d = min(d, longestStill)
	m.event("the task of r%d stands still for %s", id, d)
	m.wedge(id, d)
	return nil, true
}

func (m *Machine) wedge(id kv.RangeID, d time.Duration) {
	if m.wedged.life != m.life {
		m.wedged = wedged{life: m.life, ranges: map[kv.RangeID]time.Duration{}}
	}
	m.wedged.ranges[id] = m.w.Loop.Now() + d
}
