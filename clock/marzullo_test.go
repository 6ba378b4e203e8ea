package clock

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAgree(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ivs   []Interval
		iv    Interval
		votes int
		in    []bool
	}{
		{"one", []Interval{{1, 5}}, Interval{1, 5}, 1, []bool{true}},
		{"three agree", []Interval{{1, 5}, {3, 9}, {2, 4}}, Interval{3, 4}, 3, []bool{true, true, true}},
		{"they touch", []Interval{{1, 5}, {5, 9}}, Interval{5, 5}, 2, []bool{true, true}},
		{"one is false", []Interval{{1, 5}, {20, 30}, {2, 4}}, Interval{2, 4}, 2, []bool{true, false, true}},
		{"a chain: the middle one agrees with either neighbour", []Interval{{1, 5}, {4, 9}, {8, 12}}, Interval{4, 9}, 2, []bool{true, true, true}},
		{"two groups of the same size: either may be right", []Interval{{1, 5}, {2, 4}, {20, 25}, {21, 30}}, Interval{2, 25}, 2, []bool{true, true, true, true}},
		{"a larger group wins over one that comes first", []Interval{{1, 5}, {2, 4}, {20, 25}, {21, 30}, {22, 23}}, Interval{22, 23}, 3, []bool{false, false, true, true, true}},
		{"none agree", []Interval{{1, 2}, {4, 5}}, Interval{1, 5}, 1, []bool{true, true}},
	} {
		iv, votes, in := agree(tc.ivs)
		if iv != tc.iv || votes != tc.votes || !slices.Equal(in, tc.in) {
			t.Errorf("%s: %d votes for %d, %v; want %d for %d, %v", tc.name, votes, iv, in, tc.votes, tc.iv, tc.in)
		}
	}
}

// The same as counting, for every instant, the intervals that contain it.
func TestAgreeAgainstCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		ivs := make([]Interval, 1+r.IntN(6))
		for i := range ivs {
			from := Instant(r.IntN(30))
			ivs[i] = Interval{from, from + Instant(r.IntN(12))}
		}
		var want Interval
		most := 0
		for at := Instant(0); at < 45; at++ {
			n := 0
			for _, v := range ivs {
				if v.Earliest <= at && at <= v.Latest {
					n++
				}
			}
			if n > most {
				most, want = n, Interval{at, at}
			} else if n == most {
				want.Latest = at
			}
		}
		if iv, votes, _ := agree(ivs); iv != want || votes != most {
			t.Fatalf("%d: %d votes for %d, want %d for %d", ivs, votes, iv, most, want)
		}
	}
}
