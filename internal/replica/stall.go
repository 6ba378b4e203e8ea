package replica

import (
	"fmt"
	"time"
)

// A disk that fails says so, and the store stops. One that just does not answer, as network disks do for seconds or minutes,
// stops nothing by itself: messages and heartbeats need no disk, so its leaders would be followed, and its leases kept, while no
// write comes to an end. So a store looks at its own log: if a write of it has been under way for longer than a lease lasts,
//
//   - it asks for no more promises (package cluster, P7), so that its leases run out, and nothing is served under them;
//   - its leaders do not tick, so that their followers hear nothing and elect others when the promises no longer bind them.
//
// When the write ends it takes part again. Nothing about safety rests on this: a disk that is merely slow may be taken for one
// that stands still, and the other way round.

// stalledFor is how long the write of the log that is under way has taken; 0: none is.
func (w *logWriter) stalledFor() time.Duration {
	began := w.began.Load()
	if began == 0 {
		return 0
	}
	return w.s.opts.RT.Now() - time.Duration(began-1)
}

// Stalled says why the store can do no work at present, "" if it can.
func (s *Store) Stalled() string {
	took := s.writer.stalledFor()
	if took < s.opts.StallLimit {
		return ""
	}
	return fmt.Sprintf("the disk has not finished a write of the log for %s", took.Round(100*time.Millisecond))
}
