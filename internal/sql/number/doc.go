// Package number computes with numbers as MySQL 8 does: exact decimals, 64-bit integers with and without sign, doubles; numbers
// read from text, and numbers printed.
//
//	N1  No function changes an argument. A *apd.Decimal that is given or returned is a value: a caller may keep it, share it and use
//	    it as the key of nothing, but must not write to it. (A row's decimal that FLOOR had written to was stored in place of the
//	    row's: that is why this rule has a test that walks through every function.)
//	N2  A decimal that this package returns is finite, has no positive exponent, and its zero has no sign. Its exponent is minus its
//	    scale, so 1.50 and 1.5 are equal and print differently.
//	N3  A result that does not fit its range is reported as such (ok == false, or a Range other than InRange). It never wraps around.
//	N4  Nothing here depends on a session. What a mode of SQL makes of a report (a warning, an error, NULL) is the caller's business.
//	N5  The work is bounded by the length of the text or by 81 digits: an exponent or a number of places never decides how long a
//	    loop runs or how much is allocated.
//
// A decimal holds up to 81 digits in words of nine, as MySQL's does, although a column has at most 65. That shows in two places.
// A quotient has more digits than its type says (1/3 is 0.333333333 with the declared scale 4, so 1/3*3 is 1.0000), and a sum of
// decimals with 65 digits may have 66. Code that stores or prints a value rounds it to the declared scale by Round or Format.
package number

// Range says on which side a number has left the range of its target, if it has.
type Range int8

// The ranges.
const (
	Below   Range = -1
	InRange Range = 0
	Above   Range = 1
)

// Limits of decimals.
const (
	MaxPrecision = 65 // digits of a column or result type
	MaxScale     = 30 // digits behind the point of a column or result type

	wordDigits = 9  // digits in a word
	maxWords   = 9  // words of a value, those of the fraction and those of the integer part rounded up by themselves
	mulScale   = 31 // the largest scale of a product
)
