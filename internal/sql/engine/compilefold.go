package engine

import (
	"io"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// fold is COUNT(*) or SUM of a column of whole numbers, over all rows of a span.
type fold struct {
	sum  int // place of the column; -1: it counts
	wire querypb.Type
}

// folds reads a list of nothing but such. The types are those that the ordinary path has answered with.
func (c *compiler) folds(s *sqlparser.Select) (out []fold, ok bool) {
	if len(c.result) != len(s.SelectExprs) {
		return nil, false
	}
	for i, e := range s.SelectExprs {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, false
		}
		fn, ok := a.Expr.(*sqlparser.FuncExpr)
		if !ok || !fn.Qualifier.IsEmpty() || fn.Distinct || fn.Over != nil || len(fn.Exprs) != 1 {
			return nil, false
		}
		t := c.result[i].Type
		o := fold{sum: -1, wire: t.Type()}
		switch name := fn.Name.Lowered(); {
		case name == "count" && o.wire == sqltypes.Int64:
			if star, ok := fn.Exprs[0].(*sqlparser.StarExpr); !ok || !star.TableName.IsEmpty() {
				return nil, false
			}
		case name == "sum" && types.IsDecimal(t) && t.(sql.DecimalType).Scale() == 0:
			of, ok := fn.Exprs[0].(*sqlparser.AliasedExpr)
			if !ok {
				return nil, false
			}
			if o.sum = c.column(of.Expr); o.sum < 0 || !c.l.resultColumn(o.sum).direct || c.l.columns[o.sum].Kind >= rowcodec.Float {
				return nil, false
			}
		default:
			return nil, false
		}
		out = append(out, o)
	}
	return out, true
}

func (c *compiler) folded(f *selectForm, folds []fold, s *sqlparser.Select) form {
	if s.QueryOpts.Distinct || len(s.OrderBy) > 0 || s.Limit != nil {
		return nil
	}
	c.anyOrder = true
	span, ok := c.spanned(f, s).(*spanForm)
	if !ok {
		return nil
	}
	span.folds = folds
	for _, o := range folds {
		if o.sum >= 0 {
			span.places = append(span.places, o.sum)
		}
	}
	return span
}

// fold makes the row that the result is.
func (f *spanForm) fold(x *execution, sc *sql.Context, r reach, out *opened) error {
	var count int64
	var err error
	sums, found := make([]int64, len(f.folds)), make([]bool, len(f.folds))
	switch {
	case r.span.Empty():
	case len(f.places) == 0:
		count, err = f.count(x, sc, r.span)
	default:
		count, err = f.sum(x, sc, r, sums, found)
	}
	if err != nil {
		return err
	}
	row := make([]sqltypes.Value, len(f.folds))
	for i, o := range f.folds {
		switch {
		case o.sum < 0:
			row[i] = sqltypes.MakeTrusted(o.wire, strconv.AppendInt(nil, count, 10))
		case found[i]:
			row[i] = sqltypes.MakeTrusted(o.wire, strconv.AppendInt(nil, sums[i], 10))
		}
	}
	out.rows++
	return x.out.row(sc, row, false)
}

// count counts where the rows are.
func (f *spanForm) count(x *execution, sc *sql.Context, span kv.Span) (n int64, err error) {
	if v, err := x.s.GetSessionVariable(sc, inPlaceVariable); err != nil || v != int8(1) {
		return 0, errOrdinary
	}
	groups, _, err := x.s.transaction().count(sc, []txn.Counting{{Spans: []kv.Span{span}, By: f.x.grouping(0)}}, nil)
	if err != nil {
		return 0, err
	}
	for _, g := range groups[0] {
		n += g.Count
	}
	x.h.e.m.InPlace.WithLabelValues("groups").Inc()
	return n, nil
}

// sum reads the rows. A sum that is too large for it is the ordinary path's.
func (f *spanForm) sum(x *execution, sc *sql.Context, r reach, sums []int64, found []bool) (n int64, err error) {
	it, err := f.reader(x, sc, r)
	if err != nil {
		return 0, err
	}
	for ; ; n++ {
		d, err := it.next(sc)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for i, o := range f.folds {
			if o.sum < 0 || d[o.sum].Kind == rowcodec.Null {
				continue
			}
			v := d[o.sum].I
			if d[o.sum].Kind == rowcodec.Uint {
				v = int64(d[o.sum].U)
				if v < 0 {
					return n, errOrdinary
				}
			}
			sum := sums[i] + v
			if (sum > sums[i]) != (v > 0) && v != 0 {
				return n, errOrdinary
			}
			sums[i], found[i] = sum, true
		}
	}
}
