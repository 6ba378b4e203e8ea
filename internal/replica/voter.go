package replica

import (
	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/internal/kv"
)

// voter decides whether a replica may take part in an election: the one place where support binds (cluster P1). It is a
// core; it asks a voteGuard what binds at the moment.
//
// lead is the node of the leader that this replica last answered (or that it was itself), and term the term of that. It
// stays over changes of term: that there is a new term frees nobody from the leader of the last one. It is 0 if no leader
// is owed anything, except by support that an earlier process gave.
//
// When a replica answers a new leader, it owes the old one nothing more: to be elected the new one needed a voter that
// also supported the old lease, and that one had waited for the end of it. Any quorum of the old lease has such a voter,
// so the old lease is over, and stays so: a voter in a higher term answers nobody in a lower one.
type voter struct {
	self kv.NodeID
	lead kv.NodeID
	term uint64
}

// voteGuard says what binds.
type voteGuard interface {
	// supportWithdrawn reports whether this store's support of another has been withdrawn. 0: all support that an earlier
	// process of this store gave.
	supportWithdrawn(to kv.NodeID) bool
	// canLoseLease reports whether what this replica served itself, as a leader, is safe from another lease. With giveUp its
	// own lease ends in the same step.
	canLoseLease(giveUp bool) bool
}

// answered notes that this replica answers, or is, the leader of its present term.
func (v *voter) answered(lead kv.NodeID, term uint64) { v.lead, v.term = lead, term }

// mayVote decides about MsgVote and MsgPreVote of a candidate; now is the term of this replica. The message is dropped if
// it may not.
func (v *voter) mayVote(m *raftpb.Message, candidate kv.NodeID, now uint64, guard voteGuard) bool {
	switch {
	case m.GetTerm() < now:
		return true // Raft refuses it
	case string(m.GetContext()) == campaignTransfer:
		return true
	case candidate == v.lead && candidate != v.self:
		if m.GetTerm() > v.term {
			// It campaigns, so it leads no more in the term that we answered it in, nor ever will; and it campaigns only
			// once what it served is safe (mayCampaign). Its store keeps renewing support for its other ranges; were this
			// range bound by them, and the candidate's log too old to win, nobody could ever be elected.
			v.lead, v.term = 0, 0
		}
		return true
	case v.lead == v.self:
		// A vote in a higher term ends our lead, if we have it; in the same term Raft refuses it to others.
		return guard.canLoseLease(m.GetType() == raftpb.MsgVote && m.GetTerm() > now)
	}
	return guard.supportWithdrawn(v.lead)
}

// mayCampaign decides about a campaign of our own.
func (v *voter) mayCampaign(guard voteGuard) bool {
	if v.lead == v.self {
		return guard.canLoseLease(false)
	}
	return guard.supportWithdrawn(v.lead)
}

// campaignTransfer marks votes asked for on behalf of a leader that hands over: it has stopped serving in its term, and
// what it served is in the low water that it has committed (L3, L4).
const campaignTransfer = "CampaignTransfer"
