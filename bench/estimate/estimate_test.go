package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rounds of a noisy machine: both sides of a round are slowed down alike, by up to a factor of three, and each a little by
// itself. The true ratio is 1.5; about 95 of 100 intervals should hold it, with few rounds too.
func TestIntervalsHoldTheTruth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, rounds := range []int{3, 5, 10, 20} {
		held, width := 0, 0.0
		const times = 300
		for range times {
			var a, b []float64
			for range rounds {
				machine := 1 + 2*rnd.Float64()
				a = append(a, 150/machine*math.Exp(0.1*rnd.NormFloat64()))
				b = append(b, 100/machine*math.Exp(0.1*rnd.NormFloat64()))
			}
			r := Paired(a, b)
			if Agree(r.Value, 1.5, r.Error) {
				held++
			}
			width += r.Error / times
		}
		if held < times*88/100 {
			t.Errorf("%d rounds: %d of %d intervals hold the truth", rounds, held, times)
		}
		if rounds == 20 && width > 0.1 {
			t.Errorf("%d rounds: the intervals are ±%.2f wide on average; pairing has not taken the machine out", rounds, width)
		}
	}
}

// One round in ten that another process ate half of does not move the ratio.
func TestTrimmedForgivesABurst(t *testing.T) {
	a, b := make([]float64, 10), make([]float64, 10)
	for i := range a {
		a[i], b[i] = 150, 100
	}
	a[3] = 30
	if r := Paired(a, b); math.Abs(r.Value-1.5) > 1e-9 {
		t.Error(r)
	}
}

func TestUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		got  Ratio
		want string
	}{
		"no rounds":   {Paired(nil, nil), "–"},
		"one round":   {Paired([]float64{3}, []float64{2}), "1.50"},
		"zero":        {Of(5, 5, true, func(a, b []int) float64 { return 0 }), "0.00"},
		"no divisor":  {Of(5, 5, true, func(a, b []int) float64 { return math.NaN() }), "–"},
		"exactly":     {Paired([]float64{3, 3}, []float64{2, 2}), "1.50 ±0 %"},
		"known badly": {Paired([]float64{9, 1}, []float64{1, 3}), "1.73 ×/÷ 3"},
	} {
		got := c.got.String()
		if name == "known badly" { // the factor is what it is; that it is said is the point
			if c.got.Error < 10 {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b float64
		want bool
	}{{0, 0, true}, {0, 0.1, false}, {1, 1.19, true}, {1.19, 1, true}, {1, 1.21, false}} {
		if Agree(c.a, c.b, 0.2) != c.want {
			t.Errorf("%g and %g within 20 %%: want %v", c.a, c.b, c.want)
		}
	}
}
