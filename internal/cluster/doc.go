// Package cluster knows the nodes of a cluster: who they are, which of them are alive, and what their stores have promised
// each other.
//
// A promise is what leases are made of (package replica). Store v promises store s, until an instant T, that none of v's
// replicas will vote against one of s's. One exchange of messages per pair of stores serves all ranges.
//
//	P1  A promise until T binds v until v's earliest > T. Whoever votes asks Released first; nobody else decides.
//	P2  A promise is given only once a high water no lower than T is durable. After a restart v has forgotten to whom it
//	    promised what, so until earliest > high water it is bound to everybody.
//	P3  Promises to s with the same Since are one unbroken run: at no moment between the first and the last of them did
//	    Released(s) report true. A run that may have been broken is never continued; the next promise begins a new one.
//	P4  No promise is further ahead of our latest than L, the longest way to a peer and the widest clock together: an asker
//	    with a clock that is far ahead must not bind us for long.
//	P5  Until its own high water has passed, a restarted store asks for no promises: it can lead nothing, and promises to it
//	    would only keep others from electing a leader.
//	P6  A node whose clock a majority disproves (clock.Vote) fences it before it handles another message: from then on it
//	    asks for no promises and gives none. It goes on sending heartbeats with what its clock claims, and takes the fence
//	    away when the others agree with that again.
//	P7  A store that cannot do its work (Options.Stalled: its disk stands still) asks for no promises, not of itself either,
//	    until it can: those that it has run out, and others lead its ranges.
//	P8  A store asks those peers alone that it hears (Options.Silence). One that is heard and hears nobody would bind all others
//	    to it, and could use none of their promises.
//	P9  What a store has excluded is true for good: as the leader of that term, or of an earlier one, its replica of that range
//	    relies on nothing beyond the instant (exclusion.go).
//
// HAZARD: P1 compares a reading of v with an instant of s's clock. If one of them is outside its bound, v may be released
// while s still relies on the promise: two replicas of a range may then use a lease at once (package replica, L1).
//
//	s                                  v
//	│  Ask: T = latest(s) + L          │
//	│ ───────────────────────────────▶ │  P4?  make the high water >= T durable
//	│  Granted: T, Since               │
//	│ ◀─────────────────────────────── │  bound until earliest(v) > T
//	│  relies on it while latest(s) < T│
//
// Beside promises there is evidence (suspect.go): that a node's connection broke, or that its heartbeats ask for nothing. It hurries
// elections and routing, and binds or frees nobody.
//
// The same messages carry what each node knows of the others (full mesh; of two descriptions of a node the one that started
// later is right) and the descriptor of the first range, by generation.
package cluster
