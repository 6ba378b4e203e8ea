package expr

import (
	"strings"

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
		&Func{Name: "datediff", Min: 2, Max: 2, Resolve: resolveDateDiff(intOf(7), func(a, b temporal.DateTime) int64 {
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
	return strict2(func(env *Env, c *Call, date, by Value) (Value, error) {
		r, err := dateOf(env, date, realDate)
		if err != nil || !r.OK() {
			return Null, err
		}
		i, ok, err := intervalOf(env, c.ArgType(1), by, u)
		if err != nil {
			return Null, err
		}
		if !ok {
			return Null, outsideOf(env, "INTERVAL", c.Name)
		}
		if sub {
			i = i.Neg()
		}
		d, f := r.DateTime.Add(i, u)
		if f != 0 {
			return Null, overflow(env, "datetime")
		}
		switch c.T.Kind() {
		case KindDate:
			return packedDate(d), nil
		case KindDatetime:
			return packedDatetime(d, c.T.Scale), nil
		}
		if r.Kind == temporal.KindDate && !u.HasTime() {
			return Text(string(temporal.AppendDate(nil, d))), nil
		}
		return Text(string(temporal.AppendDateTime(nil, d, shownDigits(d.Micro())))), nil
	})
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
		i, ok, err := intervalOf(env, c.ArgType(1), by, u)
		if err != nil {
			return Null, err
		}
		if sub {
			i = i.Neg()
		}
		t, f := r.Duration.Add(i)
		if !ok || f != 0 {
			return Null, overflow(env, "time")
		}
		return packedTime(t, c.T.Scale), nil
	})
}

// intervalOf reads how many units are added; !ok: too many.
func intervalOf(env *Env, t Type, v Value, u temporal.Unit) (temporal.Interval, bool, error) {
	if u.IsComposite() {
		s, err := ToText(env, numberOf(v))
		if err != nil {
			return temporal.Interval{}, false, err
		}
		i, ok := temporal.ParseInterval(s, u)
		return i, ok, nil
	}
	if u == temporal.UnitSecond && digitsOf(t) > 0 {
		n, nanos, ok := secondsOf(env, v)
		if !ok {
			return temporal.Interval{}, false, nil
		}
		i, ok := temporal.IntervalFromSeconds(n, nanos)
		return i, ok, nil
	}
	n, _, err := ToInt(env, v) // of an unsigned number the bits count, as if it had a sign
	if err != nil {
		return temporal.Interval{}, false, err
	}
	i, ok := temporal.IntervalFromInt(n, u)
	return i, ok, nil
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
	c.Fn = strict2(func(env *Env, c *Call, first, second Value) (Value, error) {
		read := timeOf
		if asDate {
			read = func(env *Env, v Value) (temporal.Reading, error) { return dateOf(env, v, realDate) }
		}
		r, err := dateText(env, first), error(nil)
		if !r.OK() {
			r, err = read(env, plainYear(first))
		}
		if err != nil || !r.OK() {
			return Null, err
		}
		if name != "timestamp" {
			second = plainYear(second)
		}
		by, err := timeOf(env, second)
		if err != nil || by.Kind != temporal.KindTime {
			return Null, err
		}
		if sub {
			by.Duration = -by.Duration
		}
		if r.Kind == temporal.KindTime {
			return sumOfTimes(env, c.T, r.Duration, by.Duration)
		}
		d, f := r.DateTime.AddTime(by.Duration)
		if f != 0 {
			if f&temporal.Overflow != 0 {
				err = overflow(env, name)
			}
			return Null, err
		}
		if c.T.Kind() == KindDatetime {
			return roundedDatetime(env, d, c.T.Scale), nil
		}
		return Text(string(temporal.AppendDateTime(nil, d, shownDigits(d.Micro())))), nil
	})
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

// dateText reads a text that is a date, to which a time is added: ADDTIME('2024-02-09', 1) is a datetime. Not OK: it is none; texts with a colon
// before any blank are times.
func dateText(env *Env, v Value) temporal.Reading {
	head, _, _ := strings.Cut(strings.TrimLeft(v.s, " "), " ")
	if v.kind != KindText || strings.Contains(head, ":") || len(head) < 5 {
		return temporal.Reading{Faults: temporal.Truncated}
	}
	r := temporal.ParseDateTime(v.s, realDate|env.readMode()).ToZone(env.zone())
	if r.Faults != 0 {
		return temporal.Reading{Faults: temporal.Truncated}
	}
	r.Kind = temporal.KindDateTime
	return r
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

// sumOfTimes adds two TIMEs. A sum that is too large is NULL with warning 6527; of texts it is cut to the largest TIME, with 1292.
func sumOfTimes(env *Env, t Type, a, b temporal.Duration) (Value, error) {
	sum, f := a.AddTime(b)
	switch {
	case f != 0 && t.Kind() == KindTime:
		return Null, outsideOf(env, "TIME", "addtime")
	case f != 0:
		if err := warnTime(env, (a + b).String()); err != nil {
			return Null, err
		}
	}
	if t.Kind() == KindTime {
		return roundedTime(env, sum, t.Scale), nil
	}
	return Text(string(temporal.AppendTime(nil, sum, shownDigits(sum.Micro())))), nil
}

// resolveTimediff makes TIMEDIFF: of two TIMEs or of two datetimes; NULL if they are not of one kind.
func resolveTimediff(c *Call) error {
	a, b := c.ArgType(0), c.ArgType(1)
	asDate := a.HasDate() || b.HasDate()
	mixed := asDate && (a.Kind() == KindTime || b.Kind() == KindTime)
	c.T = TTime(max(timeDigits(c.Args[0], !asDate), timeDigits(c.Args[1], !asDate)))
	c.Fn = strict2(func(env *Env, c *Call, x, y Value) (Value, error) {
		if mixed {
			return Null, nil
		}
		read := timeOf
		if asDate {
			read = func(env *Env, v Value) (temporal.Reading, error) { return dateOf(env, v, anyDate) }
		}
		if asDate && (smallNumber(env, x) || smallNumber(env, y)) { // a TIME beside a date
			return Null, nil
		}
		r, err := read(env, plainYear(x))
		if err != nil || !r.OK() {
			return Null, err
		}
		s, err := read(env, plainYear(y))
		if err != nil || !s.OK() || (r.Kind == temporal.KindTime) != (s.Kind == temporal.KindTime) {
			return Null, err
		}
		var t temporal.Duration
		var f temporal.Faults
		if r.Kind == temporal.KindTime {
			t, f = r.Duration.Sub(s.Duration)
		} else {
			t, f = r.DateTime.Sub(s.DateTime)
		}
		if f != 0 {
			if err := warnTime(env, t.String()); err != nil {
				return Null, err
			}
		}
		return roundedTime(env, t, c.T.Scale), nil
	})
	return nil
}

// resolveDateDiff makes functions of two dates that give a whole number.
func resolveDateDiff(t Type, fn func(a, b temporal.DateTime) int64) func(*Call) error {
	return func(c *Call) error {
		c.T = t
		c.Fn = strict2(func(env *Env, _ *Call, a, b Value) (Value, error) {
			r, err := dateOf(env, a, realDate)
			if err != nil || !r.OK() {
				return Null, err
			}
			s, err := dateOf(env, b, realDate)
			if err != nil || !s.OK() {
				return Null, err
			}
			return Int(fn(r.DateTime, s.DateTime)), nil
		})
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
	return resolveDateDiff(TInt, func(a, b temporal.DateTime) int64 { return temporal.TimestampDiff(u, a, b) })(c)
}
