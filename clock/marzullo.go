package clock

import (
	"cmp"
	"slices"
)

// agree is Marzullo's algorithm (Marzullo and Owicki, Maintaining the Time in a Distributed System, 1983): given intervals of
// which some may be false, it returns the smallest one that contains true time if no more of them are false than need to
// be. votes is how many of them have a point in common, at most; the result reaches from the first to the last point that so
// many share. There may be points between in which fewer do (two groups of the same size): any of the groups can be the true
// one. in tells which intervals reach into the result.
func agree(ivs []Interval) (iv Interval, votes int, in []bool) {
	type edge struct {
		at   Instant
		open bool
	}
	edges := make([]edge, 0, 2*len(ivs))
	for _, v := range ivs {
		edges = append(edges, edge{v.Earliest, true}, edge{v.Latest, false})
	}
	// Intervals are closed: at one and the same instant those that begin count before those that end go.
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at || a.open == b.open {
			return cmp.Compare(a.at, b.at)
		}
		if a.open {
			return -1
		}
		return 1
	})
	open := 0
	for _, e := range edges {
		if e.open {
			if open++; open > votes {
				votes, iv.Earliest = open, e.at
			}
			continue
		}
		if open == votes {
			iv.Latest = e.at // the last time that this happens is the end; a higher vote later begins anew
		}
		open--
	}
	in = make([]bool, len(ivs))
	for i, v := range ivs {
		in[i] = v.Earliest <= iv.Latest && iv.Earliest <= v.Latest
	}
	return iv, votes, in
}
