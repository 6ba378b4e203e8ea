//go:build unix

package clock

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// shm is a ClockBound segment made by hand, in the machine's byte order.
type shm struct {
	version         uint16
	generation      uint16
	asOf, voidAfter time.Duration
	bound           time.Duration
	marker          uint64
	drift           uint32 // ppb
	status          int32
	watched         bool
}

// healthy is what the daemon writes ten times a second: ±30 µs.
func healthy(asOf time.Duration) shm {
	return shm{version: 2, generation: 6, asOf: asOf, voidAfter: asOf.Truncate(time.Second) + 1000*time.Second,
		bound: 30 * time.Microsecond, drift: 50_000, status: boundSynchronized}
}

func (s shm) bytes() []byte {
	ne, b := binary.NativeEndian, make([]byte, segmentBytes)
	ne.PutUint32(b, segmentMagic0)
	ne.PutUint32(b[4:], segmentMagic1)
	ne.PutUint16(b[12:], s.version)
	ne.PutUint16(b[14:], s.generation)
	spec := func(at int, d time.Duration) {
		ne.PutUint64(b[at:], uint64(d/time.Second))
		ne.PutUint64(b[at+8:], uint64(d%time.Second))
	}
	spec(16, s.asOf)
	spec(32, s.voidAfter)
	ne.PutUint64(b[48:], uint64(s.bound))
	if s.version == 1 {
		ne.PutUint32(b[8:], segmentBytesV1)
		ne.PutUint32(b[56:], s.drift)
		ne.PutUint32(b[64:], uint32(s.status))
		return b[:segmentBytesV1]
	}
	ne.PutUint32(b[8:], segmentBytes)
	ne.PutUint64(b[56:], s.marker)
	ne.PutUint32(b[64:], s.drift)
	ne.PutUint32(b[68:], uint32(s.status))
	if s.watched {
		b[72] = 1
	}
	return b
}

// put writes into the file as the daemon does: the mapping of those who have it sees it.
func put(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		_, err = f.WriteAt(b, 0)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// boundMachine is a machine with a clockbound daemon that the test plays.
type boundMachine struct {
	machine
	t    *testing.T
	path string
	src  *ClockBound
	c    *Clock
}

func newBoundMachine(t *testing.T, opts string) *boundMachine {
	m := &boundMachine{t: t, path: filepath.Join(t.TempDir(), "shm0")}
	src, err := Parse("clockbound:" + m.path + ",vmclock=off" + opts)
	if err != nil {
		t.Fatal(err)
	}
	m.advance(time.Hour) // since the machine started
	m.src = src.(*ClockBound)
	m.c = New(src, Options{Mono: m.mono, Wall: m.wall, Boot: m.boot, MaxUncertainty: -1})
	t.Cleanup(m.c.Stop)
	return m
}

func (m *boundMachine) write(s shm) { m.t.Helper(); put(m.t, m.path, s.bytes()) }

// poll expects an error that contains want, or none if want is empty.
func (m *boundMachine) poll(want string) {
	m.t.Helper()
	if err := m.c.Poll(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		m.t.Fatalf("poll: %v; want %q", err, want)
	}
}

// What the states of a segment, and its age, become. The reading is taken 1 s (or age) after the daemon's answer, and is
// ±(30 µs + age · (50 + 500 ppm)).
func TestClockBoundJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*shm)
		age    time.Duration
		state  State
		half   time.Duration // of the interval; 0: none
		why    string
	}{
		{"synchronized", func(*shm) {}, time.Second, Synchronized, 580 * time.Microsecond, "layout version 2: ±30µs as of 1s ago"},
		{"version 1", func(s *shm) { s.version = 1 }, time.Second, Synchronized, 580 * time.Microsecond, "layout version 1"},
		{"the daemon knows of a worse oscillator", func(s *shm) { s.drift = 100_000 }, time.Second, Synchronized, 630 * time.Microsecond, ""},
		{"the daemon was not told of the drift: ours holds", func(s *shm) { s.drift = 1000 }, time.Second, Synchronized, 580 * time.Microsecond, ""},
		{"free running", func(s *shm) { s.status = boundFreeRunning }, 10 * time.Second, FreeRunning, 5530 * time.Microsecond, "free running: chronyd has learned nothing for 10s"},
		{"the daemon died 5 s ago", func(*shm) {}, 5 * time.Second, Synchronized, 2780 * time.Microsecond, ""},
		{"the daemon died longer ago", func(*shm) {}, 5100 * time.Millisecond, FreeRunning, 2835 * time.Microsecond, "not been renewed for 5.1s"},
		{"almost void", func(*shm) {}, 999 * time.Second, FreeRunning, 549480 * time.Microsecond, "not been renewed"},
		{"void", func(*shm) {}, 1000 * time.Second, Unknown, 0, "void"},
		{"void before its time", func(s *shm) { s.voidAfter = s.asOf + time.Second }, time.Second, Unknown, 0, "void"},
		{"unknown", func(s *shm) { s.status = boundUnknown }, time.Second, Unknown, 0, "chronyd is not synchronised or does not answer"},
		{"unknown and nothing else filled in", func(s *shm) { *s = shm{version: 2, generation: 2} }, 0, Unknown, 0, "does not know the time"},
		{"disrupted", func(s *shm) { s.status, s.marker = boundDisrupted, 7 }, time.Second, Disrupted, 0, "time was disrupted (marker 7)"},
		{"as_of from the future", func(s *shm) { s.asOf += 2 * time.Second }, time.Second, Unknown, 0, "from the future"},
		{"bound of an unsteady daemon 3.x", func(s *shm) { s.drift = 801_000 }, time.Second, Synchronized, 1331 * time.Microsecond, ""},
		{"frequency unknown", func(s *shm) { s.drift = 900_000_000 }, time.Second, Unknown, 0, "frequency only to 900000 ppm"},
		{"status 4", func(s *shm) { s.status = 4 }, time.Second, Unknown, 0, "status is 4"},
		{"negative status", func(s *shm) { s.status = -1 }, time.Second, Unknown, 0, "status is -1"},
		{"negative bound", func(s *shm) { s.bound = -1 }, time.Second, Unknown, 0, "bound is -1 ns"},
		{"absurd bound", func(s *shm) { s.bound = 2 * time.Hour }, time.Second, Unknown, 0, "bound is"},
		{"malformed drift", func(s *shm) { s.drift = 1e9 }, time.Second, Unknown, 0, "drift is 1000000000 ppb"},
		{"void before it is made", func(s *shm) { s.voidAfter = s.asOf }, time.Second, Unknown, 0, "it is void from"},
		{"layout of release 3's own segment", func(s *shm) { s.version = 0x0303 }, time.Second, Unknown, 0, "layout is of version 0x303"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newBoundMachine(t, "")
			s := healthy(m.mono())
			tc.change(&s)
			m.write(s)
			m.advance(tc.age)
			got, err := m.src.Read(m.c.poll.host)
			if err != nil || got.State != tc.state || !strings.Contains(got.Why, tc.why) {
				t.Fatalf("got %+v, %v; want %s, %q", got, err, tc.state, tc.why)
			}
			if tc.half == 0 {
				return
			}
			if err := got.check(); err != nil {
				t.Fatal(err)
			}
			// Rounded outward, the rate to the next 2^-30.
			slack := 10*time.Nanosecond + tc.age/1e9
			for side, d := range map[string]time.Duration{"earliest": m.truth().Sub(got.Earliest), "latest": got.Latest.Sub(m.truth())} {
				if d < tc.half || d > tc.half+slack {
					t.Errorf("%s is %s away, want %s", side, d, tc.half)
				}
			}
			if got.Rate != int64(max(s.drift, 50_000))+500_000 || got.ValidFor > 1000*time.Second-tc.age {
				t.Errorf("rate %d, valid for %s", got.Rate, got.ValidFor)
			}
		})
	}
}

// What is not a segment, and what is not one yet. Nothing is learned from the latter, so the last anchor holds and grows;
// a malformed one takes readings away.
func TestClockBoundMalformed(t *testing.T) {
	at := func(i int, v ...byte) func([]byte) []byte { return func(b []byte) []byte { copy(b[i:], v); return b } }
	for _, tc := range []struct {
		name   string
		change func([]byte) []byte
		want   string
		holds  bool
	}{
		{"wiped by a daemon that starts", at(0, make([]byte, 16)...), "has not written it yet", true},
		{"version 0", at(12, 0, 0), "has not written it yet", true},
		{"generation 0", at(14, 0, 0), "has not written it yet", true},
		{"another program's magic", at(0, 'E', 'L', 'F'), "it begins with", false},
		{"size below its layout", at(8, 72, 0, 0, 0), "says that it has 72 bytes", false},
		{"as_of with 2 s of ns", at(24, 0, 0x94, 0x35, 0x77), "as_of is", false},
		{"as_of before the start", at(16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "as_of is -1 s", false},
		{"void_after out of range", at(32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "void_after is", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
				t.Skip("the bytes here are those of a little-endian machine")
			}
			m := newBoundMachine(t, "")
			m.write(healthy(m.mono()))
			m.poll("")
			m.advance(time.Second)
			put(t, m.path, tc.change(healthy(m.mono()).bytes()))
			m.poll(tc.want)
			if tc.holds {
				must(t, m.c)
			} else {
				refuses(t, m.c, ErrUnknown)
			}
			m.write(healthy(m.mono()))
			m.poll("")
			must(t, m.c)
		})
	}
}

// The generation is odd while the daemon writes. One that died in the middle leaves it so.
func TestClockBoundTorn(t *testing.T) {
	m := newBoundMachine(t, "")
	s := healthy(m.mono())
	m.write(s)
	m.poll("")
	before := must(t, m.c)
	s.generation, s.bound = 7, 1
	m.write(s)
	m.advance(time.Second)
	m.poll("it is being written (tried 100 times)")
	if w := must(t, m.c).Width(); w <= before.Width() {
		t.Fatalf("nothing was learned, but the width went from %s to %s", before.Width(), w)
	}
	s = healthy(m.mono())
	s.generation = 8
	m.write(s)
	m.poll("")
}

// A reader at full speed beside a writer at full speed: never half of one update and half of another.
func TestClockBoundSeqlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shm0")
	put(t, path, healthy(time.Hour).bytes())
	var w, r writable
	w.open(t, path)
	r.m.path = path
	if err := r.m.open(segmentBytesV1); err != nil {
		t.Fatal(err)
	}
	defer r.m.close()
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		gen := uint16(6)
		for v := int64(0); !stop.Load(); v++ {
			if gen += 2; gen == 0 {
				gen = 2 // as the daemon does: 0 means never written
			}
			w.update(gen, 1+v%1000)
			runtime.Gosched()
		}
	}()
	defer func() { stop.Store(true); <-done }()
	good, different, last := 0, 0, int64(0)
	for different < 2000 {
		var b [segmentBytes]byte
		err := r.m.copy(b[:], segmentSeq, segmentNumber)
		runtime.Gosched()
		if err != nil {
			continue // the writer is in the middle of an update
		}
		s, err := parseSegment(b[:])
		if err != nil {
			t.Fatal(err)
		}
		good++
		if s.marker != 0 && (s.bound != int64(s.marker) || s.bound != s.drift) {
			t.Fatalf("torn: bound %d, marker %d, drift %d", s.bound, s.marker, s.drift)
		}
		if s.bound != last {
			different, last = different+1, s.bound
		}
	}
	t.Logf("%d whole copies, %d of them new", good, different)
}

// The daemon is restarted by its package: the file is removed and made anew. An old mapping would stay as it was, for ever.
func TestClockBoundReplaced(t *testing.T) {
	m := newBoundMachine(t, "")
	m.write(healthy(m.mono()))
	m.poll("")
	if err := os.Remove(m.path); err != nil {
		t.Fatal(err)
	}
	m.advance(time.Second)
	m.poll("no such file")
	must(t, m.c)
	m.write(healthy(m.mono()))
	m.poll("")
	if st := m.c.Status(); st.DataAge != 0 || st.State != Synchronized {
		t.Fatalf("still the old segment, %s old: %s", st.DataAge, st)
	}
}

// A daemon that does not like what it finds truncates the file in place. Touching the page then is a SIGBUS.
func TestClockBoundTruncated(t *testing.T) {
	m := newBoundMachine(t, "")
	m.write(healthy(m.mono()))
	m.poll("")
	for _, size := range []int64{0, 40} {
		if err := os.Truncate(m.path, size); err != nil {
			t.Fatal(err)
		}
		m.poll("fewer than 72")
		must(t, m.c)
		m.write(healthy(m.mono()))
		m.poll("")
	}
	// It happens between the look at the size and the look at the page.
	mem := &m.src.mapped[0]
	if err := mem.open(segmentBytesV1); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(m.path, 0); err != nil {
		t.Fatal(err)
	}
	var b [segmentBytes]byte
	if err := mem.copy(b[:], segmentSeq, segmentNumber); err == nil || !strings.Contains(err.Error(), "truncated while it was read") {
		t.Fatalf("got %v", err)
	}
	m.write(healthy(m.mono()))
	m.poll("")
}

func TestClockBoundAbsent(t *testing.T) {
	m := newBoundMachine(t, "")
	m.poll("no such file")
	refuses(t, m.c, ErrUnknown)
	if err := os.Mkdir(m.path, 0o755); err != nil {
		t.Fatal(err)
	}
	m.poll("neither a file nor a character device")
}

// The daemon is killed: nobody writes, and the reader ages what is there. 50 ppm of drift and 500 ppm of slew on each side.
func TestClockBoundDies(t *testing.T) {
	m := newBoundMachine(t, "")
	m.write(healthy(m.mono()))
	for _, tc := range []struct {
		at    time.Duration
		state State
	}{{0, Synchronized}, {4 * time.Second, Synchronized}, {6 * time.Second, FreeRunning}, {900 * time.Second, FreeRunning}, {1000 * time.Second, Unknown}} {
		m.advance(time.Hour + tc.at - m.mono())
		err := m.c.Poll()
		if st := m.c.Status(); st.State != tc.state || (st.Err == nil) != (tc.state != Unknown) {
			t.Fatalf("after %s: %v, %s", tc.at, err, st)
		}
	}
	m.write(healthy(m.mono()))
	m.poll("") // and it is started again
	must(t, m.c)
}

// The hypervisor's marker, as ClockBound passes it on: readings stop, and come back with the daemon's next answer from after it.
func TestClockBoundMarkerMoves(t *testing.T) {
	m := newBoundMachine(t, "")
	s := healthy(m.mono())
	s.watched = true
	m.write(s)
	m.poll("")
	s.marker = 1
	m.write(s)
	m.poll("marker go from 0 to 1")
	refuses(t, m.c, ErrDisrupted)
	m.poll("waiting for news") // as_of is the same
	m.advance(time.Second)
	s.asOf = m.mono()
	m.write(s)
	m.poll("")
	must(t, m.c)
}

// A disruption that the daemon knows nothing of, as somebody stepping the system clock: the daemon's answers are new ten times a
// second, what chronyd tells it is not. So they are not believed for a while.
func TestClockBoundSettles(t *testing.T) {
	m := newBoundMachine(t, ",settle=3s")
	m.write(healthy(m.mono()))
	m.poll("")
	m.stepped = time.Millisecond
	m.advance(100 * time.Millisecond)
	m.write(healthy(m.mono()))
	m.poll("stepped by 1ms")
	for range 29 {
		m.advance(100 * time.Millisecond)
		m.write(healthy(m.mono()))
		m.poll("waiting for news")
		refuses(t, m.c, ErrDisrupted)
	}
	m.stepped = 0 // chronyd has mended it, which is a step, too
	m.advance(200 * time.Millisecond)
	m.write(healthy(m.mono()))
	m.poll("stepped by -1ms")
	m.advance(3100 * time.Millisecond)
	m.write(healthy(m.mono()))
	m.poll("")
	must(t, m.c)
}

// Release 1 has another path. Without a path both are looked for, the newer one first.
func TestClockBoundPaths(t *testing.T) {
	dir, was := t.TempDir(), segmentPaths
	segmentPaths = [2]string{filepath.Join(dir, "shm0"), filepath.Join(dir, "shm")}
	defer func() { segmentPaths = was }()
	m := &machine{}
	m.advance(time.Hour)
	src := NewClockBound("")
	src.VMClock = noVMClock
	c := m.clock(src)
	defer c.Stop()
	if err := src.present(); err == nil || !Absent(err) {
		t.Fatalf("nothing is there: %v", err)
	}
	old := healthy(m.mono())
	old.version = 1
	for i, s := range []shm{old, healthy(m.mono())} {
		put(t, segmentPaths[1-i], s.bytes())
		if err := src.present(); err != nil {
			t.Fatal(err)
		}
		if err := c.Poll(); err != nil {
			t.Fatal(err)
		}
		if st := c.Status(); !strings.Contains(st.Why, "layout version "+string(rune('1'+i))) {
			t.Fatalf("version %d: %s", i+1, st)
		}
	}
}

// Segments that a daemon of release 2.0.3 wrote. as_of is 12335.962 s after that machine's start.
func TestClockBoundRecorded(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("recorded on a little-endian machine")
	}
	const asOf = 12335*time.Second + 962237450*time.Nanosecond
	for name, want := range map[string]int32{"synchronized": boundSynchronized, "freerunning": boundFreeRunning, "unknown": boundUnknown} {
		b, err := os.ReadFile(filepath.Join("testdata/clockbound", name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseSegment(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.status != want || s.version != 2 || s.asOf != asOf || s.voidAfter != 13335*time.Second || s.bound != 24832 || s.drift != 50_000 || s.watched {
			t.Errorf("%s: %+v", name, s)
		}
		m := newBoundMachine(t, "")
		put(t, m.path, b)
		m.advance(asOf + 100*time.Millisecond - m.mono())
		if got, err := m.src.Read(m.c.poll.host); err != nil || got.State.String() != map[int32]string{1: "synchronized", 2: "free running", 0: "unknown"}[want] {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The kernel has been told of a leap second, so chronyd was; ClockBound says nothing of it.
func TestClockBoundLeapSecond(t *testing.T) {
	m := newBoundMachine(t, ",settle=1s")
	midnight := Instant(1_483_228_800e9)
	m.stepped = midnight.Add(-10 * time.Second).Sub(m.truth())
	armed := true
	m.c.poll.host.leap = func() bool { return armed }
	step := func(d time.Duration) {
		m.advance(d)
		m.write(healthy(m.mono()))
	}
	step(0)
	m.poll("")
	step(6900 * time.Millisecond)
	m.poll("")
	step(100 * time.Millisecond)
	m.poll("leap second")
	refuses(t, m.c, ErrDisrupted)
	step(4 * time.Second)
	m.poll("leap second")
	armed = false
	step(900 * time.Millisecond)
	m.poll("waiting")
	step(200 * time.Millisecond)
	m.poll("")
	must(t, m.c)
}
