// Package optimize changes a tree of operators (package rel) for one that gives the same rows with less work. Each rule stands in a file
// of its own, which says why the rule keeps the rows; Options switches rules off one by one, so that a wrong plan is traced to its rule.
//
//	O1  The rows are those of the tree that package bind made, as a bag; where the statement orders them, in that order.
//	O2  Conditions keep their order among themselves, and a condition is not evaluated for rows which a join, a LIMIT or a GROUP BY of the
//	    statement withholds from it in MySQL: an error that MySQL would not report is not reported. Constant conditions, and constants that a
//	    column is compared with, are evaluated here, as in MySQL, whether there are rows or not (constants.go).
//	O3  What is volatile (RAND(), an assignment to a user variable) stays where the statement has it, and is evaluated as often.
//	O4  Plans depend on the tree, the catalog and the sizes of tables alone: no clock, no map order.
//	O5  Every Node of package expr stands once in the tree (R4), but for a subquery without outer columns that bounds an index too.
//	O6  What an Access finds is a superset of what the conditions allow; the conditions stay in Scan.Filter or in Join.On.
//
// The phases of a plan, in order: expressions are simplified, common table expressions that are read once are put in their place,
// conditions are pushed down (outer joins become inner ones there), subqueries become semi joins, generated columns are read in place of
// their expressions, inner joins are ordered, columns that no operator reads are dropped; then ways to read tables and to join are chosen,
// from the leaves up, and sorts are saved.
package optimize
