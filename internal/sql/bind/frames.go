package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func errFrame(w *window) error {
	return expr.Errorf(3586, "HY000", "Window '%s': frame start or end is negative, NULL or of non-integral type", w.name)
}

// frame binds the frame of a window; nil: the window has none, so that it ends with the rows that are equal to the current one under ORDER
// BY, or with the partition if there is no ORDER BY.
func (b *binder) frame(w *window, over *windowOrder, s *scope) (*rel.WindowFrame, error) {
	if w.frame == nil {
		return nil, nil
	}
	out := &rel.WindowFrame{Rows: w.frame.Unit == sqlparser.RowsUnit}
	if !out.Rows && w.frame.Unit != sqlparser.RangeUnit {
		return nil, notYet("GROUPS")
	}
	var err error
	if out.Start, err = b.frameBound(w, w.frame.Extent.Start, out.Rows, over, s); err != nil {
		return nil, err
	}
	out.End.Kind = rel.CurrentRow
	if w.frame.Extent.End != nil {
		if out.End, err = b.frameBound(w, w.frame.Extent.End, out.Rows, over, s); err != nil {
			return nil, err
		}
	}
	start, end := out.Start.Kind, out.End.Kind
	switch {
	case start == rel.UnboundedFollowing:
		return nil, expr.Errorf(3584, "HY000", "Window '%s': frame start cannot be UNBOUNDED FOLLOWING.", w.name)
	case end == rel.UnboundedPreceding:
		return nil, expr.Errorf(3585, "HY000", "Window '%s': frame end cannot be UNBOUNDED PRECEDING.", w.name)
	case start > end && start != rel.UnboundedFollowing: // the kinds are in the order of the rows
		return nil, errFrame(w)
	}
	if !out.Rows && (out.Start.Value != nil || out.End.Value != nil) {
		out.Key = b.text(over.order[0].Expr)
	}
	return out, nil
}

var boundKinds = map[sqlparser.BoundType]rel.FrameBoundKind{
	sqlparser.CurrentRow: rel.CurrentRow, sqlparser.UnboundedFollowing: rel.UnboundedFollowing,
	sqlparser.UnboundedPreceding: rel.UnboundedPreceding, sqlparser.ExprPreceding: rel.Preceding, sqlparser.ExprFollowing: rel.Following,
}

// frameBound binds one end of a frame.
func (b *binder) frameBound(w *window, f *sqlparser.FrameBound, rows bool, over *windowOrder, s *scope) (rel.FrameBound, error) {
	out := rel.FrameBound{Kind: boundKinds[f.Type]}
	if f.Expr == nil {
		return out, nil
	}
	e := inParens(f.Expr)
	interval, isInterval := e.(*sqlparser.IntervalExpr)
	if rows && isInterval {
		return out, expr.Errorf(3596, "HY000", "Window '%s': INTERVAL can only be used with RANGE frames.", w.name)
	}
	if !rows {
		if err := rangeOrder(w, over, isInterval); err != nil {
			return out, err
		}
	}
	if isInterval {
		e, out.Unit = interval.Expr, strings.ToUpper(interval.Unit)
	}
	var err error
	if out.Value, err = b.scalar(e, s); err != nil {
		return out, err
	}
	if !expr.IsConst(out.Value) {
		return out, expr.Errorf(3590, "HY000", "Window '%s' has a non-constant frame bound.", w.name)
	}
	v, err := out.Value.Eval(b.set.Env)
	if err != nil {
		return out, err
	}
	return out, checkBound(w, v, rows, isInterval)
}

// rangeOrder checks what a frame with RANGE and an offset may be ordered by: one number, or one date or time with an INTERVAL.
func rangeOrder(w *window, over *windowOrder, interval bool) error {
	one := len(over.order) == 1 && !rel.IsVolatile(over.order[0].Expr)
	var t expr.Type
	if one {
		t = over.order[0].Expr.Type()
	}
	switch {
	case !one || !t.IsNumber() && !t.IsTemporal():
		return expr.Errorf(3587, "HY000",
			"Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one deterministic ORDER BY expression, of numeric or temporal type",
			w.name)
	case t.IsTemporal() && !interval:
		return expr.Errorf(3588, "HY000",
			"Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.", w.name)
	case !t.IsTemporal() && interval:
		return expr.Errorf(3589, "HY000",
			"Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.", w.name)
	}
	return nil
}

// checkBound checks the constant of N PRECEDING or N FOLLOWING.
func checkBound(w *window, v expr.Value, rows, interval bool) error {
	switch v.Kind() {
	case expr.KindInt:
		if v.RawInt() >= 0 {
			return nil
		}
	case expr.KindUint:
		return nil
	case expr.KindDecimal:
		if !rows && !v.RawDecimal().Negative {
			return nil
		}
	case expr.KindFloat:
		if !rows && v.RawFloat() >= 0 {
			return nil
		}
	case expr.KindText:
		if interval && !strings.HasPrefix(strings.TrimSpace(v.RawText()), "-") {
			return nil
		}
	}
	return errFrame(w)
}
