package clock

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Clock. The zero value is right for production.
type Options struct {
	// MaxUncertainty is the width (latest - earliest) above which Now refuses with ErrFenced. 0: DefaultMaxUncertainty;
	// negative: no limit. Wider means longer commit waits; it weakens no guarantee.
	MaxUncertainty time.Duration
	// PollInterval is the time between two polls by Start. 0: 100 ms. Shorter keeps the interval narrower between polls
	// and notices steps of the system clock sooner.
	PollInterval time.Duration
	// Mono is the monotonic clock, for simulation; nil: the machine's. It must never go back.
	Mono func() time.Duration
	// Wall is the system clock as sources see it, for tests; nil: the machine's.
	Wall func() Instant
	// Boot is a monotonic clock that also runs while the machine is suspended, for tests; nil: the machine's, or none if
	// Mono is set. The bool is false if there is none.
	Boot func() (time.Duration, bool)
	// Log gets a line when the state changes and when a peer is first contradicted; nil: nothing.
	Log *slog.Logger
}

// DefaultMaxUncertainty is twice the widest interval in ordinary use (static:500ms).
const DefaultMaxUncertainty = time.Second

// Clock gives readings. It is used by any number of goroutines.
type Clock struct {
	mono func() time.Duration // nil: time.Since(base)
	base time.Time
	// anchor is what readings are computed from. Invariant: never nil.
	anchor atomic.Pointer[anchor]
	// floor is the ratchet (T3, T5): no reading is earlier. It only grows.
	floor atomic.Int64

	poll  poller
	peers peers
	// suspected are the peers whose readings do not raise the floor (Suspect); nil: none.
	suspected atomic.Pointer[[]uint32]
	fence     fence
	// reported is what the source last said, also if readings are refused: what peers judge this clock by (ReportedInterval). nil: nothing.
	reported atomic.Pointer[anchor]
	widths   widths
	bridged  time.Duration // when a source that contains both references came into use (Switch); poll.mu guards it
	asserted asserted      // checks of the build tag invariants

	opts Options
	stop func()
	life sync.Mutex
}

// New makes a clock that has no reading until Poll or Start has asked the source.
func New(src Source, o Options) *Clock {
	if o.MaxUncertainty == 0 {
		o.MaxUncertainty = DefaultMaxUncertainty
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 100 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Boot == nil && o.Mono == nil {
		o.Boot = bootTime
	}
	c := &Clock{mono: o.Mono, base: time.Now(), opts: o}
	c.poll.src = src
	c.poll.host = &Host{base: c.base, mono: o.Mono, wall: o.Wall, boot: o.Boot}
	c.peers.reported, c.peers.readings = map[uint32]*conflictCount{}, map[uint32]*conflictCount{}
	c.anchor.Store(dead(Unknown, ErrUnknown, "the source has not been asked yet"))
	return c
}

// now is the monotonic clock. time.Since on a base made with the clock costs one vDSO call, and works in a synctest bubble.
func (c *Clock) now() int64 {
	if c.mono != nil {
		return int64(c.mono())
	}
	return int64(time.Since(c.base))
}

// Now takes a reading. It does not block, does not allocate, and costs less than time.Now. The error is ErrUnknown,
// ErrDisrupted or ErrFenced; Status tells why.
func (c *Clock) Now() (Interval, error) { return c.asserted.read(c) }

func (c *Clock) read() (Interval, error) {
	a := c.anchor.Load() // before the monotonic clock, so that the age is not negative
	if a.marker != nil && a.marker.changed() {
		return c.disturbed(a)
	}
	age := c.now() - a.mono
	if a.marker != nil && a.marker.changed() { // M1
		return c.disturbed(a)
	}
	if uint64(age) > a.limit {
		return c.refuse(a)
	}
	g := a.growth(age)
	e, l := a.lo+age-g, a.hi+age+g
	if a.bridge || c.anchor.Load() != a {
		// The anchor is being replaced: what this reading says about the past has to reach the floor before its
		// successor is read (T3).
		c.raise(e)
	}
	if f := c.floor.Load(); f > e {
		if f > l {
			return c.overtaken()
		}
		e = f
	}
	return Interval{Instant(e), Instant(l)}, nil
}

// disturbed is called where the hypervisor's marker is not the one that the anchor was made under: the machine has lost time. Only an
// anchor that was made since gives readings.
func (c *Clock) disturbed(a *anchor) (Interval, error) {
	if c.anchor.Load() != a {
		return c.read()
	}
	return Interval{}, ErrDisrupted
}

// overtaken is called where the floor is above latest (T2). If the floor rose after the monotonic clock was read, because
// this goroutine was off the processor in between, a new reading is all that is needed. If it was there before, the anchor
// contradicts what was read or learned from peers earlier, and one of them is false.
func (c *Clock) overtaken() (Interval, error) {
	f := c.floor.Load()
	a := c.anchor.Load()
	age := c.now() - a.mono
	if uint64(age) <= a.limit && Instant(f) > a.at(age).Latest && c.anchor.Load() == a {
		return Interval{}, ErrDisrupted
	}
	return c.read()
}

// refuse says why the anchor gives no reading, unless it has been replaced meanwhile.
func (c *Clock) refuse(a *anchor) (Interval, error) {
	if c.anchor.Load() != a {
		return c.read()
	}
	if a.usable() && c.now() < a.mono {
		panic(fmt.Sprintf("clock: the monotonic clock went back: anchor made at %d, now %d", a.mono, c.now()))
	}
	return Interval{}, a.refusal
}

// raise lifts the floor to at least e.
func (c *Clock) raise(e int64) {
	for f := c.floor.Load(); f < e; f = c.floor.Load() {
		if c.floor.CompareAndSwap(f, e) {
			return
		}
	}
}

// publish makes an anchor what readings are computed from, unless the clock is fenced.
func (c *Clock) publish(next *anchor) {
	c.fence.mu.Lock()
	defer c.fence.mu.Unlock()
	if c.fence.why != "" {
		next = dead(next.state, ErrFenced, c.fence.why)
	}
	c.replace(next)
}

// replace replaces the anchor so that earliest does not go back (T3), without readers ever waiting:
//
//  1. A copy of the old anchor marked bridge takes its place. Who read the old one sees that it is still there (so the
//     reading was taken before step 2), or raises the floor himself. Who reads the bridge raises the floor.
//  2. The floor is raised to what the old anchor says now. It is no lower than any reading that was checked in step 1.
//  3. The new anchor takes its place. Its readings are no lower than the floor.
//
// Raising the floor only after step 3 would let a reading of the new anchor, taken in between, be earlier than one of
// the old anchor that somebody already has.
//
// The caller holds fence.mu: two replacements at once would not be covered by this argument.
func (c *Clock) replace(next *anchor) {
	if old := c.anchor.Load(); old.usable() {
		bridge := *old
		bridge.bridge = true
		c.anchor.Store(&bridge)
		age := min(uint64(c.now()-old.mono), old.limit)
		c.raise(int64(old.at(int64(age)).Earliest))
	}
	c.anchor.Store(next)
}
