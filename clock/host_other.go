//go:build !linux

package clock

import "time"

// bootTime is not available here: suspension is noticed only by the wall clock's step.
func bootTime() (time.Duration, bool) { return 0, false }
