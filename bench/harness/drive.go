package harness

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Load says how a workload is driven.
type Load struct {
	Workers int // clients, spread evenly over the nodes, each with a connection of its own
	// Rate is operations per second of an open loop, over all workers; 0: closed loop, each worker begins when its last
	// operation has ended. An open loop needs enough workers for all operations that are under way at once.
	Rate     float64
	WarmUp   time.Duration // before the measurement, not counted
	Duration time.Duration // of the measurement
	Seed     uint64        // of the workers' choices
}

// drainLimit is how long operations that are under way at the end may take to finish.
const drainLimit = 60 * time.Second

// attempt is one operation of a worker, retries included. It tells the class and how often it was retried.
type attempt func(ctx context.Context) (class, retries int, err error)

// drive lets workers work and fills the recorder. It returns when the last operation has ended. each is called every
// second, and at the end of the warm-up and of the measurement.
func drive(ctx context.Context, l Load, rec *recorder, workers []attempt, each func(now time.Time)) error {
	run, cut := context.WithCancel(ctx)
	defer cut()
	begin := time.Now()
	rec.win = window{begin.Add(l.WarmUp), begin.Add(l.WarmUp + l.Duration)}
	s := &schedule{begin: begin, end: rec.win.to, rate: l.Rate}
	var wg sync.WaitGroup
	for _, do := range workers {
		wg.Go(func() {
			sh := rec.shard()
			for {
				due, ok := s.next(run)
				if !ok {
					return
				}
				class, retries, err := do(run)
				end, counted := time.Now(), rec.win.holds(due)
				if counted {
					rec.note.retries.Add(int64(retries))
				}
				switch {
				case err == nil:
					rec.finished(sh, class, due, end)
				case run.Err() != nil && ctx.Err() == nil:
					// Cut off after the drain limit: an operation that never ended (H1).
					rec.note.failed(fmt.Errorf("not ended %s after the measurement: %w", drainLimit, err), counted)
				case ctx.Err() == nil:
					rec.note.failed(err, counted)
				}
			}
		})
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for _, until := range []time.Time{rec.win.from, rec.win.to} {
		for ctx.Err() == nil {
			timer := time.NewTimer(time.Until(until))
			select {
			case <-timer.C:
			case now := <-ticker.C:
				timer.Stop()
				if until.Sub(now) > 100*time.Millisecond { // else the end of the phase follows at once
					each(now)
				}
				continue
			case <-ctx.Done():
			}
			timer.Stop()
			break
		}
		each(until)
		ticker.Reset(time.Second)
	}
	limit := time.AfterFunc(drainLimit, func() { s.stop.Store(true); cut() })
	wg.Wait()
	limit.Stop()
	if l.Rate > 0 && ctx.Err() == nil {
		s.leftovers(rec)
	}
	return ctx.Err()
}

// schedule says when operations are due.
type schedule struct {
	begin, end time.Time
	rate       float64
	ticket     atomic.Int64
	stop       atomic.Bool
}

func (s *schedule) dueAt(ticket int64) time.Time {
	return s.begin.Add(time.Duration(float64(ticket) / s.rate * float64(time.Second)))
}

// next waits until there is an operation to begin and says when it was due; false: there are no more.
func (s *schedule) next(ctx context.Context) (time.Time, bool) {
	if s.rate == 0 {
		now := time.Now()
		return now, now.Before(s.end) && ctx.Err() == nil
	}
	// A ticket that is taken is carried out, however late (H1).
	if s.stop.Load() {
		return time.Time{}, false
	}
	due := s.dueAt(s.ticket.Add(1) - 1)
	if !due.Before(s.end) {
		return time.Time{}, false
	}
	if wait := time.Until(due); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
	return due, ctx.Err() == nil
}

// leftovers accounts for operations that were due and that no worker ever came to: the server, or the number of workers,
// did not keep up with the rate.
func (s *schedule) leftovers(rec *recorder) {
	for i := s.ticket.Load(); ; i++ {
		due := s.dueAt(i)
		if !due.Before(s.end) {
			return
		}
		if rec.win.holds(due) {
			rec.note.unserved.Add(1)
		}
	}
}
