package clock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Everything that reads bytes which others wrote is fuzzed here and in chrony_test.go (FuzzTracking): daemons, drivers,
// hypervisors, people. Not panicking is the least of it: what is let through has to be something that could be true, and
// what is refused has to leave nothing behind. Seeds run with every test; `go test -fuzz FuzzSegment ./clock` looks for more.

// segmentOf writes a segment as a daemon of the version would.
func segmentOf(version uint16, s segment) []byte {
	ne, b := binary.NativeEndian, make([]byte, segmentBytes)
	ne.PutUint32(b, segmentMagic0)
	ne.PutUint32(b[4:], segmentMagic1)
	ne.PutUint32(b[8:], segmentBytes)
	ne.PutUint16(b[12:], version)
	ne.PutUint16(b[14:], 2)
	for at, d := range map[int]time.Duration{16: s.asOf, 32: s.voidAfter} {
		ne.PutUint64(b[at:], uint64(d/time.Second))
		ne.PutUint64(b[at+8:], uint64(d%time.Second))
	}
	ne.PutUint64(b[48:], uint64(s.bound))
	if version == 1 {
		ne.PutUint32(b[8:], segmentBytesV1)
		ne.PutUint32(b[56:], uint32(s.drift))
		ne.PutUint32(b[64:], uint32(s.status))
		return b[:segmentBytesV1]
	}
	ne.PutUint64(b[56:], s.marker)
	ne.PutUint32(b[64:], uint32(s.drift))
	ne.PutUint32(b[68:], uint32(s.status))
	if s.watched {
		b[72] = 1
	}
	return b
}

// A segment that is taken says something that could be true, is written again as it was read, and gives a sample that
// holds the wall clock with at least the daemon's bound on either side.
func FuzzSegment(f *testing.F) {
	good := segment{asOf: 100 * time.Second, voidAfter: 1100 * time.Second, bound: 50_000, drift: 50_000, marker: 7, watched: true, status: boundSynchronized}
	free, gone, disrupted := good, good, good
	free.status, gone.status, disrupted.status = boundFreeRunning, boundUnknown, boundDisrupted
	for _, s := range []segment{good, free, gone, disrupted, {}} {
		for _, version := range []uint16{1, 2} {
			b := segmentOf(version, s)
			f.Add(b, int64(101*time.Second))
			f.Add(append(b, make([]byte, segmentBytes-len(b))...), int64(2000*time.Second))
			f.Add(b[:len(b)-1], int64(0))
		}
	}
	f.Add(segmentOf(0x0303, good), int64(1))
	far := good
	far.asOf, far.voidAfter, far.bound = maxSeconds*time.Second, math.MaxInt64, int64(maxBound)
	f.Add(segmentOf(2, far), int64(maxSeconds*time.Second))
	f.Fuzz(func(t *testing.T, b []byte, now int64) {
		s, err := parseSegment(b)
		if err != nil {
			if !errors.Is(err, errSegment) && !errors.Is(err, errTorn) && !errors.Is(err, errNotWritten) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		if s.asOf < 0 || s.voidAfter < 0 || s.status < boundUnknown || s.status > boundDisrupted {
			t.Fatalf("taken: %+v", s)
		}
		if s.status != boundUnknown && (s.bound < 0 || time.Duration(s.bound) > maxBound || s.drift < 0 || s.drift >= 1e9 || s.voidAfter <= s.asOf) {
			t.Fatalf("taken: %+v", s)
		}
		if again, err := parseSegment(segmentOf(s.version, s)); err != nil || again != s {
			t.Fatalf("%+v is written and read again as %+v, %v", s, again, err)
		}
		at := time.Duration(now & (1<<62 - 1))
		p := Pair{Mono: time.Second, Earliest: epoch, Latest: epoch + 60}
		sample := NewClockBound("").judge(p, at, s, false)
		if sample.State != Synchronized && sample.State != FreeRunning {
			return // no reading
		}
		d := Instant(s.bound)
		if sample.check() != nil || sample.Earliest > p.Earliest-d || sample.Latest < p.Latest+d || sample.Latest-sample.Earliest > 4*Instant(maxBound) {
			t.Fatalf("%+v from %+v at %s: %v", sample, s, at, sample.check())
		}
		if sample.Rate < s.drift || sample.FreshFor <= 0 || sample.ValidFor <= 0 || sample.ValidFor > s.voidAfter-at {
			t.Fatalf("%+v from %+v at %s grows too slowly or lasts too long", sample, s, at)
		}
	})
}

// A page that is taken has the marks of one and no update under way; the two numbers are those at their places.
func FuzzVMClock(f *testing.F) {
	page := func(size uint32, flags, marker, generation uint64) []byte {
		le, b := binary.LittleEndian, make([]byte, 4096)
		le.PutUint32(b, vmclockMagic)
		le.PutUint32(b[4:], size)
		le.PutUint16(b[8:], 1)
		le.PutUint64(b[16:], marker)
		le.PutUint64(b[24:], flags)
		le.PutUint64(b[104:], generation)
		return b
	}
	whole := page(4096, vmHasGeneration, 3, 4)
	torn := slices.Clone(whole)
	torn[vmclockSeq] = 1
	for _, b := range [][]byte{whole, torn, page(vmclockMinHeader, vmHasGeneration, 1, 9), page(112, 0, 1, 9), page(16, 0, 1, 0), whole[:vmclockBytes], whole[:vmclockBytes-1], nil} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseVMClock(b)
		if err != nil {
			if p != (vmPage{}) || !errors.Is(err, errMalformedVMClock) && !errors.Is(err, errTorn) {
				t.Fatalf("%+v with %v", p, err)
			}
			return
		}
		if !bytes.HasPrefix(b, []byte("VCLK")) || b[vmclockSeq]&1 != 0 {
			t.Fatalf("taken: % x", b[:vmclockMinHeader])
		}
		size := uint64(binary.LittleEndian.Uint32(b[4:]))
		for _, at := range []struct {
			offset int
			got    uint64
			absent bool
		}{{16, p.disruption, false}, {104, p.generation, b[25]&1 == 0 || size < vmclockBytes}} {
			var want uint64
			for i := 7; i >= 0 && !at.absent; i-- {
				want = want<<8 | uint64(b[at.offset+i])
			}
			if at.got != want {
				t.Fatalf("read %d at %d, there is %d", at.got, at.offset, want)
			}
		}
	})
}

// A bound that is taken is the number that stands there, between 1 ns and a second; the driver's mark for "not known" is not.
func FuzzPHCBound(f *testing.F) {
	for _, s := range []string{"30000\n", "30000", "1", "0\n", "-1\n", "4294967295\n", "999999999\n", "1000000000", "", "\n", "12 ", "0x10", "1e3", "+5", "99999999999999999999", "00000000000000000007", "5\n\n", "٣"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ns, err := parsePHCBound(b)
		if err != nil {
			if ns != 0 {
				t.Fatalf("%q: both %d and %v", b, ns, err)
			}
			return
		}
		var want int64 // by hand
		for _, c := range bytes.TrimSuffix(b, []byte("\n")) {
			if c < '0' || c > '9' || want > 1e9 {
				t.Fatalf("%q was taken for %d", b, ns)
			}
			want = want*10 + int64(c-'0')
		}
		if ns != want || ns < 1 || ns >= int64(time.Second) {
			t.Fatalf("%q was taken for %d", b, ns)
		}
	})
}

// A spec that is taken is written as one that means the same; an error lists what is accepted.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"static:500ms,offset=1ms", "chrony:127.0.0.1:323,slew=0", "chrony:[::1]:323", "chrony,drift=0.5ppb,margin=20us,stratum=4,vmclock=off",
		"sim:eps=1ms,drift=3ppm,lost", "clockbound:/run/shm0,fresh=60s,settle=0s", "clockbound", "phc:eth0,refid=PHC1,chrony=[::1]:323", "phc:/dev/ptp0",
		"all:chrony,clockbound,drift=30ppm", "all:chrony:127.0.0.1:1,slew=1ppm,static:1ms,offset=-1ms,sim:eps=1ms", "all:static:1ms", "auto", "auto,drift=15ppm,slew=0",
		"auto:drift=1", "chrony:/a,b=c", "phc:,refid=a", "static:1h0m0.5s",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		src, err := Parse(spec)
		if err != nil {
			if src != nil || !strings.Contains(err.Error(), "static:D") {
				t.Fatalf("%q: %v with %v", spec, src, err)
			}
			return
		}
		again, err := Parse(src.String())
		if err != nil || again.String() != src.String() {
			t.Fatalf("%q became %q, which becomes %v, %v", spec, src, again, err)
		}
		if a, b := settings(src), settings(again); !slices.Equal(a, b) {
			t.Fatalf("%q has %v, written as %q it has %v", spec, a, src, b)
		}
		checkSettings(t, src)
	})
}

// settings are the numbers that a source works with, for comparison.
func settings(src Source) []any {
	var out []any
	switch s := src.(type) {
	case Static:
		out = append(out, s)
	case *Chrony:
		out = append(out, s.Addr, s.Drift, s.Slew, s.Margin, s.Stratum, s.VMClock)
	case *PHC:
		out = append(settings(s.Chrony), s.Device, s.RefID)
	case *ClockBound:
		out = append(out, s.Path, s.Drift, s.Slew, s.Margin, s.Fresh, s.Settle, s.VMClock)
	case *Sim:
		out = append(out, s.Conditions())
	case *All:
		for _, m := range s.sources {
			out = append(out, settings(m)...)
		}
	case *Auto:
		for _, m := range s.Candidates {
			out = append(out, settings(m.Source)...)
		}
	}
	return out
}

// checkSettings: whatever was asked for, the arithmetic can take it.
func checkSettings(t *testing.T, src Source) {
	t.Helper()
	rates := func(drift, slew int64, margin time.Duration) {
		if drift < 0 || slew < 0 || drift+slew > MaxRate || margin < 0 || margin > 24*time.Hour {
			t.Fatalf("%s: drift %d, slew %d, margin %s", src, drift, slew, margin)
		}
	}
	switch s := src.(type) {
	case Static:
		if s.D <= 0 || s.D > 24*time.Hour || s.Offset.Abs() > 24*time.Hour {
			t.Fatalf("%s: %+v", src, s)
		}
	case *Chrony:
		rates(s.Drift, s.Slew, s.Margin)
	case *PHC:
		rates(s.Drift, s.Slew, s.Margin)
	case *ClockBound:
		rates(s.Drift, s.Slew, s.Margin)
	case *Sim:
		c := s.Conditions()
		if c.Bound < 0 || c.Widen < 0 || c.Drift > MaxRate || c.Drift < -MaxRate {
			t.Fatalf("%s: %+v", src, c)
		}
	case *All:
		if len(s.sources) < 2 {
			t.Fatalf("%s has %d members", src, len(s.sources))
		}
		for _, m := range s.sources {
			checkSettings(t, m)
		}
	case *Auto:
		for _, m := range s.Candidates {
			checkSettings(t, m.Source)
		}
	default:
		t.Fatalf("%s is a %T, which nothing is known about", src, src)
	}
}

// A timestamp that is taken is not before 1970, and reads the same when it is written; larger ones are written as larger.
func FuzzParseTimestamp(f *testing.F) {
	for _, s := range []string{"0", "1700000000", "1700000000.5,3", "1700000000.000000001,4294967295", "9223372035.999999999", "9223372036", "1.", ",1", "1,", "-1", "1.-1", "1.+5"} {
		f.Add(s, "1700000000.000000001")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		a, err := ParseTimestamp(one)
		if err != nil {
			if !a.IsZero() {
				t.Fatalf("%q: both %s and %v", one, a, err)
			}
			return
		}
		if again, err := ParseTimestamp(a.String()); a.Wall < 0 || err != nil || again != a {
			t.Fatalf("%q is %+v, written as %s and read again as %+v, %v", one, a, a, again, err)
		}
		if next := a.Next(); !a.Less(next) || next.Prev() != a {
			t.Fatalf("%s comes before %s, and that after %s", a, next, next.Prev())
		}
		if b, err := ParseTimestamp(two); err == nil && (a == b) != (a.String() == b.String()) {
			t.Fatalf("%s and %s", a, b)
		}
	})
}
