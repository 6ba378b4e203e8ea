// Package replica runs ranges: the replicas that one store has of them, each a member of its range's Raft group.
//
//	L1  At any true time at most one replica of a range can use its lease.
//	L2  A lease serves timestamp ts only while max(ts, latest) < T.
//	L3  A new lease's timestamp cache starts no lower than anything that an earlier lease could have served.
//	L4  A leader that has begun to hand over its lease serves nothing more in its term.
//	A1  Each log entry is applied at most once per replica, in order; applied <= committed.
//	A2  A command takes effect only in the term that it was evaluated in and under the descriptor that it was evaluated
//	    under. Which commands are dropped is the same on all replicas.
//	A3  A command writes only what belongs to its range.
//	D1  Nothing is acknowledged to another node, vote or entry, before it is on this node's disk. A disk that fails stops
//	    the node.
//	D2  state may lose its latest batches in a crash, never a batch before one that it keeps. The log reaches back at
//	    least to the durable applied index, so what was lost is applied again.
//	Q1  A replica that cannot apply what it has to is quarantined: it takes part in nothing any more, in this process and in
//	    later ones, and the node goes on (quarantine.go).
//	E1  ErrUnavailable: the request has had no effect and will have none. ErrAmbiguous: nothing is known. Nobody says the
//	    first unless it is certain.
//
// The Raft leader is the leaseholder. Its lease rests on the support of stores (package cluster) and on what its followers
// answered: see lease.go and voter.go, and docs/replication.md for the whole argument.
//
// L1 assumes the clock bound. HAZARD: if a bound is broken two replicas may use a lease; reads may then be stale. Writes
// are safe: the log has one order, and a command of a replaced leader is not in it, or is dropped (A2).
//
// One task per range owns its RawNode (loop.go) and does everything below evaluation; requests run in their callers' tasks
// and meet it at two points: they read state under latches, and they propose. One task per store writes the logs of all
// ranges (logwriter.go).
//
//	request ── latches ── lease ── evaluate ── propose ─┐                       ┌─ apply ── answer
//	                                                    └─▶ range task (Raft) ──┤
//	messages, ticks ───────────────────────────────────────▶      │             └─▶ other nodes
//	                                                              └─▶ log writer ─▶ disk ─▶ back
package replica
