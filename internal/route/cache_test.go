package route

import (
	"math/rand/v2"
	"testing"

	"github.com/longitude-db/longitude/internal/kv"
)

// TestCacheNeverGoesBack feeds the cache with the descriptors of a random history of splits and changes, in random order and
// more than once. Whatever it answers contains the key, and is no older than anything it was told of that key (O2).
func TestCacheNeverGoesBack(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		one := func(i int) kv.Key { return kv.Key{byte(i)} }
		now := []kv.RangeDescriptor{{ID: 1, Span: kv.Span{Start: one(0), End: one(64)}, Generation: 1}}
		all := append([]kv.RangeDescriptor(nil), now...)
		for range 30 {
			i := rng.IntN(len(now))
			d := now[i]
			lo, hi := int(d.Span.Start[0]), int(d.Span.End[0])
			d.Generation++
			if at := lo + rng.IntN(hi-lo); at > lo && rng.IntN(3) > 0 {
				right := d
				right.ID, right.Span.Start, d.Span.End = kv.RangeID(len(now)+1), one(at), one(at)
				now = append(now, right)
				all = append(all, right)
			}
			now[i] = d
			all = append(all, d)
		}
		c := newCache()
		var told []kv.RangeDescriptor
		for range 200 {
			d := all[rng.IntN(len(all))]
			c.insert(&d)
			told = append(told, d)
			if rng.IntN(10) == 0 {
				if got, _ := c.get(one(rng.IntN(64))); got != nil {
					c.evict(got)
					told = nil // what was forgotten may come back in an older form
				}
			}
			for k := range 64 {
				got, _ := c.get(one(k))
				if got == nil {
					continue
				}
				if !got.Span.Contains(one(k)) {
					t.Fatalf("seed %d: asked for %d and got %s", seed, k, got)
				}
				for _, x := range told {
					if x.Span.Contains(one(k)) && x.Generation > got.Generation {
						t.Fatalf("seed %d: key %d: got %s after %s", seed, k, got, &x)
					}
				}
			}
		}
		for _, d := range now { // and in the end it knows the present
			c.insert(&d)
		}
		for _, d := range now {
			if got, _ := c.get(d.Span.Start); got == nil || got.Generation != d.Generation || got.ID != d.ID {
				t.Fatalf("seed %d: %s: got %v", seed, &d, got)
			}
		}
	}
}
