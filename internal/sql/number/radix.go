package number

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// FormatDecimal is FORMAT(d, places): rounded, with a comma before each group of three digits. The places are at most 30; below zero
// they count as zero.
func FormatDecimal(d *apd.Decimal, places int64) string {
	return Group(Format(d, int(min(MaxScale, max(0, places)))))
}

// FormatGrouped is FORMAT of a double.
func FormatGrouped(f float64, places int64) string {
	places = min(MaxScale, max(0, places))
	return Group(FormatFixed(RoundDouble(f, places), int(places)))
}

// Group puts a comma before each group of three digits of the whole part of a plain number.
func Group(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	var b strings.Builder
	if strings.HasPrefix(whole, "-") {
		b.WriteByte('-')
		whole = whole[1:]
	}
	for i, c := range []byte(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(c)
	}
	if point {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// Conv is CONV(s, from, to): the longest prefix of s that is a number of base from, printed in base to. Numbers have 64 bits and stick
// at their bounds; a negative base means signed: for from the bounds, for to the printing. ok is false, and the SQL result NULL, for a
// base outside 2 to 36 and for an empty text. clean is false, and a warning due, if s begins with no number or one beyond the bounds.
func Conv(s string, from, to int64) (out string, clean, ok bool) {
	base, signed := max(from, -from), from < 0
	if base < 2 || base > 36 || max(to, -to) < 2 || max(to, -to) > 36 || s == "" {
		return "", true, false
	}
	bits, clean := parseRadix(s, uint64(base), signed)
	if to < 0 {
		return strings.ToUpper(strconv.FormatInt(int64(bits), int(-to))), clean, true
	}
	return strings.ToUpper(strconv.FormatUint(bits, int(to))), clean, true
}

func parseRadix(s string, base uint64, signed bool) (bits uint64, clean bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	var m uint64
	over := false
	first := i
	for ; i < len(s); i++ {
		digit := uint64(math.MaxUint64)
		switch c := s[i]; {
		case isDigit(c):
			digit = uint64(c - '0')
		case c >= 'a' && c <= 'z':
			digit = uint64(c-'a') + 10
		case c >= 'A' && c <= 'Z':
			digit = uint64(c-'A') + 10
		}
		if digit >= base {
			break
		}
		if over = over || m > (math.MaxUint64-digit)/base; !over {
			m = m*base + digit
		}
	}
	switch {
	case signed && neg && (over || m > 1<<63):
		return 1 << 63, false
	case signed && !neg && (over || m > math.MaxInt64):
		return math.MaxInt64, false
	case over && neg:
		return 0, false
	case over:
		return math.MaxUint64, false
	case neg:
		return -m, i > first
	}
	return m, i > first
}
