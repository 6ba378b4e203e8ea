package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/sqltext"
)

// showCreateView is SHOW CREATE TABLE of a view that names its columns, which go-mysql-server leaves out.
func showCreateView(ctx *sql.Context, v *plan.SubqueryAlias) (sql.RowIter, error) {
	row, err := viewText(ctx, v.Name(), v.ColumnNames, v.TextDefinition)
	return sql.RowsToRowIter(row), err
}

// viewText is the row of SHOW CREATE VIEW.
func viewText(ctx *sql.Context, name string, columns []string, query string) (sql.Row, error) {
	list := ""
	if len(columns) > 0 {
		var names []string
		for _, c := range columns {
			names = append(names, sqltext.Quote(c))
		}
		list = " (" + strings.Join(names, ",") + ")"
	}
	row := sql.Row{name, "CREATE VIEW " + sqltext.Quote(name) + list + " AS " + query}
	for _, name := range []string{"character_set_client", "collation_connection"} {
		value, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return nil, err
		}
		row = append(row, value)
	}
	return row, nil
}

// showCreateViewOf is SHOW CREATE VIEW.
func showCreateViewOf(t ownText) *ownStatement {
	if t.word(1) != "create" || t.word(2) != "view" {
		return nil
	}
	qualified, rest := cutName(t.behind(2))
	if qualified == "" || rest != "" {
		return nil
	}
	return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
		named, name := splitName(qualified)
		database, err := x.routineDatabase(sc, named)
		if err != nil {
			return err
		}
		now, err := x.s.shared(sc)
		if err != nil {
			return err
		}
		db := now.snap.Database(database)
		if db == nil {
			x.s.e.used(sc, func(u *uses) { u.missing(0, database) })
			return mysql.NewSQLError(1049, "42000", "Unknown database '%s'", database)
		}
		x.s.e.used(sc, func(u *uses) { u.database(db.ID) })
		for _, v := range db.Views {
			if !strings.EqualFold(v.Name, name) {
				continue
			}
			parsed, err := (&queryHost{ctx: sc, s: x.s}).view(db.Name, viewDefinition(v))
			if err != nil {
				return err
			}
			row, err := viewText(sc, v.Name, parsed.Columns, v.Text)
			if err != nil {
				return err
			}
			return x.rowsOf(sc, sql.Schema{textColumn("View"), textColumn("Create View"), textColumn("character_set_client"), textColumn("collation_connection")}, []sql.Row{row})
		}
		if t := now.snap.Base(db.ID, name); t != nil {
			return mysql.NewSQLError(1347, "HY000", "'%s.%s' is not VIEW", db.Name, name)
		}
		return mysql.NewSQLError(1146, "42S02", "Table '%s.%s' doesn't exist", db.Name, name)
	}}
}
