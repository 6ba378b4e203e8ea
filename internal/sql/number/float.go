package number

import (
	"math"
	"strconv"
	"strings"
)

// plainDigits is how far the point may stand from the first digit of a number that is printed without exponent.
const plainDigits = 15

// FormatDouble prints a DOUBLE: the shortest text that reads back as the same number, with an exponent from 1e15 on (unless there is a
// fraction) and below 1e-15. 1e20, 1e-16, 0.30000000000000004, 1. Minus zero is -0. NaN and infinities, which no column or result
// holds, are 0.
func FormatDouble(f float64) string {
	s, _ := FormatWidth(f, math.MaxInt32)
	return s
}

// FormatFloat prints a FLOAT: as FormatDouble, with six significant digits.
func FormatFloat(f float32) string {
	if notFinite(float64(f)) {
		return "0"
	}
	digits, point := decompose(float64(f), 5)
	return layOut(math.Signbit(float64(f)), digits, point)
}

// FormatFixed prints a double with so many digits behind the point (DOUBLE(M,D), ROUND and FORMAT of a double). Zeros follow the
// shortest text; digits are never invented: 0.1 with 20 places is 0.10000000000000000000. The places are at most 30.
func FormatFixed(f float64, places int) string {
	if notFinite(f) {
		return "0"
	}
	shortest := strconv.FormatFloat(f, 'f', -1, 64)
	fraction := 0
	if i := strings.IndexByte(shortest, '.'); i >= 0 {
		fraction = len(shortest) - i - 1
	}
	places = min(max(places, 0), MaxScale)
	if fraction > places {
		return strconv.FormatFloat(f, 'f', places, 64)
	}
	if fraction == 0 && places > 0 {
		shortest += "."
	}
	return shortest + strings.Repeat("0", places-fraction)
}

// FormatWidth prints a double in at most width bytes, as a DOUBLE is assigned to CHAR(width): digits that have no place are rounded
// away. ok is false if not even a rounded number has place.
func FormatWidth(f float64, width int) (s string, ok bool) {
	if notFinite(f) {
		return "0", false
	}
	neg := math.Signbit(f)
	if f < 0 {
		width--
	}
	digits, point := decompose(f, -1)
	plain := plainLength(len(digits), point)
	exponent := len(strconv.Itoa(abs(point - 1)))
	fits := plain <= width
	forced := point <= 0 && width <= 2-point && width >= 3+exponent
	if fits && usesPlain(len(digits), point) ||
		!fits && point <= width && !forced && (point >= -1 || point == -2 && len(digits) > 1) {
		places := width
		if point < len(digits) {
			places--
		}
		if point <= 0 {
			places -= 1 - point
		}
		if ok = places >= point || places >= len(digits); places < len(digits) {
			digits, point = cutDigits(f, max(0, places-point))
		}
		return plainText(neg, digits, point), ok
	}
	places := width - 1 - exponent
	if point-1 < 0 {
		places--
	}
	if len(digits) > 1 {
		places--
	}
	if ok = places > 0; places < len(digits) {
		digits, point = decompose(f, max(0, places-1))
	}
	return exponentText(neg, digits, point), ok
}

func notFinite(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }

func abs(i int) int { return max(i, -i) }

// decompose returns the digits of |f| without zeros at the end, and the place of the point: |f| = 0.digits · 10^point. precision is as
// in strconv: digits behind the first one, -1 for the shortest.
func decompose(f float64, precision int) (digits string, point int) {
	s := strconv.FormatFloat(math.Abs(f), 'e', precision, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	digits = strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	if digits == "" {
		return "0", 1
	}
	return digits, e + 1
}

// cutDigits is decompose with so many digits behind the point; digits is empty for a number that rounds to zero.
func cutDigits(f float64, places int) (digits string, point int) {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'f', places, 64), ".")
	digits = strings.TrimLeft(whole, "0")
	if point = len(digits); point == 0 {
		t := strings.TrimLeft(fraction, "0")
		point = len(t) - len(fraction)
		return strings.TrimRight(t, "0"), point
	}
	return strings.TrimRight(digits+fraction, "0"), point
}

func plainLength(digits, point int) int {
	switch {
	case point <= 0:
		return digits - point + 2
	case point < digits:
		return digits + 1
	}
	return point
}

func usesPlain(digits, point int) bool {
	return point > -plainDigits && (point <= plainDigits || digits > point)
}

func layOut(neg bool, digits string, point int) string {
	if usesPlain(len(digits), point) {
		return plainText(neg, digits, point)
	}
	return exponentText(neg, digits, point)
}

func plainText(neg bool, digits string, point int) string {
	if digits == "" {
		return "0"
	}
	sign := ""
	if neg {
		sign = "-"
	}
	switch {
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits
	case point < len(digits):
		return sign + digits[:point] + "." + digits[point:]
	}
	return sign + digits + strings.Repeat("0", point-len(digits))
}

func exponentText(neg bool, digits string, point int) string {
	s := digits[:1]
	if len(digits) > 1 {
		s += "." + digits[1:]
	}
	if neg {
		s = "-" + s
	}
	return s + "e" + strconv.Itoa(point-1)
}

// RoundDouble rounds a double to places digits behind (or, if negative, before) the point: the double times the power of ten is rounded
// to the nearest integer, halves to the even one, as the C library's rint does. ROUND(2.5e0) is 2.
func RoundDouble(f float64, places int64) float64 { return roundDouble(f, places, math.RoundToEven) }

// TruncateDouble drops digits after places behind the point.
func TruncateDouble(f float64, places int64) float64 { return roundDouble(f, places, math.Trunc) }

func roundDouble(f float64, places int64, round func(float64) float64) float64 {
	unit := math.Pow10(abs(int(min(400, max(-400, places)))))
	if places < 0 {
		if math.IsInf(unit, 0) {
			return 0
		}
		return round(f/unit) * unit
	}
	if up := f * unit; !math.IsInf(unit, 0) && !notFinite(up) {
		return round(up) / unit
	}
	return f
}
