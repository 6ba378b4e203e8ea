package expr

import (
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Arithmetic with dates and times: intervals, sums of times, differences.

func init() {
	register(
		&Func{Name: "date_add", Min: 2, Max: 2, Resolve: resolveAddInterval(false)},
		&Func{Name: "date_sub", Min: 2, Max: 2, Resolve: resolveAddInterval(true)},
		&Func{Name: "adddate", Min: 2, Max: 2, Resolve: resolveAddInterval(false)},
		&Func{Name: "subdate", Min: 2, Max: 2, Resolve: resolveAddInterval(true)},
		&Func{Name: "addtime", Min: 2, Max: 2, Resolve: func(c *Call) error { return resolveAddTime(c, "addtime", false) }},
		&Func{Name: "subtime", Min: 2, Max: 2, Resolve: func(c *Call) error { return resolveAddTime(c, "subtime", true) }},
		&Func{Name: "timediff", Min: 2, Max: 2, Resolve: resolveTimediff},
		&Func{Name: "datediff", Min: 2, Max: 2, Resolve: resolveDateDiff(intOf(7), "date", func(a, b temporal.DateTime) int64 {
			return int64(temporal.DateDiff(a, b))
		})},
		&Func{Name: "timestampdiff", Min: 2, Max: 2, Resolve: resolveTimestampDiff},
	)
}

// datetimeText is the type of what is a date or a datetime only when it is evaluated.
var datetimeText = TText(29, DefaultCollation, Coercible)

// resolveAddInterval makes DATE_ADD and DATE_SUB. The type follows that of the date: a DATE stays one unless hours or less are
// added, a TIME unless days or more are added, and what is no date by type gives a text.
func resolveAddInterval(sub bool) func(*Call) error {
	return func(c *Call) error {
		if c.Extra == nil {
			c.Extra = "DAY"
		}
		u, err := unitOf(c)
		if err != nil {
			return err
		}
		digits := 0
		switch {
		case u.HasMicros():
			digits = 6
		case u == temporal.UnitSecond:
			digits = digitsOf(c.ArgType(1))
		}
		t := c.ArgType(0)
		switch t.Kind() {
		case KindDatetime:
			c.T = TDatetime(max(t.Scale, digits))
		case KindDate:
			c.T = TDate
			if u.HasTime() {
				c.T = TDatetime(digits)
			}
		case KindTime:
			if !u.HasDate() {
				c.T = TTime(max(t.Scale, digits))
				c.Fn = addToTime(u, sub)
				return nil
			}
			c.T = TDatetime(max(t.Scale, digits))
		default:
			c.T = datetimeText
		}
		c.Fn = addToDate(u, sub)
		return nil
	}
}

func addToDate(u temporal.Unit, sub bool) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		date, err := c.Arg(env, 0)
		if err != nil || date.IsNull() {
			return Null, err
		}
		r, err := dateOf(env, date, realDate)
		if err != nil || !r.OK() {
			return Null, err
		}
		by, err := c.Arg(env, 1)
		if err != nil || by.IsNull() {
			return Null, err
		}
		i, fits, err := intervalOf(env, c.ArgType(1), by, u)
		switch {
		case err != nil:
			return Null, err
		case fits == noInterval && c.T.Kind() != KindDatetime:
			return Null, nil
		case fits != fitsWell:
			return Null, outsideOf(env, temporalName(c.T), c.Text)
		}
		if sub {
			i = i.Neg()
		}
		d, f := r.DateTime.Add(i, u)
		if f != 0 {
			if c.T.Kind() == KindDate {
				return Null, outsideOf(env, "DATE", c.Text)
			}
			return Null, overflow(env, "datetime")
		}
		switch c.T.Kind() {
		case KindDate:
			return packedDate(d), nil
		case KindDatetime:
			return packedDatetime(d, c.T.Scale), nil
		}
		if r.Kind == temporal.KindDate && !u.HasTime() {
			return Text(string(temporal.AppendDate(nil, d))).madeOf(packedDate(d)), nil
		}
		return datetimeAsText(d), nil
	}
}

// datetimeAsText is a datetime as the text that functions give which do not know before whether they give a date.
func datetimeAsText(d temporal.DateTime) Value {
	fsp := shownDigits(d.Micro())
	return Text(string(temporal.AppendDateTime(nil, d, fsp))).madeOf(packedDatetime(d, fsp))
}

// temporalName is DATE, TIME or DATETIME, as errors name the type of what is out of range.
func temporalName(t Type) string {
	switch t.Kind() {
	case KindDate:
		return "DATE"
	case KindTime:
		return "TIME"
	}
	return "DATETIME"
}

// shownDigits: a text that a datetime function gives has six digits of a fraction if it has one, else none.
func shownDigits(micro int) int {
	if micro != 0 {
		return 6
	}
	return 0
}

func addToTime(u temporal.Unit, sub bool) func(*Env, *Call) (Value, error) {
	return strict2(func(env *Env, c *Call, clock, by Value) (Value, error) {
		r, err := timeOf(env, clock)
		if err != nil || !r.OK() {
			return Null, err
		}
		i, fits, err := intervalOf(env, c.ArgType(1), by, u)
		if err != nil || fits == noInterval {
			return Null, err
		}
		if sub {
			i = i.Neg()
		}
		t, f := r.Duration.Add(i)
		if fits == beyond || f != 0 {
			return Null, outsideOf(env, "TIME", c.Text)
		}
		return packedTime(t, c.T.Scale), nil
	})
}

// fitting says whether a number of units is an interval.
type fitting uint8

const (
	fitsWell   fitting = iota
	noInterval         // it is too large for what MySQL holds an interval in: NULL without a warning
	beyond             // it is none, or no BIGINT: the result is out of range
)

// intervalOf reads how many units are added.
func intervalOf(env *Env, t Type, v Value, u temporal.Unit) (temporal.Interval, fitting, error) {
	fits := func(i temporal.Interval, ok bool) (temporal.Interval, fitting, error) {
		if !ok {
			return i, noInterval, nil
		}
		return i, fitsWell, nil
	}
	if u.IsComposite() {
		s, err := ToText(env, numberOf(v))
		if err != nil {
			return temporal.Interval{}, noInterval, err
		}
		i, ok := temporal.ParseInterval(s, u)
		if !ok {
			return i, beyond, nil
		}
		return i, fitsWell, nil
	}
	if u == temporal.UnitSecond && digitsOf(t) > 0 {
		n, nanos, ok := secondsOf(env, v)
		if !ok {
			warnBeyond(env, v)
			return temporal.Interval{}, beyond, nil
		}
		return fits(temporal.IntervalFromSeconds(n, nanos))
	}
	n, _, err := ToInt(env, v) // of an unsigned number the bits count, as if it had a sign
	if err != nil {
		return temporal.Interval{}, noInterval, err
	}
	return fits(temporal.IntervalFromInt(n, u))
}

// resolveAddTime makes ADDTIME, SUBTIME and TIMESTAMP with two arguments. A date by type, and everything in TIMESTAMP, gives a
// DATETIME, a TIME a TIME, and the others a text.
func resolveAddTime(c *Call, name string, sub bool) error {
	a := c.ArgType(0)
	asDate := a.HasDate() || name == "timestamp"
	switch {
	case asDate:
		c.T = TDatetime(max(timeDigits(c.Args[0], false), timeDigits(c.Args[1], true)))
	case a.Kind() == KindTime:
		c.T = TTime(max(digitsOf(a), timeDigits(c.Args[1], true)))
	default:
		c.T = datetimeText
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		first, err := c.Arg(env, 0)
		if err != nil || first.IsNull() {
			return Null, err
		}
		var r temporal.Reading
		switch {
		case asDate:
			r, err = dateOf(env, first, realDate)
		case a.Kind() == KindTime:
			r, err = timeOf(env, first)
		default:
			r, err = momentOf(env, first)
		}
		if err != nil || !r.OK() {
			return Null, err
		}
		second, err := c.Arg(env, 1)
		if err != nil || second.IsNull() {
			return Null, err
		}
		by, err := timeOf(env, second)
		if err != nil || !by.OK() {
			return Null, err
		}
		if sub {
			by.Duration = -by.Duration
		}
		if r.Kind == temporal.KindTime {
			return sumOfTimes(env, c, r.Duration, by.Duration)
		}
		if temporal.CheckDate(r.DateTime, temporal.ZeroParts|env.readMode()) != 0 { // 30 February
			s, err := ToText(env, first)
			if err != nil {
				return Null, err
			}
			kind := "datetime"
			if r.Kind == temporal.KindDate {
				kind = "date"
			}
			return Null, env.StrictOrWarn(1292, "22007", "Truncated incorrect %s value: '%s'", kind, clip(s))
		}
		d, f := r.DateTime.AddTime(by.Duration)
		if f != 0 {
			if f&temporal.Overflow != 0 {
				err = outsideOf(env, "DATETIME", c.Text)
			}
			return Null, err
		}
		if c.T.Kind() == KindDatetime {
			return roundedDatetime(env, d, c.T.Scale), nil
		}
		return datetimeAsText(d), nil
	}
	return nil
}

// smallNumber reports whether a value is a number with fewer digits than a date has.
func smallNumber(env *Env, v Value) bool {
	switch v.kind {
	case KindInt, KindUint, KindFloat, KindDecimal:
		n, _, ok := secondsOf(env, v)
		return ok && n < 10_000_000
	}
	return false
}

// plainYear is the number of a YEAR column: where times are added and subtracted it is no date.
func plainYear(v Value) Value {
	if v.IsYear() {
		return Uint(v.n)
	}
	return v
}

func roundedDatetime(env *Env, d temporal.DateTime, fsp int) Value {
	d, f := d.Round(fsp, env.readMode())
	if f != 0 {
		return Null
	}
	return packedDatetime(d, fsp)
}

// sumOfTimes adds two TIMEs. A sum that is too large is NULL with warning 6527; of texts and numbers it is cut to the largest TIME, with the same warning.
func sumOfTimes(env *Env, c *Call, a, b temporal.Duration) (Value, error) {
	sum, f := a.AddTime(b)
	if f != 0 {
		if err := outsideOf(env, "TIME", c.Text); err != nil || c.T.Kind() == KindTime {
			return Null, err
		}
	}
	if c.T.Kind() == KindTime {
		return roundedTime(env, sum, c.T.Scale), nil
	}
	fsp := shownDigits(sum.Micro())
	return Text(string(temporal.AppendTime(nil, sum, fsp))).madeOf(packedTime(sum, fsp)), nil
}

// resolveTimediff makes TIMEDIFF: of two times or of two datetimes; NULL if they are not of one kind.
func resolveTimediff(c *Call) error {
	a, b := c.ArgType(0), c.ArgType(1)
	asDate := a.HasDate() || b.HasDate()
	c.T = TTime(max(timeDigits(c.Args[0], !asDate), timeDigits(c.Args[1], !asDate)))
	c.Fn = func(env *Env, c *Call) (Value, error) {
		var rs [2]temporal.Reading
		for i := range rs {
			v, err := c.Arg(env, i)
			if err != nil || v.IsNull() {
				return Null, err
			}
			if rs[i], err = momentOf(env, v); err != nil || !rs[i].OK() {
				return Null, err
			}
		}
		r, s := rs[0], rs[1]
		if (r.Kind == temporal.KindTime) != (s.Kind == temporal.KindTime) {
			return Null, nil
		}
		var t, whole temporal.Duration
		var f temporal.Faults
		if r.Kind == temporal.KindTime {
			t, f = r.Duration.Sub(s.Duration)
			whole = r.Duration - s.Duration
		} else {
			t, f = r.DateTime.Sub(s.DateTime)
			whole = r.DateTime.Since(s.DateTime)
		}
		if f != 0 {
			if err := warnTime(env, string(temporal.AppendTime(nil, whole, c.T.Scale))); err != nil {
				return Null, err
			}
		}
		return roundedTime(env, t, c.T.Scale), nil
	}
	return nil
}

// resolveDateDiff makes functions of two dates that give a whole number; wanted is as in resolveDate.
func resolveDateDiff(t Type, wanted string, fn func(a, b temporal.DateTime) int64) func(*Call) error {
	return func(c *Call) error {
		c.T = t
		c.Fn = func(env *Env, c *Call) (Value, error) {
			var rs [2]temporal.Reading
			for i := range rs {
				v, err := c.Arg(env, i)
				if err == nil && !v.IsNull() {
					rs[i], err = dateFor(env, v, realDate, wanted)
				}
				if err != nil || !rs[i].OK() && wanted == "datetime" { // DATEDIFF looks at both dates in any case
					return Null, err
				}
			}
			if !rs[0].OK() || !rs[1].OK() {
				return Null, nil
			}
			return Int(fn(rs[0].DateTime, rs[1].DateTime)), nil
		}
		return nil
	}
}

func resolveTimestampDiff(c *Call) error {
	u, err := unitOf(c)
	if err != nil {
		return err
	}
	if u.IsComposite() {
		return Errorf(1064, "42000", "TIMESTAMPDIFF takes no unit %s", u)
	}
	return resolveDateDiff(TInt, "datetime", func(a, b temporal.DateTime) int64 { return temporal.TimestampDiff(u, a, b) })(c)
}
