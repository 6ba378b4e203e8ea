package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// Statements that change temporary tables (M2). go-mysql-server plans those that make or alter one as if the table were one of the catalog:
// what the tables of package engine write they write into an edit that has temporary tables alone (ddl). DROP TABLE is executed here.
//
// CREATE and DROP TEMPORARY TABLE are a part of the open transaction. All others commit it first, as in MySQL.

var errTemporaryForeignKey = mysql.NewSQLError(1215, "HY000", "Cannot add foreign key constraint")

// createsTemporary is the statement, if it makes a temporary table.
func createsTemporary(stmt sqlparser.Statement) *sqlparser.DDL {
	d, ok := stmt.(*sqlparser.DDL)
	if !ok || !d.Temporary || d.Action != sqlparser.CreateStr {
		return nil
	}
	return d
}

// dropsTables is the statement, if it is DROP TABLE.
func dropsTables(stmt sqlparser.Statement) *sqlparser.DDL {
	d, ok := stmt.(*sqlparser.DDL)
	if !ok || d.Action != sqlparser.DropStr || len(d.FromTables) == 0 {
		return nil
	}
	return d
}

// refuseTemporary says what a CREATE TEMPORARY TABLE may not have.
func refuseTemporary(d *sqlparser.DDL) error {
	if d.TableSpec == nil {
		return nil
	}
	if d.TableSpec.PartitionOpt != nil {
		return mysql.NewSQLError(1562, "HY000", "Cannot create temporary table with partitions")
	}
	for _, c := range d.TableSpec.Columns {
		if c.Type.ForeignKeyDef != nil {
			return errTemporaryForeignKey
		}
	}
	for _, c := range d.TableSpec.Constraints {
		if _, ok := c.Details.(*sqlparser.ForeignKeyDefinition); ok {
			return errTemporaryForeignKey
		}
	}
	for _, x := range d.TableSpec.Indexes {
		if x.Info.Fulltext {
			return mysql.NewSQLError(1796, "HY000", "Cannot create FULLTEXT index on temporary InnoDB table")
		}
	}
	return nil
}

// asPermanent is a CREATE TEMPORARY TABLE without TEMPORARY: what go-mysql-server plans.
func asPermanent(d *sqlparser.DDL) *sqlparser.DDL {
	c := *d
	c.Temporary = false
	return &c
}

// meansTemporary finds out whether a statement changes temporary tables, and no others; DROP TABLE is not asked about.
func (x *execution) meansTemporary(sc *sql.Context, stmt sqlparser.Statement) (bool, error) {
	if d := createsTemporary(stmt); d != nil {
		if t := x.s.transaction(); t != nil && t.readOnly || t == nil && x.s.startsReadOnly(sc, sql.ReadWrite) {
			return false, sql.ErrReadOnlyTransaction.New()
		}
		return true, refuseTemporary(d)
	}
	if len(x.s.temporary.tables) == 0 {
		return false, nil
	}
	var name sqlparser.TableName
	switch d := stmt.(type) {
	case *sqlparser.AlterTable:
		name = d.Table
	case *sqlparser.DDL:
		switch {
		case d.Action == sqlparser.TruncateStr:
			name = d.Table
		case d.Action == sqlparser.CreateStr && d.ViewSpec != nil:
			return false, x.viewOverTemporary(sc, d.ViewSpec.ViewExpr)
		case d.Action == sqlparser.CreateStr && d.TriggerSpec != nil:
			at, err := x.s.temporaryNamed(sc, cmp.Or(d.Table.DbQualifier.String(), d.TriggerSpec.TrigName.Qualifier.String()), d.Table.Name.String())
			if err == nil && at != nil {
				err = mysql.NewSQLError(1361, "HY000", "Trigger's '%s' is view or temporary table", d.Table.Name.String())
			}
			return false, err
		}
	}
	if name.IsEmpty() {
		return false, nil
	}
	t, err := x.s.temporaryNamed(sc, name.DbQualifier.String(), name.Name.String())
	if err != nil || t == nil {
		return false, err
	}
	a, ok := stmt.(*sqlparser.AlterTable)
	if !ok {
		return true, nil
	}
	for _, d := range a.Statements {
		if d.ConstraintAction == sqlparser.AddStr && d.TableSpec != nil {
			for _, c := range d.TableSpec.Constraints {
				if _, ok := c.Details.(*sqlparser.ForeignKeyDefinition); ok {
					return true, errTemporaryForeignKey
				}
			}
		}
	}
	return true, nil
}

// createsOfQuery reports whether a statement is CREATE TABLE ... SELECT, whose query may read temporary tables.
func createsOfQuery(stmt sqlparser.Statement) bool {
	d, ok := stmt.(*sqlparser.DDL)
	return ok && d.Action == sqlparser.CreateStr && d.OptSelect != nil
}

// attemptTruncate is TRUNCATE of a temporary table. (go-mysql-server refuses it if foreign keys refer to a table of that name.)
func (x *execution) attemptTruncate(sc *sql.Context, d *sqlparser.DDL) error {
	x.s.ClearWarnings()
	t, ok, err := x.tableNamed(sc, cmp.Or(d.Table.DbQualifier.String(), sc.GetCurrentDatabase()), d.Table.Name.String())
	if err != nil {
		return err
	}
	if !ok {
		return sql.ErrTableNotFound.New(d.Table.Name.String())
	}
	if err := t.replaceIndexes(sc); err != nil {
		return err
	}
	x.out.ok(types.OkResult{})
	return x.commitOwn(sc)
}

// plainly reports whether a statement knows no temporary tables (M1): SHOW of what lists tables, and of a view.
func plainly(stmt sqlparser.Statement) bool {
	s, ok := stmt.(*sqlparser.Show)
	if !ok {
		return false
	}
	switch strings.ToLower(s.Type) {
	case "create view", "table status", "tables", "triggers":
		return true
	}
	return false
}

// viewOverTemporary is error 1352: the query of a view names a temporary table.
func (x *execution) viewOverTemporary(sc *sql.Context, q sqlparser.SQLNode) error {
	ctes := map[string]bool{}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if c, ok := n.(*sqlparser.CommonTableExpr); ok {
			ctes[strings.ToLower(c.As.String())] = true
		}
		return true, nil
	}, q)
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		a, ok := n.(*sqlparser.AliasedTableExpr)
		if !ok {
			return true, nil
		}
		name, ok := a.Expr.(sqlparser.TableName)
		if !ok || name.DbQualifier.IsEmpty() && ctes[strings.ToLower(name.Name.String())] {
			return true, nil
		}
		t, err := x.s.temporaryNamed(sc, name.DbQualifier.String(), name.Name.String())
		if err == nil && t != nil {
			err = mysql.NewSQLError(1352, "HY000", "View's SELECT refers to a temporary table '%s'", name.Name.String())
		}
		return true, err
	}, q)
}

// dropped are the names of a DROP TABLE.
type dropped struct {
	temporary []*catalog.Table
	others    sqlparser.TableNames
	missing   []string // of DROP TEMPORARY TABLE: database.name
}

// splitDrop finds out which names of a DROP TABLE are those of temporary tables.
func (s *Session) splitDrop(sc *sql.Context, d *sqlparser.DDL) (out dropped, err error) {
	for _, n := range d.FromTables {
		database := cmp.Or(n.DbQualifier.String(), sc.GetCurrentDatabase())
		if database == "" {
			return out, sql.ErrNoDatabaseSelected.New()
		}
		t, err := s.temporaryNamed(sc, database, n.Name.String())
		switch {
		case err != nil:
			return out, err
		case t != nil:
			out.temporary = append(out.temporary, t)
		case d.Temporary:
			out.missing = append(out.missing, database+"."+n.Name.String())
		default:
			out.others = append(out.others, n)
		}
	}
	if len(out.missing) > 0 && !d.IfExists {
		err = mysql.NewSQLError(1051, "42S02", "Unknown table '%s'", strings.Join(out.missing, ","))
	}
	return out, err
}

// dropTemporary drops temporary tables. They are the session's alone: that needs no transaction.
func (s *Session) dropTemporary(ts []*catalog.Table) {
	if len(ts) == 0 {
		return
	}
	s.temporary.set(slices.DeleteFunc(slices.Clone(s.temporary.tables), func(t *catalog.Table) bool { return slices.Contains(ts, t) }))
	for _, t := range ts {
		s.lose(t)
	}
	if t := s.transaction(); t != nil {
		t.tookTemporary = true
	}
}

// dropTables executes a DROP TABLE that names temporary tables, or says TEMPORARY. Not done: others have to be dropped first, by what is
// left
// of the statement, and then x.dropsToo.
func (x *execution) dropTables(sc *sql.Context, stmt *sqlparser.DDL, remainder string) (done bool, err error) {
	if !stmt.Temporary && len(x.s.temporary.tables) == 0 {
		return false, nil
	}
	d, err := x.s.splitDrop(sc, stmt)
	if t := x.s.transaction(); err == nil && stmt.Temporary && (t != nil && t.readOnly || t == nil && x.s.startsReadOnly(sc, sql.ReadWrite)) {
		err = sql.ErrReadOnlyTransaction.New()
	}
	if err != nil {
		return true, x.h.e.clientError(sc, err, nil)
	}
	if len(d.others) > 0 {
		if x.dropsToo = d.temporary; len(d.temporary) > 0 {
			stmt.FromTables = d.others
		}
		return false, nil
	}
	x.kind = writing
	x.s.ClearWarnings()
	if !stmt.Temporary {
		if err := x.implicitCommit(sc); err != nil {
			return true, err
		}
	}
	x.s.dropTemporary(d.temporary)
	for _, n := range d.missing {
		x.s.Warn(&sql.Warning{Level: "Note", Code: 1051, Message: fmt.Sprintf("Unknown table '%s'", n)})
	}
	x.out.ok(types.OkResult{})
	x.setStatus(sc)
	return true, x.out.finish(x.more)
}

// warnOfTemporary says after a ROLLBACK what it has not taken back.
func (s *Session) warnOfTemporary(t *tx) {
	if s.stmt.kind != control {
		return
	}
	if t.gaveTemporary {
		s.Warn(&sql.Warning{Level: "Warning", Code: 1751, Message: "The creation of some temporary tables could not be rolled back."})
	}
	if t.tookTemporary {
		s.Warn(&sql.Warning{Level: "Warning", Code: 1752, Message: "Some temporary tables were dropped, but these operations could not be rolled back."})
	}
}

// newTableID is the id of a table that a statement makes: a temporary one, or one of the catalog.
func (t *tx) newTableID(ctx *sql.Context) (uint64, error) {
	if t.temporary {
		return t.e.temporary.take(ctx)
	}
	return t.edit.NewID(), nil
}

// existing is the table that is in the way of one that a statement makes; nil: there is none.
func (t *tx) existing(database uint64, name string) *catalog.Table {
	if t.temporary {
		return t.edit.Snapshot().Temporary(database, name)
	}
	return t.edit.Snapshot().Base(database, name)
}

// reopened is error 1137: a statement names a temporary table twice, which MySQL cannot do.
func (h *queryHost) reopened(id uint64, name string) error {
	if h.temporary == nil {
		h.temporary = map[uint64]bool{}
	}
	if h.temporary[id] {
		return mysql.NewSQLError(1137, "HY000", "Can't reopen table: '%s'", h.firstAlias(name))
	}
	h.temporary[id] = true
	return nil
}

// firstAlias is how the statement calls the table of that name where it first names it.
func (h *queryHost) firstAlias(name string) string {
	out := ""
	if by := h.s.stmt.by; by != nil && by.ast != nil {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if a, ok := n.(*sqlparser.AliasedTableExpr); ok && out == "" {
				if t, ok := a.Expr.(sqlparser.TableName); ok && strings.EqualFold(t.Name.String(), name) {
					out = cmp.Or(a.As.String(), t.Name.String())
				}
			}
			return out == "", nil
		}, by.ast)
	}
	return cmp.Or(out, name)
}

// temporaryRelation is the temporary table that a name in the statement means; nil: it means none.
func (h *queryHost) temporaryRelation(in, name string) (*queryTable, error) {
	if h.ofView || len(h.s.temporary.tables) == 0 {
		return nil, nil
	}
	base, err := h.s.shared(h.ctx)
	if err != nil {
		return nil, err
	}
	now := base.with(base.snap.With(h.s.temporary.tables))
	if t := h.s.transaction(); t == nil || !t.changesCatalog() {
		if now, err = h.s.schema(h.ctx); err != nil {
			return nil, err
		}
	}
	db := now.snap.Database(in)
	if db == nil {
		return nil, nil
	}
	d := now.snap.Temporary(db.ID, name)
	if d == nil {
		return nil, nil
	}
	h.s.e.used(h.ctx, func(u *uses) { u.table(d.ID) })
	l, err := now.layout(db, d)
	if err != nil {
		return nil, err
	}
	if err := h.reopened(d.ID, name); err != nil {
		return nil, err
	}
	q := newQueryTable(newTable(&database{e: h.s.e, id: db.ID, name: db.Name, collation: db.Collation}, l))
	h.tables = append(h.tables, d.ID)
	q.locked = h.s.stmt.lockFor(q.t, false).Mode != kv.NoLock
	q.virtual, err = h.virtualOf(db.Name, l)
	return q, err
}
