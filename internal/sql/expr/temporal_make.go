package expr

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Functions that make dates and times: of the present, of numbers, and of other types. CAST is here as well.

func init() {
	register(
		present("now", true, resolveNow(KindDatetime, false)),
		present("current_timestamp", true, resolveNow(KindDatetime, false)),
		present("localtime", true, resolveNow(KindDatetime, false)),
		present("localtimestamp", true, resolveNow(KindDatetime, false)),
		present("utc_timestamp", true, resolveNow(KindDatetime, true)),
		present("curtime", true, resolveNow(KindTime, false)),
		present("current_time", true, resolveNow(KindTime, false)),
		present("utc_time", true, resolveNow(KindTime, true)),
		present("curdate", false, resolveNow(KindDate, false)),
		present("current_date", false, resolveNow(KindDate, false)),
		present("utc_date", false, resolveNow(KindDate, true)),
		present("sysdate", true, resolveSysdate),
		&Func{Name: "from_days", Min: 1, Max: 1, Resolve: resolveFromDays},
		&Func{Name: "makedate", Min: 2, Max: 2, Resolve: resolveMakeDate},
		&Func{Name: "maketime", Min: 3, Max: 3, Resolve: resolveMakeTime},
		&Func{Name: "sec_to_time", Min: 1, Max: 1, Resolve: resolveSecToTime},
		&Func{Name: "date", Min: 1, Max: 1, Resolve: resolveCastDate},
		&Func{Name: "time", Min: 1, Max: 1, Resolve: func(c *Call) error { return resolveCastTime(c, timeDigits(c.Args[0], true)) }},
		&Func{Name: "timestamp", Min: 1, Max: 2, Resolve: resolveTimestamp},
		&Func{Name: "period_add", Min: 2, Max: 2, Resolve: resolvePeriod(temporal.PeriodAdd, false)},
		&Func{Name: "period_diff", Min: 2, Max: 2, Resolve: resolvePeriod(temporal.PeriodDiff, true)},
		&Func{Name: "get_format", Min: 2, Max: 2, Resolve: resolveGetFormat},
		&Func{Name: "date literal", Min: 1, Max: 1, Resolve: resolveTypedLiteral(KindDate)},
		&Func{Name: "time literal", Min: 1, Max: 1, Resolve: resolveTypedLiteral(KindTime)},
		&Func{Name: "timestamp literal", Min: 1, Max: 1, Resolve: resolveTypedLiteral(KindDatetime)},
	)
}

// present describes a function of the current time, which may take the digits of its fraction.
func present(name string, digits bool, resolve func(c *Call, fsp int) error) *Func {
	f := &Func{Name: name, Resolve: func(c *Call) error {
		fsp, err := constantDigits(c)
		if err != nil {
			return err
		}
		return resolve(c, fsp)
	}}
	if digits {
		f.Max = 1
	}
	return f
}

// constantDigits is the number of digits that NOW(3) and the like are given.
func constantDigits(c *Call) (int, error) {
	if len(c.Args) == 0 {
		return 0, nil
	}
	l, ok := c.Args[0].(*Lit)
	if !ok || l.V.Kind() != KindInt && l.V.Kind() != KindUint {
		return 0, Errorf(1064, "42000", "the precision of '%s' must be a number", c.Name)
	}
	n := l.V.RawUint()
	if n > 6 {
		return 0, Errorf(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 6.", n, c.Name)
	}
	return int(n), nil
}

// resolveNow: the time of the statement, the same wherever the statement asks for it. Digits beyond fsp are cut.
func resolveNow(kind Kind, utc bool) func(*Call, int) error {
	return func(c *Call, fsp int) error {
		c.T = temporalType(kind, fsp)
		c.Fn = func(env *Env, c *Call) (Value, error) {
			zone := env.zone()
			if utc {
				zone = temporal.Zone{}
			}
			d, _ := zone.FromUnix(env.Now.Unix(), env.Now.Nanosecond()/1000)
			d, _ = d.Round(fsp, temporal.TruncateFraction)
			switch kind {
			case KindDate:
				return packedDate(d), nil
			case KindTime:
				return packedTime(d.Clock(), fsp), nil
			}
			return packedDatetime(d, fsp), nil
		}
		return nil
	}
}

func resolveSysdate(c *Call, fsp int) error {
	c.T, c.Volatile = TDatetime(fsp), true
	c.Fn = func(env *Env, _ *Call) (Value, error) {
		now := env.Now
		if env.Clock != nil {
			now = env.Clock()
		}
		d, _ := env.zone().FromUnix(now.Unix(), now.Nanosecond()/1000)
		d, _ = d.Round(fsp, temporal.TruncateFraction)
		return packedDatetime(d, fsp), nil
	}
	return nil
}

// temporalType is the type of a kind.
func temporalType(kind Kind, fsp int) Type {
	switch kind {
	case KindDate:
		return TDate
	case KindTime:
		return TTime(fsp)
	}
	return TDatetime(fsp)
}

func resolveFromDays(c *Call) error {
	c.T = TDate
	c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
		n, unsigned, err := ToInt(env, v)
		if err != nil {
			return Null, err
		}
		switch {
		case n <= 0 || unsigned && n < 0 || n > 1<<31 || temporal.FromDayNumber(int(n)) == 0:
			s, err := ToText(env, v)
			if err != nil {
				return Null, err
			}
			if l, ok := c.Args[0].(*Lit); ok && l.T.IsString() {
				s = "'" + s + "'"
			}
			return Null, outsideOf(env, "DATE", "from_days("+s+")")
		}
		return packedDate(temporal.FromDayNumber(int(n))), nil
	})
	return nil
}

// outsideOf is warning 6527: the result of a function on dates is out of range, and NULL.
func outsideOf(env *Env, kind, function string) error {
	return env.StrictOrWarn(6527, "22008", "%s value is out of range in '%s'", kind, function)
}

func resolveMakeDate(c *Call) error {
	c.T = TDate
	c.Fn = strict2(func(env *Env, _ *Call, a, b Value) (Value, error) {
		year, _, err := ToInt(env, a)
		if err != nil {
			return Null, err
		}
		n, _, err := ToInt(env, b)
		if err != nil {
			return Null, err
		}
		if d, ok := temporal.MakeDate(year, n); ok {
			return packedDate(d), nil
		}
		return Null, nil
	})
	return nil
}

func resolveMakeTime(c *Call) error {
	fsp := digitsOf(numericType(c.Args[2]))
	c.T = TTime(fsp)
	c.Fn = strict(func(env *Env, _ *Call, args []Value) (Value, error) {
		hour, unsigned, err := ToInt(env, args[0])
		if err != nil {
			return Null, err
		}
		minute, _, err := ToInt(env, args[1])
		if err != nil {
			return Null, err
		}
		second, nanos, ok := secondsOf(env, args[2])
		if !ok {
			return Null, nil
		}
		t, f, ok := temporal.MakeTime(hour, unsigned && hour < 0, minute, second, nanos, env.readMode())
		if !ok {
			return Null, nil
		}
		if f != 0 {
			h, err := ToText(env, args[0])
			if err != nil {
				return Null, err
			}
			if err := env.StrictOrWarn(1292, "22007", "Truncated incorrect time value: '%s:%02d:%02d'", h, minute, second); err != nil {
				return Null, err
			}
		}
		return roundedTime(env, t, fsp), nil
	})
	return nil
}

func resolveSecToTime(c *Call) error {
	fsp := digitsOf(numericType(c.Args[0]))
	c.T = TTime(fsp)
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		n, nanos, ok := secondsOf(env, v)
		if !ok {
			n, nanos = 1<<62, 0
			if negative(v) {
				n = -n
			}
		}
		t, f := temporal.SecToTime(n, nanos, env.readMode())
		if f != 0 {
			s, err := ToText(env, numberOf(v))
			if err != nil {
				return Null, err
			}
			if err := warnTime(env, s); err != nil {
				return Null, err
			}
		}
		return roundedTime(env, t, fsp), nil
	})
	return nil
}

// negative says whether a number is below zero.
func negative(v Value) bool {
	switch v.kind {
	case KindFloat:
		return v.RawFloat() < 0
	case KindDecimal:
		return v.RawDecimal().Negative
	case KindInt:
		return v.RawInt() < 0
	}
	return v.s != "" && v.s[0] == '-'
}

func roundedTime(env *Env, t temporal.Duration, fsp int) Value {
	t, _ = t.Round(fsp, env.readMode())
	return packedTime(t, fsp)
}

// digitsOf is how many digits of a second a number of the type gives: those of its fraction, six for texts and floats.
func digitsOf(t Type) int {
	switch {
	case t.Name == NullType, t.IsInteger():
		return 0
	case t.Name == DecimalType, t.IsTemporal():
		return min(t.Scale, 6)
	}
	return 6
}

// timeDigits is how many digits of a second an expression has as a TIME, or as a DATETIME: a literal text those that are
// written.
func timeDigits(n Node, asTime bool) int {
	l, ok := n.(*Lit)
	if !ok || !n.Type().IsString() || l.V.IsNull() || l.V.kind == KindBit {
		return digitsOf(n.Type())
	}
	r := temporal.ParseDateTime(l.V.s, temporal.ZeroParts|temporal.InvalidDates)
	if asTime {
		r = temporal.ParseTime(l.V.s, 0)
	}
	if !r.OK() {
		return 6
	}
	return r.FSP
}

// resolveCastDate makes DATE(x) and CAST(x AS DATE): the time of day is cut off.
func resolveCastDate(c *Call) error {
	c.T = TDate
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		r, err := castReading(env, v, "date")
		if err != nil || !r.OK() {
			return Null, err
		}
		return packedDate(r.DateTime), nil
	})
	return nil
}

// castReading reads a value for a cast to DATE or DATETIME (wanted as in dateFor). A fraction after a number that is a date is cut without a warning.
func castReading(env *Env, v Value, wanted string) (temporal.Reading, error) {
	if n, nanos, ok := numericSeconds(env, v); ok && nanos > 0 {
		r := temporal.FromNumber(n, 0, env.storeMode())
		if r.Kind == temporal.KindDate {
			return r, nil
		}
	}
	return dateFor(env, v, env.storeMode(), wanted)
}

// numericSeconds is secondsOf for values that are numbers.
func numericSeconds(env *Env, v Value) (int64, int32, bool) {
	switch v.kind {
	case KindFloat, KindDecimal:
		return secondsOf(env, v)
	}
	return 0, 0, false
}

// resolveCastDatetime makes TIMESTAMP(x) and CAST(x AS DATETIME(fsp)).
func resolveCastDatetime(c *Call, fsp int) error {
	c.T = TDatetime(fsp)
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		r, err := castReading(env, v, "datetime")
		if err != nil || !r.OK() {
			return Null, err
		}
		d, f := r.DateTime.Round(fsp, env.readMode())
		if f != 0 {
			return Null, overflow(env, "datetime")
		}
		return packedDatetime(d, fsp), nil
	})
	return nil
}

// resolveCastTime makes TIME(x) and CAST(x AS TIME(fsp)).
func resolveCastTime(c *Call, fsp int) error {
	c.T = TTime(fsp)
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		r, err := timeOf(env, v)
		if err != nil || !r.OK() {
			return Null, err
		}
		return roundedTime(env, r.Duration, fsp), nil
	})
	return nil
}

// overflow is warning 1441: the result of an operation on dates is out of range, and NULL.
func overflow(env *Env, what string) error {
	return env.StrictOrWarn(1441, "22008", "Datetime function: %s field overflow", what)
}

// resolveCastTemporal makes CAST(x AS DATE), DATETIME(n), TIME(n) and YEAR.
func resolveCastTemporal(c *Call, to Type) error {
	switch to.Name {
	case DateType:
		return resolveCastDate(c)
	case DatetimeType, TimestampType:
		return resolveCastDatetime(c, to.Scale)
	case TimeType:
		return resolveCastTime(c, to.Scale)
	case YearType:
		return resolveCastYear(c, to)
	}
	return Errorf(1235, "42000", "This version of Longitude doesn't yet support '%s'", c.Text)
}

// resolveCastYear makes CAST(x AS YEAR): dates give their year, a TIME that of the current date; numbers and texts are years of two
// or four digits. What is no year is NULL, with a warning.
func resolveCastYear(c *Call, to Type) error {
	c.T = to
	c.T.Unsigned, c.T.Length, c.T.Collation, c.T.Coerc = true, 4, BinaryCollation, Numeric
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		var year int
		var f temporal.Faults
		switch v.kind {
		case KindDate, KindDatetime, KindTime:
			r, err := dateOf(env, v, anyDate)
			if err != nil || !r.OK() {
				return Null, err
			}
			year, f = temporal.YearFromInt(int64(r.DateTime.Year()))
		case KindText, KindBytes:
			whole, _, fraction := strings.Cut(v.s, ".")
			if year, f = temporal.ParseYear(whole); fraction { // the fraction does not round
				f |= temporal.Truncated
			}
			if f&temporal.OutOfRange == 0 && f != 0 && year == 0 && !strings.HasPrefix(v.s, "0") || strings.HasPrefix(strings.TrimLeft(v.s, " "), "-") && f != 0 {
				return Null, env.StrictOrWarn(1525, "HY000", "Incorrect YEAR value: '%s'", clip(v.s))
			}
			if year == 0 { // '0000'
				year = 2000
			}
			if strings.TrimRight(v.s, " ") != v.s {
				f |= temporal.Truncated
			}
		default:
			n, _, err := ToInt(env, v) // of an unsigned number the bits count, as if it had a sign
			if err != nil {
				return Null, err
			}
			if year, f = temporal.YearFromInt(n); f != 0 {
				return Null, env.StrictOrWarn(1292, "22007", "Truncated incorrect YEAR value: '%d'", n)
			}
		}
		if f == 0 {
			return Uint(uint64(year)), nil
		}
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		if v.kind == KindDate || v.kind == KindDatetime {
			s, _, _ = strings.Cut(s, "-")
		}
		if err := env.StrictOrWarn(1292, "22007", "Truncated incorrect YEAR value: '%s'", clip(s)); err != nil {
			return Null, err
		}
		if f&temporal.OutOfRange != 0 || year == 0 {
			return Null, nil
		}
		return Uint(uint64(year)), nil
	})
	return nil
}

// resolveTimestamp makes TIMESTAMP(x) and TIMESTAMP(x, time).
func resolveTimestamp(c *Call) error {
	if len(c.Args) == 1 {
		return resolveCastDatetime(c, timeDigits(c.Args[0], false))
	}
	return resolveAddTime(c, "timestamp", false)
}

// resolvePeriod makes PERIOD_ADD and PERIOD_DIFF.
func resolvePeriod(fn func(a, b int64) int64, both bool) func(*Call) error {
	return func(c *Call) error {
		c.T = intOf(6)
		c.Fn = strict2(func(env *Env, c *Call, a, b Value) (Value, error) {
			p, _, err := ToInt(env, a)
			if err != nil {
				return Null, err
			}
			q, _, err := ToInt(env, b)
			if err != nil {
				return Null, err
			}
			if !temporal.ValidPeriod(p) || both && !temporal.ValidPeriod(q) {
				return Null, Errorf(1210, "HY000", "Incorrect arguments to %s", c.Name)
			}
			return Int(fn(p, q)), nil
		})
		return nil
	}
}

// resolveGetFormat makes GET_FORMAT; its first argument is the type's name.
func resolveGetFormat(c *Call) error {
	l, ok := c.Args[0].(*Lit)
	if !ok {
		return Errorf(1064, "42000", "GET_FORMAT needs DATE, TIME or DATETIME")
	}
	kind := temporal.KindDateTime
	switch strings.ToLower(l.V.s) {
	case "date":
		kind = temporal.KindDate
	case "time":
		kind = temporal.KindTime
	}
	c.T = TText(17, DefaultCollation, Coercible)
	c.Fn = func(env *Env, c *Call) (Value, error) {
		v, err := c.Arg(env, 1)
		if err != nil || v.IsNull() {
			return Null, err
		}
		name, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		if f, ok := temporal.GetFormat(kind, name); ok {
			return Text(f), nil
		}
		return Null, nil
	}
	return nil
}

// resolveTypedLiteral makes DATE'…', TIME'…' and TIMESTAMP'…', whose text must be of that form and whole (1525).
func resolveTypedLiteral(kind Kind) func(*Call) error {
	return func(c *Call) error {
		l, ok := c.Args[0].(*Lit)
		if !ok {
			return Errorf(1064, "42000", "a literal of a date or time needs a text")
		}
		s := l.V.s
		read := func(mode temporal.Mode) temporal.Reading {
			if kind == KindTime {
				return temporal.ParseTime(s, mode)
			}
			return temporal.ParseDateTime(s, mode)
		}
		name, want := "DATE", temporal.KindDate
		switch kind {
		case KindTime:
			name, want = "TIME", temporal.KindTime
		case KindDatetime:
			name, want = "DATETIME", temporal.KindDateTime
		}
		bad := Errorf(1525, "HY000", "Incorrect %s value: '%s'", name, clip(s))
		r := read(temporal.ZeroParts | temporal.InvalidDates)
		if r.Kind != want || r.Faults != 0 {
			return bad
		}
		c.T = temporalType(kind, r.FSP)
		c.Fn = func(env *Env, _ *Call) (Value, error) {
			r := read(env.storeMode()).ToZone(env.zone())
			switch {
			case r.Kind != want:
				return Null, bad
			case kind == KindTime:
				return packedTime(r.Duration, c.T.Scale), nil
			case kind == KindDate:
				return packedDate(r.DateTime), nil
			}
			return packedDatetime(r.DateTime, c.T.Scale), nil
		}
		return nil
	}
}
