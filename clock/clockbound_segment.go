package clock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// segment is what the ClockBound daemon writes into shared memory: at asOf, of the machine's CLOCK_MONOTONIC, the system
// clock was at most bound away from UTC, and since then by at most drift more. It holds until voidAfter.
type segment struct {
	version         uint16
	asOf, voidAfter time.Duration
	bound           int64  // ns
	drift           int64  // ppb
	marker          uint64 // the hypervisor's, as the daemon last saw it (version 2)
	watched         bool   // the daemon looks at the hypervisor's marker (version 2)
	status          int32
}

// Status of a segment.
const (
	boundUnknown = iota
	boundSynchronized
	boundFreeRunning
	boundDisrupted
)

const (
	segmentBytes   = 80 // of version 2; version 1 has 72
	segmentBytesV1 = 72
	segmentSeq     = 12 // version and generation, 16 bits each
	segmentMagic0  = 0x414D5A4E
	segmentMagic1  = 0x43420200
	// maxSeconds keeps times of segments far from the ends of int64.
	maxSeconds = 1 << 32
)

// errNotWritten: there is no segment yet, or it is being made anew. Nothing is known, but nothing is wrong either.
var errNotWritten = errors.New("the ClockBound daemon has not written it yet")

// errSegment is what no daemon writes: another version, another program, or memory gone bad.
var errSegment = errors.New("malformed ClockBound segment")

// errTorn: an update is going on.
var errTorn = errors.New("it is being written")

// segmentNumber is the generation, which is odd during an update.
func segmentNumber(word uint32) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	return uint32(binary.NativeEndian.Uint16(b[2:]))
}

// parseSegment reads the layouts of versions 2 and 1, in the machine's byte order.
func parseSegment(b []byte) (segment, error) {
	ne := binary.NativeEndian
	if len(b) < segmentBytesV1 {
		return segment{}, fmt.Errorf("%w: it has %d bytes", errSegment, len(b))
	}
	if ne.Uint32(b) == 0 || ne.Uint16(b[12:]) == 0 || ne.Uint16(b[14:]) == 0 {
		return segment{}, errNotWritten
	}
	if ne.Uint32(b) != segmentMagic0 || ne.Uint32(b[4:]) != segmentMagic1 {
		return segment{}, fmt.Errorf("%w: it begins with %08x %08x", errSegment, ne.Uint32(b), ne.Uint32(b[4:]))
	}
	if ne.Uint16(b[14:])%2 != 0 {
		return segment{}, errTorn
	}
	s := segment{version: ne.Uint16(b[12:]), bound: int64(ne.Uint64(b[48:]))}
	size := uint32(segmentBytes)
	switch s.version {
	case 1:
		size = segmentBytesV1
		s.drift, s.status = int64(ne.Uint32(b[56:])), int32(ne.Uint32(b[64:]))
	case 2:
		if len(b) < segmentBytes {
			return segment{}, fmt.Errorf("%w: version 2 has %d bytes, not %d", errSegment, segmentBytes, len(b))
		}
		s.marker, s.drift, s.status, s.watched = ne.Uint64(b[56:]), int64(ne.Uint32(b[64:])), int32(ne.Uint32(b[68:])), b[72] != 0
	default:
		return segment{}, fmt.Errorf("%w: its layout is of version %#x; versions 1 and 2 are known (ClockBound 3 writes version 2 to %s)", errSegment, s.version, segmentPaths[0])
	}
	if got := ne.Uint32(b[8:]); got < size {
		return segment{}, fmt.Errorf("%w: it says that it has %d bytes, version %d has %d", errSegment, got, s.version, size)
	}
	var err error
	if s.asOf, err = timespec(b[16:]); err != nil {
		return segment{}, fmt.Errorf("%w: as_of %w", errSegment, err)
	}
	if s.voidAfter, err = timespec(b[32:]); err != nil {
		return segment{}, fmt.Errorf("%w: void_after %w", errSegment, err)
	}
	return s, s.check()
}

func timespec(b []byte) (time.Duration, error) {
	s, ns := int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
	if s < 0 || s > maxSeconds || ns < 0 || ns >= 1e9 {
		return 0, fmt.Errorf("is %d s and %d ns", s, ns)
	}
	return time.Duration(s*1e9 + ns), nil
}

// check refuses what no daemon means.
func (s *segment) check() error {
	switch {
	case s.status < boundUnknown || s.status > boundDisrupted:
		return fmt.Errorf("%w: its status is %d", errSegment, s.status)
	case s.status == boundUnknown:
		return nil // the rest need not have been set
	case s.bound < 0 || s.bound > int64(maxBound):
		return fmt.Errorf("%w: its bound is %d ns", errSegment, s.bound)
	case s.drift >= 1e9:
		return fmt.Errorf("%w: its drift is %d ppb", errSegment, s.drift)
	case s.asOf >= s.voidAfter:
		return fmt.Errorf("%w: it is void from %s, before its time of %s", errSegment, s.voidAfter, s.asOf)
	}
	return nil
}

// boundAt is how far the system clock may be off when the machine's monotonic clock shows now: the daemon's bound, grown
// at the rate (ppb), rounded up. now must be within MaxAge of asOf.
func (s *segment) boundAt(now time.Duration, rate int64) int64 {
	age := max(0, int64(now-s.asOf))
	if age > int64(MaxAge) || rate > MaxRate {
		return math.MaxInt64
	}
	return s.bound + (age*rateFactor(rate))>>30 + 1
}
