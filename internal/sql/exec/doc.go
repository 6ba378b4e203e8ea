// Package exec executes trees of operators (package rel). Each operator becomes an iterator that fills the statement's registers;
// rows are read from a Source.
package exec
