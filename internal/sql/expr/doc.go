// Package expr evaluates scalar SQL expressions as MySQL 8 does: values and types, coercions, comparisons, operators and
// functions, casts, and the conversion of a value to the type of the column that it is assigned to.
//
// It is the one place where +, =, IN, CAST and FLOOR are right. The plans of go-mysql-server reach it through an adapter in
// package engine, and so do defaults, checks, generated columns and triggers. It knows no rows, sessions or plans: a host gives
// leaves (Node) for columns, and an Env with what a session decides.
//
//	X1  A Value is immutable: no function changes an argument, nor keeps memory of one that the host may reuse.
//	X2  A Node's type is known before the first evaluation, and every value that it gives is NULL or of that type's kind.
//	X3  An error is an *Error with MySQL's code and SQLSTATE. What MySQL answers with a warning calls Env.Warn.
//	X4  Loops whose length an argument decides are bounded by Env.MaxPacket or ask Env.Interrupted.
//	X5  A Node that is built can be evaluated many times, one at a time; it keeps nothing of one evaluation for the next but
//	    what depends on constants alone.
//
// Where MySQL's manual is silent, what MySQL 8 does counts; the tests name the cases.
package expr
