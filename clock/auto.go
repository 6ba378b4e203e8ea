package clock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// ErrNoBoundedSource is why Auto does not answer where nothing on the machine measures the clock's error.
var ErrNoBoundedSource = errors.New("no source on this machine bounds the clock's error")

// Auto takes the best bounded source that is present and answers, and stays with it: a clock whose source is lost says so, and
// does not become another one behind its user's back. A better source that is present and not yet ready, as daemons are
// while a machine starts, is waited for, for a while. It never takes one that measures nothing (static): what to assume
// about the clocks of a cluster is for people to say.
type Auto struct {
	Candidates []Candidate // best first
	// Patience is how long a better source that is present but gives no good answer is waited for.
	Patience time.Duration
	opts     string

	began   time.Duration
	asked   bool
	chosen  Source
	why     string
	passed  []Finding
	waiting []Finding
}

// Candidate is a source that Auto may take.
type Candidate struct {
	Source Source
	// Present looks whether there is anything to ask, quickly and without waiting. The error says what is missing.
	Present func() error
}

// DefaultPatience covers a daemon's first synchronisation.
const DefaultPatience = 15 * time.Second

// NewAuto makes a source that chooses between phc, clockbound and chrony at their usual places. That is the order of their
// widths: a clock on the network card, then what a daemon that watches for disruptions says, then chronyd by itself.
func NewAuto() *Auto {
	phc, bound, chrony := NewPHC(""), NewClockBound(""), NewChrony("")
	return &Auto{Patience: DefaultPatience, Candidates: []Candidate{
		{phc, func() error { _, err := phc.find(); return err }},
		{bound, bound.present},
		{chrony, func() error { return nil }}, // only asking tells, and is as quick
	}}
}

// present looks for a segment. One that a daemon left behind counts: its age shows when it is read.
func (c *ClockBound) present() (first error) {
	for _, p := range c.paths() {
		_, err := os.Stat(p)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func parseAuto(rest string) (Source, error) {
	a := NewAuto()
	if rest, a.opts = strings.TrimPrefix(rest, ","), ""; rest == "" {
		return a, nil
	}
	drift, slew := int64(DefaultDrift), int64(DefaultSlew)
	err := options(rest, map[string]func(string) error{"drift": ppb(&drift, 0, MaxRate/4), "slew": ppb(&slew, 0, MaxRate/2)})
	for _, c := range a.Candidates {
		switch s := c.Source.(type) {
		case *PHC:
			s.Drift, s.Slew = drift, slew
		case *ClockBound:
			s.Drift, s.Slew = drift, slew
		case *Chrony:
			s.Drift, s.Slew = drift, slew
		}
	}
	a.opts = spec("", "").rate("drift", drift, DefaultDrift).rate("slew", slew, DefaultSlew).String()
	return a, err
}

// Read implements Source.
func (a *Auto) Read(h *Host) (Sample, error) {
	if a.chosen != nil {
		return a.chosen.Read(h)
	}
	now := h.Mono()
	if !a.asked {
		a.asked, a.began = true, now
	}
	return a.choose(h, now-a.began >= a.Patience)
}

// choose asks the candidates in turn. The first good answer decides, unless a better candidate is present and there is still
// patience for it.
func (a *Auto) choose(h *Host, settle bool) (Sample, error) {
	a.passed, a.waiting = nil, nil
	present := 0
	for _, c := range a.Candidates {
		name := c.Source.String()
		if err := c.Present(); err != nil {
			a.passed = append(a.passed, Finding{name, "not there: " + err.Error()})
			continue
		}
		s, err := c.Source.Read(h)
		if err == nil {
			err = s.check()
		}
		switch {
		case err != nil && Absent(err):
			a.passed = append(a.passed, Finding{name, "not there: " + err.Error()})
			continue
		case err == nil && s.State == Synchronized && (settle || present == 0):
			a.chosen, a.why = c.Source, "the best that answers: "+s.Why
			a.rest(c.Source)
			return s, nil
		case err == nil:
			err = fmt.Errorf("%s: %s", s.State, s.Why)
			if s.State == Synchronized {
				err = errors.New("it answers, but a better one that is present is waited for")
			}
		}
		present++
		a.waiting = append(a.waiting, Finding{name, err.Error()})
	}
	if present == 0 {
		return Sample{}, fmt.Errorf("%w: %s; to run on an assumed bound, say so by name, as in static:500ms", ErrNoBoundedSource, findings(a.passed))
	}
	return Sample{}, fmt.Errorf("no source is ready yet: %s", findings(a.waiting))
}

// rest closes those that were not chosen, and says why they were not.
func (a *Auto) rest(chosen Source) {
	a.passed = append(a.passed, a.waiting...)
	a.waiting = nil
	after := false
	for _, c := range a.Candidates {
		if c.Source == chosen {
			after = true
			continue
		}
		if after {
			a.passed = append(a.passed, Finding{c.Source.String(), "not asked: " + kindOf(chosen.String()) + " comes before it"})
		}
		shut(c.Source)
	}
}

// Detail implements Detailed.
func (a *Auto) Detail() (d Detail) {
	if a.chosen == nil {
		d.PassedOver = append(append(d.PassedOver, a.passed...), a.waiting...)
		return d
	}
	if c, ok := a.chosen.(Detailed); ok {
		d = c.Detail()
	}
	d.Chosen, d.ChosenWhy, d.PassedOver = a.chosen.String(), a.why, a.passed
	return d
}

// Close implements io.Closer.
func (a *Auto) Close() error {
	for _, c := range a.Candidates {
		shut(c.Source)
	}
	return nil
}

func (a *Auto) String() string { return "auto" + a.opts }

// Absent reports whether a source's error says that nothing is there that could be asked, now or in a while. Of an error
// that wraps several each has to say so: a daemon that is slow at one address is not absent because another is closed.
func Absent(err error) bool {
	switch err {
	case ErrNoBoundedSource, fs.ErrNotExist, fs.ErrPermission, errors.ErrUnsupported:
		return true
	}
	if no, ok := err.(syscall.Errno); ok {
		return no == syscall.ECONNREFUSED || no.Is(fs.ErrNotExist) || no.Is(fs.ErrPermission) || no.Is(errors.ErrUnsupported)
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			if !Absent(e) {
				return false
			}
		}
		return true
	}
	inner := errors.Unwrap(err)
	return inner != nil && Absent(inner)
}
