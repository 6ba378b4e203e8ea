package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// scalar is a call that package expr evaluates, in a plan of go-mysql-server.
type scalar struct {
	name   string
	args   []sql.Expression
	extra  any
	syntax string // what extra was in the statement
	node   expr.Node
	t      sql.Type // the node's
	run    evaluation
}

var (
	_ sql.Expression         = (*scalar)(nil)
	_ sql.FunctionExpression = (*scalar)(nil)
	_ sql.CollationCoercible = (*scalar)(nil)
)

// build makes the node of the call, with its arguments' nodes below it.
func (s *scalar) build(ctx *sql.Context) (expr.Node, error) {
	if s.node != nil {
		return s.node, nil
	}
	args := make([]expr.Node, len(s.args))
	for i, a := range s.args {
		n, err := lowered(ctx, a)
		if err != nil {
			return nil, err
		}
		args[i] = n
	}
	n, err := expr.Build(s.name, s.String(), s.extra, args...)
	if err != nil {
		return nil, clientSide(err)
	}
	s.node, s.t = n, resultType(s, n.Type())
	return n, nil
}

// clientSide makes an error of package expr one with MySQL's code for the client.
func clientSide(err error) error {
	var e *expr.Error
	if errors.As(err, &e) {
		return mysql.NewSQLError(int(e.Code), e.State, "%s", e.Message)
	}
	return err
}

// Type implements sql.Expression.
func (s *scalar) Type(ctx *sql.Context) sql.Type {
	if _, err := s.build(ctx); err != nil {
		return hostType(expr.TNull)
	}
	return s.t
}

// CollationCoercibility implements sql.CollationCoercible.
func (s *scalar) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	n, err := s.build(ctx)
	if err != nil {
		return sql.Collation_binary, 7
	}
	t := n.Type()
	return sql.CollationID(t.Collation), byte(t.Coerc)
}

// IsNullable implements sql.Expression.
func (s *scalar) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (s *scalar) Resolved() bool {
	for _, a := range s.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

// Children implements sql.Expression.
func (s *scalar) Children() []sql.Expression { return s.args }

// WithChildren implements sql.Expression.
func (s *scalar) WithChildren(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != len(s.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(args), len(s.args))
	}
	return &scalar{name: s.name, args: args, extra: s.extra, syntax: s.syntax}, nil
}

// FunctionName implements sql.FunctionExpression.
func (s *scalar) FunctionName() string { return s.name }

// Description implements sql.FunctionExpression.
func (s *scalar) Description() string { return s.name }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (s *scalar) IsNonDeterministic() bool {
	switch s.name {
	case "rand", "random_bytes", "uuid", "uuid_short", "sysdate":
		return true
	}
	return false
}

// Eval implements sql.Expression.
func (s *scalar) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	n, err := s.build(ctx)
	if err != nil {
		return nil, err
	}
	return s.run.eval(ctx, n, row)
}

// infix says how operators are written between their operands.
var infix = map[string]string{"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "mod": "%", "div": "div", "<<": "<<", ">>": ">>", "&": "&", "|": "|", "^": "^",
	"=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "<>", "<=>": "<=>"}

// String writes the call as SQL: what a table's defaults, generated columns and checks are stored as.
func (s *scalar) String() string {
	arg := func(i int) string { return s.args[i].String() }
	if op, ok := infix[s.name]; ok && len(s.args) == 2 {
		return fmt.Sprintf("(%s %s %s)", arg(0), op, arg(1))
	}
	switch s.name {
	case "neg":
		return "-" + arg(0)
	case "~":
		return "~" + arg(0)
	case "cast":
		return fmt.Sprintf("cast(%s as %s)", arg(0), s.syntax)
	case "convert using":
		return fmt.Sprintf("convert(%s using %s)", arg(0), s.syntax)
	case "collate":
		return fmt.Sprintf("(%s collate %s)", arg(0), s.syntax)
	case "char":
		if s.syntax != "" {
			return fmt.Sprintf("char(%s using %s)", s.list(), s.syntax)
		}
	case "trim":
		if s.syntax != "" && len(s.args) == 2 {
			return fmt.Sprintf("trim(%s %s from %s)", strings.ToLower(s.syntax), arg(1), arg(0))
		}
	case "date literal", "time literal", "timestamp literal":
		kind, _, _ := strings.Cut(s.name, " ")
		return strings.ToUpper(kind) + arg(0)
	case "extract":
		return fmt.Sprintf("extract(%s from %s)", s.syntax, arg(0))
	case "timestampdiff":
		return fmt.Sprintf("timestampdiff(%s,%s)", s.syntax, s.list())
	case "case":
		return s.caseString()
	case "date_add", "date_sub", "adddate", "subdate":
		if s.syntax != "" {
			return fmt.Sprintf("%s(%s, interval %s %s)", s.name, arg(0), arg(1), s.syntax)
		}
	}
	return s.name + "(" + s.list() + ")"
}

func (s *scalar) list() string {
	out := make([]string, len(s.args))
	for i, a := range s.args {
		out[i] = a.String()
	}
	return strings.Join(out, ",")
}

func (s *scalar) caseString() string {
	form := s.extra.(expr.CaseForm)
	args := s.args
	var b strings.Builder
	b.WriteString("case")
	if form.Operand {
		fmt.Fprintf(&b, " %s", args[0])
		args = args[1:]
	}
	for len(args) >= 2 {
		fmt.Fprintf(&b, " when %s then %s", args[0], args[1])
		args = args[2:]
	}
	if form.Else {
		fmt.Fprintf(&b, " else %s", args[0])
	}
	b.WriteString(" end")
	return b.String()
}

// evaluation is a node with what its leaves look at: a row and a context.
type evaluation struct {
	env *expr.Env
	at  *leaves
}

// leaves is what the leaves of a tree find in Env.Host.
type leaves struct {
	ctx *sql.Context
	row sql.Row
}

func (r *evaluation) eval(ctx *sql.Context, n expr.Node, row sql.Row) (any, error) {
	v, err := r.value(ctx, n, row)
	if err != nil {
		return nil, err
	}
	out, err := toHost(v, n.Type())
	return out, clientSide(err)
}

// prepare finds out what the session decides, unless it has done so for this context.
func (r *evaluation) prepare(ctx *sql.Context) {
	if r.env == nil || r.at.ctx != ctx {
		r.at = &leaves{ctx: ctx}
		r.env = environment(ctx)
		r.env.Host = r.at
	}
}

func (r *evaluation) value(ctx *sql.Context, n expr.Node, row sql.Row) (expr.Value, error) {
	r.prepare(ctx)
	was := r.at.row
	r.at.row = row
	v, err := n.Eval(r.env)
	r.at.row = was
	if failed := r.env.Failed(); err == nil {
		err = failed
	}
	if err != nil {
		return expr.Null, clientSide(err)
	}
	return v, nil
}
