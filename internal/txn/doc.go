// Package txn coordinates transactions: it turns a clock reading into timestamps, keeps what a transaction has read and
// wants to write, and brings it to a commit or starts it again.
//
//	X1  Rule 1, start high (ordering.go): r and g come from one fresh reading, taken at the first access. Every
//	    version at or below g on the keys that are read is observed: it is at or below r, or r is moved up to it. The
//	    leaseholder of the first request may lower them to a fresh reading of its own (fresh.go, and package replica).
//	X2  Rule 2, finish past (commitwait.go; or that leaseholder): neither an acknowledgement nor a row nor an error that tells
//	    of a row leaves while it depends on a version whose timestamp is not certainly past.
//	X3  Rule 3: c >= r. After r or c moves up, everything read is as it would have been read there: refreshed, or the
//	    transaction is started again.
//	X4  All reads of a transaction are of one timestamp, its r: what was read at another is refreshed or read again before
//	    it is handed out beside the rest.
//	X5  A limit is lowered only to what the node that executes the read was itself heard to say (observed.go), and never for
//	    a range whose lease that node got later (kv.ReadRequest.MaxLimit). Every range where an intent landed below the commit
//	    timestamp hears of that before the record says that the transaction is committed (decide.go).
//	X6  An attempt that has failed stays failed: before a commit that may have been executed is reported as anything else,
//	    its record is made to say so.
//
// HAZARD: X1 and X2 meet at true time. If an interval does not contain it, a transaction may miss another one that was
// acknowledged before it began. Serializability does not depend on clocks: it is kept by timestamps, the timestamp caches of
// the ranges, and refreshes.
//
//	          Begin            first access          Commit                            after rule 2
//	(nothing) ─────▶ open ────────────────▶ started ─────────▶ one-phase / intents ────────────────▶ committed
//	                   │                       │                   │ refresh fails, aborted, conflict
//	                   └───────────────────────┴───────────────────┴──────────────────────────────▶ aborted
//
// A Txn may be used by several tasks for reading; each operation sees the writes that were buffered before it.
package txn
