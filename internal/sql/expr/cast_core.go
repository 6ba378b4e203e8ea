package expr

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// CAST(x AS t). The type is the call's Extra. What does not fit is cut, with a warning; a cast is no assignment and fails nothing but
// a statement that stores in strict mode, which takes its warnings for errors.

func init() {
	register(&Func{Name: "cast", Min: 1, Max: 1, Resolve: resolveCast})
}

// castTemporal makes the cast to DATE, DATETIME, TIME and YEAR. The file that knows those sets it.
var castTemporal func(c *Call, to Type) error

func resolveCast(c *Call) error {
	to, ok := c.Extra.(Type)
	if !ok {
		return Errorf(1235, "42000", "a cast without a type")
	}
	switch to.Name {
	case TinyInt, SmallInt, MediumInt, IntType, BigInt:
		c.T = intType(to.Unsigned)
		c.Fn = strict1(castInt(to.Unsigned))
	case DecimalType:
		return resolveCastDecimal(c, to)
	case DoubleType:
		c.T = TFloat
		c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
			f, err := ToFloat(env, v)
			return Float(f), err
		})
	case FloatType:
		c.T = TFloat
		c.T.Name, c.T.Length = FloatType, 12
		c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
			f, err := ToFloat(env, v)
			if err != nil {
				return Null, err
			}
			if _, err := finite(c, float64(float32(f))); err != nil {
				return Null, Errorf(1690, "22003", "FLOAT value is out of range in '%s'", c.Text)
			}
			return Single(float32(f)), nil
		})
	case Char, Varchar, TextType:
		resolveCastText(c, to)
	case Binary, Varbinary, Blob:
		resolveCastBytes(c, to)
	case JSONType:
		c.T = TJSON
		c.Fn = strict1(castDocument)
	default:
		if castTemporal == nil {
			return Errorf(1235, "42000", "This version of Longitude doesn't yet support '%s'", c.Text)
		}
		return castTemporal(c, to)
	}
	return nil
}

// castInt makes CAST AS SIGNED and UNSIGNED: the bits of a BIGINT stay, so CAST(-1 AS UNSIGNED) is 18446744073709551615.
func castInt(unsigned bool) func(*Env, *Call, Value) (Value, error) {
	return func(env *Env, _ *Call, v Value) (Value, error) {
		if v = v.From(Calculated); v.Kind() == KindText { // it warns of every text, and takes what the text says
			v.x = nil
		}
		n, _, err := ToInt(env, v)
		if v.Kind() == KindDecimal && !unsigned {
			// a decimal beyond the signed range is cut there; only the target BIGINT UNSIGNED has room for it
			i, over := number.ToInt64(v.RawDecimal())
			if over != number.InRange {
				env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", number.Text(v.RawDecimal()))
			}
			n = i
		}
		if d := v.origin(); unsigned && d.kind == KindDecimal {
			if _, over := number.ToUint64(d.RawDecimal()); over == number.Above {
				n = -1 // 18446744073709551615
			}
		}
		if unsigned && v.Kind() == KindText && n < 0 && strings.Contains(v.RawText(), "-") {
			env.Warning(1105, "Cast to unsigned converted negative integer to it's positive complement")
		}
		if unsigned {
			return Uint(uint64(n)), err
		}
		return Int(n), err
	}
}

func resolveCastDecimal(c *Call, to Type) error {
	precision, scale := to.Length, to.Scale
	if precision <= 0 {
		precision = 10
	}
	c.T = TDecimal(precision, scale)
	c.T.Unsigned = to.Unsigned
	c.Fn = strict1(func(env *Env, c *Call, v Value) (Value, error) {
		d, err := ToDecimal(env, v)
		if err != nil {
			return Null, err
		}
		out, _, over := number.Fit(d, c.T.Length, c.T.Scale)
		if over != number.InRange {
			env.Warning(1264, "Out of range value for column '%s' at row 1", c.Text)
		}
		return Decimal(out), nil
	})
	return nil
}

// resolveCastText makes CAST AS CHAR(n): at most n characters.
func resolveCastText(c *Call, to Type) {
	if to.Collation == 0 || to.Collation == BinaryCollation {
		to.Collation = DefaultCollation
	}
	length := to.Length
	known := length
	if length < 0 {
		known = textLength([]Type{c.ArgType(0)})
	}
	c.T = TText(known, to.Collation, Implicit)
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		if k := v.Kind(); (k == KindBytes || k == KindBit) && !utf8.ValidString(s) {
			env.Warning(1300, "Invalid utf8mb4 character string: '%s'", hexPrefix(s))
			return Null, nil
		}
		if length >= 0 {
			if cut := firstChars(s, length); len(cut) < len(s) {
				env.Warning(1292, "Truncated incorrect CHAR(%d) value: '%s'", length, s)
				s = cut
			}
		}
		return Text(s), nil
	})
}

// resolveCastBytes makes CAST AS BINARY(n): exactly n bytes, filled with zero bytes.
func resolveCastBytes(c *Call, to Type) {
	length := to.Length
	known := length
	if length < 0 {
		if known = textLength([]Type{c.ArgType(0)}); known > 0 && c.ArgType(0).Kind() == KindText {
			known *= utf8.UTFMax
		}
	}
	c.T = TBytes(known)
	c.T.Coerc = Implicit
	c.Fn = strict1(func(env *Env, _ *Call, v Value) (Value, error) {
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		if length > env.MaxPacket && env.MaxPacket > 0 {
			env.Warning(1301, "Result of cast_as_binary() was larger than max_allowed_packet (%d) - truncated", env.MaxPacket)
			return Null, nil
		}
		switch {
		case length >= 0 && len(s) > length:
			env.Warning(1292, "Truncated incorrect BINARY(%d) value: '%s'", length, s)
			s = s[:length]
		case length > len(s):
			s += strings.Repeat("\x00", length-len(s))
		}
		return Bytes(s), nil
	})
}

// firstChars is the beginning of a text with at most n characters.
func firstChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// hexPrefix is how MySQL names bytes that are no text: the first six in hexadecimal.
func hexPrefix(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		if i == 6 {
			return b.String() + "..."
		}
		h := strconv.FormatUint(uint64(c), 16)
		b.WriteString(strings.ToUpper(strings.Repeat("0", 2-len(h)) + h))
	}
	return b.String()
}
