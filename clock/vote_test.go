package clock

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// F1 and F2 against random clusters: every node counts the same votes. Readings travel before reported intervals do, so the ratchet carries
// what a liar says to honest clocks with wide bounds, and from them to others (T5). With fewer than half of the clocks outside
// their bounds, a node that is found to be a falseticker is outside its bound, and a node that is disjoint from more than half
// of all is found.
func TestVoteFindsOnlyLiars(t *testing.T) {
	found, spared, polluted := 0, 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 2 + r.IntN(7)
		liars := r.IntN((n-1)/2 + 1)
		const truth = 1_000_000
		var ivs []Interval
		var clocks []*Clock
		for i := range n {
			half := Instant(math.Exp(r.Float64() * math.Log(3000)))  // from narrow to wide
			mid := truth + Instant(r.Int64N(int64(2*half)+1)) - half // an honest clock is off by its bound at most
			if i < liars {
				for off := Instant(0); mid-half <= truth && truth <= mid+half; off++ {
					mid += Instant(r.Int64N(3000)) - 1500
				}
			}
			c := New(NewSim(Conditions{Offset: mid.Sub(truth), Bound: time.Duration(half), Lying: true}, func() Instant { return truth }),
				Options{Mono: func() time.Duration { return 0 }, MaxUncertainty: -1})
			if err := c.Poll(); err != nil {
				t.Fatal(err)
			}
			reported, err := c.ReportedInterval()
			if err != nil {
				t.Fatal(err)
			}
			ivs, clocks = append(ivs, reported), append(clocks, c)
		}
		for range r.IntN(12 * n) {
			from, to := r.IntN(n), r.IntN(n)
			if iv, err := clocks[from].Now(); err == nil && from != to {
				clocks[to].Observe(uint32(from+1), iv.Earliest, iv.Latest)
			}
		}
		for i := liars; i < n; i++ {
			if iv, err := clocks[i].Now(); err != nil || iv.Earliest > truth {
				polluted++
			}
		}
		apart := func(a, b int) bool { return ivs[a].Latest < ivs[b].Earliest || ivs[b].Latest < ivs[a].Earliest }
		votes := make([]*Vote, n)
		for i := range votes {
			votes[i] = NewVote(uint32(i+1), VoteOptions{})
		}
		for to := range n { // A message tells one side only: the fast clock is contradicted by the slow one.
			for from := range n {
				if from != to && clocks[to].ObserveReported(uint32(from+1), ivs[from].Earliest, ivs[from].Latest) != (ivs[from].Earliest > ivs[to].Latest) {
					t.Fatalf("seed %d: %s and %s", seed, ivs[from], ivs[to])
				}
			}
		}
		// Each says once whom it contradicts; the order in which that arrives is of no matter.
		for _, from := range r.Perm(n) {
			var ds []uint32
			for _, d := range clocks[from].Conflicts() {
				ds = append(ds, d.Peer)
			}
			for _, v := range votes {
				v.RecordReport(time.Second, uint32(from+1), ds)
			}
		}
		for i, v := range votes {
			dissenters := 0
			for j := range n {
				if apart(i, j) {
					dissenters++
				}
			}
			want := dissenters >= 2 && 2*dissenters > n
			got := v.Step(time.Second)
			if got.Falseticker && i >= liars {
				t.Fatalf("seed %d: an honest node was found to be a falseticker with %d liars of %d: %s", seed, liars, n, got.Why)
			}
			if got.Falseticker != want || (got.Why == "") == want {
				t.Fatalf("seed %d: node %d of %d has %d dissenters: %+v", seed, i+1, n, dissenters, got)
			} else if got.Falseticker {
				found++
			} else if i < liars {
				spared++
			}
			ids, _ := v.Falsetickers(time.Second)
			for j := range votes {
				if slices.Contains(ids, uint32(j+1)) != (votes[j].Step(time.Second).Falseticker) {
					t.Fatalf("seed %d: node %d sees %v", seed, i+1, ids)
				}
			}
		}
	}
	if found < 500 || spared < 100 || polluted < 500 {
		t.Fatalf("%d liars found, %d not (their lie was within the others' bounds), %d honest clocks polluted: the test does not test much", found, spared, polluted)
	}
}

// The source of a clock in use is changed back and forth while goroutines read: earliest never goes back between any two of
// them, and true time, which is the system clock here, is in every reading. Under the race detector this is T3 of Switch, and
// a fence takes effect for whoever reads after Fence has returned.
func TestSwitchAndFenceUnderReaders(t *testing.T) {
	c := New(Static{D: 40 * time.Millisecond, Offset: -20 * time.Millisecond}, Options{Boot: func() (time.Duration, bool) { return 0, false }})
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var newest Instant
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				mu.Lock()
				seen := newest
				mu.Unlock()
				before := Instant(time.Now().UnixNano())
				iv, err := c.Now()
				after := Instant(time.Now().UnixNano())
				if err != nil {
					continue // fenced
				}
				if iv.Latest < before || iv.Earliest > after {
					t.Errorf("%s does not hold what lies in [%d, %d]", iv, before, after)
					return
				}
				if iv.Earliest < seen {
					t.Errorf("earliest went back by %s", seen.Sub(iv.Earliest))
					return
				}
				mu.Lock()
				newest = max(newest, iv.Earliest)
				mu.Unlock()
			}
		})
	}
	for i := range 2000 {
		var src Source = Static{D: 40 * time.Millisecond, Offset: -20 * time.Millisecond}
		if i%2 == 0 {
			src = NewSim(Conditions{Bound: time.Millisecond}, nil)
		}
		err := c.Switch(src)
		for tries := 0; err != nil && strings.Contains(err.Error(), "try again") && tries < 1000; tries++ {
			err = c.Switch(src) // a reading was given out between the two that the switch compares
		}
		if err != nil {
			t.Error(err)
			break
		}
		if i%100 == 0 {
			c.Fence("the test says so")
			if _, err := c.Now(); err != ErrFenced {
				t.Errorf("a reading behind the fence: %v", err)
			}
			if _, err := c.ReportedInterval(); err != nil {
				t.Errorf("a fenced clock reports nothing: %v", err)
			}
			c.Unfence()
		}
		_ = c.Poll()
	}
	close(done)
	wg.Wait()
}

// A refusal says what happened with values, and what to do.
func TestRefusal(t *testing.T) {
	for _, tc := range []struct {
		name       string
		c          Conditions
		o          Options
		do         func(c *Clock, s *Sim, w *world)
		what, hint string
	}{
		{"too wide", Conditions{Bound: 370 * time.Millisecond}, Options{MaxUncertainty: 500 * time.Millisecond},
			func(c *Clock, _ *Sim, w *world) { w.advance(12 * time.Second) },
			"clock bound is 370.6ms, maximum uncertainty is 500ms: the interval is 741.2ms wide, above the maximum uncertainty of 500ms, for 12s (source sim:eps=370ms: last good answer 12s ago)",
			"--clock=static:500ms"},
		{"contradicted", Conditions{Bound: time.Millisecond}, Options{},
			func(c *Clock, _ *Sim, w *world) {
				c.ObserveReported(2, w.truth().Add(4200*time.Microsecond), w.truth().Add(5*time.Millisecond))
				c.Fence("2 of the 3 nodes that are heard of contradict the clock of node 1: node 2, node 3")
				w.advance(3 * time.Second)
			},
			"2 of the 3 nodes that are heard of contradict the clock of node 1: node 2, node 3, for 3s; " +
				"outside of the readings of node 2 by 3.2ms (source sim:eps=1ms: last good answer 3s ago)",
			"longitude clock set"},
		{"disrupted", Conditions{Bound: time.Millisecond, State: Disrupted}, Options{}, func(*Clock, *Sim, *world) {},
			"the clock is disrupted: the simulated source says so (source sim:eps=1ms: no good answer)", "next measurement"},
		{"lost", Conditions{Bound: time.Millisecond, Lost: true}, Options{}, func(*Clock, *Sim, *world) {},
			"the clock does not know the time: the source has not been asked yet: the simulated source is lost (source sim:eps=1ms,lost: no good answer)", "longitude clock sources"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{}
			c, s := w.clock(t, tc.c, tc.o)
			_ = c.Poll()
			tc.do(c, s, w)
			what, hint := c.Status().Refusal()
			if what != tc.what {
				t.Errorf("%s\nwant\n%s", what, tc.what)
			}
			if !strings.Contains(hint, tc.hint) {
				t.Errorf("hint: %s", hint)
			}
		})
	}
}

// T5 and F4 in random clusters over time: messages with readings all the time, heartbeats with reported intervals now and then.
// However many clocks lie, and whether or not a majority finds them: once each liar that is disjoint from an honest clock is a suspect
// everywhere, and true time has come to what liars gave out before that, no honest clock's reading is false any more.
func TestWhatLiarsSayPasses(t *testing.T) {
	polluted, unfenced := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		n := 2 + r.IntN(5)
		liars := 1 + r.IntN(n-1)
		var now time.Duration
		const beat, delay = 50 * time.Millisecond, time.Millisecond
		truth := func() Instant { return epoch.Add(now) }
		var clocks []*Clock
		var votes []*Vote
		for i := range n {
			c := Conditions{Bound: time.Duration(math.Exp(r.Float64()*math.Log(1000)) * 50_000)} // 0.05 to 50 ms
			c.Offset = time.Duration((2*r.Float64() - 1) * float64(c.Bound))
			if i < liars { // ahead: a clock that is behind raises nothing
				c = Conditions{Bound: c.Bound / 10, Offset: c.Bound/10 + 10*time.Millisecond + time.Duration(r.Int64N(int64(100*time.Millisecond))), Lying: true}
			}
			if i == n-1 { // an honest one that excludes all liars
				c = Conditions{Bound: 50 * time.Microsecond}
			}
			clocks = append(clocks, New(NewSim(c, truth), Options{Mono: func() time.Duration { return now }, MaxUncertainty: -1}))
			votes = append(votes, NewVote(uint32(i+1), VoteOptions{}))
			if err := clocks[i].Poll(); err != nil {
				t.Fatal(err)
			}
		}
		reports := func() {
			for to := range n {
				for from := range n {
					if iv, err := clocks[from].ReportedInterval(); err == nil && from != to {
						clocks[to].ObserveReported(uint32(from+1), iv.Earliest.Add(-delay), iv.Latest)
					}
				}
			}
			for to := range n {
				for from := range n {
					var ds []uint32
					for _, d := range clocks[from].Conflicts() {
						if d.Age <= time.Second {
							ds = append(ds, d.Peer)
						}
					}
					votes[to].RecordReport(now, uint32(from+1), ds)
				}
				clocks[to].Suspect(votes[to].Suspects(now))
				if j := votes[to].Step(now); j.Falseticker {
					clocks[to].Fence(j.Why)
				} else {
					clocks[to].Unfence()
				}
			}
		}
		var passed Instant // the highest earliest of a liar before all were suspects
		for step := range 3000 {
			now += 100 * time.Microsecond
			from, to := r.IntN(n), r.IntN(n)
			iv, err := clocks[from].Now()
			if err == nil && from != to {
				clocks[to].Observe(uint32(from+1), iv.Earliest, iv.Latest)
			}
			if err == nil && from < liars && now < beat {
				passed = max(passed, iv.Earliest)
			}
			if now%beat == 0 {
				reports()
			}
			for i := liars; i < n; i++ {
				iv, err := clocks[i].Now()
				switch {
				case err != nil:
				case truth() > iv.Latest:
					t.Fatalf("seed %d: the latest of an honest clock is %s behind true time", seed, truth().Sub(iv.Latest))
				case truth() >= iv.Earliest:
				case now < beat || truth() <= passed:
					polluted++
				default:
					t.Fatalf("seed %d: %d liars of %d, step %d: the earliest of an honest clock is %s ahead of true time, and what liars had given out passed %s ago",
						seed, liars, n, step, iv.Earliest.Sub(truth()), truth().Sub(passed))
				}
			}
		}
		for i := range liars {
			if why, _ := clocks[i].Fenced(); why == "" {
				unfenced++
				break
			}
		}
	}
	if polluted < 1000 || unfenced < 50 {
		t.Fatalf("%d false readings, %d clusters with a liar that was not fenced: the test does not test much", polluted, unfenced)
	}
}
