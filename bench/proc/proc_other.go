//go:build !linux

package proc

import "time"

// CPU is not known here.
func CPU(int) (time.Duration, error) { return 0, ErrUnsupported }

// Own is not known here.
func Own() (time.Duration, error) { return 0, ErrUnsupported }

// Machine is not known here.
func Machine() (Busy, error) { return Busy{}, ErrUnsupported }

// Listener is not known here.
func Listener(addr string) (int, error) {
	if _, err := loopback(addr); err != nil {
		return 0, err
	}
	return 0, ErrUnsupported
}
