// Package exec executes trees of operators (package rel). Each operator becomes an iterator that fills the statement's registers;
// rows are read from a Source.
//
//	E1  An iterator can be opened again at any time; it then begins anew with the outer columns that the registers hold. What it keeps
//	    from one opening for the next depends on nothing that may have changed.
//	E2  After next has given a row, the registers of the iterator's columns hold that row until its next call of next or open.
//	    An iterator that writes into registers of the operators below it (Sort, the sides of a join that are kept) has read those
//	    to their end before, or has put back their last row when it asks them for the next one (leftAhead).
//	E3  Whatever is kept in memory is counted, and a statement that keeps more than Options.MemoryLimit fails (1038).
//	E4  Every loop over rows asks expr.Env.Poll at least once in 1024 rows.
//	E5  Rows, keys and hash tables of one opening are in the order in which the rows came: the same statement over the same rows
//	    gives the same order.
package exec
