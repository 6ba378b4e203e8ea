package expr

import "github.com/longitude-db/longitude/internal/sql/temporal"

// Parts of dates and times: YEAR to MICROSECOND, weeks, names, EXTRACT, LAST_DAY.

func init() {
	register(
		datePart("year", 4, anyDate, temporal.DateTime.Year),
		datePart("month", 2, anyDate, temporal.DateTime.Month),
		datePart("day", 2, anyDate, temporal.DateTime.Day),
		datePart("dayofmonth", 2, anyDate, temporal.DateTime.Day),
		datePart("quarter", 1, anyDate, temporal.Quarter),
		datePart("dayofyear", 3, realDate, temporal.DayOfYear),
		datePart("to_days", 7, realDate, temporal.DayNumber),
		datePart("weekday", 1, realDate, temporal.Weekday),
		datePart("dayofweek", 1, realDate, func(d temporal.DateTime) int { return (temporal.Weekday(d)+1)%7 + 1 }),
		datePart("weekofyear", 2, realDate, func(d temporal.DateTime) int { week, _ := temporal.Week(d, 3); return week }),
		timePart("hour", 3, temporal.Duration.Hour),
		timePart("minute", 2, temporal.Duration.Minute),
		timePart("second", 2, temporal.Duration.Second),
		timePart("microsecond", 6, temporal.Duration.Micro),
		&Func{Name: "to_seconds", Min: 1, Max: 1, Resolve: resolveDate(TInt, realDate, func(_ *Env, d temporal.DateTime) Value {
			return Int(temporal.ToSeconds(d))
		})},
		&Func{Name: "time_to_sec", Min: 1, Max: 1, Resolve: resolveTime(TInt, func(_ *Env, t temporal.Duration) Value {
			return Int(temporal.TimeToSec(t))
		})},
		&Func{Name: "last_day", Min: 1, Max: 1, Resolve: resolveDate(TDate, anyDate, func(_ *Env, d temporal.DateTime) Value {
			if last, ok := temporal.LastDay(d); ok {
				return packedDate(last)
			}
			return Null
		})},
		&Func{Name: "dayname", Min: 1, Max: 1, Resolve: resolveDate(nameType, realDate, func(_ *Env, d temporal.DateTime) Value {
			return Text(temporal.DayName(d))
		})},
		&Func{Name: "monthname", Min: 1, Max: 1, Resolve: resolveDate(nameType, anyDate, func(_ *Env, d temporal.DateTime) Value {
			if name, ok := temporal.MonthName(d); ok {
				return Text(name)
			}
			return Null
		})},
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

func datePart(name string, digits int, mode temporal.Mode, part func(temporal.DateTime) int) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Resolve: resolveDate(intOf(digits), mode, func(_ *Env, d temporal.DateTime) Value {
		return Int(int64(part(d)))
	})}
}

func timePart(name string, digits int, part func(temporal.Duration) int) *Func {
	return &Func{Name: name, Min: 1, Max: 1, Resolve: resolveTime(intOf(digits), func(_ *Env, t temporal.Duration) Value {
		return Int(int64(part(t)))
	})}
}

// resolveDate makes a function of one date.
func resolveDate(t Type, mode temporal.Mode, fn func(*Env, temporal.DateTime) Value) func(*Call) error {
	return func(c *Call) error {
		c.T = t
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			r, err := dateOf(env, v, mode)
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
			r, err := dateOf(env, v, realDate)
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
		return resolveDate(TInt, anyDate, func(env *Env, d temporal.DateTime) Value {
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
