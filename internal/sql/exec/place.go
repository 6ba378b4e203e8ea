package exec

import (
	"math"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// placing says where a value stands among those that a column of an index can have.
type placing uint8

const (
	exact    placing = iota // it is one of them, or would be if the column were wider
	below                   // it is between two of them, or above all: place gives the nearest below it
	under                   // it is less than all of them
	unplaced                // the comparison is not in the order of the index
)

// place finds the place of a value, not NULL, that is compared with a column of type t. n is the expression that has the value. The
// answer must agree with the comparison of package expr, so it is unplaced where the two are compared as something else than what
// the index is ordered by.
func (x *Execution) place(t expr.Type, n expr.Node, v expr.Value) (expr.Value, placing) {
	quiet := *x.env // the condition warns when it is checked
	quiet.Warn, quiet.Change = nil, false
	env := &quiet
	switch t.Kind() {
	case expr.KindInt, expr.KindUint:
		return placeInteger(env, t, v)
	case expr.KindBit:
		to, how := placeInteger(env, expr.TUint, v)
		if how == exact {
			to = bitOf(to.RawUint(), t.Length)
		}
		return to, how
	case expr.KindFloat:
		return placeFloat(env, t, v)
	case expr.KindDecimal:
		return placeDecimal(env, t, v)
	case expr.KindText:
		return placeText(t, n.Type(), v)
	case expr.KindBytes:
		if v.Kind() == expr.KindBytes || v.Kind() == expr.KindText && n.Type().Coerc > expr.Explicit {
			return expr.Bytes(v.RawText()), exact
		}
	case expr.KindDate, expr.KindDatetime:
		_, literal := n.(*expr.Lit)
		return placeDate(env, t, v, literal)
	case expr.KindTime:
		_, literal := n.(*expr.Lit)
		return placeTime(t, v, literal)
	case expr.KindEnum:
		return placeEnum(t, n.Type(), v)
	}
	return expr.Null, unplaced
}

// exactFloat is up to where all whole numbers are floats of their own.
const exactFloat = 1 << 53

// placeInteger: integers are compared with integers and decimals as numbers, with everything else as floats.
func placeInteger(env *expr.Env, t expr.Type, v expr.Value) (expr.Value, placing) {
	var d *apd.Decimal
	switch v.Kind() {
	case expr.KindInt:
		return clampInteger(t, v.RawInt() < 0, uint64(v.RawInt()))
	case expr.KindUint, expr.KindBit:
		return clampInteger(t, false, v.RawUint())
	case expr.KindDecimal:
		d = v.RawDecimal()
	case expr.KindFloat, expr.KindText, expr.KindBytes:
		f, err := expr.ToFloat(env, v)
		if err != nil || math.Abs(f) >= exactFloat {
			return expr.Null, unplaced
		}
		low := math.Floor(f)
		to, how := clampInteger(t, low < 0, uint64(int64(low)))
		if how == exact && low != f {
			how = below
		}
		return to, how
	default:
		return expr.Null, unplaced
	}
	low := number.Floor(d)
	to, how := wholeDecimal(t, low)
	if how == exact && low.Cmp(d) != 0 {
		how = below
	}
	return to, how
}

func wholeDecimal(t expr.Type, d *apd.Decimal) (expr.Value, placing) {
	n, at := number.ToInt64(d)
	if at == number.InRange {
		return clampInteger(t, n < 0, uint64(n))
	}
	u, at := number.ToUint64(d)
	switch {
	case at == number.InRange:
		return clampInteger(t, false, u)
	case d.Negative:
		return expr.Null, under
	case t.Kind() == expr.KindUint:
		return expr.Uint(math.MaxUint64), below
	}
	return expr.Int(math.MaxInt64), below
}

// clampInteger places a whole number, given by its bits.
func clampInteger(t expr.Type, negative bool, bits uint64) (expr.Value, placing) {
	if t.Kind() == expr.KindUint {
		if negative {
			return expr.Null, under
		}
		return expr.Uint(bits), exact
	}
	if !negative && bits > math.MaxInt64 {
		return expr.Int(math.MaxInt64), below
	}
	return expr.Int(int64(bits)), exact
}

func bitOf(n uint64, bits int) expr.Value {
	b := make([]byte, (bits+7)/8)
	for i := range b {
		b[len(b)-1-i] = byte(n >> (8 * i))
	}
	return expr.Bit(string(b), n)
}

// placeFloat: floats are compared with all numbers and texts as floats.
func placeFloat(env *expr.Env, t expr.Type, v expr.Value) (expr.Value, placing) {
	switch v.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindBit, expr.KindFloat, expr.KindDecimal, expr.KindText, expr.KindBytes:
	default:
		return expr.Null, unplaced
	}
	f, err := expr.ToFloat(env, v)
	if err != nil || math.IsNaN(f) {
		return expr.Null, unplaced
	}
	if t.Name != expr.FloatType {
		return expr.Float(f), exact
	}
	s := float32(f)
	if float64(s) == f {
		return expr.Single(s), exact
	}
	if float64(s) > f {
		s = math.Nextafter32(s, float32(math.Inf(-1)))
	}
	if math.IsInf(float64(s), 0) {
		return expr.Null, unplaced
	}
	return expr.Single(s), below
}

// placeDecimal: decimals are compared with integers and decimals as decimals, with floats and texts as floats.
func placeDecimal(env *expr.Env, t expr.Type, v expr.Value) (expr.Value, placing) {
	switch v.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindBit, expr.KindDecimal:
		d, err := expr.ToDecimal(env, v)
		if err != nil {
			return expr.Null, unplaced
		}
		return floorDecimal(t, d)
	case expr.KindFloat, expr.KindText, expr.KindBytes:
		f, err := expr.ToFloat(env, v)
		if err != nil || t.Length > 15 || math.Abs(f) >= exactFloat {
			return expr.Null, unplaced // several decimals are one float
		}
		d, at := number.FromFloat64(f)
		if at != number.InRange {
			return expr.Null, unplaced
		}
		near := number.Round(d, t.Scale)
		switch as := number.ToFloat64(near); {
		case as == f:
			return expr.Decimal(near), exact
		case as < f:
			return expr.Decimal(near), below
		}
		low, ok := number.Sub(near, apd.New(1, int32(-t.Scale)))
		if !ok {
			return expr.Null, unplaced
		}
		return expr.Decimal(low), below
	}
	return expr.Null, unplaced
}

func floorDecimal(t expr.Type, d *apd.Decimal) (expr.Value, placing) {
	low := number.Truncate(d, t.Scale)
	if low.Cmp(d) == 0 {
		return expr.Decimal(low), exact
	}
	if d.Negative {
		var ok bool
		if low, ok = number.Sub(low, apd.New(1, int32(-t.Scale))); !ok {
			return expr.Null, unplaced
		}
	}
	return expr.Decimal(low), below
}

// placeText: texts are compared under a collation, which must be that of the column.
func placeText(t, from expr.Type, v expr.Value) (expr.Value, placing) {
	switch v.Kind() {
	case expr.KindText:
		if from.Collation == t.Collation || from.Coerc > expr.Implicit {
			return v, exact // a literal takes the column's collation
		}
	case expr.KindBytes:
		// compared as bytes: texts of the same bytes are equal under each collation, but they are in another order
		if c, err := collation.ByID(t.Collation); err == nil && c.Bytewise() && utf8.ValidString(v.RawText()) {
			return expr.Text(v.RawText()), exact
		}
	}
	return expr.Null, unplaced
}

// placeTime: times are compared with texts as texts, but with literals that are times.
func placeTime(t expr.Type, v expr.Value, literal bool) (expr.Value, placing) {
	switch {
	case v.Kind() == expr.KindTime:
		return expr.Packed(expr.KindTime, v.RawInt(), t.Scale), exact
	case v.Kind() == expr.KindText && literal:
		if r := temporal.ParseTime(v.RawText(), 0); r.Kind == temporal.KindTime && r.Faults == 0 {
			return expr.Packed(expr.KindTime, int64(r.Duration), t.Scale), exact
		}
	}
	return expr.Null, unplaced
}

// placeDate: dates are compared as datetimes, but with numbers as numbers; a literal number beside a DATETIME column is a datetime if it
// is one.
func placeDate(env *expr.Env, t expr.Type, v expr.Value, literal bool) (expr.Value, placing) {
	switch v.Kind() {
	case expr.KindDate, expr.KindDatetime, expr.KindTime, expr.KindText:
	case expr.KindInt, expr.KindUint:
		r := temporal.FromNumber(v.RawInt(), 0, temporal.ZeroParts)
		if !literal || !r.OK() || r.Faults != 0 || !r.DateTime.IsReal() || t.Kind() != expr.KindDatetime {
			return expr.Null, unplaced
		}
		return expr.Packed(expr.KindDatetime, int64(r.DateTime), t.Scale), exact
	default:
		return expr.Null, unplaced
	}
	p, ok, err := expr.ToDatetime(env, v)
	if err != nil || !ok {
		return expr.Null, unplaced
	}
	if t.Kind() == expr.KindDatetime {
		return expr.Packed(expr.KindDatetime, p, t.Scale), exact
	}
	day := temporal.DateTime(p).Date()
	if int64(day) == p {
		return expr.Packed(expr.KindDate, p, 0), exact
	}
	return expr.Packed(expr.KindDate, int64(day), 0), below
}

// placeEnum: a column of ENUM is ordered by number, and compared with texts as a text: only what is equal to one has a place.
func placeEnum(t, from expr.Type, v expr.Value) (expr.Value, placing) {
	if v.Kind() != expr.KindText || from.Collation != t.Collation && from.Coerc <= expr.Implicit {
		return expr.Null, unplaced
	}
	c, err := collation.ByID(t.Collation)
	if err != nil {
		return expr.Null, unplaced
	}
	for i, e := range t.Elements {
		if c.Equal(e, v.RawText()) {
			return expr.Enum(uint64(i+1), e), exact
		}
	}
	return expr.Null, unplaced
}
