package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// zone is the session's time zone.
func (e *Env) zone() temporal.Zone {
	if e.Zone == nil {
		return temporal.Zone{}
	}
	return temporal.ZoneOf(e.Zone)
}

// now is the statement's time in the session's zone, with microseconds.
func (e *Env) now() temporal.DateTime {
	d, _ := e.zone().FromUnix(e.Now.Unix(), e.Now.Nanosecond()/1000)
	return d
}

// readMode is what the SQL mode says about how times are read, whatever they are read for.
func (e *Env) readMode() (m temporal.Mode) {
	if e.Mode&AllowInvalidDates != 0 {
		m |= temporal.InvalidDates
	}
	if e.Mode&TimeTruncateFractional != 0 {
		m |= temporal.TruncateFraction
	}
	return m
}

// storeMode is the mode in which dates are cast, and stored in DATE and DATETIME columns.
func (e *Env) storeMode() temporal.Mode {
	m := e.readMode() | temporal.ZeroParts
	if e.Mode&NoZeroDate != 0 {
		m |= temporal.NoZeroDate
	}
	if e.Mode&NoZeroInDate != 0 {
		m |= temporal.NoZeroInDate
	}
	return m
}

// Modes of dates that functions take.
const (
	anyDate  = temporal.ZeroParts  // also dates with zero parts
	realDate = temporal.NoZeroDate // only those of the calendar
)

func packedDate(d temporal.DateTime) Value { return Packed(KindDate, int64(d.Date()), 0) }

func packedDatetime(d temporal.DateTime, fsp int) Value { return Packed(KindDatetime, int64(d), fsp) }

func packedTime(t temporal.Duration, fsp int) Value { return Packed(KindTime, int64(t), fsp) }

// dateOf reads a value, not NULL, as a date or datetime. A TIME is one of the current date. If it has none that mode allows, the
// reading is not OK, and there was a warning. Texts, and only those, heed NO_ZERO_DATE in whatever they are read for.
func dateOf(env *Env, v Value, mode temporal.Mode) (temporal.Reading, error) {
	return dateFor(env, v, mode, "datetime")
}

// dayOf is dateOf for functions that want a DATE: warnings say so.
func dayOf(env *Env, v Value, mode temporal.Mode) (temporal.Reading, error) {
	return dateFor(env, v, mode, "date")
}

// dateFor is dateOf where wanted is "date" or "datetime".
func dateFor(env *Env, v Value, mode temporal.Mode, wanted string) (temporal.Reading, error) {
	v = v.origin()
	mode |= env.readMode()
	if v.kind == KindJSON {
		as := "DATETIME/TIMESTAMP"
		if wanted == "date" {
			as = "DATE"
		}
		return jsonTemporal(env, v, as, func(w Value) (temporal.Reading, error) { return readDate(env, w, mode) })
	}
	if (v.kind == KindText || v.kind == KindBytes) && env.Mode&NoZeroDate != 0 {
		mode |= temporal.NoZeroDate
	}
	r, err := readDate(env, v, mode)
	if err != nil || r.OK() && r.Faults == 0 {
		warnDelimiter(env, v, r)
		return r, err
	}
	switch v.kind {
	case KindDate, KindDatetime, KindTime:
		return r, nil // NULL without a warning
	}
	s, err := ToText(env, v)
	if err != nil {
		return r, err
	}
	if v.kind == KindDecimal && wanted == "date" {
		if _, _, ok := secondsOf(env, v); !ok {
			warnBeyond(env, v)
		}
	}
	if v.kind == KindInt || v.kind == KindUint {
		wanted = "datetime"
	}
	return r, warnDate(env, s, r, wanted)
}

// warnDelimiter is warning 4095 or 4096 of a text with a delimiter that is deprecated.
func warnDelimiter(env *Env, v Value, r temporal.Reading) { warnDelimiterAt(env, v, r, 1) }

// warnDelimiterAt is warnDelimiter in a row of the statement.
func warnDelimiterAt(env *Env, v Value, r temporal.Reading, row int) {
	d := r.Deprecated
	switch {
	case d.Char == 0:
	case d.Prefer == 0:
		env.note(4096, "Delimiter '%c' in position %d in datetime value '%s' at row %d is superfluous and is deprecated. Please remove.",
			d.Char, d.At, clip(v.s), row)
	default:
		env.note(4095, "Delimiter '%c' in position %d in datetime value '%s' at row %d is deprecated. Prefer the standard '%c'.",
			d.Char, d.At, clip(v.s), row, d.Prefer)
	}
}

// warnBeyond is the warning of a number that is no BIGINT where the seconds of a time are wanted.
func warnBeyond(env *Env, v Value) {
	if d, err := ToDecimal(env, v); err == nil {
		env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", number.Text(d))
	}
}

// readDate is dateOf without warnings.
func readDate(env *Env, v Value, mode temporal.Mode) (temporal.Reading, error) {
	v = v.origin()
	switch v.kind {
	case KindDate, KindDatetime:
		r := temporal.Reading{Kind: temporal.KindDateTime, DateTime: temporal.DateTime(v.n), FSP: v.Fsp()}
		if v.kind == KindDate {
			r.Kind = temporal.KindDate
		}
		if f := temporal.CheckDate(r.DateTime, mode); f != 0 {
			return temporal.Reading{Faults: f}, nil
		}
		return r, nil
	case KindTime:
		d, f := temporal.Duration(v.n).OnDate(env.now())
		if f != 0 {
			return temporal.Reading{Faults: temporal.OutOfRange}, nil
		}
		return temporal.Reading{Kind: temporal.KindDateTime, DateTime: d, FSP: v.Fsp()}, nil
	case KindInt, KindUint, KindFloat, KindDecimal:
		if v.IsYear() {
			return temporal.Reading{Kind: temporal.KindDate, DateTime: temporal.Date(int(v.n), 1, 1)}, nil
		}
		if n, nanos, ok := secondsOf(env, v); ok {
			return temporal.FromNumber(n, nanos, mode), nil
		}
		return temporal.Reading{Faults: temporal.Truncated}, nil
	}
	s, err := ToText(env, v)
	if err != nil {
		return temporal.Reading{}, err
	}
	return temporal.ParseDateTime(s, mode).ToZone(env.zone()), nil
}

// warnDate warns of a text or a number that is no date, or of which a part was not used.
func warnDate(env *Env, s string, r temporal.Reading, wanted string) error {
	switch {
	case !r.OK() && wanted == "date" && r.Faults != temporal.ZeroDate:
		return env.StrictOrWarn(1292, "22007", "Truncated incorrect date value: '%s'", clip(s))
	case !r.OK():
		return env.StrictOrWarn(1292, "22007", "Incorrect datetime value: '%s'", clip(s))
	case r.Kind == temporal.KindDate:
		return env.StrictOrWarn(1292, "22007", "Truncated incorrect date value: '%s'", clip(s))
	}
	return env.StrictOrWarn(1292, "22007", "Truncated incorrect datetime value: '%s'", clip(s))
}

// clip cuts a value to what MySQL's messages show of it.
func clip(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && s[end]&0xc0 == 0x80 { // not within a character
		end--
	}
	return s[:end]
}

// numberOf is a bit or hexadecimal literal as the number that it is.
func numberOf(v Value) Value {
	if v.kind == KindBit {
		return Uint(v.n)
	}
	return v
}

// secondsOf splits a number into a whole part and billionths of the same sign, further digits cut; !ok: it is no BIGINT.
func secondsOf(env *Env, v Value) (whole int64, nanos int32, ok bool) {
	switch v.kind {
	case KindInt:
		return int64(v.n), 0, true
	case KindUint, KindBit, KindEnum, KindSet:
		return int64(v.n), 0, v.n <= math.MaxInt64
	case KindFloat:
		f := v.RawFloat()
		if math.Abs(f) >= 1<<63 {
			return 0, 0, false
		}
		t := math.Trunc(f)
		nanos = int32(math.Round((f - t) * 1e9))
		if nanos == 1e9 || nanos == -1e9 {
			return int64(t) + int64(nanos/1e9), 0, true
		}
		return int64(t), nanos, true
	case KindDecimal:
		return splitDecimal(v.RawDecimal())
	}
	d, err := ToDecimal(env, v)
	if err != nil {
		return 0, 0, false
	}
	return splitDecimal(d)
}

// exact calculates with decimals of MySQL's size.
var exact = apd.Context{Precision: 100, MaxExponent: 1000, MinExponent: -1000, Rounding: apd.RoundHalfUp}

// splitDecimal is secondsOf for a decimal.
func splitDecimal(d *apd.Decimal) (whole int64, nanos int32, ok bool) {
	var n, integral, rest apd.Decimal
	cut := exact
	cut.Rounding = apd.RoundDown
	if _, err := cut.Quantize(&n, d, -9); err != nil {
		return 0, 0, false
	}
	n.Modf(&integral, &rest)
	if whole, err := integral.Int64(); err == nil {
		rest.Exponent += 9
		if billionths, err := rest.Int64(); err == nil {
			return whole, int32(billionths), true
		}
	}
	return 0, 0, false
}

// timeOf reads a value, not NULL, as a TIME: the Duration of the reading. A text of date and time gives KindDateTime and the
// time of day, other dates KindTime. If it is none, the reading is not OK, and there was a warning.
func timeOf(env *Env, v Value) (temporal.Reading, error) {
	v = v.origin()
	if v.kind == KindJSON {
		return jsonTemporal(env, v, "TIME", func(w Value) (temporal.Reading, error) { return readTime(env, w) })
	}
	r, err := readTime(env, v)
	if err != nil || r.OK() && r.Faults == 0 {
		warnDelimiter(env, v, r)
		return r, err
	}
	s, err := ToText(env, v)
	if err != nil {
		return r, err
	}
	if err := warnTime(env, s); err != nil {
		return r, err
	}
	warnDelimiter(env, v, r)
	return r, nil
}

// momentOf reads a value, not NULL, as whichever of a date, a datetime (KindDate and KindDateTime) or a time it looks like: what ADDTIME, TIMEDIFF and
// TIME_FORMAT take. A text is a time if all of it is one and it is no date, or only one with delimiters that are deprecated ('10:11:12'); then a date, if
// it begins with one; then a time, if it begins with that. A number below 10000000 is a time. JSON, BIT and literals of bytes are their texts.
func momentOf(env *Env, v Value) (temporal.Reading, error) {
	v = v.origin()
	switch v.kind {
	case KindDate, KindDatetime:
		r := temporal.Reading{Kind: temporal.KindDateTime, DateTime: temporal.DateTime(v.n), FSP: v.Fsp()}
		return r, nil
	case KindTime:
		return readTime(env, v)
	case KindInt, KindUint, KindFloat, KindDecimal:
		v = plainYear(v)
		if smallNumber(env, v) {
			return timeOf(env, v)
		}
		if v.kind == KindDecimal || v.kind == KindFloat {
			n, _, ok := secondsOf(env, v)
			if ok {
				r := temporal.FromNumber(n, 0, anyDate|env.readMode())
				if r.Kind == temporal.KindDate { // a fraction is cut
					return dayOf(env, v, anyDate)
				}
			}
		}
		return dateOf(env, v, anyDate)
	}
	s, err := ToText(env, v)
	if err != nil {
		return temporal.Reading{}, err
	}
	mode := env.readMode()
	date := temporal.ParseDateTime(s, anyDate|temporal.InvalidDates|mode).ToZone(env.zone())
	if date.OK() && date.Deprecated.Char == 0 {
		return date, nil
	}
	clock := temporal.ParseTime(s, mode)
	switch {
	case clock.Kind == temporal.KindTime && clock.Faults == 0 && clock.Deprecated.Char == 0:
		return clock, nil
	case date.OK():
		warnDelimiter(env, Text(s), date)
		return date, nil
	case clock.Kind == temporal.KindTime:
		return clock, warnTime(env, s)
	}
	return date, warnDate(env, s, date, "datetime")
}

// readTime is timeOf without warnings.
func readTime(env *Env, v Value) (temporal.Reading, error) {
	v = v.origin()
	switch v.kind {
	case KindTime:
		return temporal.Reading{Kind: temporal.KindTime, Duration: temporal.Duration(v.n), FSP: v.Fsp()}, nil
	case KindDate, KindDatetime:
		return temporal.Reading{Kind: temporal.KindTime, Duration: temporal.DateTime(v.n).Clock(), FSP: v.Fsp()}, nil
	case KindInt, KindUint, KindFloat, KindDecimal:
		if v.IsYear() {
			return temporal.Reading{Kind: temporal.KindTime}, nil
		}
		n, nanos, ok := secondsOf(env, v)
		if v.kind == KindUint { // as if it had a sign
			n, ok = int64(v.n), true
		}
		if !ok {
			n, nanos = 1<<62, 0
			if negative(v) {
				n = -n
			}
		}
		return temporal.TimeFromNumber(n, nanos, env.readMode()), nil
	}
	s, err := ToText(env, v)
	if err != nil {
		return temporal.Reading{}, err
	}
	r := temporal.ParseTime(s, env.readMode())
	if r.Zoned {
		r = r.ToZone(env.zone())
		r.Duration = r.DateTime.Clock()
	}
	return r, nil
}

func warnTime(env *Env, s string) error {
	return env.StrictOrWarn(1292, "22007", "Truncated incorrect time value: '%s'", clip(s))
}

// ToDatetime is a value, not NULL, as a packed datetime; !ok: it is none, and the result is NULL (with a warning).
func ToDatetime(env *Env, v Value) (packed int64, ok bool, err error) {
	if v.kind == KindDatetime || v.kind == KindDate {
		return int64(v.n), true, nil
	}
	mode := anyDate
	if env.Mode&NoZeroInDate != 0 {
		mode |= temporal.NoZeroInDate
	}
	r, err := dateOf(env, v, mode)
	return int64(r.DateTime), r.OK(), err
}

// ToTime is a value, not NULL, as a packed TIME; !ok: it is none, and the result is NULL (with a warning).
func ToTime(env *Env, v Value) (packed int64, ok bool, err error) {
	if v.kind == KindTime {
		return int64(v.n), true, nil
	}
	r, err := timeOf(env, v)
	return int64(r.Duration), r.OK(), err
}

// temporalToDecimal is a date or time in numeric context: 20240229, 20240229101112.5, 101112.
func temporalToDecimal(v Value) *apd.Decimal {
	var n int64
	var micros int
	negative := false
	switch v.kind {
	case KindDate:
		return apd.New(temporal.DateTime(v.n).DateNumber(), 0)
	case KindDatetime:
		d := temporal.DateTime(v.n)
		n, micros = d.Number(), d.Micro()
	default:
		t := temporal.Duration(v.n)
		n, micros, negative = t.Number(), t.Micro(), t < 0
	}
	fsp := v.Fsp()
	if fsp == 0 {
		return apd.New(n, 0)
	}
	scaled := apd.New(n, 0)
	if negative {
		scaled = apd.New(-n, 0)
	}
	// 20240229101112 and six digits are more than a BIGINT holds
	unit := int64(math.Pow10(fsp))
	exact.Mul(scaled, scaled, apd.New(unit, 0))
	exact.Add(scaled, scaled, apd.New(int64(micros)/int64(math.Pow10(6-fsp)), 0))
	scaled.Exponent -= int32(fsp)
	scaled.Negative = negative && !scaled.IsZero()
	return scaled
}

// toSeconds is a date or time rounded to whole seconds, with the carry to minutes, hours and days. ok is false if there is no such time.
func toSeconds(v Value, mode temporal.Mode) (out Value, ok bool) {
	switch v.kind {
	case KindDatetime:
		if d, f := temporal.DateTime(v.n).Round(0, mode); f == 0 {
			return packedDatetime(d, 0), true
		}
		return v, false
	case KindTime:
		if t, f := temporal.Duration(v.n).Round(0, mode); f == 0 {
			return packedTime(t, 0), true
		}
		return v, false
	}
	return v, true
}

// inSeconds is toSeconds, or the value as it is.
func inSeconds(v Value) Value {
	v, _ = toSeconds(v, 0)
	return v
}

func temporalToText(v Value) string {
	var buf [32]byte
	b := buf[:0]
	switch v.kind {
	case KindDate:
		b = temporal.AppendDate(b, temporal.DateTime(v.n))
	case KindDatetime:
		b = temporal.AppendDateTime(b, temporal.DateTime(v.n), v.Fsp())
	default:
		b = temporal.AppendTime(b, temporal.Duration(v.n), v.Fsp())
	}
	return string(b)
}
