package expr

import (
	"math"
	"strings"

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
	w, err := wholeOf(env, v, unsigned)
	if err != nil {
		return Null, err
	}
	i, over := w.n, w.over
	bits := widthOf(to.Type.Name)
	if unsigned {
		top := uint64(math.MaxUint64) >> (64 - bits)
		n := i.Bits
		if i.Negative() {
			n, over = 0, number.Below
		} else if n > top {
			n, over = top, number.Above
		}
		if over == number.InRange {
			return Uint(n), w.rest(env, v, to)
		}
		if over == number.Above && to.Type.Name == IntType && v.Kind() == KindFloat {
			if err := outOfRange(env, to); err != nil { // MySQL warns twice
				return Null, err
			}
		}
		return Uint(n), outOfRange(env, to)
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
	return Int(n), w.rest(env, v, to)
}

// whole is a value as a whole number, at most a BIGINT of the wanted kind.
type whole struct {
	n    number.Int
	over number.Range
	// none: it is a text that does not begin with a number. left: something stands behind the number. Both are told only of what is in range.
	none, left bool
}

// rest is what is to be said of a text that is not all number.
func (w *whole) rest(env *Env, v Value, to *Target) error {
	switch {
	case w.none:
		return incorrect(env, "integer", v.RawText(), to)
	case w.left:
		return truncated(env, to)
	}
	return nil
}

// wholeOf is a value as the whole number that is assigned to an integer column.
func wholeOf(env *Env, v Value, unsigned bool) (w whole, err error) {
	switch v.Kind() {
	case KindInt:
		w.n = number.Signed(v.RawInt())
		return w, nil
	case KindUint, KindEnum, KindSet:
		w.n = number.Unsigned(v.RawUint())
		return w, nil
	case KindBit:
		if w.n, w.over = number.FromBinary([]byte(v.RawText())); w.over != number.InRange {
			w.n.Bits = math.MaxUint64
		}
		return w, nil
	case KindFloat:
		if unsigned {
			n, over := number.Uint64FromFloat(v.RawFloat())
			return whole{n: number.Unsigned(n), over: over}, nil
		}
		n, over := number.Int64FromFloat(v.RawFloat())
		return whole{n: number.Signed(n), over: over}, nil
	case KindText, KindBytes:
		n, s := number.ParseRounded(v.RawText(), unsigned)
		return whole{n: n, over: s.Over, none: !s.Digits, left: s.Rest}, nil
	case KindDatetime, KindTime: // rounded to seconds
		var ok bool
		if v, ok = toSeconds(v, env.readMode()); !ok {
			if err := overflowed(env); err != nil {
				return w, err
			}
		}
	}
	var d *apd.Decimal
	if v.Kind() == KindJSON {
		d, err = jsonNumber(env, v, "INTEGER")
	} else {
		d, err = ToDecimal(env, v)
	}
	if err != nil {
		return w, err
	}
	if err := env.Failed(); err != nil { // the document is no number
		return w, err
	}
	if unsigned {
		if d.Negative { // also -0.4, which rounds to 0
			return whole{n: number.Unsigned(0), over: number.Below}, nil
		}
		n, over := number.ToUint64(d)
		return whole{n: number.Unsigned(n), over: over}, nil
	}
	n, over := number.ToInt64(d)
	return whole{n: number.Signed(n), over: over}, nil
}

// overflowed is 1441: a time that is rounded up is behind the end of the year 9999.
func overflowed(env *Env) error {
	return env.StrictOrWarn(1441, "22008", "Datetime function: datetime field overflow")
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
		if d, err = ToDecimal(env, v); err == nil {
			err = env.Failed() // the document is no number
		}
		if err != nil {
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
		case s.End != len(strings.TrimRight(v.RawText(), " ")) || !s.Digits:
			if err := incorrect(env, floatName(to.Type), v.RawText(), to); err != nil {
				return Null, err
			}
		}
	case KindEnum, KindSet:
		f = float64(v.RawUint())
	default:
		var err error
		if f, err = ToFloat(env, v); err == nil {
			err = env.Failed() // the document is no number
		}
		if err != nil {
			return Null, err
		}
	}
	if to.Type.Unsigned && f < 0 {
		f, outside = 0, true
	}
	if s := to.Type.Scale; s > 0 && s < NotFixed { // DOUBLE(M,D)
		f = roundStored(f, s)
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

// roundStored rounds a number to digits behind the point as MySQL does where it stores a FLOAT(M,D): what is above the next lower whole
// number is rounded half to even. There is no negative zero.
func roundStored(f float64, digits int) float64 {
	whole, scale := math.Floor(f), math.Pow10(digits)
	if math.IsInf(whole, 0) {
		return f
	}
	return whole + math.RoundToEven((f-whole)*scale)/scale
}

// floatName is how errors name a floating point type.
func floatName(t Type) string {
	if t.Name == FloatType {
		return "FLOAT"
	}
	return "DOUBLE"
}

// assignYear: 0 to 69 are 2000 to 2069, 70 to 99 are 1970 to 1999; the number 0 is the year 0000, the text '0' is 2000.
func assignYear(env *Env, v Value, to *Target) (Value, error) {
	var n int64
	four := false // "0000" is 0000
	v, err := documentText(env, v)
	if err != nil {
		return Null, err
	}
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
		w, err := wholeOf(env, v, false)
		if err != nil {
			return Null, err
		}
		if n = int64(w.n.Bits); w.over != number.InRange || w.n.Unsigned && w.n.Bits > math.MaxInt64 || v.Kind() == KindDecimal && v.RawDecimal().Negative {
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

// documentText is a document as a text, where it is assigned as one; other values are as they are.
func documentText(env *Env, v Value) (Value, error) {
	if v.Kind() != KindJSON {
		return v, nil
	}
	s, err := ToText(env, v)
	return Text(s), err
}

// assignBit: texts, binary strings, documents and times are their bytes, numbers their bits. What is too wide becomes all ones.
func assignBit(env *Env, v Value, to *Target) (Value, error) {
	length := min(max(to.Type.Length, 1), 64)
	top := uint64(math.MaxUint64) >> (64 - length)
	var n uint64
	over := number.InRange
	switch v.Kind() {
	case KindText, KindBytes, KindBit, KindDate, KindDatetime, KindTime, KindJSON:
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		i, side := number.FromBinary([]byte(s))
		n, over = i.Bits, side
	case KindInt, KindUint, KindEnum, KindSet:
		n = v.RawUint()
	case KindFloat:
		i, side := number.Int64FromFloat(math.Trunc(v.RawFloat()))
		n, over = uint64(i), side
	default:
		if v.Kind() == KindDecimal && v.RawDecimal().Negative {
			return bitValue(0, length), outOfRange(env, to)
		}
		w, err := wholeOf(env, v, false)
		if err != nil {
			return Null, err
		}
		n, over = w.n.Bits, w.over
	}
	if over == number.InRange && n <= top {
		return bitValue(n, length), nil
	}
	return bitValue(top, length), env.StrictOrWarn(1406, "22001", "Data too long for column '%s' at row %d", to.Name, to.Row)
}
