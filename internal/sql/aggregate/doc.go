// Package aggregate holds the aggregates of MySQL 8: which type each has, and what it adds up. It knows neither groups nor rows: package
// exec makes a state for each group and gives it the values of the arguments.
//
//	A1  A state that was given no row, or NULLs alone, is NULL; COUNT is 0, and so are BIT_OR and BIT_XOR, and BIT_AND has all bits set.
//	A2  SUM and AVG of exact numbers and of dates are exact (DECIMAL); of all others they are DOUBLE.
//	A3  DISTINCT tells values apart as GROUP BY does (expr.Keys).
//	A4  A value that a state gives is NULL or of the kind of the type that Resolve gave.
package aggregate
