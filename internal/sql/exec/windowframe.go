package exec

import (
	"math"
	"sort"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// framer finds the frame of each row of a partition. Without a frame of its own a window has all rows up to the last peer of the row.
type framer struct {
	w          *window
	rows       bool
	start, end frameEnd
	p          *windowPart
}

// frameEnd is one end of a frame.
type frameEnd struct {
	kind rel.FrameBoundKind
	n    *rel.FrameBound
	off  int64      // ROWS: how many
	by   expr.Value // RANGE over numbers: how far
	// RANGE over dates and times, or over integers by an integer: the value of the row in its register, plus and minus the offset.
	value       *register
	plus, minus expr.Node
}

func newFramer(w *window, f *rel.WindowFunc) (*framer, error) {
	out := &framer{w: w, start: frameEnd{kind: rel.UnboundedPreceding}, end: frameEnd{kind: rel.CurrentRow}}
	if f.Frame == nil {
		return out, nil
	}
	out.rows = f.Frame.Rows
	out.start = frameEnd{kind: f.Frame.Start.Kind, n: &f.Frame.Start}
	out.end = frameEnd{kind: f.Frame.End.Kind, n: &f.Frame.End}
	for _, e := range []*frameEnd{&out.start, &out.end} {
		if e.n.Value == nil || out.rows {
			continue
		}
		if len(w.n.Order) != 1 {
			return nil, errFrameOrder
		}
		value := &register{t: w.n.Order[0].Expr.Type()}
		plus, minus, of := "date_add", "date_sub", [2]string{f.Text, f.Text}
		if e.n.Unit == "" {
			if !value.t.IsInteger() || !e.n.Value.Type().IsInteger() {
				continue
			}
			by, err := e.n.Value.Eval(w.x.env)
			if err != nil {
				return nil, err
			}
			text, err := expr.ToText(w.x.env, by)
			if err != nil {
				return nil, err
			}
			plus, minus, of = "+", "-", [2]string{"(<cache>(" + f.Frame.Key + ") + " + text + ")", "(<cache>(" + f.Frame.Key + ") - " + text + ")"}
		}
		e.value = value
		var err error
		if e.plus, err = buildSum(plus, of[0], e); err != nil {
			return nil, err
		}
		if e.minus, err = buildSum(minus, of[1], e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// buildSum makes the sum of the value of a row and the offset of an end.
func buildSum(operation, text string, e *frameEnd) (expr.Node, error) {
	if e.n.Unit == "" {
		return expr.Build(operation, text, nil, e.value, e.n.Value)
	}
	return expr.Build(operation, text, e.n.Unit, e.value, e.n.Value)
}

// check finds the frame of each row of a partition, for functions that do not read it: MySQL's error 1690 if the value of a row plus or
// minus the offset is none of its type.
func (f *framer) check(p *windowPart) error {
	if f.start.value == nil && f.end.value == nil {
		return nil
	}
	if err := f.begin(p); err != nil {
		return err
	}
	for i := range p.size() {
		if _, _, err := f.of(i); err != nil {
			return err
		}
	}
	return nil
}

// startsAtBeginning reports whether all frames begin with the partition.
func (f *framer) startsAtBeginning() bool { return f.start.kind == rel.UnboundedPreceding }

// MySQL's errors about frames. Package bind reports them with the window's name where the offset is known.
var (
	errFrameNegative = expr.Errorf(3586, "HY000", "Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type")
	errFrameOrder    = expr.Errorf(3587, "HY000", "Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one"+
		" deterministic ORDER BY expression, of numeric or temporal type")
)

// begin gets ready for the rows of a partition.
func (f *framer) begin(p *windowPart) error {
	f.p = p
	for _, e := range []*frameEnd{&f.start, &f.end} {
		if e.kind != rel.Preceding && e.kind != rel.Following {
			continue
		}
		v, err := e.n.Value.Eval(f.w.x.env)
		if err != nil {
			return err
		}
		if v.IsNull() {
			return errFrameNegative
		}
		if !f.rows {
			if len(f.w.n.Order) != 1 {
				return errFrameOrder
			}
			if e.by = v; e.n.Unit == "" && negative(v) {
				return errFrameNegative
			}
			continue
		}
		switch {
		case v.Kind() == expr.KindInt && v.RawInt() >= 0:
			e.off = v.RawInt()
		case v.Kind() == expr.KindUint:
			e.off = int64(min(v.RawUint(), math.MaxInt64))
		default:
			return errFrameNegative
		}
	}
	return nil
}

func negative(v expr.Value) bool {
	switch v.Kind() {
	case expr.KindInt:
		return v.RawInt() < 0
	case expr.KindDecimal:
		return v.RawDecimal().Negative && !v.RawDecimal().IsZero()
	case expr.KindFloat:
		return v.RawFloat() < 0
	case expr.KindUint:
		return false
	}
	return true
}

// of is the frame of the ith row of the partition, [from, to) from the partition's start. It may be empty: from >= to.
func (f *framer) of(i int) (from, to int, err error) {
	n := f.p.size()
	switch {
	case f.start.kind == rel.UnboundedPreceding:
	case f.start.kind == rel.CurrentRow && f.rows:
		from = i
	case f.start.kind == rel.CurrentRow:
		from = int(f.p.first[i])
	case f.rows:
		from = f.start.shifted(i, n)
	default:
		from, err = f.search(i, &f.start, false)
	}
	if err != nil {
		return 0, 0, err
	}
	switch {
	case f.end.kind == rel.UnboundedFollowing:
		to = n
	case f.end.kind == rel.CurrentRow && f.rows:
		to = i + 1
	case f.end.kind == rel.CurrentRow:
		to = int(f.p.last[i])
	case f.rows:
		to = f.end.shifted(i+1, n)
	default:
		to, err = f.search(i, &f.end, true)
	}
	return from, to, err
}

// shifted is a place moved by the offset, within the partition.
func (e *frameEnd) shifted(i, n int) int {
	off := int(min(e.off, int64(n)+1))
	if e.kind == rel.Preceding {
		off = -off
	}
	return min(max(i+off, 0), n)
}

// key is what the ith row of the partition is ordered by.
func (f *framer) key(i int) expr.Value { return f.w.kept(f.p.start + i)[len(f.w.n.Partition)] }

// search finds where a RANGE frame with an offset begins: at the first row that is not before the row's value plus or minus the offset;
// or ends: behind the last row that is not after it. Of a NULL it is the NULLs.
func (f *framer) search(i int, e *frameEnd, end bool) (int, error) {
	v := f.key(i)
	if v.IsNull() {
		if end {
			return int(f.p.last[i]), nil
		}
		return int(f.p.first[i]), nil
	}
	desc := f.w.n.Order[0].Desc
	plus := (e.kind == rel.Following) != desc
	limit, inside, err := f.limit(v, e, plus)
	if err != nil {
		return 0, err
	}
	if !inside && !plus { // MySQL compares with NULL, and no row is in the frame
		if end {
			return 0, nil
		}
		return f.p.size(), nil
	}
	var failed error
	at := sort.Search(f.p.size(), func(j int) bool {
		k := f.key(j)
		if k.IsNull() {
			return desc // NULLs are behind all values if descending, else before them
		}
		if !inside { // beyond all values, in the direction of the offset
			return e.kind == rel.Preceding
		}
		c, err := f.compare(k, limit)
		if err != nil {
			failed = err
		}
		if desc {
			c = -c
		}
		if end {
			return c > 0
		}
		return c >= 0
	})
	return at, failed
}

// limit is v plus or minus the offset; false: no value is so large, or so small.
func (f *framer) limit(v expr.Value, e *frameEnd, plus bool) (expr.Value, bool, error) {
	if e.value != nil {
		e.value.v = v
		sum := e.minus
		if plus {
			sum = e.plus
		}
		if e.n.Unit == "" {
			out, err := sum.Eval(f.w.x.env)
			return out, true, err
		}
		quiet := *f.w.x.env // a date beyond the last one is no fault of the statement
		quiet.Warn, quiet.Change = nil, false
		out, err := sum.Eval(&quiet)
		return out, !out.IsNull(), err
	}
	if v.Kind() == expr.KindFloat || e.by.Kind() == expr.KindFloat {
		a, err := expr.ToFloat(f.w.x.env, v)
		if err != nil {
			return expr.Null, false, err
		}
		b, err := expr.ToFloat(f.w.x.env, e.by)
		if !plus {
			b = -b
		}
		return expr.Float(a + b), !math.IsInf(a+b, 0), err
	}
	a, err := expr.ToDecimal(f.w.x.env, v)
	if err != nil {
		return expr.Null, false, err
	}
	b, err := expr.ToDecimal(f.w.x.env, e.by)
	if err != nil {
		return expr.Null, false, err
	}
	var out *apd.Decimal
	ok := false
	if plus {
		out, ok = number.Add(a, b)
	} else {
		out, ok = number.Sub(a, b)
	}
	if !ok {
		return expr.Null, false, nil
	}
	return expr.Decimal(out), true, nil
}

// compare compares a value of the ordering column with a limit.
func (f *framer) compare(k, limit expr.Value) (int, error) {
	env := f.w.x.env
	switch {
	case k.Kind() == expr.KindInt && limit.Kind() == expr.KindInt,
		k.Kind() == expr.KindTime && limit.Kind() == expr.KindTime,
		isDate(k) && isDate(limit):
		return compareNumbers(k.RawInt(), limit.RawInt()), nil
	case isDate(limit) || limit.Kind() == expr.KindTime: // a TIME plus days is a datetime
		a, _, err := expr.ToDatetime(env, k)
		if err != nil {
			return 0, err
		}
		b, _, err := expr.ToDatetime(env, limit)
		return compareNumbers(a, b), err
	case limit.Kind() == expr.KindFloat:
		a, err := expr.ToFloat(env, k)
		if err != nil {
			return 0, err
		}
		switch b := limit.RawFloat(); {
		case a < b:
			return -1, nil
		case a > b:
			return 1, nil
		}
		return 0, nil
	}
	a, err := expr.ToDecimal(env, k)
	if err != nil {
		return 0, err
	}
	b, err := expr.ToDecimal(env, limit)
	if err != nil {
		return 0, err
	}
	return a.Cmp(b), nil
}

func isDate(v expr.Value) bool { return v.Kind() == expr.KindDate || v.Kind() == expr.KindDatetime }
