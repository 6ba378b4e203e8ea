package optimize

import (
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// What a condition compares a column with becomes a bound of an index on the column only if the comparison orders values as the index
// does: numbers by number, dates and times by time, texts under the collation of the column. The value of the bound has the type of the
// column. Where that type does not hold the value (id < 2.5), the bound is the next value below, and includes it: a superset (O6).

// converted is a literal as a value of a column's type.
type converted struct {
	v expr.Value
	// cmp says how the literal stands to v: 0 equal, 1 above v and below the next value that the column can hold, -1 below all values.
	cmp int
}

// toColumn makes a bound of a literal that is compared with a column of type t. False: the comparison is not the index's order.
func (z *optimizer) toColumn(how expr.Comparison, t expr.Type, l *expr.Lit) (converted, bool) {
	env, clean := *z.env, true
	env.Warn = func(uint16, string) { clean = false }
	env.Change = false
	out, ok := literalFor(&env, how, t, l.V)
	return out, ok && clean
}

func literalFor(env *expr.Env, how expr.Comparison, t expr.Type, v expr.Value) (out converted, ok bool) {
	switch t.Kind() {
	case expr.KindInt, expr.KindUint:
		return wholeFor(env, how, t, v)
	case expr.KindDecimal:
		if how.Class != expr.ClassDecimal && how.Class != expr.ClassInt || !isNumber(v) {
			return out, false
		}
		d, err := expr.ToDecimal(env, v)
		if err != nil {
			return out, false
		}
		return converted{v: expr.Decimal(new(apd.Decimal).Set(d))}, true
	case expr.KindFloat:
		if how.Class != expr.ClassFloat {
			return out, false
		}
		f, err := expr.ToFloat(env, v)
		return converted{v: expr.Float(f)}, err == nil
	case expr.KindText:
		return converted{v: v}, how.Class == expr.ClassText && how.Collation == t.Collation && v.Kind() == expr.KindText
	case expr.KindBytes:
		k := v.Kind()
		return converted{v: expr.Bytes(v.RawText())}, how.Class == expr.ClassBytes && (k == expr.KindText || k == expr.KindBytes)
	case expr.KindEnum:
		return enumFor(how, t, v)
	case expr.KindDate, expr.KindDatetime:
		if how.Class != expr.ClassDatetime || isNumber(v) || v.Kind() == expr.KindTime {
			return out, false
		}
		n, fine, err := expr.ToDatetime(env, v)
		if err != nil || !fine {
			return out, false
		}
		d := temporal.DateTime(n)
		if t.Kind() == expr.KindDatetime {
			return converted{v: expr.Packed(expr.KindDatetime, n, 6)}, true
		}
		out.v = expr.Packed(expr.KindDate, int64(d.Date()), 0)
		if d.HasTime() {
			out.cmp = 1
		}
		return out, true
	case expr.KindTime:
		if how.Class != expr.ClassTime {
			return out, false
		}
		n, fine, err := expr.ToTime(env, v)
		return converted{v: expr.Packed(expr.KindTime, n, 6)}, err == nil && fine
	}
	return out, false
}

func isNumber(v expr.Value) bool {
	switch v.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindDecimal, expr.KindFloat, expr.KindBit:
		return true
	}
	return false
}

// exactFloats is below which all whole numbers are DOUBLEs, so that comparing them as such is comparing them.
const exactFloats = 1 << 53

// wholeFor makes a bound for a column of whole numbers: the number itself or the next one below.
func wholeFor(env *expr.Env, how expr.Comparison, t expr.Type, v expr.Value) (out converted, ok bool) {
	var d apd.Decimal
	switch how.Class {
	case expr.ClassInt, expr.ClassDecimal:
		if v.Kind() == expr.KindBit {
			return out, false
		}
		e, err := expr.ToDecimal(env, v)
		if err != nil {
			return out, false
		}
		d.Set(e)
	case expr.ClassFloat:
		f, err := expr.ToFloat(env, v)
		if err != nil || f >= exactFloats || f <= -exactFloats {
			return out, false
		}
		if _, err := d.SetFloat64(f); err != nil {
			return out, false
		}
	default:
		return out, false
	}
	if d.Exponent > 40 || d.Exponent < -400 {
		return out, false
	}
	n, rest := new(big.Int), new(big.Int)
	coeff := d.Coeff.MathBigInt()
	if d.Negative {
		coeff = new(big.Int).Neg(coeff)
	}
	if d.Exponent >= 0 {
		n.Mul(coeff, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Exponent)), nil))
	} else {
		n.DivMod(coeff, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-d.Exponent)), nil), rest) // rounds down: the divisor is positive
	}
	if rest.Sign() != 0 {
		out.cmp = 1
	}
	least, most := big.NewInt(-1<<63), big.NewInt(1<<63-1)
	if t.Kind() == expr.KindUint {
		least, most = new(big.Int), new(big.Int).SetUint64(1<<64-1)
	}
	switch {
	case n.Cmp(least) < 0:
		n, out.cmp = least, -1
	case n.Cmp(most) > 0:
		n, out.cmp = most, 1
	}
	if t.Kind() == expr.KindUint {
		out.v = expr.Uint(n.Uint64())
	} else {
		out.v = expr.Int(n.Int64())
	}
	return out, true
}

// enumFor finds the element of an ENUM that is equal to a text. Its order is not that of texts: it serves equalities alone.
func enumFor(how expr.Comparison, t expr.Type, v expr.Value) (out converted, ok bool) {
	c, err := collation.ByID(t.Collation)
	if err != nil || how.Class != expr.ClassText || how.Collation != t.Collation || v.Kind() != expr.KindText {
		return out, false
	}
	for _, e := range t.Elements {
		if c.Equal(e, v.RawText()) {
			return converted{v: v}, true
		}
	}
	return out, false
}

// dynamic makes a bound of an expression whose value is not known yet: a column of another table, or of a query around this one.
// equal: for an equality, which may find rows that are not equal.
func (z *optimizer) dynamic(how expr.Comparison, t expr.Type, e expr.Node, equal bool) (expr.Node, bool) {
	s := e.Type()
	same := s.Kind() == t.Kind()
	var ok, cast bool
	switch t.Kind() {
	case expr.KindInt, expr.KindUint:
		ok = same || equal && (s.Kind() == expr.KindInt || s.Kind() == expr.KindUint || s.Kind() == expr.KindDecimal)
		cast = !same
	case expr.KindDecimal:
		ok = same || s.Kind() == expr.KindInt || s.Kind() == expr.KindUint
		cast = !same
		if cast {
			t = expr.TDecimal(20, 0)
		}
	case expr.KindFloat:
		ok, cast = s.IsNumber() && how.Class == expr.ClassFloat, !same
	case expr.KindText:
		ok = same && how.Class == expr.ClassText && how.Collation == t.Collation
	case expr.KindBytes:
		ok = same && how.Class == expr.ClassBytes
	case expr.KindDate, expr.KindTime:
		ok = same
	case expr.KindDatetime:
		ok, cast = s.HasDate(), !same
	}
	if !ok {
		return nil, false
	}
	c, fine := z.copyBound(e)
	if !fine {
		return nil, false
	}
	if cast {
		call, err := expr.Build("as", "", t, c)
		if err != nil {
			return nil, false
		}
		return call, true
	}
	return c, true
}

// copyBound copies an expression for use in a bound. A subquery that is executed once is shared (O5).
func (z *optimizer) copyBound(e expr.Node) (expr.Node, bool) {
	if s, ok := e.(*rel.Subquery); ok {
		return s, s.Kind == rel.Scalar && len(s.Outer) == 0 && !s.Volatile
	}
	if volatile(e) {
		return nil, false
	}
	return clone(e, nil)
}
