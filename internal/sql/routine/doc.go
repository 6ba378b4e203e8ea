// Package routine parses stored programs: procedures, functions and the bodies of triggers. What controls their course (blocks, IF, CASE, loops,
// handlers, cursors, variables) becomes a tree; the statements and expressions in it stay text, which package engine parses and executes as it
// does those of clients.
//
// Invariants:
//
//	RO1  A text in the tree is a part of the program's text, so that errors and the names of columns are as they were written.
//	RO2  A label that LEAVE or ITERATE names, a variable, a condition and a cursor that a statement names exist where it stands, or parsing
//	     fails with MySQL's error (1308, 1327, 1319, 1324).
package routine
