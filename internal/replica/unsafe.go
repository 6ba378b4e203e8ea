package replica

import (
	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Unsafe turns rules off. It is for tests only: for the negative controls, which show that the checkers find what each
// rule prevents. No flag and no setting leads here.
type Unsafe struct {
	// EarliestLease: a leader uses its lease while its earliest is before T, not its latest (L2).
	EarliestLease bool
	// ForgetReads: a lease begins with no low water (L3), and a timestamp cache that is empty.
	ForgetReads bool
	// DropMarks: what is handed on with a lease, or with the right half of a split, says nothing of reads that are further ahead
	// than all others (lowwater.go).
	DropMarks bool
	// EarlyRelease: a reader that has made a commit of another take effect is not told how new it is, and so does not wait
	// until it is past (package txn, X2).
	EarlyRelease bool
	// Disorder: commands that are applied together change places (A1).
	Disorder bool
	// PlaceLow: a transaction that is placed by the leaseholder's reading gets its earliest for its latest (W1).
	PlaceLow bool
	// PlaceUnmarked: what such a transaction reads is not remembered in the timestamp cache (W2).
	PlaceUnmarked bool
	// Unclosed: a follower answers a read of the present before its timestamp is closed (F3).
	Unclosed bool
	// KeepTicking: a leader that hears no quorum of its voters goes on sending heartbeats (unheard.go).
	KeepTicking bool
	// ExcludeUncapped: what a store excludes a range until is what it relied on so far, and the range's lease goes on (P9).
	ExcludeUncapped bool
	// StayMired: a leader whose commands find no way to a quorum keeps its lease (mired.go).
	StayMired bool
	// Poison says which entries of which ranges cannot be applied: their replicas are quarantined.
	Poison func(kv.RangeID, *raftpb.Entry) bool
	// SplitUnclosed: while a split is in flight its leaseholder goes on closing timestamps, above the right half's low water (F1).
	SplitUnclosed bool
	// EarlyPast: the leaseholder calls what such a transaction has read or written past without waiting (W3).
	EarlyPast bool
}

// placing is the reading that transactions are placed by.
func (u *Unsafe) placing(now clock.Interval) clock.Interval {
	if u.PlaceLow {
		now.Latest = now.Earliest
	}
	return now
}

// disorder exchanges neighbours.
func disorder(es []*raftpb.Entry) []*raftpb.Entry {
	for i := 1; i < len(es); i += 2 {
		a, b := es[i-1], es[i]
		if a.GetType() == raftpb.EntryNormal && b.GetType() == raftpb.EntryNormal && a.GetTerm() == b.GetTerm() && len(a.GetData())*len(b.GetData()) > 0 {
			a.Data, b.Data = b.Data, a.Data
		}
	}
	return es
}

// released is an answer to a request in whose way others were.
func (u *Unsafe) released(resp kv.Response) kv.Response {
	if u.EarlyRelease && resp.Read != nil {
		resp.Read.Newest = clock.Timestamp{}
	}
	return resp
}
