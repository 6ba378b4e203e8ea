package clock_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// machine is one whose clocks stand still unless they are told to go on, so that the examples print the same every time.
type machine struct{ mono time.Duration }

const noon = clock.Instant(1_700_000_000_000_000_000)

func (m *machine) options() clock.Options {
	return clock.Options{
		Mono: func() time.Duration { return m.mono },
		Wall: func() clock.Instant { return noon.Add(m.mono) },
	}
}

// A clock asks a source, and gives intervals. Outside of tests and simulations Options are empty, and Start polls.
func Example() {
	var m machine
	src, err := clock.Parse("static:500ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := clock.New(src, m.options())
	if _, err := c.Now(); errors.Is(err, clock.ErrUnknown) {
		fmt.Println("before the source was asked:", err)
	}
	if err := c.Poll(); err != nil {
		fmt.Println(err)
	}
	now, err := c.Now()
	fmt.Println(now.Width(), err)
	// Output:
	// before the source was asked: clock: time is unknown: the source has not synchronised, or was lost for too long
	// 500.000002ms <nil>
}

// What has been written with a timestamp is acknowledged when that timestamp is certainly past; whoever begins after
// that, on any machine, has a limit above it.
func ExampleInterval_Past() {
	var m machine
	c := clock.New(clock.Static{D: 4 * time.Millisecond}, m.options())
	_ = c.Poll()
	begun, _ := c.Now()
	ts := begun.Limit()
	for {
		now, err := c.Now()
		if err != nil { // not a reason to go on, nor to wait for ever: the caller is to hear that nobody knows
			fmt.Println(err)
			return
		}
		if now.Past(ts) {
			break
		}
		fmt.Println("after", m.mono, "not yet")
		m.mono += 3 * time.Millisecond // in a program: time.Sleep
	}
	fmt.Println("after", m.mono, "acknowledged")
	// Output:
	// after 0s not yet
	// after 3ms not yet
	// after 6ms acknowledged
}

// While the source does not answer the interval grows, at the rate that the oscillator may be off, and the state says so.
func ExampleClock_Status() {
	var m machine
	src := clock.NewSim(clock.Conditions{Bound: time.Millisecond}, func() clock.Instant { return noon.Add(m.mono) })
	c := clock.New(src, m.options())
	_ = c.Poll()
	src.Set(clock.Conditions{Bound: time.Millisecond, Lost: true})
	for _, age := range []time.Duration{0, time.Second, 100 * time.Second, 1001 * time.Second} {
		m.mono = age
		_ = c.Poll()
		if s := c.Status(); s.Err == nil {
			fmt.Printf("%s: %s, ±%s\n", age, s.State, s.Bound)
		} else {
			fmt.Printf("%s: %s, %v\n", age, s.State, s.Err)
		}
	}
	// Output:
	// 0s: synchronized, ±1.000001ms
	// 1s: synchronized, ±1.050001ms
	// 1m40s: free running, ±6.000085ms
	// 16m41s: unknown, clock: time is unknown: the source has not synchronised, or was lost for too long
}

// A message carries its sender's reading. If both readings cannot hold true time, one of the two clocks is wrong.
func ExampleClock_Observe() {
	var m machine
	ours := clock.New(clock.Static{D: 2 * time.Millisecond}, m.options())
	theirs := clock.New(clock.Static{D: 2 * time.Millisecond, Offset: 5 * time.Millisecond}, m.options())
	_, _ = ours.Poll(), theirs.Poll()
	sent, _ := theirs.Now()
	fmt.Println("conflict:", ours.Observe(7, sent.Earliest, sent.Latest))
	for _, d := range ours.DisjointReadings() {
		fmt.Println("node", d.Peer, "is apart by", d.Apart())
	}
	// Output:
	// conflict: true
	// node 7 is apart by 2.999998ms
}

// Of several sources those that contradict the majority are left out, and named.
func ExampleNewAll() {
	var m machine
	truth := func() clock.Instant { return noon.Add(m.mono) }
	src, err := clock.NewAll(
		clock.NewSim(clock.Conditions{Bound: 2 * time.Millisecond}, truth),
		clock.NewSim(clock.Conditions{Bound: time.Millisecond, Offset: 500 * time.Microsecond}, truth),
		clock.NewSim(clock.Conditions{Bound: time.Millisecond, Offset: time.Second, Lying: true}, truth),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := clock.New(src, m.options())
	_ = c.Poll()
	s := c.Status()
	fmt.Printf("%s ±%s\n", s.State, s.Bound)
	for _, f := range s.FellOut {
		fmt.Println(f.Source, "-", f.Why)
	}
	// Output:
	// synchronized ±1.000002ms
	// sim:eps=1ms,offset=1s,lying - contradicted by the others: it is 997.5ms away from where they agree
}

// A bad spec is answered with what is accepted.
func ExampleParse() {
	src, err := clock.Parse("chrony:127.0.0.1:323,slew=0,drift=15ppm,margin=20us")
	fmt.Println(src, err)
	_, err = clock.Parse("static")
	fmt.Println(err != nil)
	// Output:
	// chrony:127.0.0.1:323,drift=15ppm,slew=0ppm,margin=20µs <nil>
	// true
}
