package temporal

// daysBefore is the number of days of a year that is not a leap year before the first of each month; a month 0 counts as
// 31 days before January.
var daysBefore = [13]int{-31, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}

var monthLengths = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// isLeap follows the Gregorian rule, which MySQL uses for all years, except that year 0 has 365 days.
func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) && year != 0 }

// DaysInYear is 365 or 366.
func DaysInYear(year int) int {
	if isLeap(year) {
		return 366
	}
	return 365
}

// DaysInMonth is 28 to 31; 0 for month 0 and for months that do not exist.
func DaysInMonth(year, month int) int {
	switch {
	case month < 0 || month > 12:
		return 0
	case month == 2 && isLeap(year):
		return 29
	}
	return monthLengths[month]
}

// dayNumber is the number of days since the day before 0000-01-01. Month and day may be zero or too large.
func dayNumber(year, month, day int) int {
	if year == 0 && month == 0 {
		return 0
	}
	n := 365*year + daysBefore[month] + day
	if year > 0 {
		n += (year-1)/4 - ((year-1)/100+1)*3/4
	}
	if month > 2 && isLeap(year) {
		n++
	}
	return n
}

// DayNumber is TO_DAYS: the number of days since year 0; 0 for '0000-00-00'. A zero month counts as the month before
// January, a zero day as the day before the first.
func DayNumber(d DateTime) int { return dayNumber(d.Year(), d.Month(), d.Day()) }

// FromDayNumber is FROM_DAYS: the date of a day number; '0000-00-00' below 1 and after 9999-12-31. Year 0 has no leap day.
func FromDayNumber(n int) DateTime {
	switch {
	case n <= 0 || n > maxDays:
		return 0
	case n <= 365:
		d := FromDayNumber(n + 365)
		return Date(0, d.Month(), d.Day())
	}
	year := n*100/36525 + 1 // at most one too large
	for dayNumber(year, 1, 1) > n {
		year--
	}
	day := n - dayNumber(year, 1, 1) + 1
	month := 1
	for day > DaysInMonth(year, month) {
		day -= DaysInMonth(year, month)
		month++
	}
	return Date(year, month, day)
}

// Weekday is 0 for Monday to 6 for Sunday (WEEKDAY); DAYOFWEEK is (Weekday+1)%7+1.
func Weekday(d DateTime) int { return weekdayOf(DayNumber(d)) }

func weekdayOf(n int) int { return ((n+5)%7 + 7) % 7 }

// DayOfYear is 1 to 366 for real dates.
func DayOfYear(d DateTime) int { return DayNumber(d) - dayNumber(d.Year(), 1, 1) + 1 }

// Week gives the number of the week and the year that it belongs to, in a mode of WEEK() (0 to 7; higher bits are ignored):
//
//	bit 0  weeks begin on Monday, else on Sunday
//	bit 1  weeks count from 1: days before week 1 belong to the last week of the year before; else they are week 0
//	bit 2  turns the rule for week 1 around: weeks that begin on Sunday have the first Sunday in week 1, those that begin
//	       on Monday have at least four days of the year in it; with bit 2 it is the other way round
func Week(d DateTime, mode int) (week, year int) {
	fromMonday, fromOne := mode&1 != 0, mode&2 != 0
	byFirstDay := (mode&4 != 0) == fromMonday
	day, year := DayNumber(d), d.Year()
	start := firstWeek(year, fromMonday, byFirstDay)
	if day < start {
		if !fromOne {
			return 0, year
		}
		year--
		start = firstWeek(year, fromMonday, byFirstDay)
	}
	week = (day-start)/7 + 1
	if fromOne && week >= 53 && day >= firstWeek(year+1, fromMonday, byFirstDay) {
		return 1, year + 1
	}
	return week, year
}

// firstWeek is the day number of the first day of week 1.
func firstWeek(year int, fromMonday, byFirstDay bool) int {
	first := dayNumber(year, 1, 1)
	offset := weekdayOf(first)
	if !fromMonday {
		offset = (offset + 1) % 7
	}
	if offset == 0 || !byFirstDay && offset <= 3 {
		return first - offset
	}
	return first + 7 - offset
}

// YearWeek is YEARWEEK(): year*100+week, with weeks that count from 1.
func YearWeek(d DateTime, mode int) int {
	week, year := Week(d, mode|2)
	return year*100 + week
}

// LastDay is the last day of d's month; false if the month is 0.
func LastDay(d DateTime) (DateTime, bool) {
	if d.Month() == 0 {
		return 0, false
	}
	return Date(d.Year(), d.Month(), DaysInMonth(d.Year(), d.Month())), true
}

// MakeDate is MAKEDATE: the n-th day of a year, counted on into the years after it; false (NULL) outside of the range. Years
// below 100 mean 1970 to 2069.
func MakeDate(year, n int64) (DateTime, bool) {
	if year < 0 || year > 9999 || n <= 0 || n > maxDays {
		return 0, false
	}
	day := int64(dayNumber(int(twoDigitYear(year)), 1, 1)) + n - 1
	if day > maxDays {
		return 0, false
	}
	return FromDayNumber(int(day)), true
}

// twoDigitYear maps 0..69 to 2000..2069 and 70..99 to 1970..1999.
func twoDigitYear(year int64) int64 {
	switch {
	case year < 70:
		return year + 2000
	case year < 100:
		return year + 1900
	}
	return year
}

// ToSeconds is TO_SECONDS: the seconds since year 0.
func ToSeconds(d DateTime) int64 {
	return int64(DayNumber(d))*secondsDay + int64(d.Clock()/1_000_000)
}

// ValidPeriod says whether PERIOD_ADD and PERIOD_DIFF take p: YYMM or YYYYMM, positive, month 1 to 12. They fail with error
// 1210 otherwise.
func ValidPeriod(p int64) bool { return p > 0 && p%100 != 0 && p%100 <= 12 }

// PeriodAdd is PERIOD_ADD of a valid period.
func PeriodAdd(p, months int64) int64 {
	n := uint64(periodMonths(p) + months) // MySQL counts without sign and wraps
	if n == 0 {
		return 0
	}
	year := n / 12
	if year < 100 {
		year = uint64(twoDigitYear(int64(year)))
	}
	return int64(year*100 + n%12 + 1)
}

// PeriodDiff is PERIOD_DIFF of valid periods: the months from q to p.
func PeriodDiff(p, q int64) int64 { return periodMonths(p) - periodMonths(q) }

// periodMonths is the number of months since year 0.
func periodMonths(p int64) int64 { return twoDigitYear(p/100)*12 + p%100 - 1 }
