package sim

import (
	"time"

	"github.com/longitude-db/longitude/clock"
)

// Marker is what the hypervisor tells a machine of suspensions.
type Marker uint8

// The markers. The last two are for negative controls.
const (
	MarkerInReadings Marker = iota // the marker is looked at with every reading, as in production
	MarkerInPolls                  // only when the source is asked
	NoMarker                       // there is none
)

// suspension is a time in which the machine does not run and its monotonic clock stands still. until 0: there is none.
type suspension struct{ from, until time.Duration }

// monotonic is the machine's monotonic clock, but for the drift of its oscillator.
func (m *Machine) monotonic() time.Duration {
	if m.still.until > 0 {
		return m.still.from - m.stood
	}
	return m.w.Loop.Now() - m.stood
}

// Suspend stops the machine for d, as a hypervisor does: its monotonic clock, its timers and its system clock stand still. The
// hypervisor tells it before it runs again, if there is a marker. For another while its source, which has not measured since,
// believes the system clock; told of the disruption it says that it does not know.
func (m *Machine) Suspend(d, unmeasured time.Duration) {
	if !m.Up() || m.RT.Paused() {
		return
	}
	m.standStill(d, unmeasured)
	m.RT.Suspend(m.still.until)
}

// suspendHere is Suspend in the middle of what one of its tasks does. It reports whether it was one of them.
func (m *Machine) suspendHere(d, unmeasured time.Duration) bool {
	was := m.still
	m.standStill(d, unmeasured)
	if !m.RT.SuspendHere(m.still.until) {
		m.still = was
		return false
	}
	return true
}

func (m *Machine) standStill(d, unmeasured time.Duration) {
	now := m.w.Loop.Now()
	s := suspension{now, now + d}
	m.still = s
	m.w.Loop.At(s.until, func() { // before any of its tasks goes on
		if m.still != s {
			return // it was never suspended, or switched off meanwhile
		}
		m.runAgain()
		m.event("runs again, suspended for %s; the source measures in %s", d, unmeasured)
		m.Source.Disrupt()
		c := m.w.Config.Clocks[m.Index]
		if m.w.Config.Marker == NoMarker {
			m.lied = true
			c.Offset, c.Lying = c.Offset-d, true
		} else {
			c.State = clock.Disrupted
		}
		m.Source.Set(c)
		m.w.Loop.At(s.until+unmeasured, func() { m.Source.Set(m.w.Config.Clocks[m.Index]) })
	})
}

// runAgain lets the monotonic clock go on.
func (m *Machine) runAgain() {
	if m.still.until > 0 {
		m.stood += m.w.Loop.Now() - m.still.from
		m.still = suspension{}
	}
}

// Pause stops the process until virtual time until: longer than a lease, it comes back to a world that went on.
func (m *Machine) Pause(until time.Duration) {
	if m.Up() {
		m.event("pause until %.3f", until.Seconds())
		m.RT.Pause(until)
	}
}

// freeze is a pause that waits for a reading of the clock: it begins between the reading and whatever is done with it.
type freeze struct {
	after int           // so many readings from now; at 0 the next one
	d     time.Duration // how long; 0: none is waiting
	// suspend: the machine is suspended, and not the process paused; its source measures so long after it runs again.
	suspend    bool
	unmeasured time.Duration
}

// reading is called with each reading of the machine's clock.
func (f *freeze) reading(m *Machine) {
	switch {
	case f.d == 0:
		return
	case f.after > 0:
		f.after--
		return
	}
	began, life := m.w.Loop.Now(), m.life
	all := f.d
	f.d = 0
	d := m.w.still(all)
	stop := func() bool { return m.RT.PauseHere(began + d) }
	if f.suspend {
		stop = func() bool { return m.suspendHere(d, f.unmeasured) }
	}
	if !stop() {
		f.d = all // it was not one of its tasks that read
		return
	}
	if m.life == life {
		m.event("goes on, %s after it read its clock", m.w.Loop.Now()-began)
	}
}
