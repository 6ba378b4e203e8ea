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
}
