package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// mysql.general_log and mysql.slow_log: nothing is ever logged to them, but dumps of all databases ask how they are made.

// logTable is one of them.
type logTable struct {
	name, comment string
	columns       []logColumn
}

// logColumn is a column as SHOW COLUMNS has it; extra stands behind its default.
type logColumn struct {
	name, typ string
	t         sql.Type
	now       bool // it is the present time by default
}

var logBytes = types.MustCreateBinary(sqltypes.Blob, types.MediumTextBlobMax)

var logTables = []*logTable{
	{"general_log", "General log", []logColumn{{"event_time", "timestamp(6)", types.TimestampMaxPrecision, true}, {"user_host", "mediumtext", types.MediumText, false},
		{"thread_id", "bigint unsigned", types.Uint64, false}, {"server_id", "int unsigned", types.Uint32, false},
		{"command_type", "varchar(64)", textType, false}, {"argument", "mediumblob", logBytes, false}}},
	{"slow_log", "Slow log", []logColumn{{"start_time", "timestamp(6)", types.TimestampMaxPrecision, true}, {"user_host", "mediumtext", types.MediumText, false},
		{"query_time", "time(6)", types.Time, false}, {"lock_time", "time(6)", types.Time, false}, {"rows_sent", "int", types.Int32, false},
		{"rows_examined", "int", types.Int32, false}, {"db", "varchar(512)", textType, false}, {"last_insert_id", "int", types.Int32, false},
		{"insert_id", "int", types.Int32, false}, {"server_id", "int unsigned", types.Uint32, false}, {"sql_text", "mediumblob", logBytes, false},
		{"thread_id", "bigint unsigned", types.Uint64, false}}},
}

// logTableNamed finds one; nil: there is none of this name.
func logTableNamed(database, name string) *logTable {
	if !strings.EqualFold(database, "mysql") {
		return nil
	}
	for _, t := range logTables {
		if strings.EqualFold(t.name, name) {
			return t
		}
	}
	return nil
}

var _ sql.Table = (*logTable)(nil)

// Name implements sql.Table.
func (t *logTable) Name() string { return t.name }

// String implements sql.Table.
func (t *logTable) String() string { return t.name }

// Schema implements sql.Table.
func (t *logTable) Schema(*sql.Context) (out sql.Schema) {
	for _, c := range t.columns {
		out = append(out, &sql.Column{Name: c.name, Type: c.t, Source: t.name, DatabaseSource: "mysql"})
	}
	return out
}

// Collation implements sql.Table.
func (t *logTable) Collation() sql.CollationID { return sql.Collation_utf8mb3_general_ci }

// Partitions implements sql.Table: there are no rows.
func (t *logTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return &partitions{over: true}, nil
}

// PartitionRows implements sql.Table.
func (t *logTable) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return sql.RowsToRowIter(), nil
}

const logNow = "CURRENT_TIMESTAMP(6)"

// createText is SHOW CREATE TABLE.
func (t *logTable) createText() string {
	var lines []string
	for _, c := range t.columns {
		line := "  `" + c.name + "` " + c.typ + " NOT NULL"
		if c.now {
			line += " DEFAULT " + logNow + " ON UPDATE " + logNow
		}
		lines = append(lines, line)
	}
	return "CREATE TABLE `" + t.name + "` (\n" + strings.Join(lines, ",\n") + "\n) ENGINE=CSV DEFAULT CHARSET=utf8mb3 COMMENT='" + t.comment + "'"
}

// fields is SHOW COLUMNS.
func (t *logTable) fields() (out []sql.Row) {
	for _, c := range t.columns {
		row := sql.Row{c.name, c.typ, "NO", "", nil, ""}
		if c.now {
			row[4], row[5] = logNow, "DEFAULT_GENERATED on update "+logNow
		}
		out = append(out, row)
	}
	return out
}

// showsLog is SHOW CREATE TABLE or SHOW COLUMNS of such a table; nil: the statement is none.
func (x *execution) showsLog(stmt sqlparser.Statement) *ownStatement {
	s, ok := stmt.(*sqlparser.Show)
	if !ok {
		return nil
	}
	database := s.Table.DbQualifier.String()
	if database == "" {
		database = s.Database
	}
	if database == "" {
		database = x.s.GetCurrentDatabase()
	}
	t := logTableNamed(database, s.Table.Name.String())
	if t == nil {
		return nil
	}
	switch strings.ToLower(s.Type) {
	case "create table":
		return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
			return x.rowsOf(sc, sql.Schema{textColumn("Table"), textColumn("Create Table")}, []sql.Row{{t.name, t.createText()}})
		}}
	case "columns", "fields":
		return &ownStatement{answer: func(x *execution, sc *sql.Context) error {
			return x.rowsOf(sc, sql.Schema{textColumn("Field"), textColumn("Type"), textColumn("Null"), textColumn("Key"), textColumn("Default"), textColumn("Extra")}, t.fields())
		}}
	}
	return nil
}
