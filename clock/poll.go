package clock

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// poller asks the source and decides what becomes of its answers.
type poller struct {
	mu   sync.Mutex // one poll at a time; also guards what follows
	src  Source
	host *Host

	// last is what the source last said, also if that is too wide to be read: the next answer must intersect it.
	// nil after a disruption.
	last *anchor
	// newest is the highest Sample.Update seen; after a disruption a higher one is needed (wait).
	newest  int64
	wait    bool
	fenced  string // not empty: Fence was called
	lastErr error
	errAt   time.Duration

	polls, failures, disruptions uint64
	lastDisruption               string
	disruptedAt                  time.Duration
	state                        State // last logged
}

var errMalformed = errors.New("malformed sample")

// Poll asks the source once and publishes what follows from its answer. Start calls it; a simulation calls it from a task
// of its own. The error is for people: it says why nothing was learned.
func (c *Clock) Poll() error {
	p := &c.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polls++
	s, err := p.src.Read(p.host)
	if what, yes := p.host.disruption(); yes {
		// The sample was paired around the event: of no use, and neither is the anchor.
		if err == nil {
			p.newest = max(p.newest, s.Update)
		}
		err = c.disrupt(what)
	} else if err == nil {
		err = c.accept(s)
	}
	if err != nil {
		p.failures++
		p.lastErr, p.errAt = err, p.host.Mono()
	}
	c.logState()
	return err
}

// accept makes a sample the anchor, if it agrees with what is known.
func (c *Clock) accept(s Sample) error {
	p := &c.poll
	if err := s.check(); err != nil {
		return err
	}
	fresh := s.Update > p.newest
	p.newest = max(p.newest, s.Update)
	if s.State == Disrupted {
		return c.disrupt(s.Why)
	}
	if p.wait {
		if s.State != Synchronized || !fresh {
			return fmt.Errorf("waiting for news from after the disruption (%s)", p.lastDisruption)
		}
	}
	next := newAnchor(s, c.opts.MaxUncertainty)
	if old := p.last; old != nil {
		if age := next.taken - old.taken; age <= int64(MaxAge) {
			if was := old.at(age); was.Latest < s.Earliest || s.Latest < was.Earliest {
				return c.disrupt(fmt.Sprintf("two readings contradict each other: %s was expected, the source says %s", was, Interval{s.Earliest, s.Latest}))
			}
		}
	}
	// The floor first, then the time: readers go on raising the floor while we are here.
	f := Instant(c.floor.Load())
	if l := next.at(min(c.now()-next.taken, int64(MaxAge))).Latest; l < f {
		return c.disrupt(fmt.Sprintf("the source's latest is %s before an earliest that was given out", f.Sub(l)))
	}
	p.wait, p.last = false, next
	if p.fenced != "" {
		next = dead(s.State, ErrFenced, p.fenced)
	}
	c.publish(next)
	return nil
}

// check refuses samples that the arithmetic or common sense cannot take.
func (s *Sample) check() error {
	switch {
	case s.State == Disrupted:
		return nil
	case s.State != Synchronized && s.State != FreeRunning:
		return fmt.Errorf("%w: state %s", errMalformed, s.State)
	case s.Earliest > s.Latest:
		return fmt.Errorf("%w: earliest %d is after latest %d", errMalformed, s.Earliest, s.Latest)
	case s.Earliest < 0 || s.Latest > math.MaxInt64/2:
		return fmt.Errorf("%w: [%d, %d] is outside the years 1970 to 2116", errMalformed, s.Earliest, s.Latest)
	case s.Rate < 0 || s.Rate > MaxRate:
		return fmt.Errorf("%w: rate %d ppb is not in 0..%d", errMalformed, s.Rate, MaxRate)
	}
	return nil
}

// disrupt drops the anchor. Readings come back with the first synchronised sample that the source derived from something
// it learned later.
func (c *Clock) disrupt(what string) error {
	p := &c.poll
	p.disruptions++
	p.lastDisruption, p.disruptedAt = what, p.host.Mono()
	p.wait, p.last = true, nil
	if p.fenced != "" {
		what = p.fenced
		c.publish(dead(Disrupted, ErrFenced, what))
	} else {
		c.publish(dead(Disrupted, ErrDisrupted, what))
	}
	return errors.New(what)
}

// Fence makes Now refuse with ErrFenced until Unfence. It is for the decision that a clock cannot make alone: a majority
// of a node's peers disproves it.
func (c *Clock) Fence(why string) {
	p := &c.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fenced = why
	c.publish(dead(c.anchor.Load().state, ErrFenced, why))
}

// Unfence takes Fence back; the next Poll brings readings.
func (c *Clock) Unfence() {
	c.poll.mu.Lock()
	defer c.poll.mu.Unlock()
	c.poll.fenced = ""
}

// logState writes a line when the state has changed.
func (c *Clock) logState() {
	a := c.anchor.Load()
	var s State
	if a.usable() {
		s = a.stateAt(c.now() - a.mono)
	} else {
		s = a.state
	}
	if s == c.poll.state {
		return
	}
	c.opts.Log.Info("clock state", "source", c.poll.src.String(), "was", c.poll.state.String(), "is", s.String(), "why", a.why)
	c.poll.state = s
}
