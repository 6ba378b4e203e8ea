package expr

// Coercions: what a value is in the context of a number, a text or a truth value. They warn as MySQL does (1292, Truncated
// incorrect DOUBLE value) and never fail but by an *Error.

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Truth is a value in the context of a condition: known is false for NULL.
func Truth(env *Env, v Value) (is, known bool, err error) {
	switch v.kind {
	case KindNull:
		return false, false, nil
	case KindInt, KindUint, KindBit, KindEnum, KindSet:
		return v.n != 0, true, nil
	case KindDate, KindDatetime, KindTime:
		return v.n != 0, true, nil
	case KindFloat:
		return v.RawFloat() != 0, true, nil
	case KindDecimal:
		return !v.RawDecimal().IsZero(), true, nil
	case KindJSON: // a document is compared with the document 0: null, false and {} are true
		o, _, err := compareJSON(env, v, Int(0))
		return o != 0, true, err
	}
	f, err := ToFloat(env, v)
	return f != 0, true, err
}

// ToFloat is a value, not NULL, as a DOUBLE.
func ToFloat(env *Env, v Value) (float64, error) {
	switch v.kind {
	case KindInt:
		return float64(int64(v.n)), nil
	case KindUint, KindBit, KindEnum, KindSet:
		return float64(v.n), nil
	case KindFloat:
		return v.RawFloat(), nil
	case KindDecimal:
		return number.ToFloat64(v.RawDecimal()), nil
	case KindText, KindBytes:
		if v.x != nil {
			return ToFloat(env, v.origin())
		}
		if v.source() == Silent {
			f, _ := number.ParseDouble(v.s)
			return f, nil
		}
		return textToFloat(env, v.s), nil
	case KindDate, KindDatetime, KindTime:
		d, err := ToDecimal(env, v)
		if err != nil {
			return 0, err
		}
		return number.ToFloat64(d), nil
	case KindJSON:
		return jsonToFloat(env, v)
	}
	return 0, Errorf(1210, "HY000", "Incorrect arguments: a value that is no number")
}

// ToDecimal is a value, not NULL, as an exact number. It must not be changed.
func ToDecimal(env *Env, v Value) (*apd.Decimal, error) {
	switch v.kind {
	case KindInt:
		return apd.New(int64(v.n), 0), nil
	case KindUint, KindBit, KindEnum, KindSet:
		return number.FromUint64(v.n), nil
	case KindDecimal:
		return v.RawDecimal(), nil
	case KindFloat:
		return floatToDecimal(env, v.RawFloat()), nil
	case KindText, KindBytes:
		if v.x != nil {
			return ToDecimal(env, v.origin())
		}
		return textToDecimal(env, v.s, v.source()), nil
	case KindDate, KindDatetime, KindTime:
		return temporalToDecimal(v), nil
	case KindJSON:
		return jsonNumber(env, v, "DECIMAL")
	}
	return nil, Errorf(1210, "HY000", "Incorrect arguments: a value that is no number")
}

// ToInt is a value, not NULL, as a BIGINT; unsigned says that the bits are those of a BIGINT UNSIGNED. Fractions are rounded
// half away from zero, texts are cut at the first character that is no digit, and what is out of range becomes the nearest
// BIGINT with a warning, as MySQL's val_int does.
func ToInt(env *Env, v Value) (n int64, unsigned bool, err error) {
	switch v.kind {
	case KindInt:
		return int64(v.n), false, nil
	case KindUint, KindBit, KindEnum, KindSet:
		return int64(v.n), true, nil
	case KindFloat:
		n, err = floatToInt(env, v)
		return n, false, err
	case KindDecimal:
		n, unsigned = decimalToInt(env, v.RawDecimal())
		return n, unsigned, nil
	case KindText, KindBytes:
		if v.x != nil {
			return ToInt(env, v.origin())
		}
		if v.source() == Silent {
			i, _ := number.ParseInteger(v.s)
			return int64(i.Bits), i.Unsigned, nil
		}
		n, unsigned = textToInt(env, v.s)
		return n, unsigned, nil
	case KindDate, KindDatetime, KindTime:
		n, unsigned = decimalToInt(env, temporalToDecimal(inSeconds(v)))
		return n, unsigned, nil
	case KindJSON:
		return jsonToInt(env, v)
	}
	return 0, false, Errorf(1210, "HY000", "Incorrect arguments: a value that is no number")
}

// ToText is a value, not NULL, as text (or as the bytes of a binary string).
func ToText(env *Env, v Value) (string, error) {
	switch v.kind {
	case KindInt:
		return strconv.FormatInt(int64(v.n), 10), nil
	case KindUint:
		if v.IsYear() {
			return string(temporal.AppendYear(nil, int(v.n))), nil
		}
		return strconv.FormatUint(v.n, 10), nil
	case KindFloat:
		return floatToText(v), nil
	case KindDecimal:
		return decimalToText(v), nil
	case KindText, KindBytes, KindBit, KindEnum, KindSet:
		return v.s, nil
	case KindDate, KindDatetime, KindTime:
		return temporalToText(v), nil
	case KindJSON:
		return jsonToText(v)
	}
	return "", Errorf(1210, "HY000", "Incorrect arguments: a value that is no text")
}
