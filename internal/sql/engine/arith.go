package engine

import (
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// checked is integer addition, subtraction or multiplication that fails where go-mysql-server's wraps around.
type checked struct {
	*expression.Arithmetic
	left, right cell
	typ         sql.Type
}

// cell is an operand that has been evaluated.
type cell struct {
	*expression.Literal
	v any
}

// Eval implements sql.Expression.
func (c *cell) Eval(*sql.Context, sql.Row) (any, error) { return c.v, nil }

// checkArithmetic wraps the integer arithmetic in an expression.
func checkArithmetic(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	return transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		a, ok := e.(*expression.Arithmetic)
		if !ok || !types.IsInteger(a.LeftChild.Type(ctx)) || !types.IsInteger(a.RightChild.Type(ctx)) {
			return e, transform.SameTree, nil
		}
		switch a.Op {
		case "+", "-", "*":
			return &checked{Arithmetic: a, typ: a.Type(ctx)}, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
}

// WithChildren implements sql.Expression.
func (c *checked) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := c.Arithmetic.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	a := e.(*expression.Arithmetic)
	return &checked{Arithmetic: a, typ: a.Type(ctx)}, nil
}

// Eval implements sql.Expression.
func (c *checked) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := c.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	r, err := c.RightChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if l == nil || r == nil {
		return nil, nil
	}
	x, okX := wide(l)
	y, okY := wide(r)
	if okX && okY && (!small(x) || !small(y) || types.IsUnsigned(c.typ)) {
		var z big.Int
		switch c.Op {
		case "+":
			z.Add(x, y)
		case "-":
			z.Sub(x, y)
		case "*":
			z.Mul(x, y)
		}
		if !z.IsInt64() && !(types.IsUnsigned(c.typ) && z.IsUint64()) || types.IsUnsigned(c.typ) && z.Sign() < 0 {
			kind := "BIGINT"
			if types.IsUnsigned(c.typ) {
				kind = "BIGINT UNSIGNED"
			}
			return nil, mysql.NewSQLError(1690, "22003", "%s value is out of range in '%s'", kind, c.String())
		}
	}
	c.left.v, c.right.v = l, r
	c.left.Literal, c.right.Literal = expression.NewLiteral(l, c.LeftChild.Type(ctx)), expression.NewLiteral(r, c.RightChild.Type(ctx))
	plain := *c.Arithmetic
	plain.LeftChild, plain.RightChild = &c.left, &c.right
	return plain.Eval(ctx, nil)
}

func wide(v any) (*big.Int, bool) {
	switch v := v.(type) {
	case int8:
		return big.NewInt(int64(v)), true
	case int16:
		return big.NewInt(int64(v)), true
	case int32:
		return big.NewInt(int64(v)), true
	case int64:
		return big.NewInt(v), true
	case int:
		return big.NewInt(int64(v)), true
	case uint8:
		return big.NewInt(int64(v)), true
	case uint16:
		return big.NewInt(int64(v)), true
	case uint32:
		return big.NewInt(int64(v)), true
	case uint64:
		return new(big.Int).SetUint64(v), true
	}
	return nil, false
}

// small reports whether arithmetic with the number and another small one stays within 63 bits.
func small(x *big.Int) bool { return x.BitLen() < 31 }
