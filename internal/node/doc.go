// Package node puts the layers of one node together: clock, storage, cluster, replica, route and txn, over a transport and a
// runtime that are given to it. The server gives it TCP and goroutines, the simulator a simulated network and an event
// loop; everything between is the same code.
//
//	N1  A store is served under the identity that it carries, and under no other (storage, S3).
//	N2  No timestamp is given out above the durable mark (stamps.go), and after a restart nothing is served until the
//	    clock's earliest has passed the mark that the process before left. So whatever the clock was then, and however far
//	    back it is now, a new transaction starts above everything that this node ever stamped.
//	N3  A message from another cluster is not handled.
//	N4  A node whose clock gives no readings stays up and gives its leases to others: at once if the clock is fenced, after
//	    a second if it is silent for another reason. When the clock gives readings again the node serves again, by itself.
//
// Starting a node is a sequence, each step of which may wait and says what it waits for:
//
//	clock reads ─▶ mark passed ─▶ identity (own, bootstrap, or join) ─▶ cluster ─▶ store ─▶ router ─▶ coordinator ─▶ announce
package node
