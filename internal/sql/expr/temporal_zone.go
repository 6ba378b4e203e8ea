package expr

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// UNIX_TIMESTAMP, FROM_UNIXTIME, CONVERT_TZ.

func init() {
	register(
		&Func{Name: "unix_timestamp", Max: 1, Resolve: resolveUnixTimestamp},
		&Func{Name: "from_unixtime", Min: 1, Max: 2, Resolve: resolveFromUnixtime},
		&Func{Name: "convert_tz", Min: 3, Max: 3, Resolve: resolveConvertTZ},
	)
}

// resolveUnixTimestamp makes UNIX_TIMESTAMP: a whole number, or a decimal if the argument has a fraction. What is no date, or out of
// range, is 0.
func resolveUnixTimestamp(c *Call) error {
	if len(c.Args) == 0 {
		c.T = intOf(11)
		c.Fn = func(env *Env, _ *Call) (Value, error) { return Int(env.Now.Unix()), nil }
		return nil
	}
	fsp := timeDigits(c.Args[0], false)
	c.T = intOf(11)
	if fsp > 0 {
		c.T = TDecimal(11+fsp, fsp)
	}
	c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
		r, err := dateOf(env, v, anyDate)
		if err != nil {
			return Null, err
		}
		var seconds int64
		var micro int
		if r.OK() {
			seconds, micro = env.zone().UnixTime(r.DateTime)
		}
		if fsp == 0 {
			return Int(seconds), nil
		}
		d := apd.New(seconds*1_000_000+int64(micro), -6)
		return Decimal(rescale(d, fsp)), nil
	})
	return nil
}

// resolveFromUnixtime makes FROM_UNIXTIME(seconds), and with a format DATE_FORMAT of that.
func resolveFromUnixtime(c *Call) error {
	fsp := digitsOf(numericType(c.Args[0]))
	at := func(env *Env, v Value) (temporal.DateTime, bool) {
		n, nanos, ok := secondsOf(env, v)
		if !ok {
			if v.kind != KindUint {
				warnBeyond(env, v)
			}
			return 0, false
		}
		if fsp == 0 {
			nanos = 0
		}
		return env.zone().FromUnixTime(n, nanos, env.readMode())
	}
	if len(c.Args) == 1 {
		c.T = TDatetime(fsp)
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			if d, ok := at(env, v); ok {
				return roundedDatetime(env, d, fsp), nil
			}
			return Null, nil
		})
		return nil
	}
	c.T = formatType(c.Args[1])
	c.Fn = strict2(func(env *Env, _ *Call, v, format Value) (Value, error) {
		f, err := ToText(env, format)
		if err != nil {
			return Null, err
		}
		d, ok := at(env, v)
		if !ok {
			return Null, nil
		}
		return formatted(env, func(b []byte) ([]byte, bool) { return temporal.AppendFormat(b, d, f) })
	})
	return nil
}

// resolveConvertTZ makes CONVERT_TZ. A zone that does not exist gives NULL.
func resolveConvertTZ(c *Call) error {
	fsp := timeDigits(c.Args[0], false)
	c.T = TDatetime(fsp)
	c.Fn = strict(func(env *Env, _ *Call, args []Value) (Value, error) {
		r, err := dateOf(env, args[0], realDate)
		if err != nil || !r.OK() {
			return Null, err
		}
		var zones [2]temporal.Zone
		for i := range zones {
			name, err := ToText(env, args[i+1])
			if err != nil {
				return Null, err
			}
			var ok bool
			if zones[i], ok = temporal.ParseZone(name, temporal.Zone{}); !ok {
				return Null, nil
			}
		}
		d, ok := temporal.Convert(r.DateTime, zones[0], zones[1])
		if !ok {
			return Null, nil
		}
		return roundedDatetime(env, d, fsp), nil
	})
	return nil
}
