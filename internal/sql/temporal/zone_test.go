package temporal

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests, wherever they run
)

func zone(t *testing.T, name string) Zone {
	t.Helper()
	z, ok := ParseZone(name, FixedZone(3600))
	if !ok {
		t.Fatalf("no zone %q", name)
	}
	return z
}

func TestParseZone(t *testing.T) {
	for name, want := range map[string]int{
		"SYSTEM": 3600, "system": 3600, "+00:00": 0, "-00:00": 0, "+5:30": 19800, "+05:30": 19800, "-13:59": -50340, "+14:00": 50400,
		"UTC": 0, "utc": 0,
		"Asia/Kolkata": 19800, "asia/kolkata": 19800, "ASIA/KOLKATA": 19800, "+1:5": 3900,
	} {
		z, ok := ParseZone(name, FixedZone(3600))
		if got := z.offsetAt(0); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "+14:01", "-14:00", "+15:00", "5:30", "+05", "+05:60", "+005:00", "+05:000", "+:", "Local",
		"../etc/passwd", "Nowhere/City", "a\x00b", "/UTC", "+1a:00"} {
		if z, ok := ParseZone(name, Zone{}); ok {
			t.Errorf("%q is a zone: %v", name, z.Location())
		}
	}
	if z := ZoneOf(time.UTC); z != (Zone{}) || z.Location() != time.UTC {
		t.Error("UTC is not the zero value")
	}
}

// TestToUnix: local times that a zone skips mean the end of the gap, those that it shows twice the first.
func TestToUnix(t *testing.T) {
	for _, c := range []struct {
		zone, local string
		want        int64
		gap         bool
	}{
		{"UTC", "1970-01-01 00:00:01", 1, false},
		{"MET", "2005-03-27 03:00:00", 1111885200, false},
		{"MET", "2005-03-27 02:00:00", 1111885200, true},
		{"MET", "2005-03-27 02:59:59.5", 1111885200, true},
		{"MET", "2005-03-27 01:59:59", 1111885199, false},
		{"Europe/Berlin", "2003-10-26 01:59:59", 1067126399, false},
		{"Europe/Berlin", "2003-10-26 02:00:00", 1067126400, false},
		{"Europe/Berlin", "2003-10-26 02:59:59", 1067129999, false},
		{"Europe/Berlin", "2003-10-26 03:00:00", 1067133600, false},
		{"America/New_York", "2024-03-10 02:30:00", 1710054000, true},
		{"America/New_York", "2024-11-03 01:30:00", 1730611800, false},
		{"Australia/Lord_Howe", "2024-10-06 02:15:00", 1728142200, true},
		{"Australia/Lord_Howe", "2024-04-07 01:45:00", 1712414700, false},
		{"Pacific/Apia", "2011-12-30 12:00:00", 1325239200, true},
		{"+05:30", "2024-02-29 10:11:12", 1709181672, false},
	} {
		got, gap, ok := zone(t, c.zone).ToUnix(day(t, c.local), MaxUnix)
		if !ok || got != c.want || gap != c.gap {
			t.Errorf("%s %s: %d gap %v, want %d gap %v", c.zone, c.local, got, gap, c.want, c.gap)
		}
	}
	for _, c := range []struct {
		local string
		limit int64
		ok    bool
	}{
		{"1970-01-01 00:00:00", MaxUnix, false}, {"1969-12-31 23:59:59", MaxUnix, false}, {"2038-01-19 03:14:07.999999", MaxTimestamp, true},
		{"2038-01-19 03:14:08", MaxTimestamp, false}, {"2038-01-19 03:14:08", MaxUnix, true}, {"3001-01-18 23:59:59", MaxUnix, true},
		{"3001-01-19 00:00:00", MaxUnix, false}, {"0000-00-00", MaxUnix, false}, {"2024-02-00", MaxUnix, false},
	} {
		if _, _, ok := (Zone{}).ToUnix(day(t, c.local), c.limit); ok != c.ok {
			t.Errorf("%s up to %d: %v", c.local, c.limit, ok)
		}
	}
}

// TestInstants walks hours around every change of offset of some zones, beside a search over all instants near by.
func TestInstants(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran",
		"America/Caracas"} {
		z := zone(t, name)
		at := time.Unix(0, 0).In(z.Location())
		for range 120 {
			_, end := at.ZoneBounds()
			if end.IsZero() {
				break
			}
			for local := end.Unix() - 16*3600; local < end.Unix()+16*3600; local += 900 {
				want, gap := search(z, local)
				if got, skipped := z.instant(local); got != want || skipped != gap {
					t.Fatalf("%s: local %d is %d gap %v, want %d gap %v", name, local, got, skipped, want, gap)
				}
			}
			at = end
		}
	}
}

// search finds the first instant that shows a local time, else the first that shows a later one. Offsets are whole quarters of
// an hour since 1970 in the zones of the test.
func search(z Zone, local int64) (int64, bool) {
	for t := local - 15*3600; t <= local+15*3600; t += 900 {
		if t+int64(z.offsetAt(t)) == local {
			return t, false
		}
	}
	for t := local - 15*3600; ; t += 900 {
		if t+int64(z.offsetAt(t)) > local && (t-900)+int64(z.offsetAt(t-900)) < local {
			return t, true
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct{ local, from, to, want string }{
		{"2004-01-01 12:00:00", "GMT", "MET", "2004-01-01 13:00:00.000000"},
		{"2004-01-01 12:00:00", "+00:00", "+10:00", "2004-01-01 22:00:00.000000"},
		{"2024-02-29 10:11:12.5", "UTC", "America/New_York", "2024-02-29 05:11:12.500000"},
		{"2024-03-31 02:30:00", "Europe/Berlin", "UTC", "2024-03-31 01:00:00.000000"},
		{"1969-12-31 23:59:59", "UTC", "+01:00", "1969-12-31 23:59:59.000000"},
		{"2050-07-01 12:00:00", "UTC", "Europe/Berlin", "2050-07-01 14:00:00.000000"},
		{"3001-01-18 23:59:59", "UTC", "+01:00", "3001-01-19 00:59:59.000000"},
		{"3001-01-19 00:00:00", "UTC", "+01:00", "3001-01-19 00:00:00.000000"},
	} {
		got, ok := Convert(day(t, c.local), zone(t, c.from), zone(t, c.to))
		if !ok || got.String() != c.want {
			t.Errorf("CONVERT_TZ(%s, %s, %s): %s, want %s", c.local, c.from, c.to, got, c.want)
		}
	}
	if _, ok := Convert(day(t, "2024-00-00"), Zone{}, Zone{}); ok {
		t.Error("a date with zero parts was converted")
	}
	for text, want := range map[string]string{
		"2024-02-29 10:11:12+05:30": "2024-02-29 05:41:12.000000", "2024-01-01 00:30:00.25-01:00": "2024-01-01 02:30:00.250000",
	} {
		if got := ParseDateTime(text, 0).ToZone(zone(t, "+01:00")); got.DateTime.String() != want || got.Zoned {
			t.Errorf("%s: %s, want %s", text, got.DateTime, want)
		}
	}
	if r := ParseDateTime("2024-00-00 10:11:12+05:30", ZeroParts).ToZone(Zone{}); r.OK() || r.Faults != ZeroInDate {
		t.Errorf("a date with zero parts at an offset: %s", readingText(r))
	}
}

func TestUnixTime(t *testing.T) {
	for text, want := range map[string]int64{
		"2015-11-13 10:20:19": 1447410019, "1970-01-01 00:00:00": 0, "0000-00-00": 0, "2024-02-00": 0, "3001-01-18 23:59:59": MaxUnix,
		"3001-01-19": 0,
	} {
		if got, _ := (Zone{}).UnixTime(day(t, text)); got != want {
			t.Errorf("UNIX_TIMESTAMP(%s): %d, want %d", text, got, want)
		}
	}
	if s, micro := (Zone{}).UnixTime(day(t, "2015-11-13 10:20:19.012")); s != 1447410019 || micro != 12000 {
		t.Errorf("UNIX_TIMESTAMP with a fraction: %d %d", s, micro)
	}
	for _, c := range []struct {
		s     int64
		nanos int32
		want  string
	}{
		{1447430881, 0, "2015-11-13 17:08:01.000000"}, {0, 0, "1970-01-01 01:00:00.000000"}, {1447430881, 123456500,
			"2015-11-13 17:08:01.123457"},
		{-1, 0, "NULL"}, {0, -1, "NULL"}, {MaxUnix, 0, "3001-01-19 00:59:59.000000"}, {MaxUnix + 1, 0, "NULL"}, {MaxUnix, 999_999_500, "NULL"},
	} {
		d, ok := zone(t, "SYSTEM").FromUnixTime(c.s, c.nanos, 0)
		got := "NULL"
		if ok {
			got = d.String()
		}
		if got != c.want {
			t.Errorf("FROM_UNIXTIME(%d + %dns): %s, want %s", c.s, c.nanos, got, c.want)
		}
	}
}
