package temporal

// micros is the microseconds since the day before year 0 began.
func (d DateTime) micros() int64 { return int64(DayNumber(d))*microsDay + int64(d.Clock()) }

// DateDiff is DATEDIFF: the days from b to a; times of day do not count.
func DateDiff(a, b DateTime) int { return DayNumber(a) - DayNumber(b) }

// Sub is TIMEDIFF of two datetimes, cut to the range of TIME with OutOfRange (warning 1292).
func (d DateTime) Sub(e DateTime) (Duration, Faults) {
	return d.Since(e).clamp()
}

// Since is the time from e to d, which may be longer than a TIME is.
func (d DateTime) Since(e DateTime) Duration { return Duration(d.micros() - e.micros()) }

// Sub is TIMEDIFF of two TIMEs, and SUBTIME of a TIME. It is cut to the range with OutOfRange (warning 1292).
func (t Duration) Sub(u Duration) (Duration, Faults) { return (t - u).clamp() }

// AddTime is ADDTIME of two TIMEs. It is cut to the range with OutOfRange (warning 1292).
func (t Duration) AddTime(u Duration) (Duration, Faults) { return (t + u).clamp() }

// AddTime is ADDTIME of a datetime, SUBTIME if t is negated, and TIMESTAMP with two arguments. The result is NULL with a fault:
// ZeroDate before year 0 (no warning), Overflow after 9999 (warning 1441).
func (d DateTime) AddTime(t Duration) (DateTime, Faults) {
	micros := d.micros() + int64(t)
	days := floorDiv(micros, microsDay)
	if days > maxDays {
		return 0, Overflow
	}
	date := FromDayNumber(int(days))
	if date == 0 {
		return 0, ZeroDate
	}
	return date.withClock(floorMod(micros, microsDay)), 0
}

// OnDate is the datetime of a TIME on a day: a TIME that is used as a DATETIME lies on the current date.
func (t Duration) OnDate(today DateTime) (DateTime, Faults) { return today.Date().AddTime(t) }

// TimestampDiff is TIMESTAMPDIFF of real dates: the whole units from a to b, cut towards zero. Composite units give 0.
func TimestampDiff(u Unit, a, b DateTime) int64 {
	micros := b.micros() - a.micros()
	switch u {
	case UnitYear:
		return monthsBetween(a, b) / 12
	case UnitQuarter:
		return monthsBetween(a, b) / 3
	case UnitMonth:
		return monthsBetween(a, b)
	case UnitWeek:
		return micros / (7 * microsDay)
	case UnitDay:
		return micros / microsDay
	case UnitHour:
		return micros / 3_600_000_000
	case UnitMinute:
		return micros / 60_000_000
	case UnitSecond:
		return micros / 1_000_000
	case UnitMicrosecond:
		return micros
	}
	return 0
}

// monthsBetween counts the months from a to b that are over: the day and the time of day must have been reached.
func monthsBetween(a, b DateTime) int64 {
	if a > b {
		return -monthsBetween(b, a)
	}
	months := int64(b.Year()*12 + b.Month() - a.Year()*12 - a.Month())
	const withinMonth = DateTime(1)<<monthAt - 1
	if b&withinMonth < a&withinMonth {
		months--
	}
	return months
}

// SecToTime is SEC_TO_TIME: seconds with a fraction in billionths of the same sign, rounded to microseconds and cut to the range
// of TIME with OutOfRange (warning 1292).
func SecToTime(seconds int64, nanos int32, mode Mode) (Duration, Faults) {
	const most = int64(MaxDuration / 1_000_000)
	if seconds > most {
		return MaxDuration, OutOfRange
	}
	if seconds < -most {
		return -MaxDuration, OutOfRange
	}
	t := Duration(seconds*1_000_000 + int64(nanos/1000))
	if mode&TruncateFraction == 0 {
		if nanos%1000 >= 500 {
			t++
		} else if nanos%1000 <= -500 {
			t--
		}
	}
	return t.clamp()
}

// TimeToSec is TIME_TO_SEC: the whole seconds of t.
func TimeToSec(t Duration) int64 { return int64(t / 1_000_000) }

// MakeTime is MAKETIME. ok is false (NULL) if minute or second is not within 0 to 59; hours are cut with OutOfRange (warning
// 1292), those of an unsigned argument above the range of int64 with tooLarge set.
func MakeTime(hour int64, tooLarge bool, minute, second int64, nanos int32, mode Mode) (t Duration, f Faults, ok bool) {
	if minute < 0 || minute > 59 || second < 0 || second > 59 || nanos < 0 {
		return 0, 0, false
	}
	if tooLarge || hour > 838 {
		return MaxDuration, OutOfRange, true
	}
	if hour < -838 {
		return -MaxDuration, OutOfRange, true
	}
	micros := int64(nanos) / 1000
	if nanos%1000 >= 500 && mode&TruncateFraction == 0 {
		micros++
	}
	t, f = MakeDuration(hour < 0, max(hour, -hour), minute, second, micros)
	return t, f, true
}

// ExtractDate is EXTRACT of a unit of days or more that is not composite, or of YEAR_MONTH, and EXTRACT of any unit from a
// datetime. weekMode is @@default_week_format.
func ExtractDate(u Unit, d DateTime, weekMode int) int64 {
	switch u {
	case UnitYear:
		return int64(d.Year())
	case UnitYearMonth:
		return int64(d.Year()*100 + d.Month())
	case UnitQuarter:
		return int64(Quarter(d))
	case UnitMonth:
		return int64(d.Month())
	case UnitWeek:
		week, _ := Week(d, weekMode)
		return int64(week)
	case UnitDay:
		return int64(d.Day())
	}
	return extract(u, d.Day(), d.Hour(), d.Minute(), d.Second(), d.Micro())
}

// ExtractTime is EXTRACT of a unit below days, or of a composite unit with days, from a TIME, with its sign.
func ExtractTime(u Unit, t Duration) int64 {
	n := extract(u, 0, t.Hour(), t.Minute(), t.Second(), t.Micro())
	if t < 0 {
		return -n
	}
	return n
}

// extract writes the parts of the unit side by side, two digits for each but the first, six for microseconds.
func extract(u Unit, day, hour, minute, second, micro int) int64 {
	switch u {
	case UnitHour:
		return int64(hour)
	case UnitMinute:
		return int64(minute)
	case UnitSecond:
		return int64(second)
	case UnitMicrosecond:
		return int64(micro)
	}
	from, to := unitSpan(u)
	n := int64(0)
	for i, v := range [...]int{0, 0, day, hour, minute, second, micro} {
		switch {
		case i < from || i > to:
		case i == 6:
			n = n*1_000_000 + int64(v)
		default:
			n = n*100 + int64(v)
		}
	}
	return n
}

// Quarter is 1 to 4, and 0 for month 0.
func Quarter(d DateTime) int { return (d.Month() + 2) / 3 }
