package clock

import (
	"fmt"
	"time"
)

// Host is the machine's own clocks as a source sees them, and the watch on what happens to them. It is used by one
// goroutine at a time, except for Mono.
type Host struct {
	base time.Time            // origin of the monotonic clock
	mono func() time.Duration // nil: the machine's, since base
	wall func() Instant       // nil: the machine's
	boot func() (time.Duration, bool)
	leap func() bool // nil: the machine's kernel

	events int // disruptions that the clock has had, for sources that are made of others

	// wall - mono is constant except when the wall clock is stepped: slewing moves both alike. It was in
	// [offLo, offHi] at the last pairing.
	paired       bool
	offLo, offHi int64
	step         time.Duration // seen since the last check, 0 if none

	booted  bool
	bootOff time.Duration // boot - mono, grows only while the machine is suspended
}

const (
	// pairTries bounds the attempts at a pairing without preemption; pairGood is one that had none (usual: 60 ns).
	pairTries = 5
	pairGood  = int64(time.Microsecond)
	// stepTolerance is above what two pairings without a step between them ever differ by (measured: 10 ns). What hides
	// below it, every poll, is less than the assumed drift.
	stepTolerance = int64(time.Microsecond)
	// suspendTolerance is far above what reading two clocks in turn can show, and below any suspension.
	suspendTolerance = 10 * time.Millisecond
)

// Mono is monotonic time since the clock was made.
func (h *Host) Mono() time.Duration {
	if h.mono != nil {
		return h.mono()
	}
	return time.Since(h.base)
}

// Pair is a reading of the wall clock and the monotonic clock at one moment: at Mono the wall clock was in
// [Earliest, Latest], which is a fraction of a microsecond wide unless the machine is very busy.
type Pair struct {
	Mono             time.Duration
	Earliest, Latest Instant
}

// Pair reads both clocks, and looks whether the wall clock was stepped since the last time (hazard: whoever steps it,
// chronyd does not notice jumps below 10 s and goes on reporting a small bound).
func (h *Host) Pair() Pair {
	p, a := h.bracket()
	for try := 1; try < pairTries && int64(p.Mono-a) >= pairGood; try++ {
		// A preemption between the reads widened the bracket. The narrowest one is the best.
		if p2, a2 := h.bracket(); p2.Mono-a2 < p.Mono-a {
			p, a = p2, a2
		}
	}
	lo, hi := int64(p.Earliest)-int64(p.Mono), int64(p.Latest)-int64(p.Mono)
	if h.paired {
		switch {
		case lo > h.offHi+stepTolerance:
			h.step = time.Duration(lo - h.offHi)
		case hi < h.offLo-stepTolerance:
			h.step = time.Duration(hi - h.offLo)
		}
	}
	h.paired, h.offLo, h.offHi = true, lo, hi
	return p
}

// bracket reads mono, wall, mono. The wall clock showed w between a and b, so at b it shows between w and w+(b-a).
func (h *Host) bracket() (p Pair, a time.Duration) {
	a = h.Mono()
	var w Instant
	var b time.Duration
	if h.wall == nil && h.mono == nil {
		t := time.Now() // wall, then monotonic, in one call
		w, b = Instant(t.UnixNano()), t.Sub(h.base)
	} else {
		w = h.readWall()
		b = h.Mono()
	}
	return Pair{Mono: b, Earliest: w, Latest: w.Add(b - a)}, a
}

func (h *Host) readWall() Instant {
	if h.wall != nil {
		return h.wall()
	}
	return Instant(time.Now().UnixNano())
}

// disruption reports, once, that the wall clock was stepped or the machine suspended since the last call. The step is
// found by Pair, so only sources that read the wall clock depend on it.
func (h *Host) disruption() (what string, yes bool) {
	if h.step != 0 {
		what, yes = fmt.Sprintf("the system clock was stepped by %s", h.step), true
	}
	h.step = 0
	if d := h.suspended(); d > 0 {
		what, yes = fmt.Sprintf("the machine was suspended for %s", d), true
	}
	return what, yes
}

// suspended is for how long the monotonic clock has stood still since the last call.
func (h *Host) suspended() time.Duration {
	if h.boot == nil {
		return 0
	}
	// Preemption between the two reads only makes boot - mono smaller, so the largest is the best.
	var off time.Duration
	for try := 0; try < pairTries; try++ {
		boot, ok := h.boot()
		if !ok {
			return 0
		}
		o := boot - h.Mono()
		if try == 0 || o > off {
			off = o
		}
		if h.booted && off > h.bootOff-suspendTolerance {
			break
		}
	}
	grown := off - h.bootOff
	first := !h.booted
	h.booted, h.bootOff = true, off
	if first || grown <= suspendTolerance {
		return 0
	}
	return grown
}

// machine is CLOCK_MONOTONIC as other processes see it, which write it into shared memory. It is the clock behind Mono, with
// the machine's start as its origin; the test's if Mono is.
func (h *Host) machine() (time.Duration, error) {
	if h.mono != nil {
		return h.mono(), nil
	}
	return machineMono()
}

// leapArmed reports whether the kernel has been told to step over a leap second at the end of the UTC day. It is how a
// source that hears nothing of leap seconds from its daemon learns of them.
func (h *Host) leapArmed() bool {
	if h.leap != nil {
		return h.leap()
	}
	return h.mono == nil && h.wall == nil && kernelLeap()
}
