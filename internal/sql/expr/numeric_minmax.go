package expr

import (
	"math"
	"sort"

	"github.com/longitude-db/longitude/internal/sql/temporal"
)

func init() {
	register(
		&Func{Name: "greatest", Min: 2, Max: -1, Resolve: resolveExtreme(1)},
		&Func{Name: "least", Min: 2, Max: -1, Resolve: resolveExtreme(-1)},
		&Func{Name: "interval", Min: 2, Max: -1, Resolve: resolveInterval},
	)
}

// resolveExtreme makes GREATEST (1) and LEAST (-1). The type is that which the arguments have together, and they are compared as such:
// numbers among texts as texts, unlike in comparisons; but texts beside dates as dates. NULL if one is NULL.
func resolveExtreme(want int) func(*Call) error {
	return func(c *Call) (err error) {
		if c.T, err = Union(c.Name, argTypes(c.Args)...); err != nil {
			return err
		}
		if c.T.Name == NullType {
			c.Fn = func(*Env, *Call) (Value, error) { return Null, nil }
			return nil
		}
		if beside, t := datesBeside(c.Args); beside {
			c.Fn = extremeDate(want, t)
			return nil
		}
		conv := convertTo(c.T)
		how, err := compareAs(c.Name, c.Args...)
		if err != nil {
			return err
		}
		temporal := how.class == asDatetime || how.class == asTime
		if !temporal {
			typed := &Lit{T: c.T}
			if how, err = compareAs(c.Name, typed, typed); err != nil {
				return err
			}
		}
		cmp := how.fn()
		last := want > 0 && how.class == asText
		c.Fn = strict(func(env *Env, c *Call, args []Value) (Value, error) {
			var best, shown Value
			for i, v := range args {
				w, err := conv(env, v)
				if err != nil || w.IsNull() {
					return Null, err
				}
				if !temporal {
					v = w
				}
				if i == 0 {
					best, shown = v, w
					continue
				}
				o, unknown, err := cmp(env, v, best)
				switch {
				case err != nil || unknown:
					return Null, err
				case o == want, o == 0 && last: // of equal texts GREATEST gives the last
					best, shown = v, w
				}
			}
			if shown.kind == KindFloat {
				return calculated(c, shown.RawFloat()), nil
			}
			return shown.From(Silent), nil
		})
		return nil
	}
}

// datesBeside reports whether there are dates, and texts or numbers beside them, among expressions; t is DATE, or DATETIME if one of them is that.
func datesBeside(nodes []Node) (beside bool, t Type) {
	date, other := false, false
	t = TDate
	for _, n := range nodes {
		switch nt := n.Type(); {
		case nt.HasDate():
			date = true
			if nt.Kind() == KindDatetime {
				t = TDatetime(max(t.Scale, nt.Scale))
			}
		case nt.Kind() == KindText, nt.Kind() == KindBytes, nt.IsNumber():
			other = true
		default:
			return false, t
		}
	}
	return date && other, t
}

// extremeDate is GREATEST and LEAST of dates beside texts and numbers, which are read as dates: the text of a DATE, or of a DATETIME. What is no
// date counts as later than all DATEs, and is shown as MySQL shows it; beside DATETIMEs it counts as the zero date, and LEAST shows the least text.
func extremeDate(want int, t Type) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		var best temporal.DateTime
		least, zero := "", false
		scale := 0
		for i, n := range c.Args {
			v, err := n.Eval(env)
			if err != nil || v.IsNull() {
				return Null, err
			}
			d, ok, err := amongDates(env, v, t)
			if err != nil {
				return Null, err
			}
			zero = zero || !ok || d == 0
			s, err := ToText(env, v)
			if err != nil {
				return Null, err
			}
			if i == 0 || s < least {
				least = s
			}
			if scale = max(scale, timeDigits(n, false)); i == 0 || order(int64(d), int64(best)) == want {
				best = d
			}
		}
		switch {
		case t.Kind() == KindDate && best == math.MaxInt64:
			return c.text("16383-15-31").madeOf(Int(163831531)), nil
		case t.Kind() == KindDate:
			return c.text(string(temporal.AppendDate(nil, best))).madeOf(packedDate(best)), nil
		case zero && want < 0:
			return c.text(least).madeOf(packedDatetime(0, 0)), nil
		}
		return c.text(string(temporal.AppendDateTime(nil, best, scale))).madeOf(packedDatetime(best, scale)), nil
	}
}

// amongDates reads a value as a date among DATEs or DATETIMEs (t).
func amongDates(env *Env, v Value, t Type) (d temporal.DateTime, ok bool, err error) {
	if t.Kind() != KindDate {
		r, err := dateOf(env, v, anyDate)
		return r.DateTime, r.OK(), err
	}
	if d, ok := smallDate(env, v); ok {
		return d, true, nil
	}
	r, err := dayOf(env, v, anyDate)
	if !r.OK() {
		return math.MaxInt64, false, err
	}
	return r.DateTime, true, err
}

// resolveInterval makes INTERVAL(n, a, b, …): how many of the ascending bounds are not above n; -1 if n is NULL. NULL bounds count as
// not above.
func resolveInterval(c *Call) error {
	c.T = TInt
	exact := true
	for _, a := range c.Args {
		exact = exact && arithmeticOf(numericType(a)) != withFloat
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		vs := make([]Value, len(c.Args))
		for i := range vs {
			var err error
			if vs[i], err = c.Arg(env, i); err != nil {
				return Null, err
			}
		}
		if vs[0].IsNull() {
			return Int(-1), nil
		}
		if len(vs) <= mostInTurn { // as MySQL does: they need not be in order
			for i := 1; i < len(vs); i++ {
				if vs[i].IsNull() {
					continue
				}
				if above, err := isBelow(env, vs[0], vs[i], exact); err != nil || above {
					return Int(int64(i - 1)), err
				}
			}
			return Int(int64(len(vs) - 1)), nil
		}
		var failed error
		n := sort.Search(len(vs)-1, func(i int) bool {
			if failed != nil || vs[i+1].IsNull() {
				return false
			}
			above, err := isBelow(env, vs[0], vs[i+1], exact)
			failed = err
			return above
		})
		return Int(int64(n)), failed
	}
	return nil
}

// mostInTurn is of how many arguments of INTERVAL each is compared; of more they are thought to be in order.
const mostInTurn = 8

// isBelow reports whether a < b as numbers.
func isBelow(env *Env, a, b Value, exact bool) (bool, error) {
	if exact {
		x, err := ToDecimal(env, a)
		if err != nil {
			return false, err
		}
		y, err := ToDecimal(env, b)
		if err != nil {
			return false, err
		}
		return x.Cmp(y) < 0, nil
	}
	x, err := ToFloat(env, a)
	if err != nil {
		return false, err
	}
	y, err := ToFloat(env, b)
	return x < y, err
}
