package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Table is a table that queries read: one of the catalog, or one that the server makes up (information_schema).
type Table interface {
	Database() string
	Name() string
	Columns() []TableColumn
	// Indexes are those that can be read, the primary one first if there is one.
	Indexes() []Index
	// Rows is about how many rows it has; for choosing between plans only.
	Rows() float64
}

// TableColumn is a column of a table.
type TableColumn struct {
	Name          string
	Type          expr.Type
	Nullable      bool
	PrimaryKey    bool // part of it
	UniqueKey     bool // alone a unique key
	MultipleKey   bool // the first of a key that is not unique
	AutoIncrement bool
	Hidden        bool // * does not mean it
	// System: no name means it. It holds an expression that an index is on.
	System     bool
	HasDefault bool
}

// Index is an index of a table.
type Index interface {
	Name() string
	Unique() bool
	Primary() bool
	// Parts are the columns of the index in order. The columns of the primary key that are not among them follow in Suffix, since
	// entries are ordered by them as well.
	Parts() []IndexPart
	Suffix() []IndexPart
	// Covers reports whether entries hold these columns (places), so that rows need not be read.
	Covers(places []int) bool
}

// IndexPart is a column of an index.
type IndexPart struct {
	Place  int
	Prefix int // not 0: only so many characters or bytes of it
}

// Generated is a column that holds the value of an expression over the other columns of its row.
type Generated struct {
	Col  ColID
	Expr expr.Node // to compare with; it is not evaluated
}
