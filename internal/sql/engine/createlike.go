package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// CREATE TABLE ... LIKE copies the catalog's description: columns, indexes, CHECKs under names of their own, but no foreign keys.
// (go-mysql-server's own, sql/planbuilder/ddl.go, loses the lengths of prefixes, and all indexes of a table with virtual columns.)

// createsLike is the statement, if it is one.
func createsLike(stmt sqlparser.Statement) (*sqlparser.DDL, bool) {
	s, ok := stmt.(*sqlparser.DDL)
	return s, ok && s.Action == sqlparser.CreateStr && s.OptLike != nil && len(s.OptLike.LikeTables) == 1
}

// createLike executes it.
func (x *execution) createLike(ctx *sql.Context, s *sqlparser.DDL) error {
	t, err := ddl(ctx)
	if err != nil {
		return err
	}
	database := func(n sqlparser.TableName) (*catalog.Database, error) {
		name := cmp.Or(n.DbQualifier.String(), ctx.GetCurrentDatabase())
		if name == "" {
			return nil, sql.ErrNoDatabaseSelected.New()
		}
		db := t.edit.Snapshot().Database(name)
		if db == nil {
			return nil, sql.ErrDatabaseNotFound.New(name)
		}
		return db, nil
	}
	like, name := s.OptLike.LikeTables[0], s.Table.Name.String()
	from, err := database(like)
	if err != nil {
		return err
	}
	to, err := database(s.Table)
	if err != nil {
		return err
	}
	of := t.edit.Snapshot().With(x.s.temporary.tables).Table(from.ID, like.Name.String())
	if of == nil {
		if slices.ContainsFunc(from.Views, func(v catalog.View) bool { return v.Name == like.Name.String() }) {
			return mysql.NewSQLError(1347, "HY000", "'%s.%s' is not BASE TABLE", from.Name, like.Name.String())
		}
		return mysql.NewSQLError(1146, "42S02", "Table '%s.%s' doesn't exist", from.Name, like.Name.String())
	}
	if t.existing(to.ID, name) != nil {
		if !s.IfNotExists {
			return mysql.NewSQLError(1050, "42S01", "Table '%s' already exists", name)
		}
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: 1050, Message: fmt.Sprintf("Table '%s' already exists", name)})
		return nil
	}
	d := catalog.Clone(of)
	d.Database, d.Name, d.Dense = to.ID, name, t.denseIDs(ctx)
	if d.ID, err = t.newTableID(ctx); err != nil {
		return err
	}
	d.ForeignKeys, d.Sequence, d.SequenceStart = nil, 0, 0
	for i := range d.Checks {
		d.Checks[i].Name = fmt.Sprintf("%s_chk_%d", name, i+1)
	}
	d.Indexes = slices.DeleteFunc(d.Indexes, func(x catalog.Index) bool { return x.State != catalog.Public })
	if err := dropOrphans(d); err != nil {
		return err
	}
	return t.edit.PutTable(d)
}

// attemptLike is an attempt to execute it.
func (x *execution) attemptLike(ctx *sql.Context, s *sqlparser.DDL) error {
	x.s.ClearWarnings()
	if err := x.createLike(ctx, s); err != nil {
		return err
	}
	x.out.ok(types.OkResult{})
	return x.commitOwn(ctx)
}
