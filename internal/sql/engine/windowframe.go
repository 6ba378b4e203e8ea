package engine

import (
	"sort"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// MySQL's errors about frames.
var (
	errFrameNegative = mysql.NewSQLError(3586, "HY000", "Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type")
	errFrameOrder    = mysql.NewSQLError(3587, "HY000", "Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type")
	errFrameInterval = mysql.NewSQLError(3588, "HY000", "Window '<unnamed window>' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.")
	errFrameTemporal = mysql.NewSQLError(3589, "HY000", "Window '<unnamed window>' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.")
)

// frameBound is one end of a frame.
type frameBound struct {
	unbounded bool // the partition's beginning, or end
	current   bool // the row itself or, in a RANGE, its peers
	following bool // offset rows or values behind it; else before it
	offset    int64
	// of a RANGE with an offset
	number   *apd.Decimal
	interval *expression.TimeDelta
}

// framer finds the frame of each row of a partition.
type framer struct {
	p          *windowPartition
	rows       bool
	start, end frameBound
}

// newFramer reads a window's frame. Without one it is all rows up to the last peer or, without ORDER BY, of the partition.
func newFramer(ctx *sql.Context, d *sql.WindowDefinition, p *windowPartition) (*framer, error) {
	f := &framer{p: p, start: frameBound{unbounded: true}, end: frameBound{current: true}}
	if d == nil || d.Frame == nil {
		return f, nil
	}
	fr := d.Frame
	f.rows = strings.HasPrefix(fr.String(), "ROWS")
	var err error
	bound := func(unbounded, current bool, preceding, following sql.Expression) frameBound {
		b := frameBound{unbounded: unbounded, current: current, following: following != nil}
		if unbounded || current || err != nil {
			return b
		}
		e := preceding
		if e == nil {
			e = following
		}
		if e == nil { // ROWS n PRECEDING, say, ends at the current row
			b.current = true
			return b
		}
		err = b.read(ctx, e, f)
		return b
	}
	f.start = bound(fr.UnboundedPreceding(), fr.StartCurrentRow(), fr.StartNPreceding(), fr.StartNFollowing())
	f.end = bound(fr.UnboundedFollowing(), fr.EndCurrentRow(), fr.EndNPreceding(), fr.EndNFollowing())
	return f, err
}

// read evaluates the constant of N PRECEDING or N FOLLOWING.
func (b *frameBound) read(ctx *sql.Context, e sql.Expression, f *framer) error {
	iv, isInterval := e.(*expression.Interval)
	if f.rows {
		if isInterval {
			return errFrameNegative
		}
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return err
		}
		n, ok, err := wholeNumberOf(ctx, v)
		if err != nil || !ok || n < 0 {
			return errFrameNegative
		}
		b.offset = n
		return nil
	}
	if len(f.p.by) != 1 {
		return errFrameOrder
	}
	temporal := types.IsTime(f.p.types[0]) || types.IsTimespan(f.p.types[0])
	switch {
	case !temporal && !types.IsNumber(f.p.types[0]):
		return errFrameOrder
	case temporal && !isInterval:
		return errFrameInterval
	case !temporal && isInterval:
		return errFrameTemporal
	case temporal:
		d, err := iv.EvalDelta(ctx, nil)
		if err != nil || d == nil {
			return errFrameNegative
		}
		b.interval = d
		return nil
	}
	v, err := e.Eval(ctx, nil)
	if err != nil || v == nil {
		return errFrameNegative
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil || d == nil || d.(*apd.Decimal).Negative {
		return errFrameNegative
	}
	b.number = d.(*apd.Decimal)
	return nil
}

// frame is [from, to) for row i. It may be empty: from >= to.
func (f *framer) frame(ctx *sql.Context, i int) (from, to int, err error) {
	n := len(f.p.rows)
	switch {
	case f.start.unbounded:
	case f.start.current && f.rows:
		from = i
	case f.start.current:
		from = f.p.first[i]
	case f.rows:
		from = shifted(i, f.start, n)
	default:
		from, err = f.search(ctx, i, f.start, false)
	}
	if err != nil {
		return 0, 0, err
	}
	switch {
	case f.end.unbounded:
		to = n
	case f.end.current && f.rows:
		to = i + 1
	case f.end.current:
		to = f.p.last[i]
	case f.rows:
		to = shifted(i+1, f.end, n)
	default:
		to, err = f.search(ctx, i, f.end, true)
	}
	return from, to, err
}

func shifted(i int, b frameBound, n int) int {
	off := int(min(b.offset, int64(n)+1))
	if !b.following {
		off = -off
	}
	return min(max(i+off, 0), n)
}

// search finds where a RANGE frame with an offset begins: at the first row that is not before the current row's value plus or
// minus the offset; or ends: behind the last row that is not after it. Of a NULL it is the NULLs.
func (f *framer) search(ctx *sql.Context, i int, b frameBound, end bool) (int, error) {
	p := f.p
	v := p.keys[i][0]
	if v == nil {
		if end {
			return p.last[i], nil
		}
		return p.first[i], nil
	}
	desc := p.by[0].Order == sql.Descending
	limit, err := b.limit(ctx, v, b.following != desc)
	if err != nil {
		return 0, err
	}
	var failed error
	at := sort.Search(len(p.rows), func(j int) bool {
		k := p.keys[j][0]
		if k == nil {
			return desc // NULLs are behind all values if descending, else before them
		}
		c, err := compareOffset(ctx, k, limit)
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

// limit is v plus or minus the offset.
func (b *frameBound) limit(ctx *sql.Context, v any, plus bool) (any, error) {
	if b.interval != nil {
		switch t := v.(type) {
		case time.Time:
			if plus {
				return b.interval.Add(t), nil
			}
			return b.interval.Sub(t), nil
		case types.Timespan:
			zero := time.Unix(0, 0).UTC()
			d := types.Timespan(b.interval.Add(zero).Sub(zero).Microseconds())
			if plus {
				return t + d, nil
			}
			return t - d, nil
		}
		return nil, errFrameOrder
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	out := new(apd.Decimal)
	if plus {
		_, err = exactDecimals.Add(out, d.(*apd.Decimal), b.number)
	} else {
		_, err = exactDecimals.Sub(out, d.(*apd.Decimal), b.number)
	}
	return out, err
}

// compareOffset compares a value of the ordering column with a limit.
func compareOffset(ctx *sql.Context, v, limit any) (int, error) {
	switch l := limit.(type) {
	case time.Time:
		return v.(time.Time).Compare(l), nil
	case types.Timespan:
		t := v.(types.Timespan)
		switch {
		case t < l:
			return -1, nil
		case t > l:
			return 1, nil
		}
		return 0, nil
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	return d.(*apd.Decimal).Cmp(limit.(*apd.Decimal)), nil
}
