package expr

import (
	"hash/crc32"
	"math"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// The numeric functions of the manual (Mathematical Functions) that keep the kind of their argument, and CRC32 and CONV.

func init() {
	register(
		&Func{Name: "abs", Min: 1, Max: 1, Resolve: resolveAbs},
		&Func{Name: "ceil", Min: 1, Max: 1, Resolve: resolveWhole(true)},
		&Func{Name: "ceiling", Min: 1, Max: 1, Resolve: resolveWhole(true)},
		&Func{Name: "floor", Min: 1, Max: 1, Resolve: resolveWhole(false)},
		&Func{Name: "round", Min: 1, Max: 2, Resolve: resolveRound(false)},
		&Func{Name: "truncate", Min: 2, Max: 2, Resolve: resolveRound(true)},
		&Func{Name: "sign", Min: 1, Max: 1, Resolve: resolveSign},
		&Func{Name: "crc32", Min: 1, Max: 1, Resolve: resolveCRC32},
		&Func{Name: "conv", Min: 3, Max: 3, Resolve: resolveConv},
	)
}

func resolveAbs(c *Call) error {
	t := unaryType(c.Args[0])
	switch arithmeticOf(t) {
	case withInt:
		unsigned := isUnsigned(t)
		c.T = intType(unsigned)
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			i, err := integer(env, v)
			if err != nil {
				return Null, err
			}
			a, ok := number.AbsInt(i)
			if !ok {
				return Null, ErrOutOfRange("BIGINT", c.Text)
			}
			a.Unsigned = unsigned
			return intValue(a), nil
		})
	case withDecimal:
		s := specOf(t)
		c.T = decimalType(s)
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			d, err := ToDecimal(env, v)
			if err != nil {
				return Null, err
			}
			return decimalShown(number.Abs(d), s.Scale), nil
		})
	default:
		c.T = TFloat
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			f, err := ToFloat(env, v)
			return calculated(c, math.Abs(f)), err
		})
	}
	return nil
}

// bigintDigits is how many digits a whole number may have to be given as BIGINT by CEIL and FLOOR.
const bigintDigits = 18

// resolveWhole makes CEIL and FLOOR. A decimal becomes a BIGINT if that surely holds it.
func resolveWhole(up bool) func(*Call) error {
	return func(c *Call) error {
		t := unaryType(c.Args[0])
		s := specOf(t)
		switch how := arithmeticOf(t); {
		case how == withInt:
			unsigned := isUnsigned(t)
			c.T = intType(unsigned)
			c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
				i, err := integer(env, v)
				i.Unsigned = unsigned
				return intValue(i), err
			})
		case how == withDecimal:
			wide := s.Precision-s.Scale+min(1, s.Scale) > bigintDigits
			if c.T = TInt; wide {
				c.T = TDecimal(s.Precision-s.Scale+min(1, s.Scale), 0)
			}
			c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
				d, err := ToDecimal(env, v)
				if err != nil {
					return Null, err
				}
				if up {
					d = number.Ceil(d)
				} else {
					d = number.Floor(d)
				}
				if wide {
					return Decimal(d), nil
				}
				n, over := number.ToInt64(d)
				if over != number.InRange {
					return Null, ErrOutOfRange("BIGINT", c.Text)
				}
				return Int(n), nil
			})
		default:
			c.T = TFloat
			c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
				f, err := ToFloat(env, v)
				if err != nil {
					return Null, err
				}
				if up {
					return calculated(c, math.Ceil(f)), nil
				}
				return calculated(c, math.Floor(f)), nil
			})
		}
		return nil
	}
}

// resolveRound makes ROUND and TRUNCATE. A constant number of places is part of the result's type.
func resolveRound(truncate bool) func(*Call) error {
	return func(c *Call) error {
		t := unaryType(c.Args[0])
		places, constant := int64(0), true
		if len(c.Args) == 2 {
			places, constant = constantPlaces(c.Args[1])
		}
		evaluate := func(fn func(env *Env, v Value, places int64) (Value, error)) {
			c.Fn = func(env *Env, c *Call) (Value, error) {
				v, err := c.Arg(env, 0)
				if err == nil && v.kind == KindText { // it warns also if the places are NULL
					var f float64
					if f, err = ToFloat(env, v); err == nil {
						v = Float(f)
					}
				}
				if err != nil || v.IsNull() {
					return Null, err
				}
				p := int64(0)
				if len(c.Args) == 2 {
					w, err := c.Arg(env, 1)
					if err != nil || w.IsNull() {
						return Null, err
					}
					if p, err = placesOf(env, w); err != nil {
						return Null, err
					}
				}
				return fn(env, v, p)
			}
		}
		switch arithmeticOf(t) {
		case withInt:
			unsigned := isUnsigned(t)
			c.T = intType(unsigned)
			evaluate(func(env *Env, v Value, places int64) (Value, error) {
				i, err := integer(env, v)
				if err != nil {
					return Null, err
				}
				i.Unsigned = unsigned
				r, ok := number.RoundInt(i, places, truncate)
				if !ok {
					return Null, ErrOutOfRange(intKind(unsigned), c.Text)
				}
				return intValue(r), nil
			})
		case withDecimal:
			s := specOf(t)
			if constant {
				s = number.RoundSpec(s, int(min(max(places, -number.MaxPrecision), int64(s.Scale))), truncate)
			}
			c.T = decimalType(s)
			evaluate(func(env *Env, v Value, places int64) (Value, error) {
				d, err := ToDecimal(env, v)
				if err != nil {
					return Null, err
				}
				at := int(max(-2*number.MaxPrecision, min(places, int64(s.Scale))))
				if truncate {
					return decimalShown(number.Truncate(d, at), s.Scale), nil
				}
				return decimalShown(number.Round(d, at), s.Scale), nil
			})
		default:
			c.T = TFloat
			evaluate(func(env *Env, v Value, places int64) (Value, error) {
				f, err := ToFloat(env, v)
				if err != nil {
					return Null, err
				}
				if truncate {
					f = number.TruncateDouble(f, places)
				} else {
					f = number.RoundDouble(f, places)
				}
				return calculated(c, f), nil
			})
		}
		return nil
	}
}

// constantPlaces is a number of places that is written as a literal.
func constantPlaces(n Node) (places int64, ok bool) {
	var v Value
	switch n := n.(type) {
	case *Lit:
		v = n.V
	case *Call:
		if n.Name != "neg" {
			return 0, false
		}
		if _, literal := n.Args[0].(*Lit); !literal {
			return 0, false
		}
		var err error
		if v, err = n.Fn(&Env{}, n); err != nil {
			return 0, false
		}
	}
	if v.IsNull() {
		return 0, false
	}
	p, err := placesOf(&Env{}, v)
	return p, err == nil
}

// placesOf is a number of places: an unsigned one beyond the range of BIGINT is large, not negative.
func placesOf(env *Env, v Value) (int64, error) {
	n, unsigned, err := ToInt(env, v)
	if unsigned && n < 0 {
		n = math.MaxInt64
	}
	return n, err
}

func resolveSign(c *Call) error {
	c.T = TInt
	exact := arithmeticOf(numericType(c.Args[0])) != withFloat
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		if exact {
			d, err := ToDecimal(env, v)
			if err != nil {
				return Null, err
			}
			return Int(int64(number.Sign(d))), nil
		}
		f, err := ToFloat(env, v)
		switch {
		case f > 0:
			return Int(1), err
		case f < 0:
			return Int(-1), err
		}
		return Int(0), err
	})
	return nil
}

func resolveCRC32(c *Call) error {
	c.T = TUint
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		s, err := ToText(env, v)
		return Uint(uint64(crc32.ChecksumIEEE([]byte(s)))), err
	})
	return nil
}

func resolveConv(c *Call) error {
	c.T = TText(65, DefaultCollation, Coercible)
	c.Fn = strict(func(env *Env, c *Call, args []Value) (Value, error) {
		from, err := placesOf(env, args[1])
		if err != nil {
			return Null, err
		}
		to, err := placesOf(env, args[2])
		if err != nil {
			return Null, err
		}
		return convert(env, args[0], from, to)
	})
	return nil
}

// convert is CONV(v, from, to): v not NULL.
func convert(env *Env, v Value, from, to int64) (Value, error) {
	var s string
	var err error
	switch {
	case v.kind == KindBit && v.s == "":
		return Null, nil
	case v.kind == KindBit: // its number, not its bytes
		s, from = number.Text(number.FromUint64(v.n)), 10
	default:
		if s, err = ToText(env, v); err != nil {
			return Null, err
		}
	}
	out, clean, ok := number.Conv(s, from, to)
	if !ok {
		return Null, nil
	}
	if !clean {
		env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", s)
	}
	return Text(out), nil
}
