package sim

import "time"

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
	d := f.d
	f.d = 0
	if !m.RT.PauseHere(began + d) {
		f.d = d // it was not one of its tasks that read
		return
	}
	if m.life == life {
		m.event("goes on, %s after it read its clock", m.w.Loop.Now()-began)
	}
}
