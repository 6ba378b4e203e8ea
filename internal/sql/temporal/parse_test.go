package temporal

import (
	"fmt"
	"strings"
	"testing"
)

// faultText names faults for tables: t truncated, r out of range, z zero date, p zero part, g gap, o overflow.
func faultText(f Faults) string {
	var b strings.Builder
	for i, c := range "trzpgdo" {
		if f&(1<<i) != 0 {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// readingText is a reading as tables write it: the value, its offset, its faults.
func readingText(r Reading) string {
	out := "NULL"
	switch r.Kind {
	case KindDate:
		out = string(AppendDate(nil, r.DateTime))
	case KindDateTime:
		out = string(AppendDateTime(nil, r.DateTime, r.FSP))
	case KindTime:
		out = string(AppendTime(nil, r.Duration, r.FSP))
	}
	if r.Zoned {
		out += fmt.Sprintf(" %+d", r.Offset/60)
	}
	if r.Faults != 0 {
		out += " " + faultText(r.Faults)
	}
	return out
}

func TestParseDateTime(t *testing.T) {
	const strict = ZeroParts | NoZeroDate | NoZeroInDate
	for _, c := range []struct {
		text string
		mode Mode
		want string
	}{
		{"2024-02-29", strict, "2024-02-29"},
		{"  2024-02-29  ", strict, "2024-02-29"},
		{"2024-2-9", strict, "2024-02-09"},
		{"24-2-9", strict, "2024-02-09"},
		{"69-12-31", strict, "2069-12-31"},
		{"70-01-01", strict, "1970-01-01"},
		{"1-1-1", strict, "0001-01-01"},
		{"123-1-1", strict, "0123-01-01"},
		{"2024/02/29", strict, "2024-02-29"},
		{"2024.02.29", strict, "2024-02-29"},
		{"2024^02@29", strict, "2024-02-29"},
		{"2024--02//29", strict, "2024-02-29"},
		{"20240229", strict, "2024-02-29"},
		{"240229", strict, "2024-02-29"},
		{"700101", strict, "1970-01-01"},
		{"2024-02-29 10:11:12", strict, "2024-02-29 10:11:12"},
		{"2024-02-29T10:11:12", strict, "2024-02-29 10:11:12"},
		{"2024-02-29t10:11:12", strict, "2024-02-29 t"},
		{"2024-02-29  10:11:12", strict, "2024-02-29 10:11:12"},
		{"2024-02-29 10", strict, "2024-02-29 10:00:00"},
		{"2024-02-29 10:11", strict, "2024-02-29 10:11:00"},
		{"2024-02-29 10.11.12", strict, "2024-02-29 10:11:12"},
		{"2024-02-29 10:11:12.5", strict, "2024-02-29 10:11:12.5"},
		{"2024-02-29 10:11:12.", strict, "2024-02-29 10:11:12"},
		{"2024-02-29 10:11:12.123456", strict, "2024-02-29 10:11:12.123456"},
		{"2024-02-29 10:11:12.1234564", strict, "2024-02-29 10:11:12.123456"},
		{"2024-02-29 10:11:12.1234565", strict, "2024-02-29 10:11:12.123457"},
		{"2024-02-29 10:11:12.12345699", strict, "2024-02-29 10:11:12.123457"},
		{"2024-02-29 23:59:59.9999999", strict, "2024-03-01 00:00:00.000000"},
		{"2024-02-29 23:59:59.9999999", strict | TruncateFraction, "2024-02-29 23:59:59.999999"},
		{"9999-12-31 23:59:59.9999999", strict, "NULL ro"},
		{"20240229101112", strict, "2024-02-29 10:11:12"},
		{"20240229101112.5", strict, "2024-02-29 10:11:12.5"},
		{"240229101112", strict, "2024-02-29 10:11:12"},
		{"20240229T101112", strict, "2024-02-29 10:11:12"},
		{"2024022910111299", strict, "2024-02-29 10:11:12 t"},
		{"2024-02-29 10:11:12+05:30", strict, "2024-02-29 10:11:12 +330"},
		{"2024-02-29 10:11:12-08:00", strict, "2024-02-29 10:11:12 -480"},
		{"2024-02-29 10:11:12.25+14:00 ", strict, "2024-02-29 10:11:12.25 +840"},
		{"2024-02-29T10:11:12.1234567+01:00", strict, "2024-02-29 10:11:12.123457 +60"},
		{"2024-02-29 10:11:12+14:01", strict, "NULL t"},
		{"2024-02-29 10:11:12-00:00", strict, "NULL t"},
		{"2024-02-29 10:11:12+5:30", strict, "NULL t"},
		{"2024-02-29 10:11:12+05:60", strict, "NULL t"},
		{"2024-02-29 10:11:12 +05:30", strict, "2024-02-29 10:11:12 t"},
		{"2024-02-29 10:11:12Z", strict, "2024-02-29 10:11:12 t"},
		{"2024-02-29abc", strict, "2024-02-29 t"},
		{"2024-02-29 abc", strict, "2024-02-29 t"},
		{"2024-02-30", strict, "NULL r"},
		{"2023-02-29", strict, "NULL r"},
		{"1900-02-29", strict, "NULL r"},
		{"2000-02-29", strict, "2000-02-29"},
		{"2024-02-31", strict | InvalidDates, "2024-02-31"},
		{"2024-02-32", strict | InvalidDates, "NULL t"},
		{"2024-13-01", strict, "NULL t"},
		{"2024-02-29 24:00:00", strict, "NULL t"},
		{"2024-02-29 10:60:00", strict, "NULL t"},
		{"10000-01-01", strict, "NULL t"},
		{"2024-02", strict, "NULL t"},
		{"2024", strict, "NULL t"},
		{"", strict, "NULL t"},
		{"abc", strict, "NULL t"},
		{"-2024-02-29", strict, "NULL t"},
		{"2024 02 29", strict, "NULL t"},
		{"2024-02-29 10: 11", strict, "NULL t"},
		{"1000000-01-01", strict, "NULL t"},
		{"0000-00-00", strict, "NULL z"},
		{"0000-00-00", 0, "0000-00-00"},
		{"00-00-00", 0, "0000-00-00"},
		{"0", 0, "NULL z"},
		{"0000-00-00 00:00:00", NoZeroDate, "NULL z"},
		{"2024-00-00", strict, "NULL p"},
		{"2024-00-00", ZeroParts, "2024-00-00"},
		{"2024-00-00", 0, "NULL p"},
		{"2024-02-00", ZeroParts, "2024-02-00"},
		{"0000-01-01", strict, "0000-01-01"},
		{"0000-00-00 10:00:00", ZeroParts, "0000-00-00 10:00:00"},
		{"0000-00-00 10:00:00", 0, "NULL p"},
	} {
		if got := readingText(ParseDateTime(c.text, c.mode)); got != c.want {
			t.Errorf("%q mode %b: %s, want %s", c.text, c.mode, got, c.want)
		}
		if got := readingText(ParseDateTime([]byte(c.text), c.mode)); got != c.want {
			t.Errorf("%q as bytes: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"10:11:12", "10:11:12"},
		{" 10:11:12 ", "10:11:12"},
		{"-10:11:12", "-10:11:12"},
		{"10:11:12.5", "10:11:12.5"},
		{"10:11:12.", "10:11:12"},
		{"10:11:12.1234565", "10:11:12.123457"},
		{"-10:11:12.1234565", "-10:11:12.123457"},
		{"10:11", "10:11:00"},
		{"8:3", "08:03:00"},
		{"101112", "10:11:12"},
		{"1112", "00:11:12"},
		{"12", "00:00:12"},
		{"12.25", "00:00:12.25"},
		{"1 10:11:12", "34:11:12"},
		{"1 10:11", "34:11:00"},
		{"1 10", "34:00:00"},
		{"-1 10", "-34:00:00"},
		{"34 22:59:59", "838:59:59"},
		{"34 23:00:00", "838:59:59 r"},
		{"838:59:59", "838:59:59"},
		{"838:59:59.9", "838:59:59.0 r"},
		{"839:00:00", "838:59:59 r"},
		{"-839:00:00", "-838:59:59 r"},
		{"1000:00:00", "838:59:59 r"},
		{"8385959", "838:59:59"},
		{"8390000", "838:59:59 r"},
		{"10:60:00", "NULL r"},
		{"10:00:60", "NULL r"},
		{"106000", "NULL r"},
		{"10:11:12abc", "10:11:12 t"},
		{"10:11:12 ab", "10:11:12 t"},
		{"10:11:12 abc", "NULL t"}, // twelve characters and a space: read as a date, with something left over
		{"10:11abc", "10:11:00 t"},
		{"12abc", "00:00:12 t"},
		{"abc", "NULL t"},
		{"", "NULL t"},
		{"-", "NULL t"},
		{":", "NULL t"},
		{"10:", "00:00:10 t"},
		{"1e5", "NULL t"},
		{"1e-5", "NULL t"},
		{"1e", "00:00:01 t"},
		{"99999999999", "NULL t"},
		{"2024-02-29 10:11:12", "2024-02-29 10:11:12"},
		{"2024-02-29 10:11:12.5", "2024-02-29 10:11:12.5"},
		{"20240229101112", "2024-02-29 10:11:12"},
		{"2024-02-29", "00:20:24 t"},
		{"2024-02-29T10:11:12", "00:20:24 t"},
		{"2024-02-30 10:11:12", "2024-02-30 10:11:12"},
		{"0000-00-00 10:11:12", "0000-00-00 10:11:12"},
	} {
		r := ParseTime(c.text, 0)
		if got := readingText(r); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
		if r.Kind == KindDateTime && r.Duration != r.DateTime.Clock() {
			t.Errorf("%q: the time of day is %s", c.text, r.Duration)
		}
	}
	if got := ParseTime("838:59:59.9", TruncateFraction); got.Duration != MaxDuration || got.Faults != OutOfRange {
		t.Errorf("more than the largest TIME is cut, also without rounding: %s %b", got.Duration, got.Faults)
	}
	if got := ParseTime("10:11:12.1234565", TruncateFraction); got.Duration.String() != "10:11:12.123456" {
		t.Errorf("a seventh digit was not dropped: %s", got.Duration)
	}
}

func TestParseYear(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"2024", "2024"}, {"1901", "1901"}, {"2155", "2155"}, {"0000", "0"}, {"0", "2000"}, {"00", "2000"}, {"000", "2000"},
		{"1", "2001"}, {"69", "2069"}, {"70", "1970"}, {"99", "1999"}, {"100", "0 r"}, {"1900", "0 r"}, {"2156", "0 r"}, {"-1", "0 r"},
		{"abc", "0 t"}, {"", "0 t"}, {"2024abc", "2024 t"}, {" 24 ", "2024"}, {"2023.6", "2024"}, {"99999999999", "0 r"},
	} {
		year, f := ParseYear(c.text)
		got := fmt.Sprint(year)
		if f != 0 {
			got += " " + faultText(f)
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	if y, f := YearFromInt(0); y != 0 || f != 0 {
		t.Errorf("0: %d %b, want 0", y, f)
	}
}

func TestFromNumber(t *testing.T) {
	for _, c := range []struct {
		n     int64
		nanos int32
		mode  Mode
		want  string
	}{
		{20240229, 0, 0, "2024-02-29"},
		{240229, 0, 0, "2024-02-29"},
		{700101, 0, 0, "1970-01-01"},
		{691231, 0, 0, "2069-12-31"},
		{101, 0, 0, "2000-01-01"},
		{100, 0, 0, "NULL t"},
		{691232, 0, 0, "NULL t"},
		{1000101, 0, 0, "NULL t"},
		{1000101, 0, ZeroParts, "0100-01-01"},
		{20240229101112, 0, 0, "2024-02-29 10:11:12"},
		{20240229101112, 500_000_000, 0, "2024-02-29 10:11:12.500000"},
		{20240229235959, 999_999_500, 0, "2024-03-01 00:00:00.000000"},
		{20240229235959, 999_999_500, TruncateFraction, "2024-02-29 23:59:59.999999"},
		{99991231235959, 999_999_500, 0, "NULL ro"},
		{240229101112, 0, 0, "2024-02-29 10:11:12"},
		{991231235959, 0, 0, "1999-12-31 23:59:59"},
		{20240229, 500_000_000, 0, "2024-02-29 t"},
		{20240230, 0, 0, "NULL t"},
		{20240230, 0, InvalidDates, "2024-02-30"},
		{20241301, 0, 0, "NULL t"},
		{20240229240000, 0, 0, "NULL t"},
		{0, 0, 0, "0000-00-00 00:00:00"},
		{0, 0, NoZeroDate, "NULL z"},
		{-1, 0, 0, "NULL t"},
		{0, -100_000_000, 0, "NULL t"},
		{100_000_000_000_000, 0, 0, "NULL r"},
		{20240000, 0, ZeroParts, "2024-00-00"},
		{20240000, 0, 0, "NULL t"},
	} {
		if got := readingText(FromNumber(c.n, c.nanos, c.mode)); got != c.want {
			t.Errorf("%d + %dns: %s, want %s", c.n, c.nanos, got, c.want)
		}
	}
}

func TestTimeFromNumber(t *testing.T) {
	for _, c := range []struct {
		n     int64
		nanos int32
		want  string
	}{
		{101112, 0, "10:11:12"},
		{-101112, 0, "-10:11:12"},
		{12, 0, "00:00:12"},
		{0, -250_000_000, "-00:00:00.250000"},
		{101112, 123_456_500, "10:11:12.123457"},
		{8385959, 0, "838:59:59"},
		{8385959, 900_000_000, "838:59:59.000000 r"},
		{106000, 0, "NULL r"},
		{60, 0, "NULL r"},
		{8385960, 0, "NULL r"},
		{-8385960, 0, "NULL r"},
		{20240229101112, 0, "2024-02-29 10:11:12"},
		{240229101112, 500_000_000, "2024-02-29 10:11:12.500000"},
	} {
		if got := readingText(TimeFromNumber(c.n, c.nanos, 0)); got != c.want {
			t.Errorf("%d + %dns: %s, want %s", c.n, c.nanos, got, c.want)
		}
	}
	if r := TimeFromNumber(8385960, 0, 0); r.Duration != MaxDuration {
		t.Errorf("non-strict assignment stores %s, want the largest", r.Duration)
	}
}

func TestNumbers(t *testing.T) {
	d := MakeDateTime(2024, 2, 29, 10, 11, 12, 345678)
	if got := d.DateNumber(); got != 20240229 {
		t.Errorf("DATE'2024-02-29'+0 is %d", got)
	}
	if got := d.Number(); got != 20240229101112 {
		t.Errorf("TIMESTAMP'2024-02-29 10:11:12'+0 is %d", got)
	}
	if got := ParseTime("-10:11:12.5", 0).Duration.Number(); got != -101112 {
		t.Errorf("TIME'-10:11:12.5' is %d and a fraction", got)
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		text string
		fsp  int
		mode Mode
		want string
	}{
		{"2024-02-29 10:11:12.5", 0, 0, "2024-02-29 10:11:13.000000"},
		{"2024-02-29 10:11:12.499999", 0, 0, "2024-02-29 10:11:12.000000"},
		{"2024-02-29 10:11:12.55", 1, 0, "2024-02-29 10:11:12.600000"},
		{"2024-02-29 10:11:12.99", 1, 0, "2024-02-29 10:11:13.000000"},
		{"2024-12-31 23:59:59.999", 2, 0, "2025-01-01 00:00:00.000000"},
		{"2024-12-31 23:59:59.999", 2, TruncateFraction, "2024-12-31 23:59:59.990000"},
		{"2024-12-31 23:59:59.999", 3, 0, "2024-12-31 23:59:59.999000"},
		{"9999-12-31 23:59:59.5", 0, 0, "ro"},
		{"2024-00-00 23:59:59.5", 0, 0, "p"},
		{"2024-00-00 23:59:59.55", 1, 0, "2024-00-00 23:59:59.600000"},
	} {
		d, f := ParseDateTime(c.text, ZeroParts).DateTime.Round(c.fsp, c.mode)
		got := d.String()
		if f != 0 {
			got = faultText(f)
		}
		if got != c.want {
			t.Errorf("%s to %d: %s, want %s", c.text, c.fsp, got, c.want)
		}
	}
	for _, c := range []struct {
		text string
		fsp  int
		mode Mode
		want string
	}{
		{"10:11:12.5", 0, 0, "10:11:13.000000"},
		{"-10:11:12.5", 0, 0, "-10:11:13.000000"},
		{"-10:11:12.5", 0, TruncateFraction, "-10:11:12.000000"},
		{"23:59:59.96", 1, 0, "24:00:00.000000"},
		{"838:59:58.9", 0, 0, "838:59:59.000000"},
	} {
		if got, f := ParseTime(c.text, 0).Duration.Round(c.fsp, c.mode); got.String() != c.want || f != 0 {
			t.Errorf("%s to %d: %s, want %s", c.text, c.fsp, got, c.want)
		}
	}
}

// TestNoAllocation holds reading, writing and rounding to what the package promises.
func TestNoAllocation(t *testing.T) {
	text, clock := []byte("2024-02-29 10:11:12.1234567+05:30"), []byte("-1 10:11:12.5")
	b := make([]byte, 0, 64)
	zone, _ := ParseZone("+02:00", Zone{})
	got := testing.AllocsPerRun(100, func() {
		r := ParseDateTime(text, 0).ToZone(zone)
		d, _ := r.DateTime.Round(3, 0)
		i, _ := ParseInterval(clock, UnitDaySecond)
		d, _ = d.Add(i, UnitDaySecond)
		b = AppendDateTime(b[:0], d, 3)
		b = AppendTime(b[:0], ParseTime(clock, 0).Duration, 6)
		b, _ = AppendFormat(b[:0], d, "%Y %M %j %v %r")
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
