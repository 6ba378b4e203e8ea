// Package harness runs workloads against any server that speaks the MySQL protocol, ours or another's, and measures what
// the clients saw. A workload is a value (Workload); loop, histograms, series, retries, comparison and reports are here, once.
//
//	H1  Each operation that was due within the measurement is accounted for once: with its latency, as an error, or as
//	    unserved. None disappears because the server was slow.
//	H2  Latency counts from when an operation was due. In an open loop (a rate) that is its place in the schedule, whether
//	    or not a client was free: coordinated omission is corrected by measuring, not by arithmetic afterwards. In a
//	    closed loop it is when the client began it. Retries are part of it.
//	H3  Throughput counts the operations that ended within the measurement, over exactly its length; latencies are those of
//	    the operations that were due in it, waited for to their end. Neither depends on how a run is cut off.
//	H4  A result is Verified only if the workload's own check of the data ran and found nothing.
//
// HAZARD: the clients' machine is part of what is measured. Where it also runs the servers both share its processors, and
// a ratio between two servers is sounder than any figure of one.
package harness
