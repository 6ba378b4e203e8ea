package engine

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
)

// SUM and AVG of exact numbers, and of dates, are exact, as in MySQL; go-mysql-server makes them DOUBLE.

// exactAggregate gives SUM, AVG and the other aggregates whose arguments are brought to numbers.
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
	case "min":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression { return aggregation.NewMin(ordered(ctx, e)) }}, true
	case "max":
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression { return aggregation.NewMax(ordered(ctx, e)) }}, true
	}
	if f := aggregates[name]; f != nil {
		return sql.Function1{Name: name, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return f(e) }}, true
	}
	if f, ok := lockFunctionOf(name); ok {
		return f, true
	}
	return windowFunctionOf(name)
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
		et := exprType(t, expr.Implicit)
		if !et.IsTemporal() && et.Kind() != expr.KindBit {
			return nil, false
		}
		precision, scale = 41, 0
		if et.IsTemporal() {
			scale = uint8(et.Scale)
		}
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

// String implements sql.Expression.
func (s *exactSum) String() string {
	if w := s.Window(); w != nil {
		return "sum(" + s.Child.String() + ") " + windowText(w)
	}
	return s.Sum.String()
}

// WithId implements sql.IdExpression.
func (s *exactSum) WithId(id sql.ColumnId) sql.IdExpression {
	return &exactSum{s.Sum.WithId(id).(*aggregation.Sum)}
}

// NewBuffer implements sql.Aggregation.
func (s *exactSum) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	child, err := transform.Clone(ctx, s.Child)
	t, ok := exactType(s.Child.Type(ctx), 0)
	if !ok || err != nil {
		return aggregation.NewSumBuffer(&argument{child: child, as: asDouble}), err
	}
	return &exactBuffer{child: exactArgument(ctx, child), total: t.(sql.DecimalType)}, nil
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

// String implements sql.Expression.
func (a *exactAvg) String() string {
	if w := a.Window(); w != nil {
		return "avg(" + a.Child.String() + ") " + windowText(w)
	}
	return a.Avg.String()
}

// WithId implements sql.IdExpression.
func (a *exactAvg) WithId(id sql.ColumnId) sql.IdExpression {
	return &exactAvg{a.Avg.WithId(id).(*aggregation.Avg)}
}

// NewBuffer implements sql.Aggregation.
func (a *exactAvg) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	t, ok := exactType(a.Child.Type(ctx), 4)
	child, err := transform.Clone(ctx, a.Child)
	if !ok || err != nil {
		return aggregation.NewAvgBuffer(&argument{child: child, as: asDouble}), err
	}
	return &exactBuffer{child: exactArgument(ctx, child), average: t.(sql.DecimalType)}, nil
}

// exactArgument is the argument of an exact sum: a field that holds integers as it is, anything else as a decimal with all of its
// digits (a quotient has more than are shown).
func exactArgument(ctx *sql.Context, e sql.Expression) sql.Expression {
	if _, ok := e.(*expression.GetField); ok && (types.IsInteger(e.Type(ctx)) || types.IsDecimal(e.Type(ctx))) {
		return e
	}
	return &argument{child: e, as: asDecimal}
}

// exactBuffer adds decimals up.
type exactBuffer struct {
	child   sql.Expression
	total   sql.DecimalType // the type of the sum
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
		if int(-b.sum.Exponent) > int(b.total.Scale()) { // of quotients, for example
			return number.Round(&b.sum, int(b.total.Scale())), nil
		}
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

// Remove implements remover.
func (b *exactBuffer) Remove(ctx *sql.Context, row sql.Row) error {
	v, err := b.child.Eval(ctx, row)
	if v == nil || err != nil {
		return err
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return err
	}
	if b.count--; b.count == 0 {
		b.sum = apd.Decimal{}
		return nil
	}
	_, err = exactDecimals.Sub(&b.sum, &b.sum, d.(*apd.Decimal))
	return err
}

// Dispose implements sql.Disposable.
func (b *exactBuffer) Dispose(*sql.Context) {}
