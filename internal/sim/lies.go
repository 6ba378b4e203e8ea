package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
)

// Lie is a clock that goes wrong while the fence is on: by more than it and all others admit, so that all others contradict it. What is
// guaranteed then, and checked:
//
//   - The liar fences itself within fenceLimit, if the network is whole and the others serve. So before the lie begins everything
//     is mended, and other faults wait until the fence stands. They go on then, while the liar goes on lying.
//   - No honest node is ever fenced (watchFence), in any run.
//   - Histories are serializable throughout, and nothing acknowledged is lost. Operations that overlap a time of doubt, in which some
//     clock gave false readings, keep no order of real time among each other (excuse); every other order of real time holds.
type Lie struct {
	Who    int
	Offset time.Duration // 0: no lie
	After  time.Duration // since faults began
	For    time.Duration
}

// drawLie is for the end of Draw.
func (c *Config) drawLie(r *rand.Rand) {
	widest := time.Duration(0)
	for _, k := range c.Clocks {
		widest = max(widest, k.Bound)
	}
	// Messages hide as much of a lie as they take. What is left of it must exclude all others.
	off := 2*widest + 2*(c.Link.Base+c.Link.Jitter+c.Far) + logUniform(r, 20*time.Millisecond, time.Second)
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		off = -off
	case 4: // so far ahead that it asks for longer support than any store gives (cluster P4)
		off += 2*c.SupportDuration + 2*time.Second
	}
	c.Lie = Lie{Who: r.IntN(c.Nodes - c.Late), Offset: off, After: time.Duration(r.Int64N(int64(c.FaultFor / 2))), For: time.Second + time.Duration(r.Int64N(int64(c.FaultFor/2)))}
	c.LiveWithin += 15 * time.Second // a conflict stands, and calm is asked for, before a fence is taken away
	c.Workloads = slices.DeleteFunc(c.Workloads, func(w string) bool { return !slices.Contains(excusable, w) })
	if len(c.Workloads) == 0 {
		c.Workloads = []string{"bank", "order"}
	}
}

// excusable are the workloads that are judged by the ranks of operations and by nothing else of real time.
var excusable = []string{"register", "bank", "order", "lists", "rw-registers", "write-skew", "long-fork", "causal", "snapshots", "ids", "monotonic"}

// fenceLimit is how long after the beginning of a lie the liar has to have fenced itself. A clock that falls back is silent at first,
// until true time has come to what it gave out before.
func (c *Config) fenceLimit() time.Duration {
	return max(0, -c.Lie.Offset) + 4*c.ClockPoll + 10*c.Heartbeat + time.Second
}

// lieEvery is how often readings are held against true time while a clock lies, and afterwards until none is false.
const lieEvery = 2 * time.Millisecond

// doubt is a time in which a clock gave false readings: the liar's, or one that had learned from it.
type doubt struct{ from, to time.Duration }

// lie plays Config.Lie. heal mends all that faults have done so far.
func (w *World) lie(heal func(), end time.Duration) {
	l := w.Config.Lie
	m := w.Machines[l.Who]
	w.event("%s is going to lie", m.Name)
	loss, damage := w.Net.conditions.Loss, w.Net.damage
	heal()
	w.calm = true
	goOn := func() { w.calm, w.Net.conditions.Loss, w.Net.damage = false, loss, damage }
	asked, ready := w.Loop.Now(), w.Loop.Now()
	var begin func()
	begin = func() {
		switch now := w.Loop.Now(); {
		case now+w.Config.fenceLimit() > end || now-asked > 15*time.Second:
			w.event("no lie: not all serve in time")
			goOn()
			return
		case !w.allServe():
			ready = now
		case now-ready > time.Second:
			m.lied = true
			c := w.Config.Clocks[l.Who]
			m.Source.Set(clock.Conditions{Bound: min(c.Bound, time.Millisecond), Offset: l.Offset, Lying: true})
			m.event("begins to lie by %s", l.Offset)
			w.doubts = append(w.doubts, doubt{now, now})
			w.watchLie(m, now, goOn)
			return
		}
		w.Loop.At(w.Loop.Now()+10*time.Millisecond, begin)
	}
	begin()
}

// watchLie follows the lie: until the fence, until its end, until no clock is false any more.
func (w *World) watchLie(m *Machine, began time.Duration, fenced func()) {
	over := began + w.Config.Lie.For
	stands, ended := false, false
	var watch func()
	watch = func() {
		now := w.Loop.Now()
		d := &w.doubts[len(w.doubts)-1]
		if !stands {
			d.to = now
			_, err := m.peek()
			switch {
			case m.Up() && err == clock.ErrFenced:
				stands = true
				w.probes["sim_liars_fenced_total"]++
				m.event("is fenced, %s after it began to lie", now-began)
				fenced()
			case now-began > w.Config.fenceLimit():
				w.wrong("%s lies by %s, all others serve, and it is not fenced after %s", m.Name, w.Config.Lie.Offset, now-began)
				return
			}
		}
		if stands && !ended && now > over {
			ended = true
			m.event("is honest again")
			m.Source.Set(w.Config.Clocks[m.Index])
		}
		if w.falseReading() {
			if now-d.to > 2*lieEvery {
				w.doubts = append(w.doubts, doubt{now - lieEvery, now})
			} else {
				d.to = now
			}
		}
		if now < over+w.Config.Lie.Offset.Abs()+10*time.Second {
			w.Loop.At(now+lieEvery, watch)
		}
	}
	watch()
}

func (w *World) allServe() bool {
	for _, m := range w.Machines[:len(w.Machines)-w.Config.Late] {
		if _, err := m.peek(); !m.Serving() || m.RT.Paused() || err != nil {
			return false
		}
	}
	return true
}

// falseReading reports whether any machine would now take a reading that does not hold true time.
func (w *World) falseReading() bool {
	for _, m := range w.Machines {
		if m.Up() && m.still.until == 0 {
			if iv, err := m.peek(); err == nil && (iv.Earliest > w.Truth() || iv.Latest < w.Truth()) {
				return true
			}
		}
	}
	return false
}

// peek takes a reading of the machine's clock that the machine knows nothing of.
func (m *Machine) peek() (clock.Interval, error) {
	if !m.Up() {
		return clock.Interval{}, clock.ErrUnknown
	}
	waiting := m.freeze
	m.freeze = freeze{}
	defer func() { m.freeze = waiting }()
	return m.Clock.Now()
}

// watchFence looks whether a node is fenced by the vote although its clock has always been within its bound (clock/F2).
func (w *World) watchFence(m *Machine) {
	m.lied = m.lied || m.Source.Conditions().Lying
	if !m.lied {
		if why, _ := m.Clock.Fenced(); why != "" {
			w.wrong("%s has an honest clock, and is fenced: %s", m.Name, why)
		}
	}
}

// wrong ends the run.
func (w *World) wrong(format string, args ...any) {
	if w.failure == nil {
		w.failure = fmt.Errorf(format, args...)
		w.event("%v", w.failure)
	}
}

// excuse takes from the history what is not guaranteed while a clock lies that nobody has fenced yet. Let δ be the lie, and D the time from
// the first false reading of any clock to the last, and δ more: leases and support that were judged by a false reading overlap with
// others for up to δ. A transaction in D may miss what was acknowledged up to δ before (rule 1), and what is acknowledged in D
// may be missed for up to δ (rule 2). So an operation that overlaps D counts as one that began δ before D, or earlier, and ended δ
// after it, or later: whatever order real time gave it with operations that end before or begin after that still holds, as
// does every order among those that do not overlap D. What they read and wrote stays as it is, and has to be serializable.
func (w *World) excuse() {
	δ := w.Config.Lie.Offset.Abs() + 2*lieEvery
	for _, o := range w.history.ops {
		open := o.Outcome == check.Unknown
		began, ended := w.history.times[o.Invoke-1], time.Duration(math.MaxInt64)
		if !open {
			ended = w.history.times[o.Return-1]
		}
		for _, d := range w.doubts {
			to := d.to + δ
			if began > to || ended < d.from {
				continue
			}
			w.excused++
			o.Invoke = min(o.Invoke, max(1, w.history.at(d.from-δ)))
			if !open {
				o.Return = max(o.Return, w.history.at(to+δ)+1)
			}
		}
	}
}

// at is the last rank given before a time.
func (h *History) at(t time.Duration) int64 {
	i, _ := slices.BinarySearch(h.times, t)
	return int64(i)
}
