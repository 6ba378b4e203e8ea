//go:build !linux

package clock

import (
	"errors"
	"time"
)

// bootTime is not available here: suspension is noticed only by the wall clock's step.
func bootTime() (time.Duration, bool) { return 0, false }

// machineMono is for shared memory, which no daemon writes here.
func machineMono() (time.Duration, error) { return 0, errors.ErrUnsupported }

// kernelLeap is known to chronyd, whose answers tell it.
func kernelLeap() bool { return false }
