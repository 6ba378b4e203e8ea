package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// notInQueries are names that go-mysql-server has among its functions and that are none of a row.
var notInQueries = map[string]bool{"values": true, "json_table": true, "row_number": true, "rank": true, "dense_rank": true, "percent_rank": true,
	"ntile": true, "lag": true, "lead": true, "first_value": true, "last_value": true, "first": true, "last": true, "count": true, "sum": true, "avg": true,
	"min": true, "max": true, "any_value": true, "bit_and": true, "bit_or": true, "bit_xor": true, "group_concat": true, "json_arrayagg": true,
	"json_objectagg": true, "std": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true, "var_samp": true,
	"st_collect": true}

// volatileFunctions give another value each time, or do something. (Of some go-mysql-server does not say so.)
var volatileFunctions = map[string]bool{"uuid": true, "uuid_short": true, "sleep": true, "rand": true, "random_bytes": true, "sysdate": true,
	"get_lock": true, "release_lock": true, "release_all_locks": true, "is_free_lock": true, "is_used_lock": true, "last_insert_id": true, "benchmark": true}

// Function implements bind.Host.
func (h *queryHost) Function(name, text string, args []expr.Node) (expr.Node, error) {
	name = strings.ToLower(name)
	if notInQueries[name] {
		return nil, fmt.Errorf("%w: %s", bind.ErrUnsupported, name)
	}
	if err := regexpArguments(name, args); err != nil {
		return nil, err
	}
	subject := expr.TNull
	if strings.HasPrefix(name, "regexp_") && len(args) > 0 {
		subject = args[0].Type()
		for i := 0; i < min(regexpTexts(name), len(args)); i++ {
			c, err := regexpText(text, args[i])
			if err != nil {
				return nil, err
			}
			args[i] = c
		}
	}
	if strings.Contains(name, ".") || !builtInNames()[name] {
		prog, err := h.s.functionNamed(h.ctx, name)
		if err != nil {
			return nil, err
		}
		if prog != nil && len(args) != len(prog.Params) {
			return nil, errFunctionArguments(prog, len(args))
		}
		if prog != nil {
			return &routineCall{ctx: h.ctx, s: h.s, prog: prog, text: text, args: args}, nil
		}
	}
	f, ok := h.s.e.gms.Analyzer.Catalog.Function(h.ctx, "", name)
	if !ok {
		return nil, nil
	}
	call := &hostCall{ctx: h.ctx, name: name}
	es := make([]sql.Expression, len(args))
	for i, a := range args {
		es[i] = call.argument(a)
	}
	e, err := f.NewInstance(h.ctx, es)
	if sql.ErrInvalidArgumentNumber.Is(err) {
		return nil, mysql.NewSQLError(1582, "42000", "Incorrect parameter count in the call to native function '%s'", name)
	}
	if err != nil {
		return nil, err
	}
	n, err := call.of(e)
	if err == nil && n.t.Kind() == expr.KindText && strings.HasPrefix(name, "regexp_") {
		n.t.Collation, n.t.Coerc = expr.DefaultCollation, expr.Coercible
		switch {
		case subject.Kind() == expr.KindText:
			n.t.Collation, n.t.Coerc = subject.Collation, subject.Coerc
		case subject.Name == expr.Varbinary || subject.Name == expr.Blob:
			return expr.Build("characters as bytes", text, nil, n)
		}
	}
	return n, err
}

// regexpTexts is how many of the first arguments of a function are texts.
func regexpTexts(name string) int {
	if name == "regexp_replace" {
		return 3
	}
	return 2
}

// regexpText is an argument as a text: of a binary string each byte is a character.
func regexpText(text string, n expr.Node) (expr.Node, error) {
	switch t := n.Type(); t.Kind() {
	case expr.KindText, expr.KindNull:
		return n, nil
	case expr.KindBytes, expr.KindBit:
		return expr.Build("bytes as characters", text, nil, n)
	}
	return expr.Build("cast", text, expr.TText(-1, expr.DefaultCollation, expr.Implicit), n)
}

// regexpArguments refuses, as MySQL does, to match texts with binary strings. BINARY(n), BLOB and, but for REGEXP_REPLACE, columns of BIT are none to it.
func regexpArguments(name string, args []expr.Node) error {
	if !strings.HasPrefix(name, "regexp_") || len(args) < 2 {
		return nil
	}
	first := ""
	for i := 0; i < min(regexpTexts(name), len(args)); i++ {
		set := ""
		switch t := args[i].Type(); {
		case t.Name == expr.Varbinary, t.Name == expr.BitType && i == 0 && name == "regexp_replace":
			set = "binary"
		case t.Kind() == expr.KindText:
			set = sql.CollationID(t.Collation).Name()
		}
		switch {
		case set == "":
		case first == "":
			first = set
		case (first == "binary") != (set == "binary"):
			return mysql.NewSQLError(3995, "HY000", "Character set '%s' cannot be used in conjunction with '%s' in call to %s.", first, set, name)
		}
	}
	return nil
}

// systemTexts are the functions that give names of the server's, and how long these may be, in characters.
var systemTexts = map[string]int{"database": 64, "schema": 64, "user": 288, "current_user": 288, "session_user": 288, "system_user": 288, "version": 60}

// hostCall is an expression of go-mysql-server, whose arguments are expressions of ours.
type hostCall struct {
	ctx      *sql.Context
	name     string
	e        sql.Expression
	args     []*bridge
	host     sql.Type
	t        expr.Type
	env      *expr.Env // of the evaluation under way
	volatile bool
}

var (
	_ rel.Named     = (*hostCall)(nil)
	_ expr.Constant = (*hostCall)(nil)
)

func newHostCall(ctx *sql.Context, e sql.Expression, args []expr.Node) (*hostCall, error) {
	c := &hostCall{ctx: ctx}
	for _, a := range args {
		c.argument(a)
	}
	return c.of(e)
}

func (c *hostCall) of(e sql.Expression) (*hostCall, error) {
	c.e, c.host, c.t = e, e.Type(c.ctx), foreignType(c.ctx, e)
	if n := systemTexts[c.name]; n > 0 && c.t.Kind() == expr.KindText {
		c.t = expr.TText(n, systemCollation, expr.SysConst)
	}
	c.t.Truth = c.name == "regexp_like"
	if n, ok := e.(sql.NonDeterministicExpression); ok && n.IsNonDeterministic() || volatileFunctions[c.name] {
		c.volatile = true
	}
	if _, ok := e.(*function.Sleep); ok {
		c.volatile = true
	}
	return c, nil
}

// argument is an argument as go-mysql-server sees it. Constants are literals, which it looks for.
func (c *hostCall) argument(n expr.Node) sql.Expression {
	b := &bridge{call: c, n: n, host: hostType(n.Type())}
	if t := n.Type(); t.Kind() == expr.KindEnum || t.Kind() == expr.KindSet {
		b.host, b.text = hostType(expr.TText(t.Length, t.Collation, t.Coerc)), true
	}
	c.args = append(c.args, b)
	if l, ok := n.(*expr.Lit); ok {
		if v, err := toHost(l.V, l.T); err == nil {
			return expression.NewLiteral(v, b.host)
		}
	}
	return b
}

// Type implements expr.Node.
func (c *hostCall) Type() expr.Type { return c.t }

// Eval implements expr.Node.
func (c *hostCall) Eval(env *expr.Env) (expr.Value, error) {
	was := c.env
	c.env = env
	v, err := c.e.Eval(c.ctx, nil)
	c.env = was
	if err != nil || v == nil {
		return expr.Null, err
	}
	out, err := valueOfType(c.ctx, v, c.host, c.t)
	if strings.HasPrefix(c.name, "regexp_") {
		out = out.From(expr.Silent)
	}
	return out, err
}

// Constant implements expr.Constant.
func (c *hostCall) Constant() bool {
	if c.volatile {
		return false
	}
	for _, a := range c.args {
		if !expr.IsConst(a.n) {
			return false
		}
	}
	return true
}

// Volatile reports that the function gives another value each time, or does something.
func (c *hostCall) Volatile() bool { return c.volatile }

// FunctionName implements rel.Named.
func (c *hostCall) FunctionName() string { return c.name }

// Args implements rel.Parent.
func (c *hostCall) Args() []expr.Node {
	out := make([]expr.Node, len(c.args))
	for i, a := range c.args {
		out[i] = a.n
	}
	return out
}

// SetArg implements rel.Parent.
func (c *hostCall) SetArg(i int, n expr.Node) { c.args[i].n = n }

// bridge is an expression of ours below one of go-mysql-server.
type bridge struct {
	call *hostCall
	n    expr.Node
	host sql.Type
	text bool // the value is an ENUM or a SET, which the functions take as a text
}

var (
	_ sql.NonDeterministicExpression = (*bridge)(nil)
	_ sql.CollationCoercible         = (*bridge)(nil)
)

// IsNonDeterministic implements sql.NonDeterministicExpression: what reads columns or variables has not one value. Without it the
// functions REGEXP_... keep the pattern, and their value, of the first row for all others.
func (b *bridge) IsNonDeterministic() bool { return !expr.IsConst(b.n) }

// Type implements sql.Expression.
func (b *bridge) Type(*sql.Context) sql.Type { return b.host }

// CollationCoercibility implements sql.CollationCoercible.
func (b *bridge) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	t := b.n.Type()
	return sql.CollationID(t.Collation), byte(t.Coerc)
}

// IsNullable implements sql.Expression.
func (b *bridge) IsNullable(*sql.Context) bool { return true }

// Resolved implements sql.Expression.
func (b *bridge) Resolved() bool { return true }

// Children implements sql.Expression.
func (b *bridge) Children() []sql.Expression { return nil }

// WithChildren implements sql.Expression.
func (b *bridge) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) > 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(cs), 0)
	}
	return b, nil
}

// String implements sql.Expression.
func (b *bridge) String() string { return "expression" }

// Eval implements sql.Expression.
func (b *bridge) Eval(*sql.Context, sql.Row) (any, error) {
	v, err := b.n.Eval(b.call.env)
	if err != nil {
		return nil, err
	}
	if b.text && !v.IsNull() {
		return expr.ToText(b.call.env, v)
	}
	return toHost(v, b.n.Type())
}
