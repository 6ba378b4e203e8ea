package temporal

import "testing"

// seeds are texts at the edges of what readers know.
var seeds = []string{
	"", " ", "0", "12", "2024-02-29", "2024-02-29 10:11:12.1234567+05:30", "20240229T101112.5", "-838:59:59.999999", "34 22:59:59",
	"1 10", "0000-00-00",
	"9999-12-31 23:59:59.9999999", "1e5", "%Y-%m-%d", "99999999999999999999999999", ":", "--", "1-1-1", "\x00", "é",
}

// FuzzParse holds T2 for the readers, and T4: what was read and is written is read back.
func FuzzParse(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, uint8(i*7))
	}
	f.Fuzz(func(t *testing.T, s string, mode uint8) {
		m := Mode(mode)
		if r := ParseDateTime(s, m); r.OK() {
			checkParts(t, r.DateTime)
			text := r.DateTime.String()
			if back := ParseDateTime(text, m); back.DateTime != r.DateTime || back.Faults != 0 {
				t.Errorf("%q is %s, and that is %s (%b)", s, text, back.DateTime, back.Faults)
			}
			if z := r.ToZone(FixedZone(3600)); z.OK() {
				checkParts(t, z.DateTime)
			}
		} else if r.Faults == 0 {
			t.Errorf("%q has neither a value nor a fault", s)
		}
		if r := ParseTime(s, m); r.Kind == KindTime {
			text := r.Duration.String()
			if back := ParseTime(text, m); back.Duration != r.Duration || back.Faults != 0 {
				t.Errorf("%q is %s, and that is %s (%b)", s, text, back.Duration, back.Faults)
			}
		}
		ParseYear(s)
		for u := UnitYear; u <= UnitSecondMicrosecond; u++ {
			if i, ok := ParseInterval(s, u); ok {
				d, _ := Date(2024, 2, 29).Add(i, u)
				checkParts(t, d)
				if sum, _ := Duration(0).Add(i); sum.Abs() > MaxDuration {
					t.Errorf("%q %s: %d", s, u, sum)
				}
			}
		}
		ParseZone(s, Zone{})
	})
}

// checkParts fails for a value that is none.
func checkParts(t *testing.T, d DateTime) {
	t.Helper()
	if d < 0 || d > MaxDateTime || d.Month() > 12 || d.Hour() > 23 || d.Minute() > 59 || d.Second() > 59 || d.Micro() > 999_999 {
		t.Errorf("a value out of range: %#x", int64(d))
	}
}

// FuzzFormat holds T2 for formats in both directions.
func FuzzFormat(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "%Y %j %U %u %V %v %X %x %W %M %r %T %f", int64(20240229101112))
		f.Add("2024 60 10 Monday", s, int64(0))
	}
	f.Fuzz(func(t *testing.T, text, format string, n int64) {
		for _, mode := range []Mode{0, NoZeroDate, ZeroParts, InvalidDates | ZeroParts} {
			kind, _ := FormatKind(format)
			if r := StrToDate(text, format, kind, mode); r.OK() {
				checkParts(t, r.DateTime)
			}
			if r := FromNumber(n, 0, mode); r.OK() {
				checkParts(t, r.DateTime)
				b, _ := AppendFormat(nil, r.DateTime, format)
				AppendFormat(b, r.DateTime.Date(), text)
			}
			if r := TimeFromNumber(n, 0, mode); r.Kind == KindTime {
				AppendTimeFormat(nil, r.Duration, format)
			}
		}
	})
}

// FuzzArithmetic holds T2 for operations on dates that may be no real ones.
func FuzzArithmetic(f *testing.F) {
	f.Add(int64(20240229101112), int64(1), uint8(3), "2024-02-29")
	f.Add(int64(0), int64(-1), uint8(5), "0000-00-00")
	f.Add(int64(99991231235959), int64(1)<<62, uint8(8), "838:59:59")
	f.Fuzz(func(t *testing.T, n, by int64, unit uint8, other string) {
		d := FromNumber(n, 0, ZeroParts|InvalidDates).DateTime
		u := Unit(unit)
		if i, ok := IntervalFromInt(by, u); ok {
			sum, f := d.Add(i, u)
			checkParts(t, sum)
			if back, g := sum.Add(i.Neg(), u); d.IsReal() && f == 0 && g == 0 && u >= UnitWeek && back != d {
				t.Errorf("%s + %d %s = %s, and back %s", d, by, u, sum, back)
			}
		}
		e := ParseDateTime(other, ZeroParts).DateTime
		if a, b := TimestampDiff(u, d, e), TimestampDiff(u, e, d); a != -b {
			t.Errorf("%s from %s to %s is %d, and back %d", u, d, e, a, b)
		}
		for mode := range 8 {
			Week(d, mode)
		}
		LastDay(d)
		DayOfYear(d)
		d.Sub(e)
		d.AddTime(Duration(by).trim())
		ExtractDate(u, d, 0)
		MakeDate(n, by)
		_ = PeriodAdd(n, by)
		_, _ = SecToTime(by, 0, 0)
		MakeTime(n, false, by, 0, 0, 0)
		FromDayNumber(int(by))
		zones := []Zone{{}, FixedZone(-50340)}
		for _, z := range zones {
			if at, _, ok := z.ToUnix(d, MaxUnix); ok {
				if back, ok := z.FromUnix(at, d.Micro()); !ok || back != d {
					t.Errorf("%s is %d, and that is %s", d, at, back)
				}
			}
			z.FromUnixTime(by, 0, 0)
		}
	})
}

// trim brings a number into the range of TIME.
func (t Duration) trim() Duration {
	t, _ = t.clamp()
	return t
}
