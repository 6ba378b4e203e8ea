package replica

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/tscache"
)

// L3 with marks: a read far ahead of all others is known to the next lease for its own key, over a second handover and a split
// too, and no other key's writes land as far ahead.
func TestReadsAheadAreHandedOn(t *testing.T) {
	ahead := readsAhead(t, Unsafe{})
	for _, w := range ahead {
		if w.read.LessEq(w.served) {
			t.Errorf("%s: a write below what was served at %s: at %s", w.when, w.served, w.read)
		}
		if !w.other.Less(w.served) {
			t.Errorf("%s: a key that was not read is written at %s, above the read ahead of another key at %s", w.when, w.other, w.served)
		}
	}
}

// Without the marks a write lands below a read that was served: the test above would notice.
func TestMarksAreNeeded(t *testing.T) {
	found := false
	for _, w := range readsAhead(t, Unsafe{DropMarks: true}) {
		found = found || w.read.LessEq(w.served)
	}
	if !found {
		t.Error("marks are dropped, and nothing was written below a read that was served")
	}
}

type writtenAhead struct {
	when        string
	served      clock.Timestamp // at which a key was read
	read, other clock.Timestamp // of writes of that key, and of another, under the lease after that
}

func readsAhead(t *testing.T, unsafe Unsafe) (out []writtenAhead) {
	h := newHarness(t, 1, 3, func(o *Options) { o.Unsafe = unsafe })
	c := h.client(1)
	served := map[string]clock.Timestamp{}
	read := func(id kv.RangeID, key string) {
		ts := h.reading().Limit()
		ts.Wall += int64(120 * time.Millisecond)
		if resp, ok := c.do(id, c.readOf(id, key, ts), time.Second); !ok {
			t.Fatalf("reading %s ahead: %v", key, resp.Err)
		}
		served[key] = ts
	}
	move := func(id kv.RangeID) {
		to := h.nodes[int(h.leader(id).id)%3]
		if resp, ok := c.do(id, kv.Request{Admin: &kv.AdminRequest{TransferLease: to.id}}, 10*time.Second); !ok {
			t.Fatalf("transfer: %v", resp.Err)
		}
		c.at = to.id
	}
	write := func(when string, id kv.RangeID, key string) {
		w := writtenAhead{when: when, served: served[key]}
		for _, k := range []struct {
			key string
			at  *clock.Timestamp
		}{{key + "-other", &w.other}, {key, &w.read}} {
			// The other one first: the second has to be waited for.
			resp, ok := c.writeAt(id, k.key, "x", h.reading().Start(), 10*time.Second)
			if !ok {
				t.Fatalf("%s: write of %s: %v", when, k.key, resp.Err)
			}
			*k.at = resp.Write.CommitTS
		}
		out = append(out, w)
	}
	h.leader(1)
	for round := range 4 {
		h.task(30*time.Second, func() {
			key := fmt.Sprint("a", round)
			read(1, key)
			move(1)
			write("handed over", 1, key)
			read(1, "b")
			move(1)
			move(1)
			write("handed over twice", 1, "b")
		})
	}
	h.task(30*time.Second, func() {
		read(1, "k1")
		c.split(t, 1, "k", 2)
		write("right half", 2, "k1")
		read(2, "k2")
		move(2)
		write("right half, handed over", 2, "k2")
	})
	h.converge(1)
	h.converge(2)
	return out
}

// Low waters against a naive one that keeps everything: never lower for any key, small, and the same after a round through the disk.
func TestLowWater(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	key := func() kv.Key {
		k := kv.Key(fmt.Sprint(r.IntN(40)))
		if r.IntN(30) == 0 {
			k = append(k, make([]byte, maxMarkKey)...)
		}
		return k
	}
	for range 300 {
		var l lowWater
		var all []tscache.Mark
		var floor clock.Timestamp
		for range 1 + r.IntN(4) {
			ts := clock.Timestamp{Wall: r.Int64N(50)}
			floor = floor.Forward(ts)
			var marks []tscache.Mark
			for range r.IntN(12) {
				a, b := key(), key()
				if b.Less(a) {
					a, b = b, a
				}
				marks = append(marks, tscache.Mark{Span: kv.Span{Start: a, End: append(b, 0)}, TS: clock.Timestamp{Wall: r.Int64N(100), Logical: uint32(r.IntN(2))}})
			}
			all = append(all, marks...)
			l.raise(lowOf(ts, marks...))
		}
		b, err := l.appendLow(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeLow(b); err != nil || !reflect.DeepEqual(got, l) {
			t.Fatalf("%+v became %+v, %v", l, got, err)
		}
		if len(l.Marks) > maxMarks || l.timestamp().Less(floor) {
			t.Fatalf("%d marks, %s below %s", len(l.Marks), l.timestamp(), floor)
		}
		at := key()
		for part, lw := range map[string]*lowWater{"": &l, "right half": l.within(at)} {
			for _, m := range all {
				if part != "" && !at.Less(m.Span.End) {
					continue
				}
				for i := range lw.Marks {
					if lw.Marks[i].timestamp().LessEq(lw.timestamp()) {
						t.Fatalf("a mark that says nothing: %+v", lw)
					}
				}
				if said := lw.of(m.Span.Start); part == "" && said.Less(m.TS) {
					t.Fatalf("%s: %s, was served at %s", m.Span.Start, said, m.TS)
				}
				k := m.Span.Start
				if k.Less(at) {
					k = at
				}
				if said := lw.of(k); m.Span.Contains(k) && said.Less(m.TS) {
					t.Fatalf("%s %s: %s, was served at %s", part, k, said, m.TS)
				}
			}
		}
	}
}

// of is the low water of a key.
func (l *lowWater) of(k kv.Key) clock.Timestamp {
	ts := l.timestamp()
	for i := range l.Marks {
		if l.Marks[i].span().Contains(k) {
			ts = ts.Forward(l.Marks[i].timestamp())
		}
	}
	return ts
}
