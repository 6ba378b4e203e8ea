package check

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// kindsOfCycles is a second, naive search: it walks every simple cycle of a small graph, over each of its parallel edges, and
// collects what they are called.
func kindsOfCycles(s *cycleFinder, n int, edges []edge) map[Kind]bool {
	out := map[Kind]bool{}
	var way []pathEdge
	var walk func(start, at int32)
	walk = func(start, at int32) {
		for _, e := range edges {
			if e.from != at || e.to < start || slices.ContainsFunc(way, func(h pathEdge) bool { return h.a == e.to }) && e.to != start {
				continue
			}
			way = append(way, pathEdge{edge: e, a: e.from, b: e.to})
			if e.to == start {
				out[s.classify(shorten(slices.Clone(way)))] = true
			} else {
				walk(start, e.to)
			}
			way = way[:len(way)-1]
		}
	}
	for start := range int32(n) {
		walk(start, start)
	}
	return out
}

// TestCyclesAgainstNaive holds the search in random small graphs, with edges through auxiliary nodes among them, against the
// naive one: what is named is there, something is named wherever there is a cycle, and the worst class of those is among it.
func TestCyclesAgainstNaive(t *testing.T) {
	worst := func(kinds map[Kind]bool) Kind {
		for _, o := range orders {
			for _, q := range cycleClasses {
				if k := q.kind + Kind(o.suffix); kinds[k] {
					return k
				}
			}
		}
		return ""
	}
	seen := map[Kind]int{}
	for seed := range uint64(100_000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n := 2 + rng.IntN(5)
		a := &analysis{model: StrictSerializable, n: map[Kind]int{}, left: maxSteps, keys: []string{"x"}, list: []bool{true}, rep: &TxnReport{}}
		for i := range n {
			a.h = append(a.h, Txn{Op: Op{Client: "c", Invoke: int64(10 * i), Return: int64(10*i + 1), Outcome: OK}})
			a.g.node(int32(i))
		}
		var plain []edge
		for range 1 + rng.IntN(2*n) {
			e := edge{from: int32(rng.IntN(n)), to: int32(rng.IntN(n)), kind: []edgeKind{edgeWW, edgeWR, edgeRW, edgeRW, edgeRW, edgeProcess, edgeRT}[rng.IntN(7)]}
			if e.from == e.to || e.kind&(edgeProcess|edgeRT) != 0 && e.from > e.to { // time goes forward
				continue
			}
			plain = append(plain, e)
			if rng.IntN(3) > 0 {
				a.g.edges = append(a.g.edges, e)
				continue
			}
			aux := a.g.node(-1)
			from, to := e, edge{from: aux, to: e.to, kind: edgeOn}
			from.to = aux
			a.g.edges = append(a.g.edges, from, to)
		}
		want := kindsOfCycles(&cycleFinder{}, n, plain)
		a.cycles(&a.g, false)
		got := map[Kind]bool{}
		for _, an := range append(a.rep.Anomalies, a.rep.Others...) {
			got[an.Kind] = true
			seen[an.Kind]++
			if !want[an.Kind] {
				t.Fatalf("seed %d: there is no cycle of class %s, only of %v\n%v", seed, an.Kind, slices.Sorted(maps.Keys(want)), an)
			}
		}
		if w := worst(want); w != "" && !got[w] {
			t.Fatalf("seed %d: found %v, but there is %s: %s", seed, slices.Sorted(maps.Keys(got)), w, fmt.Sprint(plain))
		}
	}
	for _, o := range orders {
		for _, q := range cycleClasses {
			if k := q.kind + Kind(o.suffix); seen[k] < 5 {
				t.Errorf("%s came up only %d times", k, seen[k])
			}
		}
	}
}
