package clock

import "time"

// Source says what time it is, and how sure it is of it. Read is called by one goroutine at a time.
type Source interface {
	// Read asks once. It may block, but not for longer than about 100 ms. An error means that nothing was learned: the
	// anchor that the clock has goes on growing. To say that what was learned before is wrong, return a Sample with State
	// Disrupted; to say only that it is no longer vouched for, one with State Unknown.
	Read(h *Host) (Sample, error)
	// String is the spec of this source, as Parse takes it.
	String() string
}

// Sample is one answer of a source: at the moment Mono of the host's monotonic clock true time lay in
// [Earliest, Latest], and since then the distance of the two ends grows by twice Rate.
type Sample struct {
	State            State // Synchronized or FreeRunning; Disrupted and Unknown take readings away (Source.Read)
	Mono             time.Duration
	Earliest, Latest Instant
	// Rate is the greatest error of the monotonic clock's frequency, in ns per second (ppb), at most MaxRate.
	Rate int64
	// After FreshFor without another sample the clock is FreeRunning, after ValidFor it is Unknown. 0: the defaults.
	FreshFor, ValidFor time.Duration
	// Update names the moment at which the source itself last learned something, on an axis of its own that only grows.
	// After a disruption the clock waits for a sample with a higher one: an answer computed from what was learned before
	// the event is no evidence about what came after.
	Update int64
	// UpdateLag is how much higher: for sources whose updates can still rest on what was learned before the event.
	UpdateLag int64
	// Why is for people: what the state rests on.
	Why string

	marker *marker // what readers look at while they use this; nil: nothing
}

// Limits and defaults of samples.
const (
	// MaxRate keeps age times rate within 63 bits for ages up to MaxAge. A clock that may be off by 0.8 % is of no use.
	MaxRate = 8_000_000
	// MaxAge is the age after which an anchor is void, whatever its source says.
	MaxAge = 1000 * time.Second
	// DefaultFreshFor is the default of Sample.FreshFor.
	DefaultFreshFor = 5 * time.Second
	// DefaultDrift is the rate (ppb) that an ordinary oscillator is assumed to keep to: 50 ppm.
	DefaultDrift = 50_000
)
