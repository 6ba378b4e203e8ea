package node

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

const (
	stampNote = "stamps"
	// stampAhead is how far beyond the clock the mark is kept. Longer: rarer syncs, but a node that was killed waits
	// longer before it serves.
	stampAhead = 1500 * time.Millisecond
	stampEvery = 500 * time.Millisecond
	// stampFuture is how far ahead of the clock stamps are given out on purpose: reads in the future (package catalog).
	stampFuture = time.Second
	closedMark  = math.MinInt64
)

// stamps keeps the durable high water mark of timestamps given out (N2).
type stamps struct {
	rt    rt.Runtime
	clock *clock.Clock
	eng   *storage.Engines
	log   *slog.Logger
	mu    sync.Mutex   // one write of the mark at a time, so that it never goes back; held over the sync
	mark  atomic.Int64 // durable
	// awaited is the mark of an earlier process that the clock has not passed yet; 0: none.
	awaited atomic.Int64
}

// load returns the mark that an earlier process left, 0 on a new store.
func (s *stamps) load() (clock.Instant, error) {
	v, ok, err := s.eng.Note(stampNote)
	if err != nil || !ok {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("store %s: the mark of stamps has %d bytes instead of 8: the store is damaged", s.eng.Dir(), len(v))
	}
	return clock.Instant(binary.BigEndian.Uint64(v)), nil
}

// raise makes the mark durable at t.
func (s *stamps) raise(t clock.Instant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch mark := s.mark.Load(); {
	case mark == closedMark:
		return kv.Errorf(kv.ErrUnavailable, "the node is stopping")
	case int64(t) <= mark:
		return nil
	}
	if err := s.eng.SetNote(stampNote, binary.BigEndian.AppendUint64(nil, uint64(t))); err != nil {
		return err
	}
	s.mark.Store(int64(t))
	return nil
}

// extend keeps the mark ahead of the clock.
func (s *stamps) extend() error {
	now, err := s.clock.Now()
	if err != nil {
		return err
	}
	return s.extendFrom(now)
}

func (s *stamps) extendFrom(now clock.Interval) error {
	if time.Duration(s.mark.Load()-int64(now.Latest)) > stampAhead/2 {
		return nil
	}
	return s.raise(now.Latest.Add(stampAhead))
}

// Check returns once stamps up to t may be given out. The mark is above every reading unless the disk or this process
// stood still for a second, or a timestamp ahead of the clock is asked for; then it is raised here.
func (s *stamps) Check(t clock.Instant) error {
	if int64(t) <= s.mark.Load() {
		return nil
	}
	if now, err := s.clock.Now(); err != nil {
		return err
	} else if t > now.Latest.Add(stampAhead) {
		return kv.Errorf(kv.ErrInternal, "a stamp %s ahead of the clock (%s) is not given out", t.Sub(now.Latest), now)
	}
	return s.raise(t.Add(stampAhead))
}

// covers reports whether stamps up to t may be given out as things are. It does not block.
func (s *stamps) covers(t clock.Instant) bool { return int64(t) <= s.mark.Load() }

// close ends giving out stamps, and lowers the durable mark to what may have been given out, so that the next start need
// not wait.
func (s *stamps) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := s.mark.Swap(closedMark)
	now, err := s.clock.Now()
	if err != nil || given == closedMark || int64(now.Latest.Add(stampFuture)) >= given {
		return nil // the mark on disk stays, which is safe
	}
	return s.eng.SetNote(stampNote, binary.BigEndian.AppendUint64(nil, uint64(now.Latest.Add(stampFuture))))
}

// awaitPassed waits until the clock's earliest has passed the mark that an earlier process left.
func (s *stamps) awaitPassed(stopped rt.Signal) error {
	mark, err := s.load()
	if err != nil {
		return err
	}
	s.mark.Store(int64(mark))
	s.awaited.Store(int64(mark))
	defer s.awaited.Store(0)
	_, err = s.reading(mark, stopped)
	return err
}

// reading waits for one whose earliest has passed the mark. A clock that gives none is waited for as well: a node that
// starts while its source is away has nothing better to do.
func (s *stamps) reading(mark clock.Instant, stopped rt.Signal) (clock.Interval, error) {
	said := s.rt.Now()
	for first := true; ; first = false {
		now, err := s.clock.Now()
		if err == nil && now.Passed(mark) {
			return now, nil
		}
		if first || s.rt.Now()-said > 5*time.Second {
			said = s.rt.Now()
			if err != nil {
				what, hint := s.clock.Status().Refusal()
				s.log.Warn("waiting for the clock", "why", what, "hint", hint)
			} else if left := mark.Sub(now.Earliest); left > 2*stampAhead {
				s.log.Warn("waiting: the clock is behind timestamps that this node gave out before it was stopped; serving begins when it has passed them",
					"seconds", left.Seconds(), "hint", "the clock was ahead then, or is behind now: compare it with a reference (chronyc tracking)")
			}
		}
		wait := 20 * time.Millisecond
		if err == nil {
			wait = min(max(mark.Sub(now.Earliest), time.Millisecond), 500*time.Millisecond)
		}
		if stopped.Wait(wait) {
			return now, kv.Errorf(kv.ErrUnavailable, "stopped while waiting for the clock")
		}
	}
}

// left is for how long the mark of an earlier process is still waited for; 0: it is not.
func (s *stamps) left() time.Duration {
	mark := s.awaited.Load()
	if mark == 0 {
		return 0
	}
	now, err := s.clock.Now()
	if err != nil {
		return 0
	}
	return max(0, clock.Instant(mark).Sub(now.Earliest))
}
