package clock

import (
	"fmt"
	"math"
	"time"

	"github.com/facebook/time/ntp/chrony"
)

const (
	leapNone           = 0
	leapInsert         = 1
	leapDelete         = 2
	leapUnsynchronized = 3

	localReference = 0x7F7F0101 // chronyd's own clock, by its `local` directive
	// wireError covers the rounding of the protocol's floating point numbers (25 bits).
	wireError = 1 + 1.0/(1<<23)
	// fuzz is how far back chronyd moves reference times, to make them useless to attackers.
	fuzz = time.Second
	// leapFence is how long before the end of a day with a leap second readings stop.
	leapFence = 3 * time.Second
	maxBound  = time.Hour
)

// judge turns chronyd's answer into a sample. p was paired before the question. It does no I/O; its only memory is whether
// a leap second is being fenced off.
//
// Half width: E = root delay / 2 + root dispersion at the answer; c is what chronyd still has to slew. Since it slews
// monotonically towards c = 0, true time is in [wall + min(c,0) - E, wall + max(c,0) + E] all the while: the hull of
// before and after.
func (c *Chrony) judge(p Pair, t *chrony.Tracking) (Sample, error) {
	// The order matters: an unsynchronised daemon fills the other fields with real-looking numbers.
	switch {
	case t.LeapStatus == leapUnsynchronized:
		return Sample{}, fmt.Errorf("chronyd is not synchronised (stratum %d, reference %08X)", t.Stratum, t.RefID)
	case t.LeapStatus > leapUnsynchronized:
		return Sample{}, fmt.Errorf("chronyd's leap status %d is not defined", t.LeapStatus)
	case t.RefID == localReference:
		// Its delay and dispersion are 0: a bound of a microsecond on a clock that nobody disciplines.
		return Sample{}, fmt.Errorf("chronyd follows its own clock (`local` in chrony.conf): its bound is meaningless; remove the directive")
	case t.Stratum < 1 || t.Stratum > c.Stratum:
		return Sample{}, fmt.Errorf("chronyd's stratum %d is not in 1..%d: it may descend from a server without reference", t.Stratum, c.Stratum)
	}
	for _, f := range []float64{t.CurrentCorrection, t.RootDelay, t.RootDispersion, t.SkewPPM, t.ResidFreqPPM, t.LastUpdateInterval} {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Sample{}, fmt.Errorf("chronyd's answer holds a number that is not finite")
		}
	}
	switch {
	case t.RootDelay < 0 || t.RootDispersion < 0 || t.SkewPPM < 0:
		return Sample{}, fmt.Errorf("chronyd's delay %g, dispersion %g or skew %g is negative", t.RootDelay, t.RootDispersion, t.SkewPPM)
	case t.LastUpdateInterval <= 0:
		return Sample{}, fmt.Errorf("chronyd has had only one update since it started")
	}
	e := (t.RootDelay/2 + t.RootDispersion) * wireError
	corr := t.CurrentCorrection * wireError
	if e <= 0 {
		return Sample{}, fmt.Errorf("chronyd claims an error of 0")
	}
	if e+math.Abs(corr) > maxBound.Seconds() {
		return Sample{}, fmt.Errorf("chronyd's error %gs or correction %gs is beyond %s", e, corr, maxBound)
	}
	rate := float64(c.Drift+c.Slew) + math.Ceil(1000*(t.SkewPPM+math.Abs(t.ResidFreqPPM)))
	if rate > MaxRate {
		return Sample{}, fmt.Errorf("chronyd's frequency is known only to %.0f ppm", t.SkewPPM+math.Abs(t.ResidFreqPPM))
	}
	if sec := t.RefTime.Unix(); sec < 0 || sec > 1<<33 {
		return Sample{}, fmt.Errorf("chronyd's reference time %d s is out of range", sec)
	}
	age := p.Latest.Sub(Instant(t.RefTime.UnixNano()))
	if age < -fuzz {
		return Sample{}, fmt.Errorf("chronyd's reference time is %s in the future: the system clock was stepped back", -age)
	}
	s := Sample{
		State: Synchronized, Mono: p.Mono, Rate: int64(rate), Update: t.RefTime.UnixNano(),
		Earliest: p.Earliest.Add(-nanosUp(e) - nanosUp(max(0, -corr)) - c.Margin),
		Latest:   p.Latest.Add(nanosUp(e) + nanosUp(max(0, corr)) + c.Margin),
		Why:      fmt.Sprintf("stratum %d, reference %08X, correction %s", t.Stratum, t.RefID, nanosUp(t.CurrentCorrection)),
	}
	c.leaping = t.LeapStatus != leapNone && (c.leaping || endsDay(s.Latest))
	if c.leaping {
		// Around the leap the daemons of the cluster step at different moments, each with a small bound.
		s.State, s.Why = Disrupted, "a leap second is about to be stepped over"
		return s, nil
	}
	if old := time.Duration(min(8*t.LastUpdateInterval+2, 1e8) * 1e9); age > old {
		// chronyd goes on saying "synchronised" after it lost its last source, and lets the dispersion grow, honestly.
		s.State = FreeRunning
		s.Why = fmt.Sprintf("chronyd has had no update for %s (usual: %.0f s)", age.Round(time.Second), t.LastUpdateInterval)
	}
	return s, nil
}

// endsDay reports whether the instant is within leapFence of the end of a UTC day.
func endsDay(i Instant) bool {
	day := int64(24 * time.Hour)
	return day-int64(i)%day <= int64(leapFence)
}

func nanosUp(seconds float64) time.Duration { return time.Duration(math.Ceil(seconds * 1e9)) }
