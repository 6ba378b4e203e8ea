package expr

import "github.com/longitude-db/longitude/internal/sql/temporal"

// DATE_FORMAT, TIME_FORMAT, STR_TO_DATE.

func init() {
	register(
		&Func{Name: "date_format", Min: 2, Max: 2, Resolve: resolveFormat(false)},
		&Func{Name: "time_format", Min: 2, Max: 2, Resolve: resolveFormat(true)},
		&Func{Name: "str_to_date", Min: 2, Max: 2, Resolve: resolveStrToDate},
	)
}

// formatType is the type of what is written by a format: it has the format's collation.
func formatType(format Node) Type {
	t := format.Type()
	if t.Kind() != KindText {
		t.Collation, t.Coerc = DefaultCollation, Coercible
	}
	length := -1
	if t.Length >= 0 && t.Length <= 1<<20 {
		length = 32 * t.Length // the longest names
	}
	return TText(length, t.Collation, t.Coerc)
}

// formatted bounds what a format makes (X4).
func formatted(env *Env, write func([]byte) ([]byte, bool)) (Value, error) {
	var buf [64]byte
	b, ok := write(buf[:0])
	if !ok {
		return Null, nil
	}
	if env.MaxPacket > 0 && len(b) > env.MaxPacket {
		return Null, env.StrictOrWarn(1301, "HY000", "Result of date_format() was larger than max_allowed_packet (%d) - truncated", env.MaxPacket)
	}
	return Text(string(b)), nil
}

func resolveFormat(asTime bool) func(*Call) error {
	return func(c *Call) error {
		c.T = formatType(c.Args[1])
		c.Fn = strict2(func(env *Env, _ *Call, v, format Value) (Value, error) {
			f, err := ToText(env, format)
			if err != nil {
				return Null, err
			}
			if asTime {
				r, err := momentOf(env, v)
				if err != nil || !r.OK() {
					return Null, err
				}
				if r.Kind != temporal.KindTime {
					return formatted(env, func(b []byte) ([]byte, bool) { return temporal.AppendFormat(b, r.DateTime, f) })
				}
				return formatted(env, func(b []byte) ([]byte, bool) { return temporal.AppendTimeFormat(b, r.Duration, f) })
			}
			r, err := dateOf(env, v, anyDate)
			if err != nil || !r.OK() {
				return Null, err
			}
			return formatted(env, func(b []byte) ([]byte, bool) { return temporal.AppendFormat(b, r.DateTime, f) })
		})
		return nil
	}
}

// resolveStrToDate makes STR_TO_DATE. A literal format decides whether it is a DATE, a TIME or a DATETIME; others give DATETIME(6).
func resolveStrToDate(c *Call) error {
	kind, fsp := temporal.KindDateTime, 6
	if l, ok := c.Args[1].(*Lit); ok && l.V.Kind() == KindText {
		kind, fsp = temporal.FormatKind(l.V.s)
	}
	name := "datetime"
	switch kind {
	case temporal.KindDate:
		c.T, name = TDate, "date"
	case temporal.KindTime:
		c.T, name = TTime(fsp), "time"
	default:
		c.T = TDatetime(fsp)
	}
	c.Fn = strict2(func(env *Env, _ *Call, v, format Value) (Value, error) {
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		f, err := ToText(env, format)
		if err != nil {
			return Null, err
		}
		r := temporal.StrToDate(s, f, kind, env.storeMode())
		if !r.OK() {
			return Null, env.StrictOrWarn(1411, "HY000", "Incorrect datetime value: '%s' for function str_to_date", clip(s))
		}
		if r.Faults != 0 {
			if err := env.StrictOrWarn(1292, "22007", "Truncated incorrect %s value: '%s'", name, clip(s)); err != nil {
				return Null, err
			}
		}
		switch kind {
		case temporal.KindDate:
			return packedDate(r.DateTime), nil
		case temporal.KindTime:
			return packedTime(r.Duration, fsp), nil
		}
		return packedDatetime(r.DateTime, fsp), nil
	})
	return nil
}
