// Package proc says what processor time processes have used, and which process listens on an address, so that a benchmark
// can tell what an operation cost the server, apart from the clients and from whatever else the machine does.
//
//	P1  What cannot be known is an error, never a zero.
//	P2  It looks only at processes of the user that runs it, and only on this machine.
//
// Processor time is the steadiest measure that a busy machine gives: other work takes time away from a server, but adds
// little to what it uses (caches it finds cold, more switches between tasks).
package proc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// ErrUnsupported is the answer where the operating system is not asked.
var ErrUnsupported = errors.New("processor time of other processes is known on Linux only")

// Set is processes whose processor time is added up.
type Set []int

// CPU is the processor time that they have used so far, user and system.
func (s Set) CPU() (sum time.Duration, err error) {
	for _, pid := range s {
		d, err := CPU(pid)
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// Listeners finds the processes that listen on addresses of this machine, each once.
func Listeners(addrs []string) (Set, error) {
	var out Set
	seen := map[int]bool{}
	for _, a := range addrs {
		pid, err := Listener(a)
		if err != nil {
			return nil, err
		}
		if !seen[pid] {
			seen[pid] = true
			out = append(out, pid)
		}
	}
	return out, nil
}

// loopback takes an address apart and refuses those of other machines.
func loopback(addr string) (port uint16, err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	if host == "localhost" {
		_, p, _ := net.SplitHostPort(addr)
		n, err := net.LookupPort("tcp", p)
		return uint16(n), err
	}
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return 0, fmt.Errorf("%s is not an address of this machine: %w", addr, err)
	}
	if !ap.Addr().IsLoopback() {
		return 0, fmt.Errorf("%s is not a loopback address; the process behind it may be anywhere", addr)
	}
	return ap.Port(), nil
}

// Busy is processor time of the whole machine.
type Busy struct {
	Used, All time.Duration // All: with idle time, over all processors
}

// Sub is what was used between two moments.
func (b Busy) Sub(o Busy) Busy { return Busy{b.Used - o.Used, b.All - o.All} }

// Share of the processors that was busy, 0 to 1.
func (b Busy) Share() float64 {
	if b.All <= 0 {
		return 0
	}
	return min(1, float64(b.Used)/float64(b.All))
}
