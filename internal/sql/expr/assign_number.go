package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
)

var zeroDecimal = new(apd.Decimal)

// widthOf is how many bits an integer type has.
func widthOf(n Name) int {
	switch n {
	case TinyInt:
		return 8
	case SmallInt:
		return 16
	case MediumInt:
		return 24
	case IntType:
		return 32
	}
	return 64
}

// assignInt: fractions are rounded, those of decimals and texts half away from zero, those of doubles half to even.
func assignInt(env *Env, v Value, to *Target) (Value, error) {
	unsigned := to.Type.Unsigned
	i, over, err := wholeOf(env, v, to, unsigned)
	if err != nil {
		return Null, err
	}
	bits := widthOf(to.Type.Name)
	if unsigned {
		top := uint64(math.MaxUint64) >> (64 - bits)
		n := i.Bits
		if i.Negative() {
			n, over = 0, number.Below
		} else if n > top {
			n, over = top, number.Above
		}
		if over != number.InRange {
			return Uint(n), outOfRange(env, to)
		}
		return Uint(n), nil
	}
	low, top := int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	n := int64(i.Bits)
	switch {
	case i.Unsigned && i.Bits > math.MaxInt64, n > top:
		n, over = top, number.Above
	case n < low:
		n, over = low, number.Below
	}
	if over != number.InRange {
		return Int(n), outOfRange(env, to)
	}
	return Int(n), nil
}

// wholeOf is a value as the whole number that is assigned to an integer column, at most a BIGINT of the wanted kind.
func wholeOf(env *Env, v Value, to *Target, unsigned bool) (i number.Int, over number.Range, err error) {
	switch v.Kind() {
	case KindInt:
		return number.Signed(v.RawInt()), number.InRange, nil
	case KindUint, KindEnum, KindSet:
		return number.Unsigned(v.RawUint()), number.InRange, nil
	case KindBit:
		if i, over = number.FromBinary([]byte(v.RawText())); over != number.InRange {
			i.Bits = math.MaxUint64
		}
		return i, over, nil
	case KindFloat:
		if unsigned {
			n, over := number.Uint64FromFloat(v.RawFloat())
			return number.Unsigned(n), over, nil
		}
		n, over := number.Int64FromFloat(v.RawFloat())
		return number.Signed(n), over, nil
	case KindText, KindBytes:
		i, s := number.ParseRounded(v.RawText(), unsigned)
		switch {
		case s.Over != number.InRange:
		case !s.Digits:
			err = incorrect(env, "integer", v.RawText(), to)
		case s.Rest:
			err = truncated(env, to)
		}
		return i, s.Over, err
	}
	d, err := ToDecimal(env, v)
	if err != nil {
		return i, over, err
	}
	if unsigned {
		if d.Negative { // also -0.4, which rounds to 0
			return number.Unsigned(0), number.Below, nil
		}
		n, over := number.ToUint64(d)
		return number.Unsigned(n), over, nil
	}
	n, over := number.ToInt64(d)
	return number.Signed(n), over, nil
}

func assignDecimal(env *Env, v Value, to *Target) (Value, error) {
	precision, scale := to.Type.Digits()
	var d *apd.Decimal
	over := number.InRange
	switch v.Kind() {
	case KindText, KindBytes:
		var s number.Scanned
		d, s = number.ParseDecimal(v.RawText())
		switch {
		case s.Clean():
		case env.Strict(), !s.Digits:
			if err := incorrect(env, "decimal", v.RawText(), to); err != nil {
				return Null, err
			}
		case s.Over == number.InRange:
			noted(env, to)
		}
		over = s.Over
	case KindFloat:
		d, over = number.FromFloat64(v.RawFloat())
	case KindEnum, KindSet:
		d = number.FromUint64(v.RawUint())
	case KindBit:
		i, side := number.FromBinary([]byte(v.RawText()))
		d, over = number.FromInt(i), side
	default:
		var err error
		if d, err = ToDecimal(env, v); err != nil {
			return Null, err
		}
	}
	if to.Type.Unsigned && d.Negative {
		return Decimal(rescale(zeroDecimal, scale)), outOfRange(env, to)
	}
	out, rounded, side := number.Fit(d, precision, scale)
	if side == number.InRange && over != number.InRange {
		side, out = over, number.Max(precision, scale, over == number.Below)
	}
	if side != number.InRange {
		return Decimal(out), outOfRange(env, to)
	}
	if rounded {
		noted(env, to)
	}
	return Decimal(out), nil
}

func assignFloat(env *Env, v Value, to *Target) (Value, error) {
	var f float64
	outside := false
	switch v.Kind() {
	case KindText, KindBytes:
		var s number.Scanned
		f, s = number.ParseDouble(v.RawText())
		switch {
		case s.Over != number.InRange:
			outside = true
		case s.End != len(v.RawText()) || !s.Digits:
			if err := truncated(env, to); err != nil {
				return Null, err
			}
		}
	case KindEnum, KindSet:
		f = float64(v.RawUint())
	default:
		var err error
		if f, err = ToFloat(env, v); err != nil {
			return Null, err
		}
	}
	if to.Type.Unsigned && f < 0 {
		f, outside = 0, true
	}
	if s := to.Type.Scale; s > 0 && s < NotFixed { // DOUBLE(M,D)
		f = number.RoundDouble(f, int64(s))
		if top := math.Pow10(to.Type.Length-s) - math.Pow10(-s); to.Type.Length > 0 && math.Abs(f) > top {
			f, outside = math.Copysign(top, f), true
		}
	}
	if to.Type.Name == FloatType && math.Abs(f) > math.MaxFloat32 {
		f, outside = math.Copysign(math.MaxFloat32, f), true
	}
	out := Float(f)
	if to.Type.Name == FloatType {
		out = Single(float32(f))
	}
	if outside {
		return out, outOfRange(env, to)
	}
	return out, nil
}

// assignYear: 0 to 69 are 2000 to 2069, 70 to 99 are 1970 to 1999; the number 0 is the year 0000, the text '0' is 2000.
func assignYear(env *Env, v Value, to *Target) (Value, error) {
	var n int64
	four := false // "0000" is 0000
	switch v.Kind() {
	case KindText, KindBytes:
		i, s := number.ParseRounded(v.RawText(), false)
		if n = int64(i.Bits); n < 0 || n >= 100 && n <= 1900 || n > 2155 {
			return Year(0), outOfRange(env, to)
		}
		if !s.Digits {
			return Year(0), incorrect(env, "integer", v.RawText(), to)
		}
		if s.Rest {
			if err := truncated(env, to); err != nil {
				return Null, err
			}
		}
		four = len(v.RawText()) == 4
	case KindFloat:
		if f := v.RawFloat(); f < 0 || f > 2155 {
			n = -1
		} else {
			n = int64(f)
		}
		four = true
	case KindDate, KindDatetime:
		d := number.Text(number.Truncate(temporalToDecimal(v), 0))
		if len(d) > 4 { // yyyymmdd or yyyymmddhhmmss
			y, _ := number.ParseInteger(d[:len(d)-map[bool]int{true: 4, false: 10}[v.Kind() == KindDate]])
			n = int64(y.Bits)
		}
		four = true
	case KindTime:
		n = int64(env.Now.Year())
	default:
		i, over, err := wholeOf(env, v, to, false)
		if err != nil {
			return Null, err
		}
		if n = int64(i.Bits); over != number.InRange || i.Unsigned && i.Bits > math.MaxInt64 {
			n = -1
		}
		four = true
	}
	switch {
	case n < 0 || n >= 100 && n <= 1900 || n > 2155:
		return Year(0), outOfRange(env, to)
	case n == 0 && four:
		return Year(0), nil
	case n < 70:
		n += 2000
	case n < 100:
		n += 1900
	}
	return Year(uint64(n)), nil
}

// bitValue is a value of BIT(length).
func bitValue(n uint64, length int) Value {
	b := make([]byte, (max(length, 1)+7)/8)
	for i := range b {
		b[len(b)-1-i] = byte(n >> (8 * i))
	}
	return Bit(string(b), n)
}

// assignBit: texts and binary strings are their bytes, numbers their bits. What is too wide becomes all ones.
func assignBit(env *Env, v Value, to *Target) (Value, error) {
	length := min(max(to.Type.Length, 1), 64)
	top := uint64(math.MaxUint64) >> (64 - length)
	var n uint64
	over := number.InRange
	switch v.Kind() {
	case KindText, KindBytes, KindBit:
		i, side := number.FromBinary([]byte(v.RawText()))
		n, over = i.Bits, side
	case KindInt, KindUint, KindEnum, KindSet:
		n = v.RawUint()
	case KindFloat:
		i, side := number.Int64FromFloat(math.Trunc(v.RawFloat()))
		n, over = uint64(i), side
	default:
		i, side, err := wholeOf(env, v, to, false)
		if err != nil {
			return Null, err
		}
		n, over = i.Bits, side
	}
	if over == number.InRange && n <= top {
		return bitValue(n, length), nil
	}
	if env.Strict() {
		return Null, Errorf(1406, "22001", "Data too long for column '%s' at row %d", to.Name, to.Row)
	}
	return bitValue(top, length), outOfRange(env, to)
}
