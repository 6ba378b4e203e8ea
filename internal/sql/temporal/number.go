package temporal

// FromNumber is the DATE or DATETIME of a number: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss, where the years of two
// digits are 1970 to 2069 and 0 is '0000-00-00 00:00:00'. nanos is the fraction in billionths, with the sign of n: it belongs
// to the seconds of a datetime; for a date it is Truncated. Rounding is to microseconds.
func FromNumber(n int64, nanos int32, mode Mode) Reading {
	if n < 0 || nanos < 0 {
		return fail(Truncated)
	}
	if n > 99_999_999_999_999 {
		return fail(OutOfRange)
	}
	full, kind, ok := expandNumber(n, mode)
	if !ok {
		return fail(Truncated)
	}
	date, clock := int(full/1_000_000), int(full%1_000_000)
	year, month, day := date/10_000, date/100%100, date%100
	hour, minute, second := clock/10_000, clock/100%100, clock%100
	if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return fail(Truncated)
	}
	r := Reading{Kind: kind, DateTime: MakeDateTime(year, month, day, hour, minute, second, 0)}
	switch checkDate(r.DateTime, n == 0, mode) {
	case 0:
	case ZeroDate:
		return fail(ZeroDate)
	default:
		return fail(Truncated) // whatever is wrong with the number
	}
	if kind == KindDate {
		if nanos != 0 {
			r.Faults = Truncated
		}
		return r
	}
	micros := int64(nanos) / 1000
	if nanos%1000 >= 500 && mode&TruncateFraction == 0 {
		micros++
	}
	if nanos != 0 {
		r.FSP = 6
	}
	var f Faults
	if r.DateTime, f = r.DateTime.addMicros(micros); f != 0 {
		return fail(f)
	}
	return r
}

// expandNumber brings the shorter forms to YYYYMMDDhhmmss. Numbers between the forms are none.
func expandNumber(n int64, mode Mode) (full int64, kind Kind, ok bool) {
	switch {
	case n == 0 || n >= 10000101_000000:
		return n, KindDateTime, true
	case n < 101:
		return 0, None, false
	case n <= 691231:
		return (n + 20000000) * 1_000_000, KindDate, true
	case n < 700101:
		return 0, None, false
	case n <= 991231:
		return (n + 19000000) * 1_000_000, KindDate, true
	case n < 10000101 && mode&ZeroParts == 0:
		return 0, None, false
	case n <= 99991231:
		return n * 1_000_000, KindDate, true
	case n < 101_000000:
		return 0, None, false
	case n <= 691231_235959:
		return n + 20000000_000000, KindDateTime, true
	case n < 700101_000000:
		return 0, None, false
	case n <= 991231_235959:
		return n + 19000000_000000, KindDateTime, true
	}
	return n, KindDateTime, true
}

// TimeFromNumber is the TIME of a number: hhmmss, or from 10000000000 on the time of day of a datetime (KindDateTime). nanos is
// the fraction in billionths, with the sign of n. Numbers that are too large are cut to 838:59:59 without being a value:
// OutOfRange, and Duration says what non-strict assignment stores.
func TimeFromNumber(n int64, nanos int32, mode Mode) Reading {
	const largest = 838_59_59
	if n > largest {
		if n >= 10_000_000_000 {
			if r := FromNumber(n, nanos, mode&TruncateFraction); r.OK() {
				r.Duration = r.DateTime.Clock()
				return r
			}
		}
		return Reading{Duration: MaxDuration, Faults: OutOfRange}
	}
	if n < -largest {
		return Reading{Duration: -MaxDuration, Faults: OutOfRange}
	}
	negative := n < 0 || nanos < 0
	if n < 0 {
		n = -n
	}
	if nanos < 0 {
		nanos = -nanos
	}
	hour, minute, second := n/10_000, n/100%100, n%100
	if minute > 59 || second > 59 {
		return fail(OutOfRange)
	}
	r := Reading{Kind: KindTime}
	micros := int64(nanos) / 1000
	if nanos%1000 >= 500 && mode&TruncateFraction == 0 {
		micros++
	}
	if nanos != 0 {
		r.FSP = 6
	}
	r.Duration, r.Faults = MakeDuration(negative, hour, minute, second, micros)
	return r
}

// DateNumber is d's date as a number, YYYYMMDD: what DATE'2024-02-29'+0 is.
func (d DateTime) DateNumber() int64 { return int64(d.Year()*10_000 + d.Month()*100 + d.Day()) }

// Number is d as a number without its fraction, YYYYMMDDhhmmss; the fraction is Micro() millionths.
func (d DateTime) Number() int64 {
	return d.DateNumber()*1_000_000 + int64(d.Hour()*10_000+d.Minute()*100+d.Second())
}

// Number is t as a number without its fraction, hhmmss with t's sign; the fraction is Micro() millionths with the same sign.
func (t Duration) Number() int64 {
	n := int64(t.Hour()*10_000 + t.Minute()*100 + t.Second())
	if t < 0 {
		return -n
	}
	return n
}
