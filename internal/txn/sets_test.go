package txn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/longitude-db/longitude/internal/kv"
)

// TestReadSetForgetsNothing compares the read set, with a small limit so that it joins spans, with a plain list of the keys
// that were read: it may claim more than was read, never less.
func TestReadSetForgetsNothing(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s := readSet{limit: 1 + rng.IntN(12)}
		if seed%2 == 0 {
			s.limit = 0
		}
		var read [256]bool
		for range 60 {
			lo := rng.IntN(255)
			hi := lo + 1 + rng.IntN(min(8, 255-lo))
			s.add(kv.Span{Start: kv.Key{byte(lo)}, End: kv.Key{byte(hi)}})
			for k := lo; k < hi; k++ {
				read[k] = true
			}
		}
		spans := s.list()
		if s.limit > 0 && len(s.spans) > s.limit+1 {
			t.Fatalf("seed %d: %d spans with a limit of %d", seed, len(s.spans), s.limit)
		}
		for i, sp := range spans {
			if i > 0 && !spans[i-1].End.Less(sp.Start) {
				t.Fatalf("seed %d: %s touches %s", seed, spans[i-1], sp)
			}
		}
		claimed := func(spans []kv.Span, k int) bool {
			return slices.ContainsFunc(spans, func(sp kv.Span) bool { return sp.Contains(kv.Key{byte(k)}) })
		}
		cut := kv.Span{Start: kv.Key{100}, End: kv.Key{180}}
		inside, outside := s.clip(cut)
		for k := range 256 {
			got := claimed(spans, k)
			if read[k] && !got || s.limit == 0 && got != read[k] {
				t.Fatalf("seed %d: key %d read %t, claimed %t", seed, k, read[k], got)
			}
			in := k >= 100 && k < 180
			if claimed(inside, k) != (got && in) || (got && !in && !outside) {
				t.Fatalf("seed %d: clip at key %d", seed, k)
			}
		}
	}
}

// TestBufferAgainstMaps compares the write buffer with one map per moment.
func TestBufferAgainstMaps(t *testing.T) {
	type write struct {
		value        string // "": deleted
		mustNotExist bool
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var b buffer
		now := map[string]write{}
		type moment struct {
			mark uint64
			was  map[string]write
		}
		var marks []moment
		copyOf := func() map[string]write {
			m := map[string]write{}
			for k, v := range now {
				m[k] = v
			}
			return m
		}
		for i := range 60 {
			k := string(rune('a' + rng.IntN(8)))
			old, has := now[k]
			switch rng.IntN(6) {
			case 0:
				marks = append(marks, moment{b.mark(), copyOf()})
			case 1:
				if len(marks) > 0 {
					j := rng.IntN(len(marks))
					b.rollback(marks[j].mark)
					marks = marks[:j+1]
					now = marks[j].was
					now = copyOf()
				}
			case 2:
				b.put(kv.Key(k), nil, false)
				now[k] = write{"", has && old.mustNotExist}
			case 3:
				ok := b.put(kv.Key(k), fmt.Append(nil, i), true)
				if ok != (!has || old.value == "") {
					t.Fatalf("seed %d: insert of %s said %t over %+v", seed, k, ok, old)
				}
				if ok {
					now[k] = write{fmt.Sprint(i), !has || old.mustNotExist}
				}
			default:
				b.put(kv.Key(k), fmt.Append(nil, i), false)
				now[k] = write{fmt.Sprint(i), has && old.mustNotExist}
			}
			check := func(mark uint64, want map[string]write) {
				for c := 'a'; c < 'i'; c++ {
					v, ok := b.get(kv.Key(string(c)), mark)
					w, has := want[string(c)]
					if ok != has || string(v.value) != w.value || (ok && v.mustNotExist != w.mustNotExist) {
						t.Fatalf("seed %d step %d: %c at %d: got %+v %t, want %+v %t", seed, i, c, mark, v, ok, w, has)
					}
				}
			}
			check(b.seq, now)
			for _, m := range marks {
				check(m.mark, m.was)
			}
		}
		puts, size := b.puts(false), 0
		if len(puts) != len(now) {
			t.Fatalf("seed %d: %d puts, want %d", seed, len(puts), len(now))
		}
		for _, p := range puts {
			w := now[string(p.Key)]
			size += len(p.Key)
			if string(p.Value) != w.value || p.Delete != (w.value == "") || p.MustNotExist != w.mustNotExist {
				t.Fatalf("seed %d: put %+v, want %+v", seed, p, w)
			}
		}
		if b.bytes < size {
			t.Fatalf("seed %d: %d bytes for keys of %d", seed, b.bytes, size)
		}
	}
}
