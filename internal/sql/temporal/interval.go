package temporal

import "strings"

// Unit is a unit of INTERVAL, EXTRACT and TIMESTAMPDIFF.
type Unit uint8

const (
	NoUnit Unit = iota
	UnitYear
	UnitQuarter
	UnitMonth
	UnitWeek
	UnitDay
	UnitHour
	UnitMinute
	UnitSecond
	UnitMicrosecond
	UnitYearMonth
	UnitDayHour
	UnitDayMinute
	UnitDaySecond
	UnitHourMinute
	UnitHourSecond
	UnitMinuteSecond
	UnitDayMicrosecond
	UnitHourMicrosecond
	UnitMinuteMicrosecond
	UnitSecondMicrosecond
)

var unitNames = [...]string{
	"", "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "YEAR_MONTH", "DAY_HOUR", "DAY_MINUTE",
	"DAY_SECOND", "HOUR_MINUTE", "HOUR_SECOND", "MINUTE_SECOND", "DAY_MICROSECOND", "HOUR_MICROSECOND", "MINUTE_MICROSECOND",
	"SECOND_MICROSECOND",
}

// ParseUnit is the unit of a name in any case; also SQL_TSI_DAY and the like, which TIMESTAMPADD takes.
func ParseUnit(name string) (Unit, bool) {
	if len(name) > 8 && strings.EqualFold(name[:8], "SQL_TSI_") {
		name = name[8:]
	}
	for u := UnitYear; int(u) < len(unitNames); u++ {
		if strings.EqualFold(name, unitNames[u]) {
			return u, true
		}
	}
	return NoUnit, false
}

// String is the unit's name in SQL.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return ""
}

// IsComposite says whether intervals of the unit are texts of several numbers.
func (u Unit) IsComposite() bool { return u >= UnitYearMonth }

// HasTime says whether the unit has hours or less: a DATE that it is added to becomes a DATETIME.
func (u Unit) HasTime() bool { return u >= UnitHour && u != UnitYearMonth }

// HasDate says whether the unit has days or more: a TIME that it is added to becomes a DATETIME.
func (u Unit) HasDate() bool {
	return u < UnitHour || u >= UnitYearMonth && u <= UnitDaySecond || u == UnitDayMicrosecond
}

// HasMicros says whether the unit has microseconds: the result has six fractional digits.
func (u Unit) HasMicros() bool { return u == UnitMicrosecond || u >= UnitDayMicrosecond }

// Interval is a sum of its parts, each without a sign, and one sign for all.
type Interval struct {
	Negative                                          bool
	Years, Months, Days, Hours, Minutes, Secs, Micros uint64
}

// Neg is the interval with the other sign.
func (i Interval) Neg() Interval {
	i.Negative = !i.Negative
	return i
}

// IntervalFromInt is n of a unit that is not composite; false if it is out of any range: warning 1441 and NULL.
func IntervalFromInt(n int64, u Unit) (i Interval, ok bool) {
	if n == -1<<63 {
		return i, false
	}
	v := uint64(n)
	if n < 0 {
		i.Negative, v = true, uint64(-n)
	}
	switch u {
	case UnitYear:
		i.Years = v
	case UnitQuarter:
		i.Months = v * 3
		ok = v < 1<<32/3
		return i, ok
	case UnitMonth:
		i.Months = v
	case UnitWeek:
		i.Days = v * 7
		ok = v < 1<<32/7
		return i, ok
	case UnitDay:
		i.Days = v
	case UnitHour:
		i.Hours = v
	case UnitMinute:
		i.Minutes = v
	case UnitSecond:
		i.Secs = v
	case UnitMicrosecond:
		i.Micros = v
	default:
		return i, false
	}
	return i, true
}

// IntervalFromSeconds is a number of seconds with a fraction in billionths of the same sign; the fraction is cut to microseconds.
func IntervalFromSeconds(seconds int64, nanos int32) (i Interval, ok bool) {
	if seconds == -1<<63 {
		return i, false
	}
	if seconds < 0 || nanos < 0 {
		i.Negative, seconds, nanos = true, -seconds, -nanos
	}
	i.Secs, i.Micros = uint64(seconds), uint64(nanos/1000)
	return i, true
}

// ParseInterval reads the text of a composite unit, '1 10:30' for DAY_MINUTE: numbers with anything between them. If there are
// fewer numbers than the unit has parts they are its last parts; if there are more, the result is false: warning 1441 and NULL.
// Microseconds are read as the digits of a fraction: '1.5' SECOND_MICROSECOND is a second and a half.
func ParseInterval[T Text](s T, u Unit) (i Interval, ok bool) {
	first, last := unitSpan(u)
	n := last - first + 1
	if n == 0 {
		return i, false
	}
	at := skipSpaces(s, 0)
	if at < len(s) && s[at] == '-' {
		i.Negative = true
		at++
	}
	var values [5]uint64
	count, digits := 0, 0
	for at = skipToDigit(s, at); count < n; {
		begin := at
		for at < len(s) && isDigit(s[at]) {
			if values[count] > (1<<63-11)/10 {
				return i, false
			}
			values[count] = values[count]*10 + uint64(s[at]-'0')
			at++
		}
		digits = at - begin
		count++
		if at = skipToDigit(s, at); at == len(s) {
			break
		}
	}
	if at != len(s) {
		return i, false
	}
	if u.HasMicros() && digits < 6 {
		values[count-1] *= uint64(pow10[6-digits])
	}
	for k := range count {
		i.set(last+1-count+k, values[k])
	}
	return i, true
}

func skipToDigit[T Text](s T, at int) int {
	for at < len(s) && !isDigit(s[at]) {
		at++
	}
	return at
}

// set sets a part, counted from years (0) to microseconds (6).
func (i *Interval) set(part int, n uint64) {
	switch part {
	case 0:
		i.Years = n
	case 1:
		i.Months = n
	case 2:
		i.Days = n
	case 3:
		i.Hours = n
	case 4:
		i.Minutes = n
	case 5:
		i.Secs = n
	case 6:
		i.Micros = n
	}
}

// unitSpan gives the first and the last part of a composite unit, counted as in set; 0 and -1 for others.
func unitSpan(u Unit) (first, last int) {
	switch u {
	case UnitYearMonth:
		return 0, 1
	case UnitDayHour:
		return 2, 3
	case UnitDayMinute:
		return 2, 4
	case UnitDaySecond:
		return 2, 5
	case UnitDayMicrosecond:
		return 2, 6
	case UnitHourMinute:
		return 3, 4
	case UnitHourSecond:
		return 3, 5
	case UnitHourMicrosecond:
		return 3, 6
	case UnitMinuteSecond:
		return 4, 5
	case UnitMinuteMicrosecond:
		return 4, 6
	case UnitSecondMicrosecond:
		return 5, 6
	}
	return 0, -1
}

// Add adds an interval of unit u to a real date (DATE_ADD; DATE_SUB adds the negative). Months that are too short end in their
// last day. The fault is Overflow, warning 1441 and NULL, outside of year 0 (as far as MySQL counts there) to 9999.
func (d DateTime) Add(i Interval, u Unit) (DateTime, Faults) {
	switch u {
	case UnitYear:
		return d.addMonths(i, i.Years > 10_000)
	case UnitQuarter, UnitMonth, UnitYearMonth:
		return d.addMonths(i, i.Months >= 1<<31 || i.Years >= 1<<32/12)
	}
	if i.Days > maxDays || i.Hours > maxDays*24 || i.Minutes > maxDays*24*60 || i.Secs > maxDays*secondsDay {
		return d, Overflow
	}
	seconds := int64(i.Days*secondsDay + i.Hours*3600 + i.Minutes*60 + i.Secs + i.Micros/1_000_000)
	micros := int64(i.Micros % 1_000_000)
	if i.Negative {
		seconds, micros = -seconds, -micros
	}
	clock := d.Clock()
	micros += int64(clock % 1_000_000)
	seconds += int64(clock/1_000_000) + floorDiv(micros, 1_000_000)
	days := int64(DayNumber(d)) + floorDiv(seconds, secondsDay)
	if days < 0 || days > maxDays {
		return d, Overflow
	}
	date := FromDayNumber(int(days))
	if date == 0 {
		return d, Overflow
	}
	return date.withClock(floorMod(seconds, secondsDay)*1_000_000 + floorMod(micros, 1_000_000)), 0
}

func (d DateTime) addMonths(i Interval, tooLarge bool) (DateTime, Faults) {
	if tooLarge {
		return d, Overflow
	}
	months := int64(i.Years*12 + i.Months)
	if i.Negative {
		months = -months
	}
	months += int64(d.Year()*12 + d.Month() - 1)
	if months < 0 || months >= 120_000 {
		return d, Overflow
	}
	year, month := int(months/12), int(months%12+1)
	return Date(year, month, min(d.Day(), DaysInMonth(year, month))) | d&timeOfDay, 0
}

// Add adds an interval without years and months to a TIME. The fault is Overflow, warning 1441 and NULL, above 838:59:59.
func (t Duration) Add(i Interval) (Duration, Faults) {
	const most = 1 << 31 // far above each sum that fits, far below what would wrap
	if i.Years != 0 || i.Months != 0 || i.Days > most || i.Hours > most || i.Minutes > most || i.Secs > most || i.Micros > 1<<62 {
		return t, Overflow
	}
	seconds := i.Days*secondsDay + i.Hours*3600 + i.Minutes*60 + i.Secs
	if seconds > 1<<40 {
		return t, Overflow
	}
	micros := Duration(seconds*1_000_000) + Duration(i.Micros)
	if micros > 4*MaxDuration {
		return t, Overflow
	}
	if i.Negative {
		micros = -micros
	}
	sum, f := (t + micros).clamp()
	if f != 0 {
		return t, Overflow
	}
	return sum, 0
}

func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

func floorMod(n, by int64) int64 { return n - floorDiv(n, by)*by }
