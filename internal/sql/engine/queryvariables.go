package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// UserVariable implements bind.Host. A variable has the type of the value that it has when the statement begins; one without value is a
// text, even if the statement gives it a number.
func (h *queryHost) UserVariable(name string) (expr.Node, error) {
	t, v, err := h.ctx.GetUserVariable(h.ctx, name)
	if err != nil {
		return nil, err
	}
	n := &userVariable{ctx: h.ctx, name: name, t: expr.TLongBlob, host: h}
	if t != nil && v != nil {
		n.t = exprType(t, expr.Implicit)
	} else if h.assigning[strings.ToLower(name)] {
		n.t = expr.TText(1<<24-1, uint16(h.ctx.GetCollation()), expr.Implicit)
	}
	switch n.t.Kind() {
	case expr.KindNull:
		n.t = expr.TLongBlob
	case expr.KindText: // SET keeps no collation
		if n.t.Collation == uint16(sql.Collation_Default) {
			n.t.Collation = uint16(h.ctx.GetCollation())
		}
	case expr.KindInt, expr.KindUint:
		n.t = expr.Type{Name: expr.BigInt, Unsigned: n.t.Unsigned, Length: 21, Collation: expr.BinaryCollation, Coerc: expr.Numeric}
	}
	return n, nil
}

// SetUserVariable implements bind.Host.
func (h *queryHost) SetUserVariable(name string, value expr.Node) (expr.Node, error) {
	return &assignment{ctx: h.ctx, name: name, value: value}, nil
}

// systemCollation is that of texts that the server makes: utf8mb3_general_ci.
const systemCollation = 33

// userVariable is @name.
type userVariable struct {
	ctx  *sql.Context
	name string
	t    expr.Type
	host *queryHost
}

// Volatile reports that the statement itself changes the variable.
func (u *userVariable) Volatile() bool {
	return u.host.assigning[strings.ToLower(u.name)]
}

// Type implements expr.Node.
func (u *userVariable) Type() expr.Type { return u.t }

// Eval implements expr.Node.
func (u *userVariable) Eval(env *expr.Env) (expr.Value, error) {
	t, v, err := u.ctx.GetUserVariable(u.ctx, u.name)
	if err != nil || v == nil {
		return expr.Null, err
	}
	out, err := valueOfType(u.ctx, v, t, exprType(t, expr.Implicit))
	if err != nil {
		return expr.Null, err
	}
	return asKind(env, out, u.t)
}

// asKind is a value as one of a type.
func asKind(env *expr.Env, v expr.Value, t expr.Type) (expr.Value, error) {
	if v.IsNull() || v.Kind() == t.Kind() {
		return v, nil
	}
	switch t.Kind() {
	case expr.KindText, expr.KindBytes:
		s, err := expr.ToText(env, v)
		if t.Kind() == expr.KindBytes {
			return expr.Bytes(s), err
		}
		return expr.Text(s), err
	case expr.KindInt, expr.KindUint:
		n, _, err := expr.ToInt(env, v)
		if t.Kind() == expr.KindUint {
			return expr.Uint(uint64(n)), err
		}
		return expr.Int(n), err
	case expr.KindFloat:
		f, err := expr.ToFloat(env, v)
		return expr.Float(f), err
	case expr.KindDecimal:
		d, err := expr.ToDecimal(env, v)
		if err != nil {
			return expr.Null, err
		}
		return expr.Decimal(d), nil
	case expr.KindDate, expr.KindDatetime:
		n, ok, err := expr.ToDatetime(env, v)
		if err != nil || !ok {
			return expr.Null, err
		}
		return expr.Packed(t.Kind(), n, t.Scale), nil
	case expr.KindTime:
		n, ok, err := expr.ToTime(env, v)
		if err != nil || !ok {
			return expr.Null, err
		}
		return expr.Packed(t.Kind(), n, t.Scale), nil
	}
	return expr.Null, mysql.NewSQLError(1105, "HY000", "a value of kind %d is none of kind %d", v.Kind(), t.Kind())
}

// assignment is @name := value.
type assignment struct {
	ctx   *sql.Context
	name  string
	value expr.Node
}

var _ rel.Parent = (*assignment)(nil)

// Type implements expr.Node.
func (a *assignment) Type() expr.Type { return a.value.Type() }

// Eval implements expr.Node.
func (a *assignment) Eval(env *expr.Env) (expr.Value, error) {
	v, err := a.value.Eval(env)
	if err != nil {
		return expr.Null, err
	}
	return v, setUserVariable(a.ctx, env, a.name, v, a.value.Type())
}

// setUserVariable gives a user variable a value of a type. Variables hold numbers and texts: what is neither becomes a text.
func setUserVariable(sc *sql.Context, env *expr.Env, name string, v expr.Value, t expr.Type) error {
	switch t.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindFloat, expr.KindDecimal, expr.KindText, expr.KindBytes, expr.KindNull:
	default:
		if v.IsNull() {
			break
		}
		text, err := expr.ToText(env, v)
		if err != nil {
			return err
		}
		v, t = expr.Text(text), expr.TText(utf8.RuneCountInString(text), expr.DefaultCollation, expr.Implicit)
	}
	out, err := toHost(v, t)
	if err != nil {
		return err
	}
	return sc.SetUserVariable(sc, name, out, hostType(t))
}

// Args implements rel.Parent.
func (a *assignment) Args() []expr.Node { return []expr.Node{a.value} }

// SetArg implements rel.Parent.
func (a *assignment) SetArg(_ int, n expr.Node) { a.value = n }

// Volatile reports that the value may not be kept from one row for the next.
func (a *assignment) Volatile() bool { return true }

// SystemVariable implements bind.Host.
func (h *queryHost) SystemVariable(scope, name string) (expr.Node, error) {
	if n, is := h.s.conditionCount(name); is && !strings.EqualFold(scope, "global") {
		return &expr.Lit{V: expr.Int(int64(n)), T: expr.Type{Name: expr.BigInt, Length: 21, Collation: expr.BinaryCollation, Coerc: expr.Numeric}}, nil
	}
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return nil, mysql.NewSQLError(1193, "HY000", "Unknown system variable '%s'", name)
	}
	var e *expression.SystemVar
	switch scope = strings.ToLower(scope); {
	case scope == "global":
		e = expression.NewSystemVar(name, sql.GetMysqlScope(sql.SystemVariableScope_Global), scope)
	case scope != "" && v.IsGlobalOnly():
		return nil, mysql.NewSQLError(1238, "HY000", "Variable '%s' is a GLOBAL variable", name)
	default:
		e = expression.NewSystemVar(name, v.GetSessionScope(), scope)
		if n := strings.ToLower(name); n == "character_set_database" || n == "collation_database" {
			e = expression.NewSystemVar(name, sql.GetMysqlScope(sql.SystemVariableScope_Session), scope)
			e.Collation = sql.Collation_Default
			if db, err := h.s.e.gms.Analyzer.Catalog.Database(h.ctx, h.Database()); err == nil {
				e.Collation = plan.GetDatabaseCollation(h.ctx, db)
			}
		}
	}
	c, err := newHostCall(h.ctx, e, nil)
	if err != nil {
		return nil, err
	}
	switch k := c.t.Kind(); { // MySQL has them as whole numbers of 8 bytes, and texts of utf8mb3
	case k == expr.KindText:
		c.t = expr.TText(21845, systemCollation, expr.SysConst)
		c.t.Name = expr.Varchar
	case c.t.Name == expr.TinyInt:
		c.t.Name, c.t.Length = expr.BigInt, 1
	case c.t.IsInteger() && (k == expr.KindInt || k == expr.KindUint):
		c.t.Name, c.t.Length = expr.BigInt, 21
	}
	return c, nil
}
