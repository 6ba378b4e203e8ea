package expr

import "github.com/longitude-db/longitude/internal/sql/temporal"

// Parts of dates and times: YEAR to MICROSECOND, weeks, names, EXTRACT, LAST_DAY.

func init() {
	register(
		calendarPart("year", tYear, func(d temporal.DateTime) Value { return Uint(uint64(d.Year())) }),
		calendarPart("month", intOf(2), func(d temporal.DateTime) Value { return Int(int64(d.Month())) }),
		calendarPart("day", intOf(2), func(d temporal.DateTime) Value { return Int(int64(d.Day())) }),
		calendarPart("dayofmonth", intOf(2), func(d temporal.DateTime) Value { return Int(int64(d.Day())) }),
		calendarPart("quarter", intOf(1), func(d temporal.DateTime) Value { return Int(int64(temporal.Quarter(d))) }),
		datePart("dayofyear", 3, realDate, temporal.DayOfYear),
		datePart("to_days", 7, realDate, temporal.DayNumber),
		datePart("weekday", 1, realDate, temporal.Weekday),
		datePart("dayofweek", 1, realDate, func(d temporal.DateTime) int { return (temporal.Weekday(d)+1)%7 + 1 }),
		datePart("weekofyear", 2, realDate, func(d temporal.DateTime) int { week, _ := temporal.Week(d, 3); return week }),
		timePart("hour", 3, temporal.Duration.Hour),
		timePart("minute", 2, temporal.Duration.Minute),
		timePart("second", 2, temporal.Duration.Second),
		timePart("microsecond", 6, temporal.Duration.Micro),
		&Func{Name: "to_seconds", Min: 1, Max: 1, Resolve: resolveDate(TInt, realDate, "datetime", func(_ *Env, d temporal.DateTime) Value {
			return Int(temporal.ToSeconds(d))
		})},
		&Func{Name: "time_to_sec", Min: 1, Max: 1, Resolve: resolveTime(TInt, func(_ *Env, t temporal.Duration) Value {
			return Int(temporal.TimeToSec(t))
		})},
		&Func{Name: "last_day", Min: 1, Max: 1, Resolve: func(c *Call) error {
			c.T = TDate
			c.Fn = strict1(evalLastDay)
			return nil
		}},
		&Func{Name: "dayname", Min: 1, Max: 1, Resolve: resolveDate(nameType, realDate, "date", func(_ *Env, d temporal.DateTime) Value {
			return Text(temporal.DayName(d))
		})},
		calendarPart("monthname", nameType, func(d temporal.DateTime) Value {
			if name, ok := temporal.MonthName(d); ok {
				return Text(name)
			}
			return Null
		}),
		&Func{Name: "week", Min: 1, Max: 2, Resolve: resolveWeek(func(env *Env) int { return env.DefaultWeekFormat },
			func(d temporal.DateTime, mode int) int { week, _ := temporal.Week(d, mode); return week })},
		&Func{Name: "yearweek", Min: 1, Max: 2, Resolve: resolveWeek(func(*Env) int { return 0 }, temporal.YearWeek)},
		&Func{Name: "extract", Min: 1, Max: 1, Resolve: resolveExtract},
	)
}

// nameType is the type of names of days and months.
var nameType = TText(9, DefaultCollation, Coercible)

// intOf is a BIGINT of so many digits.
func intOf(digits int) Type {
	t := TInt
	t.Length = digits + 1
	return t
}

// tYear is the type of what YEAR and CAST AS YEAR give.
var tYear = Type{Name: YearType, Unsigned: true, Length: 4, Collation: BinaryCollation, Coerc: Numeric}

// calendarPart is YEAR, MONTH, MONTHNAME, DAY or QUARTER: also of dates with zero parts, and, as MySQL 9 has it, of numbers below 101, which are days of the
// month 0 of 2000 (MySQL 8.0 takes them for no dates).
func calendarPart(name string, t Type, part func(temporal.DateTime) Value) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Resolve: func(c *Call) error {
		c.T = t
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			if d, ok := smallDate(env, v); ok {
				return part(d), nil
			}
			r, err := dayOf(env, v, anyDate)
			if err != nil || !r.OK() {
				return Null, err
			}
			return part(r.DateTime), nil
		})
		return nil
	}}
}

// evalLastDay is LAST_DAY, which a date without a month has not.
func evalLastDay(env *Env, _ *Call, v Value) (Value, error) {
	d, ok := smallDate(env, v)
	if !ok {
		r, err := dayOf(env, v, anyDate)
		if err != nil || !r.OK() {
			return Null, err
		}
		d = r.DateTime
	}
	if last, ok := temporal.LastDay(d); ok {
		return packedDate(last), nil
	}
	return Null, env.StrictOrWarn(1292, "22007", "Truncated incorrect date value: '%s'", string(temporal.AppendDate(nil, d)))
}

// smallDate is a number from 0 to 100 as YEAR and GREATEST read it.
func smallDate(env *Env, v Value) (temporal.DateTime, bool) {
	switch v.kind {
	case KindInt, KindUint, KindFloat, KindDecimal:
		if n, _, ok := secondsOf(env, v); ok && !v.IsYear() && (n >= 0 && n <= 31 || n == 100) {
			return temporal.Date(2000, int(n/100), int(n%100)), true
		}
	}
	return 0, false
}

func datePart(name string, digits int, mode temporal.Mode, part func(temporal.DateTime) int) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Resolve: resolveDate(intOf(digits), mode, "date", func(_ *Env, d temporal.DateTime) Value {
		return Int(int64(part(d)))
	})}
}

func timePart(name string, digits int, part func(temporal.Duration) int) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Resolve: resolveTime(intOf(digits), func(_ *Env, t temporal.Duration) Value {
		return Int(int64(part(t)))
	})}
}

// resolveDate makes a function of one date; wanted is "date" or "datetime".
func resolveDate(t Type, mode temporal.Mode, wanted string, fn func(*Env, temporal.DateTime) Value) func(*Call) error {
	return func(c *Call) error {
		c.T = t
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			r, err := dateFor(env, v, mode, wanted)
			if err != nil || !r.OK() {
				return Null, err
			}
			return fn(env, r.DateTime), nil
		})
		return nil
	}
}

// resolveTime makes a function of one time.
func resolveTime(t Type, fn func(*Env, temporal.Duration) Value) func(*Call) error {
	return func(c *Call) error {
		c.T = t
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			r, err := timeOf(env, v)
			if err != nil || !r.OK() {
				return Null, err
			}
			return fn(env, r.Duration), nil
		})
		return nil
	}
}

// resolveWeek makes WEEK and YEARWEEK, whose second argument is the mode.
func resolveWeek(missing func(*Env) int, fn func(d temporal.DateTime, mode int) int) func(*Call) error {
	return func(c *Call) error {
		c.T = intOf(6)
		c.Fn = func(env *Env, c *Call) (Value, error) {
			v, err := c.Arg(env, 0)
			if err != nil || v.IsNull() {
				return Null, err
			}
			r, err := dayOf(env, v, realDate)
			if err != nil || !r.OK() {
				return Null, err
			}
			mode := missing(env)
			if len(c.Args) > 1 {
				m, err := c.Arg(env, 1)
				if err != nil {
					return Null, err
				}
				mode = 0
				if !m.IsNull() {
					n, _, err := ToInt(env, m)
					if err != nil {
						return Null, err
					}
					mode = int(n & 7)
				}
			}
			return Int(int64(fn(r.DateTime, mode))), nil
		}
		return nil
	}
}

// unitOf is the unit that the syntax of a call gives.
func unitOf(c *Call) (temporal.Unit, error) {
	name, _ := c.Extra.(string)
	u, ok := temporal.ParseUnit(name)
	if !ok {
		return u, Errorf(1064, "42000", "'%s' is no unit of time", name)
	}
	return u, nil
}

// resolveExtract makes EXTRACT. Units of days and more need a date, the others a time; a text of date and time is both.
func resolveExtract(c *Call) error {
	u, err := unitOf(c)
	if err != nil {
		return err
	}
	c.T = TInt
	if !u.HasTime() {
		return resolveDate(TInt, anyDate, "datetime", func(env *Env, d temporal.DateTime) Value {
			return Int(temporal.ExtractDate(u, d, env.DefaultWeekFormat))
		})(c)
	}
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		if v.kind == KindDate || v.kind == KindDatetime {
			return Int(temporal.ExtractDate(u, temporal.DateTime(v.n), 0)), nil
		}
		r, err := timeOf(env, v)
		if err != nil || !r.OK() {
			return Null, err
		}
		if r.Kind == temporal.KindTime {
			return Int(temporal.ExtractTime(u, r.Duration)), nil
		}
		return Int(temporal.ExtractDate(u, r.DateTime, 0)), nil
	})
	return nil
}
