package clock

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// F1 and F2 against random clusters: every node counts the same votes. With fewer than half of the clocks outside their bounds,
// whoever is found guilty is outside its bound, and whoever is disjoint from more than half of all is found.
func TestVoteFindsOnlyLiars(t *testing.T) {
	found, spared := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 2 + r.IntN(7)
		liars := r.IntN((n-1)/2 + 1)
		const truth = 1_000_000
		var ivs []Interval
		for i := range n {
			half := Instant(1 + r.Int64N(1000))
			mid := truth + Instant(r.Int64N(int64(2*half)+1)) - half // an honest clock is off by its bound at most
			if i < liars {
				for off := Instant(0); mid-half <= truth && truth <= mid+half; off++ {
					mid += Instant(r.Int64N(3000)) - 1500
				}
			}
			ivs = append(ivs, Interval{mid - half, mid + half})
		}
		apart := func(a, b int) bool { return ivs[a].Latest < ivs[b].Earliest || ivs[b].Latest < ivs[a].Earliest }
		votes := make([]*Vote, n)
		for i := range votes {
			votes[i] = NewVote(uint32(i+1), VoteOptions{})
		}
		// Each says once whom it disproves; the order in which that arrives is of no matter.
		for _, from := range r.Perm(n) {
			var ds []uint32
			for j := range n {
				// A message tells one side only: the fast clock is disproved by the slow one.
				if apart(from, j) && ivs[j].Earliest > ivs[from].Latest {
					ds = append(ds, uint32(j+1))
				}
			}
			for _, v := range votes {
				v.Heard(time.Second, uint32(from+1), ds)
			}
		}
		for i, v := range votes {
			accusers := 0
			for j := range n {
				if apart(i, j) {
					accusers++
				}
			}
			want := accusers >= 2 && 2*accusers > n
			if got := v.Step(time.Second); got.Guilty != want || (got.Why == "") == want {
				t.Fatalf("seed %d: node %d of %d has %d accusers: %+v", seed, i+1, n, accusers, got)
			} else if got.Guilty && i >= liars {
				t.Fatalf("seed %d: an honest node was found guilty with %d liars of %d: %s", seed, liars, n, got.Why)
			} else if got.Guilty {
				found++
			} else if i < liars {
				spared++
			}
			ids, _ := v.Guilty(time.Second)
			for j := range votes {
				if slices.Contains(ids, uint32(j+1)) != (votes[j].Step(time.Second).Guilty) {
					t.Fatalf("seed %d: node %d sees %v", seed, i+1, ids)
				}
			}
		}
	}
	if found < 500 || spared < 100 {
		t.Fatalf("%d liars found, %d not (their lie was within the others' bounds): the test does not test much", found, spared)
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
		if err := c.Switch(src); err != nil {
			t.Error(err)
			break
		}
		if i%100 == 0 {
			c.Fence("the test says so")
			if _, err := c.Now(); err != ErrFenced {
				t.Errorf("a reading behind the fence: %v", err)
			}
			if _, err := c.Claim(); err != nil {
				t.Errorf("a fenced clock claims nothing: %v", err)
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
		{"disproved", Conditions{Bound: time.Millisecond}, Options{},
			func(c *Clock, _ *Sim, w *world) {
				c.ObserveClaim(2, w.truth().Add(4200*time.Microsecond), w.truth().Add(5*time.Millisecond))
				c.Fence("2 of the 3 nodes that are heard of disprove the clock of node 1: node 2, node 3")
				w.advance(3 * time.Second)
			},
			"2 of the 3 nodes that are heard of disprove the clock of node 1: node 2, node 3, for 3s; outside of the readings of node 2 by 3.2ms (source sim:eps=1ms: last good answer 3s ago)",
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
