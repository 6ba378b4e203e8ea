package sqldiff

import (
	"hash/fnv"
	"math/rand/v2"
)

// source draws what a seed decides. Nothing else may decide what is generated: the same seed gives the same statements.
type source struct{ *rand.Rand }

func newSource(seed uint64, family string) source {
	h := fnv.New64a()
	h.Write([]byte(family))
	return source{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// oneIn is true once in n times.
func (r source) oneIn(n int) bool { return r.IntN(n) == 0 }

// pick draws one of several.
func pick[T any](r source, of ...T) T { return of[r.IntN(len(of))] }

// some draws between low and high kids.
func some(r source, low, high int, make func() *Node) []*Node {
	out := []*Node{}
	for range low + r.IntN(high-low+1) {
		out = append(out, make())
	}
	return out
}
