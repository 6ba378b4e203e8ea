package number

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func (i Int) big() *big.Int {
	if i.Unsigned {
		return new(big.Int).SetUint64(i.Bits)
	}
	return big.NewInt(int64(i.Bits))
}

// TestIntegerOperators compares with numbers without limits, over corners and random values.
func TestIntegerOperators(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	corners := []uint64{0, 1, 2, 3, 1 << 31, 1 << 32, math.MaxInt64, 1 << 63, math.MaxUint64, math.MaxUint64 - 1, 10, 4294967295, 4294967296}
	draw := func() Int {
		b := corners[r.IntN(len(corners))]
		if r.IntN(2) == 0 {
			b = r.Uint64() >> r.IntN(64)
		}
		return Int{Bits: b, Unsigned: r.IntN(2) == 0}
	}
	low, high, top := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64), new(big.Int).SetUint64(math.MaxUint64)
	for range 200_000 {
		a, b, unsigned := draw(), draw(), r.IntN(2) == 0
		var want big.Int
		var got Int
		var ok bool
		op := "+-*d%n|"[r.IntN(7)]
		switch op {
		case '+':
			want.Add(a.big(), b.big())
			got, ok = AddInt(a, b, unsigned)
		case '-':
			want.Sub(a.big(), b.big())
			got, ok = SubInt(a, b, unsigned)
		case '*':
			want.Mul(a.big(), b.big())
			got, ok = MulInt(a, b, unsigned)
		case 'd', '%':
			if b.Bits == 0 {
				continue
			}
			if op == 'd' {
				want.Quo(a.big(), b.big())
				got, ok = DivInt(a, b, unsigned)
			} else {
				want.Rem(a.big(), b.big())
				got, ok, unsigned = ModInt(a, b), true, a.Unsigned
			}
		case 'n':
			unsigned = false
			want.Neg(a.big())
			got, ok = NegInt(a)
		case '|':
			unsigned = a.Unsigned
			want.Abs(a.big())
			got, ok = AbsInt(a)
		}
		fits := want.Cmp(low) >= 0 && want.Cmp(high) <= 0
		if unsigned {
			fits = want.Sign() >= 0 && want.Cmp(top) <= 0
		}
		if ok != fits || ok && (got.big().Cmp(&want) != 0 || got.Unsigned != unsigned) {
			t.Fatalf("%v %c %v, unsigned %v: got %v %v, want %v %v", a.big(), op, b.big(), unsigned, got.big(), ok, &want, fits)
		}
		if c := CompareInt(a, b); c != a.big().Cmp(b.big()) {
			t.Fatalf("%v against %v: %d", a.big(), b.big(), c)
		}
	}
}

func TestRoundInt(t *testing.T) {
	for _, c := range []struct {
		in       Int
		places   int64
		truncate bool
		want     Int
		ok       bool
	}{
		{Signed(15), -1, false, Signed(20), true},
		{Signed(-15), -1, false, Signed(-20), true},
		{Signed(14), -1, false, Signed(10), true},
		{Signed(19), -1, true, Signed(10), true},
		{Signed(5), -2, false, Signed(0), true},
		{Signed(5), 3, false, Signed(5), true},
		{Signed(math.MaxInt64), -19, false, Signed(math.MaxInt64), false}, // 10^19 is out of range
		{Signed(math.MaxInt64), -20, false, Signed(0), true},
		{Unsigned(math.MaxUint64), -1, false, Unsigned(0), false},
		{Unsigned(math.MaxUint64), -19, false, Unsigned(0), false},
		{Unsigned(10000000000000000000), -19, false, Unsigned(10000000000000000000), true},
		{Signed(5), math.MinInt64, false, Signed(0), true},
	} {
		got, ok := RoundInt(c.in, c.places, c.truncate)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%v to %d places: got %v %v, want %v %v", c.in.big(), c.places, got.big(), ok, c.want.big(), c.ok)
		}
	}
}

func TestIntegersFromFloats(t *testing.T) {
	for _, c := range []struct {
		in   float64
		i    int64
		side Range
		u    uint64
		over Range
	}{
		{2.5, 2, InRange, 2, InRange}, {3.5, 4, InRange, 4, InRange}, {-2.5, -2, InRange, 0, Below}, {-0.4, 0, InRange, 0, InRange},
		{1e20, math.MaxInt64, Above, math.MaxUint64, Above}, {-1e20, math.MinInt64, Below, 0, Below},
		{9223372036854775808, math.MaxInt64, Above, 1 << 63, InRange}, {-9223372036854775808, math.MinInt64, InRange, 0, Below},
		{math.Inf(-1), math.MinInt64, Below, 0, Below}, {math.NaN(), 0, Above, 0, Above},
	} {
		i, side := Int64FromFloat(c.in)
		u, over := Uint64FromFloat(c.in)
		if i != c.i || side != c.side || u != c.u || over != c.over {
			t.Errorf("%v: got %d %d, %d %d; want %d %d, %d %d", c.in, i, side, u, over, c.i, c.side, c.u, c.over)
		}
	}
}
