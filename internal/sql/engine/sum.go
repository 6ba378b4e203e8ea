package engine

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// SUM and AVG of exact numbers are exact, as in MySQL; go-mysql-server makes them DOUBLE.

// exactAggregate gives SUM and AVG.
func exactAggregate(name string) (sql.Function, bool) {
	switch name {
	case "sum":
		return sql.Function1{Name: "sum", Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return &exactSum{Sum: aggregation.NewSum(e)}
		}}, true
	case "avg":
		return sql.Function1{Name: "avg", Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return &exactAvg{Avg: aggregation.NewAvg(e)}
		}}, true
	}
	return nil, false
}

// exactDecimals is the precision that intermediate results have.
var exactDecimals = apd.BaseContext.WithPrecision(80)

// exactType is the type of a sum or average of values of type t, more digits behind the point; ok is false for
// approximate numbers.
func exactType(t sql.Type, more uint8) (sql.Type, bool) {
	precision, scale := uint8(65), uint8(0)
	switch n := t.(type) {
	case sql.DecimalType:
		precision, scale = min(65, n.Precision()+22), n.Scale()
	case sql.NumberType:
		if n.IsFloat() {
			return nil, false
		}
		precision = 41
	default:
		return nil, false
	}
	scale = min(30, scale+more)
	d, err := types.CreateDecimalType(max(precision, scale), scale)
	return d, err == nil
}

type exactSum struct{ *aggregation.Sum }

// Type implements sql.Expression.
func (s *exactSum) Type(ctx *sql.Context) sql.Type {
	if t, ok := exactType(s.Child.Type(ctx), 0); ok {
		return t
	}
	return s.Sum.Type(ctx)
}

// WithChildren implements sql.Expression.
func (s *exactSum) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := s.Sum.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &exactSum{e.(*aggregation.Sum)}, nil
}

// WithWindow implements sql.WindowAdaptableExpression.
func (s *exactSum) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &exactSum{s.Sum.WithWindow(ctx, w).(*aggregation.Sum)}
}

// WithId implements sql.IdExpression.
func (s *exactSum) WithId(id sql.ColumnId) sql.IdExpression {
	return &exactSum{s.Sum.WithId(id).(*aggregation.Sum)}
}

// NewBuffer implements sql.Aggregation.
func (s *exactSum) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	if _, ok := exactType(s.Child.Type(ctx), 0); !ok {
		return s.Sum.NewBuffer(ctx)
	}
	child, err := transform.Clone(ctx, s.Child)
	return &exactBuffer{child: child}, err
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (s *exactSum) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	w, err := s.Sum.NewWindowFunction(ctx)
	if _, ok := exactType(s.Child.Type(ctx), 0); !ok || err != nil {
		return w, err
	}
	return &exactWindow{WindowFunction: w, child: s.Child}, nil
}

type exactAvg struct{ *aggregation.Avg }

// Type implements sql.Expression.
func (a *exactAvg) Type(ctx *sql.Context) sql.Type {
	if t, ok := exactType(a.Child.Type(ctx), 4); ok {
		return t
	}
	return a.Avg.Type(ctx)
}

// WithChildren implements sql.Expression.
func (a *exactAvg) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := a.Avg.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &exactAvg{e.(*aggregation.Avg)}, nil
}

// WithWindow implements sql.WindowAdaptableExpression.
func (a *exactAvg) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &exactAvg{a.Avg.WithWindow(ctx, w).(*aggregation.Avg)}
}

// WithId implements sql.IdExpression.
func (a *exactAvg) WithId(id sql.ColumnId) sql.IdExpression {
	return &exactAvg{a.Avg.WithId(id).(*aggregation.Avg)}
}

// NewBuffer implements sql.Aggregation.
func (a *exactAvg) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	t, ok := exactType(a.Child.Type(ctx), 4)
	if !ok {
		return a.Avg.NewBuffer(ctx)
	}
	child, err := transform.Clone(ctx, a.Child)
	return &exactBuffer{child: child, average: t.(sql.DecimalType)}, err
}

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (a *exactAvg) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	w, err := a.Avg.NewWindowFunction(ctx)
	t, ok := exactType(a.Child.Type(ctx), 4)
	if !ok || err != nil {
		return w, err
	}
	return &exactWindow{WindowFunction: w, child: a.Child, average: t.(sql.DecimalType)}, nil
}

// exactBuffer adds decimals up.
type exactBuffer struct {
	child   sql.Expression
	average sql.DecimalType // nil: the sum
	sum     apd.Decimal
	count   int64
}

// Update implements sql.AggregationBuffer.
func (b *exactBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.child.Eval(ctx, row)
	if v == nil || err != nil {
		return err
	}
	if n, ok := v.(int64); ok && b.count == 0 {
		b.sum.SetInt64(n)
		b.count++
		return nil
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return err
	}
	b.count++
	_, err = exactDecimals.Add(&b.sum, &b.sum, d.(*apd.Decimal))
	return err
}

// Eval implements sql.AggregationBuffer.
func (b *exactBuffer) Eval(*sql.Context) (any, error) {
	if b.count == 0 {
		return nil, nil
	}
	if b.average == nil {
		return new(apd.Decimal).Set(&b.sum), nil
	}
	var q apd.Decimal
	if _, err := exactDecimals.Quo(&q, &b.sum, apd.New(b.count, 0)); err != nil {
		return nil, err
	}
	out := new(apd.Decimal)
	_, err := exactDecimals.Quantize(out, &q, -int32(b.average.Scale()))
	return out, err
}

// Dispose implements sql.Disposable.
func (b *exactBuffer) Dispose(*sql.Context) {}

// exactWindow computes each frame by itself.
type exactWindow struct {
	sql.WindowFunction // for its framer
	child              sql.Expression
	average            sql.DecimalType
}

// StartPartition implements sql.WindowFunction.
func (w *exactWindow) StartPartition(*sql.Context, sql.WindowInterval, sql.WindowBuffer) error {
	return nil
}

// Compute implements sql.WindowFunction.
func (w *exactWindow) Compute(ctx *sql.Context, frame sql.WindowInterval, rows sql.WindowBuffer) (any, error) {
	b := &exactBuffer{child: w.child, average: w.average}
	for i := frame.Start; i < frame.End; i++ {
		if err := b.Update(ctx, rows[i]); err != nil {
			return nil, err
		}
	}
	return b.Eval(ctx)
}
