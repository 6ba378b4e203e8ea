package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Change is a statement that changes rows of tables: what package bind makes of UPDATE and DELETE. The host executes it: it reads the rows
// that Query finds, and then, one after the other, fills the registers of the row in question and evaluates what is to be stored.
type Change struct {
	// Query finds the rows. Its Out are the rows of Targets, in order, and then the columns that assignments read of all tables (Reads).
	Query   *Query
	Reads   []ColID
	Targets []*Target
	// Delete: the rows are deleted. Else they are updated.
	Delete bool
	// Ignore: what goes wrong with one row is a warning, and the row stays as it was (UPDATE IGNORE, DELETE IGNORE).
	Ignore bool
	// Apart: the statement reads the table of its only target in one place.
	Apart bool
	// Several: the statement is of the form that may name several tables. A row may be found more than once then, and is changed once.
	Several bool
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
	for _, t := range c.Targets {
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
