package harness

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// stalls is a server that answers in 1 ms, but for one second in which it answers nobody.
func stalls(from, to time.Duration) attempt {
	begin := time.Now()
	return func(context.Context) (int, int, error) {
		if at := time.Since(begin); at >= from && at < to {
			time.Sleep(to - at)
		}
		time.Sleep(time.Millisecond)
		return 0, 0, nil
	}
}

func driven(t *testing.T, l Load, workers int, do func() attempt) (rec *recorder) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rec = newRecorder(1)
		var as []attempt
		a := do()
		for range workers {
			as = append(as, a)
		}
		if err := drive(t.Context(), l, rec, as, func(time.Time) {}); err != nil {
			t.Error(err)
		}
	})
	return rec
}

// A server that stands still for one second of ten holds up a tenth of the operations of an open loop, on average for half a
// second: the 95th percentile must show it. The same one worker in a closed loop is held up once, and its 99.9th
// percentile does not know: that is coordinated omission.
func TestOpenLoopCountsFromWhenDue(t *testing.T) {
	l := Load{Duration: 10 * time.Second}
	closed := driven(t, l, 1, func() attempt { return stalls(4*time.Second, 5*time.Second) })
	l.Rate = 100
	open := driven(t, l, 1, func() attempt { return stalls(4*time.Second, 5*time.Second) })
	h, done := open.totals()
	if n := h[0].TotalCount(); n != 1000 || done[0] < 999 {
		t.Errorf("%d operations of 1000 are accounted for, %d ended within the measurement", n, done[0])
	}
	if p := h[0].ValueAtPercentile(95); p < 450_000 || p > 600_000 {
		t.Errorf("open loop: the 95th percentile is %d µs, want about half a second", p)
	}
	if p := h[0].ValueAtPercentile(50); p > 1100 {
		t.Errorf("open loop: the median is %d µs, want 1 ms", p)
	}
	h, _ = closed.totals()
	if p := h[0].ValueAtPercentile(99.9); p > 1100 {
		t.Errorf("closed loop: the 99.9th percentile is %d µs; then this test shows nothing", p)
	}
}

// What nobody comes to is counted: at 1000 a second and 10 ms each, one worker carries out a tenth within the measurement
// and the drain limit that follows.
func TestUnserved(t *testing.T) {
	rec := driven(t, Load{Rate: 1000, Duration: 10 * time.Second}, 1, func() attempt {
		return func(context.Context) (int, int, error) { time.Sleep(10 * time.Millisecond); return 0, 0, nil }
	})
	h, _ := rec.totals()
	served, unserved := h[0].TotalCount(), rec.note.unserved.Load()
	if sum := served + unserved + rec.note.errors.Load(); sum < 9999 || sum > 10_001 || unserved < 2500 {
		t.Errorf("%d served and %d unserved of 10000 (H1)", served, unserved)
	}
}

// The warm-up counts for nothing, and neither do its errors.
func TestWarmUpIsNotCounted(t *testing.T) {
	rec := driven(t, Load{WarmUp: 5 * time.Second, Duration: 5 * time.Second}, 2, func() attempt {
		begin := time.Now()
		return func(context.Context) (int, int, error) {
			time.Sleep(100 * time.Millisecond)
			if time.Since(begin) < 4*time.Second {
				return 0, 3, errors.New("not yet")
			}
			return 0, 0, nil
		}
	})
	h, done := rec.totals()
	if h[0].TotalCount() != 100 || done[0] != 100 || rec.note.errors.Load() != 0 || rec.note.retries.Load() != 0 || rec.note.first == nil {
		t.Errorf("%d due, %d ended, %d errors", h[0].TotalCount(), done[0], rec.note.errors.Load())
	}
}

// What is spread over shards and merged is what one histogram of all values would be, and its percentiles are those of the
// sorted values to three digits.
func TestShardsMerge(t *testing.T) {
	rec := newRecorder(2)
	begin := time.Now()
	rec.win = window{begin, begin.Add(time.Hour)}
	one, rnd := NewHistogram(), rand.New(rand.NewPCG(1, 2))
	var vs []float64
	for range 20_000 {
		d := time.Duration(rnd.ExpFloat64() * float64(20*time.Millisecond))
		rec.finished(rec.shard(), 1, begin, begin.Add(d))
		record(one, d)
		vs = append(vs, float64(d.Microseconds()))
	}
	slices.Sort(vs)
	hs, done := rec.totals()
	if !hs[1].Equals(one) || done[1] != 20_000 || hs[0].TotalCount() != 0 {
		t.Fatalf("merged %d values, want those of one histogram", hs[1].TotalCount())
	}
	for _, p := range []float64{50, 95, 99, 99.9} {
		want := vs[int(p/100*float64(len(vs)))-1]
		if got := float64(hs[1].ValueAtPercentile(p)); got < want*0.998-1 || got > want*1.002+1 {
			t.Errorf("percentile %g is %g, want %g", p, got, want)
		}
	}
	if tick := rec.takeTick(); tick[1].TotalCount() != 20_000 || rec.takeTick()[1].TotalCount() != 0 {
		t.Error("a tick takes what there is, once")
	}
}

func TestScatteredNeverRepeats(t *testing.T) {
	seen, low := map[int64]bool{}, 0
	for n := range uint64(100_000) {
		v := Scattered(n)
		if seen[v] {
			t.Fatalf("%d comes twice", v)
		}
		if seen[v] = true; v < 0 {
			low++
		}
	}
	if low < 49_000 || low > 51_000 {
		t.Errorf("%d of 100000 are in the lower half", low)
	}
}
