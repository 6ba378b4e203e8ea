package temporal

import (
	"strings"
	"sync"
	"time"
)

// Zone is a time zone: a fixed offset from UTC, or a named one with its history. The zero value is UTC.
type Zone struct {
	place  *time.Location // nil: a fixed offset
	offset int            // seconds east of UTC
}

// The range of TIMESTAMP columns ends in 2038. UNIX_TIMESTAMP, FROM_UNIXTIME and CONVERT_TZ go on to the end of 3000 (from
// MySQL 8.0.28 on, where the machine has 64 bits). All begin at 1970-01-01 00:00:01 UTC.
const (
	MaxTimestamp = 1<<31 - 1      // 2038-01-19 03:14:07 UTC
	MaxUnix      = 32_536_771_199 // 3001-01-18 23:59:59 UTC
)

// FixedZone is the zone of a number of seconds east of UTC.
func FixedZone(seconds int) Zone { return Zone{offset: seconds} }

// ZoneOf is the zone of a Go location.
func ZoneOf(place *time.Location) Zone {
	if place == time.UTC {
		return Zone{}
	}
	return Zone{place: place}
}

// ParseZone is the zone of a text as in @@time_zone and CONVERT_TZ: SYSTEM, an offset from -13:59 to +14:00 with one or two digits
// of hours, or a name of the IANA database in any case. What SYSTEM means is the caller's: system.
func ParseZone(name string, system Zone) (Zone, bool) {
	if equalFold(name, "SYSTEM") {
		return system, true
	}
	if name != "" && (name[0] == '+' || name[0] == '-') {
		return parseZoneOffset(name)
	}
	return namedZone(name)
}

func parseZoneOffset(s string) (Zone, bool) {
	hours, minutes, ok := strings.Cut(s[1:], ":")
	if !ok || len(hours) < 1 || len(hours) > 2 || len(minutes) < 1 || len(minutes) > 2 {
		return Zone{}, false
	}
	h, at, _ := scanNumber(hours, 0)
	m, end, _ := scanNumber(minutes, 0)
	if at != len(hours) || end != len(minutes) || m > 59 {
		return Zone{}, false
	}
	seconds := int(h*3600 + m*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	if seconds > 14*3600 || seconds <= -14*3600 {
		return Zone{}, false
	}
	return FixedZone(seconds), true
}

// zones holds the named zones that were found, by the name in the database.
var zones sync.Map // string -> *time.Location

// namedZone finds a zone as the name is spelled, then in capitals (utc), then with capitals after each separator
// (europe/berlin, america/new_york).
func namedZone(name string) (Zone, bool) {
	if name == "" || len(name) > 64 || equalFold(name, "local") || !isZoneName(name) {
		return Zone{}, false
	}
	for _, spelled := range [...]string{name, strings.ToUpper(name), capitalize(name)} {
		if place, ok := zones.Load(spelled); ok {
			return ZoneOf(place.(*time.Location)), true
		}
		place, err := time.LoadLocation(spelled)
		if err == nil {
			zones.Store(spelled, place)
			return ZoneOf(place), true
		}
	}
	return Zone{}, false
}

// isZoneName keeps paths and other texts from the file system.
func isZoneName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlpha(c) && !isDigit(c) && c != '/' && c != '_' && c != '-' && c != '+' {
			return false
		}
	}
	return isAlpha(s[0])
}

func capitalize(s string) string {
	b := []byte(strings.ToLower(s))
	for i := range b {
		if b[i] >= 'a' && b[i] <= 'z' && (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') {
			b[i] -= 0x20
		}
	}
	return string(b)
}

// Location is the zone as Go has it.
func (z Zone) Location() *time.Location {
	switch {
	case z.place != nil:
		return z.place
	case z.offset == 0:
		return time.UTC
	}
	return time.FixedZone("", z.offset)
}

// FromUnix is what a clock in the zone shows, for seconds since 1970 in UTC; micro is kept. false outside of the years 0 to 9999.
func (z Zone) FromUnix(seconds int64, micro int) (DateTime, bool) {
	local := seconds + int64(z.offsetAt(seconds))
	days := floorDiv(local, secondsDay) + unixDays
	if days <= 365 || days > maxDays {
		return 0, false
	}
	return FromDayNumber(int(days)).withClock(floorMod(local, secondsDay)*1_000_000 + int64(micro)), true
}

// unixDays is the day number of 1970-01-01.
const unixDays = 719528

// offsetAt is the offset in seconds east of UTC at an instant.
func (z Zone) offsetAt(seconds int64) int {
	if z.place == nil {
		return z.offset
	}
	_, offset := time.Unix(seconds, 0).In(z.place).Zone()
	return offset
}

// ToUnix is the instant of a local time, in whole seconds since 1970 UTC: the first if the zone's clocks show the time twice, and
// the end of the gap, with gap set, if they skip it. ok is false if the calendar has no such date, or the instant is not
// within 1 to limit (MaxTimestamp or MaxUnix).
func (z Zone) ToUnix(d DateTime, limit int64) (seconds int64, gap, ok bool) {
	if !d.IsReal() {
		return 0, false, false
	}
	local := int64(DayNumber(d)-unixDays)*secondsDay + int64(d.Clock()/1_000_000)
	seconds, gap = z.instant(local)
	return seconds, gap, seconds >= 1 && seconds <= limit
}

// instant is the instant at which local clocks show the given seconds since 1970.
func (z Zone) instant(local int64) (seconds int64, gap bool) {
	if z.place == nil {
		return local - int64(z.offset), false
	}
	near := local - int64(z.offsetAt(local))
	within := int64(z.offsetAt(near))
	from, to := time.Unix(near, 0).In(z.place).ZoneBounds()
	if !from.IsZero() {
		change := from.Unix()
		if t := local - int64(z.offsetAt(change-1)); t < change {
			return t, false
		}
		if local-within < change {
			return change, true // after the end of the old offset, before the beginning of the new one
		}
	}
	if t := local - within; to.IsZero() || t < to.Unix() {
		return t, false
	}
	change := to.Unix()
	t := local - int64(z.offsetAt(change))
	return max(t, change), t < change
}

// Convert is CONVERT_TZ: the time in zone to when it is d in zone from. A time whose instant is out of range stays as it is. ok
// is false if the calendar has no such date.
func Convert(d DateTime, from, to Zone) (converted DateTime, ok bool) {
	if !d.IsReal() {
		return 0, false
	}
	seconds, _, within := from.ToUnix(d, MaxUnix)
	if !within {
		return d, true
	}
	return to.FromUnix(seconds, d.Micro())
}

// ToZone is a reading with an offset as the time in the zone; others stay as they are. The fault is that of CheckDate for
// dates that are not real, and OutOfRange before year 1 or after 9999.
func (r Reading) ToZone(z Zone) Reading {
	if !r.Zoned || !r.OK() {
		return r
	}
	if !r.DateTime.IsReal() {
		return fail(CheckDate(r.DateTime, NoZeroDate|NoZeroInDate))
	}
	seconds := int64(DayNumber(r.DateTime)-unixDays)*secondsDay + int64(r.DateTime.Clock()/1_000_000) - int64(r.Offset)
	d, ok := z.FromUnix(seconds, r.DateTime.Micro())
	if !ok {
		return fail(OutOfRange)
	}
	r.DateTime, r.Zoned, r.Offset = d, false, 0
	return r
}

// UnixTime is UNIX_TIMESTAMP of a datetime: seconds since 1970 UTC, and microseconds; zeros if it is out of range or no real date.
func (z Zone) UnixTime(d DateTime) (seconds int64, micro int) {
	seconds, _, ok := z.ToUnix(d, MaxUnix)
	if !ok {
		return 0, 0
	}
	return seconds, d.Micro()
}

// FromUnixTime is FROM_UNIXTIME: seconds with a fraction in billionths, rounded to microseconds; false (NULL) if negative or after
// MaxUnix.
func (z Zone) FromUnixTime(seconds int64, nanos int32, mode Mode) (DateTime, bool) {
	if seconds < 0 || nanos < 0 || seconds > MaxUnix {
		return 0, false
	}
	d, ok := z.FromUnix(seconds, int(nanos/1000))
	if !ok || nanos%1000 < 500 || mode&TruncateFraction != 0 {
		return d, ok
	}
	if nanos/1000 == 999_999 && seconds == MaxUnix {
		return 0, false
	}
	d, f := d.addMicros(1)
	return d, f == 0
}
