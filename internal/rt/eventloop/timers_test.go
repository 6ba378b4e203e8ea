package eventloop

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The heap gives timers out in the order of their instants, and those of one instant in the order in which they were set, whatever was taken
// out or put off meanwhile: as a list that is sorted each time does.
func TestTimersComeInOrder(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var h timerHeap
		var list []*timer
		next := func() *timer {
			slices.SortFunc(list, func(a, b *timer) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
			return list[0]
		}
		for seq := range uint64(400) {
			switch what := r.IntN(10); {
			case what < 6 || len(list) == 0:
				tm := &timer{at: time.Duration(r.IntN(50)), seq: seq}
				h.push(tm)
				list = append(list, tm)
			case what < 8:
				want := next()
				if got := h.pop(); got != want || got.index != -1 {
					t.Fatalf("seed %d: %d at %s was given out, want %d at %s", seed, got.seq, got.at, want.seq, want.at)
				}
				list = list[1:]
			case what < 9:
				i := r.IntN(len(list))
				h.remove(list[i])
				list = slices.Delete(list, i, i+1)
			default:
				for _, tm := range list {
					if r.IntN(2) == 0 {
						tm.at += 7
					}
				}
				h.order()
			}
			for i, tm := range h {
				if tm.index != i {
					t.Fatalf("seed %d: timer %d is at %d and says %d", seed, tm.seq, i, tm.index)
				}
			}
		}
		for len(list) > 0 {
			if want := next(); h.pop() != want {
				t.Fatalf("seed %d: not in order at the end", seed)
			}
			list = list[1:]
		}
	}
}
