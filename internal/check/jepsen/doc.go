// Package jepsen reads and writes histories as Jepsen and the checkers around it do: one map for each beginning and end of
// an operation, in the order in which they happened.
//
//	{"index":0,"time":1200,"type":"invoke","process":0,"f":"txn","value":[["append",3,5],["r",3,null]]}
//	{"index":1,"time":9800,"type":"ok","process":0,"f":"txn","value":[["append",3,5],["r",3,[5]]]}
//
// "type" is invoke, ok, fail (certainly no effect) or info (not known). "f" is txn, also if it is missing, with the
// micro-operations append, r and w, or it is read, write or cas of a single register, with a value or a pair of key and value.
// What stands in the map besides is ignored, and so are operations of the process "nemesis". Maps may be elements of one
// array, or stand one after the other, in JSON or in EDN.
//
//	J1  The order of the maps is the order of real time; index and time say nothing.
//	J2  What is written is read back as the same history: the same transactions in the same order, with the same outcomes.
//	    Clients become processes, and a client whose operation ended with info goes on as another process, as it must there.
//	J3  Whatever cannot be read is an error with the line and what was expected. No input ends in a panic.
package jepsen
