package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Change is a statement that changes rows of tables: what package bind makes of INSERT, REPLACE, UPDATE and DELETE. The host
// executes it: it
// reads the rows that Query finds, and then, one after the other, fills the registers of the row in question and evaluates what is to be
// stored.
type Change struct {
	// Query finds the rows. Its Out are the rows of Targets, in order, and then the columns that assignments read of all tables (Reads).
	// For an Insert it gives the rows from which those that are inserted are made, and Out is Reads alone.
	Query   *Query
	Reads   []ColID
	Targets []*Target
	// Insert, if not nil: rows are inserted. Targets is empty, or the rows that are there already, with ON DUPLICATE KEY UPDATE.
	Insert *Insert
	// Delete: the rows are deleted. Else they are updated.
	Delete bool
	// Ignore: what goes wrong with one row is a warning, and the row stays as it was (UPDATE IGNORE, DELETE IGNORE).
	Ignore bool
	// Apart: the statement reads the table of its only target in one place; that of an Insert in none.
	Apart bool
	// Constants are the conditions that read no row. They are evaluated whether there are rows or not.
	Constants []expr.Node
	// Several: the statement is of the form that may name several tables. A row may be found more than once then, and is changed once.
	Several bool
}

// Insert is what a statement inserts.
type Insert struct {
	// Into is the table. Its New are the registers of the row that is inserted.
	Into *Target
	// Rows are the assignments of each row that is made of a row of Query, in the order in which the statement names the columns.
	// Query gives
	// one row without columns for VALUES.
	Rows [][]Assignment
	// Defaults are what columns hold if nothing is assigned to them, in the order of their places. Value is nil if the column has none.
	Defaults []Assignment
	// Replace: rows that have one of the keys already are deleted.
	Replace bool
	// Queried: the rows come of a query.
	Queried bool
	// Listed: the statement may insert several rows.
	Listed bool
}

// Changeable is a table whose rows statements may change.
type Changeable interface {
	Table
	// WithRows is the table with one column more, the last one of its Columns. Its values stand for rows as the host keeps them.
	WithRows() Table
}

// RowColumn is how the column of WithRows is called. No column of a table has this name.
const RowColumn = "\x00row"

// Target is a table of which rows are changed.
type Target struct {
	Table Table // without the column of its rows
	Alias string
	// Row is the column of the rows in Query. NULL: an outer join has found none.
	Row ColID
	// Once: the statement reads the table in one place.
	Once bool
	// Cols are the columns of the table in Query, by place, where Several: what assignments read. nil: those of New.
	Cols []ColID
	// New are the registers of a row, by place in Table.Columns(). Nothing in Query gives them: the host fills them with the row as it
	// was. Assignments read them, where the statement names one table, and so see those before them; and Generated and Checks.
	New []ColID
	// Sets are the assignments of the statement, in order.
	Sets []Assignment
	// OnUpdate are those that are made if the row has become another one.
	OnUpdate []Assignment
	// Generated are the generated columns that depend on what is assigned, or that are read of New, in the order of their places.
	Generated []Assignment
	// Virtual are those whose values are not kept with the row and that are read before anything is assigned, in the order of their places.
	Virtual []Assignment
	Checks  []Check
}

// Assignment stores a value in a column.
type Assignment struct {
	Place int
	Value expr.Node
	// Default: the statement says DEFAULT. Value is nil if the column has none.
	Default bool
}

// Check is a CHECK constraint: an expression that may not be false.
type Check struct {
	Name string
	Cond expr.Node
}

// EachExpr calls fn with the place of each expression that is evaluated beside Query; fn may put another expression there.
func (c *Change) EachExpr(fn func(slot *expr.Node)) {
	targets := c.Targets
	if c.Insert != nil {
		for _, row := range append(c.Insert.Rows[:len(c.Insert.Rows):len(c.Insert.Rows)], c.Insert.Defaults) {
			for i := range row {
				if row[i].Value != nil {
					fn(&row[i].Value)
				}
			}
		}
		targets = append([]*Target{c.Insert.Into}, targets...)
	}
	for _, t := range targets {
		for _, list := range [][]Assignment{t.Sets, t.OnUpdate, t.Generated, t.Virtual} {
			for i := range list {
				if list[i].Value != nil {
					fn(&list[i].Value)
				}
			}
		}
		for i := range t.Checks {
			fn(&t.Checks[i].Cond)
		}
	}
}
