package temporal

// ParseTime reads a TIME text:
//
//	10:11:12.123456, -838:59, 10:11   hours, minutes, seconds: what is missing at the end is zero
//	1 10:11:12, 1 10                  days before the hours
//	101112.5, 1112, 12                without separators: hhmmss, mmss, ss
//	2024-02-29 10:11:12               a whole datetime with a space or without separators, of at least 12 characters
//
// The kind is KindTime, or KindDateTime for the last form: its Duration is then the time of day. Minutes and seconds above 59
// are OutOfRange without a value; more than 838:59:59 is OutOfRange and cut to that. Of the modes only TruncateFraction counts.
func ParseTime[T Text](s T, mode Mode) Reading {
	at := skipSpaces(s, 0)
	var deprecated Delimiter
	if at > 0 {
		deprecated.deprecate(s[0], 0, 0)
	}
	r := parseTime(s, at, mode)
	if deprecated.Char != 0 {
		r.Deprecated = deprecated
	}
	return r
}

// parseTime is ParseTime of s[at:], which begins with no space.
func parseTime[T Text](s T, at int, mode Mode) Reading {
	negative := at < len(s) && s[at] == '-'
	if negative {
		at++
	}
	if at == len(s) {
		return fail(Truncated | Blank)
	}
	if len(s)-at >= 12 {
		if r, shaped := parseDateTime(s[at:], ZeroParts|InvalidDates|mode&TruncateFraction, true); shaped {
			if r.Kind == KindDate && r.Faults != 0 {
				return fail(r.Faults)
			}
			r.Deprecated.At += at
			if r.Duration = r.DateTime.Clock(); r.Faults&Overflow != 0 { // rounded up behind the last day
				r = Reading{Kind: KindDateTime, Duration: microsDay}
			}
			return r
		}
	}
	p := timeParts{begin: at}
	if !scanTime(s, at, &p) {
		return fail(Truncated | p.blank)
	}
	if p.minute > 59 || p.second > 59 {
		return fail(OutOfRange)
	}
	r := Reading{Kind: KindTime, FSP: p.fsp, Deprecated: p.deprecated}
	hours := p.hour + p.day*24
	r.Duration, r.Faults = MakeDuration(negative, hours, p.minute, p.second, p.micro)
	if p.up && mode&TruncateFraction == 0 && r.Faults == 0 {
		one := Duration(1)
		if negative {
			one = -1
		}
		r.Duration, r.Faults = (r.Duration + one).clamp()
	}
	if p.end == p.begin {
		return fail(Truncated) // no character was used
	}
	if !onlySpaces(s, p.end) {
		r.Faults |= Truncated
	}
	if p.end < len(s) && isSpace(s[p.end]) {
		r.Deprecated.deprecate(s[p.end], p.end, 0)
	}
	return r
}

type timeParts struct {
	day, hour, minute, second, micro int64

	fsp        int
	up         bool // the seventh digit of the fraction rounds up
	begin, end int
	blank      Faults // Blank: a floating point number

	deprecated Delimiter
}

// maxTimePart is the largest number that can be a part of a TIME (32 bits).
const maxTimePart = 1<<32 - 1

// scanTime reads the parts from s[at:] on. It is false if a number is too large or an exponent follows.
func scanTime[T Text](s T, at int, p *timeParts) bool {
	first, at, ok := scanNumber(s, at)
	if !ok {
		return false
	}
	afterDays := skipSpaces(s, at)
	switch {
	case afterDays > at && len(s)-afterDays > 1 && isDigit(s[afterDays]):
		if afterDays > at+1 {
			p.deprecated.deprecate(s[at], at, 0)
		}
		var parts [3]int64
		parts, at, ok = scanClock(s, afterDays, 3)
		p.day, p.hour, p.minute, p.second = first, parts[0], parts[1], parts[2]
	case len(s)-afterDays > 1 && s[afterDays] == ':' && isDigit(s[afterDays+1]):
		var parts [3]int64
		parts, at, ok = scanClock(s, afterDays+1, 2)
		p.hour, p.minute, p.second = first, parts[0], parts[1]
	default:
		p.hour, p.minute, p.second = first/10_000, first/100%100, first%100
		at = afterDays
	}
	if !ok {
		return false
	}
	at = scanFraction(s, at, p)
	if hasExponent(s, at) {
		p.blank = Blank
		return false
	}
	p.end = at
	return true
}

// scanClock reads up to most numbers with colons between them.
func scanClock[T Text](s T, at, most int) (parts [3]int64, after int, ok bool) {
	for i := range most {
		if parts[i], at, ok = scanNumber(s, at); !ok {
			return parts, at, false
		}
		if i == most-1 || len(s)-at < 2 || s[at] != ':' || !isDigit(s[at+1]) {
			return parts, at, true
		}
		at++
	}
	return parts, at, true
}

// scanNumber reads digits; ok is false if there are too many.
func scanNumber[T Text](s T, at int) (n int64, after int, ok bool) {
	for at < len(s) && isDigit(s[at]) {
		if n <= maxTimePart {
			n = n*10 + int64(s[at]-'0')
		}
		at++
	}
	return n, at, n <= maxTimePart
}

// scanFraction reads a point and digits; a point alone at the end of the text counts as well.
func scanFraction[T Text](s T, at int, p *timeParts) int {
	if at == len(s) || s[at] != '.' || len(s)-at > 1 && !isDigit(s[at+1]) {
		return at
	}
	at++
	begin := at
	for at < len(s) && isDigit(s[at]) {
		switch n := at - begin; {
		case n < 6:
			p.micro += int64(s[at]-'0') * pow10[5-n]
			p.fsp++
		case n == 6:
			p.up = s[at] >= '5'
		}
		at++
	}
	return at
}

// hasExponent says whether e5, e-5 or e+5 follows: a floating point number, which is no TIME.
func hasExponent[T Text](s T, at int) bool {
	if len(s)-at < 2 || s[at]|0x20 != 'e' {
		return false
	}
	at++
	if s[at] == '+' || s[at] == '-' {
		at++
	}
	return at < len(s) && isDigit(s[at])
}

// ParseYear reads a YEAR text: 1901 to 2155, '0000', or a number up to 99 that means 1970 to 2069 ('0' is 2000); a fraction
// rounds. The fault is Truncated for what is no number, with the number before the garbage as value, and OutOfRange with year 0.
func ParseYear[T Text](s T) (year int, f Faults) {
	at := skipSpaces(s, 0)
	begin := at
	negative := at < len(s) && s[at] == '-'
	if at < len(s) && (s[at] == '-' || s[at] == '+') {
		at++
	}
	digits := at
	n, at, _ := scanNumber(s, at)
	if at == digits {
		return 0, Truncated
	}
	if at < len(s) && s[at] == '.' {
		at++
		if at < len(s) && isDigit(s[at]) && s[at] >= '5' {
			n++
		}
		for at < len(s) && isDigit(s[at]) {
			at++
		}
	}
	if !onlySpaces(s, at) {
		f |= Truncated
	}
	if negative && n != 0 {
		return 0, f | OutOfRange
	}
	if n == 0 && at-begin != 4 {
		return 2000, f
	}
	year, more := YearFromInt(n)
	return year, f | more
}

// YearFromInt is the YEAR of a number: 0, 1 to 99 (1970 to 2069), 1901 to 2155; else 0 with OutOfRange.
func YearFromInt(n int64) (int, Faults) {
	switch {
	case n == 0:
		return 0, 0
	case n > 0 && n < 100:
		return int(twoDigitYear(n)), 0
	case n >= 1901 && n <= 2155:
		return int(n), 0
	}
	return 0, OutOfRange
}
