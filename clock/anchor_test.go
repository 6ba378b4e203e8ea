package clock

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// naive computes a reading with rational numbers.
func naive(s Sample, age int64) (earliest, latest *big.Rat) {
	g := new(big.Rat).Mul(big.NewRat(age, 1), big.NewRat(s.Rate, 1_000_000_000))
	e := new(big.Rat).Sub(big.NewRat(int64(s.Earliest)+age, 1), g)
	l := new(big.Rat).Add(big.NewRat(int64(s.Latest)+age, 1), g)
	return e, l
}

// The integer arithmetic rounds outward, and by no more than 1 ns and 1 ppb (T7 of the error budget in docs/time.md).
func TestReadingAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := Sample{State: Synchronized, Earliest: epoch + Instant(r.Int64N(1e18)), Rate: r.Int64N(MaxRate + 1)}
		s.Latest = s.Earliest + Instant(r.Int64N(1e12))
		age := r.Int64N(int64(MaxAge) + 1)
		switch r.IntN(8) {
		case 0:
			s.Rate = MaxRate
		case 1:
			age = int64(MaxAge)
		case 2:
			age = r.Int64N(3)
		}
		got := newAnchor(s, -1).at(age)
		e, l := naive(s, age)
		for _, d := range []*big.Rat{
			new(big.Rat).Sub(e, big.NewRat(int64(got.Earliest), 1)),
			new(big.Rat).Sub(big.NewRat(int64(got.Latest), 1), l),
		} {
			if d.Sign() < 0 {
				t.Fatalf("%+v at %d: %s is inside of [%s, %s]", s, age, got, e.FloatString(3), l.FloatString(3))
			}
			if f, _ := d.Float64(); f > 2+float64(age)*1e-9 {
				t.Fatalf("%+v at %d: too wide by %g ns", s, age, f)
			}
		}
	}
}

func TestWidthLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		s := Sample{State: Synchronized, Earliest: epoch, Rate: r.Int64N(100_000)}
		s.Latest = s.Earliest + Instant(r.Int64N(2e9))
		maxWidth := time.Duration(1 + r.Int64N(2e9))
		a := newAnchor(s, maxWidth)
		age, reached := a.ageAtWidth(int64(maxWidth))
		if !reached {
			if w := a.at(int64(MaxAge)).Width(); w > maxWidth {
				t.Fatalf("%s after %s, above %s, is not said to be reached", w, MaxAge, maxWidth)
			}
			continue
		}
		if age >= 0 && a.at(age).Width() > maxWidth {
			t.Fatalf("%s wide at its last age", a.at(age).Width())
		}
		if a.at(age+1).Width() <= maxWidth {
			t.Fatalf("not yet too wide after its last age")
		}
		if (age < 0) == a.usable() {
			t.Fatalf("age %d, usable %v", age, a.usable())
		}
	}
}

// The predicates of an interval, against their meaning: a timestamp is past if every instant that could be now is after it.
func TestIntervalPredicates(t *testing.T) {
	for e := Instant(0); e < 5; e++ {
		for l := e; l < 5; l++ {
			iv := Interval{e, l}
			for x := Instant(0); x < 5; x++ {
				past, future := true, true
				for now := e; now <= l; now++ {
					past = past && x < now
					future = future && x > now
				}
				if iv.Passed(x) != past || iv.Past(Timestamp{Wall: int64(x)}) != past || iv.Before(x) != future {
					t.Fatalf("%d in %+v: passed %v, past %v, before %v", x, iv, iv.Passed(x), iv.Past(Timestamp{Wall: int64(x)}), iv.Before(x))
				}
				if x >= e && x <= l && iv.Limit().Wall < int64(x) {
					t.Fatalf("limit of %+v is below %d, which may be now", iv, x)
				}
			}
		}
	}
}

func TestTimestampOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	draw := func() Timestamp {
		ts := Timestamp{Wall: r.Int64N(3), Logical: uint32(r.IntN(3))}
		if r.IntN(4) == 0 {
			ts.Logical = 1<<32 - 1 - ts.Logical
		}
		return ts
	}
	naive := func(t Timestamp) *big.Int {
		return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(t.Wall), 32), big.NewInt(int64(t.Logical)))
	}
	one := big.NewInt(1)
	for range 10_000 {
		a, b := draw(), draw()
		want := naive(a).Cmp(naive(b))
		if a.Compare(b) != want || a.Less(b) != (want < 0) || a.LessEq(b) != (want <= 0) || naive(a.Forward(b)).Cmp(naive(b)) < 0 {
			t.Fatalf("%s and %s", a, b)
		}
		if new(big.Int).Sub(naive(a.Next()), naive(a)).Cmp(one) != 0 {
			t.Fatalf("%s is not next to %s", a.Next(), a)
		}
		if !a.IsZero() && a.Prev().Next() != a {
			t.Fatalf("%s is not before %s", a.Prev(), a)
		}
	}
}
