package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// injectDiskFault makes a machine's disk ill. The process stops by itself when it finds out, and is started again when the disk is
// well.
func injectDiskFault(w *World, r *rand.Rand, a diskFault) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.event("disk %s", a.name)
	m.diskFault.inject(a)
	return func() {
		m.event("disk well")
		m.diskFault.inject(diskFault{})
		m.Boot()
	}, true
}

// slowSyncs makes the syncs of a machine's log take long, up to seconds.
func slowSyncs(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	m.slow = logUniform(r, 20*time.Millisecond, 4*time.Second)
	m.event("disk slow: syncs take up to %s", m.slow)
	return func() { m.slowUntil, m.slow = w.Loop.Now()+m.slow, 0 }, true
}

// fillAll fills the disks of all machines, one soon after another, as disks of equal replicas do. Nobody serves then. When
// there is room again, nothing that was acknowledged may be missing, and the cluster has to come back.
func fillAll(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	w.event("the disks of all machines fill")
	within := logUniform(r, time.Millisecond, 2*time.Second)
	healed := false
	for _, m := range w.Machines {
		w.Loop.At(w.Loop.Now()+time.Duration(r.Int64N(int64(within))), func() {
			if !healed {
				m.event("disk %s", fullDisk.name)
				m.diskFault.inject(fullDisk)
				w.avail.look()
			}
		})
	}
	return func() {
		healed = true
		w.event("there is room again on all disks")
		for _, m := range w.Machines {
			m.diskFault.inject(diskFault{})
			m.Boot()
		}
	}, true
}

// stallDisk lets a machine's disk stand still without an error, as network disks do: the log's directory, that of state, or both.
// Others have to serve what the machine leads, and it takes part again when the disk goes on.
func stallDisk(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, (*Machine).Up)
	if m == nil {
		return nil, false
	}
	until, which := w.Loop.Now()+d, []string{"log", "state", "log and state"}[r.IntN(3)]
	if which != "state" {
		m.logStall = until
	}
	if which != "log" {
		m.stateStall = until
	}
	m.event("disk of %s stands still until %.3f", which, until.Seconds())
	return func() { m.logStall, m.stateStall = min(m.logStall, w.Loop.Now()), min(m.stateStall, w.Loop.Now()) }, true
}

// stateTime is how long a batch takes to get into state.
func (m *Machine) stateTime() time.Duration { return max(0, m.stateStall-m.w.Loop.Now()) }

// loseDirectory kills a machine, and one of its directories is missing when it starts again, until it is mounted. The node must
// not start without it (storage, S5).
func loseDirectory(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, func(m *Machine) bool { return m.Serving() && m.whole == nil && m.diskFault.current() == "" })
	if m == nil {
		return nil, false
	}
	m.Crash(r.IntN(2) == 0)
	m.whole = m.files
	m.files = copyDisk(m.whole)
	lost := []string{"state", "log"}[r.IntN(2)]
	if err := m.files.RemoveAll("store/" + lost); err != nil {
		panic(err)
	}
	m.event("its directory %s is not mounted", lost)
	m.Boot()
	return func() {
		m.event("its directory %s is mounted again", lost)
		m.files, m.whole = m.whole, nil
		m.Boot()
	}, true
}

// damageDisk flips a bit of what a machine's disk holds, in a table or in the log. Half of the machines start again after that, with
// nothing in memory. A node that reads it stops, or does not start, until its disk is sound; it never answers with it.
func damageDisk(w *World, r *rand.Rand, d time.Duration) (func(), bool) {
	m := choose(w, r, func(m *Machine) bool {
		return m.Serving() && m.rot == nil && m.whole == nil && m.diskFault.current() == "" && !m.dying()
	})
	if m == nil {
		return nil, false
	}
	var found *rot
	log := r.IntN(3) == 0
	if log {
		found = rotLog(m, r)
	} else {
		found = rotTable(m, r)
	}
	if found == nil {
		return nil, false
	}
	m.rot, m.Disk.rot = found, found
	m.event("disk damaged: %s", found)
	if log || r.IntN(2) == 0 { // a log is only read when its node starts
		m.Crash(false)
		m.Boot()
	}
	return func() {
		m.event("disk sound")
		m.rot = nil
		if m.Up() {
			m.Disk.rot = nil
		}
		m.Boot()
	}, true
}

// refusesToOpen reports whether the store does not open, which only a disk may be the reason for of which that is known.
func (m *Machine) refusesToOpen(err error) bool {
	switch {
	case err == nil && m.whole != nil:
		panic(fmt.Sprintf("sim: %s: the store is opened although one of its directories is missing", m.Name))
	case err == nil:
		return false
	case (m.whole == nil && !m.diskFault.hasFailed()) || !strings.Contains(err.Error(), "hint: "):
		panic(fmt.Sprintf("sim: %s: the store cannot be opened: %v", m.Name, err))
	}
	m.event("does not start: %s", firstLine(err))
	return true // somebody starts it again when its disk is well
}
