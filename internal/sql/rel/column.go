package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// ColID names a column of a statement; it is the place of its value in the registers.
type ColID int

// Column describes a column of a statement.
type Column struct {
	// Name is what the column is called where it is given: a column of a table by its own name, an expression by its alias, or by its
	// text as it was written.
	Name string
	Type expr.Type
	// Nullable reports whether the column may be NULL where it is given. An outer join or ROLLUP above it may make it NULL
	// nevertheless: see Metadata.MayBeNull, which package bind keeps for what it shows to clients.
	Nullable bool
	// Origin is the table's column that this one is, unchanged; nil: it is an expression. Clients are told of it.
	Origin *Origin
}

// Origin says which column of a table a column is.
type Origin struct {
	Database, Table, Alias string // Alias: by which the statement calls the table
	Column                 string
	Source                 Table
	Place                  int // in Source.Columns()
}

// Metadata holds the columns of a statement, its subqueries included, by id.
type Metadata struct{ Columns []Column }

// Add makes a new column.
func (m *Metadata) Add(c Column) ColID {
	m.Columns = append(m.Columns, c)
	return ColID(len(m.Columns) - 1)
}

// Col is a column in an expression: what the registers hold.
type Col struct {
	ID   ColID
	T    expr.Type
	Name string // as errors and EXPLAIN name it
}

// Ref is an expression that reads a column.
func (m *Metadata) Ref(id ColID) *Col {
	c := &m.Columns[id]
	name := c.Name
	if c.Origin != nil && c.Origin.Alias != "" {
		name = c.Origin.Alias + "." + name
	}
	return &Col{ID: id, T: c.Type, Name: name}
}

// Type implements expr.Node.
func (c *Col) Type() expr.Type { return c.T }

// Eval implements expr.Node.
func (c *Col) Eval(env *expr.Env) (expr.Value, error) {
	return env.Host.(*Frame).Regs[c.ID].Detached(), nil
}

// Cols is a set of columns.
type Cols map[ColID]bool

// CollectCols adds the columns that expressions read, those of subqueries' outer references included.
func CollectCols(into Cols, nodes ...expr.Node) {
	for _, n := range nodes {
		Walk(n, func(n expr.Node) bool {
			switch n := n.(type) {
			case *Col:
				into[n.ID] = true
			case *Subquery:
				for _, id := range n.Outer {
					into[id] = true
				}
			}
			return true
		})
	}
}
