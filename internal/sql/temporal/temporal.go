// Package temporal holds MySQL 8's dates and times: values, reading, writing, arithmetic, formats and time zones.
//
//	T1  The order of two values of one type is the order of the integers that hold them.
//	T2  No function panics, whatever its arguments.
//	T3  What went wrong is in the result (Faults); the caller raises 1292, 1264, 1441 or gives NULL. Nothing is logged or guessed.
//	T4  A text that the package wrote is read back as the same value.
//
// DATE, DATETIME and TIMESTAMP are a DateTime, TIME is a Duration, YEAR is an int. Nothing here knows a session, a clock or
// a column: the current time, the time zone and the SQL mode are arguments. Reading, writing into a buffer, and arithmetic
// allocate nothing.
//
// The rules are those of the MySQL 8.0 reference manual, chapters 11.2 (types), 12.7 (functions) and 5.1.11 (SQL modes), and
// of the server where the manual is silent.
package temporal

import "time"

// Kind is the type of a temporal value. The zero Kind is no value at all.
type Kind uint8

const (
	None         Kind = iota
	KindDate          // year, month and day
	KindDateTime      // a date with a time of day
	KindTime          // a span of time: a Duration
)

// DateTime is a date and a time of day, in no time zone: year 0 to 9999, month 0 to 12, day 0 to 31, hour, minute, second,
// microsecond. It also holds what MySQL stores and no calendar has: '0000-00-00', '2024-00-00', and '2024-02-31' if the SQL
// mode allows it. A DATE is a DateTime at midnight. The zero value is '0000-00-00 00:00:00'.
//
// From high to low bits: year*13+month (17 bits), day (5), hour (5), minute (6), second (6), microsecond (20): T1.
type DateTime int64

const (
	microBits  = 20
	secondAt   = microBits
	minuteAt   = secondAt + 6
	hourAt     = minuteAt + 6
	dayAt      = hourAt + 5
	monthAt    = dayAt + 5
	timeOfDay  = DateTime(1)<<dayAt - 1
	maxDays    = 3652424 // day number of 9999-12-31
	secondsDay = 24 * 60 * 60
	microsDay  = secondsDay * 1_000_000
)

// MaxDateTime is '9999-12-31 23:59:59.999999'.
const MaxDateTime = DateTime((9999*13+12)<<monthAt | 31<<dayAt | 23<<hourAt | 59<<minuteAt | 59<<secondAt | 999999)

// MaxDuration is the largest TIME, 838:59:59; the smallest is its negative.
const MaxDuration = Duration((838*3600 + 59*60 + 59) * 1_000_000)

// Duration is a TIME in microseconds, between -MaxDuration and MaxDuration.
type Duration int64

// MakeDateTime puts a value together. The caller has checked that each part is in the range of DateTime.
func MakeDateTime(year, month, day, hour, minute, second, micro int) DateTime {
	return DateTime(year*13+month)<<monthAt | DateTime(day)<<dayAt | clockOf(hour, minute, second, micro)
}

// Date is MakeDateTime at midnight.
func Date(year, month, day int) DateTime { return MakeDateTime(year, month, day, 0, 0, 0, 0) }

func clockOf(hour, minute, second, micro int) DateTime {
	return DateTime(hour)<<hourAt | DateTime(minute)<<minuteAt | DateTime(second)<<secondAt | DateTime(micro)
}

func (d DateTime) Year() int   { return int(d>>monthAt) / 13 }
func (d DateTime) Month() int  { return int(d>>monthAt) % 13 }
func (d DateTime) Day() int    { return int(d>>dayAt) & 31 }
func (d DateTime) Hour() int   { return int(d>>hourAt) & 31 }
func (d DateTime) Minute() int { return int(d>>minuteAt) & 63 }
func (d DateTime) Second() int { return int(d>>secondAt) & 63 }
func (d DateTime) Micro() int  { return int(d) & (1<<microBits - 1) }

// Date is d at midnight.
func (d DateTime) Date() DateTime { return d &^ timeOfDay }

// HasTime says whether the time of day is not midnight.
func (d DateTime) HasTime() bool { return d&timeOfDay != 0 }

// Clock is the time of day as a Duration.
func (d DateTime) Clock() Duration {
	return Duration((d.Hour()*60+d.Minute())*60+d.Second())*1_000_000 + Duration(d.Micro())
}

// IsZero says whether the date part is '0000-00-00'.
func (d DateTime) IsZero() bool { return d.Date() == 0 }

// HasZeroPart says whether the month or the day is zero.
func (d DateTime) HasZeroPart() bool { return d.Month() == 0 || d.Day() == 0 }

// IsReal says whether the calendar has the date, beginning with 0000-01-01.
func (d DateTime) IsReal() bool {
	return !d.HasZeroPart() && d.Day() <= DaysInMonth(d.Year(), d.Month())
}

// withClock is d's date at the given number of microseconds since midnight, which is less than a day.
func (d DateTime) withClock(micros int64) DateTime {
	s := int(micros / 1_000_000)
	return d.Date() | clockOf(s/3600, s/60%60, s%60, int(micros%1_000_000))
}

// Time is d as a time in the zone; false if the calendar has no such date. For times that a zone skips or repeats see
// Zone.ToUnix.
func (d DateTime) Time(zone *time.Location) (time.Time, bool) {
	if !d.IsReal() {
		return time.Time{}, false
	}
	return time.Date(d.Year(), time.Month(d.Month()), d.Day(), d.Hour(), d.Minute(), d.Second(), d.Micro()*1000, zone), true
}

// FromTime is what a clock in t's zone shows at t, without the nanoseconds below a microsecond; false outside of the years 0 to
// 9999.
func FromTime(t time.Time) (DateTime, bool) {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return 0, false
	}
	hour, minute, second := t.Clock()
	return MakeDateTime(year, int(month), day, hour, minute, second, t.Nanosecond()/1000), true
}

// Faults says what was wrong with a text, a number or an operation. More than one can hold.
type Faults uint8

const (
	// Truncated: characters are left over, or the text is no such value. In expressions warning 1292; on assignment 1265, in
	// strict mode error 1292.
	Truncated Faults = 1 << iota
	// OutOfRange: a part is too large (30 February), or the value was cut to the largest TIME. On assignment 1264, in strict
	// mode error 1292.
	OutOfRange
	// ZeroDate: '0000-00-00' where the mode has NoZeroDate.
	ZeroDate
	// ZeroInDate: a month or day of zero that the mode does not allow.
	ZeroInDate
	// InGap: a local time that the zone skips. On assignment to TIMESTAMP 1299, in strict mode error 1292.
	InGap
	// TimeDropped: a time of day that a DATE does not hold. Note 1265.
	TimeDropped
	// Overflow: the result of an operation does not fit the type. Warning 1441 and NULL.
	Overflow
	// Blank, with Truncated: a text without a time that an assignment takes for 00:00:00 silently.
	Blank
)

// Mode says what readers accept. The zero Mode accepts '0000-00-00' and no other zero month or day.
type Mode uint8

const (
	// ZeroParts accepts '2024-00-00' and '2024-02-00'.
	ZeroParts Mode = 1 << iota
	// NoZeroInDate refuses them even if ZeroParts is set (SQL mode NO_ZERO_IN_DATE).
	NoZeroInDate
	// NoZeroDate refuses '0000-00-00' (SQL mode NO_ZERO_DATE).
	NoZeroDate
	// InvalidDates accepts each day up to 31 in each month (SQL mode ALLOW_INVALID_DATES).
	InvalidDates
	// TruncateFraction drops digits that do not fit instead of rounding (SQL mode TIME_TRUNCATE_FRACTIONAL).
	TruncateFraction
)

// CheckDate is what the mode says against the date of d; 0 if nothing.
func CheckDate(d DateTime, mode Mode) Faults { return checkDate(d, d.IsZero(), mode) }

// checkDate is CheckDate for readers, to which '0000-00-00 10:00:00' is no zero date but one with zero parts.
func checkDate(d DateTime, zero bool, mode Mode) Faults {
	switch {
	case zero:
		if mode&NoZeroDate != 0 {
			return ZeroDate
		}
		return 0
	case d.HasZeroPart():
		if mode&NoZeroInDate != 0 || mode&ZeroParts == 0 {
			return ZeroInDate
		}
	}
	if d.Month() != 0 && mode&InvalidDates == 0 && d.Day() > DaysInMonth(d.Year(), d.Month()) {
		return OutOfRange
	}
	return 0
}

// pow10 is 10 to the power of n, n from 0 to 6.
var pow10 = [7]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}

// Round gives d with fsp fractional digits (0 to 6), half away from zero, or cut if mode has TruncateFraction. The
// faults are OutOfRange past year 9999, and those of CheckDate if the second changes in a date that the calendar does not have.
func (d DateTime) Round(fsp int, mode Mode) (DateTime, Faults) {
	unit := pow10[6-clampFSP(fsp)]
	rest := int64(d.Micro()) % unit
	down := d - DateTime(rest)
	if mode&TruncateFraction != 0 || rest*2 < unit {
		return down, 0
	}
	return down.addMicros(unit)
}

// addMicros adds less than a day. Only within its second can a date be moved that the calendar does not have.
func (d DateTime) addMicros(micros int64) (DateTime, Faults) {
	if int64(d.Micro())+micros < 1_000_000 {
		return d + DateTime(micros), 0
	}
	if f := CheckDate(d, NoZeroDate|NoZeroInDate); f != 0 {
		return d, f
	}
	clock := int64(d.Clock()) + micros
	if clock < microsDay {
		return d.withClock(clock), 0
	}
	day := DayNumber(d) + 1
	if day > maxDays {
		return d, OutOfRange | Overflow
	}
	return FromDayNumber(day).withClock(clock - microsDay), 0
}

// Round gives t with fsp fractional digits, half away from zero, or cut. The fault is OutOfRange if it was cut to MaxDuration.
func (t Duration) Round(fsp int, mode Mode) (Duration, Faults) {
	unit := Duration(pow10[6-clampFSP(fsp)])
	rest := t % unit
	t -= rest
	if mode&TruncateFraction == 0 {
		if rest*2 >= unit {
			t += unit
		} else if -rest*2 >= unit {
			t -= unit
		}
	}
	return t.clamp()
}

// clamp cuts t to the range of TIME.
func (t Duration) clamp() (Duration, Faults) {
	switch {
	case t > MaxDuration:
		return MaxDuration, OutOfRange
	case t < -MaxDuration:
		return -MaxDuration, OutOfRange
	}
	return t, 0
}

// Abs is t without its sign.
func (t Duration) Abs() Duration {
	if t < 0 {
		return -t
	}
	return t
}

// Hour is the hours of t without its sign, 0 to 838.
func (t Duration) Hour() int   { return int(t.Abs() / 3_600_000_000) }
func (t Duration) Minute() int { return int(t.Abs() / 60_000_000 % 60) }
func (t Duration) Second() int { return int(t.Abs() / 1_000_000 % 60) }
func (t Duration) Micro() int  { return int(t.Abs() % 1_000_000) }

// MakeDuration puts a TIME together and cuts it to the range.
func MakeDuration(negative bool, hour, minute, second, micro int64) (Duration, Faults) {
	if hour > 838 {
		hour, minute, second, micro = 838, 59, 59, 1 // the microsecond is one too much: clamp reports it
	}
	t := Duration(((hour*60+minute)*60+second)*1_000_000 + micro)
	if negative {
		t = -t
	}
	return t.clamp()
}

func clampFSP(fsp int) int { return min(max(fsp, 0), 6) }
