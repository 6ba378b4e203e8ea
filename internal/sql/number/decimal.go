package number

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// powers are 10^0 to 10^200: enough for two values of 81 digits that are brought to one scale.
var powers = func() (p [201]apd.BigInt) {
	ten := apd.NewBigInt(10)
	p[0].SetInt64(1)
	for i := 1; i < len(p); i++ {
		p[i].Mul(&p[i-1], ten)
	}
	return p
}()

// pow10 returns 10^n, which the caller must not change. n is at most 200.
func pow10(n int) *apd.BigInt { return &powers[n] }

// Scale returns the number of digits behind the point.
func Scale(d *apd.Decimal) int { return max(0, -int(d.Exponent)) }

// IntegerDigits returns the number of digits before the point without leading zeros: 0 for numbers below one.
func IntegerDigits(d *apd.Decimal) int {
	if d.Coeff.Sign() == 0 {
		return 0
	}
	return max(0, int(d.NumDigits())+int(d.Exponent))
}

// Precision returns the number of digits that a type needs to hold the value: those before the point and the scale, at least 1.
func Precision(d *apd.Decimal) int { return max(1, IntegerDigits(d)+Scale(d)) }

// Sign returns -1, 0 or 1.
func Sign(d *apd.Decimal) int { return d.Sign() }

// build makes a decimal; it takes the coefficient over.
func build(neg bool, coeff *apd.BigInt, scale int) *apd.Decimal {
	d := &apd.Decimal{Negative: neg && coeff.Sign() != 0, Exponent: -int32(scale)}
	d.Coeff.Set(coeff)
	return d
}

// coefficientAt returns |d|·10^scale. The scale is at least that of d.
func coefficientAt(d *apd.Decimal, scale int) *apd.BigInt {
	c := new(apd.BigInt)
	up := scale + int(d.Exponent)
	if up == 0 {
		return c.Set(&d.Coeff)
	}
	return c.Mul(&d.Coeff, pow10(up))
}

// shrink drops the digits of c behind the point below scale: it divides by 10^(from-scale), towards zero.
func shrink(c *apd.BigInt, from, scale int) *apd.BigInt {
	if from <= scale {
		return c
	}
	if from-scale > 200 {
		return c.SetInt64(0)
	}
	return c.Quo(c, pow10(from-scale))
}

// digitsOf returns the number of decimal digits of c, 0 for zero.
func digitsOf(c *apd.BigInt) int {
	if c.Sign() == 0 {
		return 0
	}
	d := apd.Decimal{}
	d.Coeff.Set(c)
	return int(d.NumDigits())
}

func words(digits int) int { return (digits + wordDigits - 1) / wordDigits }

// fit makes a decimal of what an operation gave: digits of the fraction for which no word is left are dropped; ok is false, and the
// value the largest with 65 digits, if the integer part alone is too long.
func fit(neg bool, c *apd.BigInt, scale int) (d *apd.Decimal, ok bool) {
	whole := words(max(0, digitsOf(c)-scale))
	if whole > maxWords {
		return Max(MaxPrecision, 0, neg), false
	}
	if left := maxWords - whole; words(scale) > left {
		shrink(c, scale, left*wordDigits)
		scale = left * wordDigits
	}
	return build(neg, c, scale), true
}

// Max returns the largest number of a type in absolute value: 999.99 for (5,2), -999.99 if neg.
func Max(precision, scale int, neg bool) *apd.Decimal {
	c := new(apd.BigInt).Sub(pow10(precision), pow10(0))
	return build(neg, c, scale)
}

// FromInt64 returns the number with scale 0.
func FromInt64(v int64) *apd.Decimal { return apd.New(v, 0) }

// FromUint64 returns the number with scale 0.
func FromUint64(v uint64) *apd.Decimal {
	d := new(apd.Decimal)
	d.Coeff.SetUint64(v)
	return d
}

// FromInt returns the integer with scale 0.
func FromInt(i Int) *apd.Decimal {
	if i.Unsigned {
		return FromUint64(i.Bits)
	}
	return FromInt64(int64(i.Bits))
}

// Format prints a number with the given scale, rounded half away from zero: Format(1.005, 2) is 1.01. Zero has no sign.
func Format(d *apd.Decimal, scale int) string { return Text(Round(d, scale)) }

// Text prints a number with its own scale and never with an exponent.
func Text(d *apd.Decimal) string {
	if d.Exponent > 0 {
		d = build(d.Negative, coefficientAt(d, 0), 0)
	}
	digits, scale := d.Coeff.String(), Scale(d)
	var b strings.Builder
	b.Grow(len(digits) + scale + 3)
	if d.Negative && d.Coeff.Sign() != 0 {
		b.WriteByte('-')
	}
	whole := len(digits) - scale
	if whole <= 0 {
		b.WriteByte('0')
	} else {
		b.WriteString(digits[:whole])
	}
	if scale > 0 {
		b.WriteByte('.')
		for i := whole; i < 0; i++ {
			b.WriteByte('0')
		}
		b.WriteString(digits[max(0, whole):])
	}
	return b.String()
}

// Compare returns -1, 0 or 1.
func Compare(a, b *apd.Decimal) int {
	if sa, sb := a.Sign(), b.Sign(); sa != sb || sa == 0 {
		return min(1, max(-1, sa-sb))
	}
	s := max(Scale(a), Scale(b))
	return a.Sign() * coefficientAt(a, s).Cmp(coefficientAt(b, s))
}

// Reduce returns an equal number without zeros at the end of its fraction, so that equal numbers have equal texts.
func Reduce(d *apd.Decimal) *apd.Decimal {
	c := coefficientAt(d, Scale(d))
	scale := Scale(d)
	var q, r apd.BigInt
	for scale > 0 {
		q.QuoRem(c, pow10(1), &r)
		if r.Sign() != 0 {
			break
		}
		c.Set(&q)
		scale--
	}
	return build(d.Negative, c, scale)
}
