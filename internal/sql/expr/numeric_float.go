package expr

import (
	"math"
	"math/rand/v2"
	"time"
)

// The functions that calculate with doubles.

func init() {
	for name, f := range map[string]func(float64) float64{
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "exp": math.Exp,
		"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
		"radians": func(x float64) float64 { return x * (math.Pi / 180) },
		"cot":     func(x float64) float64 { return 1 / math.Tan(x) },
	} {
		register(&Func{Name: name, Min: 1, Max: 1, Resolve: resolveFloat(f, nil)})
	}
	outside := func(x float64) bool { return x < -1 || x > 1 }
	register(
		&Func{Name: "sqrt", Min: 1, Max: 1, Resolve: resolveFloat(math.Sqrt, func(x float64) bool { return x < 0 })},
		&Func{Name: "asin", Min: 1, Max: 1, Resolve: resolveFloat(math.Asin, outside)},
		&Func{Name: "acos", Min: 1, Max: 1, Resolve: resolveFloat(math.Acos, outside)},
		&Func{Name: "ln", Min: 1, Max: 1, Resolve: resolveLog(math.Log)},
		&Func{Name: "log", Min: 1, Max: 2, Resolve: resolveLog(math.Log)},
		&Func{Name: "log2", Min: 1, Max: 1, Resolve: resolveLog(math.Log2)},
		&Func{Name: "log10", Min: 1, Max: 1, Resolve: resolveLog(math.Log10)},
		&Func{Name: "pow", Min: 2, Max: 2, Resolve: resolveFloat2(math.Pow)},
		&Func{Name: "power", Min: 2, Max: 2, Resolve: resolveFloat2(math.Pow)},
		&Func{Name: "atan2", Min: 1, Max: 2, Resolve: resolveAtan},
		&Func{Name: "atan", Min: 1, Max: 2, Resolve: resolveAtan},
		&Func{Name: "pi", Resolve: resolvePi},
		&Func{Name: "rand", Max: 1, Resolve: resolveRand},
	)
}

// resolveFloat makes a function of one double; undefined gives NULL, what is not finite 1690.
func resolveFloat(f func(float64) float64, undefined func(float64) bool) func(*Call) error {
	return func(c *Call) error {
		c.T = TFloat
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			x, err := ToFloat(env, v)
			if err != nil || undefined != nil && undefined(x) {
				return Null, err
			}
			return finite(c, f(x))
		})
		return nil
	}
}

// resolveFloat2 makes a function of two doubles: the first is made a number, and warns, before the second is evaluated.
func resolveFloat2(f func(x, y float64) float64) func(*Call) error {
	return func(c *Call) error {
		c.T = TFloat
		c.Fn = func(env *Env, c *Call) (Value, error) {
			x, known, err := c.floatArg(env, 0)
			if err != nil || !known {
				return Null, err
			}
			y, known, err := c.floatArg(env, 1)
			if err != nil || !known {
				return Null, err
			}
			return finite(c, f(x, y))
		}
		return nil
	}
}

func resolveAtan(c *Call) error {
	if len(c.Args) == 2 {
		return resolveFloat2(math.Atan2)(c)
	}
	return resolveFloat(math.Atan, nil)(c)
}

// resolveLog makes the logarithms. LOG(b, x) is that of x to the base b. Of what has none they give NULL, with warning 3020.
func resolveLog(f func(float64) float64) func(*Call) error {
	return func(c *Call) error {
		c.T = TFloat
		c.Fn = func(env *Env, c *Call) (Value, error) {
			var x [2]float64
			for i := range c.Args {
				var known bool
				var err error
				if x[i], known, err = c.floatArg(env, i); err != nil || !known {
					return Null, err
				}
				if x[i] <= 0 || i == 1 && x[0] == 1 {
					return Null, env.StrictOrWarn(3020, "2201E", "Invalid argument for logarithm")
				}
			}
			if len(c.Args) == 2 {
				return finite(c, math.Log(x[1])/math.Log(x[0]))
			}
			return finite(c, f(x[0]))
		}
		return nil
	}
}

func resolvePi(c *Call) error {
	c.T = TFloat
	c.T.Scale = 6
	c.Fn = func(*Env, *Call) (Value, error) { return fixedFloat(math.Pi, 6), nil }
	return nil
}

// seeded is MySQL's random number generator: RAND(3) gives the same sequence as MySQL's.
type seeded struct{ one, two uint64 }

const randModulus = 0x3FFFFFFF

func newSeeded(seed int64) seeded {
	s := uint64(uint32(seed))
	return seeded{uint64(uint32(s*0x10001+55555555)) % randModulus, uint64(uint32(s*0x10000001)) % randModulus}
}

func (s *seeded) next() float64 {
	s.one = (s.one*3 + s.two) % randModulus
	s.two = (s.one + s.two + 33) % randModulus
	return float64(s.one) / randModulus
}

// resolveRand makes RAND. With a constant seed a statement gets one sequence over its rows; with another seed each row begins its own.
func resolveRand(c *Call) error {
	c.T, c.Volatile = TFloat, true
	if len(c.Args) == 0 {
		c.Fn = func(*Env, *Call) (Value, error) { return Float(rand.Float64()), nil }
		return nil
	}
	constant := IsConst(c.Args[0])
	var state seeded
	var of *Env // the statement that the sequence belongs to
	var at time.Time
	c.Fn = func(env *Env, c *Call) (Value, error) {
		if !constant || of != env || !at.Equal(env.Now) {
			v, err := c.Arg(env, 0)
			if err != nil {
				return Null, err
			}
			n := int64(0)
			if !v.IsNull() {
				if n, _, err = ToInt(env, v); err != nil {
					return Null, err
				}
			}
			state, of, at = newSeeded(n), env, env.Now
		}
		return Float(state.next()), nil
	}
	return nil
}
