// Package rel is the algebra of queries: the operators that a SELECT is made of, and the columns that they give. Package bind makes a
// tree of them out of a statement, package optimize changes it for a better one, package exec executes it.
//
// Every column of a statement has an id, and an id is a place in the statement's registers: an operator that gives a row puts the
// values of its columns there, and an expression reads them from there. So an expression need not know in which operator it stands,
// it can be moved through the tree as it is, and a subquery, or the right side of a join, sees the columns of the row outside as it
// sees its own. An operator that keeps rows (a sort, a hash table) copies the columns that are wanted above it out of the registers, and
// back when it gives the row.
//
//	R1  A column id is given by one operator alone, but for the sides of a Join and what passes rows on as they are (Filter, Sort,
//	    Limit, Distinct): a value stays in its register until the operator that gave it gives its next row.
//	R2  An operator is opened with the registers of all its outer columns filled in, and opened again when they have changed.
//	R3  Every value in a register is NULL or of the kind that the column's type says (as X2 of package expr).
//	R4  Every Node of package expr in a tree stands in it once: nodes belong to one evaluation (X5).
package rel
