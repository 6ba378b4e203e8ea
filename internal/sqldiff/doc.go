// Package sqldiff asks two servers the same statements and tells where they differ: a reference, MySQL or MariaDB, and a Longitude node. It
// is a pure client of both.
//
//	D1  The same seed of the same family gives the same statements, whatever the servers answer.
//	D2  A statement's answer is determinate by construction, or Stmt says what of it is not: nothing is excused because it differs often.
//	D3  Each difference is reported, unless one of two lists names its cause with a reason: testdata/differs.txt what is no fault, testdata/known.txt what
//	    is one and not mended yet. Both may only shrink.
//	D4  A case is made smaller only as long as the same difference remains: the same harm, and the same error codes.
//
// Statements are trees (Node), made by a generator for each family and taken apart by one reducer for all of them. Differences are grouped
// by cause, which is the harm and the constructs that the reduced statement still needs, because engineers mend causes.
package sqldiff
