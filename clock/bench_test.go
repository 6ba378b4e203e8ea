package clock

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What a reading costs, in one run to be compared, by one goroutine and by eight: time.Now; the monotonic clock alone, below
// which nothing in Go can be that reads it; ours; the way that other clients of chronyd take (a mutex, two clock reads,
// floating point); and asking a process over a socket each time. docs/clock-sources.md has the table.

var sink int64

func BenchmarkTimeNow(b *testing.B) {
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		n += int64(time.Now().Nanosecond())
	}
	sink = n
}

func BenchmarkMonotonicAlone(b *testing.B) {
	base := time.Now()
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		n += int64(time.Since(base))
	}
	sink = n
}

func BenchmarkNow(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	b.ReportAllocs()
	var n Instant
	for b.Loop() {
		iv, err := c.Now()
		if err != nil {
			b.Fatal(err)
		}
		n += iv.Latest
	}
	sink = int64(n)
}

func BenchmarkMutexAndFloat(b *testing.B) {
	m := newMutexClock()
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		_, l := m.now()
		n += l.UnixNano()
	}
	sink = n
}

func BenchmarkDatagram(b *testing.B) {
	d := newDatagramClock(b)
	conn, err := d.dial()
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	b.ReportAllocs()
	var n Instant
	for b.Loop() {
		iv, err := d.now(conn)
		if err != nil {
			b.Fatal(err)
		}
		n += iv.Latest
	}
	sink = int64(n)
}

func BenchmarkTimeNow8Goroutines(b *testing.B) {
	parallel8(b, func() error { _ = time.Now(); return nil })
}

func BenchmarkMonotonicAlone8Goroutines(b *testing.B) {
	base := time.Now()
	parallel8(b, func() error { _ = time.Since(base); return nil })
}

func BenchmarkNow8Goroutines(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	parallel8(b, func() error { _, err := c.Now(); return err })
}

// BenchmarkNow8GoroutinesPolled is the same while the anchor is replaced a hundred times as often as in production.
func BenchmarkNow8GoroutinesPolled(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{PollInterval: time.Millisecond})
	_ = c.Poll()
	c.Start()
	b.Cleanup(c.Stop)
	parallel8(b, func() error { _, err := c.Now(); return err })
}

func BenchmarkMutexAndFloat8Goroutines(b *testing.B) {
	m := newMutexClock()
	parallel8(b, func() error { m.now(); return nil })
}

// BenchmarkDatagram8Goroutines gives each goroutine a socket of its own: with one for all they would only wait for each other.
func BenchmarkDatagram8Goroutines(b *testing.B) {
	d := newDatagramClock(b)
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		conn, err := d.dial()
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		for pb.Next() {
			if _, err := d.now(conn); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	c := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	iv, _ := c.Now()
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(1, iv.Earliest, iv.Latest+1<<40)
	}
}

func parallel8(b *testing.B, f func() error) {
	b.ReportAllocs()
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// mutexClock is the baseline: the daemon's figures under a mutex, evaluated in floating point against the wall clock.
type mutexClock struct {
	mu                        sync.Mutex
	ref                       time.Time
	delay, dispersion, corr   float64
	skewPPM, residPPM, maxPPM float64
}

func newMutexClock() *mutexClock {
	return &mutexClock{ref: time.Now(), delay: 1e-4, dispersion: 2e-5, corr: 1e-6, skewPPM: 0.1, residPPM: 0.01, maxPPM: 50}
}

func (m *mutexClock) now() (earliest, latest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := time.Now()
	age := time.Since(m.ref).Seconds()
	e := m.delay/2 + m.dispersion + math.Abs(m.corr) + age*(m.skewPPM+math.Abs(m.residPPM)+m.maxPPM)*1e-6
	d := time.Duration(math.Ceil(e * 1e9))
	return t.Add(-d), t.Add(d)
}

// datagramClock is a local process that is asked over a unix datagram socket and answers with an interval: the least that
// such a process costs, since this one is a goroutine and computes nothing else.
type datagramClock struct {
	path    string
	clients atomic.Uint32
}

func newDatagramClock(b *testing.B) *datagramClock {
	d := &datagramClock{path: filepath.Join(b.TempDir(), "s")}
	srv, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: d.path, Net: "unixgram"})
	if err != nil {
		b.Skipf("no unix datagram sockets here: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var in [64]byte
		var out [16]byte
		for {
			_, from, err := srv.ReadFromUnix(in[:])
			if err != nil {
				return
			}
			t := time.Now().UnixNano()
			binary.BigEndian.PutUint64(out[:], uint64(t-1e6))
			binary.BigEndian.PutUint64(out[8:], uint64(t+1e6))
			if _, err := srv.WriteToUnix(out[:], from); err != nil {
				return
			}
		}
	}()
	b.Cleanup(func() { _ = srv.Close(); <-done })
	return d
}

// dial makes a socket with a path of its own, or no answer could come.
func (d *datagramClock) dial() (net.Conn, error) {
	own := fmt.Sprintf("%s.%d", d.path, d.clients.Add(1))
	return net.DialUnix("unixgram", &net.UnixAddr{Name: own, Net: "unixgram"}, &net.UnixAddr{Name: d.path, Net: "unixgram"})
}

func (d *datagramClock) now(conn net.Conn) (Interval, error) {
	var buf [16]byte
	if _, err := conn.Write(buf[:1]); err != nil {
		return Interval{}, err
	}
	if _, err := conn.Read(buf[:]); err != nil {
		return Interval{}, err
	}
	return Interval{Instant(binary.BigEndian.Uint64(buf[:])), Instant(binary.BigEndian.Uint64(buf[8:]))}, nil
}
