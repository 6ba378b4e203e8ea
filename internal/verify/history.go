package verify

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/check"
)

// clock gives ranks to beginnings and ends, and guards what the workloads keep. It is never held while waiting.
type clock struct {
	mu    sync.Mutex
	start time.Time
	times []int64 // nanoseconds since start, of each rank from 1
}

// tick gives the next rank. The caller holds mu.
func (c *clock) tick() int64 {
	c.times = append(c.times, time.Since(c.start).Nanoseconds())
	return int64(len(c.times))
}

func (c *clock) time(rank int64) int64 { return c.times[rank-1] }

// tally counts the operations of a workload by their outcome, and notes what went wrong.
type tally struct {
	n      [3]int
	errors map[string]int
}

// begin notes the beginning of an operation; add puts it into the history.
func (r *Run) begin(op *check.Op, client string, add func()) {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	op.Client, op.Invoke = client, r.clock.tick()
	add()
}

// end notes what became of it; learned adds what the client was told, whatever the outcome.
func (r *Run) end(op *check.Op, l *tally, o check.Outcome, err error, learned func()) {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	op.Outcome = o
	if at := r.clock.tick(); o != check.Unknown {
		op.Return = at
	}
	l.n[o]++
	if o == check.OK {
		now := time.Now()
		r.stall = max(r.stall, now.Sub(r.last))
		r.last = now
		r.acked++
	}
	if err != nil {
		if l.errors == nil {
			l.errors = map[string]int{}
		}
		l.errors[errorText(err)]++
	}
	if learned != nil {
		learned()
	}
}
