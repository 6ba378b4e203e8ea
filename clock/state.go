package clock

import "fmt"

// State says how far a clock's readings can be trusted; see the package comment for the transitions.
type State uint8

// The states. FreeRunning is valid: its interval grows honestly.
const (
	Unknown State = iota
	Synchronized
	FreeRunning
	Disrupted
)

func (s State) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Synchronized:
		return "synchronized"
	case FreeRunning:
		return "free running"
	case Disrupted:
		return "disrupted"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Unavailable is why there is no reading. The three values of it are static, so that refusing costs no allocation; what
// happened, with numbers, is in Clock.Status.
type Unavailable struct{ msg string }

func (e *Unavailable) Error() string { return e.msg }

// Now returns one of these, or nil.
var (
	// ErrUnknown: the source never synchronised, or was lost for too long.
	ErrUnknown = &Unavailable{"clock: time is unknown: the source has not synchronised, or was lost for too long"}
	// ErrDisrupted: time stepped, stood still, or contradicts what was read before.
	ErrDisrupted = &Unavailable{"clock: time is disrupted: it stepped, stood still, or contradicts earlier readings"}
	// ErrFenced: the interval is wider than Options.MaxUncertainty, or Fence was called.
	ErrFenced = &Unavailable{"clock: fenced: the reading is wider than the maximum uncertainty, or peers contradicted it"}
)
