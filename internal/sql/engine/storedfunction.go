package engine

import (
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Stored functions in expressions: of queries, which our own packages plan, and of changes, which go-mysql-server does.

// functionNamed finds a stored function by its name, qualified or of the current database; nil: there is none.
func (s *Session) functionNamed(sc *sql.Context, name string) (*storedProgram, error) {
	database, plain, qualified := strings.Cut(name, ".")
	if !qualified {
		database, plain = sc.GetCurrentDatabase(), name
	}
	if database == "" {
		return nil, nil
	}
	prog, err := s.storedProgram(sc, database, plain, routine.Function)
	if own, ok := err.(*mysql.SQLError); ok && own.Num == 1305 {
		return nil, nil
	}
	return prog, err
}

func errFunctionArguments(prog *storedProgram, n int) error {
	return mysql.NewSQLError(1318, "42000", "Incorrect number of arguments for FUNCTION %s.%s; expected %d, got %d", prog.database, prog.Name, len(prog.Params), n)
}

// callFunction executes a stored function within the session's statement.
func (s *Session) callFunction(sc *sql.Context, prog *storedProgram, text string, args []expr.Value) (expr.Value, error) {
	x := s.stmt.by
	if x == nil {
		return expr.Null, mysql.NewSQLError(1105, "HY000", "the function %s is called outside of a statement", prog.Name)
	}
	for c := s.active; c != nil; c = c.up {
		if c.prog != nil && c.prog.Kind == routine.Function && c.prog.Name == prog.Name && c.prog.database == prog.database {
			return expr.Null, mysql.NewSQLError(1424, "HY000", "Recursive stored functions and triggers are not allowed.")
		}
	}
	p := &invocation{x: x, sc: sc, prog: prog, up: s.active, within: true, text: text}
	if p.up != nil {
		p.depth = p.up.depth + 1
	}
	id := s.GetLastQueryInfo().LastInsertId.Load() // nothing outside of the function sees what it makes of LAST_INSERT_ID
	defer func() { s.GetLastQueryInfo().LastInsertId.Store(id) }()
	f := &blockFrame{}
	defer p.push(f)()
	for i, a := range prog.Params {
		to, err := p.declare(f, a.Name, a.Type)
		if err == nil {
			err = p.assign(to, args[i])
		}
		if err != nil {
			return expr.Null, err
		}
	}
	if err := p.run(); err != nil {
		return expr.Null, err
	}
	if !p.returned {
		return expr.Null, mysql.NewSQLError(1321, "2F005", "FUNCTION %s ended without RETURN", prog.Name)
	}
	return p.result, nil
}

// routineCall is a call of a stored function.
type routineCall struct {
	ctx  *sql.Context
	s    *Session
	prog *storedProgram
	text string
	args []expr.Node
}

var _ rel.Named = (*routineCall)(nil)

// FunctionName implements rel.Named.
func (c *routineCall) FunctionName() string { return c.prog.database + "." + c.prog.Name }

// Type implements expr.Node.
func (c *routineCall) Type() expr.Type { return c.prog.returns }

// Eval implements expr.Node.
func (c *routineCall) Eval(env *expr.Env) (expr.Value, error) {
	vs := make([]expr.Value, len(c.args))
	for i, a := range c.args {
		var err error
		if vs[i], err = a.Eval(env); err != nil {
			return expr.Null, err
		}
	}
	return c.s.callFunction(c.ctx, c.prog, c.text, vs)
}

// Args implements rel.Parent.
func (c *routineCall) Args() []expr.Node { return c.args }

// SetArg implements rel.Parent.
func (c *routineCall) SetArg(i int, n expr.Node) { c.args[i] = n }

// Volatile reports that the function may give another value each time: it does not say that it is DETERMINISTIC.
func (c *routineCall) Volatile() bool {
	return !c.prog.Deterministic || c.prog.Access == "MODIFIES SQL DATA"
}

// builtInNames are the names of go-mysql-server's own functions, which come before stored ones.
var builtInNames = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, f := range function.BuiltIns {
		out[strings.ToLower(f.FunctionName())] = true
	}
	return out
})

// storedFunction is a stored function for go-mysql-server.
func storedFunction(ctx *sql.Context, database, name string) (sql.Function, bool) {
	if ctx == nil || ctx.Session == nil || builtInNames()[name] {
		return nil, false
	}
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, false
	}
	if database != "" {
		name = database + "." + name
	}
	prog, err := s.functionNamed(ctx, name)
	if err != nil || prog == nil {
		return nil, false
	}
	return sql.FunctionN{Name: prog.Name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != len(prog.Params) {
			return nil, errFunctionArguments(prog, len(args))
		}
		return &storedCall{prog: prog, args: args}, nil
	}}, true
}

// storedCall is a call of a stored function in a plan of go-mysql-server.
type storedCall struct {
	prog *storedProgram
	args []sql.Expression
}

var (
	_ sql.Expression                 = (*storedCall)(nil)
	_ sql.CollationCoercible         = (*storedCall)(nil)
	_ sql.NonDeterministicExpression = (*storedCall)(nil)
)

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (c *storedCall) IsNonDeterministic() bool { return true }

// Type implements sql.Expression.
func (c *storedCall) Type(*sql.Context) sql.Type { return hostType(c.prog.returns) }

// CollationCoercibility implements sql.CollationCoercible.
func (c *storedCall) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.CollationID(c.prog.returns.Collation), byte(c.prog.returns.Coerc)
}

// IsNullable implements sql.Expression.
func (c *storedCall) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (c *storedCall) Resolved() bool {
	for _, a := range c.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

// Children implements sql.Expression.
func (c *storedCall) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *storedCall) WithChildren(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	return &storedCall{prog: c.prog, args: args}, nil
}

// String implements sql.Expression.
func (c *storedCall) String() string {
	texts := make([]string, len(c.args))
	for i, a := range c.args {
		texts[i] = a.String()
	}
	return c.prog.Name + "(" + strings.Join(texts, ", ") + ")"
}

// Eval implements sql.Expression.
func (c *storedCall) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	vs := make([]expr.Value, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v == nil {
			vs[i] = expr.Null
			continue
		}
		t := a.Type(ctx)
		if vs[i], err = valueOfType(ctx, v, t, foreignType(ctx, a)); err != nil {
			return nil, err
		}
	}
	v, err := s.callFunction(ctx, c.prog, c.String(), vs)
	if err != nil {
		return nil, clientSide(err)
	}
	return toHost(v, c.prog.returns)
}
