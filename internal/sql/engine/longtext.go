package engine

import (
	"fmt"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Functions that make a text of the length that they are told. go-mysql-server's make it however long it is: LPAD('x', 1e12, 'y') ends the
// process, and SPACE(1e20) never ends. As in MySQL, what would be longer than max_allowed_packet is NULL, with warning 1301.
type boundedText struct {
	sql.FunctionExpression
	size func(ctx *sql.Context, row sql.Row, args []sql.Expression) (float64, error)
}

// packetVariable bounds a statement, and a value that a function makes.
const packetVariable = "max_allowed_packet"

// packetLimit is max_allowed_packet of the session, in bytes.
func packetLimit(ctx *sql.Context) int64 {
	if v, err := ctx.GetSessionVariable(ctx, packetVariable); err == nil {
		if n, _, err := types.Int64.Convert(ctx, v); err == nil {
			if n, ok := n.(int64); ok && n > 0 {
				return n
			}
		}
	}
	return maxPacket
}

// Eval implements sql.Expression.
func (b *boundedText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	n, err := b.size(ctx, row, b.Children())
	if err != nil {
		return nil, err
	}
	if limit := packetLimit(ctx); n > float64(limit) {
		ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", strings.ToLower(b.FunctionName()), limit)
		return nil, nil
	}
	return b.FunctionExpression.Eval(ctx, row)
}

// WithChildren implements sql.Expression.
func (b *boundedText) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := b.FunctionExpression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	f, ok := e.(sql.FunctionExpression)
	if !ok {
		return nil, fmt.Errorf("%s became a %T", b.FunctionName(), e)
	}
	return &boundedText{f, b.size}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (b *boundedText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, b.FunctionExpression)
}

// numberArgument is an argument as a number; NaN: it is NULL, or none.
func numberArgument(ctx *sql.Context, row sql.Row, e sql.Expression) (float64, error) {
	v, err := e.Eval(ctx, row)
	if v == nil || err != nil {
		return math.NaN(), err
	}
	f, _, err := types.Float64.Convert(ctx, v)
	if err != nil {
		return math.NaN(), nil // the function itself says what of it
	}
	n, _ := f.(float64)
	return n, nil
}

// lengthArgument is how many bytes an argument has as a text; 0: it is NULL, or none.
func lengthArgument(ctx *sql.Context, row sql.Row, e sql.Expression) (float64, error) {
	v, err := e.Eval(ctx, row)
	if v == nil || err != nil {
		return 0, err
	}
	c, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return 0, nil
	}
	if c, err = sql.UnwrapAny(ctx, c); err != nil {
		return 0, err
	}
	s, _ := c.(string)
	return float64(len(s)), nil
}

func numberAt(i int) func(*sql.Context, sql.Row, []sql.Expression) (float64, error) {
	return func(ctx *sql.Context, row sql.Row, args []sql.Expression) (float64, error) {
		return numberArgument(ctx, row, args[i])
	}
}

func repeatedSize(ctx *sql.Context, row sql.Row, args []sql.Expression) (float64, error) {
	n, err := numberArgument(ctx, row, args[1])
	if err != nil || !(n > 0) {
		return 0, err
	}
	each, err := lengthArgument(ctx, row, args[0])
	return n * each, err
}

// bounded makes a function of go-mysql-server's one that heeds the limit.
func bounded(size func(*sql.Context, sql.Row, []sql.Expression) (float64, error), e sql.Expression, err error) (sql.Expression, error) {
	if err != nil {
		return nil, err
	}
	return &boundedText{e.(sql.FunctionExpression), size}, nil
}

// boundedFunctions are those functions, by name.
var boundedFunctions = map[string]sql.Function{
	"lpad": sql.FunctionN{Name: "lpad", Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		e, err := function.NewLeftPad(ctx, args...)
		return bounded(numberAt(1), e, err)
	}},
	"rpad": sql.FunctionN{Name: "rpad", Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		e, err := function.NewRightPad(ctx, args...)
		return bounded(numberAt(1), e, err)
	}},
	"repeat": sql.Function2{Name: "repeat", Fn: func(ctx *sql.Context, text, n sql.Expression) sql.Expression {
		e, _ := bounded(repeatedSize, function.NewRepeat(ctx, text, n), nil)
		return e
	}},
	"space": sql.Function1{Name: "space", Fn: func(ctx *sql.Context, n sql.Expression) sql.Expression {
		e, _ := bounded(numberAt(0), function.NewSpace(ctx, n), nil)
		return e
	}},
}
