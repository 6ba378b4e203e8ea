package clock

import "time"

// anchor is a sample in the form in which readers use it. It is immutable once published.
type anchor struct {
	mono   int64 // ns; noReading in an anchor without reading, so that every age is negative
	lo, hi int64 // ns since the Unix epoch, at mono
	k      int64 // rate in 2^-30, rounded up
	// limit is the age (ns) up to which there is a reading: not void, and not wider than allowed. It is unsigned so that
	// one comparison also catches negative ages.
	limit uint64
	// bridge marks the anchor that stands for its predecessor while that is being replaced: see Clock.publish.
	bridge bool
	marker *marker // what readers look at (M1); nil: nothing

	state      State
	refusal    *Unavailable // of an anchor without reading, and of a reading past limit
	freshUntil int64        // age in ns at which Synchronized becomes FreeRunning
	rate       int64
	why        string
	taken      int64 // when it was made: mono, also in an anchor that is too wide to read
}

const noReading = 1<<63 - 1

// dead is an anchor without reading.
func dead(s State, refusal *Unavailable, why string) *anchor {
	return &anchor{mono: noReading, state: s, refusal: refusal, why: why}
}

func (a *anchor) usable() bool { return a.mono != noReading }

// newAnchor makes an anchor of a valid sample. maxWidth 0 means no limit.
func newAnchor(s Sample, maxWidth time.Duration) *anchor {
	a := &anchor{
		mono: int64(s.Mono), lo: int64(s.Earliest), hi: int64(s.Latest), taken: int64(s.Mono),
		k: rateFactor(s.Rate), rate: s.Rate, state: s.State, why: s.Why, marker: s.marker,
		freshUntil: int64(DefaultFreshFor), limit: uint64(MaxAge), refusal: ErrUnknown,
	}
	if s.FreshFor > 0 {
		a.freshUntil = int64(s.FreshFor)
	}
	if s.ValidFor > 0 && s.ValidFor < MaxAge {
		a.limit = uint64(s.ValidFor)
	}
	if maxWidth > 0 {
		if age, reached := a.ageAtWidth(int64(maxWidth)); reached && age < 0 {
			a.mono, a.refusal = noReading, ErrFenced
		} else if reached && uint64(age) < a.limit {
			a.limit, a.refusal = uint64(age), ErrFenced
		}
	}
	return a
}

// rateFactor is ceil(ppb * 2^30 / 1e9).
func rateFactor(ppb int64) int64 { return (ppb<<30 + 999_999_999) / 1_000_000_000 }

// growth is how much each end has moved outward at an age: age times rate, rounded up. It does not overflow for ages up
// to MaxAge and rates up to MaxRate.
func (a *anchor) growth(age int64) int64 { return (age*a.k)>>30 + 1 }

// at is the reading at an age in [0, limit], before the ratchet.
func (a *anchor) at(age int64) Interval {
	g := a.growth(age)
	return Interval{Instant(a.lo + age - g), Instant(a.hi + age + g)}
}

// ageAtWidth is the last age at which the reading is at most w wide; it is -1 if it is wider from the start, and not
// reached if rate and MaxAge keep it below.
func (a *anchor) ageAtWidth(w int64) (age int64, reached bool) {
	if a.hi-a.lo+2*a.growth(int64(MaxAge)) <= w {
		return 0, false
	}
	low, high := int64(-1), int64(MaxAge) // width(low) <= w < width(high), width(-1) taken as 0
	for high-low > 1 {
		mid := low + (high-low)/2
		if a.hi-a.lo+2*a.growth(mid) <= w {
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}

// stateAt is the state at an age.
func (a *anchor) stateAt(age int64) State {
	switch {
	case !a.usable():
		return a.state
	case uint64(age) > a.limit:
		return Unknown
	case age > a.freshUntil:
		return FreeRunning
	}
	return a.state
}
