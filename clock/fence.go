package clock

import (
	"sync"
	"time"
)

// fence is the decision, made outside of the clock, that its readings are not to be used: see Vote. It has a lock of its
// own, which is not held while the source is asked, so that a fence takes effect at once.
type fence struct {
	mu  sync.Mutex // guards what follows and the replacement of anchors; never held over I/O
	why string     // not empty: Fence was called
	at  time.Duration
}

// Fence makes Now refuse with ErrFenced until Unfence. It is for the decision that a clock cannot make alone: a majority
// of its peers contradicts it. Why is for people, with values. Fencing again replaces why.
func (c *Clock) Fence(why string) {
	f := &c.fence
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == "" {
		f.at = time.Duration(c.now())
		c.opts.Log.Error("clock fenced: it gives no readings until its peers agree with it again", "why", why)
	}
	f.why = why
	c.replace(dead(c.anchor.Load().state, ErrFenced, why))
}

// Unfence takes Fence back; the next Poll brings readings.
func (c *Clock) Unfence() {
	f := &c.fence
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why != "" {
		c.opts.Log.Warn("clock no longer fenced", "was", f.why, "after", time.Duration(c.now())-f.at)
	}
	f.why = ""
}

// Fenced is why Fence was called, and for how long that has been so; "": it is not fenced. It does not tell of readings
// that are refused for their width, which Now and Status do.
func (c *Clock) Fenced() (why string, since time.Duration) {
	f := &c.fence
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.why == "" {
		return "", 0
	}
	return f.why, time.Duration(c.now()) - f.at
}

// ReportedInterval is what the source says, grown to now, also where Now refuses because of a fence or of the width. Peers judge
// a clock by its reported intervals: a fenced one can only be found good again if it goes on reporting. A reported interval must
// never order anything. The error is that of Now if the source says nothing (ErrUnknown, ErrDisrupted).
func (c *Clock) ReportedInterval() (Interval, error) {
	a := c.reported.Load()
	if a == nil {
		if refusal := c.anchor.Load().refusal; refusal == ErrDisrupted {
			return Interval{}, ErrDisrupted
		}
		return Interval{}, ErrUnknown
	}
	age := c.now() - a.taken
	if a.marker.changed() { // M1
		return Interval{}, ErrDisrupted
	}
	if uint64(age) > uint64(MaxAge) {
		return Interval{}, ErrUnknown
	}
	return a.at(age), nil
}
