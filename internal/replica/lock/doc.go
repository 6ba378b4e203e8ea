// Package lock decides who holds the keys of one range for later writing, and who waits in which order. It is a
// deterministic core: calls go in, with the time, and what has become of waiting requests comes out (Table.Take). It does no
// I/O, never blocks, and depends on nothing but its arguments and its state.
//
// Locks live in the leaseholder's memory alone. They make transactions that read a key in order to write it take turns,
// which otherwise would all read, and all but one restart at the commit. Nothing else depends on them: reads are right
// because of timestamps, timestamp caches and refreshes. So a lock may be lost at any time, and is: with the lease, at a
// split, when there are too many, when its owner is taken for dead, when an older transaction needs it.
//
//	K1  At most one owner holds a key exclusively, and then nobody else holds it.
//	K2  Who waits, waits in order of age; those that hold the key shared and want it exclusively come first. The first is
//	    let in as soon as its mode permits, and nobody passes somebody older whose mode conflicts with its own.
//	K3  Nobody waits for ever for a younger owner: when a key has not changed hands for Options.Patience the oldest that
//	    waits takes the lock from younger holders (a wound). At once, if all of those wait in this range themselves.
//	K4  A key is in the table only while somebody holds it; all counts are those of a full walk. Memory is bounded by
//	    Options: beyond, a request goes on without a lock, but not before its turn.
//	K5  An owner that has given no sign of life for Options.Expiry, and of which no request waits here, or whose
//	    coordinator's process is gone (Options.Gone), loses its locks to whoever asks.
//
//	K6  A request that meets the intent of a younger transaction locks the intent's key before it has the intent removed
//	    (Request.Claim), and keeps that lock until it is answered, a locking read until its transaction ends. While it holds the
//	    key no other transaction lays an intent there.
//
// Age is (start of the first attempt, id of the first attempt): total, and the same in all ranges. A transaction that is
// repeated keeps it, so it becomes the oldest in time, and the oldest waits for nobody longer than Patience: nobody starves.
// Intents need K6 for that: a scan that locks knows its keys only when it meets them, and a write of several keys holds none while it
// waits. Without K6, writers of two keys could lay an intent on the one while the scan has that on the other removed, and again, without end.
//
// No deadlocks. Suppose some transactions wait for each other for good, here or in other ranges. No key that they wait for
// changes hands any more, so for each such key both the oldest in the queue and the first of those in front (K2) face a
// holder older than themselves, else K3 would have let them in; and everybody else in the queue stands behind one of these
// two, or behind somebody older. So from any of the waiting one comes, by way of the queue, to a holder that is older than
// whom one went through; that one waits as well, for another key; and so on, older at each key, without an end. But they are
// finitely many. What else transactions wait for goes by the same age (intents: package conflict) or has a limit.
//
// A wound takes the lock and not the life: the younger transaction goes on. If the older one writes what it has locked, the
// younger one's refresh fails and it restarts, in the queue, at the place of its age; if not, nothing has happened to it.
//
//	nobody ──Acquire──▶ held ──Release, Drop, wound, expiry──▶ the next in the queue, or nobody
//	                     ▲
//	waiting ─────────────┘ Granted          waiting ──Cancel──▶ (nothing)      waiting ──Clear, Keep──▶ Gone, ──Release──▶ Ended
package lock
