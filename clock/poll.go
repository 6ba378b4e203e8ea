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
	// newest is the highest Sample.Update seen, lag the last Sample.UpdateLag; after a disruption (wait) an update above
	// need is needed.
	newest, lag, need int64
	wait              bool
	reported          bool   // the last sample said Disrupted
	withdrawn         string // not empty: the source took back what it had said, and why
	wide              bool   // refused for its width: it has to become narrower than the limit before readings come back (narrowed)
	wideAt            time.Duration
	lastErr           error
	errAt             time.Duration

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
	c.noteWidth()
	s, err := p.src.Read(p.host)
	if what, yes := p.host.disruption(); yes {
		// The sample was paired around the event: of no use, and neither is the anchor.
		if err == nil {
			p.newest, p.lag = max(p.newest, s.Update), s.UpdateLag
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
	p.newest, p.lag = max(p.newest, s.Update), s.UpdateLag
	again := p.reported
	p.reported = s.State == Disrupted
	switch {
	case s.State == Disrupted:
		return c.disrupted(s.Why, again)
	case p.wait && (s.State != Synchronized || s.Update <= p.need):
		return fmt.Errorf("waiting for news from after the disruption (%s)", p.lastDisruption)
	case s.State == Unknown:
		return c.withdraw(s.Why)
	}
	next := c.newAnchor(s)
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
	p.wait, p.withdrawn = false, ""
	c.keep(next)
	c.publish(next)
	return nil
}

// keep remembers the anchor that the next sample must agree with; nil: none. It is also what we report.
func (c *Clock) keep(a *anchor) {
	c.poll.last = a
	c.reported.Store(a)
}

// newAnchor is an anchor with the limit of width that holds now. A clock that was refused for its width comes back at three
// quarters of the limit: one that hovers at it would lose and take back its leases all the time.
func (c *Clock) newAnchor(s Sample) *anchor {
	p, limit := &c.poll, c.opts.MaxUncertainty
	if limit < 0 {
		return newAnchor(s, 0)
	}
	if now := c.anchor.Load(); now.refusal == ErrFenced && now.usable() && uint64(c.now()-now.mono) > now.limit {
		p.wide, p.wideAt = true, time.Duration(now.mono+int64(now.limit))
	}
	if p.wide {
		if back := newAnchor(s, narrowed(limit)); !back.usable() {
			return back
		}
		p.wide = false
	}
	a := newAnchor(s, limit)
	if !a.usable() {
		p.wide, p.wideAt = true, s.Mono
	}
	return a
}

// narrowed is the width at which a clock that was refused for its width gives readings again.
func narrowed(limit time.Duration) time.Duration { return limit / 4 * 3 }

// check refuses samples that the arithmetic or common sense cannot take.
func (s *Sample) check() error {
	switch {
	case s.State == Disrupted || s.State == Unknown:
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

// withdraw stops readings until the source's next good answer. That has to agree with what the source said before, as always.
func (c *Clock) withdraw(why string) error {
	c.poll.withdrawn = why
	c.reported.Store(nil)
	c.publish(dead(Unknown, ErrUnknown, why))
	return errors.New(why)
}

// disrupt drops the anchor. Readings come back with the first synchronised sample that the source derived from something
// it learned later.
func (c *Clock) disrupt(what string) error { return c.disrupted(what, false) }

// disrupted is disrupt; again: it is the event of the time before, which the source goes on to report.
func (c *Clock) disrupted(what string, again bool) error {
	p := &c.poll
	if !again || !p.wait {
		p.disruptions++
		p.disruptedAt = p.host.Mono()
	}
	p.lastDisruption = what
	p.need, p.withdrawn = p.newest+p.lag, ""
	p.host.events++
	p.wait = true
	c.keep(nil)
	c.publish(dead(Disrupted, ErrDisrupted, what))
	return errors.New(what)
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
