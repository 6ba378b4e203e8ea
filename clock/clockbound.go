package clock

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// ClockBound reads what AWS's ClockBound daemon writes into shared memory ten times a second: layout version 2 (releases
// 2.x; release 3 goes on writing it) and version 1 (release 1.x). The daemon asks chronyd and computes the bound; it is not
// asked anything, so a poll costs a few hundred nanoseconds.
//
// HAZARD: as for Chrony; and the daemon must be told the drift of the oscillator (--max-drift-rate 50), since its default of
// 1 ppm is too little. Drift here makes up for it only from the daemon's last answer on.
type ClockBound struct {
	// Path of the segment; empty: /var/run/clockbound/shm0, then /var/run/clockbound/shm.
	Path string
	// Drift (ppb) is what the oscillator may be off; the daemon's own figure counts if it is higher.
	Drift int64
	// Slew (ppb) is chronyd's maxslewrate, as of Chrony.
	Slew int64
	// Margin widens the bound on each side.
	Margin time.Duration
	// Fresh is the age from which the daemon's figures are free running: 5 s for daemons that ask chronyd all the time
	// (2.x), 60 s for one that learns something only at each poll of its servers (3.x).
	Fresh time.Duration
	// Settle is how long after a disruption the daemon's figures are not believed, unless it has noticed the disruption itself.
	// It says that they are of now, but they come from chronyd, which may not have heard from a server since.
	Settle time.Duration
	// VMClock is the hypervisor's page; empty: /dev/vmclock0 if there is one; "off": none.
	VMClock string

	vm      vmclock
	mapped  [2]mapping
	leaping bool
	seen    bool
	marker  uint64 // of the last segment
	detail  Detail
}

// Defaults of ClockBound.
const (
	DefaultBoundFresh = 5 * time.Second
	// DefaultSettle is longer than chronyd's interval between polls as AWS sets it up (16 s).
	DefaultSettle = 20 * time.Second
)

// segmentPaths are where daemons put the segment, by version: newest first.
var segmentPaths = [2]string{"/var/run/clockbound/shm0", "/var/run/clockbound/shm"}

// NewClockBound makes a source with the defaults.
func NewClockBound(path string) *ClockBound {
	return &ClockBound{Path: path, Drift: DefaultDrift, Slew: DefaultSlew, Fresh: DefaultBoundFresh, Settle: DefaultSettle}
}

func parseClockBound(rest string) (Source, error) {
	path, opts, _ := strings.Cut(rest, ",")
	if path != "" && path[0] != '/' {
		return nil, fmt.Errorf("%q is not an absolute path", path)
	}
	c := NewClockBound(path)
	return c, options(opts, map[string]func(string) error{
		"drift": ppb(&c.Drift, 0, MaxRate/4), "slew": ppb(&c.Slew, 0, MaxRate/2), "margin": nonNegative(&c.Margin),
		"fresh": nonNegative(&c.Fresh), "settle": nonNegative(&c.Settle), "vmclock": vmclockPath(&c.VMClock),
	})
}

// Read implements Source. The wall clock is read after the segment, so that the daemon's bound is older than the pair and
// grows up to it; the hypervisor's marker after both.
func (c *ClockBound) Read(h *Host) (Sample, error) {
	c.vm.path = c.VMClock
	s, err := c.vm.guard(func() (Sample, error) { return c.read(h) })
	c.detail.VMClock = c.vm.say
	return s, err
}

func (c *ClockBound) read(h *Host) (Sample, error) {
	seg, err := c.load()
	if errors.Is(err, errSegment) {
		return Sample{State: Unknown, Why: err.Error()}, nil
	}
	if err != nil {
		return Sample{}, err
	}
	p := h.Pair()
	now, err := h.machine()
	if err != nil {
		return Sample{}, err
	}
	c.detail.DataAge = max(0, now-seg.asOf)
	return c.judge(p, now, seg, h.leapArmed()), nil
}

// load copies the segment. Absence, a torn write and a segment that is being made are errors: nothing was learned.
func (c *ClockBound) load() (segment, error) {
	var absent error
	for i, path := range c.paths() {
		m := &c.mapped[i]
		m.path = path
		err := m.open(segmentBytesV1)
		if errors.Is(err, fs.ErrNotExist) {
			absent = errors.Join(absent, err)
			continue
		}
		if err != nil {
			return segment{}, err
		}
		var b [segmentBytes]byte // a page is mapped: what is behind the end of a file of version 1 reads as 0
		if err := m.copy(b[:], segmentSeq, segmentNumber); err != nil {
			return segment{}, err
		}
		s, err := parseSegment(b[:])
		if err != nil {
			return segment{}, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
	return segment{}, absent
}

// paths are where the segment may be, at most one for each mapping.
func (c *ClockBound) paths() []string {
	if c.Path != "" {
		return []string{c.Path}
	}
	return segmentPaths[:]
}

// judge turns a segment into a sample, as of the pair; now is the machine's monotonic clock, read after it.
func (c *ClockBound) judge(p Pair, now time.Duration, seg segment, leap bool) Sample {
	moved := c.seen && seg.marker != c.marker
	was := c.marker
	c.seen, c.marker = true, seg.marker
	// What the daemon knows of a disruption it has told chronyd, and its next answer is from after it. Of others it does not.
	s := Sample{State: Synchronized, Mono: p.Mono, Update: int64(seg.asOf), UpdateLag: int64(c.Settle)}
	refuse := func(state State, why string, args ...any) Sample {
		s.State, s.Why = state, fmt.Sprintf(why, args...)
		return s
	}
	switch {
	case seg.status == boundDisrupted:
		s.UpdateLag = 0
		return refuse(Disrupted, "ClockBound says that time was disrupted (marker %d)", seg.marker)
	case moved:
		s.UpdateLag = 0
		return refuse(Disrupted, "ClockBound has seen the hypervisor's disruption marker go from %d to %d", was, seg.marker)
	case seg.watched && c.vm.known && seg.marker != c.vm.last.disruption:
		s.UpdateLag = 0
		return refuse(Disrupted, "the hypervisor's disruption marker is %d, ClockBound has only seen %d", c.vm.last.disruption, seg.marker)
	case seg.status == boundUnknown:
		return refuse(Unknown, "ClockBound does not know the time: chronyd is not synchronised or does not answer")
	case seg.asOf > now+time.Microsecond:
		return refuse(Unknown, "ClockBound's segment is from the future: of %s, now is %s", seg.asOf, now)
	case now >= seg.voidAfter || now-seg.asOf > MaxAge:
		return refuse(Unknown, "ClockBound's segment is void: it has not been renewed for %s", (now - seg.asOf).Round(time.Second))
	}
	drift := max(c.Drift, seg.drift)
	s.Rate = drift + c.Slew
	if s.Rate > MaxRate {
		return refuse(Unknown, "ClockBound knows the frequency only to %d ppm", seg.drift/1000)
	}
	// Since the daemon asked, the oscillator has drifted, and chronyd may have turned to a worse estimate and slewed the clock to it.
	b := time.Duration(seg.boundAt(now, s.Rate)) + c.Margin
	s.Earliest, s.Latest = p.Earliest.Add(-b), p.Latest.Add(b)
	age := now - seg.asOf
	s.FreshFor, s.ValidFor = max(1, min(DefaultFreshFor, c.Fresh-age)), max(1, seg.voidAfter-now)
	s.Why = fmt.Sprintf("ClockBound, layout version %d: ±%s as of %s ago", seg.version, time.Duration(seg.bound), age.Round(time.Millisecond))
	c.leaping = leap && (c.leaping || endsDay(s.Latest))
	switch {
	case c.leaping:
		return refuse(Disrupted, "a leap second is about to be stepped over")
	case seg.status == boundFreeRunning:
		return refuse(FreeRunning, "ClockBound is free running: chronyd has learned nothing for %s", age.Round(time.Millisecond))
	case age > c.Fresh:
		return refuse(FreeRunning, "ClockBound's segment has not been renewed for %s", age.Round(time.Millisecond))
	}
	return s
}

// Detail implements Detailed.
func (c *ClockBound) Detail() Detail { return c.detail }

// Close implements io.Closer. A later Read maps the segment again.
func (c *ClockBound) Close() error {
	c.vm.close()
	for i := range c.mapped {
		c.mapped[i].close()
	}
	return nil
}

func (c *ClockBound) String() string {
	b := spec("clockbound", c.Path)
	b.rate("drift", c.Drift, DefaultDrift).rate("slew", c.Slew, DefaultSlew).duration("margin", c.Margin, 0)
	b.duration("fresh", c.Fresh, DefaultBoundFresh).duration("settle", c.Settle, DefaultSettle).text("vmclock", c.VMClock)
	return b.String()
}
