package temporal

// Text is what readers read: a string, or bytes that they neither keep nor change.
type Text interface{ ~string | ~[]byte }

// Reading is what a text or a number means as a temporal value.
type Reading struct {
	Kind     Kind     // None if it has no meaning: the result is NULL, or a zero value on assignment
	DateTime DateTime // for KindDate and KindDateTime
	Duration Duration // for KindTime
	FSP      int      // how many digits of a fraction were given, at most 6
	Zoned    bool     // an offset from UTC was given, and DateTime is a local time at that offset
	Offset   int      // seconds east of UTC, if Zoned
	Faults   Faults   // Truncated can come with a value; the caller warns
	// Deprecated is the first delimiter of a text that MySQL deprecates.
	Deprecated Delimiter
}

// OK says whether there is a value.
func (r Reading) OK() bool { return r.Kind != None }

// Delimiter is a character between the parts of a text that MySQL deprecates (4095, 4096). The zero Delimiter is none.
type Delimiter struct {
	Char   byte
	At     int  // byte of the text, from 0
	Prefer byte // what should stand there; 0: nothing should
}

// deprecate notes the first delimiter that is deprecated.
func (d *Delimiter) deprecate(char byte, at int, prefer byte) {
	if d.Char == 0 {
		*d = Delimiter{Char: char, At: at, Prefer: prefer}
	}
}

// preferred are the delimiters after year, month, day, hour and minute.
const preferred = "-- ::"

// fail is a Reading without a value.
func fail(f Faults) Reading { return Reading{Faults: f} }

// The parts of a datetime text, in order.
const (
	partYear = iota
	partMonth
	partDay
	partHour
	partMinute
	partSecond
	partMicro
	partCount
)

// maxPart is the largest number that can be a part: more digits are no date at all.
const maxPart = 999_999

// fields are the parts of a datetime text as they stand there.
type fields struct {
	value  [partCount]int
	length [partCount]int // digits of each
	count  int            // how many parts there are; the seconds may be followed by an empty fraction, which counts as none
	packed bool           // no separators: YYYYMMDDhhmmss
	spaced bool           // a space stands between date and time
	parted bool           // some separator was there
	end    int            // where the text after the parts begins
	zoned  bool
	offset int

	deprecated Delimiter
}

// ParseDateTime reads a DATE, DATETIME or TIMESTAMP text:
//
//	2024-02-29 10:11:12.123456   with any punctuation between parts, more than one too, and one or more spaces, or T, before the hour
//	24-2-9                       years of two digits are 1970 to 2069; other parts have any number of digits
//	20240229101112.5, 240229     without separators: 4, 8 or from 14 digits on the year has four digits, else two
//	... 10:11:12+05:30           an offset of -14:00 to +14:00 after the seconds or their fraction
//
// The kind is KindDate if there is no hour, else KindDateTime. A seventh digit of the fraction rounds. Missing time parts
// are zero, missing date parts a fault. What is left over at the end is Truncated, but the value stands.
func ParseDateTime[T Text](s T, mode Mode) Reading {
	r, _ := parseDateTime(s, mode, false)
	return r
}

// parseDateTime is ParseDateTime. If strict is set, only a text with a space between date and time, or without separators, is
// a datetime. shaped says whether the text has the form of one, even if its parts are wrong.
func parseDateTime[T Text](s T, mode Mode, strict bool) (r Reading, shaped bool) {
	f, ok := scanFields(s)
	if !ok || strict && f.parted && !f.spaced {
		return fail(Truncated), false
	}
	zero := true
	for _, v := range f.value {
		zero = zero && v == 0
	}
	year := f.value[partYear]
	if f.length[partYear] == 2 && !zero {
		year = int(twoDigitYear(int64(year)))
	}
	v := &f.value
	if f.count < 3 || year > 9999 || v[partMonth] > 12 || v[partDay] > 31 || v[partHour] > 23 || v[partMinute] > 59 || v[partSecond] > 59 {
		if zero && onlySpaces(s, f.end) {
			return fail(ZeroDate), true
		}
		return fail(Truncated), true
	}
	r = Reading{Kind: KindDate, FSP: f.length[partMicro], Zoned: f.zoned, Offset: f.offset, Deprecated: f.deprecated}
	if f.count > 3 {
		r.Kind = KindDateTime
	}
	micro := v[partMicro] * int(pow10[6-r.FSP])
	r.DateTime = MakeDateTime(year, v[partMonth], v[partDay], v[partHour], v[partMinute], v[partSecond], micro)
	if f := checkDate(r.DateTime, zero, mode); f != 0 {
		return fail(f), true
	}
	return finishDateTime(s, r, f.end, mode)
}

// finishDateTime rounds by the seventh digit and looks at what comes after the parts.
func finishDateTime[T Text](s T, r Reading, at int, mode Mode) (Reading, bool) {
	if r.FSP == 6 && at < len(s) && isDigit(s[at]) {
		up := s[at] >= '5' && mode&TruncateFraction == 0
		for at < len(s) && isDigit(s[at]) {
			at++
		}
		if up {
			var f Faults
			if r.DateTime, f = r.DateTime.addMicros(1); f != 0 {
				return fail(f), true
			}
		}
	}
	if at < len(s) && (s[at] == '+' || s[at] == '-') {
		if r.Offset, r.Zoned = parseOffset(s, at); !r.Zoned {
			return fail(Truncated), false
		}
		return r, true
	}
	switch {
	case !onlySpaces(s, at):
		r.Faults |= Truncated
	case at < len(s):
		r.Deprecated.deprecate(s[at], at, 0)
	}
	return r, true
}

// scanFields finds the parts. It is false if the text does not begin with a digit (after spaces), a part is too large, there
// is a space where none may be, or the offset is wrong.
func scanFields[T Text](s T) (f fields, ok bool) {
	at := skipSpaces(s, 0)
	if at == len(s) || !isDigit(s[at]) {
		return f, false
	}
	if at > 0 {
		f.deprecated.deprecate(s[0], 0, 0)
	}
	run := at
	for run < len(s) && (isDigit(s[run]) || s[run] == 'T') {
		run++
	}
	width := 4
	if f.packed = run == len(s) || s[run] == '.'; f.packed {
		if n := run - at; n != 4 && n != 8 && n < 14 {
			width = 2
		}
	}
	for f.count < partCount && at < len(s) && isDigit(s[at]) {
		part := f.count
		begin, value := at, 0
		for at < len(s) && isDigit(s[at]) && (at-begin < width || !f.packed && part != partMicro) {
			if value <= maxPart {
				value = value*10 + int(s[at]-'0')
			}
			at++
		}
		if value > maxPart {
			return f, false
		}
		f.value[part], f.length[part] = value, at-begin
		f.count++
		f.end = at
		width = 2
		if at == len(s) {
			break
		}
		switch {
		case part == partDay && s[at] == 'T':
			at++
			continue
		case part == partSecond:
			switch {
			case s[at] == '.':
				at++
				f.end = at
				width = 6
			case isDigit(s[at]):
				return f, true // more digits, but no point before them: they are left over
			case s[at] == '+' || s[at] == '-':
				if f.offset, f.zoned = parseOffset(s, at); !f.zoned {
					return f, false
				}
				f.end = len(s)
				return f, true
			}
			continue
		case part == partMicro:
			if s[at] == '+' || s[at] == '-' {
				if f.offset, f.zoned = parseOffset(s, at); !f.zoned {
					return f, false
				}
				f.end = len(s)
				return f, true
			}
		}
		first := at
		for at < len(s) && (isPunct(s[at]) || isSpace(s[at])) {
			if isSpace(s[at]) {
				if part != partDay && part != partMicro {
					return f, false
				}
				f.spaced = true
			}
			switch {
			case at > first, part == partMicro && isSpace(s[at]), s[at] == ' ' && at == len(s)-1:
				f.deprecated.deprecate(s[at], at, 0)
			case part == partMicro:
				f.deprecated.deprecate(s[at], at, ':')
			case s[at] != preferred[part]:
				f.deprecated.deprecate(s[at], at, preferred[part])
			}
			f.parted = true
			at++
		}
		f.end = at
	}
	return f, true
}

// parseOffset reads [+-]hh:mm up to the end of s, spaces at the end allowed: at most 14:00, and not -00:00. The result is in
// seconds east of UTC.
func parseOffset[T Text](s T, at int) (seconds int, ok bool) {
	if len(s)-at < 6 || s[at] != '+' && s[at] != '-' || s[at+3] != ':' || !onlySpaces(s, at+6) {
		return 0, false
	}
	for _, i := range [4]int{1, 2, 4, 5} {
		if !isDigit(s[at+i]) {
			return 0, false
		}
	}
	hours, minutes := twoDigits(s, at+1), twoDigits(s, at+4)
	seconds = hours*3600 + minutes*60
	if minutes > 59 || seconds > 14*3600 || s[at] == '-' && seconds == 0 {
		return 0, false
	}
	if s[at] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

func twoDigits[T Text](s T, at int) int { return int(s[at]-'0')*10 + int(s[at+1]-'0') }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isSpace is C's isspace in the C locale.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isPunct is C's ispunct in the C locale.
func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func skipSpaces[T Text](s T, at int) int {
	for at < len(s) && isSpace(s[at]) {
		at++
	}
	return at
}

func onlySpaces[T Text](s T, at int) bool { return skipSpaces(s, at) == len(s) }
