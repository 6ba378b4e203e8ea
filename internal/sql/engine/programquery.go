package engine

import (
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// How the statements and expressions of stored programs are executed. A procedure that a client calls is a sequence of statements: each is one
// like the client's own, with its transaction, repetitions and result. Within a statement (functions, triggers) there is one transaction, that
// of the statement, and nothing is committed or repeated by itself.

// localMark begins the name of the parameter that stands for a variable of a program.
const localMark = "local "

// localize puts parameters in the place of variables of the program in a statement that our own packages plan.
func (p *invocation) localize(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return p.replaceLocals(stmt, func(v *local) (sqlparser.Expr, error) {
		return sqlparser.NewValArg([]byte(":" + localMark + v.known())), nil
	})
}

// known is the name by which the program knows a variable.
func (v *local) known() string {
	if v.key != "" {
		return v.key
	}
	return v.name
}

// literalize puts values in the place of variables in a statement that go-mysql-server plans.
func (p *invocation) literalize(stmt sqlparser.Statement) (sqlparser.Statement, error) {
	return p.replaceLocals(stmt, func(v *local) (sqlparser.Expr, error) { return localLiteral(p.environment(), v) })
}

func (p *invocation) replaceLocals(stmt sqlparser.Statement, with func(*local) (sqlparser.Expr, error)) (sqlparser.Statement, error) {
	if p == nil || stmt == nil {
		return stmt, nil
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) { // columns are called after the variables
		if a, ok := n.(*sqlparser.AliasedExpr); ok && a.As.IsEmpty() && a.InputExpression == "" {
			if c, ok := a.Expr.(*sqlparser.ColName); ok && c.Qualifier.IsEmpty() && p.variable(c.Name.String()) != nil {
				a.InputExpression = c.Name.String()
			}
		}
		return true, nil
	}, stmt)
	err := rewriting{expr: func(e sqlparser.Expr) (sqlparser.Expr, error) {
		c, ok := e.(*sqlparser.ColName)
		if !ok {
			return e, nil
		}
		name := c.Name.String()
		if !c.Qualifier.IsEmpty() {
			if !c.Qualifier.DbQualifier.IsEmpty() {
				return e, nil
			}
			name = c.Qualifier.Name.String() + "." + name
		}
		if v := p.variable(name); v != nil {
			return with(v)
		}
		return e, nil
	}}.in(reflect.ValueOf(&stmt).Elem())
	return stmt, err
}

// localLiteral is the value of a variable as a literal.
func localLiteral(env *expr.Env, l *local) (sqlparser.Expr, error) {
	if l.v.IsNull() {
		return &sqlparser.NullVal{}, nil
	}
	text, err := expr.ToText(env, l.v)
	if err != nil {
		return nil, err
	}
	switch l.v.Kind() {
	case expr.KindInt, expr.KindUint, expr.KindDecimal, expr.KindFloat:
		negative := strings.HasPrefix(text, "-")
		val := []byte(strings.TrimPrefix(text, "-"))
		var e sqlparser.Expr = sqlparser.NewIntVal(val)
		if k := l.v.Kind(); k == expr.KindDecimal || k == expr.KindFloat {
			e = sqlparser.NewFloatVal(val)
		}
		if negative {
			e = &sqlparser.ParenExpr{Expr: &sqlparser.UnaryExpr{Operator: sqlparser.UMinusStr, Expr: e}}
		}
		return e, nil
	case expr.KindBytes:
		return sqlparser.NewHexVal([]byte(hexOf(text))), nil
	case expr.KindDate:
		return callNode("date literal", textNode(text)), nil
	case expr.KindTime:
		return callNode("time literal", textNode(text)), nil
	case expr.KindDatetime:
		return callNode("timestamp literal", textNode(text)), nil
	case expr.KindJSON:
		return callNode("cast", textNode(text), textNode("json")), nil
	}
	return textNode(text), nil
}

func hexOf(s string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, digits[s[i]>>4], digits[s[i]&15])
	}
	return string(out)
}

// localNode is a variable of a program in an expression: a constant while a statement is executed, unless its plan is kept.
type localNode struct {
	l    *local
	kept bool
}

// Type implements expr.Node.
func (n *localNode) Type() expr.Type { return n.l.t }

// Eval implements expr.Node.
func (n *localNode) Eval(*expr.Env) (expr.Value, error) { return n.l.v, nil }

// Constant implements expr.Constant.
func (n *localNode) Constant() bool { return !n.kept }

// keptRows keeps rows.
type keptRows struct {
	rows  [][]expr.Value
	types []expr.Type
	size  int64
	most  int64 // bytes; 0: as many as come
}

// send implements rowReceiver.
func (k *keptRows) send(_ *expr.Env, row []expr.Value) error {
	k.rows = append(k.rows, append([]expr.Value(nil), row...))
	for _, v := range row {
		k.size += 40 + int64(len(v.RawText()))
	}
	if k.most > 0 && k.size > k.most {
		return mysql.NewSQLError(1038, "HY001", "Out of memory for the rows of a cursor; %s says how much a query may use", queryMemoryVariable)
	}
	return nil
}

func (x *execution) cursorMemory(sc *sql.Context) int64 {
	n, _ := integerVariable(sc, queryMemoryVariable)
	return n
}

// inner is an execution for a statement of a program.
func (p *invocation) inner(text string) *execution {
	x := p.x
	y := &execution{h: x.h, ctx: x.ctx, s: x.s, c: x.c, program: p, watching: true, behind: true, query: text}
	y.out = newOutput(x.s, p.sender(y), x.h.e.o.ResultBuffer)
	y.out.c, y.out.form = x.c, x.out.form
	return y
}

// simpleExpression reports whether an expression reads nothing but variables of the program: it has no parentheses, and so no functions and
// subqueries, and no user variables.
func simpleExpression(text string) bool { return !strings.ContainsAny(text, "(@:") }

// simpleValue evaluates a simple expression. Its plan is made once for each block in which it stands, and no transaction is asked for it.
func (p *invocation) simpleValue(text string) (expr.Value, expr.Type, error) {
	s := p.x.s
	if !p.within {
		s.ClearWarnings()
	}
	if p.env == nil {
		p.env = newEnvironment(p.sc)
		p.env.Change = false
	}
	q := p.frame.known[text]
	if q == nil {
		stmt, err := p.parseQuery("SELECT " + text)
		if err != nil {
			return expr.Null, expr.TNull, err
		}
		local, err := p.localize(stmt)
		if err != nil {
			return expr.Null, expr.TNull, err
		}
		y := &execution{h: p.x.h, ctx: p.x.ctx, s: s, c: p.x.c, program: p, query: text}
		var warned []*sql.Warning
		if q, warned, err = y.plan(p.sc, local.(sqlparser.SelectStatement), &queryHost{ctx: p.sc, s: s, program: p, keeps: true}); err != nil {
			return expr.Null, expr.TNull, clientSide(err)
		}
		for _, w := range warned {
			s.Warn(w)
		}
		if len(warned) == 0 {
			if p.frame.known == nil {
				p.frame.known = map[string]*rel.Query{}
			}
			p.frame.known[text] = q
		}
	}
	t := q.Meta.Columns[q.Out[0].Col].Type
	run := exec.New(q, p.env, &querySource{ctx: p.sc, s: s}, queryOptions(p.sc, s, nil))
	row := []expr.Value{expr.Null}
	err := run.Open()
	if err == nil {
		_, err = run.Next(row)
	}
	if cerr := run.Close(); err == nil {
		err = cerr
	}
	return row[0], t, clientSide(err)
}

// value evaluates an expression of the program.
func (p *invocation) value(text string) (expr.Value, expr.Type, error) {
	if p.frame != nil && simpleExpression(text) {
		return p.simpleValue(text)
	}
	info := p.x.s.GetLastQueryInfo() // ROW_COUNT() and FOUND_ROWS() are about statements
	changed, found := info.RowCount.Load(), info.FoundRows.Load()
	defer func() {
		info.RowCount.Store(changed)
		info.FoundRows.Store(found)
	}()
	stmt, err := p.parseQuery("SELECT " + text)
	if err != nil {
		return expr.Null, expr.TNull, err
	}
	vs, ts, err := p.values("SELECT "+text, stmt, nil)
	if err != nil {
		return expr.Null, expr.TNull, err
	}
	return vs[0], ts[0], nil
}

// values executes a query that gives one row.
func (p *invocation) values(text string, stmt sqlparser.SelectStatement, bindings map[string]*querypb.BindVariable) ([]expr.Value, []expr.Type, error) {
	var rows *keptRows
	err := p.rows(text, stmt, bindings, func(q *rel.Query) rowReceiver {
		rows = &keptRows{}
		for _, o := range q.Out {
			rows.types = append(rows.types, q.Meta.Columns[o.Col].Type)
		}
		return rows
	})
	if err != nil {
		return nil, nil, err
	}
	if len(rows.rows) != 1 {
		return nil, nil, mysql.NewSQLError(1242, "21000", "Subquery returns more than 1 row")
	}
	return rows.rows[0], rows.types, nil
}

// parseQuery parses a query of the program.
func (p *invocation) parseQuery(text string) (sqlparser.SelectStatement, error) {
	stmt, rest, err := parseQuery(rewrite(text), sql.LoadSqlMode(p.sc).ParserOptions())
	q, ok := stmt.(sqlparser.SelectStatement)
	if err != nil || rest != "" || !ok {
		why := text
		if err != nil {
			_, why, _ = strings.Cut(err.Error(), "syntax error")
		}
		return nil, mysql.NewSQLError(1064, "42000", "%s", strings.TrimSpace("syntax error"+why))
	}
	return q, nil
}

// query executes a query whose rows the program takes.
func (p *invocation) query(text string, gives func(*rel.Query) rowReceiver) error {
	stmt, err := p.parseQuery(text)
	if err != nil {
		return err
	}
	return p.rows(text, stmt, nil, gives)
}

func (p *invocation) rows(text string, stmt sqlparser.SelectStatement, bindings map[string]*querypb.BindVariable, gives func(*rel.Query) rowReceiver) error {
	local, err := p.localize(stmt)
	if err != nil {
		return err
	}
	stmt = local.(sqlparser.SelectStatement)
	if p.within {
		return p.queryWithin(text, stmt, gives)
	}
	y := p.inner(text)
	y.kind, y.gives, y.ast = reading, gives, stmt
	locks := y.lockPlan(p.sc, stmt, nil)
	withoutClauses(stmt)
	err = y.repeat(p.sc, func() error { return y.attemptQuery(request{query: text, bindings: bindings}, stmt, locks) })
	if err == errOrdinary {
		return errNotInPrograms(text)
	}
	return err
}

func errNotInPrograms(text string) error {
	return mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support '%s' in stored programs", text)
}

// queryWithin executes a query in the transaction of the statement that the program is a part of.
func (p *invocation) queryWithin(text string, stmt sqlparser.SelectStatement, gives func(*rel.Query) rowReceiver) error {
	y := &execution{h: p.x.h, ctx: p.x.ctx, s: p.x.s, c: p.x.c, program: p, query: text, kind: reading, ast: stmt}
	p.x.s.stmt.locks.tables = append(p.x.s.stmt.locks.tables, y.lockPlan(p.sc, stmt, nil).tables...)
	withoutClauses(stmt)
	q, warned, err := y.plan(p.sc, stmt, &queryHost{ctx: p.sc, s: p.x.s, program: p})
	if errors.Is(err, bind.ErrUnsupported) {
		return errNotInPrograms(text)
	}
	if err != nil {
		return clientSide(err)
	}
	for _, w := range warned {
		p.x.s.Warn(w)
	}
	return clientSide(y.executeQuery(p.sc, q, nil, gives(q)))
}

// statement executes a statement of the program as it is written.
func (p *invocation) statement(text string) error {
	p.env = nil // it may set variables
	if w := firstWord(text); w.is(text, "call") {
		return p.x.call(p.sc, text, nil, p)
	}
	if p.within {
		return p.statementWithin(text)
	}
	y := p.inner(text)
	rest, err := y.run(p.sc, request{query: text, rows: y.out.form})
	if err == nil && rest != "" {
		err = mysql.NewSQLError(1064, "42000", "You have an error in your SQL syntax near '%s'", rest)
	}
	y.out.packets.free()
	if y.out.sent && err != nil {
		return &unhandled{err} // some of its rows have left
	}
	if err == nil && y.begun {
		err = writeEndResult(y.c, true, 0, 0, p.x.s.WarningCount())
	}
	return err
}

// statementWithin executes a statement in the transaction of the one that the program is a part of.
func (p *invocation) statementWithin(text string) error {
	stmt, _, err := parseQuery(rewrite(text), sql.LoadSqlMode(p.sc).ParserOptions())
	if q, ok := stmt.(sqlparser.SelectStatement); ok && err == nil {
		into := takeInto(q)
		if into == nil {
			return mysql.NewSQLError(1415, "0A000", "Not allowed to return a result set from a function")
		}
		return p.into(text, q, into)
	}
	return p.changeWithin(text)
}

// into executes SELECT ... INTO within a statement.
func (p *invocation) into(text string, stmt sqlparser.SelectStatement, into *sqlparser.Into) error {
	var to *intoVariables
	err := p.rows(text, stmt, nil, func(q *rel.Query) rowReceiver {
		to = &intoVariables{sc: p.sc, q: q, into: into, program: p}
		return to
	})
	if err != nil {
		return err
	}
	if to.rows == 0 {
		p.sc.Warn(1329, "No data - zero rows fetched, selected, or processed")
	}
	return nil
}

// changeWithin executes a statement that changes rows in the transaction of the one around it.
func (p *invocation) changeWithin(text string) error {
	s := p.x.s
	stmt, rest, err := parseQuery(rewrite(text), sql.LoadSqlMode(p.sc).ParserOptions())
	if err == nil && rest == "" && changes(stmt) && !leftToOrdinary(stmt) {
		if stmt, err = p.localize(stmt); err != nil {
			return err
		}
		withoutClauses(stmt)
		err := p.inside(text, stmt, false, func() error { return p.changeByOwn(stmt) })
		if !errors.Is(err, bind.ErrUnsupported) {
			return err
		}
		p.x.h.e.log.Debug("a statement is left to go-mysql-server", "why", err, "query", text)
	}
	if stmt, err = p.x.h.e.gms.Parser.ParseSimple(rewrite(text)); err != nil {
		return err
	}
	if stmt, err = p.literalize(stmt); err != nil {
		return err
	}
	if d := dropsTables(stmt); d != nil && d.Temporary {
		dropped, err := s.splitDrop(p.sc, d)
		if err == nil {
			s.dropTemporary(dropped.temporary)
		}
		return err
	}
	temporary := createsTemporary(stmt)
	if temporary != nil {
		if err := refuseTemporary(temporary); err != nil {
			return err
		}
		stmt = asPermanent(temporary)
	}
	p.x.h.e.reshape(p.sc, stmt)
	if temporary == nil && kindOfStatement(stmt) != writing && kindOfStatement(stmt) != other {
		return errNotInPrograms(text)
	}
	return p.inside(text, stmt, temporary != nil, func() error { return p.changeByHost(text, stmt) })
}

// inside executes a statement in the transaction of the one around it. If it fails nothing of it remains. temporary: it makes a temporary table.
func (p *invocation) inside(text string, stmt sqlparser.Statement, temporary bool, execute func() error) (err error) {
	s := p.x.s
	t := s.transaction()
	if t == nil {
		return mysql.NewSQLError(1105, "HY000", "a stored program runs without a transaction")
	}
	if err := p.changesItsOwn(stmt); err != nil {
		return err
	}
	outer := s.stmt
	for _, e := range outer.editors {
		if err := e.flush(p.sc); err != nil {
			return err
		}
	}
	outer.ahead = nil
	s.stmt = &statement{kind: writing, query: text, lockUntil: outer.lockUntil, asOf: outer.asOf, deferred: false, flags: &sql.QueryFlags{}, scanLocks: outer.scanLocks,
		by: &execution{h: p.x.h, ctx: p.x.ctx, s: s, c: p.x.c, program: p, out: p.x.out, query: text, ast: stmt}}
	s.stmt.temporary = temporary
	s.stmt.ids.inserts(stmt)
	s.stmt.locks = s.stmt.by.lockPlan(p.sc, stmt, nil)
	ignored := s.GetIgnoreAutoCommit()
	s.SetIgnoreAutoCommit(true)
	before := "\x00" + strconv.Itoa(p.depth) + "\x00" + strconv.Itoa(len(outer.editors))
	t.setSavepoint(before)
	defer func() {
		if s.transaction() == nil {
			s.SetTransaction(t)
		}
		if err != nil && t.retry == nil {
			if rerr := t.rollbackTo(before); rerr != nil {
				err = rerr
			}
			t.forgetEdit()
		}
		s.adopt(t)
		_ = t.releaseSavepoint(before)
		s.SetIgnoreAutoCommit(ignored)
		outer.uses.add(&s.stmt.uses)
		s.stmt = outer
	}()
	return execute()
}

// changeByOwn is a change by packages of our own. The error wraps bind.ErrUnsupported if they cannot execute it; nothing has been done then.
func (p *invocation) changeByOwn(stmt sqlparser.Statement) error {
	s := p.x.s
	y := s.stmt.by
	c, warned, err := y.planChange(p.sc, stmt, &queryHost{ctx: p.sc, s: s, program: p})
	if err != nil {
		return clientSide(err)
	}
	for _, w := range warned {
		s.Warn(w)
	}
	r, err := y.change(p.sc, c)
	if err != nil {
		return clientSide(err)
	}
	p.affected = r.RowsAffected
	s.GetLastQueryInfo().RowCount.Store(int64(r.RowsAffected))
	return nil
}

// changeByHost is one by go-mysql-server.
func (p *invocation) changeByHost(text string, stmt sqlparser.Statement) error {
	sc := p.sc.WithContext(p.sc.Context)
	sc.ProcessList = sql.EmptyProcessList{} // go-mysql-server ends with the statement what it has of the connection
	_, iter, _, err := p.x.h.e.gms.QueryWithBindings(sc, text, stmt, nil, p.x.s.stmt.flags)
	if err != nil {
		return err
	}
	for {
		row, err := iter.Next(sc)
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = iter.Close(sc)
			return err
		}
		if types.IsOkResult(row) {
			p.affected = row[0].(types.OkResult).RowsAffected
		}
	}
	return iter.Close(sc)
}

// changesItsOwn is error 1442: a function or trigger changes a table that the statement that it is a part of uses.
func (p *invocation) changesItsOwn(stmt sqlparser.Statement) error {
	var targets []lockedTable
	plan := lockPlan{}
	switch s := stmt.(type) {
	case *sqlparser.Insert:
		targets = append(targets, lockedTable{db: lower(s.Table.DbQualifier), name: lower(s.Table.Name)})
	case *sqlparser.Update:
		plan.changed(s.TableExprs, assigned(s), 0)
		targets = plan.tables
	case *sqlparser.Delete:
		plan.changed(s.TableExprs, s.Targets, 0)
		targets = plan.tables
	}
	now, err := p.x.s.schema(p.sc)
	if err != nil {
		return err
	}
	id := func(db, name string) uint64 {
		if db == "" {
			db = p.prog.database
		}
		if d := now.snap.Database(db); d != nil {
			if t := now.snap.Table(d.ID, name); t != nil {
				return t.ID
			}
		}
		return 0
	}
	used := map[uint64]bool{}
	for c := p; c != nil; c = c.up {
		used[c.subject] = true
		if c.within && c.x.ast != nil {
			_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
				if t, ok := n.(sqlparser.TableName); ok {
					used[id(t.DbQualifier.String(), t.Name.String())] = true
				}
				return true, nil
			}, c.x.ast)
		}
	}
	for _, t := range targets {
		if at := id(t.db, t.name); at != 0 && used[at] {
			return mysql.NewSQLError(1442, "HY000", "Can't update table '%s' in stored function/trigger because it is already used by statement which invoked "+
				"this stored function/trigger.", t.name)
		}
	}
	return nil
}

// sender sends the results of statements of a procedure: those with rows to the client, one after the other; of the others the program
// knows how many rows they have changed.
func (p *invocation) sender(y *execution) sender {
	return func(r *sqltypes.Result, more bool) error {
		if len(r.Fields) == 0 && !y.begun {
			p.affected = r.RowsAffected
			return nil
		}
		p.affected = 0
		root := p.root()
		if y.out.form == valueRows { // the last result is the one that is sent
			if !y.begun {
				root.x.out.reset()
				root.x.out.fields = r.Fields
			}
			y.begun = true
			root.x.out.rows = append(root.x.out.rows, r.Rows...)
			return nil
		}
		if !y.begun {
			y.begun = true
			if err := writeFields(y.c, r); err != nil {
				return err
			}
		}
		if y.out.form == binaryRows {
			return writeBinaryRows(y.c, r)
		}
		return writeRows(y.c, r)
	}
}

// root is the invocation that the client's statement has made.
func (p *invocation) root() *invocation {
	for p.up != nil {
		p = p.up
	}
	return p
}
