package temporal

import (
	"fmt"
	"testing"
)

func TestUnits(t *testing.T) {
	for u := UnitYear; u <= UnitSecondMicrosecond; u++ {
		if got, ok := ParseUnit(u.String()); !ok || got != u {
			t.Errorf("%s is read as %s", u, got)
		}
	}
	if u, ok := ParseUnit("sql_tsi_day"); !ok || u != UnitDay {
		t.Errorf("SQL_TSI_DAY is %s", u)
	}
	for _, bad := range []string{"", "YEARS", "SQL_TSI_", "FRAC_SECOND"} {
		if u, ok := ParseUnit(bad); ok {
			t.Errorf("%q is %s", bad, u)
		}
	}
	for u, want := range map[Unit][3]bool{ // date, time, micros
		UnitYear: {true}, UnitDay: {true}, UnitWeek: {true}, UnitYearMonth: {true}, UnitHour: {false, true}, UnitMicrosecond: {false, true,
			true},
		UnitDayHour: {true, true}, UnitDayMicrosecond: {true, true, true}, UnitHourSecond: {false, true}, UnitSecondMicrosecond: {false,
			true, true},
	} {
		if got := [3]bool{u.HasDate(), u.HasTime(), u.HasMicros()}; got != want {
			t.Errorf("%s: date, time, micros %v, want %v", u, got, want)
		}
	}
}

func TestParseInterval(t *testing.T) {
	for _, c := range []struct {
		text string
		unit Unit
		want string
	}{
		{"1:30", UnitHourMinute, "0-0 0 1:30:0.0"},
		{"1-2", UnitYearMonth, "1-2 0 0:0:0.0"},
		{"5", UnitYearMonth, "0-5 0 0:0:0.0"},
		{"1 10", UnitDayHour, "0-0 1 10:0:0.0"},
		{"-1 10", UnitDayHour, "-0-0 1 10:0:0.0"},
		{" -1 10", UnitDayHour, "-0-0 1 10:0:0.0"},
		{"1 10:30", UnitDayMinute, "0-0 1 10:30:0.0"},
		{"1 1:1:1", UnitDaySecond, "0-0 1 1:1:1.0"},
		{"1:1", UnitDaySecond, "0-0 0 0:1:1.0"},
		{"1.999999", UnitDayMicrosecond, "0-0 0 0:0:1.999999"},
		{"1.5", UnitSecondMicrosecond, "0-0 0 0:0:1.500000"},
		{"1.1234567", UnitSecondMicrosecond, "0-0 0 0:0:1.1234567"},
		{"5", UnitSecondMicrosecond, "0-0 0 0:0:0.500000"},
		{"1 2:3:4.5", UnitDayMicrosecond, "0-0 1 2:3:4.500000"},
		{"abc1xyz2", UnitYearMonth, "1-2 0 0:0:0.0"},
		{"", UnitHourMinute, "0-0 0 0:0:0.0"},
		{"abc", UnitHourMinute, "0-0 0 0:0:0.0"},
		{"1:2:3", UnitHourMinute, "none"},
		{"1 2 3 4 5 6", UnitDayMicrosecond, "none"},
		{"99999999999999999999:1", UnitHourMinute, "none"},
		{"1", UnitDay, "none"},
	} {
		i, ok := ParseInterval(c.text, c.unit)
		got := "none"
		if ok {
			got = fmt.Sprintf("%d-%d %d %d:%d:%d.%d", i.Years, i.Months, i.Days, i.Hours, i.Minutes, i.Secs, i.Micros)
			if i.Negative {
				got = "-" + got
			}
		}
		if got != c.want {
			t.Errorf("%q %s: %s, want %s", c.text, c.unit, got, c.want)
		}
	}
}

// interval reads a number or, for composite units, a text.
func interval(t *testing.T, text string, u Unit) Interval {
	t.Helper()
	if u.IsComposite() {
		i, ok := ParseInterval(text, u)
		if !ok {
			t.Fatalf("%q is no %s", text, u)
		}
		return i
	}
	var n int64
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	i, ok := IntervalFromInt(n, u)
	if !ok {
		t.Fatalf("%s is no %s", text, u)
	}
	return i
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		date, n string
		unit    Unit
		want    string
	}{
		{"2024-01-31", "1", UnitMonth, "2024-02-29 00:00:00.000000"},
		{"2023-01-31", "1", UnitMonth, "2023-02-28 00:00:00.000000"},
		{"2024-03-31", "-1", UnitMonth, "2024-02-29 00:00:00.000000"},
		{"2024-02-29", "1", UnitYear, "2025-02-28 00:00:00.000000"},
		{"2024-02-29", "4", UnitYear, "2028-02-29 00:00:00.000000"},
		{"2024-02-29", "-1", UnitQuarter, "2023-11-29 00:00:00.000000"},
		{"2024-02-29", "1", UnitDay, "2024-03-01 00:00:00.000000"},
		{"2024-03-01", "-1", UnitDay, "2024-02-29 00:00:00.000000"},
		{"2024-02-29", "1", UnitWeek, "2024-03-07 00:00:00.000000"},
		{"2024-02-29 10:11:12", "1", UnitDay, "2024-03-01 10:11:12.000000"},
		{"2024-02-29 23:59:59", "1", UnitSecond, "2024-03-01 00:00:00.000000"},
		{"2024-03-01", "-1", UnitSecond, "2024-02-29 23:59:59.000000"},
		{"2024-03-01", "-1", UnitMicrosecond, "2024-02-29 23:59:59.999999"},
		{"2024-01-01", "1:30", UnitHourMinute, "2024-01-01 01:30:00.000000"},
		{"1992-12-31 23:59:59.000002", "1.999999", UnitSecondMicrosecond, "1993-01-01 00:00:01.000001"},
		{"2100-12-31 23:59:59", "1:1", UnitMinuteSecond, "2101-01-01 00:01:00.000000"},
		{"2025-01-01 00:00:00", "-1 1:1:1", UnitDaySecond, "2024-12-30 22:58:59.000000"},
		{"1900-01-01 00:00:00", "-1 10", UnitDayHour, "1899-12-30 14:00:00.000000"},
		{"2024-02-29", "1-1", UnitYearMonth, "2025-03-29 00:00:00.000000"},
		{"9999-12-31", "1", UnitDay, "o"},
		{"9999-12-31", "1", UnitMonth, "o"},
		{"9999-12-31", "1", UnitYear, "o"},
		{"9999-12-31 23:59:59", "1", UnitSecond, "o"},
		{"9999-12-31 23:59:59", "1", UnitMicrosecond, "9999-12-31 23:59:59.000001"},
		{"2024-01-01", "99999", UnitYear, "o"},
		{"2024-01-01", "-2025", UnitYear, "o"},
		{"2024-01-01", "9223372036854775807", UnitDay, "o"},
		{"2024-01-01", "9223372036854775807", UnitSecond, "o"},
		{"2024-01-01", "-9223372036854775807", UnitHour, "o"},
		{"2024-01-01", "9223372036854775807", UnitMicrosecond, "o"},
		{"2024-01-01", "9223372036854775807", UnitMonth, "o"},
		{"0001-01-01", "-1", UnitDay, "0000-12-31 00:00:00.000000"},
		{"0000-01-01", "-1", UnitDay, "o"},
		{"0001-01-01", "-1", UnitMonth, "0000-12-01 00:00:00.000000"},
	} {
		d, f := day(t, c.date).Add(interval(t, c.n, c.unit), c.unit)
		got := d.String()
		if f != 0 {
			got = faultText(f)
		}
		if got != c.want {
			t.Errorf("%s + %s %s: %s, want %s", c.date, c.n, c.unit, got, c.want)
		}
	}
	for _, c := range []struct {
		n int64
		u Unit
	}{{-1 << 63, UnitDay}, {1 << 32 / 3, UnitQuarter}, {1 << 32 / 7, UnitWeek}, {1, UnitDayHour}} {
		if _, ok := IntervalFromInt(c.n, c.u); ok {
			t.Errorf("%d %s is an interval", c.n, c.u)
		}
	}
}

func TestAddToTime(t *testing.T) {
	for _, c := range []struct {
		time, n string
		unit    Unit
		want    string
	}{
		{"10:11:12", "1", UnitHour, "11:11:12.000000"},
		{"10:11:12", "-11", UnitHour, "-00:48:48.000000"},
		{"10:11:12", "1.5", UnitSecondMicrosecond, "10:11:13.500000"},
		{"838:00:00", "1", UnitHour, "o"},
		{"-838:00:00", "-1", UnitHour, "o"},
		{"10:11:12", "9223372036854775807", UnitSecond, "o"},
		{"10:11:12", "9223372036854775807", UnitMicrosecond, "o"},
		{"-838:59:59", "1600", UnitHour, "761:00:01.000000"},
	} {
		d, f := ParseTime(c.time, 0).Duration.Add(interval(t, c.n, c.unit))
		got := d.String()
		if f != 0 {
			got = faultText(f)
		}
		if got != c.want {
			t.Errorf("%s + %s %s: %s, want %s", c.time, c.n, c.unit, got, c.want)
		}
	}
	i, ok := IntervalFromSeconds(-1, -500_000_999)
	if got, _ := Duration(0).Add(i); !ok || got != -1_500_000 {
		t.Errorf("-1.500000999 seconds are %s", got)
	}
}

func TestDifferences(t *testing.T) {
	if got := DateDiff(day(t, "2007-12-31 23:59:59"), day(t, "2007-12-30")); got != 1 {
		t.Errorf("DATEDIFF: %d", got)
	}
	if got := DateDiff(day(t, "2010-11-30 23:59:59"), day(t, "2010-12-31")); got != -31 {
		t.Errorf("DATEDIFF: %d", got)
	}
	for _, c := range []struct{ a, b, want string }{
		{"2000-01-01 00:00:00", "2000-01-01 00:00:00.000001", "-00:00:00.000001"},
		{"2008-12-31 23:59:59.000001", "2008-12-30 01:01:01.000002", "46:58:57.999999"},
		{"2024-01-01", "2023-01-01", "838:59:59.000000 r"},
		{"2023-01-01", "2024-01-01", "-838:59:59.000000 r"},
	} {
		d, f := day(t, c.a).Sub(day(t, c.b))
		got := d.String()
		if f != 0 {
			got += " " + faultText(f)
		}
		if got != c.want {
			t.Errorf("TIMEDIFF(%s, %s): %s, want %s", c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct {
		u    Unit
		a, b string
		want int64
	}{
		{UnitMonth, "2003-02-01", "2003-05-01", 3},
		{UnitYear, "2002-05-01", "2001-01-01", -1},
		{UnitMinute, "2003-02-01", "2003-05-01 12:05:55", 128885},
		{UnitMonth, "2024-01-31", "2024-02-29", 0},
		{UnitMonth, "2024-02-29", "2024-01-31", 0},
		{UnitMonth, "2024-01-15 10:00:00", "2024-02-15 09:59:59", 0},
		{UnitMonth, "2024-01-15 10:00:00", "2024-02-15 10:00:00", 1},
		{UnitYear, "2024-02-29", "2025-02-28", 0},
		{UnitQuarter, "2024-01-01", "2024-12-31", 3},
		{UnitWeek, "2024-01-01", "2024-01-15", 2},
		{UnitDay, "2024-01-02", "2024-01-01 00:00:01", 0},
		{UnitDay, "2024-01-02", "2024-01-01", -1},
		{UnitHour, "2024-01-01", "2024-01-02 01:59:59", 25},
		{UnitSecond, "1970-01-01", "2024-02-29 10:11:12", 1709201472},
		{UnitMicrosecond, "2024-01-01", "2024-01-01 00:00:01.5", 1500000},
		{UnitMicrosecond, "0001-01-01", "9999-12-31 23:59:59.999999", 315537897599999999},
	} {
		if got := TimestampDiff(c.u, day(t, c.a), day(t, c.b)); got != c.want {
			t.Errorf("TIMESTAMPDIFF(%s, %s, %s): %d, want %d", c.u, c.a, c.b, got, c.want)
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{"2007-12-31 23:59:59.999999", "1 1:1:1.000002", "2008-01-02 01:01:01.000001"},
		{"2024-01-01", "-00:00:01", "2023-12-31 23:59:59.000000"},
		{"9999-12-31 23:59:59", "00:00:01", "o"},
		{"0001-01-01", "-00:00:01", "0000-12-31 23:59:59.000000"},
		{"0000-01-01", "-00:00:01", "z"},
	} {
		d, f := day(t, c.a).AddTime(ParseTime(c.b, 0).Duration)
		got := d.String()
		if f != 0 {
			got = faultText(f)
		}
		if got != c.want {
			t.Errorf("ADDTIME(%s, %s): %s, want %s", c.a, c.b, got, c.want)
		}
	}
	if got, f := Duration(MaxDuration).AddTime(1); got != MaxDuration || f != OutOfRange {
		t.Errorf("ADDTIME beyond the largest TIME: %s %s", got, faultText(f))
	}
	if got, _ := ParseTime("01:00:00", 0).Duration.Sub(ParseTime("01:00:00.000001", 0).Duration); got != -1 {
		t.Errorf("SUBTIME: %s", got)
	}
	if got, _ := ParseTime("-25:00:00", 0).Duration.OnDate(Date(2024, 3, 1)); got != day(t, "2024-02-28 23:00:00") {
		t.Errorf("TIME'-25:00:00' on 1 March: %s", got)
	}
}

func TestSecondsAndParts(t *testing.T) {
	for _, c := range []struct {
		s     int64
		nanos int32
		want  string
	}{
		{2378, 0, "00:39:38.000000"}, {-3661, -500_000_000, "-01:01:01.500000"}, {3020399, 0, "838:59:59.000000"}, {3020400, 0,
			"838:59:59.000000 r"},
		{3020399, 1_000, "838:59:59.000000 r"}, {-1 << 62, 0, "-838:59:59.000000 r"}, {1, 999_999_500, "00:00:02.000000"},
	} {
		d, f := SecToTime(c.s, c.nanos, 0)
		got := d.String()
		if f != 0 {
			got += " " + faultText(f)
		}
		if got != c.want {
			t.Errorf("SEC_TO_TIME(%d + %dns): %s, want %s", c.s, c.nanos, got, c.want)
		}
	}
	if got := TimeToSec(ParseTime("-22:23:00.9", 0).Duration); got != -80580 {
		t.Errorf("TIME_TO_SEC: %d", got)
	}
	for _, c := range []struct {
		h, m, s int64
		nanos   int32
		want    string
	}{
		{12, 15, 30, 0, "12:15:30.000000"}, {-12, 15, 30, 500_000_000, "-12:15:30.500000"}, {839, 0, 0, 0, "838:59:59.000000 r"}, {-1 << 63,
			0, 0, 0, "-838:59:59.000000 r"},
		{838, 59, 59, 1_000, "838:59:59.000000 r"}, {1, 60, 0, 0, "NULL"}, {1, -1, 0, 0, "NULL"}, {1, 0, 60, 0, "NULL"}, {0, 0, 0, -1, "NULL"},
	} {
		d, f, ok := MakeTime(c.h, false, c.m, c.s, c.nanos, 0)
		got := "NULL"
		if ok {
			got = d.String()
		}
		if f != 0 {
			got += " " + faultText(f)
		}
		if got != c.want {
			t.Errorf("MAKETIME(%d, %d, %d): %s, want %s", c.h, c.m, c.s, got, c.want)
		}
	}
	d := day(t, "2019-07-02 01:02:03.000123")
	for u, want := range map[Unit]int64{
		UnitYear: 2019, UnitQuarter: 3, UnitMonth: 7, UnitWeek: 26, UnitDay: 2, UnitHour: 1, UnitMinute: 2, UnitSecond: 3, UnitMicrosecond: 123,
		UnitYearMonth: 201907, UnitDayHour: 201, UnitDayMinute: 20102, UnitDaySecond: 2010203, UnitHourMinute: 102, UnitHourSecond: 10203,
		UnitMinuteSecond: 203, UnitDayMicrosecond: 2010203000123, UnitHourMicrosecond: 10203000123, UnitMinuteMicrosecond: 203000123,
		UnitSecondMicrosecond: 3000123,
	} {
		if got := ExtractDate(u, d, 0); got != want {
			t.Errorf("EXTRACT(%s FROM %s): %d, want %d", u, d, got, want)
		}
	}
	if got := ExtractTime(UnitHourSecond, ParseTime("-100:11:12", 0).Duration); got != -1001112 {
		t.Errorf("EXTRACT(HOUR_SECOND FROM '-100:11:12'): %d", got)
	}
}
