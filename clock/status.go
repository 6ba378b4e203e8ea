package clock

import (
	"fmt"
	"strings"
	"time"
)

// Status is what people want to know about a clock.
type Status struct {
	Source string
	State  State
	Err    error    // why there is no reading; nil if there is one
	Now    Interval // the reading, or, if there is an anchor that is too wide, what it would be
	// Bound is half the width: the ± that people speak of.
	Bound time.Duration
	Age   time.Duration // since the last good answer of the source; -1 if there was none, or it was dropped
	Rate  int64         // ppb by which each end moves outward
	// Why explains the state, with numbers.
	Why string
	// Ratchet is how far earliest is held above what the anchor alone would say.
	Ratchet time.Duration

	Polls, Failures uint64
	LastError       string
	LastErrorAge    time.Duration
	Disruptions     uint64
	LastDisruption  string // a step with its size, a suspension, a contradiction
	DisruptionAge   time.Duration

	// BoundP99 and BoundMax are the half widths of the readings of the last five minutes, each as wide as it got before
	// the source was asked again.
	BoundP99, BoundMax time.Duration
	// Fenced is why readings are refused although the source answers: the peers, or the width. FencedFor is since when.
	Fenced    string
	FencedFor time.Duration

	// Conflicts are reported intervals that excluded ours, DisjointReadings readings that did.
	Conflicts, DisjointReadings []Conflict
	Limit                       time.Duration // Options.MaxUncertainty; negative: none

	Detail // what the source has to add
}

// Status describes the clock. It takes a lock that Poll holds while it waits for the source.
func (c *Clock) Status() Status {
	p := &c.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	iv, err := c.Now()
	now := c.now()
	a := c.anchor.Load()
	s := Status{
		Source: p.src.String(), State: a.state, Err: err, Now: iv, Age: -1, Why: a.why,
		Polls: p.polls, Failures: p.failures, Disruptions: p.disruptions, LastDisruption: p.lastDisruption,
		Conflicts: c.Conflicts(), DisjointReadings: c.DisjointReadings(), Limit: c.opts.MaxUncertainty,
	}
	if d, ok := p.src.(Detailed); ok {
		s.Detail = d.Detail()
	}
	if p.lastErr != nil {
		s.LastError, s.LastErrorAge = p.lastErr.Error(), time.Duration(now)-p.errAt
	}
	if p.disruptions > 0 {
		s.DisruptionAge = time.Duration(now) - p.disruptedAt
	}
	if m := p.last; m != nil {
		age := now - m.taken
		s.Age, s.Rate = time.Duration(age), m.rate
		if grown := m.at(min(age, int64(MaxAge))); err != nil {
			s.Now = grown
		} else {
			s.Ratchet = max(0, iv.Earliest.Sub(grown.Earliest))
		}
		s.Bound = s.Now.Width() / 2
		if a.usable() {
			s.State = a.stateAt(now - a.mono)
		}
	}
	if why := a.marker.say(); s.Err == ErrDisrupted && why != "" {
		s.State, s.Why = Disrupted, why
	}
	quantile, most := c.widths.summary(0.99)
	s.BoundP99, s.BoundMax = quantile/2, most/2
	s.explain(p.withdrawn)
	if why, d := c.Fenced(); why != "" {
		s.Fenced, s.FencedFor, s.Why = why, d, why
	} else if s.Err == ErrFenced {
		s.Fenced, s.FencedFor = s.Why, time.Duration(now)-p.wideAt
		if m := p.last; m != nil && m.usable() {
			s.FencedFor = time.Duration(now - m.mono - int64(m.limit))
		}
	}
	return s
}

// explain completes Why where the anchor's own words no longer say all.
func (s *Status) explain(withdrawn string) {
	switch {
	case s.Err == ErrFenced && s.Limit > 0 && s.Now.Width() > narrowed(s.Limit):
		s.Why = fmt.Sprintf("the interval is %s wide, above the maximum uncertainty of %s", round(s.Now.Width()), s.Limit)
		if s.Now.Width() <= s.Limit {
			s.Why = fmt.Sprintf("the interval was wider than the maximum uncertainty of %s, is %s now, and has to come down to %s", s.Limit, round(s.Now.Width()), narrowed(s.Limit))
		}
		s.appendError()
	case s.Err == ErrUnknown && withdrawn != "":
		s.Why = withdrawn
	case s.Err == ErrUnknown && s.Age >= 0:
		s.Why = fmt.Sprintf("the source has not answered for %s", s.Age.Round(time.Millisecond))
		s.appendError()
	case s.Err == ErrUnknown:
		s.appendError()
	case s.Err == ErrDisrupted && s.State != Disrupted:
		s.Why = "latest lies before an earliest that was given out or learned from a peer"
	case s.Err == nil && s.State == FreeRunning && s.LastError != "" && s.LastErrorAge < s.Age:
		s.Why = fmt.Sprintf("no good answer for %s, the interval grows", s.Age.Round(time.Millisecond))
		s.appendError()
	}
}

func (s *Status) appendError() {
	if s.LastError != "" && !strings.Contains(s.Why, s.LastError) {
		s.Why += ": " + s.LastError
	}
}

// String is one line for logs and consoles.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Source, s.State)
	if s.Err == nil {
		fmt.Fprintf(&b, ", ±%s", s.Bound)
	} else {
		b.WriteString(", no reading")
	}
	if s.Why != "" {
		fmt.Fprintf(&b, " (%s)", s.Why)
	}
	for _, v := range s.FellOut {
		fmt.Fprintf(&b, "; %s takes no part: %s", v.Source, v.Why)
	}
	if s.LastDisruption != "" {
		fmt.Fprintf(&b, "; last disruption %s ago: %s", s.DisruptionAge.Round(time.Millisecond), s.LastDisruption)
	}
	for _, d := range s.Conflicts {
		fmt.Fprintf(&b, "; node %d contradicts us (%d times, last %s ago, apart by %s)",
			d.Peer, d.Count, d.Age.Round(time.Millisecond), d.Apart())
	}
	for _, d := range s.DisjointReadings {
		fmt.Fprintf(&b, "; readings of node %d and ours excluded each other (%d times, last %s ago, apart by %s)", d.Peer, d.Count, d.Age.Round(time.Millisecond), d.Apart())
	}
	return b.String()
}
