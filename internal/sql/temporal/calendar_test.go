package temporal

import (
	"testing"
	"time"
)

func day(t *testing.T, text string) DateTime {
	t.Helper()
	r := ParseDateTime(text, ZeroParts)
	if !r.OK() || r.Faults != 0 {
		t.Fatalf("%q is no date", text)
	}
	return r.DateTime
}

// TestDayNumbers walks the calendar beside Go's: each day from 1890 to 2110 and of the first and last years, else every fifth.
func TestDayNumbers(t *testing.T) {
	when := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	step := func(n int) int {
		if n > 2000 && n < 690_000 || n > 771_000 && n < maxDays-2000 {
			return 5
		}
		return 1
	}
	for n := 366; n <= maxDays; n += step(n) {
		d, _ := FromTime(when)
		if FromDayNumber(n) != d || DayNumber(d) != n {
			t.Fatalf("day %d is %s and %s has number %d, want %s", n, FromDayNumber(n), d, DayNumber(d), when)
		}
		if Weekday(d) != (int(when.Weekday())+6)%7 || DayOfYear(d) != when.YearDay() {
			t.Fatalf("%s: weekday %d, day of the year %d", d, Weekday(d), DayOfYear(d))
		}
		if week, year := Week(d, 3); year > 0 && year < 10000 {
			if y, w := when.ISOWeek(); y != year || w != week {
				t.Fatalf("%s: week %d of %d, want %d of %d", d, week, year, w, y)
			}
		}
		when = when.AddDate(0, 0, step(n))
	}
	for _, n := range []int{-1, 0, maxDays + 1, 1 << 40, -1 << 40} {
		if d := FromDayNumber(n); d != 0 {
			t.Errorf("day %d is %s, want 0000-00-00", n, d)
		}
	}
	for text, want := range map[string]int{
		"0000-00-00": 0, "0000-01-01": 1, "0000-12-31": 365, "0001-01-01": 366, "1970-01-01": 719528, "2024-02-00": 739281,
	} {
		if d := day(t, text); want < 366 && want > 0 && FromDayNumber(want) != d {
			t.Errorf("day %d is %s, want %s", want, FromDayNumber(want), d)
		}
		if got := DayNumber(day(t, text)); got != want {
			t.Errorf("TO_DAYS %s: %d, want %d", text, got, want)
		}
	}
	if got := ToSeconds(day(t, "2024-01-01")); got != 63871286400 {
		t.Errorf("TO_SECONDS('2024-01-01') is %d", got)
	}
}

// TestWeeks: the modes 0 to 7 around the turn of the year.
func TestWeeks(t *testing.T) {
	for _, c := range []struct {
		date string
		want [8]int
		year int // of YEARWEEK in mode 0
	}{
		{"2008-02-20", [8]int{7, 8, 7, 8, 8, 7, 8, 7}, 200807},
		{"2000-01-01", [8]int{0, 0, 52, 52, 0, 0, 52, 52}, 199952},
		{"2000-01-02", [8]int{1, 0, 1, 52, 1, 0, 1, 52}, 200001},
		{"1987-01-01", [8]int{0, 1, 52, 1, 0, 0, 53, 52}, 198652},
		{"2024-12-30", [8]int{52, 53, 52, 1, 53, 53, 1, 53}, 202452},
		{"2021-01-01", [8]int{0, 0, 52, 53, 0, 0, 53, 52}, 202052},
		{"2023-01-01", [8]int{1, 0, 1, 52, 1, 0, 1, 52}, 202301},
	} {
		d := day(t, c.date)
		for mode, want := range c.want {
			if got, _ := Week(d, mode); got != want {
				t.Errorf("WEEK('%s', %d): %d, want %d", c.date, mode, got, want)
			}
		}
		if got := YearWeek(d, 0); got != c.year {
			t.Errorf("YEARWEEK('%s'): %d, want %d", c.date, got, c.year)
		}
	}
}

func TestCalendarFunctions(t *testing.T) {
	for text, want := range map[string]string{"2024-02-10": "2024-02-29", "2023-02-00": "2023-02-28", "2024-12-31 10:00:00": "2024-12-31"} {
		if got, ok := LastDay(day(t, text)); !ok || got != day(t, want) {
			t.Errorf("LAST_DAY %s: %s", text, got)
		}
	}
	if _, ok := LastDay(day(t, "2024-00-01")); ok {
		t.Error("month 0 has a last day")
	}
	for _, c := range []struct {
		year, n int64
		want    string
	}{
		{2024, 60, "2024-02-29"}, {2024, 366, "2024-12-31"}, {2024, 367, "2025-01-01"}, {24, 1, "2024-01-01"}, {70, 1, "1970-01-01"},
		{100, 1, "0100-01-01"}, {2024, 0, ""}, {2024, -1, ""}, {10000, 1, ""}, {-1, 1, ""}, {9999, 365, "9999-12-31"}, {9999, 366, ""},
		{2011, 1 << 62, ""},
	} {
		got, ok := MakeDate(c.year, c.n)
		if ok != (c.want != "") || ok && got != day(t, c.want) {
			t.Errorf("MAKEDATE(%d, %d): %s %v, want %s", c.year, c.n, got, ok, c.want)
		}
	}
	for _, c := range []struct{ p, n, want int64 }{
		{202401, 1, 202402}, {202412, 1, 202501}, {2401, 13, 202502}, {7001, 0, 197001}, {202401, -1, 202312}, {200801, 2, 200803},
	} {
		if got := PeriodAdd(c.p, c.n); got != c.want {
			t.Errorf("PERIOD_ADD(%d, %d): %d, want %d", c.p, c.n, got, c.want)
		}
	}
	if got := PeriodDiff(200802, 200703); got != 11 {
		t.Errorf("PERIOD_DIFF: %d", got)
	}
	for p, want := range map[int64]bool{0: false, -1: false, 202400: false, 202413: false, 202412: true, 1: true} {
		if ValidPeriod(p) != want {
			t.Errorf("period %d: %v", p, !want)
		}
	}
	for i, want := range []int{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4} {
		if got := Quarter(Date(2024, i+1, 1)); got != want {
			t.Errorf("QUARTER of month %d: %d", i+1, got)
		}
	}
}

func TestGoTimes(t *testing.T) {
	d := MakeDateTime(2024, 2, 29, 10, 11, 12, 345678)
	when, ok := d.Time(time.UTC)
	if back, in := FromTime(when); !ok || !in || back != d {
		t.Errorf("%s -> %s -> %s", d, when, back)
	}
	for _, text := range []string{"0000-00-00", "2024-00-01", "2024-02-00"} {
		if _, ok := day(t, text).Time(time.UTC); ok {
			t.Errorf("%s is a time", text)
		}
	}
	for _, year := range []int{-1, 10000} {
		if _, ok := FromTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); ok {
			t.Errorf("year %d is within the range", year)
		}
	}
}

// TestOrder holds T1.
func TestOrder(t *testing.T) {
	texts := []string{
		"0000-00-00", "0000-00-01", "0000-01-00", "0000-01-01", "0001-00-00", "2023-12-31 23:59:59.999999", "2024-00-00", "2024-00-01",
		"2024-01-00",
		"2024-01-01 00:00:00", "2024-01-01 00:00:00.000001", "2024-01-01 00:00:01", "2024-01-01 00:01:00", "2024-01-01 01:00:00", "2024-01-02",
		"2024-02-01", "2025-01-01", "9999-12-31 23:59:59.999999",
	}
	for i, text := range texts {
		d := day(t, text)
		if i > 0 && day(t, texts[i-1]) >= d {
			t.Errorf("%s is not above %s", text, texts[i-1])
		}
		parts := MakeDateTime(d.Year(), d.Month(), d.Day(), d.Hour(), d.Minute(), d.Second(), d.Micro())
		if parts != d {
			t.Errorf("%s from its parts is %s", d, parts)
		}
	}
	if day(t, texts[len(texts)-1]) != MaxDateTime {
		t.Errorf("the largest is %s", MaxDateTime)
	}
}
