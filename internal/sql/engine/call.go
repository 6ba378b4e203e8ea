package engine

import (
	"errors"
	"strings"
	_ "unsafe" // for linkname

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// CALL. The results of a procedure's queries are sent one after the other, each marked as not the last; vitess, for which a command has one
// result, sends the OK packet behind them, or the error.

//go:linkname writeFields github.com/dolthub/vitess/go/mysql.(*Conn).writeFields
func writeFields(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeRows github.com/dolthub/vitess/go/mysql.(*Conn).writeRows
func writeRows(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeBinaryRows github.com/dolthub/vitess/go/mysql.(*Conn).writeBinaryRows
func writeBinaryRows(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeEndResult github.com/dolthub/vitess/go/mysql.(*Conn).writeEndResult
func writeEndResult(c *mysql.Conn, more bool, affected, insertID uint64, warnings uint16) error

// nodeProcedures begins the names of the procedures that the node itself has (procedures.go).
const nodeProcedures = "longitude_"

// storedProgram is a program of the catalog.
type storedProgram struct {
	*routine.Program
	database string
	kept     catalog.Procedure
	returns  expr.Type // of a function
}

// calls executes the request if it is a CALL of a stored procedure.
func (x *execution) calls(sc *sql.Context, r request) (done bool, rest string, err error) {
	if w := firstWord(r.query); !w.is(r.query, "call") {
		return false, "", nil
	}
	text := rewrite(r.query)
	stmt, rest, err := parseQuery(text, sql.LoadSqlMode(sc).ParserOptions())
	c, ok := stmt.(*sqlparser.Call)
	if err != nil || !ok || rest != "" && !r.multi || c.AsOf != nil || strings.HasPrefix(strings.ToLower(c.ProcName.Name.String()), nodeProcedures) {
		return false, "", nil
	}
	x.kind, x.more, x.query, x.ast = writing, x.behind || rest != "", text[:len(text)-len(rest)], c
	x.watch()
	affected, err := x.invoke(sc, c, r.bindings, nil)
	if err != nil {
		return true, rest, err
	}
	x.setStatus(sc)
	if x.out.fields == nil {
		x.out.ok(types.OkResult{RowsAffected: affected})
	}
	return true, rest, x.out.finish(x.more)
}

// prepareCall checks a CALL that is prepared; false: the statement is none, or of a procedure of the node.
func (s *Session) prepareCall(sc *sql.Context, query string) (done bool, err error) {
	if w := firstWord(query); !w.is(query, "call") {
		return false, nil
	}
	stmt, _, err := parseQuery(rewrite(query), sql.LoadSqlMode(sc).ParserOptions())
	c, ok := stmt.(*sqlparser.Call)
	if err != nil || !ok || strings.HasPrefix(strings.ToLower(c.ProcName.Name.String()), nodeProcedures) {
		return false, nil
	}
	database := c.ProcName.Qualifier.String()
	if database == "" {
		if database = sc.GetCurrentDatabase(); database == "" {
			return true, mysql.NewSQLError(1046, "3D000", "No database selected")
		}
	}
	_, err = s.storedProgram(sc, database, c.ProcName.Name.String(), routine.Procedure)
	return true, err
}

// call executes a CALL of a program.
func (x *execution) call(sc *sql.Context, text string, bindings map[string]*querypb.BindVariable, caller *invocation) error {
	stmt, _, err := parseQuery(rewrite(text), sql.LoadSqlMode(sc).ParserOptions())
	c, ok := stmt.(*sqlparser.Call)
	if err != nil || !ok {
		return mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax near '%s'", text)
	}
	affected, err := x.invoke(sc, c, bindings, caller)
	caller.affected = affected
	return err
}

// invoke calls a procedure. caller is the program that does so; nil: the client.
func (x *execution) invoke(sc *sql.Context, c *sqlparser.Call, bindings map[string]*querypb.BindVariable, caller *invocation) (affected uint64, err error) {
	if caller == nil {
		caller = &invocation{x: x, sc: sc}
	}
	database := c.ProcName.Qualifier.String()
	if database == "" {
		if database = sc.GetCurrentDatabase(); database == "" {
			return 0, mysql.NewSQLError(1046, "3D000", "No database selected")
		}
	}
	prog, err := caller.find(database, c.ProcName.Name.String(), routine.Procedure)
	if err != nil {
		return 0, err
	}
	if len(c.Params) != len(prog.Params) {
		return 0, mysql.NewSQLError(1318, "42000", "Incorrect number of arguments for PROCEDURE %s.%s; expected %d, got %d", prog.database, prog.Name,
			len(prog.Params), len(c.Params))
	}
	if err := caller.tooDeep(prog); err != nil {
		return 0, err
	}
	p := &invocation{x: x, sc: sc, prog: prog, up: caller, within: caller.within, depth: caller.depth + 1}
	f := &blockFrame{}
	defer p.push(f)()
	targets := make([]string, len(c.Params))
	ask := &sqlparser.Select{} // a query that gives the values of the IN arguments
	var asked []*local
	for i, a := range prog.Params {
		to, err := p.declare(f, a.Name, a.Type)
		if err != nil {
			return 0, err
		}
		if a.Mode != routine.In {
			if targets[i] = caller.targetOf(c.Params[i]); targets[i] == "" && x.out.form == binaryRows && caller.up == nil && isParameter(c.Params[i]) {
				targets[i] = outParameter
			}
			if targets[i] == "" {
				return 0, mysql.NewSQLError(1414, "42000", "OUT or INOUT argument %d for routine %s.%s is not a variable or NEW pseudo-variable in BEFORE trigger",
					i+1, prog.database, prog.Name)
			}
		}
		if a.Mode != routine.Out {
			ask.SelectExprs = append(ask.SelectExprs, &sqlparser.AliasedExpr{Expr: c.Params[i]})
			asked = append(asked, to)
		}
	}
	if len(asked) > 0 {
		vs, _, err := caller.values(x.query, ask, bindings)
		if err != nil {
			return 0, err
		}
		for i, to := range asked {
			if err := p.assign(to, vs[i]); err != nil {
				return 0, err
			}
		}
	}
	if err := p.run(); err != nil {
		return 0, err
	}
	var sent []*local
	for i, a := range prog.Params {
		if a.Mode == routine.In {
			continue
		}
		v := f.vars[strings.ToLower(a.Name)]
		if targets[i] == outParameter {
			sent = append(sent, v)
			continue
		}
		if err := caller.give(targets[i], v.v, v.t); err != nil {
			return 0, err
		}
	}
	if len(sent) > 0 {
		return 0, caller.sendParameters(sent)
	}
	return p.affected, nil
}

// outParameter stands for a parameter of a prepared CALL that an OUT parameter gives its value to: it is sent to the client.
const outParameter = "?"

func isParameter(e sqlparser.Expr) bool {
	v, ok := e.(*sqlparser.SQLVal)
	return ok && v.Type == sqlparser.ValArg
}

// statusOutParameters marks the result that has the values of OUT parameters (SERVER_PS_OUT_PARAMS).
const statusOutParameters = 0x1000

// sendParameters sends the values of OUT parameters as a result of one row.
func (p *invocation) sendParameters(vs []*local) error {
	q := &rel.Query{Meta: &rel.Metadata{}}
	row := make([]expr.Value, len(vs))
	for i, v := range vs {
		q.Out = append(q.Out, rel.Output{Name: v.name, Col: q.Meta.Add(rel.Column{Name: v.name, Type: v.t, Nullable: true}), Nullable: true})
		row[i] = v.v
	}
	y := p.inner("")
	y.out.begin(queryFields(p.sc, q))
	if err := newQueryRowSender(y, p.sc, q).send(p.environment(), row); err != nil {
		return err
	}
	y.c.StatusFlags |= statusOutParameters
	defer func() { y.c.StatusFlags &^= statusOutParameters }()
	if err := y.out.finish(true); err != nil {
		return err
	}
	y.out.packets.free()
	return writeEndResult(y.c, true, 0, 0, 0)
}

// targetOf is what an argument names if it is a variable, which an OUT parameter gives its value to.
func (p *invocation) targetOf(e sqlparser.Expr) string {
	c, ok := e.(*sqlparser.ColName)
	if !ok {
		return ""
	}
	if isUserVariable(c) {
		v, _, _, err := sqlparser.VarScopeForColName(c)
		if err != nil {
			return ""
		}
		return "@" + v.Name.String()
	}
	name := c.Name.String()
	if !c.Qualifier.IsEmpty() {
		name = c.Qualifier.Name.String() + "." + name
	}
	if p.variable(name) == nil {
		return ""
	}
	return name
}

// run executes the body in the program's database and under its sql_mode.
func (p *invocation) run() error {
	s := p.x.s
	was := s.active
	s.active = p
	defer func() { s.active = was }()
	if now := p.sc.GetCurrentDatabase(); now != p.prog.database {
		s.SetCurrentDatabase(p.prog.database)
		defer s.SetCurrentDatabase(now)
	}
	if now := s.settings(p.sc).sqlMode; now != p.prog.kept.SQLMode && (p.prog.Kind != routine.Trigger || p.prog.kept.SQLMode != "") {
		if err := s.SetSessionVariable(p.sc, sql.SqlModeSessionVar, p.prog.kept.SQLMode); err != nil {
			return err
		}
		defer func() { _ = s.SetSessionVariable(p.sc, sql.SqlModeSessionVar, now) }()
	}
	err := p.exec(p.prog.Body)
	var u *unhandled
	if errors.As(err, &u) {
		return u.error
	}
	var j *jump
	if errors.As(err, &j) {
		return nil
	}
	return err
}

// tooDeep is error 1456: a procedure calls itself more often than it may.
func (p *invocation) tooDeep(prog *storedProgram) error {
	limit, _ := integerVariable(p.sc, "max_sp_recursion_depth")
	n := int64(0)
	for c := p; c != nil; c = c.up {
		if c.prog != nil && c.prog.kept.Name == prog.kept.Name && strings.EqualFold(c.prog.database, prog.database) && c.prog.Kind == prog.Kind {
			n++
		}
	}
	if n > limit {
		return mysql.NewSQLError(1456, "HY000", "Recursive limit %d (as set by the max_sp_recursion_depth variable) was exceeded for routine %s", limit, prog.Name)
	}
	return nil
}

// find finds a program in the catalog; error 1305: there is none.
func (p *invocation) find(database, name string, kind routine.Kind) (found *storedProgram, err error) {
	look := func(_ *execution, sc *sql.Context) error {
		found, err = p.x.s.storedProgram(sc, database, name, kind)
		return err
	}
	if p.within {
		return found, look(nil, p.sc)
	}
	y := p.inner("")
	y.kind = reading
	err = y.repeat(p.sc, func() error { return y.attemptOwn(p.sc, look) })
	return found, err
}

// storedProgram finds a program in the catalog as the session's transaction sees it.
func (s *Session) storedProgram(sc *sql.Context, in, name string, kind routine.Kind) (*storedProgram, error) {
	now, err := s.schema(sc)
	if err != nil {
		return nil, err
	}
	desc := now.snap.Database(in)
	if desc == nil {
		s.e.used(sc, (*uses).everything)
		return nil, errNoRoutine(kind, in, name)
	}
	s.e.used(sc, func(u *uses) { u.database(desc.ID) })
	if at := findRoutine(desc, name, kind == routine.Function); at >= 0 {
		return s.e.parsedProgram(sc, desc.Name, desc.Procedures[at])
	}
	return nil, errNoRoutine(kind, in, name)
}

var kindNames = map[routine.Kind]string{routine.Procedure: "PROCEDURE", routine.Function: "FUNCTION", routine.Trigger: "TRIGGER"}

// parsedProgram parses a program of the catalog.
func (e *Engine) parsedProgram(sc *sql.Context, database string, kept catalog.Procedure) (*storedProgram, error) {
	prog, err := routine.Parse(plainComments(kept.Create), sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
	if err != nil {
		return nil, clientSide(err)
	}
	out := &storedProgram{Program: prog, database: database, kept: kept}
	if prog.Kind == routine.Function {
		t, err := e.typeText(sc, prog.Returns)
		if err != nil {
			return nil, err
		}
		out.returns = exprType(t, expr.Implicit)
	}
	return out, nil
}
