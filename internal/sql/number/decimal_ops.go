package number

import "github.com/cockroachdb/apd/v3"

// The operators return ok == false if the result has more than 81 digits before the point; the value is then the largest of its sign.

// Add returns a + b with the larger scale.
func Add(a, b *apd.Decimal) (sum *apd.Decimal, ok bool) { return add(a, b, b.Negative) }

// Sub returns a - b with the larger scale.
func Sub(a, b *apd.Decimal) (difference *apd.Decimal, ok bool) { return add(a, b, !b.Negative) }

func add(a, b *apd.Decimal, negativeB bool) (*apd.Decimal, bool) {
	scale := max(Scale(a), Scale(b))
	x, y := coefficientAt(a, scale), coefficientAt(b, scale)
	if a.Negative == negativeB {
		return fit(a.Negative, x.Add(x, y), scale)
	}
	if x.Cmp(y) >= 0 {
		return fit(a.Negative, x.Sub(x, y), scale)
	}
	return fit(negativeB, y.Sub(y, x), scale)
}

// Mul returns a · b with the sum of the scales, at most 31: further digits are dropped.
func Mul(a, b *apd.Decimal) (product *apd.Decimal, ok bool) {
	from := Scale(a) + Scale(b)
	x, y := coefficientAt(a, Scale(a)), coefficientAt(b, Scale(b))
	scale := min(mulScale, from)
	return fit(a.Negative != b.Negative, shrink(x.Mul(x, y), from, scale), scale)
}

// Div returns a / b with at least increment digits more than a has behind the point (div_precision_increment), rounded up to whole
// words of nine digits as MySQL computes it; digits after those are dropped. defined is false if b is zero. The declared scale is that
// of DivSpec: Round or Format brings a value there.
func Div(a, b *apd.Decimal, increment int) (quotient *apd.Decimal, ok, defined bool) {
	if b.Coeff.Sign() == 0 {
		return nil, false, false
	}
	sa, sb := Scale(a), Scale(b)
	ra, rb := words(sa)*wordDigits, words(sb)*wordDigits
	scale := words(ra+rb+max(0, increment-(ra-sa)-(rb-sb))) * wordDigits
	scale = min(scale, maxWords*wordDigits)
	q := quotientAt(a, b, scale)
	d, ok := fit(a.Negative != b.Negative, q, scale)
	return d, ok, true
}

// quotientAt returns |a/b|·10^scale, towards zero.
func quotientAt(a, b *apd.Decimal, scale int) *apd.BigInt {
	sa, sb := Scale(a), Scale(b)
	x, y := coefficientAt(a, sa), coefficientAt(b, sb)
	if up := scale + sb - sa; up >= 0 { // (x/10^sa) / (y/10^sb) · 10^scale
		x.Mul(x, pow10(up))
	} else {
		y.Mul(y, pow10(-up))
	}
	return x.Quo(x, y)
}

// DivInteger returns the integer part of a / b, towards zero, with scale 0; defined is false if b is zero.
func DivInteger(a, b *apd.Decimal) (quotient *apd.Decimal, defined bool) {
	if b.Coeff.Sign() == 0 {
		return nil, false
	}
	return build(a.Negative != b.Negative, quotientAt(a, b, 0), 0), true
}

// Mod returns the remainder of a / b with the sign of a and the larger scale; defined is false if b is zero.
func Mod(a, b *apd.Decimal) (remainder *apd.Decimal, defined bool) {
	if b.Coeff.Sign() == 0 {
		return nil, false
	}
	scale := max(Scale(a), Scale(b))
	x, y := coefficientAt(a, scale), coefficientAt(b, scale)
	return build(a.Negative, x.Rem(x, y), scale), true
}

// Neg returns -d.
func Neg(d *apd.Decimal) *apd.Decimal {
	return build(!d.Negative, coefficientAt(d, Scale(d)), Scale(d))
}

// Abs returns |d|.
func Abs(d *apd.Decimal) *apd.Decimal { return build(false, coefficientAt(d, Scale(d)), Scale(d)) }

// Round rounds half away from zero to places digits behind the point; a negative number of places rounds before the point. The result
// has that scale, or 0: Round(1.5, 3) is 1.500, Round(15, -1) is 20.
func Round(d *apd.Decimal, places int) *apd.Decimal { return cut(d, places, halfUp) }

// Truncate drops the digits after places digits behind the point; the result has that scale, or 0.
func Truncate(d *apd.Decimal, places int) *apd.Decimal { return cut(d, places, towardsZero) }

// Ceil returns the least integer that is not below d, with scale 0.
func Ceil(d *apd.Decimal) *apd.Decimal {
	if d.Negative {
		return cut(d, 0, towardsZero)
	}
	return cut(d, 0, away)
}

// Floor returns the largest integer that is not above d, with scale 0.
func Floor(d *apd.Decimal) *apd.Decimal {
	if d.Negative {
		return cut(d, 0, away)
	}
	return cut(d, 0, towardsZero)
}

type rounding uint8

const (
	towardsZero rounding = iota
	halfUp
	away
)

func cut(d *apd.Decimal, places int, how rounding) *apd.Decimal {
	places = min(places, maxWords*wordDigits)
	scale := Scale(d)
	if places >= scale {
		return build(d.Negative, coefficientAt(d, places), places)
	}
	c := coefficientAt(d, scale)
	drop := scale - places
	if drop > 200 { // nothing that is left of 81 digits
		c.SetInt64(0)
		return build(false, c, max(0, places))
	}
	var rest apd.BigInt
	c.QuoRem(c, pow10(drop), &rest)
	switch {
	case how == halfUp:
		if rest.Add(&rest, &rest).Cmp(pow10(drop)) >= 0 {
			c.Add(c, pow10(0))
		}
	case how == away && rest.Sign() != 0:
		c.Add(c, pow10(0))
	}
	if places < 0 {
		if c.Sign() != 0 {
			c.Mul(c, pow10(-places))
		}
		places = 0
	}
	return build(d.Negative, c, places)
}

// Fit brings a number to a type: it rounds half away from zero to scale, and if more than precision digits are needed it returns the
// largest number of the type with that sign. rounded tells that digits other than zero were lost by rounding.
func Fit(d *apd.Decimal, precision, scale int) (out *apd.Decimal, rounded bool, over Range) {
	scale = max(0, scale)
	out = Round(d, scale)
	if digitsOf(&out.Coeff) > precision {
		if d.Negative {
			return Max(precision, scale, true), false, Below
		}
		return Max(precision, scale, false), false, Above
	}
	return out, Scale(d) > scale && Compare(d, out) != 0, InRange
}
