package rel

// Query is a statement's query: what package bind makes of the text, and package exec executes.
type Query struct {
	Meta *Metadata
	Root Node
	Out  []Output
	// FoundRows: the statement asks for SQL_CALC_FOUND_ROWS.
	FoundRows bool
}

// Output is a column of the result.
type Output struct {
	Name string
	Col  ColID
	// Nullable reports whether the column may be NULL in the result: outer joins and ROLLUP are counted in.
	Nullable bool
	From     Label
}

// Label is what clients are told about where a column of a result comes from. Empty names: it is an expression.
type Label struct {
	Database string
	Table    string // as the statement calls it: a derived table's alias, too
	OrgTable string // the table's own name
	OrgName  string // the column's own name there
}
