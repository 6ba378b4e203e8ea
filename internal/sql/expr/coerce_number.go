package expr

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// exact calculates with decimals of MySQL's size.
var exact = apd.Context{Precision: 100, MaxExponent: 1000, MinExponent: -1000, Rounding: apd.RoundHalfUp}

// numericPrefix is the longest prefix of a text that is a number, without leading spaces; rest tells whether something else
// than spaces follows or nothing was there.
func numericPrefix(s string) (prefix string, rest bool) {
	s = strings.TrimLeft(s, " \t\n\r\v\f")
	i, digits := 0, 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i, digits = i+1, digits+1
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j, digits = j+1, digits+1
		}
		if digits > 0 {
			i = j
		}
	}
	if digits == 0 {
		return "", true
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if k := j; k < len(s) && s[k] >= '0' && s[k] <= '9' {
			for k < len(s) && s[k] >= '0' && s[k] <= '9' {
				k++
			}
			i = k
		}
	}
	return s[:i], strings.Trim(s[i:], " \t\n\r\v\f") != ""
}

func textToFloat(env *Env, s string) float64 {
	p, rest := numericPrefix(s)
	if rest {
		env.Warning(1292, "Truncated incorrect DOUBLE value: '%s'", s)
	}
	if p == "" {
		return 0
	}
	f, err := strconv.ParseFloat(p, 64)
	if err != nil && math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
		env.Warning(1292, "Truncated incorrect DOUBLE value: '%s'", s)
	}
	return f
}

func textToDecimal(env *Env, s string) *apd.Decimal {
	p, rest := numericPrefix(s)
	if rest {
		env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", s)
	}
	d, _, err := apd.NewFromString(p)
	if err != nil {
		return new(apd.Decimal)
	}
	return d
}

func floatToDecimal(_ *Env, v Value) (*apd.Decimal, error) {
	d, _, err := apd.NewFromString(strconv.FormatFloat(v.RawFloat(), 'g', -1, 64))
	return d, err
}

func floatToInt(env *Env, f float64) (n int64, unsigned bool) {
	r := math.Round(f)
	switch {
	case r >= math.MaxInt64:
		env.Warning(1292, "Truncated incorrect INTEGER value: '%s'", floatToText(Float(f)))
		return math.MaxInt64, false
	case r <= math.MinInt64:
		return math.MinInt64, false
	}
	return int64(r), false
}

func decimalToInt(env *Env, d *apd.Decimal) (n int64, unsigned bool) {
	r := rescale(d, 0)
	if n, err := r.Int64(); err == nil {
		return n, false
	}
	if n, err := strconv.ParseUint(r.Text('f'), 10, 64); err == nil {
		return int64(n), true
	}
	env.Warning(1292, "Truncated incorrect DECIMAL value: '%s'", d.Text('f'))
	if r.Negative {
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

func textToInt(env *Env, s string) (n int64, unsigned bool) {
	t := strings.TrimLeft(s, " \t\n\r\v\f")
	i := 0
	if i < len(t) && (t[i] == '+' || t[i] == '-') {
		i++
	}
	start := i
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	if i == start || strings.Trim(t[i:], " \t\n\r\v\f") != "" {
		env.Warning(1292, "Truncated incorrect INTEGER value: '%s'", s)
	}
	if i == start {
		return 0, false
	}
	t = strings.TrimPrefix(t[:i], "+")
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		return n, false
	}
	if n, err := strconv.ParseUint(t, 10, 64); err == nil {
		return int64(n), true
	}
	env.Warning(1292, "Truncated incorrect INTEGER value: '%s'", s)
	if t[0] == '-' {
		return math.MinInt64, false
	}
	return -1, true
}

// rescale is a decimal with so many digits after the point, rounded half away from zero. The argument is not changed.
func rescale(d *apd.Decimal, scale int) *apd.Decimal {
	if int(d.Exponent) == -scale {
		return d
	}
	var out apd.Decimal
	if _, err := exact.Quantize(&out, d, int32(-scale)); err != nil {
		return d
	}
	return &out
}

func floatToText(v Value) string {
	f, bits := v.RawFloat(), 64
	if v.IsSingle() {
		bits = 32
	}
	if f == 0 {
		return "0"
	}
	if a := math.Abs(f); a >= 1e15 || a < 1e-15 {
		s := strconv.FormatFloat(f, 'e', -1, bits)
		s = strings.Replace(s, "e+", "e", 1)
		return strings.Replace(s, "e-0", "e-", 1)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

func decimalToText(d *apd.Decimal) string { return d.Text('f') }
