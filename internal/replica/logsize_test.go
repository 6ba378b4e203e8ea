package replica

import (
	"math/rand/v2"
	"testing"
)

// What logSize says of the bytes after an index is true but for a mark's distance and what was cut or dropped.
func TestLogSizeAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s logSize
	sizes := map[uint64]int64{} // the log, simply
	last, dropped := uint64(0), uint64(0)
	for range 20_000 {
		switch rng.IntN(100) {
		case 0: // the end is replaced
			last -= min(uint64(rng.IntN(20)), last-dropped)
			s.cut(last + 1)
		case 1:
			dropped += uint64(rng.IntN(int(last-dropped) + 1))
			s.drop(dropped)
		}
		last++
		n := 1 + rng.IntN(10<<10)
		s.add(last, n)
		sizes[last] = int64(n)
		if at := dropped + uint64(rng.IntN(int(last-dropped)+1)); at > dropped {
			want := int64(0)
			for i := at + 1; i <= last; i++ {
				want += sizes[i]
			}
			// A mark lies up to a mark and an entry apart from the index, and each cut leaves as much too much behind.
			if got := s.after(at); got > want+40*markEvery || got < want-2*markEvery {
				t.Fatalf("after %d of (%d, %d] there are %d bytes, and it says %d", at, dropped, last, want, got)
			}
		}
	}
	if got := s.after(last); got > 2*markEvery {
		t.Errorf("%d bytes after the last entry", got)
	}
}
