// Package processes runs the nodes of a benchmark as an operator would, each in a process of its own, from any build of the program
// that has `longitude start`: also from those that are too old to hold the nodes of a benchmark in one process. What is compared
// this way is run the same way on both sides.
//
//	N1  All builds that are compared get the same flags: those that each of them has. What is left out is told (Withheld).
//	N2  Distance is between the processes (package distance) and not in them, so that a build needs to know nothing of it but
//	    --advertise-addr.
//	N3  Whatever way a run ends, so do the processes: each is ended by its own id, and on Linux the kernel ends it when this process
//	    is gone. A process that ended by itself is an error.
package processes
