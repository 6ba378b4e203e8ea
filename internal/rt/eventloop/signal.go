package eventloop

import (
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/rt"
)

type signal struct {
	r       *Runtime
	fired   bool
	waiters []*task
}

// NewSignal makes a one-shot event whose waiters are tasks of this runtime.
func (r *Runtime) NewSignal() rt.Signal { return &signal{r: r} }

func (s *signal) Fired() bool { return s.fired }

func (s *signal) Fire() {
	if s.fired {
		return
	}
	s.fired = true
	for _, t := range s.waiters {
		s.r.l.makeReady(t)
	}
	s.waiters = nil
}

func (s *signal) Wait(limit time.Duration) bool {
	if s.fired {
		return true
	}
	t := s.r.current()
	if limit <= 0 {
		return false
	}
	s.waiters = append(s.waiters, t)
	if limit == rt.Forever {
		block(t)
		return true
	}
	tm := &timer{at: s.r.l.now + limit, of: s.r, fire: func() { s.r.l.makeReady(t) }}
	s.r.l.push(tm)
	block(t)
	s.r.l.cancel(tm)
	if !s.fired {
		if i := slices.Index(s.waiters, t); i >= 0 {
			s.waiters = slices.Delete(s.waiters, i, i+1)
		}
	}
	return s.fired
}

func sortTasks(ts []*task) {
	slices.SortFunc(ts, func(a, b *task) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
}
