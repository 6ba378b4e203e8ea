package clock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/facebook/time/ntp/chrony"
)

// good is what a healthy daemon says 3 s after an update: 100 µs away from its server, 10 µs still to slew.
func good() chrony.Tracking {
	return chrony.Tracking{
		RefID: 0x0A000001, Stratum: 3, RefTime: time.Unix(0, int64(epoch)).Add(-3 * time.Second),
		CurrentCorrection: 10e-6, RootDelay: 100e-6, RootDispersion: 50e-6, SkewPPM: 0.5, ResidFreqPPM: -0.25, LastUpdateInterval: 16,
	}
}

func TestJudge(t *testing.T) {
	us := time.Microsecond
	for _, tc := range []struct {
		name   string
		change func(*chrony.Tracking)
		opts   func(*Chrony)
		state  State         // Unknown: an error
		lo, hi time.Duration // of the sample, from the wall clock
		why    string
	}{
		{"slow clock: latest reaches out to where it will be slewed", func(*chrony.Tracking) {}, nil, Synchronized, -100 * us, 110 * us, "stratum 3"},
		{"fast clock: earliest does", func(t *chrony.Tracking) { t.CurrentCorrection = -10e-6 }, nil, Synchronized, -110 * us, 100 * us, ""},
		{"margin", func(*chrony.Tracking) {}, func(c *Chrony) { c.Margin = 5 * us }, Synchronized, -105 * us, 115 * us, ""},
		{"last source lost long ago", func(t *chrony.Tracking) { t.RefTime = t.RefTime.Add(-130 * time.Second) }, nil, FreeRunning, -100 * us, 110 * us, "no update for 2m13s"},
		{"not synchronised", func(t *chrony.Tracking) {
			*t = chrony.Tracking{LeapStatus: 3, RefTime: time.Unix(0, 0), RootDelay: 1, RootDispersion: 1}
		}, nil, Unknown, 0, 0, "not synchronised"},
		{"the local trap", func(t *chrony.Tracking) {
			t.RefID, t.RootDelay, t.RootDispersion, t.Stratum = 0x7F7F0101, 0, 1e-9, 8
		}, nil, Unknown, 0, 0, "`local`"},
		{"behind a local trap", func(t *chrony.Tracking) { t.Stratum = 11; t.RootDispersion = 1e-6 }, nil, Unknown, 0, 0, "stratum 11"},
		{"stratum 0", func(t *chrony.Tracking) { t.Stratum = 0 }, nil, Unknown, 0, 0, "stratum 0"},
		{"leap status 4", func(t *chrony.Tracking) { t.LeapStatus = 4 }, nil, Unknown, 0, 0, "not defined"},
		{"an error of 0", func(t *chrony.Tracking) { t.RootDelay, t.RootDispersion = 0, 0 }, nil, Unknown, 0, 0, "error of 0"},
		{"negative delay", func(t *chrony.Tracking) { t.RootDelay = -1e-6 }, nil, Unknown, 0, 0, "negative"},
		{"no interval yet", func(t *chrony.Tracking) { t.LastUpdateInterval = 0 }, nil, Unknown, 0, 0, "only one update"},
		{"not a number", func(t *chrony.Tracking) { t.CurrentCorrection = math.NaN() }, nil, Unknown, 0, 0, "not finite"},
		{"infinite", func(t *chrony.Tracking) { t.RootDispersion = math.Inf(1) }, nil, Unknown, 0, 0, "not finite"},
		{"absurd", func(t *chrony.Tracking) { t.RootDispersion = 1e6 }, nil, Unknown, 0, 0, "beyond 1h"},
		{"frequency unknown", func(t *chrony.Tracking) { t.SkewPPM = 1e5 }, nil, Unknown, 0, 0, "frequency"},
		{"reference in the future", func(t *chrony.Tracking) { t.RefTime = t.RefTime.Add(10 * time.Second) }, nil, Unknown, 0, 0, "in the future"},
		{"reference beyond all years", func(t *chrony.Tracking) { t.RefTime = time.Unix(1<<62, 0) }, nil, Unknown, 0, 0, "out of range"},
		{"leap second at the end of another day", func(t *chrony.Tracking) { t.LeapStatus = 1 }, nil, Synchronized, -100 * us, 110 * us, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tr, c := good(), NewChrony("")
			tc.change(&tr)
			if tc.opts != nil {
				tc.opts(c)
			}
			p := Pair{Mono: time.Second, Earliest: epoch, Latest: epoch + 60}
			s, err := c.judge(p, &tr)
			if tc.state == Unknown {
				if err == nil || !strings.Contains(err.Error(), tc.why) {
					t.Fatalf("got %+v, %v; want an error with %q", s, err, tc.why)
				}
				return
			}
			if err != nil || s.State != tc.state || !strings.Contains(s.Why, tc.why) {
				t.Fatalf("got %+v, %v; want %s, %q", s, err, tc.state, tc.why)
			}
			// At most 2 ns outside of what exact arithmetic says, never inside.
			if d := epoch.Add(tc.lo) - s.Earliest; d < 0 || d > 2 {
				t.Errorf("earliest is %s, want %s", s.Earliest.Sub(epoch), tc.lo)
			}
			if d := s.Latest - (epoch + 60).Add(tc.hi); d < 0 || d > 2 {
				t.Errorf("latest is %s, want %s", s.Latest.Sub(epoch), tc.hi)
			}
			if want := int64(50_000 + 500_000 + 750); s.Rate != want || s.Mono != time.Second {
				t.Errorf("rate %d, want %d; mono %s", s.Rate, want, s.Mono)
			}
		})
	}
}

// Readings stop 3 s before a leap second, and come back when the daemon says that it is over and has had news since.
func TestLeapSecond(t *testing.T) {
	w := &world{}
	midnight := Instant(1_483_228_800e9) // 2017-01-01
	w.ns.Store(int64(midnight.Add(-10*time.Second) - epoch))
	c, tr := NewChrony(""), good()
	clk := New(sourceFunc(func(h *Host) (Sample, error) {
		return c.judge(Pair{Mono: h.Mono(), Earliest: w.truth(), Latest: w.truth()}, &tr)
	}), Options{Mono: w.mono})
	ref := func() { tr.RefTime = time.Unix(0, int64(w.truth())) }
	tr.LeapStatus = leapInsert
	ref()
	_ = clk.Poll()
	must(t, clk)
	w.advance(7*time.Second - 50*time.Microsecond) // the half width is 100 µs
	_ = clk.Poll()
	refuses(t, clk, ErrDisrupted)
	w.advance(4 * time.Second)
	_ = clk.Poll()
	refuses(t, clk, ErrDisrupted) // the day is over, the daemon still announces the leap
	tr.LeapStatus = leapUnsynchronized
	_ = clk.Poll()
	refuses(t, clk, ErrDisrupted)
	tr.LeapStatus = leapNone
	_ = clk.Poll()
	refuses(t, clk, ErrDisrupted) // its figures are still those from before
	w.advance(2 * time.Second)
	ref()
	_ = clk.Poll()
	must(t, clk)
}

type sourceFunc func(*Host) (Sample, error)

func (f sourceFunc) Read(h *Host) (Sample, error) { return f(h) }
func (f sourceFunc) String() string               { return "func" }

// wireFloat writes the protocol's floating point numbers: 7 bits of exponent, 25 of coefficient.
func wireFloat(f float64) uint32 {
	if f == 0 {
		return 0
	}
	frac, exp := math.Frexp(f)
	coef := int32(math.Round(frac * (1 << 24))) // 25 bits with sign
	return uint32(exp+1)<<25 | uint32(coef)&(1<<25-1)
}

// reply is the datagram that chronyd sends.
func reply(seq uint32, tr chrony.Tracking) []byte {
	b := make([]byte, trackingBytes)
	be := binary.BigEndian
	b[0], b[1] = 6, 2
	be.PutUint16(b[4:], cmdTracking)
	be.PutUint16(b[6:], 5)
	be.PutUint32(b[16:], seq)
	be.PutUint32(b[28:], tr.RefID)
	be.PutUint16(b[48:], 1)
	be.PutUint16(b[52:], tr.Stratum)
	be.PutUint16(b[54:], tr.LeapStatus)
	be.PutUint32(b[56:], uint32(tr.RefTime.Unix()>>32))
	be.PutUint32(b[60:], uint32(tr.RefTime.Unix()))
	be.PutUint32(b[64:], uint32(tr.RefTime.Nanosecond()))
	for i, f := range []float64{tr.CurrentCorrection, tr.LastOffset, tr.RMSOffset, tr.FreqPPM, tr.ResidFreqPPM, tr.SkewPPM, tr.RootDelay, tr.RootDispersion, tr.LastUpdateInterval} {
		be.PutUint32(b[68+4*i:], wireFloat(f))
	}
	return b
}

// server is a chronyd made by hand: answer gets each request's sequence and returns datagrams to send.
func server(t *testing.T, network, addr string, answer func(seq uint32) [][]byte) string {
	t.Helper()
	conn, err := net.ListenPacket(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 1024)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if n != 104 || b[0] != 6 || b[1] != 1 || binary.BigEndian.Uint16(b[4:]) != cmdTracking {
				t.Errorf("not a tracking request of 104 bytes: % x", b[:n])
				continue
			}
			for _, d := range answer(binary.BigEndian.Uint32(b[8:])) {
				if _, err := conn.WriteTo(d, from); err != nil {
					t.Errorf("answer: %v", err)
				}
			}
		}
	}()
	return conn.LocalAddr().String()
}

func now(tr chrony.Tracking) chrony.Tracking {
	tr.RefTime = time.Now().Add(-time.Second)
	return tr
}

func TestChronyOverUDP(t *testing.T) {
	var silent, garbage, status atomic.Bool
	var late []byte
	addr := server(t, "udp", "127.0.0.1:0", func(seq uint32) [][]byte {
		r := reply(seq, now(good()))
		switch {
		case silent.Load():
			late = r // comes with the next answer
			return nil
		case garbage.Load():
			return [][]byte{{}, {6}, bytes.Repeat([]byte{0xff}, 300), reply(seq+1, now(good())), r}
		case status.Load():
			r[9] = 19
			return [][]byte{r[:replyHeadBytes]}
		}
		if late != nil {
			defer func() { late = nil }()
			return [][]byte{late, r}
		}
		return [][]byte{r}
	})
	src, err := Parse("chrony:" + addr)
	if err != nil {
		t.Fatal(err)
	}
	c := New(src, Options{})
	defer c.Stop()
	poll := func(want string) {
		t.Helper()
		if err := c.Poll(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Fatalf("poll: %v, want %q", err, want)
		}
		iv := must(t, c) // an error never takes the reading away
		if n := Instant(time.Now().UnixNano()); n < iv.Earliest || n > iv.Latest {
			t.Fatalf("%d is not in %s", n, iv)
		}
	}
	poll("")
	silent.Store(true)
	poll("no answer within 100ms")
	silent.Store(false)
	poll("") // the answer to the question before comes first, and is dropped
	garbage.Store(true)
	poll("")
	garbage.Store(false)
	status.Store(true)
	poll("status")
	status.Store(false)
	poll("")
}

func TestChronyOverUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chronyd.sock")
	server(t, "unixgram", path, func(seq uint32) [][]byte { return [][]byte{reply(seq, now(good()))} })
	src, err := Parse("chrony:" + path)
	if err != nil {
		t.Fatal(err)
	}
	c := New(src, Options{})
	for range 3 {
		if err := c.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	must(t, c)
	c.Stop()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "longitude*")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestChronyAbsent(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := conn.LocalAddr().String()
	conn.Close() // now nobody is there
	for _, spec := range []string{"chrony:" + addr, "chrony:" + filepath.Join(t.TempDir(), "chronyd.sock")} {
		src, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		c := New(src, Options{})
		if err := c.Poll(); err == nil || !strings.Contains(err.Error(), "chronyd at ") {
			t.Fatalf("%s: %v", spec, err)
		}
		refuses(t, c, ErrUnknown)
		if st := c.Status(); !strings.Contains(st.Why, "chronyd at ") {
			t.Fatalf("status does not say why: %s", st)
		}
	}
}

// Whatever arrives: no panic, and never an interval without its wall clock reading.
func FuzzTracking(f *testing.F) {
	f.Add(reply(1, good()), uint32(1))
	unsync := good()
	unsync.LeapStatus = 3
	f.Add(reply(2, unsync), uint32(2))
	f.Add([]byte{6, 2, 0, 0, 0, 33}, uint32(0))
	f.Add(append(reply(3, good())[:28], bytes.Repeat([]byte{0xff}, 76)...), uint32(3))
	for _, kind := range []byte{1, 2, 3, 4, 6, 7, 12, 14, 16, 18, 20, 21, 24, 25, 26} { // other replies that the library decodes
		r := reply(4, good())
		r[7] = kind
		f.Add(append(r, make([]byte, 400)...), uint32(4))
	}
	f.Fuzz(func(t *testing.T, b []byte, seq uint32) {
		tr, err := parseTracking(b, seq)
		if err != nil {
			if tr != nil {
				t.Fatal("both an answer and an error")
			}
			return
		}
		p := Pair{Mono: time.Second, Earliest: epoch, Latest: epoch + 60}
		s, err := NewChrony("").judge(p, tr)
		if err != nil {
			return
		}
		if s.State == Disrupted {
			return
		}
		e, c := tr.RootDelay/2+tr.RootDispersion, tr.CurrentCorrection
		lo, hi := float64(p.Earliest-s.Earliest)/1e9, float64(s.Latest-p.Latest)/1e9
		if s.check() != nil || !(lo > 0 && lo >= e-min(c, 0)-1e-9) || !(hi > 0 && hi >= e+max(c, 0)-1e-9) || lo+hi > 2*maxBound.Seconds() {
			t.Fatalf("%+v from %+v: %v", s, *tr, s.check())
		}
		if tr.Stratum == 0 || tr.RefID == localReference || float64(s.Rate) < 1000*tr.SkewPPM {
			t.Fatalf("%+v was believed: %+v", *tr, s)
		}
	})
}

func TestWireFloat(t *testing.T) {
	for _, want := range []float64{0, 1, -1, 1e-6, -50e-6, 0.123456, 1000, -3.5e-9} {
		tr := good()
		tr.CurrentCorrection = want
		got, err := parseTracking(reply(9, tr), 9)
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(got.CurrentCorrection - want); d > math.Abs(want)/(1<<23) {
			t.Errorf("%g became %g", want, got.CurrentCorrection)
		}
	}
	if _, err := parseTracking(reply(9, good()), 10); !errors.Is(err, errNotOurs) {
		t.Errorf("a wrong sequence gave %v", err)
	}
}
