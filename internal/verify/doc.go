// Package verify tries a live cluster: it runs workloads over MySQL connections to its nodes, in a database of its own, and
// judges what they saw.
//
//	V1  It touches nothing but the database that it made, whose name nobody else can have chosen, and drops it at the end.
//	    Splits stay until the ranges are merged.
//	V2  All clients are in one process: an operation that ended before another began did so by one counter, so the order of
//	    real time is a fact.
//	V3  What became of an operation is Failed only if the database said so, or was never asked to commit. Whatever else goes
//	    wrong between the request and its acknowledgement leaves it Unknown.
package verify
