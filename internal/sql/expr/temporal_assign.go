package expr

import (
	"github.com/longitude-db/longitude/internal/sql/document"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Assignment to DATE, DATETIME, TIMESTAMP and TIME columns.
//
// In strict mode whatever is wrong with a value is error 1292, which names the value. Otherwise the value that is stored is zero, or
// what could be read of it, or the largest TIME, and the warning is 1265 for texts that are none and 1264 for what is out of range.
// A time that the column's digits of a second round up behind the year 9999 is 1441.

func init() {
	assignTemporal = assignToTemporal
	castTemporal = resolveCastTemporal
}

func assignToTemporal(env *Env, v Value, to *Target) (Value, error) {
	if v.kind == KindJSON {
		var err error
		if v, err = temporalDocument(env, v, to); err != nil || v.IsNull() {
			return Null, err
		}
	}
	if to.Type.Name == TimeType {
		return assignTime(env, v, to)
	}
	mode := env.storeMode()
	if to.Type.Name == TimestampType {
		mode = mode&^(temporal.ZeroParts|temporal.InvalidDates) | temporal.NoZeroInDate
	}
	v = plainYear(v) // a year is assigned as a number: 2012 is no date
	r, err := readDate(env, v, mode)
	if err != nil {
		return Null, err
	}
	if r.OK() {
		warnDelimiterAt(env, v, r, to.Row)
	}
	d, faults := r.DateTime, r.Faults
	overflow := false
	switch isText := v.kind == KindText || v.kind == KindBytes || v.kind == KindBit; {
	case r.OK():
		var f temporal.Faults
		if d, f = d.Round(to.Type.Scale, env.readMode()); f != 0 {
			overflow = f&temporal.Overflow != 0
			d, faults = 0, faults|temporal.OutOfRange
		}
	case isText:
		overflow = faults&temporal.Overflow != 0
		d = 0
	default:
		d = 0
		if faults == temporal.Truncated && tooLargeForDate(env, v) {
			faults = temporal.OutOfRange
		}
	}
	if overflow {
		if err := overflowed(env); err != nil {
			return Null, err
		}
	}
	if to.Type.Name == DateType && d.HasTime() {
		faults |= temporal.TimeDropped
		if v.kind == KindDatetime {
			v = packedDatetime(d, 0) // as the note shows it
		}
		d = d.Date()
	}
	if to.Type.Name == TimestampType && d != 0 {
		var f temporal.Faults
		d, f = asTimestamp(env, d)
		faults |= f
	}
	if faults != 0 {
		kind := "datetime"
		if to.Type.Name == DateType {
			kind = "date"
		}
		if err := reportTemporal(env, v, kind, faults, to); err != nil {
			return Null, err
		}
	}
	if to.Type.Name == DateType {
		return packedDate(d), nil
	}
	return packedDatetime(d, to.Type.Scale), nil
}

// tooLargeForDate reports whether a number that is no date has a sign or more digits than any date.
func tooLargeForDate(env *Env, v Value) bool {
	if v.kind == KindUint {
		return v.RawUint() > 9999_12_31_23_59_59
	}
	if negative(v) {
		return true
	}
	f, err := ToFloat(env, v)
	return err == nil && f > 9999_12_31_23_59_59
}

// temporalDocument is the date or time in a document, or its text. What is none is NULL with warning 3156, an error in strict mode.
func temporalDocument(env *Env, v Value, to *Target) (Value, error) {
	d, err := v.Document()
	if err != nil {
		return Null, err
	}
	as := "DATETIME/TIMESTAMP"
	switch to.Type.Name {
	case TimeType:
		as = "TIME"
	case DateType:
		as = "DATE"
	}
	switch d.Kind() {
	case document.Date, document.Datetime:
		if to.Type.Name != TimeType {
			return temporalOf(d), nil
		}
	case document.Time:
		if to.Type.Name == TimeType {
			return temporalOf(d), nil
		}
	case document.String:
		s := Text(d.Str())
		var r temporal.Reading
		if to.Type.Name == TimeType {
			r, err = readTime(env, s)
		} else {
			r, err = readDate(env, s, env.storeMode())
		}
		if err != nil || r.OK() && r.Faults == 0 {
			return s, err
		}
	}
	warnJSON(env, as)
	return Null, env.Failed()
}

// asTimestamp is a time that a TIMESTAMP column holds: one between 1970 and 2038. A time that the session's zone skips becomes the end
// of the gap.
func asTimestamp(env *Env, d temporal.DateTime) (temporal.DateTime, temporal.Faults) {
	if !d.IsReal() {
		return 0, temporal.Truncated
	}
	seconds, gap, ok := env.zone().ToUnix(d, temporal.MaxTimestamp)
	switch {
	case !ok:
		return 0, temporal.OutOfRange
	case gap:
		d, _ = env.zone().FromUnix(seconds, d.Micro())
		return d, temporal.InGap
	}
	return d, 0
}

func assignTime(env *Env, v Value, to *Target) (Value, error) {
	v = plainYear(v) // 2012 is 20 minutes and 12 seconds
	r, err := readTime(env, v)
	if err != nil {
		return Null, err
	}
	if v.kind == KindUint && v.RawInt() < 0 {
		r = temporal.Reading{Duration: temporal.MaxDuration, Faults: temporal.OutOfRange}
	}
	if r.OK() {
		warnDelimiterAt(env, v, r, to.Row)
	}
	t, faults := r.Duration, r.Faults
	t, f := t.Round(to.Type.Scale, env.readMode())
	if faults |= f; faults&temporal.Blank != 0 {
		faults = 0 // 00:00:00
	}
	if r.Kind == temporal.KindDateTime { // of a text or a number; a DATETIME has a time of day
		faults |= temporal.TimeDropped // the date is dropped, and the note is the same
	}
	if faults != 0 {
		if err := reportTemporal(env, v, "time", faults, to); err != nil {
			return Null, err
		}
	}
	return packedTime(t, to.Type.Scale), nil
}

// reportTemporal is the error in strict mode, otherwise the warning, of what was wrong with a value that is assigned. That a date has
// no place in a TIME column, or a time in a DATE column, is no more than a note.
func reportTemporal(env *Env, v Value, kind string, faults temporal.Faults, to *Target) error {
	dropped := faults == temporal.TimeDropped
	if dropped && !env.Strict() {
		noted(env, to)
		return nil
	}
	if env.Strict() {
		s, err := ToText(env, v)
		if err != nil {
			return err
		}
		e := Errorf(1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %d", kind, shown(v, s), to.Name, to.Row)
		if dropped {
			env.remark(e.Code, "%s", e.Message)
			return nil
		}
		return e
	}
	switch {
	case faults&(temporal.OutOfRange|temporal.ZeroDate|temporal.ZeroInDate) != 0:
		env.Warning(1264, "Out of range value for column '%s' at row %d", to.Name, to.Row)
	case faults&temporal.InGap != 0:
		env.Warning(1299, "Invalid TIMESTAMP value in column '%s' at row %d", to.Name, to.Row)
	default:
		return truncated(env, to)
	}
	return nil
}

// shown is a value as an error shows it.
func shown(v Value, s string) string {
	if v.kind == KindBytes || v.kind == KindBit {
		return printable(s)
	}
	return clip(s)
}
