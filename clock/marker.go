package clock

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
)

// marker is the hypervisor's disruption marker as readers of the clock look at it: with every reading, before and after the
// monotonic clock is read. A machine that is paused, restored or moved while its monotonic clock stands still cannot find that
// out from its own clocks, and the next poll is up to Options.PollInterval away.
//
//	M1  A reading of an anchor is given only if the marker, looked at after the monotonic clock, is the one that the source's
//	    answer was made under. The hypervisor changes the marker before it lets the machine run again. So if the machine was
//	    disrupted between the answer and the moment at which the monotonic clock was read, no reading is given.
//	M2  What readers look at stays mapped as long as any anchor refers to it.
//
// M1 rests on the second look. The first one spares a reading of a clock that may do anything after a disruption, go back
// among them, which would else be taken for a programming error.
//
// A look is one atomic load of an aligned word, so it is never torn, and the sequence number of the page need not be read: the
// number keeps the fields of the page together, and the marker stands for itself. An update that has changed the marker and is
// not yet complete is a disruption already. The poller reads the whole page between two updates (mapping.copy).
//
// HAZARD: when the anchor is replaced after a disruption, what it says then still goes into the floor (T3, replace), because readings
// from before the disruption are not to be undercut. If the disruption let the monotonic clock run ahead of true time, and by
// less than the width of the next answer, earliest is ahead by as much for as long. (By more, the clock is silent until true
// time has come that far.) A clock that stood still raises nothing too far.
//
// HAZARD: a page that can be truncated while it is mapped kills the process that touches it then (SIGBUS). Nobody can truncate the
// hypervisor's device; a regular file that an operator names in its place somebody can.
type marker struct {
	page *sharedPage // keeps the words mapped (M2)
	// disruption and generation are words of the page, as they were under the source's answer: was. generation is nil if the page
	// has none.
	disruption, generation       *uint64
	wasDisruption, wasGeneration uint64  // in the machine's byte order, whatever the page's is
	next                         *marker // another page, of another source; nil: none
}

// changed looks at the words. A nil marker never changes: this machine has no page, or its source does not watch it.
func (m *marker) changed() bool {
	for ; m != nil; m = m.next {
		if atomic.LoadUint64(m.disruption) != m.wasDisruption || m.generation != nil && atomic.LoadUint64(m.generation) != m.wasGeneration {
			return true
		}
		runtime.KeepAlive(m.page)
	}
	return false
}

// same reports whether the two look at the same page for the same numbers, by one mapping or by two.
func (m *marker) same(o *marker) bool {
	page := m.page == o.page || m.page.file != (fileID{}) && m.page.file == o.page.file
	return page && m.wasDisruption == o.wasDisruption && m.wasGeneration == o.wasGeneration
}

// join is a marker that has changed if either of two has.
func (m *marker) join(o *marker) *marker {
	for ; o != nil; o = o.next {
		known := false
		for x := m; x != nil; x = x.next {
			known = known || x.same(o)
		}
		if !known {
			one := *o
			one.next = m
			m = &one
		}
	}
	return m
}

// say is for people: what the page says now, and what it said under the source's answer.
func (m *marker) say() string {
	for ; m != nil; m = m.next {
		is := vmPage{disruption: swapLittle(atomic.LoadUint64(m.disruption))}
		if m.generation != nil {
			is.generation = swapLittle(atomic.LoadUint64(m.generation))
		}
		runtime.KeepAlive(m.page)
		if was := (vmPage{disruption: swapLittle(m.wasDisruption), generation: swapLittle(m.wasGeneration)}); is != was {
			return fmt.Sprintf("the hypervisor says that time was disrupted (disruption marker %d to %d, generation %d to %d), and the source has not been asked since",
				was.disruption, is.disruption, was.generation, is.generation)
		}
	}
	return ""
}

// swapLittle turns a little-endian word, loaded as the machine's own, into its value, and a value into such a word.
func swapLittle(word uint64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], word)
	return binary.LittleEndian.Uint64(b[:])
}

// fileID tells files apart.
type fileID struct{ dev, ino uint64 }

// sharedPage is a mapping of the hypervisor's page that any goroutine may read at any moment. It is unmapped when nothing refers
// to it any more.
type sharedPage struct {
	file  fileID
	words *[vmclockBytes / 8]uint64
}

// marker makes the marker of what was read of the page.
func (p *sharedPage) marker(was vmPage) *marker {
	m := &marker{page: p, disruption: &p.words[vmclockMarker/8], wasDisruption: swapLittle(was.disruption)}
	if was.watched {
		m.generation, m.wasGeneration = &p.words[vmclockGeneration/8], swapLittle(was.generation)
	}
	return m
}
