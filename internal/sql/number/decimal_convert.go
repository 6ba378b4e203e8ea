package number

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"
)

// ToInt64 rounds a number half away from zero; out of range it gives the nearest bound.
func ToInt64(d *apd.Decimal) (int64, Range) {
	i := Round(d, 0)
	if i.Negative {
		if i.Coeff.IsUint64() && i.Coeff.Uint64() <= 1<<63 {
			return -int64(i.Coeff.Uint64()-1) - 1, InRange
		}
		return math.MinInt64, Below
	}
	if i.Coeff.IsInt64() {
		return i.Coeff.Int64(), InRange
	}
	return math.MaxInt64, Above
}

// ToUint64 rounds a number half away from zero; out of range it gives the nearest bound: 0 for negative numbers.
func ToUint64(d *apd.Decimal) (uint64, Range) {
	i := Round(d, 0)
	switch {
	case i.Negative:
		return 0, Below
	case !i.Coeff.IsUint64():
		return math.MaxUint64, Above
	}
	return i.Coeff.Uint64(), InRange
}

// ToFloat64 returns the double that is nearest to the number.
func ToFloat64(d *apd.Decimal) float64 {
	f, _ := strconv.ParseFloat(Text(d), 64) // out of range is impossible: exponents are bounded
	return f
}

// FromFloat64 returns the decimal that the shortest text of the double denotes, as MySQL converts: 0.1 is 0.1, not
// 0.1000000000000000055. Beyond 65 digits it gives the largest number; NaN and infinities give zero and the side of the range.
func FromFloat64(f float64) (*apd.Decimal, Range) {
	switch {
	case math.IsNaN(f):
		return FromInt64(0), Above
	case math.IsInf(f, 0):
		if f < 0 {
			return Max(MaxPrecision, 0, true), Below
		}
		return Max(MaxPrecision, 0, false), Above
	}
	var buf [32]byte
	d, s := ParseDecimal(string(strconv.AppendFloat(buf[:0], f, 'g', -1, 64)))
	return d, s.Over
}
