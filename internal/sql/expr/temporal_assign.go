package expr

import "github.com/longitude-db/longitude/internal/sql/temporal"

// Assignment to DATE, DATETIME, TIMESTAMP and TIME columns.
//
// In strict mode whatever is wrong with a value is error 1292, which names the value. Otherwise the value that is stored is zero, or
// what could be read of it, or the largest TIME, and the warning is 1265 for texts and numbers that are none and 1264 for those out
// of range.

func init() {
	assignTemporal = assignToTemporal
	castTemporal = resolveCastTemporal
}

func assignToTemporal(env *Env, v Value, to *Target) (Value, error) {
	if to.Type.Name == TimeType {
		return assignTime(env, v, to)
	}
	mode := env.storeMode()
	if to.Type.Name == TimestampType {
		mode = mode&^(temporal.ZeroParts|temporal.InvalidDates) | temporal.NoZeroInDate
	}
	r, err := readDate(env, numberOf(v), mode)
	if err != nil {
		return Null, err
	}
	d, faults := r.DateTime, r.Faults
	if !r.OK() {
		d = 0
	}
	switch to.Type.Name {
	case DateType:
		if d.HasTime() {
			faults |= temporal.TimeDropped
		}
		d = d.Date()
	default:
		var f temporal.Faults
		if d, f = d.Round(to.Type.Scale, env.readMode()); f != 0 {
			d, faults = 0, faults|temporal.OutOfRange
		}
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
	r, err := readTime(env, numberOf(v))
	if err != nil {
		return Null, err
	}
	t, faults := r.Duration, r.Faults
	t, f := t.Round(to.Type.Scale, env.readMode())
	faults |= f
	switch {
	case r.Kind == temporal.KindDateTime, v.kind == KindDate, v.kind == KindDatetime:
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
	if faults == temporal.TimeDropped {
		noted(env, to)
		return nil
	}
	if env.Strict() {
		s, err := ToText(env, numberOf(v))
		if err != nil {
			return err
		}
		return Errorf(1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %d", kind, clip(s), to.Name, to.Row)
	}
	switch {
	case faults&(temporal.OutOfRange|temporal.ZeroDate|temporal.ZeroInDate) != 0:
		env.Warning(1264, "Out of range value for column '%s' at row %d", to.Name, to.Row)
	case faults&temporal.InGap != 0:
		env.Warning(1299, "Invalid TIMESTAMP value in column '%s' at row %d", to.Name, to.Row)
	default:
		noted(env, to)
	}
	return nil
}
