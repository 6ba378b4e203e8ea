package replica

import (
	"slices"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
)

// leaseCore says how long the leader of a term may use its lease: T is the greatest instant until which a quorum of the
// voters is bound not to vote for another. It does no I/O and reads no clock.
//
//	not leading ──lead(term)──▶ elected ──start(low)──▶ serving ──stop──▶ handing over
//	     ▲                         │                       │                   │
//	     └────────── follow ───────┴───────────────────────┴───────────────────┘
//
//	elected       nothing may be served: entries of earlier terms may not be applied yet
//	serving       until T, which moves on as support is renewed
//	handing over  nothing more in this term (L4), whatever becomes of the transfer
//
// A voter counts from its answer in this term, under the support epoch that it named in the answer. Both are needed (L1):
//
//   - The answer: support binds a store not to vote against the store of the leader that each of its replicas last
//     answered. A voter that has answered nobody in this term may be bound to an earlier leader, and free to vote
//     against this one.
//   - The epoch: if the support lapsed after the answer, the voter was free to vote for another. Later support of the
//     same store to ours, given for all ranges together, says nothing about that.
type leaseCore struct {
	self    kv.NodeID
	term    uint64 // 0: not leading
	serving bool
	stopped bool // L4
	low     clock.Timestamp
	// used is the highest T that this replica has ever relied on, in any term. What it served under its lease is safe only
	// if no other lease begins before then, so it takes part in no election that could bring one about (voter.go).
	used clock.Instant
	// led is the last term in which this replica has led, in this process. It cannot lead in it again.
	led uint64
	// excluded: the store has said of this term that nothing beyond cap is relied on (cluster P9, exclude.go).
	excluded bool
	cap      clock.Instant
	answers  map[kv.NodeID]clock.Instant // the support epoch (Since) that a voter named when it last answered
}

// lead begins a term as leader.
func (l *leaseCore) lead(term uint64) {
	*l = leaseCore{self: l.self, used: l.used, term: term, led: term, answers: map[kv.NodeID]clock.Instant{}}
}

// follow ends the lead.
func (l *leaseCore) follow() { *l = leaseCore{self: l.self, used: l.used, led: l.led} }

// start opens the lease for serving. All entries of earlier terms have been applied, and low is no lower than anything
// that an earlier lease could have served (L3).
func (l *leaseCore) start(low clock.Timestamp) { l.serving, l.low = true, low }

// stop ends serving for good in this term (L4).
func (l *leaseCore) stop() { l.stopped = true }

// answered notes a voter's answer in a term. It reports whether it changes anything.
func (l *leaseCore) answered(from kv.NodeID, term uint64, epoch clock.Instant) bool {
	if term != l.term || l.term == 0 || epoch == 0 || l.answers[from] == epoch {
		return false
	}
	l.answers[from] = epoch
	return true
}

// until is T. Zero: no quorum supports the lease, or it is not to be used. supportFrom is a store's support of ours.
//
// HAZARD: T compares with our latest, the support behind it with the voters' earliest. If a clock is outside its bound
// another leader may serve while we still think that we may.
func (l *leaseCore) until(voters []kv.NodeID, supportFrom func(kv.NodeID) cluster.Support) clock.Instant {
	if l.term == 0 || !l.serving || l.stopped || len(voters) == 0 {
		return 0
	}
	ends := make([]clock.Instant, 0, len(voters))
	for _, v := range voters {
		s := supportFrom(v)
		// Of ourselves no answer is needed: had we voted for another, we would be in its term and not leading.
		if v != l.self && (s.Epoch == 0 || l.answers[v] != s.Epoch) {
			s.Until = 0
		}
		ends = append(ends, s.Until)
	}
	slices.Sort(ends)
	quorum := ends[(len(ends)-1)/2] // as many as a quorum are at or above it
	// Not beyond our store's support of itself either: its high water is what makes us wait after a restart.
	t := min(quorum, supportFrom(l.self).Until)
	l.checkExcluded(t)
	l.used = max(l.used, t)
	return t
}

// votersOf lists the nodes whose support counts. Membership changes by one voter at a time, so there is one set only.
func votersOf(d *kv.RangeDescriptor) (nodes []kv.NodeID) {
	for _, r := range d.Replicas {
		if !r.Learner {
			nodes = append(nodes, r.Node)
		}
	}
	return nodes
}
