// Package clock reads time as an interval that contains true time, and orders data by timestamps that are derived from
// such readings. It depends on nothing else of Longitude and may be imported by others.
//
//	T1  Bound assumption: true time, at the moment of a reading, lies in [Earliest, Latest]. It holds as far as the Source
//	    is honest and the oscillator keeps to the rate that the source states. Nothing here can prove it.
//	T2  Earliest <= Latest in every reading that is returned.
//	T3  Earliest never goes back: not when the source widens its bound, not over a disruption, not between goroutines.
//	T4  Latest is computed afresh from the monotonic clock on every call. It is never cached, never taken from a peer, and
//	    never lowered: a stale one would let a transaction overlook what finished before it began (rule 1).
//	T5  A peer's earliest raises our own only if it is at most our latest, and only while the peer is no suspect (Suspect,
//	    Vote F4). Beyond our latest it is a conflict, not data: a clock that is far ahead must not drag the others. What a
//	    liar says before it is a suspect can raise our earliest above true time, and that is over as soon as true time has
//	    come to the highest earliest that the liar gave out: after at most the lie, and at most the width of the reading
//	    that was raised.
//	T6  A clock that has doubts gives no reading (ErrUnknown, ErrDisrupted, ErrFenced) rather than a doubtful one.
//	T7  A clock that others have fenced (Fence, Vote) gives no readings but goes on reporting intervals (ReportedInterval). A
//	    reported interval orders nothing and raises nothing.
//	T8  Replacing the source (Switch) breaks none of these: the new one is about the same true time and intersects what
//	    the old one says, or the clock is silent until the new one has learned something.
//	T9  Where the hypervisor tells of disruptions, no reading is given that was made under a marker that has changed before the
//	    monotonic clock was read (marker, M1). Nor does it report intervals.
//
// HAZARD: without such a marker a machine that is paused, restored or moved while its monotonic clock stands still gives false
// readings afterwards, as late as the pause was long, until its source's next answer contradicts them; and if the system clock
// stood still too, until the source has measured again. With it there are none.
//
// HAZARD: if T1 is broken nothing here notices until a peer's reading or the source's own next answer contradicts it.
// Until then rule 1 and rule 2 (package txn) and leases (package replica) lose what they guarantee about real time: reads may
// be stale, by as much as the bound was wrong. What does not depend on it: T2, T3 and T5, and every agreement reached by
// consensus.
//
// A Source is asked by Poll, some ten times a second; what it says becomes an immutable anchor, and Now is one monotonic
// read and integer arithmetic on it.
//
//	             good answer                 no answer for Sample.FreshFor
//	Unknown ───────────────────▶ Synchronized ◀──────────────▶ FreeRunning ───▶ Unknown (after Sample.ValidFor)
//	                                  ▲   │                         │
//	          good answer, from after │   │ step, suspend, empty    │
//	                     the event    │   ▼ intersection            ▼
//	                                  └─────────── Disrupted ◀──────┘
//
//	Synchronized  a reading; the source answered lately
//	FreeRunning   a reading, honest, growing with the anchor's age: commit waits get longer, nothing else changes
//	Unknown       no reading: never synchronised, or the anchor is too old, or wider than Options.MaxUncertainty (ErrFenced)
//	Disrupted     no reading, and those given since the event are suspect
package clock
