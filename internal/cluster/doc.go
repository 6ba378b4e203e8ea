// Package cluster knows the nodes of a cluster: their addresses, which of them are alive, and the support that their stores give
// each other (store liveness).
//
// Leases are built on support (package replica). If store v supports store s until an instant T, none of v's replicas votes
// against one of s's before T. One exchange of messages per pair of stores serves all ranges.
//
//	P1  Support until T binds v until v's earliest > T. A replica calls TryWithdraw before it votes; nothing else decides.
//	P2  A store gives support until T only once a high water no lower than T is durable. After a restart v does not know which
//	    stores it supported, so it votes against none of them until earliest > high water.
//	P3  All support of s with the same Epoch is unbroken: at no moment between the first and the last of it did TryWithdraw(s)
//	    report true. An epoch that may have been interrupted is never continued; the next support begins a new one.
//	P4  Support is given no further ahead of our latest than L, the longest way to a peer and the widest clock together: a
//	    requester with a clock that is far ahead must not bind us for long.
//	P5  Until its own high water has passed, a restarted store requests no support: it can lead nothing, and support of it
//	    would only keep others from electing a leader.
//	P6  A node whose clock is a falseticker by the majority's vote (clock.Vote) fences it before it handles another message: from
//	    then on it requests no support and gives none. It goes on sending heartbeats with the interval that its clock reports, and
//	    takes the fence away when the others agree with that interval again.
//	P7  A store that cannot do its work (Options.Stalled: its disk stands still) requests no support, not of itself either,
//	    until it can: the support that it has runs out, and other nodes lead its ranges.
//	P8  A store requests support only from peers that it hears (Options.Silence). A store that is heard and hears no peer would
//	    bind all others to it, and could use none of their support.
//	P9  What a store has excluded stays true: as the leader of that term, or of an earlier one, its replica of that range
//	    relies on nothing beyond the instant (exclusion.go).
//
// HAZARD: P1 compares a reading of v with an instant of s's clock. If one of the two clocks is outside its bound, v may withdraw
// its support while s still relies on it: two replicas of a range may then use a lease at once (package replica, L1).
//
//	s                                         v
//	│  SupportRequest: T = latest(s) + L      │
//	│ ──────────────────────────────────────▶ │  P4?  make the high water >= T durable
//	│  SupportFromUntil: T, SupportEpoch          │
//	│ ◀────────────────────────────────────── │  bound until earliest(v) > T
//	│  relies on it while latest(s) < T       │
//
// Beside support there is evidence (suspect.go): that a node's connection broke, or that its heartbeats request nothing. Evidence
// makes elections and routing faster; it neither binds a store nor frees one.
//
// The same messages carry what each node knows of the others (full mesh; of two descriptions of a node the one that started
// later is right) and the descriptor of the first range, by generation.
package cluster
