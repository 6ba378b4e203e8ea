package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/routine"
)

// Triggers. go-mysql-server decides when the triggers of a table are executed, in its plans of changes; it is given triggers with a body that does
// nothing, and the bodies are executed here, as stored programs in which NEW.x and OLD.x are variables.

// triggerMark is the user variable that the body that go-mysql-server is given sets, to the name of the trigger's database.
const triggerMark = "SET @`longitude trigger` = "

// outerTrigger is a trigger as go-mysql-server is given it.
func outerTrigger(create, database string) (string, error) {
	prog, err := routine.Parse(create, false)
	if err != nil {
		return "", clientSide(err)
	}
	return strings.TrimSuffix(strings.TrimRight(create, "; \t\r\n"), prog.BodyText) + triggerMark + quoteText(database), nil
}

// createTrigger is CREATE TRIGGER.
func createTrigger(text string) *ownStatement {
	own := &ownStatement{whole: true}
	prog, err := routine.Parse(strings.TrimSpace(text), false)
	if err != nil {
		own.answer = func(*execution, *sql.Context) error { return clientSide(err) }
		return own
	}
	if err := checkTrigger(prog); err != nil {
		own.answer = func(*execution, *sql.Context) error { return err }
		return own
	}
	own.instead, err = outerTrigger(strings.TrimSpace(text), "")
	if err != nil {
		return nil
	}
	own.trigger = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	return own
}

// checkTrigger refuses what a trigger of its time and event cannot do (1362, 1363).
func checkTrigger(prog *routine.Program) error {
	for _, r := range prog.RowRefs() {
		switch {
		case r.Old && prog.Event == "INSERT":
			return mysql.NewSQLError(1363, "HY000", "There is no OLD row in on INSERT trigger")
		case !r.Old && prog.Event == "DELETE":
			return mysql.NewSQLError(1363, "HY000", "There is no NEW row in on DELETE trigger")
		case r.Set && prog.Time == "AFTER":
			return mysql.NewSQLError(1362, "HY000", "Updating of NEW row is not allowed in after trigger")
		}
	}
	return nil
}

// checkTriggerColumns is error 1054: NEW or OLD has no such column.
func checkTriggerColumns(create string, t *catalog.Table) error {
	prog, err := routine.Parse(create, false)
	if err != nil {
		return clientSide(err)
	}
	for _, r := range prog.RowRefs() {
		found := false
		for _, c := range t.Columns {
			found = found || strings.EqualFold(c.Name, r.Column)
		}
		if !found {
			return mysql.NewSQLError(1054, "42S22", "Unknown column '%s' in '%s'", r.Column, map[bool]string{true: "OLD", false: "NEW"}[r.Old])
		}
	}
	return nil
}

// triggered has a trigger executed for each row of a change.
func (b *builder) triggered(ctx *sql.Context, n *plan.TriggerExecutor, row sql.Row) (sql.RowIter, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	if bodyOf(n.Right()) != nil {
		return nil, nil
	}
	s.stmt.deferred = false // what a trigger reads has to include the rows so far
	_, name, ok := strings.Cut(n.TriggerDefinition.CreateStatement, triggerMark)
	if !ok {
		return nil, nil
	}
	stmt, err := sqlparser.Parse("SELECT " + name)
	if err != nil {
		return nil, err
	}
	database := string(stmt.(*sqlparser.Select).SelectExprs[0].(*sqlparser.AliasedExpr).Expr.(*sqlparser.SQLVal).Val)
	prog, table, err := s.storedTrigger(ctx, database, n.TriggerDefinition.Name)
	if err != nil {
		return nil, err
	}
	t := &triggerBody{rowTrigger: newRowTrigger(s, prog, table), n: n}
	if i, ok := n.Left().(*plan.InsertInto); ok {
		t.updates = i.OnDupExprs.HasUpdates()
	}
	set := plan.NewSet([]sql.Expression{expression.NewSetField(expression.NewGetField(0, types.Int64, "", true), t)})
	whole, err := n.WithChildren(ctx, n.Left(), set)
	if err != nil {
		return nil, err
	}
	return b.e.gms.Analyzer.ExecBuilder.Build(ctx, whole, row)
}

// bodyOf is the program that a SET of go-mysql-server stands for; nil: it is a SET.
func bodyOf(n sql.Node) *triggerBody {
	set, ok := n.(*plan.Set)
	if !ok || len(set.Exprs) != 1 {
		return nil
	}
	f, ok := set.Exprs[0].(*expression.SetField)
	if !ok {
		return nil
	}
	t, _ := f.RightChild.(*triggerBody)
	return t
}

// storedTrigger finds a trigger and its table.
func (s *Session) storedTrigger(sc *sql.Context, database, name string) (*storedProgram, *layout, error) {
	now, err := s.schema(sc)
	if err != nil {
		return nil, nil, err
	}
	desc := now.snap.Database(database)
	if desc == nil {
		return nil, nil, sql.ErrDatabaseNotFound.New(database)
	}
	for _, kept := range desc.Triggers {
		if !strings.EqualFold(kept.Name, name) {
			continue
		}
		prog, err := routine.Parse(plainComments(kept.Create), sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
		if err != nil {
			return nil, nil, clientSide(err)
		}
		m := triggerTable.FindStringSubmatch(kept.Create)
		if m == nil {
			break
		}
		t := now.snap.Base(desc.ID, strings.Trim(m[3], "`"))
		if t == nil {
			break
		}
		l, err := now.layout(desc, t)
		if err != nil {
			return nil, nil, err
		}
		return &storedProgram{Program: prog, database: desc.Name, kept: catalog.Procedure{Name: kept.Name, SQLMode: kept.SQLMode}}, l, nil
	}
	return nil, nil, sql.ErrTriggerDoesNotExist.New(name)
}

// triggerBody is what a trigger does. For go-mysql-server, which takes the row as a SET NEW.x has changed it, it is the value of a SET.
type triggerBody struct {
	sql.Expression // go-mysql-server does not ask it anything
	*rowTrigger
	n       *plan.TriggerExecutor
	updates bool // ON DUPLICATE KEY UPDATE
}

// Children implements sql.Expression.
func (t *triggerBody) Children() []sql.Expression { return nil }

// Resolved implements sql.Expression.
func (t *triggerBody) Resolved() bool { return true }

// IsNullable implements sql.Expression.
func (t *triggerBody) IsNullable(*sql.Context) bool { return true }

// Type implements sql.Expression.
func (t *triggerBody) Type(*sql.Context) sql.Type { return types.Int64 }

// String implements sql.Expression.
func (t *triggerBody) String() string { return "trigger " + t.prog.Name }

// WithChildren implements sql.Expression.
func (t *triggerBody) WithChildren(*sql.Context, ...sql.Expression) (sql.Expression, error) {
	return t, nil
}

// run executes the trigger for a row, and gives the row twice: as it was, and as it has become.
func (t *triggerBody) run(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	n := len(t.types)
	both := func(after sql.Row) (sql.RowIter, error) {
		return sql.RowsToRowIter(append(append(make(sql.Row, 0, 2*len(row)), row...), after...)), nil
	}
	var oldRow, newRow sql.Row
	switch t.n.TriggerEvent {
	case plan.InsertTrigger:
		if newRow = row; len(row) == 2*n { // there was such a row before
			if t.updates {
				return both(row) // which has been updated
			}
			newRow = row[n:]
		}
	case plan.DeleteTrigger:
		oldRow = row
	default:
		if len(row) == 2*n {
			oldRow, newRow = row[:n], row[n:]
		}
	}
	if oldRow == nil && newRow == nil || newRow != nil && len(newRow) != n || oldRow != nil && len(oldRow) != n {
		return nil, mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support 'a trigger of a table that is changed together with others'")
	}
	olds, err := t.values(ctx, oldRow)
	if err != nil {
		return nil, err
	}
	news, err := t.values(ctx, newRow)
	if err != nil {
		return nil, err
	}
	changed, err := t.fire(ctx, olds, news)
	if err != nil {
		return nil, err
	}
	after := append(sql.Row(nil), row...)
	for _, i := range changed {
		if after[len(row)-n+i], err = toHost(news[i], t.types[i]); err != nil {
			return nil, err
		}
	}
	return both(after)
}

// values are those of a row of go-mysql-server; nil: there is none.
func (t *triggerBody) values(ctx *sql.Context, row sql.Row) ([]expr.Value, error) {
	if row == nil {
		return nil, nil
	}
	out := make([]expr.Value, len(row))
	for i, v := range row {
		if v == nil {
			continue
		}
		var err error
		if out[i], err = valueOfType(ctx, v, t.l.schema.Schema[i].Type, t.types[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rowTrigger is a trigger that can be executed for rows of its table. Values are by the places of the table's columns, in types.
type rowTrigger struct {
	s     *Session
	prog  *storedProgram
	l     *layout
	types []expr.Type
}

func newRowTrigger(s *Session, prog *storedProgram, l *layout) *rowTrigger {
	t := &rowTrigger{s: s, prog: prog, l: l}
	for _, c := range l.queries().columns {
		t.types = append(t.types, c.Type)
	}
	return t
}

// rowTriggers are the triggers of a table for a time (BEFORE, AFTER) and an event (INSERT, UPDATE, DELETE), in the order in which they are executed.
func (s *Session) rowTriggers(sc *sql.Context, database string, l *layout, when, event string) (out []*rowTrigger, err error) {
	now, err := s.schema(sc)
	if err != nil {
		return nil, err
	}
	desc := now.snap.Database(database)
	if desc == nil {
		return nil, sql.ErrDatabaseNotFound.New(database)
	}
	if l.desc.Temporary() {
		return nil, nil
	}
	for _, kept := range desc.Triggers {
		prog, err := routine.Parse(plainComments(kept.Create), sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
		if err != nil {
			return nil, clientSide(err)
		}
		if prog.Time != when || prog.Event != event || !strings.EqualFold(prog.Table, l.desc.Name) {
			continue
		}
		t := newRowTrigger(s, &storedProgram{Program: prog, database: desc.Name, kept: catalog.Procedure{Name: kept.Name, SQLMode: kept.SQLMode}}, l)
		at := len(out)
		for i, o := range out {
			if strings.EqualFold(o.prog.kept.Name, prog.Other) {
				at = i + 1
				if prog.Order == "PRECEDES" {
					at = i
				}
			}
		}
		out = slices.Insert(out, at, t)
	}
	return out, nil
}

// fire executes the trigger for a row. Of an INSERT there is no old row, of a DELETE no new one (nil). What the trigger assigns to NEW is put into new;
// changed are the places of those columns. The session's statement has to name its execution (statement.by).
func (t *rowTrigger) fire(ctx *sql.Context, old, new []expr.Value) (changed []int, err error) {
	p := &invocation{x: t.s.stmt.by, sc: ctx, prog: t.prog, within: true, up: t.s.active, subject: t.l.desc.ID}
	if p.x == nil {
		return nil, mysql.NewSQLError(1105, "HY000", "the trigger %s is executed outside of a statement", t.prog.Name)
	}
	if p.up != nil {
		p.depth = p.up.depth + 1
	}
	id := t.s.GetLastQueryInfo().LastInsertId.Load() // no statement behind the trigger sees what it makes of LAST_INSERT_ID
	defer func() { t.s.GetLastQueryInfo().LastInsertId.Store(id) }()
	warned := t.s.Warnings()
	f := &blockFrame{}
	defer p.push(f)()
	for prefix, row := range map[string][]expr.Value{"old.": old, "new.": new} {
		for i, v := range row {
			name := t.l.schema.Schema[i].Name
			to := &local{name: name, t: t.types[i], v: v, key: prefix + strings.ToLower(name)}
			f.vars[to.key] = to
		}
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	t.s.BaseSession.ClearWarnings() // those of the trigger end with it, as in MySQL
	for _, w := range warned {
		t.s.Warn(w)
	}
	for i := range new {
		if v := f.vars["new."+strings.ToLower(t.l.schema.Schema[i].Name)]; v.set {
			new[i] = v.v
			changed = append(changed, i)
		}
	}
	return changed, nil
}

// refusedTriggers refuses to replace or update rows by INSERT where go-mysql-server would not execute the triggers that MySQL does: DELETE triggers
// of the rows that REPLACE removes, UPDATE triggers of ON DUPLICATE KEY UPDATE.
func refusedTriggers(ctx *sql.Context, n *plan.InsertInto) error {
	event := ""
	switch {
	case n.IsReplace:
		event = "DELETE"
	case n.OnDupExprs.HasUpdates():
		event = "UPDATE"
	default:
		return nil
	}
	to, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil
	}
	t, ok := sql.GetUnderlyingTable(to).(*table)
	if !ok {
		return nil
	}
	desc, err := t.db.whole(ctx)
	if err != nil {
		return err
	}
	for _, kept := range desc.Triggers {
		prog, err := routine.Parse(kept.Create, sql.NewSqlModeFromString(kept.SQLMode).AnsiQuotes())
		if err != nil {
			return clientSide(err)
		}
		if prog.Event == event && strings.EqualFold(prog.Table, t.l.desc.Name) {
			return mysql.NewSQLError(1235, "42000", "This version of Longitude doesn't yet support 'REPLACE and ON DUPLICATE KEY UPDATE of a table with %s triggers'", event)
		}
	}
	return nil
}
