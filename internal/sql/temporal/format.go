package temporal

// AppendDate writes YYYY-MM-DD.
func AppendDate(b []byte, d DateTime) []byte {
	b = appendPadded(b, d.Year(), 4)
	b = append(b, '-')
	b = appendPadded(b, d.Month(), 2)
	b = append(b, '-')
	return appendPadded(b, d.Day(), 2)
}

// AppendDateTime writes YYYY-MM-DD hh:mm:ss with fsp digits of a fraction, 0 to 6. Further digits are cut: Round comes first.
func AppendDateTime(b []byte, d DateTime, fsp int) []byte {
	b = append(AppendDate(b, d), ' ')
	b = appendClock(b, d.Hour(), d.Minute(), d.Second())
	return appendFraction(b, d.Micro(), fsp)
}

// AppendTime writes hh:mm:ss, with a sign if negative and up to three digits of hours, and fsp digits of a fraction.
func AppendTime(b []byte, t Duration, fsp int) []byte {
	if t < 0 {
		b = append(b, '-')
	}
	b = appendClock(b, t.Hour(), t.Minute(), t.Second())
	return appendFraction(b, t.Micro(), fsp)
}

// AppendYear writes four digits.
func AppendYear(b []byte, year int) []byte { return appendPadded(b, year, 4) }

// String is the datetime with all six digits; for messages and tests.
func (d DateTime) String() string { return string(AppendDateTime(nil, d, 6)) }

// String is the TIME with all six digits; for messages and tests.
func (t Duration) String() string { return string(AppendTime(nil, t, 6)) }

func appendClock(b []byte, hour, minute, second int) []byte {
	b = append(appendPadded(b, hour, 2), ':')
	b = append(appendPadded(b, minute, 2), ':')
	return appendPadded(b, second, 2)
}

func appendFraction(b []byte, micro, fsp int) []byte {
	fsp = clampFSP(fsp)
	if fsp == 0 {
		return b
	}
	return appendPadded(append(b, '.'), micro/int(pow10[6-fsp]), fsp)
}

// appendPadded writes n with at least width digits, width at most 6.
func appendPadded(b []byte, n, width int) []byte {
	if n < 0 {
		b = append(b, '-')
		n = -n
	}
	var digits [20]byte
	at := len(digits)
	for n > 0 || at == len(digits) {
		at--
		digits[at] = byte('0' + n%10)
		n /= 10
	}
	for len(digits)-at < width {
		at--
		digits[at] = '0'
	}
	return append(b, digits[at:]...)
}
