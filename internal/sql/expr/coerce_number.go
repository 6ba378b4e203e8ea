package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// fixedPlaces marks a DOUBLE that is shown with fixed places (ROUND(x, 2), PI()): Value.scale is this plus the places.
const fixedPlaces = 64

// ofFunction marks a DOUBLE that a function or an operator has calculated: as a whole number that is out of range it is an error, not the nearest one.
// Value.s is the function as errors name it.
const ofFunction = 5

func calculated(c *Call, f float64) Value {
	return Value{kind: KindFloat, n: math.Float64bits(f), scale: ofFunction, s: c.Text}
}

// ofLiteral marks a DOUBLE that a statement writes: as a whole number that is out of range it is the nearest one without a warning.
const ofLiteral = 6

// withText marks a DOUBLE whose text is Value.s: that of a decimal that IF or CASE gives.
const withText = 7

func ofBranch(v Value, text string) Value {
	v.scale, v.s = withText, text
	return v
}

// widestFloat is how many characters the text of a FLOAT has at most; longer ones have an exponent.
const widestFloat = 12

// LiteralFloat is a DOUBLE as a statement writes it.
func LiteralFloat(f float64) Value {
	return Value{kind: KindFloat, n: math.Float64bits(f), scale: ofLiteral}
}

// fixedFloat is a DOUBLE that is shown with so many digits after the point.
func fixedFloat(f float64, places int) Value {
	return Value{kind: KindFloat, n: math.Float64bits(f), scale: uint8(fixedPlaces + min(max(places, 0), number.MaxScale))}
}

// decimalShown is an exact decimal that is shown with scale digits after the point although it may hold more (a quotient does:
// 1/3 is shown as 0.3333 and 1/3*3 is 1.0000).
func decimalShown(d *apd.Decimal, scale int) Value {
	return Value{kind: KindDecimal, x: d, scale: uint8(min(scale, number.MaxScale) + 1)}
}

// DecimalShown is an exact decimal that is shown with scale digits after the point and keeps those that it has more for what is calculated
// with it: what a host's AVG gives. The caller gives d away.
func DecimalShown(d *apd.Decimal, scale int) Value { return decimalShown(d, scale) }

// Shown is the number of a KindDecimal rounded to the digits that its type has.
func (v Value) Shown() *apd.Decimal {
	if v.scale == 0 {
		return v.RawDecimal()
	}
	return rescale(v.RawDecimal(), int(v.scale)-1)
}

func textToFloat(env *Env, s string) float64 {
	f, scanned := number.ParseDouble(s)
	if scanned.Doubtful() {
		env.Warning(1292, "Truncated incorrect DOUBLE value: '%s'", s)
	}
	return f
}

func textToDecimal(env *Env, s string, from TextSource) *apd.Decimal {
	d, scanned := number.ParseDecimal(s)
	if !scanned.Digits && from != Written {
		env.Warning(1366, "Incorrect DECIMAL value: '0' for column '' at row -1")
	}
	if !scanned.Clean() && (from == Written || from == Stored) {
		env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", s)
	}
	return d
}

func floatToDecimal(env *Env, f float64) *apd.Decimal {
	d, over := number.FromFloat64(f)
	if over != number.InRange {
		env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", number.FormatDouble(f))
	}
	return d
}

// floatToInt rounds halves to the even neighbour, as MySQL does with doubles. Error 1690 if one that was calculated is out of range.
func floatToInt(env *Env, v Value) (n int64, err error) {
	n, over := number.Int64FromFloat(v.RawFloat())
	if over != number.InRange && v.scale == ofFunction {
		return 0, ErrOutOfRange("BIGINT", v.s)
	}
	if over != number.InRange && v.scale != ofLiteral {
		env.Warning(1292, "Truncated incorrect INTEGER value: '%s'", number.FormatDouble(v.RawFloat()))
	}
	return n, nil
}

func decimalToInt(env *Env, d *apd.Decimal) (n int64, unsigned bool) {
	n, over := number.ToInt64(d)
	if over == number.InRange {
		return n, false
	}
	if over == number.Above {
		if u, over := number.ToUint64(d); over == number.InRange {
			return int64(u), true
		}
	}
	env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", number.Text(d))
	return n, false
}

func textToInt(env *Env, s string) (n int64, unsigned bool) {
	i, scanned := number.ParseInteger(s)
	if !scanned.Clean() {
		env.Warning(1292, "Truncated incorrect INTEGER value: '%s'", s)
	}
	return int64(i.Bits), i.Unsigned
}

// shortFloat is a FLOAT with six digits and an exponent, as MySQL writes it.
func shortFloat(f float32) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(float64(f), 'e', 5, 64), "e")
	mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return number.FormatFloat(f)
	}
	return mantissa + "e" + strconv.Itoa(n)
}

// rescale is a decimal with so many digits after the point, rounded half away from zero. The argument is not changed.
func rescale(d *apd.Decimal, scale int) *apd.Decimal {
	if int(d.Exponent) == -scale {
		return d
	}
	return number.Round(d, scale)
}

func floatToText(v Value) string {
	switch {
	case v.scale == withText:
		return v.s
	case v.IsSingle():
		s := number.FormatFloat(float32(v.RawFloat()))
		if len(s) > widestFloat {
			if short := shortFloat(float32(v.RawFloat())); len(short) < len(s) {
				return short
			}
		}
		return s
	case v.scale >= fixedPlaces:
		return number.FormatFixed(v.RawFloat(), int(v.scale-fixedPlaces))
	}
	return number.FormatDouble(v.RawFloat())
}

func decimalToText(v Value) string { return number.Text(v.Shown()) }
