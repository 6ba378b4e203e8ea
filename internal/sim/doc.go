// Package sim runs whole clusters in one process: the production packages from clock to txn, on virtual time, a simulated
// network, simulated disks and simulated clocks, with faults. It exists to break those packages.
//
//	V1  One seed decides everything: the shape of the cluster, its options, clocks, faults, workloads and every
//	    interleaving. The same seed and the same code give the same trace, byte for byte (Trace.Hash).
//	V2  Nodes share nothing but the network: what passes between them is encoded and decoded, as between processes.
//	V3  A crash loses everything that was not synced, and all memory.
//	V4  True time is the loop's virtual time since Epoch. Unless a run is told to lie, every clock's interval contains it
//	    whenever it is read.
//	V5  Safety is checked over the whole run. After the last fault the cluster must serve again within a stated virtual
//	    time (liveness), and its replicas must come to be equal.
//	V6  While faults last, a range is served by a majority of its voters that is well and connected, within a time that
//	    follows from the run's timeouts (available.go).
//	V7  A clock that lies, where the others can tell, is fenced in bounded time, and an honest one never is. What is not guaranteed
//	    until then is excused, and nothing more (lies.go).
//
// A World is the machines, a Fault is what the world injects, a Workload is what clients do and how it is judged; a Config, all
// of it drawn from the seed, puts them together; Run makes one run of it. docs/simulation.md tells how to use it.
package sim
