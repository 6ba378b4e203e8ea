package number

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"
)

// Scanned says how far a number reached in a text. MySQL reads the longest prefix that is a number and complains, or not, of the rest.
type Scanned struct {
	End    int   // bytes that were read: leading white space, sign and number; 0 if there is no number
	Digits bool  // the text begins with a number
	Rest   bool  // something other than white space follows the number, or the text is no number and not blank
	Over   Range // the number is out of range
}

// Clean reports whether the whole text was a number in range, white space at either end apart.
func (s Scanned) Clean() bool { return s.Digits && !s.Rest && s.Over == InRange }

// Doubtful reports whether MySQL warns (1292, Truncated incorrect DOUBLE value) when an expression uses the text as a DOUBLE. It does
// not for blank texts, unlike for DECIMAL and INTEGER, where the warning is due unless Clean.
func (s Scanned) Doubtful() bool { return s.Rest || s.Over != InRange }

// literal is a number in a text, cut into its parts.
type literal struct {
	start    int // of the sign or the first digit
	negative bool
	whole    string
	fraction string
	exponent int // at most maxExponent in absolute value
	Scanned
}

// maxExponent is where exponents are cut: beyond any number that a text within memory can bring back into range.
const maxExponent = 1 << 30

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitsFrom(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// scan reads a number, or only its whole part if whole is set.
func scan(s string, whole bool) (l literal) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	blank := i == len(s)
	l.start = i
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		l.negative = s[i] == '-'
		i++
	}
	end := digitsFrom(s, i)
	l.whole = s[i:end]
	if !whole && end < len(s) && s[end] == '.' {
		to := digitsFrom(s, end+1)
		if l.whole != "" || to > end+1 {
			l.fraction, end = s[end+1:to], to
		}
	}
	if l.Digits = l.whole != "" || l.fraction != ""; !l.Digits {
		l.negative, l.Rest = false, !blank
		return l
	}
	if !whole && end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		from, neg := end+1, false
		if from < len(s) && (s[from] == '-' || s[from] == '+') {
			neg = s[from] == '-'
			from++
		}
		if to := digitsFrom(s, from); to > from {
			for _, c := range []byte(s[from:to]) {
				l.exponent = min(maxExponent, l.exponent*10+int(c-'0'))
			}
			if neg {
				l.exponent = -l.exponent
			}
			end = to
		}
	}
	l.End = end
	for ; end < len(s); end++ {
		if !isSpace(s[end]) {
			l.Rest = true
			break
		}
	}
	return l
}

// digit returns the i-th digit of the literal, 0 behind the last one.
func (l *literal) digit(i int) byte {
	switch {
	case i < len(l.whole):
		return l.whole[i]
	case i < len(l.whole)+len(l.fraction):
		return l.fraction[i-len(l.whole)]
	}
	return '0'
}

// significant returns the place of the first digit that is not zero, and that behind the last one; both are equal for zero.
func (l *literal) significant() (first, end int) {
	end = len(l.whole) + len(l.fraction)
	for end > 0 && l.digit(end-1) == '0' {
		end--
	}
	for first < end && l.digit(first) == '0' {
		first++
	}
	return first, end
}

// over is the side on which a literal that is too large leaves the range.
func (l *literal) over() Range {
	if l.negative {
		return Below
	}
	return Above
}

// ParseDouble reads a double. Out of range it gives the largest one.
func ParseDouble(s string) (float64, Scanned) {
	l := scan(s, false)
	if !l.Digits {
		return 0, l.Scanned
	}
	f, _ := strconv.ParseFloat(s[l.start:l.End], 64)
	if math.IsInf(f, 0) {
		l.Over = l.over()
		f = math.Copysign(math.MaxFloat64, f)
	}
	return f, l.Scanned
}

// ParseDecimal reads a decimal; its scale is what the text shows: "1.50" has 2, "1e2" 0, "1.5e-3" 4. More than 81 digits lose those at
// the end of the fraction; an integer part that is too long gives the largest number with 65 digits.
func ParseDecimal(s string) (*apd.Decimal, Scanned) {
	l := scan(s, false)
	d, over := l.decimal()
	l.Over = over
	return d, l.Scanned
}

func (l *literal) decimal() (*apd.Decimal, Range) {
	zero := func(scale int) (*apd.Decimal, Range) { return build(false, new(apd.BigInt), scale), InRange }
	if !l.Digits {
		return zero(0)
	}
	limit := maxWords * wordDigits
	scale := min(limit, max(0, len(l.fraction)-l.exponent))
	first, end := l.significant()
	if first == end {
		return zero(scale)
	}
	point := len(l.whole) + l.exponent // digits before the point, counted from the first one of the literal
	if point-first > limit {
		return Max(MaxPrecision, 0, l.negative), l.over()
	}
	upTo := point + scale // digits that are kept
	if upTo <= first {
		return zero(scale)
	}
	buf := make([]byte, 0, 2*limit)
	for i := first; i < upTo && len(buf) < cap(buf); i++ {
		buf = append(buf, l.digit(i))
	}
	c, _ := new(apd.BigInt).SetString(string(buf), 10)
	d, ok := fit(l.negative, c, scale)
	if !ok {
		return d, l.over()
	}
	return d, InRange
}

// ParseInteger reads an integer without fraction and exponent, as CAST('12.9' AS SIGNED) does (12, with a warning since ".9" is left).
// The result is unsigned if it lies above the signed range; out of range it is the nearest bound.
func ParseInteger(s string) (Int, Scanned) {
	l := scan(s, true)
	var m uint64
	for _, c := range []byte(l.whole) {
		if m > math.MaxUint64/10 || m*10 > math.MaxUint64-uint64(c-'0') {
			l.Over, m = l.over(), math.MaxUint64
			break
		}
		m = m*10 + uint64(c-'0')
	}
	if l.negative {
		if m > 1<<63 {
			l.Over, m = Below, 1<<63
		}
		return Int{Bits: -m}, l.Scanned
	}
	return Int{Bits: m, Unsigned: m > math.MaxInt64}, l.Scanned
}

// ParseRounded reads a number with fraction and exponent and rounds it half away from zero to an integer of the wanted kind, as a text
// is assigned to an integer column. Out of range it gives the nearest bound.
func ParseRounded(s string, unsigned bool) (Int, Scanned) {
	l := scan(s, false)
	first, end := l.significant()
	point := len(l.whole) + l.exponent
	var m uint64
	over := first < end && point-first > 20
	if first < end && !over && point >= first {
		for i := first; i < point && !over; i++ {
			m, over = appendDigit(m, l.digit(i))
		}
		if !over && l.digit(point) >= '5' {
			over = m == math.MaxUint64
			m++
		}
	}
	i, ok := makeInt(l.negative, m, unsigned)
	if ok && !over {
		return i, l.Scanned
	}
	l.Over = l.over()
	switch {
	case unsigned && l.negative:
		return Unsigned(0), l.Scanned
	case unsigned:
		return Unsigned(math.MaxUint64), l.Scanned
	case l.negative:
		return Signed(math.MinInt64), l.Scanned
	}
	return Signed(math.MaxInt64), l.Scanned
}

func appendDigit(m uint64, digit byte) (uint64, bool) {
	if m > math.MaxUint64/10 || m*10 > math.MaxUint64-uint64(digit-'0') {
		return m, true
	}
	return m*10 + uint64(digit-'0'), false
}

// FromBinary reads the bytes of a hexadecimal or bit literal (x'41', b'1000001') in a numeric context: the last eight bytes as an
// unsigned integer, most significant first. Out of range means that one of the bytes before those is not zero.
func FromBinary(b []byte) (Int, Range) {
	over := InRange
	for len(b) > 8 {
		if b[0] != 0 {
			over = Above
		}
		b = b[1:]
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return Unsigned(v), over
}
