package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// What ALTER TABLE does without go-mysql-server, before that is given the rest of the statement:
//
//	ALTER COLUMN c SET VISIBLE, SET INVISIBLE   its parser does not know them (visibilitySyntax)
//	RENAME COLUMN c TO C                        it finds C there already
//	CONVERT TO CHARACTER SET                    it changes the table's default alone (sql/rowexec/ddl.go, buildAlterTableCollation)

// isOwnAlter reports whether a part of an ALTER TABLE is one of these. converts: the statement says CONVERT TO.
func isOwnAlter(d *sqlparser.DDL, converts bool) bool {
	switch {
	case d.DefaultSpec != nil:
		v, ok := d.DefaultSpec.Value.(*sqlparser.SQLVal)
		return ok && (string(v.Val) == "\x01visible" || string(v.Val) == "\x01invisible")
	case d.ColumnAction == sqlparser.RenameStr:
		return strings.EqualFold(d.Column.String(), d.ToColumn.String())
	}
	return d.AlterCollationSpec != nil && converts
}

// convertsCharset reports whether an ALTER TABLE says CONVERT TO CHARACTER SET.
func convertsCharset(q string) bool {
	for _, item := range items(q, 0, endOfStatement(q)) {
		for i := range item {
			if item[i].is(q, "convert") && i+1 < len(item) && item[i+1].is(q, "to") {
				return true
			}
		}
	}
	return false
}

// withoutOwn is an ALTER TABLE without these parts.
func withoutOwn(query string, s *sqlparser.AlterTable) *sqlparser.AlterTable {
	converts := convertsCharset(query)
	if !slices.ContainsFunc(s.Statements, func(d *sqlparser.DDL) bool { return isOwnAlter(d, converts) }) {
		return s
	}
	c := *s
	c.Statements = slices.DeleteFunc(slices.Clone(s.Statements), func(d *sqlparser.DDL) bool { return isOwnAlter(d, converts) })
	return &c
}

// alterOwn executes these parts, and returns the rest.
func (x *execution) alterOwn(ctx *sql.Context, s *sqlparser.AlterTable) (*sqlparser.AlterTable, error) {
	rest := withoutOwn(x.query, s)
	if rest == s {
		return s, nil
	}
	converts := convertsCharset(x.query)
	for _, d := range s.Statements {
		if !isOwnAlter(d, converts) {
			continue
		}
		desc, err := tableInEdit(ctx, s.Table)
		if err != nil {
			return s, err
		}
		if desc == nil {
			return s, sql.ErrTableNotFound.New(s.Table.Name.String())
		}
		now, err := x.s.schema(ctx)
		if err != nil {
			return s, err
		}
		db := now.snap.Databases()[desc.Database]
		l, err := now.layout(db, desc)
		if err != nil {
			return s, err
		}
		t := newTable(&database{e: x.h.e, id: db.ID, name: db.Name, collation: db.Collation}, l)
		column := func(name string, fn func(*catalog.Column)) error {
			return t.alter(ctx, func(d *catalog.Table) error {
				at := findColumn(d, name)
				if at < 0 {
					return mysql.NewSQLError(1054, "42S22", "Unknown column '%s' in '%s'", name, d.Name)
				}
				fn(&d.Columns[at])
				return nil
			})
		}
		switch {
		case d.DefaultSpec != nil:
			invisible := string(d.DefaultSpec.Value.(*sqlparser.SQLVal).Val) == "\x01invisible"
			err = column(d.DefaultSpec.Column.String(), func(c *catalog.Column) { c.Invisible = invisible })
		case d.ColumnAction == sqlparser.RenameStr:
			err = column(d.Column.String(), func(c *catalog.Column) { c.Name = d.ToColumn.String() })
		default:
			err = t.convertCharset(ctx, d.AlterCollationSpec)
		}
		if err != nil {
			return s, err
		}
	}
	return rest, nil
}

// convertCharset is CONVERT TO CHARACTER SET: all columns of texts, and the table's default. A TEXT becomes the next larger type where
// its characters may become longer.
func (t *table) convertCharset(ctx *sql.Context, s *sqlparser.AlterCollationSpec) error {
	to, err := sql.ParseCollation(s.CharacterSet, s.Collation, false)
	if err != nil {
		return err
	}
	converted, n := map[int]sql.Type{}, 0
	for i, c := range t.l.schema.Schema {
		old, ok := c.Type.(sql.TypeWithCollation)
		if !ok || types.IsBinaryType(c.Type) || types.IsJSON(c.Type) || c.HiddenSystem {
			continue
		}
		typ, err := convertedType(old, to, c.Name)
		if err != nil {
			return err
		}
		converted[i] = typ
	}
	each := func(row sql.Row) error {
		n++
		for i := range converted {
			s, ok := row[i].(string)
			if !ok {
				continue
			}
			for at, r := range s {
				if _, ok := to.CharacterSet().Encoder().Encode([]byte(string(r))); !ok {
					return mysql.NewSQLError(1366, "HY000", "Incorrect string value: '%s' for column '%s' at row %d", shownBytes(s[at:]), t.l.desc.Columns[i].Name, n)
				}
			}
		}
		return nil
	}
	return t.rewriteEach(ctx, each, func(d *catalog.Table) error {
		d.Collation = to.Name()
		for i, typ := range converted {
			var err error
			if d.Columns[i].Type, err = describeType(typ); err != nil {
				return err
			}
		}
		return nil
	})
}

// shownBytes are the first bytes of a text, as errors show them.
func shownBytes(s string) string {
	var out strings.Builder
	for i := range min(len(s), 6) {
		if c := s[i]; ' ' <= c && c < 0x7f {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, `\x%02X`, c)
		}
	}
	if len(s) > 6 {
		out.WriteString("...")
	}
	return out.String()
}

// convertedType is the type of a column of texts in another character set.
func convertedType(old sql.TypeWithCollation, to sql.CollationID, name string) (sql.Type, error) {
	s, ok := old.(sql.StringType)
	if !ok { // ENUM, SET
		return old.WithNewCollation(to)
	}
	longer := to.CharacterSet().MaxLength() > old.Collation().CharacterSet().MaxLength()
	if s.Type() != sqltypes.Text {
		if most := int64(65535) / to.CharacterSet().MaxLength(); s.Length() > most {
			return nil, mysql.NewSQLError(1074, "42000", "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead", name, most)
		}
		return types.CreateString(s.Type(), s.Length(), to)
	}
	sizes := []int64{types.TinyTextBlobMax, types.TextBlobMax, types.MediumTextBlobMax, types.LongTextBlobMax}
	at := slices.IndexFunc(sizes, func(n int64) bool { return s.MaxByteLength() <= n })
	if longer && at >= 0 && at < len(sizes)-1 {
		at++
	}
	if at < 0 {
		at = len(sizes) - 1
	}
	return types.CreateString(sqltypes.Text, sizes[at], to)
}

// inSteps reports whether the parts of an ALTER TABLE have to be executed one after the other: an expression of one reads a column that
// another one makes, which go-mysql-server looks for in the table as it was.
func (n *tableNotes) inSteps(s *sqlparser.AlterTable) bool {
	made := map[string]bool{}
	for _, d := range s.Statements {
		switch {
		case d.ColumnAction == sqlparser.RenameStr:
			made[d.ToColumn.Lowered()] = true
		case d.ColumnAction != "" && d.TableSpec != nil:
			for _, c := range d.TableSpec.Columns {
				made[c.Name.Lowered()] = true
			}
		}
	}
	reads := func(es map[string]sqlparser.Expr) bool {
		for _, e := range es {
			for name := range made {
				if readsColumn(e, name) {
					return true
				}
			}
		}
		return false
	}
	return len(s.Statements) > 1 && (reads(n.generated) || reads(n.defaults))
}

// attemptSteps executes an ALTER TABLE part by part, in one transaction.
func (x *execution) attemptSteps(sc *sql.Context, query string, s *sqlparser.AlterTable) error {
	ignored := x.s.GetIgnoreAutoCommit()
	x.s.stmt.steps = true
	parts := slices.Clone(s.Statements)
	slices.SortStableFunc(parts, func(a, b *sqlparser.DDL) int { return renamesTable(a) - renamesTable(b) })
	for _, d := range parts {
		one := *s
		one.Statements = []*sqlparser.DDL{d}
		x.s.SetIgnoreAutoCommit(true)
		x.s.stmt.flags = &sql.QueryFlags{}
		step := sc.WithContext(sc.Context)
		step.ProcessList = sql.EmptyProcessList{} // go-mysql-server ends with a statement what it has of the connection
		schema, iter, _, err := x.h.e.gms.QueryWithBindings(step, query, &one, nil, x.s.stmt.flags)
		if err == nil {
			err = x.drain(step, schema, iter)
		}
		x.s.SetIgnoreAutoCommit(ignored)
		if err != nil {
			x.keep()
			return err
		}
	}
	return x.commitOwn(sc)
}

func renamesTable(d *sqlparser.DDL) int {
	if d.Action == sqlparser.RenameStr && d.ColumnAction == "" {
		return 1
	}
	return 0
}

// commitOwn ends a statement that has changed tables without go-mysql-server, which would commit.
func (x *execution) commitOwn(ctx *sql.Context) error {
	if t := x.s.transaction(); t != nil && (x.kind == changingCatalog || x.autocommit(ctx)) {
		if err := x.s.CommitTransaction(ctx, t); err != nil {
			return err
		}
		x.s.SetTransaction(nil)
	}
	return x.statementOver()
}

// incompatibleKey is error 3780 in the place of go-mysql-server's for a change of the type of a column that a foreign key has or names.
func (x *execution) incompatibleKey(stmt sqlparser.Statement, err *mysql.SQLError) *mysql.SQLError {
	a, ok := stmt.(*sqlparser.AlterTable)
	if !ok || !strings.HasPrefix(err.Message, "unable to change type of column") {
		return err
	}
	column := quoted(err.Message, "`", "`")
	now, lerr := x.h.e.schemas.latest(x.ctx)
	if lerr != nil {
		return err
	}
	database := a.Table.DbQualifier.String()
	if database == "" {
		database = x.s.GetCurrentDatabase()
	}
	db := now.schema.snap.Database(database)
	if db == nil {
		return err
	}
	t := now.schema.snap.Base(db.ID, a.Table.Name.String())
	if t == nil {
		return err
	}
	said := func(f *catalog.ForeignKey, i int) *mysql.SQLError {
		return mysql.NewSQLError(3780, "HY000", "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.",
			f.Columns[i], f.ParentColumns[i], f.Name)
	}
	for _, f := range t.ForeignKeys {
		if i := slices.IndexFunc(f.Columns, func(c string) bool { return strings.EqualFold(c, column) }); i >= 0 {
			return said(&f, i)
		}
	}
	for _, f := range now.schema.snap.References(db.Name, t.Name) {
		if i := slices.IndexFunc(f.ParentColumns, func(c string) bool { return strings.EqualFold(c, column) }); i >= 0 {
			return said(&f, i)
		}
	}
	return err
}
