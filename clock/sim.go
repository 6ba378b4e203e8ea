package clock

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Conditions are how a simulated clock is. The zero value is a perfect one.
type Conditions struct {
	// Offset is what the clock shows minus true time, and Drift (ppb) how fast that grows from the moment that the
	// conditions hold.
	Offset time.Duration
	Drift  int64
	// Bound is the half width that the clock reports, and Widen (ppb) how fast that grows.
	Bound time.Duration
	Widen int64
	// Lying: the reported interval is [shown - Bound, shown + Bound], whether or not true time is in it. An honest clock widens its
	// bound where that is needed to contain true time.
	Lying bool
	// State is what the source says of itself; Unknown here means Synchronized, so that it need not be set.
	State State
	// Lost: the source does not answer.
	Lost bool
}

// Sim is a source with a chosen error, for tests, benchmarks and demonstrations. Its true time is the machine's system
// clock, or a function given to it. Conditions can be changed at any moment, or by a schedule.
type Sim struct {
	mu    sync.Mutex
	truth func() Instant // nil: the system clock
	now   Conditions
	since Instant // true time since which now holds; 0: it has not been used yet
	plan  []planned
	reads int64

	page       *sharedPage // the hypervisor's; nil: there is none (Mark)
	everywhere bool        // readers look at it, not only the poller
	disruption uint64      // its marker
	told       uint64      // what the source has told of it

	monoBase, monoExtra time.Duration // see Mono
	monoOf              func() time.Duration
}

type planned struct {
	at Instant
	c  Conditions
}

// NewSim makes a simulated source. truth is ground truth; nil means the system clock.
func NewSim(c Conditions, truth func() Instant) *Sim { return &Sim{now: c, truth: truth} }

// Set changes the conditions at once (seen by the next poll).
func (s *Sim) Set(c Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change(c, 0)
}

// At changes the conditions once true time has reached t. What is planned first holds until what is planned later.
func (s *Sim) At(t Instant, c Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.plan, t, func(p planned, t Instant) int { return int(min(1, max(-1, p.at-t))) })
	for i < len(s.plan) && s.plan[i].at == t {
		i++
	}
	s.plan = slices.Insert(s.plan, i, planned{t, c})
}

// Conditions returns those that hold.
func (s *Sim) Conditions() Conditions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *Sim) change(c Conditions, at Instant) {
	s.foldMono()
	s.now, s.since = c, at
}

// Read implements Source.
func (s *Sim) Read(h *Host) (Sample, error) {
	var p Pair
	if s.truth != nil {
		t := s.truth()
		p = Pair{Mono: h.Mono(), Earliest: t, Latest: t}
	} else {
		p = h.Pair()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.plan) > 0 && s.plan[0].at <= p.Earliest {
		s.change(s.plan[0].c, s.plan[0].at)
		s.plan = s.plan[1:]
	}
	if s.since == 0 {
		s.since = p.Earliest
	}
	if s.now.Lost {
		return Sample{}, fmt.Errorf("the simulated source is lost")
	}
	s.reads++
	if s.told != s.disruption {
		s.told = s.disruption
		return Sample{State: Disrupted, Update: s.reads, Why: "the simulated hypervisor says so"}, nil
	}
	shift, bound := s.now.error(p.Earliest.Sub(s.since))
	state := s.now.State
	if state == Unknown {
		state = Synchronized
	}
	sample := Sample{
		State: state, Mono: p.Mono, Earliest: p.Earliest.Add(shift - bound), Latest: p.Latest.Add(shift + bound),
		Rate: s.rate(), Update: s.reads, Why: s.why(),
	}
	if s.everywhere {
		sample.marker = s.page.marker(vmPage{disruption: s.disruption})
	}
	return sample, nil
}

// Mark gives the simulated machine a hypervisor that tells of disruptions (Disrupt). With everywhere its marker is looked at with
// every reading, as in production; without it by the poller alone, which leaves up to a poll's worth of false readings: that is for
// negative controls.
func (s *Sim) Mark(everywhere bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page, s.everywhere = &sharedPage{words: new([vmclockBytes / 8]uint64)}, everywhere
}

// Disrupt is what a hypervisor does before a machine runs again that has lost time. Without Mark nobody is told.
func (s *Sim) Disrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page != nil {
		s.disruption++
		atomic.StoreUint64(&s.page.words[vmclockMarker/8], swapLittle(s.disruption))
	}
}

// error is the shift and the half width after the conditions have held for d.
func (c Conditions) error(d time.Duration) (shift, bound time.Duration) {
	sec := d.Seconds()
	shift = c.Offset + time.Duration(float64(c.Drift)*sec)
	bound = c.Bound + time.Duration(float64(c.Widen)*sec)
	if !c.Lying {
		bound = max(bound, shift.Abs())
	}
	return shift, max(bound, 0)
}

// rate is the growth between answers: an honest clock allows for the drift that its oscillator has.
func (s *Sim) rate() int64 {
	r := int64(DefaultDrift)
	if !s.now.Lying {
		r += max(s.now.Drift, -s.now.Drift)
	}
	return min(r, MaxRate)
}

func (s *Sim) why() string {
	if s.now.State == Disrupted {
		return "the simulated source says so"
	}
	return "simulated"
}

// Mono makes the monotonic clock of a machine whose oscillator has the drift of the conditions, from one that has none:
// for Options.Mono. A lying drift beyond DefaultDrift then breaks the bound while the source is lost.
func (s *Sim) Mono(base func() time.Duration) func() time.Duration {
	s.mu.Lock()
	s.monoOf, s.monoBase = base, base()
	s.mu.Unlock()
	return func() time.Duration {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := base()
		return n + s.monoExtra + s.drifted(n)
	}
}

// drifted is the error of the monotonic clock since the conditions last changed.
func (s *Sim) drifted(n time.Duration) time.Duration {
	return time.Duration(float64(s.now.Drift) * (n - s.monoBase).Seconds())
}

func (s *Sim) foldMono() {
	if s.monoOf != nil {
		n := s.monoOf()
		s.monoExtra += s.drifted(n)
		s.monoBase = n
	}
}

func (s *Sim) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "sim:eps=%s", s.now.Bound)
	if s.now.Offset != 0 {
		fmt.Fprintf(&b, ",offset=%s", s.now.Offset)
	}
	if s.now.Drift != 0 {
		fmt.Fprintf(&b, ",drift=%gppm", float64(s.now.Drift)/1000)
	}
	if s.now.Widen != 0 {
		fmt.Fprintf(&b, ",widen=%gppm", float64(s.now.Widen)/1000)
	}
	if s.now.Lying {
		b.WriteString(",lying")
	}
	if s.now.Lost {
		b.WriteString(",lost")
	}
	return b.String()
}
