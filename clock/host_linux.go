package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime reads CLOCK_BOOTTIME, which unlike the monotonic clock goes on during suspension.
func bootTime() (time.Duration, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// machineMono reads CLOCK_MONOTONIC, the clock behind time.Since, from its own origin.
func machineMono() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// kernelLeap asks adjtimex, which needs no privilege as long as nothing is set: STA_INS or STA_DEL is on from when the
// daemon announced the leap second until it takes that back, and TIME_OOP (3) while the inserted second lasts.
func kernelLeap() bool {
	var tx unix.Timex
	state, err := unix.Adjtimex(&tx)
	return err == nil && (tx.Status&(unix.STA_INS|unix.STA_DEL) != 0 || state == unix.TIME_OOP)
}
