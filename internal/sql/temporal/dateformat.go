package temporal

import "strconv"

// The names of lc_time_names = 'en_US'.
var (
	monthNames = [12]string{
		"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
	}
	dayNames = [7]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
)

// MonthName is MONTHNAME; false (NULL) for month 0.
func MonthName(d DateTime) (string, bool) {
	if d.Month() == 0 {
		return "", false
	}
	return monthNames[d.Month()-1], true
}

// DayName is DAYNAME.
func DayName(d DateTime) string { return dayNames[Weekday(d)] }

// AppendFormat writes d as DATE_FORMAT does. It is false (NULL) if the format asks for a name of a month or a day that a date
// with zero parts does not have, and for the empty format.
func AppendFormat(b []byte, d DateTime, format string) ([]byte, bool) {
	c := clock{d.Hour(), d.Minute(), d.Second(), d.Micro()}
	return appendFormat(b, d, c, format, false)
}

// AppendTimeFormat writes t as TIME_FORMAT does. It is false (NULL) for specifiers of weeks, weekdays, names, and days of the
// year, and for the empty format; years, months and days are zero.
func AppendTimeFormat(b []byte, t Duration, format string) ([]byte, bool) {
	if t < 0 {
		b = append(b, '-')
	}
	return appendFormat(b, 0, clock{t.Hour(), t.Minute(), t.Second(), t.Micro()}, format, true)
}

type clock struct{ hour, minute, second, micro int }

func (c clock) hour12() int { return (c.hour%24+11)%12 + 1 }

func (c clock) half() string {
	if c.hour%24 < 12 {
		return "AM"
	}
	return "PM"
}

func appendFormat(b []byte, d DateTime, c clock, format string, isTime bool) ([]byte, bool) {
	if format == "" {
		return b, false
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b = append(b, format[i])
			continue
		}
		i++
		var ok bool
		if b, ok = appendClockPart(b, c, format[i]); ok {
			continue
		}
		if b, ok = appendDatePart(b, d, format[i]); ok {
			continue
		}
		if isTime && isDateOnly(format[i]) {
			return b, false
		}
		switch b, ok = appendDayPart(b, d, format[i]); {
		case ok:
		case isDateOnly(format[i]):
			return b, false
		default:
			b = append(b, format[i])
		}
	}
	return b, true
}

// isDateOnly lists the specifiers that have no meaning for a TIME, or for a date without a month.
func isDateOnly(c byte) bool {
	switch c {
	case 'M', 'b', 'W', 'a', 'D', 'j', 'U', 'u', 'V', 'v', 'X', 'x', 'w':
		return true
	}
	return false
}

// appendClockPart writes the specifiers of a time of day.
func appendClockPart(b []byte, c clock, spec byte) ([]byte, bool) {
	switch spec {
	case 'f':
		return appendPadded(b, c.micro, 6), true
	case 'H':
		return appendPadded(b, c.hour, 2), true
	case 'h', 'I':
		return appendPadded(b, c.hour12(), 2), true
	case 'i':
		return appendPadded(b, c.minute, 2), true
	case 'k':
		return appendPadded(b, c.hour, 1), true
	case 'l':
		return appendPadded(b, c.hour12(), 1), true
	case 'p':
		return append(b, c.half()...), true
	case 'r':
		b = append(appendClock(b, c.hour12(), c.minute, c.second), ' ')
		return append(b, c.half()...), true
	case 'S', 's':
		return appendPadded(b, c.second, 2), true
	case 'T':
		return appendClock(b, c.hour, c.minute, c.second), true
	}
	return b, false
}

// appendDatePart writes the specifiers of numbers of year, month and day, which a TIME has as zeros.
func appendDatePart(b []byte, d DateTime, spec byte) ([]byte, bool) {
	switch spec {
	case 'Y':
		return appendPadded(b, d.Year(), 4), true
	case 'y':
		return appendPadded(b, d.Year()%100, 2), true
	case 'm':
		return appendPadded(b, d.Month(), 2), true
	case 'c':
		return appendPadded(b, d.Month(), 1), true
	case 'd':
		return appendPadded(b, d.Day(), 2), true
	case 'e':
		return appendPadded(b, d.Day(), 1), true
	}
	return b, false
}

// appendDayPart writes the specifiers that need a date; false for names of what is zero.
func appendDayPart(b []byte, d DateTime, spec byte) ([]byte, bool) {
	hasDay := d.Month() != 0 || d.Year() != 0
	switch spec {
	case 'M', 'b':
		name, ok := MonthName(d)
		if ok && spec == 'b' {
			name = name[:3]
		}
		return append(b, name...), ok
	case 'W', 'a':
		if !hasDay {
			return b, false
		}
		name := DayName(d)
		if spec == 'a' {
			name = name[:3]
		}
		return append(b, name...), true
	case 'w':
		return appendPadded(b, (Weekday(d)+1)%7, 1), hasDay
	case 'D':
		return append(appendPadded(b, d.Day(), 1), ordinal(d.Day())...), true
	case 'j':
		if n := DayOfYear(d); n < 0 { // a month of zero: MySQL writes the sign among the three characters
			return strconv.AppendInt(b, int64(n), 10), true
		}
		return appendPadded(b, DayOfYear(d), 3), true
	case 'U', 'u', 'V', 'v':
		week, _ := Week(d, weekMode(spec))
		return appendPadded(b, week, 2), true
	case 'X', 'x':
		_, year := Week(d, weekMode(spec))
		return appendPadded(b, year, 4), true
	}
	return b, false
}

// weekMode is the mode of Week() of a specifier: capital letters count weeks from Sunday, and the first Sunday begins week 1; small
// ones count from Monday, and week 1 has at least four days. %U and %u have a week 0.
func weekMode(spec byte) int {
	mode := 0
	if spec == 'u' || spec == 'v' || spec == 'x' {
		mode = 1
	}
	if spec != 'U' && spec != 'u' {
		mode |= 2
	}
	return mode
}

func ordinal(day int) string {
	if day < 10 || day > 19 {
		switch day % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}

// GetFormat is GET_FORMAT: the format of 'EUR', 'USA', 'JIS', 'ISO' or 'INTERNAL', in any case, for a DATE, TIME or DATETIME;
// false (NULL) for other names.
func GetFormat(kind Kind, name string) (string, bool) {
	for _, f := range knownFormats {
		if !equalFold(name, f.name) {
			continue
		}
		switch kind {
		case KindDate:
			return f.date, true
		case KindTime:
			return f.time, true
		case KindDateTime:
			return f.datetime, true
		}
	}
	return "", false
}

var knownFormats = [...]struct{ name, date, datetime, time string }{
	{"USA", "%m.%d.%Y", "%Y-%m-%d %H.%i.%s", "%h:%i:%s %p"},
	{"JIS", "%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"},
	{"ISO", "%Y-%m-%d", "%Y-%m-%d %H:%i:%s", "%H:%i:%s"},
	{"EUR", "%d.%m.%Y", "%Y-%m-%d %H.%i.%s", "%H.%i.%s"},
	{"INTERNAL", "%Y%m%d", "%Y%m%d%H%i%s", "%H%i%s"},
}

// equalFold compares ASCII texts without regard to case.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x != y && (x^y != 0x20 || !isAlpha(x)) {
			return false
		}
	}
	return true
}
