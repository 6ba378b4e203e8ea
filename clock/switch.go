package clock

import (
	"fmt"
	"io"
	"time"
)

// Reference is what a source takes true time to be. Intervals contain one true time, whatever it is; sources that mean
// different ones must not be in use in one cluster at the same time.
type Reference uint8

// The references.
const (
	UTC     Reference = iota // what measured sources are about
	Fastest                  // static:D: the fastest clock of the cluster
	Either                   // an interval that is wide enough for both: see Bridge
)

func (r Reference) String() string {
	return [...]string{"UTC", "the fastest clock of the cluster", "either UTC or the fastest clock of the cluster"}[r]
}

// ReferenceOf says what a source takes true time to be. A static source means the fastest clock, unless its offset makes it
// one about UTC: [wall-D/2, wall+D/2], or one that contains both.
func ReferenceOf(s Source) Reference {
	st, ok := s.(Static)
	switch {
	case !ok:
		return UTC
	case st.Offset == -st.D/2:
		return UTC
	case st == Bridge(st.D/3*2):
		return Either
	}
	return Fastest
}

// Bridge is the source by which a cluster changes from one reference to the other: [wall-D/2, wall+D]. All clocks within
// ±D/2 of UTC, and so within D of each other, are what static:D assumes; then UTC is in [wall-D/2, wall+D/2] and the
// fastest clock in [wall, wall+D].
func Bridge(d time.Duration) Static { return Static{D: d/2 + d, Offset: -(d / 2)} }

// SwitchError says why a source was not taken. The clock goes on with the one that it had.
type SwitchError struct{ From, To, Why, Hint string }

func (e *SwitchError) Error() string {
	return fmt.Sprintf("the clock source stays %s: %s cannot take its place: %s\nhint: %s", e.From, e.To, e.Why, e.Hint)
}

// Switch replaces the source of a clock in use, without a moment in which a reading could be wrong if both sources are
// honest. The order matters:
//
//  1. The new source is asked first. Unless it answers, synchronised and within the maximum uncertainty, nothing changes:
//     a clock is never without a source that works because of an attempt.
//  2. Both mean the same true time, or one of them contains both (ReferenceOf): an interval about the fastest clock
//     says nothing about UTC. One that contains both has to be in use for D before it is left, because the floor is from
//     before: an earliest that the fastest clock had passed UTC may not have, for up to D.
//  3. What the old source says, grown to now, and what the new one says intersect. If they do not, one of them is false,
//     and which one nobody here can tell.
//  4. The floor goes up to the old earliest before the new anchor takes its place (T3, replace). Earliest does not go
//     back; latest comes from the new anchor alone (T4).
//
// A clock that its peers have fenced, or that is disrupted or unknown, has no anchor that proves anything. Then 3 is left
// out, and the new source comes into use as after a disruption: with the first sample that rests on something learned
// since. The floor still holds, so a clock that was ahead waits until true time has come that far.
//
// If Switch fails the new source is closed, otherwise the old one.
func (c *Clock) Switch(src Source) error {
	p := &c.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.src
	if err := c.takeOver(src); err != nil {
		shut(src)
		return err
	}
	shut(old)
	c.opts.Log.Warn("clock source changed", "was", old.String(), "is", src.String())
	c.logState()
	return nil
}

func (c *Clock) takeOver(src Source) error {
	p := &c.poll
	refuse := func(hint, why string, args ...any) error {
		return &SwitchError{From: p.src.String(), To: src.String(), Why: fmt.Sprintf(why, args...), Hint: hint}
	}
	if was, is := ReferenceOf(p.src), ReferenceOf(src); was != is && was != Either && is != Either {
		return refuse("let every node of the cluster use `"+Bridge(staticOf(p.src, src)).String()+"` for a while, and then change to "+src.String()+"; see docs/time.md",
			"the one takes true time to be %s, the other %s", was, is)
	}
	if left := c.bridgeLeft(); left > 0 && ReferenceOf(src) != Either { // 2
		return refuse("try again in "+left.String(), "what was past under the other meaning of true time has to be past under both, which takes %s more", left)
	}
	s, err := src.Read(p.host) // 1
	if what, yes := p.host.disruption(); yes {
		_ = c.disrupt(what)
		return refuse("try again", "%s while the new source was asked", what)
	}
	if err == nil {
		err = s.check()
	}
	const ask = "see `longitude clock sources`"
	switch {
	case err != nil:
		return refuse(ask, "it does not answer: %v", err)
	case s.State != Synchronized:
		return refuse(ask, "it is %s: %s", s.State, s.Why)
	}
	if limit := c.opts.MaxUncertainty; limit > 0 && !newAnchor(s, limit).usable() {
		return refuse("choose a better source, or start the node with a higher --max-uncertainty",
			"its interval is %s wide; the maximum uncertainty is %s", s.Latest.Sub(s.Earliest), limit)
	}
	fenced, _ := c.Fenced()
	if held := p.last; held != nil && fenced == "" { // 3
		was, is := held.at(min(int64(s.Mono)-held.taken, int64(MaxAge))), Interval{s.Earliest, s.Latest}
		if was.Latest < is.Earliest || is.Latest < was.Earliest {
			return refuse("compare both with a third clock; to give up the old one, restart the node with --clock "+src.String(),
				"the two contradict each other: %s now, %s then", was, is)
		}
		if f := Instant(c.floor.Load()); is.Latest < f {
			return refuse("try again in "+f.Sub(is.Latest).String(), "its latest is before an earliest that was given out, by %s", f.Sub(is.Latest))
		}
		c.use(src, 0, 0) // the axis of Sample.Update is the source's own
		_ = c.accept(s)  // 4; a reader that raises the floor above it meanwhile makes it a disruption, which passes
		return nil
	}
	c.use(src, s.Update, s.UpdateLag)
	_ = c.disrupt("the source was changed while the one before was not believed")
	return nil
}

// use makes a source the one that is polled.
func (c *Clock) use(src Source, update, lag int64) {
	p := &c.poll
	if ReferenceOf(src) == Either && ReferenceOf(p.src) != Either {
		c.bridged = p.host.Mono()
	}
	p.src, p.newest, p.lag = src, update, lag
}

// bridgeLeft is for how long a source that contains both references has to stay in use.
func (c *Clock) bridgeLeft() time.Duration {
	p := &c.poll
	st, ok := p.src.(Static)
	if !ok || ReferenceOf(st) != Either {
		return 0
	}
	d := st.D / 3 * 2
	return c.bridged + d + d/1000 - p.host.Mono() // the monotonic clock may run fast
}

// staticOf is the D of whichever of the two is static.
func staticOf(a, b Source) time.Duration {
	for _, s := range []Source{a, b} {
		if st, ok := s.(Static); ok && ReferenceOf(s) == Fastest {
			return st.D
		}
	}
	return 0
}

func shut(src Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close()
	}
}
