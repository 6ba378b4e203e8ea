package aggregate

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
)

// count is COUNT: of rows whose arguments are all not NULL; COUNT(*) has none.
type count struct{ n int64 }

// Add implements rel.AggState.
func (c *count) Add(_ *expr.Env, args []expr.Value) error {
	c.n += counts(args)
	return nil
}

// Remove implements Remover.
func (c *count) Remove(_ *expr.Env, args []expr.Value) error {
	c.n -= counts(args)
	return nil
}

// SumCounts is the name of an aggregate that statements cannot write: the sum of counts, as a count. NULL counts nothing.
const SumCounts = "sum of counts"

type sumCounts struct{ n int64 }

// Add implements rel.AggState.
func (c *sumCounts) Add(_ *expr.Env, args []expr.Value) error {
	if !args[0].IsNull() {
		c.n += args[0].RawInt()
	}
	return nil
}

// Result implements rel.AggState.
func (c *sumCounts) Result(*expr.Env) (expr.Value, error) { return expr.Int(c.n), nil }

func counts(args []expr.Value) int64 {
	for _, v := range args {
		if v.IsNull() {
			return 0
		}
	}
	return 1
}

// Result implements rel.AggState.
func (c *count) Result(*expr.Env) (expr.Value, error) { return expr.Int(c.n), nil }

// wide is the context of sums: no sum of decimals with 65 digits needs more digits than these.
var wide = apd.BaseContext.WithPrecision(120)

// exactSum is SUM and AVG of exact numbers. What fits in 64 bits at one scale is added there, the rest as decimals.
type exactSum struct {
	average   bool
	scale     int // of the result
	increment int // div_precision_increment
	text      string

	n      int64 // values that are not NULL
	small  int64 // times 10^-places
	places int32
	large  apd.Decimal
}

// Add implements rel.AggState.
func (s *exactSum) Add(env *expr.Env, args []expr.Value) error { return s.change(env, args[0], false) }

// Remove implements Remover.
func (s *exactSum) Remove(env *expr.Env, args []expr.Value) error {
	return s.change(env, args[0], true)
}

func (s *exactSum) change(env *expr.Env, v expr.Value, remove bool) error {
	if v.IsNull() {
		return nil
	}
	s.n++
	if remove {
		s.n -= 2
	}
	if v.Kind() == expr.KindInt && s.addSmall(v.RawInt(), 0, remove) {
		return nil
	}
	d, err := expr.ToDecimal(env, v)
	if err != nil {
		return err
	}
	if d.Exponent <= 0 && d.Coeff.IsInt64() {
		n := d.Coeff.Int64()
		if d.Negative {
			n = -n
		}
		if s.addSmall(n, -d.Exponent, remove) {
			return nil
		}
	}
	if remove {
		_, err = wide.Sub(&s.large, &s.large, d)
	} else {
		_, err = wide.Add(&s.large, &s.large, d)
	}
	return err
}

// addSmall adds to the 64 bits; false: it does not fit, or it has another scale.
func (s *exactSum) addSmall(n int64, places int32, remove bool) bool {
	if s.small == 0 {
		s.places = places
	}
	if places != s.places || n == math.MinInt64 {
		return false
	}
	if remove {
		n = -n
	}
	sum := s.small + n
	if (sum > s.small) != (n > 0) && n != 0 {
		return false
	}
	s.small = sum
	return true
}

// sum is what has been added up.
func (s *exactSum) sum() (*apd.Decimal, error) {
	out := apd.New(s.small, -s.places)
	_, err := wide.Add(out, out, &s.large)
	return out, err
}

// Result implements rel.AggState.
func (s *exactSum) Result(*expr.Env) (expr.Value, error) {
	if s.n == 0 {
		return expr.Null, nil
	}
	sum, err := s.sum()
	if err != nil {
		return expr.Null, err
	}
	hidden := sum
	if s.average {
		q, ok, _ := number.Div(sum, number.FromInt64(s.n), s.increment)
		if !ok {
			return expr.Null, expr.ErrOutOfRange("DECIMAL", s.text)
		}
		hidden = q
	}
	sum = number.Round(hidden, s.scale)
	if number.Precision(sum) > number.MaxPrecision {
		return expr.Null, expr.ErrOutOfRange("DECIMAL", s.text)
	}
	if s.average { // AVG(a) * 3 is calculated with more digits than AVG(a) is shown with
		return expr.DecimalShown(hidden, s.scale), nil
	}
	return expr.Decimal(sum), nil
}

// floatSum is SUM and AVG of all that is not exact.
type floatSum struct {
	average bool
	text    string
	n       int64
	sum     float64
}

// Add implements rel.AggState.
func (s *floatSum) Add(env *expr.Env, args []expr.Value) error {
	if args[0].IsNull() {
		return nil
	}
	f, err := expr.ToFloat(env, args[0])
	s.n++
	s.sum += f
	return err
}

// Result implements rel.AggState.
func (s *floatSum) Result(*expr.Env) (expr.Value, error) {
	if s.n == 0 {
		return expr.Null, nil
	}
	out := s.sum
	if s.average {
		out /= float64(s.n)
	}
	if math.IsInf(out, 0) || math.IsNaN(out) {
		return expr.Null, expr.ErrOutOfRange("DOUBLE", s.text)
	}
	return expr.Float(out), nil
}

// variance is STDDEV and VARIANCE, by the recurrence that MySQL takes (Knuth, The Art of Computer Programming, volume 2, 4.2.2), so that
// the last digits agree.
type variance struct {
	sample, root bool
	n            int64
	mean, square float64
}

// Add implements rel.AggState.
func (s *variance) Add(env *expr.Env, args []expr.Value) error {
	if args[0].IsNull() {
		return nil
	}
	x, err := expr.ToFloat(env, args[0])
	if s.n++; s.n == 1 {
		s.mean = x
		return err
	}
	before := s.mean
	s.mean = before + (x-before)/float64(s.n)
	s.square += (x - before) * (x - s.mean)
	return err
}

// Result implements rel.AggState.
func (s *variance) Result(*expr.Env) (expr.Value, error) {
	n := s.n
	if s.sample {
		n--
	}
	if n <= 0 {
		return expr.Null, nil
	}
	out := s.square / float64(n)
	if s.root {
		out = math.Sqrt(out)
	}
	return expr.Float(out), nil
}

// bitOp is BIT_AND, BIT_OR and BIT_XOR of numbers.
type bitOp struct {
	op   string
	bits uint64
}

func newBitOp(op string) *bitOp {
	b := &bitOp{op: op}
	if op == "bit_and" {
		b.bits = math.MaxUint64
	}
	return b
}

// Add implements rel.AggState.
func (b *bitOp) Add(env *expr.Env, args []expr.Value) error {
	if args[0].IsNull() {
		return nil
	}
	n, _, err := expr.ToInt(env, args[0])
	switch b.op {
	case "bit_and":
		b.bits &= uint64(n)
	case "bit_or":
		b.bits |= uint64(n)
	default:
		b.bits ^= uint64(n)
	}
	return err
}

// Result implements rel.AggState.
func (b *bitOp) Result(*expr.Env) (expr.Value, error) { return expr.Uint(b.bits), nil }

// byteOp is BIT_AND, BIT_OR and BIT_XOR of binary strings, which are equally long.
type byteOp struct {
	op     string
	length int // of the result if there is no row
	bytes  []byte
	some   bool
}

// Add implements rel.AggState.
func (b *byteOp) Add(env *expr.Env, args []expr.Value) error {
	if args[0].IsNull() {
		return nil
	}
	s, err := expr.ToText(env, args[0])
	switch {
	case err != nil:
		return err
	case !b.some:
		b.bytes, b.some = []byte(s), true
		return nil
	case len(s) != len(b.bytes):
		return expr.Errorf(3513, "HY000", "Binary operands of bitwise operators must be of equal length")
	}
	for i := range b.bytes {
		switch b.op {
		case "bit_and":
			b.bytes[i] &= s[i]
		case "bit_or":
			b.bytes[i] |= s[i]
		default:
			b.bytes[i] ^= s[i]
		}
	}
	return nil
}

// Result implements rel.AggState.
func (b *byteOp) Result(*expr.Env) (expr.Value, error) {
	if b.some {
		return expr.Bytes(string(b.bytes)), nil
	}
	out := make([]byte, b.length)
	for i := range out {
		if b.op == "bit_and" {
			out[i] = 0xff
		}
	}
	return expr.Bytes(string(out)), nil
}
