package ycsb

import (
	"math"
	"math/rand/v2"
)

// theta is the skew of YCSB's zipfian distributions.
const theta = 0.99

// zipfian draws ranks from 0 (the most popular) by Zipf's law with exponent theta, by the method of Gray et al., "Quickly
// generating billion-record synthetic databases" (SIGMOD 1994), which is YCSB's. Ranks 0 and 1 have exactly their
// probabilities; the others follow a continuous approximation.
type zipfian struct {
	n            int64
	zetaN, zeta2 float64
	alpha, eta   float64
}

// zeta is the sum of 1/i^theta for i from 1 to n, given that of the first known terms.
func zeta(known int64, sum float64, n int64) float64 {
	for i := known + 1; i <= n; i++ {
		sum += 1 / math.Pow(float64(i), theta)
	}
	return sum
}

func newZipfian(n int64, zetaN float64) *zipfian {
	z := &zipfian{zeta2: zeta(0, 0, 2), alpha: 1 / (1 - theta)}
	z.resize(n, zetaN)
	return z
}

// resize is for another number of items, whose zeta is known.
func (z *zipfian) resize(n int64, zetaN float64) {
	z.n, z.zetaN = n, zetaN
	z.eta = (1 - math.Pow(2/float64(n), 1-theta)) / (1 - z.zeta2/z.zetaN)
}

func (z *zipfian) next(u float64) int64 {
	uz := u * z.zetaN
	if uz < 1 {
		return 0
	}
	if uz < 1+math.Pow(0.5, theta) {
		return 1
	}
	return min(z.n-1, int64(float64(z.n)*math.Pow(z.eta*u-z.eta+1, z.alpha)))
}

// The scrambled generator draws from a fixed large number of items, with its zeta known beforehand, and hashes the rank onto
// the items that there are: popular ones are then spread over the key space, and their number hardly matters.
const (
	scrambledItems = 10_000_000_000
	scrambledZeta  = 26.46902820178302
)

// scrambled draws items 0 to n-1, of which few are popular, those anywhere.
type scrambled struct {
	z *zipfian
	n int64
}

func newScrambled(n int64) scrambled { return scrambled{newZipfian(scrambledItems, scrambledZeta), n} }

func (s scrambled) next(rnd *rand.Rand) int64 { return fnvHash(s.z.next(rnd.Float64())) % s.n }

// latest draws from items 0 to newest, of which the newest are the most popular.
type latest struct{ z *zipfian }

func newLatest(n int64) latest { return latest{newZipfian(n, zeta(0, 0, n))} }

func (l latest) next(rnd *rand.Rand, newest int64) int64 {
	if newest+1 > l.z.n {
		l.z.resize(newest+1, zeta(l.z.n, l.z.zetaN, newest+1))
	}
	return newest - min(newest, l.z.next(rnd.Float64()))
}

// fnvHash is FNV-1a over the eight bytes of v as YCSB computes it, made positive.
func fnvHash(v int64) int64 {
	h := uint64(0xCBF29CE484222325)
	for range 8 {
		h ^= uint64(v & 0xff)
		v >>= 8
		h *= 1099511628211
	}
	// Java's Math.abs of the signed value; the least value, which has no positive, is as unlikely here as there.
	if int64(h) < 0 {
		return -int64(h) & math.MaxInt64
	}
	return int64(h)
}
