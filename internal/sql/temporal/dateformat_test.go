package temporal

import "testing"

func TestDateFormat(t *testing.T) {
	for _, c := range []struct{ date, format, want string }{
		{"2009-10-04 22:23:00", "%W %M %Y", "Sunday October 2009"},
		{"2007-10-04 22:23:00", "%H:%i:%s", "22:23:00"},
		{"1900-10-04 22:23:00", "%D %y %a %d %m %b %j", "4th 00 Thu 04 10 Oct 277"},
		{"1997-10-04 22:23:00", "%H %k %I %r %T %S %w", "22 22 10 10:23:00 PM 22:23:00 00 6"},
		{"1999-01-01", "%X %V", "1998 52"},
		{"2006-06-00", "%d", "00"},
		{"2024-02-29 00:05:06.000789", "%h %l %p %f %c %e %U %u %v %x %%", "12 12 AM 000789 2 29 08 09 09 2024 %"},
		{"2024-02-29", "%z%", "z%"},
		{"2024-02-29", "é %Y", "é 2024"},
		{"2024-02-01", "%D", "1st"}, {"2024-02-02", "%D", "2nd"}, {"2024-02-03", "%D", "3rd"}, {"2024-02-11", "%D", "11th"},
		{"2024-02-12", "%D", "12th"}, {"2024-02-13", "%D", "13th"}, {"2024-02-21", "%D", "21st"}, {"2024-02-22", "%D", "22nd"},
		{"2024-00-00", "%Y-%m-%d %j", "2024-00-00 -31"},
		{"2024-00-00", "%M", "NULL"}, {"2024-00-00", "%b", "NULL"}, {"0000-00-00", "%W", "NULL"}, {"0000-00-00", "%a", "NULL"},
		{"0000-00-00", "%w", "NULL"}, {"0000-00-00", "%D", "0th"}, {"2024-02-29", "", "NULL"},
	} {
		b, ok := AppendFormat(nil, day(t, c.date), c.format)
		got := string(b)
		if !ok {
			got = "NULL"
		}
		if got != c.want {
			t.Errorf("DATE_FORMAT(%s, %s): %s, want %s", c.date, c.format, got, c.want)
		}
	}
	for _, c := range []struct{ time, format, want string }{
		{"100:00:00", "%H %k %h %I %l", "100 100 04 04 4"},
		{"-10:11:12.5", "%H:%i:%s.%f", "-10:11:12.500000"},
		{"10:11:12", "%Y-%m-%d %y %c %e", "0000-00-00 00 0 0"},
		{"10:11:12", "%M", "NULL"}, {"10:11:12", "%j", "NULL"}, {"10:11:12", "%W", "NULL"}, {"10:11:12", "%U", "NULL"}, {"10:11:12", "%x",
			"NULL"},
		{"10:11:12", "%D", "NULL"}, {"10:11:12", "%q", "q"}, {"13:11:12", "%r %p", "01:11:12 PM PM"}, {"24:00:00", "%r", "12:00:00 AM"},
	} {
		b, ok := AppendTimeFormat(nil, ParseTime(c.time, 0).Duration, c.format)
		got := string(b)
		if !ok {
			got = "NULL"
		}
		if got != c.want {
			t.Errorf("TIME_FORMAT(%s, %s): %s, want %s", c.time, c.format, got, c.want)
		}
	}
	if name, ok := MonthName(day(t, "2008-02-03")); name != "February" || !ok {
		t.Errorf("MONTHNAME: %s", name)
	}
	if name := DayName(day(t, "2007-02-03")); name != "Saturday" {
		t.Errorf("DAYNAME: %s", name)
	}
	for _, c := range []struct {
		kind       Kind
		name, want string
	}{
		{KindDate, "EUR", "%d.%m.%Y"}, {KindDate, "usa", "%m.%d.%Y"}, {KindTime, "USA", "%h:%i:%s %p"}, {KindDateTime, "INTERNAL",
			"%Y%m%d%H%i%s"}, {KindDate, "x", ""},
	} {
		if got, ok := GetFormat(c.kind, c.name); got != c.want || ok != (c.want != "") {
			t.Errorf("GET_FORMAT(%s): %s", c.name, got)
		}
	}
}

func TestStrToDate(t *testing.T) {
	const zeros = ZeroParts
	for _, c := range []struct {
		text, format string
		mode         Mode
		want         string
	}{
		{"01,5,2013", "%d,%m,%Y", NoZeroDate, "2013-05-01"},
		{"May 1, 2013", "%M %d,%Y", NoZeroDate, "2013-05-01"},
		{"a09:30:17", "a%h:%i:%s", NoZeroDate, "09:30:17.000000"},
		{"a09:30:17", "%h:%i:%s", NoZeroDate, "NULL t"},
		{"09:30:17a", "%h:%i:%s", NoZeroDate, "09:30:17.000000 t"},
		{"abc", "abc", zeros, "0000-00-00"},
		{"abc", "abc", NoZeroDate, "NULL z"},
		{"9", "%m", zeros, "0000-09-00"},
		{"9", "%m", NoZeroDate, "NULL z"},
		{"9", "%s", NoZeroDate, "00:00:09.000000"},
		{"00/00/0000", "%m/%d/%Y", zeros, "0000-00-00"},
		{"04/31/2004", "%m/%d/%Y", NoZeroDate, "NULL r"},
		{"04/31/2004", "%m/%d/%Y", InvalidDates, "2004-04-31"},
		{"29 Feb 2394", "%d %b %Y", NoZeroDate, "NULL r"},
		{"200442 Monday", "%X%V %W", NoZeroDate, "2004-10-18"},
		{"200442 Monday", "%x%v %W", NoZeroDate, "2004-10-11"},
		{"200442 Monday", "%Y%U %W", NoZeroDate, "2004-10-18"},
		{"200442 Monday", "%Y%V %W", NoZeroDate, "NULL t"},
		{"200442 Monday", "%X%U %W", NoZeroDate, "NULL t"},
		{"2024 60", "%Y %j", NoZeroDate, "2024-02-29"},
		{"10:11:12 PM", "%r", NoZeroDate, "22:11:12.000000"},
		{"12:11:12 AM", "%r", NoZeroDate, "00:11:12.000000"},
		{"22:11:12", "%T", NoZeroDate, "22:11:12.000000"},
		{"13:11:12 PM", "%r", NoZeroDate, "NULL t"},
		{"2024-02-29 10:11:12.5", "%Y-%m-%d %H:%i:%s.%f", NoZeroDate, "2024-02-29 10:11:12.500000"},
		{"2024-02-29 10 pm", "%Y-%m-%d %h %p", NoZeroDate, "2024-02-29 22:00:00.000000"},
		{"2024-02-29 10 xm", "%Y-%m-%d %h %p", NoZeroDate, "NULL t"},
		{"24-2-9", "%y-%c-%e", NoZeroDate, "2024-02-09"},
		{"24-2-9", "%Y-%c-%e", NoZeroDate, "2024-02-09"},
		{"1st Feb 2024", "%D %b %Y", NoZeroDate, "2024-02-01"},
		{"2024-02", "%Y-%m-%d", zeros, "2024-02-00"},
		{"2024-13-01", "%Y-%m-%d", NoZeroDate, "NULL t"},
		{"xx2024..", "%@%Y%.", zeros, "2024-00-00"},
		{"12 2024", "%# %Y", zeros, "2024-00-00"},
		{"  2024  02  29", "%Y%m%d", NoZeroDate, "2024-02-29"},
		{"2024", "%Q", NoZeroDate, "NULL t"},
		{"", "%Y", zeros, "0000-00-00"},
		{"-5", "%d", zeros, "NULL t"},
		{"2024-02-29", "%Y-%m-%d trailing", NoZeroDate, "2024-02-29"},
		{"1 10", "%d %H", NoZeroDate, "34:00:00.000000"},
	} {
		kind, _ := FormatKind(c.format)
		if got := readingText(StrToDate(c.text, c.format, kind, c.mode)); got != c.want {
			t.Errorf("STR_TO_DATE(%s, %s): %s, want %s", c.text, c.format, got, c.want)
		}
	}
	for format, want := range map[string]struct {
		kind Kind
		fsp  int
	}{
		"%Y-%m-%d": {KindDate, 0}, "%d": {KindDate, 0}, "%H:%i": {KindTime, 0}, "%f": {KindTime, 6}, "%Y %H": {KindDateTime, 0},
		"%Y %f": {KindDateTime, 6}, "%f %Y": {KindDateTime, 6}, "": {KindDate, 0}, "%": {KindDate, 0}, "%%Y": {KindDate, 0},
		"%d %T": {KindTime, 0},
	} {
		if kind, fsp := FormatKind(format); kind != want.kind || fsp != want.fsp {
			t.Errorf("%q: %d with %d digits", format, kind, fsp)
		}
	}
}
