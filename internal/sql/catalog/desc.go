// Package catalog describes databases and tables, and lays out where the descriptions and the rows are kept.
//
//	K1  Every change of the catalog rewrites the meta entry, with a version one higher, in the transaction that makes
//	    the change. Two changes therefore conflict, and who knows the meta entry at a timestamp knows the catalog there.
//	K2  Ids of databases, tables, columns and indexes are never given out twice: what was dropped cannot be taken for
//	    what was created later.
//	K3  A Snapshot and everything in it is never changed once it is built. Changes are made by an Edit, on copies.
//	K4  Columns are known by id in rows, indexes by id in keys; names can change without a row being touched.
//
// Layout below keys.DataPrefix:
//
//	0x00 'm'                       meta: version, next id
//	0x00 'd' <database id>         database
//	0x00 't' <table id>            table
//	0x01 <table id> <index id> ... rows and index entries
//	0x02 <table id> <index id>     an index that nothing refers to any more, to be cleared
//	0x03 <name>                    who holds a named lock
//	0x04 <node id> <first id>      ids that a node has reserved for temporary tables (K5)
package catalog

// Format of descriptions and of the keys of rows, written into meta. Readers refuse every other one.
//
//	2  Keys of texts are the sort keys of package collation. (1: one weight for each character, spaces at the end among them.)
const Format = 2

// Meta changes with every change of the catalog (K1).
type Meta struct {
	Format  int    `json:"format"`
	Version uint64 `json:"version"`
	NextID  uint64 `json:"next_id"` // of databases and tables (K2)
}

// Database is a named set of tables and of objects that are kept as text.
type Database struct {
	ID         uint64      `json:"id"`
	Name       string      `json:"name"`
	Collation  string      `json:"collation"`
	Views      []View      `json:"views,omitempty"`
	Triggers   []Trigger   `json:"triggers,omitempty"`
	Procedures []Procedure `json:"procedures,omitempty"`
}

// View is a named query.
type View struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Create  string `json:"create"`
	SQLMode string `json:"sql_mode,omitempty"`
}

// Trigger is kept as its statement.
type Trigger struct {
	Name    string `json:"name"`
	Create  string `json:"create"`
	Created int64  `json:"created"` // ns since the Unix epoch
	SQLMode string `json:"sql_mode,omitempty"`
}

// Procedure is a procedure or a function, kept as its statement.
type Procedure struct {
	Function bool   `json:"function,omitempty"`
	Definer  string `json:"definer,omitempty"` // user@host
	Name     string `json:"name"`
	Create   string `json:"create"`
	Created  int64  `json:"created"` // ns since the Unix epoch
	Modified int64  `json:"modified"`
	SQLMode  string `json:"sql_mode,omitempty"`
}

// Type is a column's SQL type.
type Type struct {
	Name      string   `json:"name"` // of the wire protocol: INT32, VARCHAR, ...
	Length    int64    `json:"length,omitempty"`
	Precision int      `json:"precision,omitempty"`
	Scale     int      `json:"scale,omitempty"`
	Collation string   `json:"collation,omitempty"`
	Values    []string `json:"values,omitempty"` // of ENUM and SET
	Display   int      `json:"display,omitempty"`
	SRID      *uint32  `json:"srid,omitempty"`
	// Declared is what go-mysql-server's types cannot say.
	Declared Declared `json:"declared,omitzero"`
}

// Declared are attributes of a number.
type Declared struct {
	Unsigned bool `json:"unsigned,omitempty"` // of a decimal or a floating point number; of integers it is in the type's name
	Zerofill bool `json:"zerofill,omitempty"`
	// Width is how many digits are shown of an integer under ZEROFILL, and how many FLOAT(M,D) has; 0: not said.
	Width  int  `json:"width,omitempty"`
	Fixed  bool `json:"fixed,omitempty"` // a floating point number has Digits behind the point
	Digits int  `json:"digits,omitempty"`
}

// Column of a table.
type Column struct {
	ID            uint32 `json:"id"`
	Name          string `json:"name"`
	Type          Type   `json:"type"`
	Nullable      bool   `json:"nullable,omitempty"`
	AutoIncrement bool   `json:"auto_increment,omitempty"`
	Default       string `json:"default,omitempty"` // expressions, as text
	Generated     string `json:"generated,omitempty"`
	OnUpdate      string `json:"on_update,omitempty"`
	Virtual       bool   `json:"virtual,omitempty"` // computed when read, never stored
	Hidden        bool   `json:"hidden,omitempty"`
	HiddenSystem  bool   `json:"hidden_system,omitempty"` // no statement names it: it holds an expression that an index is on
	// Invisible: * does not mean it, and neither does an INSERT without a list of columns.
	Invisible bool   `json:"invisible,omitempty"`
	Comment   string `json:"comment,omitempty"`
	// Fill is this column in rows older than it: the value part of a row in which it is the only column.
	Fill []byte `json:"fill,omitempty"`
}

// IndexState says what an index is used for.
type IndexState string

// A new index is written to before it is read from: between the two it is filled with the rows that are older.
const (
	Public    IndexState = ""
	WriteOnly IndexState = "write-only"
)

// Index of a table. The primary index holds the rows.
type Index struct {
	ID      uint32      `json:"id"`
	Name    string      `json:"name"`
	Columns []IndexPart `json:"columns"`
	Unique  bool        `json:"unique,omitempty"`
	State   IndexState  `json:"state,omitempty"`
	Comment string      `json:"comment,omitempty"`
}

// IndexPart is a column of an index; of a text, only its first characters if Length is set.
type IndexPart struct {
	Column uint32 `json:"column"`
	Length int    `json:"length,omitempty"`
	Desc   bool   `json:"desc,omitempty"` // as it was declared; keys are in ascending order
}

// ForeignKey of the table that declares it.
type ForeignKey struct {
	Name           string   `json:"name"`
	Database       string   `json:"database"`
	Table          string   `json:"table"`
	Columns        []string `json:"columns"`
	ParentDatabase string   `json:"parent_database"`
	ParentTable    string   `json:"parent_table"`
	ParentColumns  []string `json:"parent_columns"`
	OnUpdate       string   `json:"on_update,omitempty"`
	OnDelete       string   `json:"on_delete,omitempty"`
	Resolved       bool     `json:"resolved,omitempty"`
}

// Check constraint.
type Check struct {
	Name     string `json:"name"`
	Expr     string `json:"expr"`
	Enforced bool   `json:"enforced"`
}

// Table describes a table.
// Invariant: Primary.Columns is empty iff rows have no key of their own; they then have a row id (Keyless).
type Table struct {
	ID           uint64       `json:"id"`
	Database     uint64       `json:"database"`
	Name         string       `json:"name"`
	Collation    string       `json:"collation"`
	Comment      string       `json:"comment,omitempty"`
	Columns      []Column     `json:"columns"`
	Primary      Index        `json:"primary"`
	Indexes      []Index      `json:"indexes,omitempty"`
	ForeignKeys  []ForeignKey `json:"foreign_keys,omitempty"`
	Checks       []Check      `json:"checks,omitempty"`
	NextColumnID uint32       `json:"next_column_id"`
	NextIndexID  uint32       `json:"next_index_id"`
	// Dense: AUTO_INCREMENT values are consecutive over all nodes; else each node has a part of the numbers for itself. Tables that were
	// made before there was a choice do not say so, and are as they were.
	Dense bool `json:"dense,omitempty"`
	// Sequence counts how often the generator of ids was started over (TRUNCATE, ALTER ... AUTO_INCREMENT); Start is
	// where the present one begins.
	Sequence      uint32 `json:"sequence,omitempty"`
	SequenceStart uint64 `json:"sequence_start,omitempty"`
}

// Keyless reports whether rows are kept under row ids because the table has no primary key.
func (t *Table) Keyless() bool { return len(t.Primary.Columns) == 0 }

// IndexOf is the name of the first secondary index that has a column; "": none has.
func (t *Table) IndexOf(column uint32) string {
	for i := range t.Indexes {
		for _, p := range t.Indexes[i].Columns {
			if p.Column == column {
				return t.Indexes[i].Name
			}
		}
	}
	return ""
}

// ColumnByID returns the column, or nil.
func (t *Table) ColumnByID(id uint32) *Column {
	for i := range t.Columns {
		if t.Columns[i].ID == id {
			return &t.Columns[i]
		}
	}
	return nil
}
