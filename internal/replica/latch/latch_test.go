package latch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

func ts(w int64) clock.Timestamp { return clock.Timestamp{Wall: w} }

// parse reads latches: "r a" "w a" "r a..c" "r a@5" (limited) "w a..c@7".
func parse(list ...string) (out []Latch) {
	for _, s := range list {
		l := Latch{Write: s[0] == 'w'}
		keys, at, limited := strings.Cut(s[2:], "@")
		if limited {
			fmt.Sscan(at, &l.TS.Wall)
		}
		start, end, _ := strings.Cut(keys, "..")
		l.Span = kv.Span{Start: kv.Key(start), End: kv.Key(end)}
		out = append(out, l)
	}
	return out
}

// A1: which latches are in conflict.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		held, wanted string
		wait         bool
	}{
		{"r a", "r a", false},
		{"r a", "w a", true},
		{"w a", "r a", true},
		{"w a", "w a", true},
		{"w a", "w b", false},
		{"w a", "w a\x00", false},
		{"r a..c", "w b", true},
		{"r a..c", "w a", true},
		{"r a..c", "w c", false},
		{"w b", "r a..c", true},
		{"w c", "r a..c", false},
		{"w a..c", "r b..d", true},
		{"w a..c", "r c..d", false},
		{"r a..c", "r b..d", false},
		{"w a..a", "r a", false}, // an empty span holds nothing
		// Limited: a read up to 5 and a write from 6 on do not meet; at 5 they do.
		{"r a@5", "w a@6", false},
		{"w a@6", "r a@5", false},
		{"r a@5", "w a@5", true},
		{"r a..c@5", "w b@6", false},
		{"r a@5", "w a", true},
		{"r a", "w a@6", true},
		{"w a@5", "w a@6", true},
	} {
		m := New(rt.New())
		g, err := m.Acquire(parse(c.held), 0)
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.Acquire(parse(c.wanted), 0)
		if (err != nil) != c.wait {
			t.Errorf("holding %s, acquire %s: %v", c.held, c.wanted, err)
		}
		if err != nil && !errors.Is(err, rt.ErrTimeout) {
			t.Error(err)
		}
		if h != nil {
			h.Release()
		}
		g.Release()
		if m.Len() != 0 {
			t.Errorf("%s, %s: %d latches left", c.held, c.wanted, m.Len())
		}
	}
}

// A request never waits for itself, nor holds a part of its latches.
func TestOwnLatchesOverlap(t *testing.T) {
	m := New(rt.New())
	g, err := m.Acquire(parse("w a", "r a", "w a..c", "w b", "r b..d"), 0)
	if err != nil {
		t.Fatal(err)
	}
	g.Release()
	if m.Len() != 0 {
		t.Error("latches left")
	}
}

// A2: first come, first served among those in conflict, others pass. Each request holds for one second of virtual time.
func TestOrder(t *testing.T) {
	for seed := range uint64(20) {
		loop := eventloop.New(seed)
		r := loop.Runtime("n1")
		m := New(r)
		var trace []string
		run := func(at time.Duration, name string, latches ...string) {
			loop.At(at, func() {
				r.Go(name, func() {
					g, err := m.Acquire(parse(latches...), 10*time.Second)
					if err != nil {
						trace = append(trace, name+" gave up")
						return
					}
					trace = append(trace, fmt.Sprintf("%s@%s", name, r.Now().Truncate(time.Second)))
					r.Sleep(time.Second)
					g.Release()
				})
			})
		}
		run(1, "w1", "w a")
		run(2, "r1", "r a")
		run(3, "r2", "r a..z") // with r1: readers share
		run(4, "w2", "w b")    // behind r2, although b is free now
		run(5, "r3", "r b")    // behind w2
		run(6, "x", "w zz")    // touches nothing of it
		run(7, "r4", "r a")    // with r1, r2: no writer of a is between
		loop.Run(time.Minute, nil)
		slices.Sort(trace)
		want := "r1@1s r2@1s r3@3s r4@1s w1@0s w2@2s x@0s"
		if got := strings.Join(trace, " "); got != want {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, got, want)
		}
	}
}

// Who gives up leaves no trace: those behind it wait only for those before it.
func TestGiveUp(t *testing.T) {
	loop := eventloop.New(1)
	r := loop.Runtime("n1")
	m := New(r)
	var trace []string
	note := func(format string, args ...any) {
		trace = append(trace, fmt.Sprintf("%s ", r.Now().Round(time.Second))+fmt.Sprintf(format, args...))
	}
	loop.At(0, func() {
		r.Go("first", func() {
			g, _ := m.Acquire(parse("r a"), 0)
			r.Sleep(5 * time.Second)
			note("first releases")
			g.Release()
		})
	})
	loop.At(time.Second, func() {
		r.Go("writer", func() {
			_, err := m.Acquire(parse("w a", "w b"), 2*time.Second)
			note("writer: %v", err)
		})
	})
	loop.At(2*time.Second, func() {
		r.Go("reader", func() { // shares with first, but came after the writer
			g, err := m.Acquire(parse("r a"), time.Minute)
			note("reader: %v", err)
			g.Release()
		})
	})
	loop.Run(time.Minute, nil)
	want := "3s writer: timed out, 3s reader: <nil>, 5s first releases"
	if got := strings.Join(trace, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if m.Len() != 0 {
		t.Error("latches left")
	}
}

// Goroutines with random latches: nobody holds what is in conflict with another's, and all come to an end (A3).
func TestConcurrent(t *testing.T) {
	m := New(rt.New())
	const keys = 8
	var writers, readers [keys]atomic.Int32
	var wg sync.WaitGroup
	var gaveUp atomic.Int32
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 400 {
				from := r.IntN(keys)
				to := min(keys, from+1+r.IntN(3))
				write := r.IntN(2) == 0
				var list []Latch
				if r.IntN(2) == 0 {
					list = []Latch{{Span: kv.Span{Start: kv.Key{byte(from)}, End: kv.Key{byte(to)}}, Write: write}}
				} else {
					for k := from; k < to; k++ {
						list = append(list, Latch{Span: kv.Span{Start: kv.Key{byte(k)}}, Write: write})
					}
				}
				limit := 10 * time.Second
				if r.IntN(10) == 0 {
					limit = time.Duration(r.IntN(50)) * time.Microsecond
				}
				g, err := m.Acquire(list, limit)
				if err != nil {
					gaveUp.Add(1)
					continue
				}
				for k := from; k < to; k++ {
					if write {
						if writers[k].Add(1) != 1 || readers[k].Load() != 0 {
							t.Error("a writer is not alone")
						}
					} else if readers[k].Add(1); writers[k].Load() != 0 {
						t.Error("a reader beside a writer")
					}
				}
				for k := from; k < to; k++ {
					if write {
						writers[k].Add(-1)
					} else {
						readers[k].Add(-1)
					}
				}
				g.Release()
			}
		}()
	}
	wg.Wait()
	if m.Len() != 0 {
		t.Errorf("%d latches left", m.Len())
	}
}

// The same as a naive model over random latches and releases: holders, and who must wait, by definition of A1 and A2.
func TestAgainstModel(t *testing.T) {
	type req struct {
		latches []Latch
		g       *Guard
	}
	overlap := func(a, b Latch) bool {
		end := func(l Latch) kv.Key {
			if len(l.Span.End) == 0 {
				return append(slices.Clone(l.Span.Start), 0)
			}
			return l.Span.End
		}
		return kv.Span{Start: a.Span.Start, End: end(a)}.Overlaps(kv.Span{Start: b.Span.Start, End: end(b)}) &&
			kv.Span{Start: a.Span.Start, End: end(a)}.Empty() == false && kv.Span{Start: b.Span.Start, End: end(b)}.Empty() == false
	}
	conflict := func(a, b *req) bool {
		for _, x := range a.latches {
			for _, y := range b.latches {
				w := x.Write || y.Write
				spared := !x.Write && y.Write && !x.TS.IsZero() && !y.TS.IsZero() && x.TS.Less(y.TS) ||
					!y.Write && x.Write && !x.TS.IsZero() && !y.TS.IsZero() && y.TS.Less(x.TS)
				if w && !spared && overlap(x, y) {
					return true
				}
			}
		}
		return false
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := New(rt.New())
		var held []*req
		for range 300 {
			if len(held) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(held))
				held[i].g.Release()
				held = slices.Delete(held, i, i+1)
				continue
			}
			q := &req{}
			for range 1 + r.IntN(3) {
				l := Latch{Write: r.IntN(3) == 0, Span: kv.Span{Start: kv.Key{'a' + byte(r.IntN(10))}}}
				if r.IntN(3) == 0 {
					l.Span.End = kv.Key{'a' + byte(r.IntN(12))}
				}
				if r.IntN(2) == 0 {
					l.TS = ts(1 + r.Int64N(4))
				}
				q.latches = append(q.latches, l)
			}
			want := !slices.ContainsFunc(held, func(h *req) bool { return conflict(h, q) })
			g, err := m.Acquire(q.latches, 0)
			if (err == nil) != want {
				t.Fatalf("seed %d: %v acquired: %v, want %t", seed, q.latches, err, want)
			}
			if err == nil {
				q.g = g
				held = append(held, q)
			}
		}
		for _, h := range held {
			h.g.Release()
		}
		if m.Len() != 0 {
			t.Fatalf("%d latches left", m.Len())
		}
	}
}

func BenchmarkAcquire(b *testing.B) {
	m := New(rt.New())
	for i := range 1000 { // others in flight
		if _, err := m.Acquire(parse(fmt.Sprintf("w k%04d", i)), 0); err != nil {
			b.Fatal(err)
		}
	}
	list := parse("w x1", "w x2", "r y")
	b.ReportAllocs()
	for b.Loop() {
		g, err := m.Acquire(list, 0)
		if err != nil {
			b.Fatal(err)
		}
		g.Release()
	}
}
