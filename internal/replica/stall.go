package replica

import (
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// A disk that fails says so, and the store stops. One that just does not answer, as network disks do for seconds or minutes,
// stops nothing by itself: messages and heartbeats need no disk, so its leaders would be followed, and its leases kept, while no
// write comes to an end. So a store looks at its own log: if a write of it has been under way for longer than a lease lasts,
//
//   - it requests no more support (package cluster, P7), so that its leases run out, and nothing is served under them;
//   - its leaders do not tick, so that their followers hear nothing and elect others when the support no longer binds them.
//
// So does a store whose state engine takes no batch for ProgressLimit: no range can apply anything then, and only the log is well.
// (State that cannot be flushed shows so, too, once there is no memory left for more. A snapshot is not looked at: it may be
// as large as a range, its replica leads nothing, and if it keeps the engine from taking other batches these show it.)
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
	if took := s.writer.stalledFor(); took >= s.opts.StallLimit {
		return fmt.Sprintf("the disk has not finished a write of the log for %s", took.Round(100*time.Millisecond))
	}
	if began := s.applying.Load(); began != 0 {
		if took := s.opts.RT.Now() - time.Duration(began-1); took >= s.opts.ProgressLimit {
			return fmt.Sprintf("the storage engine has not taken a batch of applied commands for %s", took.Round(100*time.Millisecond))
		}
	}
	return ""
}

// applyState makes a batch of applied commands visible.
func (r *Replica) applyState(b *storage.Batch) error {
	begin(&r.progress.applying, r.store.opts.RT.Now())
	defer r.progress.applying.Store(0)
	if d := r.store.opts.StateDelay; d != nil {
		sleep(r.store.opts.RT, d())
	}
	return r.store.opts.Engines.ApplyState(b)
}

// sleep is for what simulation makes slow.
func sleep(r rt.Runtime, d time.Duration) {
	if d > 0 {
		r.Sleep(d)
	}
}
