package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// lowered makes a node of package expr of an expression. What it does not know becomes a leaf that go-mysql-server evaluates.
func lowered(ctx *sql.Context, e sql.Expression) (expr.Node, error) {
	switch e := e.(type) {
	case *scalar:
		// a tree of its own: nodes belong to one evaluation, and the same expression may stand in two trees
		return (&scalar{name: e.name, args: e.args, extra: e.extra, syntax: e.syntax}).build(ctx)
	case *fused:
		return lowered(ctx, e.Expression)
	case *expression.Literal:
		return literalNode(ctx, e)
	case *expression.GetField:
		return &field{index: e.Index(), t: exprType(e.Type(ctx), expr.Implicit), name: e.String()}, nil
	case *expression.Alias:
		return lowered(ctx, e.Child)
	case *expression.EnumToString:
		return lowered(ctx, e.Enum)
	case expression.Tuple:
		return lowerTuple(ctx, e)
	case *plan.InSubquery:
		if sub, ok := e.Right().(*plan.Subquery); ok {
			return lowerMembership(ctx, e, sub)
		}
	}
	if name, args, extra, ok := operator(e); ok {
		nodes := make([]expr.Node, len(args))
		for i, a := range args {
			n, err := lowered(ctx, a)
			if err != nil {
				return nil, err
			}
			nodes[i] = n
		}
		n, err := expr.Build(name, e.String(), extra, nodes...)
		return n, clientSide(err)
	}
	return &foreign{e: e, t: foreignType(ctx, e)}, nil
}

func lowerTuple(ctx *sql.Context, t expression.Tuple) (expr.Node, error) {
	if len(t) == 1 {
		return lowered(ctx, t[0])
	}
	out := &expr.Tuple{}
	for _, e := range t {
		n, err := lowered(ctx, e)
		if err != nil {
			return nil, err
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}

// operator names go-mysql-server's expressions that package expr evaluates, with their arguments.
func operator(e sql.Expression) (name string, args []sql.Expression, extra any, ok bool) {
	switch e := e.(type) {
	case *expression.Equals:
		return "=", e.Children(), nil, true
	case *expression.NullSafeEquals:
		return "<=>", e.Children(), nil, true
	case *expression.LessThan:
		return "<", e.Children(), nil, true
	case *expression.LessThanOrEqual:
		return "<=", e.Children(), nil, true
	case *expression.GreaterThan:
		return ">", e.Children(), nil, true
	case *expression.GreaterThanOrEqual:
		return ">=", e.Children(), nil, true
	case *expression.Between:
		return "between", []sql.Expression{e.Val, e.Lower, e.Upper}, nil, true
	case *expression.And:
		return "and", e.Children(), nil, true
	case *expression.Or:
		return "or", e.Children(), nil, true
	case *expression.Xor:
		return "xor", e.Children(), nil, true
	case *expression.Not:
		switch c := e.Child.(type) {
		case *expression.InTuple:
			return "not in", inList(c.Left(), c.Right()), nil, true
		case *expression.HashInTuple:
			return "not in", inList(c.Left(), c.Right()), nil, true
		}
		return "not", e.Children(), nil, true
	case *expression.IsNull:
		return "is null", e.Children(), nil, true
	case *expression.IsTrue:
		if e.String() == e.Child.String()+" "+expression.IsFalseStr {
			return "is false", e.Children(), nil, true
		}
		return "is true", e.Children(), nil, true
	case *expression.InTuple:
		return "in", inList(e.Left(), e.Right()), nil, true
	case *expression.HashInTuple:
		return "in", inList(e.Left(), e.Right()), nil, true
	case *expression.Like:
		if expr.Lookup("like") == nil {
			return "", nil, nil, false
		}
		args := []sql.Expression{e.Left(), e.Right()}
		if e.Escape != nil {
			args = append(args, e.Escape)
		}
		return "like", args, nil, true
	case *function.If:
		return "if", e.Children(), nil, true
	}
	return "", nil, nil, false
}

func inList(left, right sql.Expression) []sql.Expression {
	if t, ok := right.(expression.Tuple); ok {
		return append([]sql.Expression{left}, t...)
	}
	return []sql.Expression{left, right}
}

// literalNode is a literal. A binary string that the statement writes is a hexadecimal or bit literal: it is a number where
// one is needed.
func literalNode(ctx *sql.Context, l *expression.Literal) (expr.Node, error) {
	t := exprType(l.Typ, expr.Coercible)
	if b, ok := l.Val.([]byte); ok {
		return &expr.Lit{V: expr.Bit(string(b), bigEndian(b)), T: expr.TBytes(len(b))}, nil
	}
	v, err := fromHost(ctx, l.Val, t)
	if err != nil {
		return nil, err
	}
	switch v.Kind() {
	case expr.KindText:
		t = expr.TText(len([]rune(v.RawText())), t.Collation, expr.Coercible)
		t.Name = expr.Varchar
	case expr.KindDecimal:
		d := v.RawDecimal()
		scale := max(0, int(-d.Exponent))
		t = expr.TDecimal(max(int(d.NumDigits())+max(0, int(d.Exponent)), scale), scale)
	case expr.KindInt, expr.KindUint:
		if t.Name == expr.NullType || t.IsInteger() {
			t.Name, t.Unsigned = expr.BigInt, v.Kind() == expr.KindUint && v.RawUint() > 1<<63-1
			if !t.Unsigned {
				v = expr.Int(v.RawInt())
			}
			s, _ := expr.ToText(nil, v)
			t.Length = len(strings.TrimPrefix(s, "-")) + 1
		}
	}
	return &expr.Lit{V: v, T: t}, nil
}

// field is a column of the row.
type field struct {
	index int
	t     expr.Type
	name  string
}

// Type implements expr.Node.
func (f *field) Type() expr.Type { return f.t }

// Eval implements expr.Node.
func (f *field) Eval(env *expr.Env) (expr.Value, error) {
	at := env.Host.(*leaves)
	if f.index < 0 || f.index >= len(at.row) {
		return expr.Null, expression.ErrIndexOutOfBounds.New(f.index, len(at.row))
	}
	return fromHost(at.ctx, at.row[f.index], f.t)
}

// foreign is an expression that go-mysql-server evaluates.
type foreign struct {
	e sql.Expression
	t expr.Type
}

// Type implements expr.Node.
func (f *foreign) Type() expr.Type { return f.t }

// Eval implements expr.Node.
func (f *foreign) Eval(env *expr.Env) (expr.Value, error) {
	at := env.Host.(*leaves)
	v, err := f.e.Eval(at.ctx, at.row)
	if err != nil {
		return expr.Null, err
	}
	return fromHost(at.ctx, v, f.t)
}

// foreignType is the type of what go-mysql-server evaluates, with the rank of its collation.
func foreignType(ctx *sql.Context, e sql.Expression) expr.Type {
	coerc := expr.Coercible
	if c, ok := e.(sql.CollationCoercible); ok {
		if _, rank := c.CollationCoercibility(ctx); rank <= byte(expr.Ignorable) {
			coerc = expr.Coercibility(rank)
		}
	}
	t := e.Type(ctx)
	if types.IsDeferredType(t) {
		return expr.TNull
	}
	return exprType(t, coerc)
}
