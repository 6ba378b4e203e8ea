package clock

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// world is a machine with a ground truth, for tests: the monotonic clock and true time move only by advance.
type world struct{ ns atomic.Int64 }

const epoch = Instant(1_700_000_000_000_000_000)

func (w *world) mono() time.Duration     { return time.Duration(w.ns.Load()) }
func (w *world) truth() Instant          { return epoch + Instant(w.ns.Load()) }
func (w *world) advance(d time.Duration) { w.ns.Add(int64(d)) }

func (w *world) clock(t *testing.T, c Conditions, o Options) (*Clock, *Sim) {
	t.Helper()
	s := NewSim(c, w.truth)
	o.Mono = w.mono
	return New(s, o), s
}

// must takes a reading that has to be there, and checks T2.
func must(t *testing.T, c *Clock) Interval {
	t.Helper()
	iv, err := c.Now()
	if err != nil {
		t.Fatalf("no reading: %v (%s)", err, c.Status())
	}
	if iv.Earliest > iv.Latest {
		t.Fatalf("earliest %d > latest %d", iv.Earliest, iv.Latest)
	}
	return iv
}

func refuses(t *testing.T, c *Clock, want error) {
	t.Helper()
	if iv, err := c.Now(); !errors.Is(err, want) {
		t.Fatalf("got %s, %v; want %v (%s)", iv, err, want, c.Status())
	}
}

func TestNoReadingBeforeTheSourceAnswered(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: time.Millisecond, Lost: true}, Options{})
	refuses(t, c, ErrUnknown)
	if err := c.Poll(); err == nil {
		t.Fatal("a lost source must be reported")
	}
	refuses(t, c, ErrUnknown)
	s.Set(Conditions{Bound: time.Millisecond})
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	iv := must(t, c)
	if w.truth() < iv.Earliest || w.truth() > iv.Latest {
		t.Fatalf("%s does not hold %d", iv, w.truth())
	}
}

// A source that is lost degrades by itself: free running with a growing interval, then unknown, or fenced if the width
// limit comes first; and it comes back without ado.
func TestAgeing(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit time.Duration
		age   time.Duration
		state State
		err   error
	}{
		{"fresh", -1, 5 * time.Second, Synchronized, nil},
		{"stale", -1, 5*time.Second + 1, FreeRunning, nil},
		{"old", -1, 1000 * time.Second, FreeRunning, nil},
		{"void", -1, 1000*time.Second + 1, Unknown, ErrUnknown},
		{"below the width limit", 4 * time.Millisecond, 9 * time.Second, FreeRunning, nil},
		{"above the width limit", 4 * time.Millisecond, 21 * time.Second, Unknown, ErrFenced},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{}
			// ±1 ms, growing by 50 µs a second on each side: 4 ms wide after 20 s.
			c, s := w.clock(t, Conditions{Bound: time.Millisecond}, Options{MaxUncertainty: tc.limit})
			_ = c.Poll()
			s.Set(Conditions{Lost: true})
			w.advance(tc.age)
			_ = c.Poll()
			iv, err := c.Now()
			if st := c.Status(); !errors.Is(err, tc.err) || st.State != tc.state {
				t.Fatalf("got %v, %s; want %v, %s", err, st, tc.err, tc.state)
			} else if err != nil && st.Why == "" {
				t.Fatalf("no reason given: %+v", st)
			}
			if err == nil {
				grown := time.Duration(tc.age.Seconds() * 50e3)
				if g := iv.Width() - 2*time.Millisecond - 2*grown; g < 0 || g > 100*time.Nanosecond+2*tc.age/1e9 { // the rate is rounded up to the next 2^-30
					t.Fatalf("width %s after %s: not ±1 ms and ±%s", iv.Width(), tc.age, grown)
				}
			}
			s.Set(Conditions{Bound: time.Millisecond})
			if err := c.Poll(); err != nil {
				t.Fatal(err)
			}
			must(t, c)
		})
	}
}

func TestTooWideFromTheStart(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: 300 * time.Millisecond}, Options{MaxUncertainty: 500 * time.Millisecond})
	_ = c.Poll()
	refuses(t, c, ErrFenced)
	if st := c.Status(); st.Bound < 300*time.Millisecond || st.Why == "" {
		t.Fatalf("status does not say how wide: %s", st)
	}
	s.Set(Conditions{Bound: 200 * time.Millisecond}) // below the limit, but not so far that it would not hover there
	_ = c.Poll()
	refuses(t, c, ErrFenced)
	if st := c.Status(); !strings.Contains(st.Why, "has to come down to 375ms") {
		t.Fatalf("status does not say what is waited for: %s", st)
	}
	s.Set(Conditions{Bound: 180 * time.Millisecond})
	_ = c.Poll()
	must(t, c)
	s.Set(Conditions{Bound: 240 * time.Millisecond}) // and up to the limit again
	_ = c.Poll()
	must(t, c)
}

// The bound jumps up when a source degrades. Earliest stays where it was until true time has certainly passed it; latest
// goes where it must.
func TestEarliestNeverGoesBack(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: time.Millisecond}, Options{})
	_ = c.Poll()
	before := must(t, c)
	s.Set(Conditions{Bound: 10 * time.Millisecond})
	w.advance(time.Microsecond)
	_ = c.Poll()
	after := must(t, c)
	if after.Earliest < before.Earliest {
		t.Fatalf("earliest went back by %s", before.Earliest.Sub(after.Earliest))
	}
	if want := w.truth().Add(10 * time.Millisecond); after.Latest < want {
		t.Fatalf("latest %d is below %d: it was not computed afresh", after.Latest, want)
	}
	w.advance(20 * time.Millisecond)
	if iv := must(t, c); iv.Earliest <= after.Earliest {
		t.Fatal("earliest stands still although time has passed it")
	}
}

// A peer's earliest is taken up to our own latest. Beyond it contradicts one of us, and must not drag us along. Its latest
// means something only in an answer: it was read after we had asked.
func TestObserve(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name             string
		earliest, latest time.Duration // of the peer, from true time; ours is ±10 ms
		answer           bool          // to a message that we sent at the same moment
		conflict, raised bool
	}{
		{"a little wider", -11 * ms, 11 * ms, false, false, false},
		{"narrower", -1 * ms, 1 * ms, false, false, true},
		{"much wider", -500 * ms, 500 * ms, false, false, false},
		{"ahead, touching", 10 * ms, 30 * ms, false, false, true},
		{"ahead, disjoint", 11 * ms, 31 * ms, false, true, false},
		{"far ahead", time.Hour, 2 * time.Hour, false, true, false},
		{"sent long ago", -31 * ms, -11 * ms, false, false, false},
		{"answered behind, touching", -30 * ms, -10 * ms, true, false, false},
		{"answered behind, disjoint", -31 * ms, -11 * ms, true, true, false},
		{"answered ahead, disjoint", 11 * ms, 31 * ms, true, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{}
			c, _ := w.clock(t, Conditions{Bound: 10 * ms}, Options{})
			_ = c.Poll()
			was := must(t, c)
			var got bool
			if tc.answer {
				got = c.ObserveReply(7, was, w.truth().Add(tc.earliest), w.truth().Add(tc.latest))
			} else {
				got = c.Observe(7, w.truth().Add(tc.earliest), w.truth().Add(tc.latest))
			}
			if got != tc.conflict {
				t.Fatalf("conflict %v, want %v", got, tc.conflict)
			}
			is := must(t, c)
			if raised := is.Earliest > was.Earliest; raised != tc.raised {
				t.Fatalf("raised %v, want %v", raised, tc.raised)
			}
			if is.Latest != was.Latest {
				t.Fatal("a peer moved our latest")
			}
			if ds := c.DisjointReadings(); (len(ds) == 1) != tc.conflict || len(c.Conflicts()) != 0 {
				t.Fatalf("disjoint readings: %+v, conflicts: %+v", ds, c.Conflicts())
			} else if tc.conflict && (ds[0].Peer != 7 || ds[0].Count != 1 || ds[0].Apart().Abs() < 999*time.Microsecond) {
				t.Fatalf("conflict: %+v", ds[0])
			}
		})
	}
}

// A source that jumps by more than its bounds has lied before or lies now. Nobody can know; the readings stop until the
// source has learned something new.
func TestContradictionDisrupts(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: time.Millisecond, Lying: true}, Options{})
	_ = c.Poll()
	must(t, c)
	s.Set(Conditions{Bound: time.Millisecond, Lying: true, Offset: 5 * time.Millisecond})
	w.advance(time.Millisecond)
	if err := c.Poll(); err == nil {
		t.Fatal("a jump of 5 ms within ±1 ms must be noticed")
	}
	refuses(t, c, ErrDisrupted)
	if st := c.Status(); st.State != Disrupted || st.Disruptions != 1 || st.LastDisruption == "" {
		t.Fatalf("status: %+v", st)
	}
	w.advance(time.Millisecond)
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	must(t, c)
}

// A clock that was ahead and is corrected cannot take back what it gave out: it is silent until time has come that far.
func TestCorrectedBackwardsWaits(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: time.Millisecond, Lying: true, Offset: 50 * time.Millisecond}, Options{})
	_ = c.Poll()
	ahead := must(t, c)
	s.Set(Conditions{Bound: time.Millisecond})
	for range 5 { // the first poll finds it out, when the old readings had come to 59 ms
		w.advance(10 * time.Millisecond)
		_ = c.Poll()
		refuses(t, c, ErrDisrupted)
	}
	w.advance(10 * time.Millisecond)
	_ = c.Poll()
	if iv := must(t, c); iv.Earliest < ahead.Earliest {
		t.Fatal("earliest went back over a disruption")
	}
}

func TestSourceSaysDisrupted(t *testing.T) {
	w := &world{}
	c, s := w.clock(t, Conditions{Bound: time.Millisecond}, Options{})
	_ = c.Poll()
	s.Set(Conditions{State: Disrupted})
	_ = c.Poll()
	refuses(t, c, ErrDisrupted)
	s.Set(Conditions{Bound: time.Millisecond, State: FreeRunning})
	_ = c.Poll()
	refuses(t, c, ErrDisrupted) // only a synchronised answer ends it
	s.Set(Conditions{Bound: time.Millisecond})
	_ = c.Poll()
	must(t, c)
}

func TestFence(t *testing.T) {
	w := &world{}
	c, _ := w.clock(t, Conditions{Bound: time.Millisecond}, Options{})
	_ = c.Poll()
	c.Fence("2 of 3 nodes contradict us")
	refuses(t, c, ErrFenced)
	_ = c.Poll()
	refuses(t, c, ErrFenced)
	if st := c.Status(); st.Why != "2 of 3 nodes contradict us" {
		t.Fatalf("why: %q", st.Why)
	}
	c.Unfence()
	_ = c.Poll()
	must(t, c)
}

// Whoever lies is found out by a peer as soon as the intervals are disjoint, in either direction.
func TestLiarsAreContradicted(t *testing.T) {
	w := &world{}
	honest, _ := w.clock(t, Conditions{Bound: time.Millisecond}, Options{})
	liar, ls := w.clock(t, Conditions{Bound: time.Millisecond, Lying: true, Offset: 3 * time.Millisecond}, Options{})
	_, _ = honest.Poll(), liar.Poll()
	h, l := must(t, honest), must(t, liar)
	if !honest.Observe(2, l.Earliest, l.Latest) || !liar.ObserveReply(1, l, h.Earliest, h.Latest) {
		t.Fatal("no conflict")
	}
	ls.Set(Conditions{Bound: time.Millisecond, Offset: 3 * time.Millisecond}) // as far off, but honest about it
	_, _ = honest.Poll(), liar.Poll()
	w.advance(20 * time.Millisecond) // until true time has passed what it gave out
	if l = must(t, liar); honest.Observe(2, l.Earliest, l.Latest) {
		t.Fatal("an honest clock is never contradicted")
	}
}

// Random histories of honest sources: true time is always inside, and earliest and peers' readings never go wrong.
func TestHonestClocksContainTrueTime(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &world{}
		var clocks [3]*Clock
		var sims [3]*Sim
		random := func() Conditions {
			return Conditions{
				Offset: time.Duration(r.Int64N(4e6) - 2e6), Drift: r.Int64N(2*DefaultDrift) - DefaultDrift,
				Bound: time.Duration(r.Int64N(5e6)), Widen: r.Int64N(1e6), Lost: r.IntN(4) == 0,
			}
		}
		for i := range clocks {
			sims[i] = NewSim(random(), w.truth)
			// Every other machine's oscillator drifts as its conditions say, and honestly admits it.
			mono := w.mono
			if i%2 == 1 {
				mono = sims[i].Mono(w.mono)
			}
			clocks[i] = New(sims[i], Options{Mono: mono, MaxUncertainty: -1})
		}
		var last [3]Instant
		for range 300 {
			w.advance(time.Duration(r.Int64N(50e6)))
			i := r.IntN(3)
			if r.IntN(10) == 0 {
				sims[i].Set(random())
				_ = clocks[i].Poll()
			}
			if r.IntN(3) == 0 {
				_ = clocks[i].Poll()
			}
			iv, err := clocks[i].Now()
			if err != nil {
				if errors.Is(err, ErrDisrupted) {
					t.Fatalf("seed %d: honest clock disrupted: %s", seed, clocks[i].Status())
				}
				continue
			}
			if now := w.truth(); now < iv.Earliest || now > iv.Latest {
				t.Fatalf("seed %d: %d is not in %s", seed, now, iv)
			}
			if iv.Earliest < last[i] {
				t.Fatalf("seed %d: earliest went back", seed)
			}
			last[i] = iv.Earliest
			if clocks[(i+1)%3].Observe(uint32(i), iv.Earliest, iv.Latest) {
				t.Fatalf("seed %d: honest clocks contradict each other", seed)
			}
		}
	}
}

// Negative control: a drift beyond what the clock admits, with the source lost, breaks the bound; and a peer shows it.
func TestDriftBeyondTheRateIsContradicted(t *testing.T) {
	w := &world{}
	s := NewSim(Conditions{Bound: 100 * time.Microsecond, Lying: true}, w.truth)
	c := New(s, Options{Mono: s.Mono(w.mono)})
	peer, _ := w.clock(t, Conditions{Bound: 100 * time.Microsecond}, Options{})
	_ = c.Poll()
	s.Set(Conditions{Lost: true, Lying: true, Drift: 500_000}) // 500 ppm; 50 are admitted
	for i := range 100 {
		w.advance(100 * time.Millisecond)
		_ = peer.Poll()
		iv := must(t, c)
		if peer.Observe(1, iv.Earliest, iv.Latest) {
			if outside := iv.Earliest > w.truth(); !outside {
				t.Fatal("contradicted, but true time is inside")
			}
			t.Logf("contradicted after %d ms", (i+1)*100)
			return
		}
	}
	t.Fatal("never contradicted")
}

// Readers in all goroutines, while anchors are swapped for wider and narrower ones: what a goroutine reads is never earlier
// than what any goroutine had read before (T3).
func TestMonotoneAcrossGoroutines(t *testing.T) {
	src := NewSim(Conditions{}, nil)
	c := New(src, Options{})
	_ = c.Poll()
	var newest atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				seen := newest.Load()
				iv, err := c.Now()
				if err != nil {
					t.Errorf("no reading: %v", err)
					return
				}
				if int64(iv.Earliest) < seen {
					t.Errorf("earliest went back by %d ns", seen-int64(iv.Earliest))
					return
				}
				for {
					n := newest.Load()
					if n >= int64(iv.Earliest) || newest.CompareAndSwap(n, int64(iv.Earliest)) {
						break
					}
				}
			}
		})
	}
	for i := range 20_000 {
		src.Set(Conditions{Bound: time.Duration(1+i%7) * time.Millisecond})
		if err := c.Poll(); err != nil {
			t.Errorf("poll: %v", err)
			break
		}
		if i%1000 == 0 { // rarely, or the floor would be above all anchors
			now := Instant(time.Now().UnixNano()) // a peer that knows true time to 100 µs
			c.Observe(1, now-100_000, now+100_000)
		}
	}
	close(done)
	wg.Wait()
}

func TestStartAndStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSim(Conditions{Bound: time.Millisecond}, nil)
		c := New(s, Options{PollInterval: 100 * time.Millisecond, Boot: func() (time.Duration, bool) { return 0, false }})
		c.Start()
		c.Start() // a second call does nothing
		must(t, c)
		time.Sleep(10 * time.Second)
		if st := c.Status(); st.State != Synchronized || st.Polls < 99 {
			t.Fatalf("after 10 s: %s, %d polls", st, st.Polls)
		}
		c.Stop()
		c.Stop()
		time.Sleep(10 * time.Second)
		must(t, c)
		if st := c.Status(); st.State != FreeRunning {
			t.Fatalf("10 s after the end: %s", st)
		}
		time.Sleep(1000 * time.Second)
		refuses(t, c, ErrUnknown)
	})
}

func TestNowDoesNotAllocate(t *testing.T) {
	c := New(Static{D: time.Millisecond}, Options{})
	none := New(Static{D: time.Millisecond}, Options{})
	_ = c.Poll()
	if n := testing.AllocsPerRun(1000, func() { _, _ = c.Now(); _, _ = none.Now(); c.Observe(1, 0, 1<<62) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
