package temporal

import "strings"

// FormatKind is what STR_TO_DATE gives for a constant format: the kind, and six fractional digits if the format has %f, else
// none. A format that is not constant gives a datetime with six digits.
func FormatKind(format string) (kind Kind, fsp int) {
	date, time := false, false
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch c := format[i]; {
		case c == 'f':
			time, fsp = true, 6
		case strings.IndexByte("HISThiklrs", c) >= 0:
			time = true
		case strings.IndexByte("MVUXYWabcjmvuxyw", c) >= 0:
			date = true
		}
	}
	switch {
	case date && time:
		return KindDateTime, fsp
	case time:
		return KindTime, fsp
	}
	return KindDate, 0
}

// StrToDate is STR_TO_DATE for a result of the given kind (FormatKind). Without a value the warning is 1411 (Incorrect
// datetime value for function str_to_date), with the fault Truncated 1292. A text that ends before the format leaves the rest
// at zero. With NoZeroDate a date with any zero part is no value. A day that the month does not have is none either, unless mode has
// InvalidDates: MySQL 8.0 took it ('2004-04-31'), 9.7 does not.
func StrToDate(s, format string, kind Kind, mode Mode) Reading {
	p := dateParser{text: s}
	if !p.parse(format) || !p.finish() {
		return fail(Truncated)
	}
	d := &p.date
	if d.year > 9999 || d.month > 12 || d.day > 31 || p.hour > 23 || p.minute > 59 || p.second > 59 {
		return fail(Truncated)
	}
	if kind != KindTime && d.month > 0 && d.day > DaysInMonth(d.year, d.month) && mode&InvalidDates == 0 {
		return fail(OutOfRange)
	}
	if mode&NoZeroDate != 0 && kind != KindTime && (d.year == 0 || d.month == 0 || d.day == 0) {
		return fail(ZeroDate)
	}
	r := Reading{Kind: kind, DateTime: MakeDateTime(d.year, d.month, d.day, p.hour, p.minute, p.second, p.micro), FSP: 6}
	if kind == KindTime {
		var f Faults
		r.Duration, f = MakeDuration(false, int64(d.day*24+p.hour), int64(p.minute), int64(p.second), int64(p.micro))
		r.DateTime, r.Faults = 0, f
	}
	if kind == KindDate {
		r.DateTime = r.DateTime.Date()
	}
	if !onlySpaces(s, p.at) {
		r.Faults |= Truncated
	}
	return r
}

type ymd struct{ year, month, day int }

// dateParser reads a text by a format.
type dateParser struct {
	text string
	at   int
	date ymd
	clock

	half     int  // 12 after PM
	hours12  bool // the hour is one of 1 to 12
	weekday  int  // 1 for Monday to 7 for Sunday; 0: not given
	dayOf    int  // day of the year; 0: not given
	week     int
	hasWeek  bool
	weekSpec byte // U, u, V or v
	weekYear int
	yearSpec byte // X or x; 0: not given
}

// parse reads the text as far as it or the format goes; false if they do not fit.
func (p *dateParser) parse(format string) bool {
	for i := 0; i < len(format); i++ {
		if p.at = skipSpaces(p.text, p.at); p.at == len(p.text) {
			return true
		}
		switch c := format[i]; {
		case c == '%' && i+1 < len(format):
			i++
			if !p.part(format[i]) {
				return false
			}
		case isSpace(c):
		case p.text[p.at] != c:
			return false
		default:
			p.at++
		}
	}
	return true
}

// part reads what one specifier stands for.
func (p *dateParser) part(spec byte) bool {
	switch spec {
	case 'Y':
		n, digits := p.number(4)
		if digits <= 2 && digits > 0 {
			n = int(twoDigitYear(int64(n)))
		}
		p.date.year = n
		return digits > 0
	case 'y':
		n, digits := p.number(2)
		p.date.year = int(twoDigitYear(int64(n)))
		return digits > 0
	case 'm', 'c':
		return p.into(&p.date.month, 2)
	case 'M':
		p.date.month = p.word(monthNames[:], 0)
		return p.date.month > 0
	case 'b':
		p.date.month = p.word(monthNames[:], 3)
		return p.date.month > 0
	case 'd', 'e':
		return p.into(&p.date.day, 2)
	case 'D':
		ok := p.into(&p.date.day, 2)
		p.at = min(p.at+2, len(p.text)) // st, nd, rd, th: not looked at
		return ok
	case '.', '@', '#':
		p.skipClass(spec)
		return true
	}
	return p.clockPart(spec)
}

// clockPart reads the specifiers of a time of day.
func (p *dateParser) clockPart(spec byte) bool {
	switch spec {
	case 'h', 'I', 'l':
		p.hours12 = true
		return p.into(&p.hour, 2)
	case 'k', 'H':
		return p.into(&p.hour, 2)
	case 'i':
		return p.into(&p.minute, 2)
	case 's', 'S':
		return p.into(&p.second, 2)
	case 'f':
		n, digits := p.number(6)
		p.micro = n * int(pow10[6-digits])
		return digits > 0
	case 'p':
		if len(p.text)-p.at < 2 || !p.hours12 {
			return false
		}
		word := p.text[p.at : p.at+2]
		p.at += 2
		if equalFold(word, "PM") {
			p.half = 12
			return true
		}
		return equalFold(word, "AM")
	case 'r':
		return p.sub("%I:%i:%S %p")
	case 'T':
		return p.sub("%H:%i:%S")
	}
	return p.weekPart(spec)
}

// weekPart reads the specifiers of weekdays, weeks and days of the year.
func (p *dateParser) weekPart(spec byte) bool {
	switch spec {
	case 'W':
		p.weekday = p.word(dayNames[:], 0)
		return p.weekday > 0
	case 'a':
		p.weekday = p.word(dayNames[:], 3)
		return p.weekday > 0
	case 'w':
		ok := p.into(&p.weekday, 1) && p.weekday < 7
		if p.weekday == 0 {
			p.weekday = 7
		}
		return ok
	case 'j':
		return p.into(&p.dayOf, 3)
	case 'U', 'u', 'V', 'v':
		p.weekSpec, p.hasWeek = spec, true
		strict := spec == 'V' || spec == 'v'
		return p.into(&p.week, 2) && p.week <= 53 && (p.week > 0 || !strict)
	case 'X', 'x':
		p.yearSpec = spec
		return p.into(&p.weekYear, 4)
	}
	return false
}

// sub reads the parts of a compound specifier. An hour of twelve is settled there.
func (p *dateParser) sub(format string) bool {
	hours12, half := p.hours12, p.half
	p.hours12, p.half = false, 0
	if !p.parse(format) || !p.settleHour() {
		return false
	}
	p.hours12, p.half = hours12, half
	return true
}

// settleHour turns an hour of 1 to 12 and its half of the day into one of 0 to 23.
func (p *dateParser) settleHour() bool {
	if !p.hours12 {
		return true
	}
	if p.hour < 1 || p.hour > 12 {
		return false
	}
	p.hour = p.hour%12 + p.half
	return true
}

// finish settles what several specifiers say together.
func (p *dateParser) finish() bool {
	if !p.settleHour() {
		return false
	}
	if p.dayOf > 0 {
		if !p.setDay(dayNumber(p.date.year, 1, 1) + p.dayOf - 1) {
			return false
		}
	}
	if !p.hasWeek || p.weekday == 0 {
		return true
	}
	strict, fromSunday := p.weekSpec == 'V' || p.weekSpec == 'v', p.weekSpec == 'U' || p.weekSpec == 'V'
	if strict != (p.yearSpec != 0) || strict && (p.yearSpec == 'X') != fromSunday {
		return false // %V goes with %X, %v with %x, %U and %u with %Y
	}
	year := p.date.year
	if strict {
		year = p.weekYear
	}
	day := dayNumber(year, 1, 1)
	if fromSunday {
		offset := (weekdayOf(day) + 1) % 7
		if offset > 0 {
			day += 7 - offset
		}
		return p.setDay(day + (p.week-1)*7 + p.weekday%7)
	}
	offset := weekdayOf(day)
	day -= offset
	if offset > 3 {
		day += 7
	}
	return p.setDay(day + (p.week-1)*7 + p.weekday - 1)
}

func (p *dateParser) setDay(n int) bool {
	if n <= 0 || n > maxDays {
		return false
	}
	d := FromDayNumber(n)
	p.date = ymd{d.Year(), d.Month(), d.Day()}
	return true
}

// number reads up to most digits, and says how many there were.
func (p *dateParser) number(most int) (n, digits int) {
	for digits < most && p.at < len(p.text) && isDigit(p.text[p.at]) {
		n = n*10 + int(p.text[p.at]-'0')
		p.at++
		digits++
	}
	return n, digits
}

func (p *dateParser) into(part *int, most int) bool {
	n, digits := p.number(most)
	*part = n
	return digits > 0
}

// word reads letters that are one of the names, or its first letters if short is not 0; it gives the number of the name from 1
// on, and 0 for none.
func (p *dateParser) word(names []string, short int) int {
	end := p.at
	for end < len(p.text) && isAlpha(p.text[end]) {
		end++
	}
	for i, name := range names {
		if short > 0 {
			name = name[:short]
		}
		if equalFold(p.text[p.at:end], name) {
			p.at = end
			return i + 1
		}
	}
	return 0
}

// skipClass passes over punctuation (%.), letters (%@) or digits (%#).
func (p *dateParser) skipClass(spec byte) {
	in := isPunct
	switch spec {
	case '@':
		in = isAlpha
	case '#':
		in = isDigit
	}
	for p.at < len(p.text) && in(p.text[p.at]) {
		p.at++
	}
}
