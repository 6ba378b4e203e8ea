package number

import (
	"math"
	"math/bits"
)

// Int is a 64-bit integer with or without sign: a BIGINT or BIGINT UNSIGNED. The zero value is the signed 0.
type Int struct {
	Bits     uint64
	Unsigned bool
}

// Signed returns a signed integer.
func Signed(v int64) Int { return Int{Bits: uint64(v)} }

// Unsigned returns an integer without sign.
func Unsigned(v uint64) Int { return Int{Bits: v, Unsigned: true} }

// Negative reports whether the integer is below zero.
func (i Int) Negative() bool { return !i.Unsigned && int64(i.Bits) < 0 }

// Magnitude returns the absolute value.
func (i Int) Magnitude() uint64 {
	if i.Negative() {
		return -i.Bits
	}
	return i.Bits
}

// Float64 returns the nearest double.
func (i Int) Float64() float64 {
	if i.Unsigned {
		return float64(i.Bits)
	}
	return float64(int64(i.Bits))
}

// makeInt returns an integer of the wanted kind; ok is false if it cannot hold the value.
func makeInt(neg bool, magnitude uint64, unsigned bool) (i Int, ok bool) {
	neg = neg && magnitude != 0
	switch {
	case unsigned:
		return Unsigned(magnitude), !neg
	case neg:
		return Int{Bits: -magnitude}, magnitude <= 1<<63
	}
	return Int{Bits: magnitude}, magnitude <= math.MaxInt64
}

// The operators below return ok == false if the result has no place in a 64-bit integer, unsigned or not as the caller wants it: a
// result is unsigned iff one of the operands of +, -, * and DIV is, or the first of %; the mode NO_UNSIGNED_SUBTRACTION makes that of
// - signed.

// AddInt returns a + b.
func AddInt(a, b Int, unsigned bool) (sum Int, ok bool) {
	return addInt(a.Negative(), a.Magnitude(), b.Negative(), b.Magnitude(), unsigned)
}

// SubInt returns a - b.
func SubInt(a, b Int, unsigned bool) (difference Int, ok bool) {
	return addInt(a.Negative(), a.Magnitude(), !b.Negative(), b.Magnitude(), unsigned)
}

func addInt(na bool, a uint64, nb bool, b uint64, unsigned bool) (Int, bool) {
	if na == nb {
		sum, carry := bits.Add64(a, b, 0)
		i, ok := makeInt(na, sum, unsigned)
		return i, ok && carry == 0
	}
	if a >= b {
		return makeInt(na, a-b, unsigned)
	}
	return makeInt(nb, b-a, unsigned)
}

// MulInt returns a · b.
func MulInt(a, b Int, unsigned bool) (product Int, ok bool) {
	high, low := bits.Mul64(a.Magnitude(), b.Magnitude())
	i, ok := makeInt(a.Negative() != b.Negative(), low, unsigned)
	return i, ok && high == 0
}

// DivInt returns the integer part of a / b. b is not zero.
func DivInt(a, b Int, unsigned bool) (quotient Int, ok bool) {
	return makeInt(a.Negative() != b.Negative(), a.Magnitude()/b.Magnitude(), unsigned)
}

// ModInt returns the remainder of a / b with the sign and the kind of a. b is not zero.
func ModInt(a, b Int) Int {
	i, _ := makeInt(a.Negative(), a.Magnitude()%b.Magnitude(), a.Unsigned)
	return i
}

// NegInt returns -a as a signed integer.
func NegInt(a Int) (Int, bool) { return makeInt(!a.Negative(), a.Magnitude(), false) }

// AbsInt returns |a| of the same kind.
func AbsInt(a Int) (Int, bool) { return makeInt(false, a.Magnitude(), a.Unsigned) }

// CompareInt returns -1, 0 or 1, by value whatever the kinds.
func CompareInt(a, b Int) int {
	d, ok := SubInt(a, b, false)
	switch {
	case ok && d.Bits == 0:
		return 0
	case a.Negative() != b.Negative():
		if a.Negative() {
			return -1
		}
		return 1
	case a.Negative() == (a.Magnitude() > b.Magnitude()):
		return -1
	}
	return 1
}

// RoundInt rounds half away from zero (or, if truncate is set, drops) the last -places digits of an integer; places of 0 or more
// change nothing. ok is false if the result is out of range.
func RoundInt(a Int, places int64, truncate bool) (Int, bool) {
	if places >= 0 {
		return a, true
	}
	if places < -19 { // 10^20 is more than twice the largest magnitude
		return Int{Unsigned: a.Unsigned}, true
	}
	unit := uint64(1)
	for ; places < 0; places++ {
		unit *= 10
	}
	m := a.Magnitude()
	low := m % unit
	m -= low
	if !truncate && low >= unit/2 {
		up, carry := bits.Add64(m, unit, 0)
		i, ok := makeInt(a.Negative(), up, a.Unsigned)
		return i, ok && carry == 0
	}
	return makeInt(a.Negative(), m, a.Unsigned)
}

// Int64FromFloat rounds a double to the nearest integer, halves to the even one (as a DOUBLE is assigned to an integer column); out of
// range, and for infinities, it gives the nearest bound, for NaN 0.
func Int64FromFloat(f float64) (int64, Range) {
	f = math.RoundToEven(f)
	switch {
	case f >= 1<<63:
		return math.MaxInt64, Above
	case f < -1<<63:
		return math.MinInt64, Below
	case f != f:
		return 0, Above
	}
	return int64(f), InRange
}

// Uint64FromFloat is Int64FromFloat for integers without sign.
func Uint64FromFloat(f float64) (uint64, Range) {
	f = math.RoundToEven(f)
	switch {
	case f >= 1<<64:
		return math.MaxUint64, Above
	case f < 0:
		return 0, Below
	case f != f:
		return 0, Above
	}
	return uint64(f), InRange
}
