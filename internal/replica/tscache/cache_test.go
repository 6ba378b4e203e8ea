package tscache

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// naive is C1 to C3 by definition.
type naive struct {
	low   clock.Timestamp
	reads []naiveRead
}

type naiveRead struct {
	s kv.Span
	read
}

func (n *naive) get(s kv.Span) read {
	r := read{ts: n.low}
	for _, o := range n.reads {
		if !o.s.Empty() && !s.Empty() && o.s.Overlaps(s) {
			r = r.join(o.read)
		}
	}
	return r
}

func randomKey(r *rand.Rand) kv.Key {
	k := make(kv.Key, 1+r.IntN(2))
	for i := range k {
		k[i] = 'a' + byte(r.IntN(6))
	}
	return k
}

func randomSpan(r *rand.Rand) kv.Span {
	a, b := randomKey(r), randomKey(r)
	switch r.IntN(6) {
	case 0:
		return kv.Point(a)
	case 1:
		return kv.Span{Start: kv.Key{}, End: kv.Key{0xff}} // all
	case 2:
		return kv.Span{Start: a, End: a} // nothing
	}
	if b.Less(a) {
		a, b = b, a
	}
	return kv.Span{Start: a, End: b}
}

func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			limit := 0 // never full: exact
			if seed%2 == 1 {
				limit = 2000 + r.IntN(4000)
			}
			low := clock.Timestamp{Wall: r.Int64N(10)}
			c, n := New(low, limit), &naive{low: low}
			for step := range 900 {
				at := clock.Timestamp{Wall: 1 + r.Int64N(20) + int64(step/40), Logical: uint32(r.IntN(2))}
				id := kv.TxnID{byte(r.IntN(4))}
				switch r.IntN(4) {
				case 0:
					k := randomKey(r)
					c.AddPoint(k, at, id)
					n.reads = append(n.reads, naiveRead{kv.Point(k), read{at, id}})
				case 1:
					s := randomSpan(r)
					c.Add(s, at, id)
					n.reads = append(n.reads, naiveRead{s, read{at, id}})
				case 2:
					compare(t, c, n, randomSpan(r), limit == 0)
				case 3:
					compare(t, c, n, kv.Point(randomKey(r)), limit == 0)
				}
				if step%300 == 299 {
					c.Raise(at)
					n.reads = append(n.reads, naiveRead{kv.Span{Start: kv.Key{}, End: kv.Key{0xff, 0xff}}, read{ts: at}})
				}
				checkSteps(t, c.young)
			}
			if limit == 0 && c.LowWater() == low {
				t.Error("Raise did not raise")
			}
			checkAbove(t, r, c)
			for _, o := range n.reads {
				if c.Max().Less(o.ts) && !o.s.Empty() {
					t.Fatalf("max %s, %s was added", c.Max(), o.ts)
				}
			}
		})
	}
}

// checkAbove: what is handed on is no lower than what the cache says, whatever the room for marks.
func checkAbove(t *testing.T, r *rand.Rand, c *Cache) {
	t.Helper()
	from := clock.Timestamp{Wall: c.Max().Wall - r.Int64N(20)}
	for _, room := range []int{0, 1, 3, 1000} {
		low, marks := c.Above(from, room)
		again, same := c.Above(from, room)
		if len(marks) > room || low.Less(from) || low != again || !reflect.DeepEqual(marks, same) {
			t.Fatalf("from %s with room for %d: %s, %v; and again %s, %v", from, room, low, marks, again, same)
		}
		if room == 1000 && low != from.Forward(c.LowWater()) {
			t.Fatalf("with room for all, %s is not %s", low, from.Forward(c.LowWater()))
		}
		for range 50 {
			s := randomSpan(r)
			if s.Empty() {
				continue
			}
			said := low
			for _, m := range marks {
				if m.TS.LessEq(low) {
					t.Fatalf("a mark at %s, not above %s", m.TS, low)
				}
				if m.Span.Overlaps(s) {
					said = said.Forward(m.TS)
				}
			}
			if ts, _ := c.Get(s); said.Less(ts) {
				t.Fatalf("%s: handed on %s, the cache says %s", s, said, ts)
			}
		}
	}
}

func compare(t *testing.T, c *Cache, n *naive, s kv.Span, exact bool) {
	t.Helper()
	want := n.get(s)
	ts, txn := c.Get(s)
	if len(s.End) == len(s.Start)+1 && s.End[len(s.Start)] == 0 && s.Start.Less(s.End) {
		if pts, ptxn := c.GetPoint(s.Start); pts != ts || ptxn != txn {
			t.Fatalf("%s: %s %s as a point, %s %s as a span", s, pts, ptxn, ts, txn)
		}
	}
	if s.Empty() {
		return
	}
	if ts.Less(want.ts) || (exact && ts != want.ts) { // C1, C3
		t.Fatalf("%s: %s, want %s", s, ts, want.ts)
	}
	// C2; the naive one knows no more than that either.
	if !txn.IsZero() && (ts == want.ts && txn != want.txn) {
		t.Fatalf("%s: read by %s at %s, want %s", s, txn, ts, want.txn)
	}
	if exact && txn != want.txn {
		t.Fatalf("%s: read by %s, want %s", s, txn, want.txn)
	}
}

func checkSteps(t *testing.T, g *generation) {
	t.Helper()
	var before read
	size := 0
	g.steps.Ascend(func(s step) bool {
		if s.read == before {
			t.Fatalf("two neighbouring steps of %v at %s", s.read, s.from)
		}
		before = s.read
		size += len(s.from) + overhead
		return true
	})
	if before != (read{}) {
		t.Fatalf("the last step is %v", before)
	}
	for k := range g.points {
		size += len(k) + overhead
	}
	if size != g.bytes {
		t.Fatalf("%d bytes counted, %d kept", g.bytes, size)
	}
}

// Memory stays bounded whatever is read, and a span scanned over and over takes one place.
func TestBounded(t *testing.T) {
	c := New(clock.Timestamp{}, 100_000)
	for i := range 50_000 {
		k := fmt.Appendf(nil, "key%06d", i)
		c.AddPoint(k, clock.Timestamp{Wall: int64(i + 1)}, kv.TxnID{1})
		c.Add(kv.Span{Start: k, End: fmt.Appendf(nil, "key%06d", i+3)}, clock.Timestamp{Wall: int64(i + 1)}, kv.TxnID{byte(i)})
	}
	if n := c.young.bytes + c.old.bytes; n > 110_000 {
		t.Errorf("%d bytes", n)
	}
	if low := c.LowWater(); low.IsZero() || low.Wall > 49_900 {
		t.Errorf("low water %s", low)
	}

	c = New(clock.Timestamp{}, 0)
	for i := range 1000 {
		c.Add(kv.Span{Start: kv.Key("a"), End: kv.Key("m")}, clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
		c.Add(kv.Span{Start: kv.Key("m"), End: kv.Key("z")}, clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
	}
	if n := c.young.steps.Len(); n > 3 {
		t.Errorf("%d steps for two spans", n)
	}
}

func BenchmarkAddPoint(b *testing.B) {
	c := New(clock.Timestamp{}, 0)
	ks := make([]kv.Key, 4096)
	for i := range ks {
		ks[i] = fmt.Appendf(nil, "\x04table/%06d", i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		c.AddPoint(ks[i%len(ks)], clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
	}
}

func BenchmarkScanAgain(b *testing.B) {
	c := New(clock.Timestamp{}, 0)
	s := kv.Span{Start: kv.Key("\x04a"), End: kv.Key("\x04b")}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		c.Add(s, clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
	}
}

func BenchmarkGetPoint(b *testing.B) {
	c := New(clock.Timestamp{}, 0)
	for i := range 4096 {
		c.AddPoint(fmt.Appendf(nil, "\x04table/%06d", i), clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
		c.Add(kv.Span{Start: fmt.Appendf(nil, "\x04u/%06d", i), End: kv.Key("\x04v")}, clock.Timestamp{Wall: int64(i)}, kv.TxnID{byte(i)})
	}
	k := kv.Key("\x04table/000500")
	b.ReportAllocs()
	for b.Loop() {
		c.GetPoint(k)
	}
}
