package engine

import (
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// information_schema is go-mysql-server's, but for what it says otherwise than MySQL 8.

// setupInformationSchema puts our own readers in, for the process.
func setupInformationSchema() {
	makeColumns := information_schema.NewColumnsTable
	information_schema.NewColumnsTable = func() *information_schema.ColumnsTable {
		t := makeColumns()
		inner := t.RowIter
		t.RowIter = func(ctx *sql.Context, c sql.Catalog, all sql.Schema) (sql.RowIter, error) {
			it, err := inner(ctx, c, all)
			if err != nil {
				return nil, err
			}
			return correctColumns(ctx, it, all)
		}
		return t
	}
}

var newInfoSchema sync.Mutex

// newInformationSchema makes the database; each engine has one of its own.
func newInformationSchema() sql.Database {
	newInfoSchema.Lock()
	defer newInfoSchema.Unlock()
	stats := information_schema.NewDefaultStats()
	stats.Reader = statistics
	information_schema.NewInformationSchemaTablesToAdd[information_schema.StatisticsTableName] = stats
	for name, rows := range map[string]func(*sql.Context) ([]sql.Row, error){
		information_schema.RoutinesTableName: routineRows, information_schema.ParametersTableName: parameterRows,
		information_schema.TriggersTableName: triggerRowsShown,
	} {
		t, ok, err := information_schema.NewInformationSchemaDatabase().GetTableInsensitive(sql.NewEmptyContext(), name)
		if err != nil || !ok {
			continue
		}
		information_schema.NewInformationSchemaTablesToAdd[name] = &information_schema.InformationSchemaTable{TableName: name,
			TableSchema: t.Schema(sql.NewEmptyContext()), Reader: func(ctx *sql.Context, _ sql.Catalog) (sql.RowIter, error) {
				all, err := rows(ctx)
				return sql.RowsToRowIter(all...), err
			}}
	}
	return information_schema.NewInformationSchemaDatabase()
}

// statistics are the rows of STATISTICS. Cardinality is NULL: nothing is known of it.
func statistics(ctx *sql.Context, _ sql.Catalog) (sql.RowIter, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	s.e.used(ctx, (*uses).everything)
	snap, err := snapshotOf(ctx)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for _, id := range slices.Sorted(maps.Keys(snap.Databases())) {
		db, tables := snap.Databases()[id], snap.Tables(id)
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			t := tables[name]
			for _, p := range shownParts(t) {
				out = append(out, sql.Row{"def", db.Name, t.Name, p.nonUnique, db.Name, p.index.Name, p.seq, p.column, p.order, nil, p.length, nil, p.null,
					"BTREE", "", p.index.Comment, "YES", p.expression})
			}
		}
	}
	return sql.RowsToRowIter(out...), nil
}

// eachRow changes rows.
func eachRow(ctx *sql.Context, it sql.RowIter, change func(sql.Row) error) (sql.RowIter, error) {
	defer it.Close(ctx)
	var out []sql.Row
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return sql.RowsToRowIter(out...), nil
		}
		if err == nil {
			err = change(row)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
}

// The places of columns in a row of information_schema.COLUMNS.
const (
	isSchema, isTable, isColumn = 1, 2, 3
	isDefault                   = 5
	isCharLength, isOctetLength = 8, 9
	isColumnType, isExtra       = 15, 17
	isGenerationExpression      = 20
)

// correctColumns puts defaults, types, what is generated, and lengths of texts as MySQL has them (go-mysql-server: information_schema/columns_table.go).
func correctColumns(ctx *sql.Context, it sql.RowIter, all sql.Schema) (sql.RowIter, error) {
	name := func(parts ...string) string { return strings.ToLower(strings.Join(parts, "\x00")) }
	columns := map[string]*sql.Column{}
	for _, c := range all {
		columns[name(c.DatabaseSource, c.Source, c.Name)] = c
	}
	snap, err := snapshotOf(ctx)
	if err != nil {
		return nil, err
	}
	return eachRow(ctx, it, func(row sql.Row) (err error) {
		database, _ := row[isSchema].(string)
		table, _ := row[isTable].(string)
		column, _ := row[isColumn].(string)
		c := columns[name(database, table, column)]
		if c == nil || database == sql.InformationSchemaDatabaseName {
			return nil
		}
		d := columnIn(snap, database, table, column)
		if row[isDefault], err = defaultText(ctx, d, c); err != nil {
			return err
		}
		row[isColumnType], row[isExtra] = declaredText(plainTypeText(c.Type), d), c.Extra
		if d != nil && d.Generated != "" {
			row[isGenerationExpression] = schemaText(d.Generated)
		}
		if t, ok := c.Type.(sql.StringType); ok && types.IsTextBlob(c.Type) {
			row[isCharLength], row[isOctetLength] = t.MaxByteLength(), t.MaxByteLength()
		}
		return nil
	})
}

// snapshotOf is the catalog as the statement sees it.
func snapshotOf(ctx *sql.Context) (*catalog.Snapshot, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	return c.snap, nil
}

// columnIn is a column of the catalog; nil: there is none.
func columnIn(snap *catalog.Snapshot, database, table, column string) *catalog.Column {
	db := snap.Database(database)
	if db == nil {
		return nil
	}
	t := snap.Table(db.ID, table)
	if t == nil {
		return nil
	}
	if i := findColumn(t, column); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}
