// Package estimate says how well a ratio of two measurements is known.
//
// Measurements are taken in rounds, short slices of each side in turns. What a busy machine does besides changes from round
// to round; so rounds, not operations, are what is drawn again (bootstrap), and both sides' slices of a round are drawn
// together if they were measured one after the other.
//
//	E1  The same rounds give the same interval: the draws come from a fixed seed.
//	E2  An interval that cannot be known (one round, or a figure that is zero) is NaN, never zero.
package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Ratio is a ratio and how far it can be trusted: with 95 % confidence it lies between Value/(1+Error) and Value*(1+Error).
type Ratio struct {
	Value float64
	Error float64 // NaN: not known
}

// draws of the bootstrap. The third digit of an interval is of no interest.
const draws = 400

// Of estimates f, a figure of the rounds that it is given by number (some of them several times). Paired: both sides were
// measured in each of the rounds, and f is given the same numbers for both; else each side's rounds are drawn by themselves.
func Of(a, b int, paired bool, f func(a, b []int) float64) Ratio {
	all := func(n int) (out []int) {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	if a == 0 || b == 0 {
		return Ratio{math.NaN(), math.NaN()}
	}
	n := min(a, b)
	if paired {
		a, b = n, n
	}
	out := Ratio{f(all(a), all(b)), math.NaN()}
	if n < 2 || !(out.Value > 0) || math.IsInf(out.Value, 0) {
		return out
	}
	rnd := rand.New(rand.NewPCG(uint64(a), uint64(b))) // E1
	pick := func(n int) (out []int) {
		for range n {
			out = append(out, rnd.IntN(n))
		}
		return out
	}
	var logs []float64
	for range draws {
		pa := pick(a)
		pb := pa
		if !paired {
			pb = pick(b)
		}
		if v := f(pa, pb); v > 0 && !math.IsInf(v, 0) {
			logs = append(logs, math.Log(v))
		}
	}
	if len(logs) < draws*9/10 {
		return out // E2: too often there was nothing to divide
	}
	// The bootstrap's spread is too small by this factor, and with few rounds it is itself uncertain: hence Student's t.
	out.Error = math.Expm1(studentT(n-1) * deviation(logs) * math.Sqrt(float64(n)/float64(n-1)))
	return out
}

func deviation(vs []float64) float64 {
	var mean, sum float64
	for _, v := range vs {
		mean += v / float64(len(vs))
	}
	for _, v := range vs {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(vs)))
}

// studentT is the 97.5th percentile of Student's distribution.
func studentT(freedom int) float64 {
	t := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if freedom <= len(t) {
		return t[freedom-1]
	}
	return 1.96 + 2.68/float64(freedom)
}

// Paired estimates the ratio of two figures that each round gives: the trimmed mean of the ratios within rounds.
func Paired(a, b []float64) Ratio {
	return Of(len(a), len(b), true, func(rounds, _ []int) float64 {
		var logs []float64
		for _, i := range rounds {
			if a[i] > 0 && b[i] > 0 {
				logs = append(logs, math.Log(a[i]/b[i]))
			}
		}
		return math.Exp(Trimmed(logs))
	})
}

// Trimmed is the mean without the lowest and the highest fifth: a burst of other work in a round or two moves it little. Of no
// values it is NaN.
func Trimmed(vs []float64) float64 {
	if len(vs) == 0 {
		return math.NaN()
	}
	vs = slices.Sorted(slices.Values(vs))
	cut := len(vs) / 5
	vs = vs[cut : len(vs)-cut]
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	return sum / float64(len(vs))
}

// String writes it as reports do: 1.52 ±8 %.
func (r Ratio) String() string {
	v := fmt.Sprintf("%.2f", r.Value)
	if r.Value > 0 && r.Value < 0.1 {
		v = fmt.Sprintf("%.3f", r.Value)
	}
	switch {
	case math.IsNaN(r.Value):
		return "–"
	case math.IsNaN(r.Error):
		return v
	case r.Error >= 10:
		return fmt.Sprintf("%s ×/÷ %.0f", v, 1+r.Error)
	}
	return fmt.Sprintf("%s ±%.0f %%", v, max(0, math.Ceil(r.Error*100-0.05)))
}

// Agree reports whether two ratios are within a share of each other, like 0.2. Both zero agree; one zero does not.
func Agree(a, b, share float64) bool {
	if a == b {
		return true
	}
	return a > 0 && b > 0 && math.Abs(math.Log(a/b)) <= math.Log1p(share)
}
