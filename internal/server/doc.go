// Package server is one node as a process: it opens the store and the listeners, puts the layers together over TCP and
// disk, speaks SQL and HTTP, and stops in order.
//
//	V1  A listener is taken before the store is touched, so a node that cannot listen changes nothing on disk.
//	V2  Statements are accepted only when the node serves: its clock reads, it belongs to a cluster, its layers run.
//	V3  Stopping: leases go to other nodes while clients are served as ever; then, from the outside in, no new statements, those under
//	    way finish (bounded; package engine, E1 to E3), the layers stop, the store is closed last. A second wish to stop skips what is left of that; nothing acknowledged
//	    depends on it.
//	V4  When the store fails the node ends: it acknowledges nothing that it could not write.
//
// Starting, as people see it in /healthz:
//
//	listening ─▶ waiting for the clock ─▶ joining (or alone) ─▶ serving ─▶ draining ─▶ gone
package server
