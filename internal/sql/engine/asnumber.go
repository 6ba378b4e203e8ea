package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// The arguments of aggregates are brought to what the aggregate calculates with by package expr: '12abc' counts as 12 and a date as
// 20240229. (go-mysql-server's buffers, sql/expression/function/aggregation/unary_agg_buffers.go, take what they cannot convert for 0.)

// numberForm is what an aggregate wants of its argument.
type numberForm uint8

const (
	asDouble  numberForm = iota // float64
	asBits                      // uint64
	asDecimal                   // *apd.Decimal
	asString                    // string: MIN and MAX of an ENUM or SET order texts
)

// argument is an argument of an aggregate, brought to a form.
type argument struct {
	child sql.Expression
	as    numberForm
	node  expr.Node
	run   evaluation
}

var _ sql.Expression = (*argument)(nil)

// Eval implements sql.Expression.
func (a *argument) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if a.node == nil {
		n, err := lowered(ctx, a.child)
		if err != nil {
			return nil, err
		}
		a.node = n
	}
	v, err := a.run.value(ctx, a.node, row)
	if err != nil || v.IsNull() {
		return nil, err
	}
	var out any
	switch a.as {
	case asDouble:
		out, err = expr.ToFloat(a.run.env, v)
	case asBits:
		var n int64
		n, _, err = expr.ToInt(a.run.env, v)
		out = uint64(n)
	case asDecimal:
		out, err = expr.ToDecimal(a.run.env, v)
	default:
		out, err = expr.ToText(a.run.env, v)
	}
	if failed := a.run.env.Failed(); err == nil {
		err = failed
	}
	if err != nil {
		return nil, clientSide(err)
	}
	return out, nil
}

// Type implements sql.Expression.
func (a *argument) Type(ctx *sql.Context) sql.Type {
	switch a.as {
	case asDouble:
		return types.Float64
	case asBits:
		return types.Uint64
	case asDecimal:
		return types.InternalDecimalType
	}
	if c, ok := a.child.Type(ctx).(sql.TypeWithCollation); ok {
		return types.CreateLongText(c.Collation())
	}
	return types.LongText
}

// IsNullable implements sql.Expression.
func (a *argument) IsNullable(ctx *sql.Context) bool { return a.child.IsNullable(ctx) }

// Resolved implements sql.Expression.
func (a *argument) Resolved() bool { return a.child.Resolved() }

// String implements sql.Expression.
func (a *argument) String() string { return a.child.String() }

// Children implements sql.Expression.
func (a *argument) Children() []sql.Expression { return []sql.Expression{a.child} }

// WithChildren implements sql.Expression.
func (a *argument) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(cs), 1)
	}
	return &argument{child: cs[0], as: a.as}, nil
}

// aggregates are those whose argument is brought to a form; the rest of them is go-mysql-server's.
var aggregates = map[string]func(e sql.Expression) sql.Expression{
	"bit_and":    func(e sql.Expression) sql.Expression { return aggregation.NewBitAnd(&argument{child: e, as: asBits}) },
	"bit_or":     func(e sql.Expression) sql.Expression { return aggregation.NewBitOr(&argument{child: e, as: asBits}) },
	"bit_xor":    func(e sql.Expression) sql.Expression { return aggregation.NewBitXor(&argument{child: e, as: asBits}) },
	"std":        stdDev,
	"stddev":     stdDev,
	"stddev_pop": stdDev,
	"stddev_samp": func(e sql.Expression) sql.Expression {
		return aggregation.NewStdDevSamp(&argument{child: e, as: asDouble})
	},
	"variance": variance,
	"var_pop":  variance,
	"var_samp": func(e sql.Expression) sql.Expression {
		return aggregation.NewVarSamp(&argument{child: e, as: asDouble})
	},
}

func stdDev(e sql.Expression) sql.Expression {
	return aggregation.NewStdDevPop(&argument{child: e, as: asDouble})
}

func variance(e sql.Expression) sql.Expression {
	return aggregation.NewVarPop(&argument{child: e, as: asDouble})
}

// ordered is what MIN and MAX order: of an ENUM or SET the texts, not the numbers (manual, Aggregate Function Descriptions).
func ordered(ctx *sql.Context, e sql.Expression) sql.Expression {
	if t := e.Type(ctx); types.IsEnum(t) || types.IsSet(t) {
		return &argument{child: e, as: asString}
	}
	return e
}
