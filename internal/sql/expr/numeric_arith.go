package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// + - * / DIV % and unary minus. MySQL chooses from the types of the operands whether it calculates with integers, decimals or doubles
// (manual, Arithmetic Operators); a result that its type does not hold is 1690, never another number.

func init() {
	register(
		&Func{Name: "+", Min: 2, Max: 2, Resolve: resolveArith(opAdd)},
		&Func{Name: "-", Min: 2, Max: 2, Resolve: resolveArith(opSub)},
		&Func{Name: "*", Min: 2, Max: 2, Resolve: resolveArith(opMul)},
		&Func{Name: "/", Min: 2, Max: 2, Resolve: resolveArith(opDiv)},
		&Func{Name: "%", Min: 2, Max: 2, Resolve: resolveArith(opMod)},
		&Func{Name: "mod", Min: 2, Max: 2, Resolve: resolveArith(opMod)},
		&Func{Name: "div", Min: 2, Max: 2, Resolve: resolveIntegerDivision},
		&Func{Name: "neg", Min: 1, Max: 1, Resolve: resolveNeg},
	)
}

// operator is one of the operators that share the choice of the arithmetic.
type operator uint8

const (
	opAdd operator = iota
	opSub
	opMul
	opDiv
	opMod
)

// arithmetic is what an operator calculates with.
type arithmetic uint8

const (
	withInt arithmetic = iota
	withDecimal
	withFloat
)

// arithmeticOf is what values of a type are calculated with: times without fraction and bits as integers, texts as doubles.
func arithmeticOf(t Type) arithmetic {
	switch t.Kind() {
	case KindInt, KindUint, KindBit:
		return withInt
	case KindDecimal:
		return withDecimal
	case KindDate:
		return withInt
	case KindDatetime, KindTime:
		if t.Scale > 0 {
			return withDecimal
		}
		return withInt
	}
	return withFloat
}

// defaultDivPrecision is div_precision_increment unless a session says otherwise.
const defaultDivPrecision = 4

// ArithForm may be the Extra of "/" and "-": what the session's variables say about the type of the result when the call is built.
type ArithForm struct {
	DivPrecision     int  // div_precision_increment
	SignedDifference bool // NO_UNSIGNED_SUBTRACTION
}

// arithForm is what a call was built with.
func arithForm(c *Call) ArithForm {
	if f, ok := c.Extra.(ArithForm); ok {
		return f
	}
	return ArithForm{DivPrecision: defaultDivPrecision}
}

// numericType is the type that an expression has where a number is needed: a hexadecimal or bit literal is a BIGINT UNSIGNED there.
func numericType(n Node) Type {
	if isBitLiteral(n) {
		return TUint
	}
	return n.Type()
}

// unaryType is numericType for functions of one number, to which a hexadecimal or bit literal, a date and a time are DOUBLEs.
func unaryType(n Node) Type {
	if isBitLiteral(n) || n.Type().IsTemporal() {
		return TFloat
	}
	return n.Type()
}

// writtenOut reports whether an expression is made of literals alone.
func writtenOut(n Node) bool {
	switch n := n.(type) {
	case *Lit:
		return true
	case *Call:
		for _, a := range n.Args {
			if !writtenOut(a) {
				return false
			}
		}
		return len(n.Args) > 0 && n.Constant()
	}
	return false
}

func specOf(t Type) number.Spec {
	p, s := t.Digits()
	return number.Spec{Precision: p, Scale: s}
}

func decimalType(s number.Spec) Type { return TDecimal(s.Precision, s.Scale) }

func intType(unsigned bool) Type {
	if unsigned {
		return TUint
	}
	return TInt
}

// isUnsigned reports whether integers of a type have no sign.
func isUnsigned(t Type) bool { return t.Kind() == KindUint || t.Kind() == KindBit }

func resolveArith(op operator) func(*Call) error {
	return func(c *Call) error {
		a, b := numericType(c.Args[0]), numericType(c.Args[1])
		how := max(arithmeticOf(a), arithmeticOf(b))
		if how == withInt && op == opDiv {
			how = withDecimal
		}
		switch how {
		case withInt:
			unsigned := (isUnsigned(a) || isUnsigned(b) && op != opMod) && !(op == opSub && arithForm(c).SignedDifference)
			c.T = wideInt(unsigned, arithSpec(op, specOf(a), specOf(b), 0).Precision)
			c.Fn = strict2(func(env *Env, c *Call, x, y Value) (Value, error) { return intArith(env, c, op, x, y, unsigned) })
		case withDecimal:
			increment := arithForm(c).DivPrecision
			c.T = decimalType(arithSpec(op, specOf(a), specOf(b), increment))
			c.Fn = strict2(func(env *Env, c *Call, x, y Value) (Value, error) { return decimalArith(env, c, op, x, y, increment) })
		default:
			c.T = TFloat
			c.Fn = bothFloats(func(env *Env, c *Call, x, y float64) (Value, error) { return floatArith(env, c, op, x, y) })
		}
		return nil
	}
}

// wideInt is an integer of so many digits.
func wideInt(unsigned bool, digits int) Type {
	t := intType(unsigned)
	t.Length = min(digits, 20)
	if !unsigned {
		t.Length++
	}
	return t
}

func arithSpec(op operator, a, b number.Spec, increment int) number.Spec {
	switch op {
	case opMul:
		return number.MulSpec(a, b)
	case opDiv:
		return number.DivSpec(a, b, increment)
	case opMod:
		return number.ModSpec(a, b)
	}
	return number.AddSpec(a, b)
}

// integer is a value, not NULL, as a 64-bit integer.
func integer(env *Env, v Value) (number.Int, error) {
	n, unsigned, err := ToInt(env, v)
	return number.Int{Bits: uint64(n), Unsigned: unsigned}, err
}

// intValue is an integer as a value of the wanted kind.
func intValue(i number.Int) Value {
	if i.Unsigned {
		return Uint(i.Bits)
	}
	return Int(int64(i.Bits))
}

func intKind(unsigned bool) string {
	if unsigned {
		return "BIGINT UNSIGNED"
	}
	return "BIGINT"
}

func intArith(env *Env, c *Call, op operator, x, y Value, unsigned bool) (Value, error) {
	a, err := integer(env, x)
	if err != nil {
		return Null, err
	}
	b, err := integer(env, y)
	if err != nil {
		return Null, err
	}
	var r number.Int
	ok := true
	switch op {
	case opAdd:
		r, ok = number.AddInt(a, b, unsigned)
	case opSub:
		r, ok = number.SubInt(a, b, unsigned)
	case opMul:
		r, ok = number.MulInt(a, b, unsigned)
	case opMod:
		if b.Bits == 0 {
			return Null, divisionByZero(env)
		}
		r = number.ModInt(a, b)
		r.Unsigned = unsigned
	}
	if !ok {
		return Null, ErrOutOfRange(intKind(unsigned), c.Text)
	}
	return intValue(r), nil
}

func decimalArith(env *Env, c *Call, op operator, x, y Value, increment int) (Value, error) {
	a, err := ToDecimal(env, x)
	if err != nil {
		return Null, err
	}
	b, err := ToDecimal(env, y)
	if err != nil {
		return Null, err
	}
	r, ok, defined := a, true, true
	switch op {
	case opAdd:
		r, ok = number.Add(a, b)
	case opSub:
		r, ok = number.Sub(a, b)
	case opMul:
		r, ok = number.Mul(a, b)
	case opDiv: // MySQL 9 rounds a quotient to the digits of its type, 8.0 keeps more
		if r, ok, defined = number.Div(wholeSeconds(x, a), wholeSeconds(y, b), increment); defined && ok {
			return Decimal(rescale(r, c.T.Scale)), nil
		}
	case opMod:
		r, defined = number.Mod(a, b)
	}
	switch {
	case !defined:
		return Null, divisionByZero(env)
	case !ok:
		return Null, ErrOutOfRange("DECIMAL", c.Text)
	}
	return decimalShown(r, c.T.Scale), nil
}

// wholeSeconds is a time that is divided: without digits of a fraction if that is zero, as MySQL has it.
func wholeSeconds(v Value, d *apd.Decimal) *apd.Decimal {
	if v.kind != KindDatetime && v.kind != KindTime {
		return d
	}
	if whole := rescale(d, 0); whole.Cmp(d) == 0 {
		return whole
	}
	return d
}

// bothFloats evaluates a function of two doubles. Both arguments are made numbers, and warn, also if one is NULL, which gives NULL.
func bothFloats(fn func(env *Env, c *Call, x, y float64) (Value, error)) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		x, known, err := c.floatArg(env, 0)
		if err != nil {
			return Null, err
		}
		y, both, err := c.floatArg(env, 1)
		if err != nil || !known || !both {
			return Null, err
		}
		return fn(env, c, x, y)
	}
}

// floatArg is the ith argument as a DOUBLE; known is false if it is NULL.
func (c *Call) floatArg(env *Env, i int) (f float64, known bool, err error) {
	v, err := c.Args[i].Eval(env)
	if err != nil || v.IsNull() {
		return 0, false, err
	}
	f, err = ToFloat(env, v)
	return f, true, err
}

func floatArith(env *Env, c *Call, op operator, a, b float64) (Value, error) {
	switch op {
	case opAdd:
		a += b
	case opSub:
		a -= b
	case opMul:
		a *= b
	default:
		if b == 0 {
			return Null, divisionByZero(env)
		}
		if op == opDiv {
			a /= b
		} else {
			a = math.Mod(a, b)
		}
	}
	return finite(c, a)
}

// finite is a double as a value; infinities and NaN are 1690.
func finite(c *Call, f float64) (Value, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Null, ErrOutOfRange("DOUBLE", c.Text)
	}
	return calculated(c, f), nil
}

// divisionByZero is the NULL of a division by zero: with ERROR_FOR_DIVISION_BY_ZERO it warns, and fails what stores in strict mode.
func divisionByZero(env *Env) error {
	if env.Mode&ErrorForDivisionByZero == 0 {
		return nil
	}
	return env.StrictOrWarn(1365, "22012", "Division by 0")
}

// resolveIntegerDivision makes DIV: a BIGINT whatever the operands are, computed exactly.
func resolveIntegerDivision(c *Call) error {
	a, b := numericType(c.Args[0]), numericType(c.Args[1])
	unsigned := a.Unsigned || b.Unsigned || isUnsigned(a) || isUnsigned(b)
	c.T = intType(unsigned)
	if max(arithmeticOf(a), arithmeticOf(b)) == withInt {
		c.Fn = strict2(func(env *Env, c *Call, x, y Value) (Value, error) {
			m, err := integer(env, x)
			if err != nil {
				return Null, err
			}
			n, err := integer(env, y)
			switch {
			case err != nil:
				return Null, err
			case n.Bits == 0:
				return Null, divisionByZero(env)
			}
			q, ok := number.DivInt(m, n, unsigned)
			if !ok {
				return Null, ErrOutOfRange(intKind(unsigned), c.Text)
			}
			return intValue(q), nil
		})
		return nil
	}
	c.Fn = func(env *Env, c *Call) (Value, error) {
		var numbers [2]*apd.Decimal
		for i := range numbers { // the first is made a number, and warns, before the second is evaluated
			v, err := c.Arg(env, i)
			if err != nil || v.IsNull() {
				return Null, err
			}
			if numbers[i], err = ToDecimal(env, v); err != nil {
				return Null, err
			}
		}
		m, n := numbers[0], numbers[1]
		q, defined := number.DivInteger(m, n)
		if !defined {
			return Null, divisionByZero(env)
		}
		if unsigned {
			u, over := number.ToUint64(q)
			if over != number.InRange {
				return Null, ErrOutOfRange(intKind(unsigned), c.Text)
			}
			return Uint(u), nil
		}
		i, over := number.ToInt64(q)
		if over != number.InRange {
			return Null, ErrOutOfRange(intKind(unsigned), c.Text)
		}
		return Int(i), nil
	}
	return nil
}

// resolveNeg makes unary minus. The negative of a constant that no BIGINT holds is a DECIMAL.
func resolveNeg(c *Call) error {
	t := unaryType(c.Args[0])
	switch how := arithmeticOf(t); {
	case how == withInt && !negatedConstantIsWide(c.Args[0]):
		c.T = wideInt(false, specOf(t).Precision)
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			i, err := integer(env, v)
			if err != nil {
				return Null, err
			}
			n, ok := number.NegInt(i)
			if !ok {
				return Null, ErrOutOfRange("BIGINT", c.Text)
			}
			return intValue(n), nil
		})
	case how != withFloat:
		s := specOf(t)
		c.T = decimalType(s)
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			d, err := ToDecimal(env, v)
			if err != nil {
				return Null, err
			}
			return decimalShown(number.Neg(d), s.Scale), nil
		})
	default:
		c.T = TFloat
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			f, err := ToFloat(env, v)
			return calculated(c, -f), err
		})
	}
	return nil
}

// negatedConstantIsWide reports whether a constant's negative is out of a BIGINT's range: 9223372036854775809, and a folded
// -9223372036854775808 (written with its minus, it is a BIGINT).
func negatedConstantIsWide(n Node) bool {
	if writtenOut(n) {
		if v, err := n.Eval(&Env{}); err == nil && v.RawInt() < 0 {
			if _, made := n.(*Call); v.kind == KindInt || v.kind == KindUint && made {
				return true
			}
		}
	}
	var v Value
	switch n := n.(type) {
	case *Lit:
		v = n.V
	case *Call:
		if n.Name != "neg" {
			return false
		}
		if _, ok := n.Args[0].(*Lit); !ok {
			return false
		}
		var err error
		if v, err = n.Fn(&Env{}, n); err != nil {
			return false
		}
	}
	switch v.Kind() {
	case KindInt:
		return v.RawInt() == math.MinInt64
	case KindUint, KindBit:
		return v.RawUint() > 1<<63
	}
	return false
}
