package replica

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval/conflict"
	"github.com/longitude-db/longitude/internal/replica/latch"
	"github.com/longitude-db/longitude/internal/replica/tscache"
	"github.com/longitude-db/longitude/internal/rt"
)

// Replica is this store's member of one range. It only holds together the types that do the work.
//
//	uninitialized ──snapshot, or a split here──▶ initialized
//
//	uninitialized  a member of the Raft group with an empty log: it answers and votes, has no descriptor and serves nothing
//	initialized    desc is set, for good
//
// Either may be quarantined (quarantine.go), which only another process can take back.
type Replica struct {
	store *Store
	id    kv.RangeID
	rid   kv.ReplicaID
	log   *slog.Logger
	queue *rt.Queue[event]
	// queued counts messages from the network in the queue, so that they cannot fill it.
	queued atomic.Int32

	// What requests use, in any task.
	desc      atomic.Pointer[kv.RangeDescriptor] // nil: uninitialized
	lease     *leaseUse
	latches   *latch.Manager
	reads     *tscache.Cache
	conflicts *conflict.Waits
	locks     *locks
	closing   closing
	closed    closed
	admin     mutex // one change of the descriptor at a time
	progress  progress
	// quarantined is why the replica takes part in nothing any more; nil: it does. It never becomes nil again.
	quarantined atomic.Pointer[quarantine]

	// appliedIndex is applied.index as far as state shows it. It is set before the proposers hear of it.
	appliedIndex atomic.Uint64
	replacing    atomic.Bool // a snapshot is on its way into state

	// What only the range's task uses.
	rn        *raft.RawNode
	raftLog   *raftLog
	applied   entryID // Invariant: grows by one with each entry (A1)
	low       lowWater
	bounds    bounds // of the descriptor under which a command was applied last
	soft      softState
	voter     voter
	election  election
	proposals proposals
	handover  *handover
	prefer    preference
	received  *receivedSnapshot
	hurrying  bool // a hurryOn is on its way
	unheard   bool // it leads and hears no quorum (hearsQuorum)
	writing   int  // jobs at the log writer
	reload    bool
	ticked    bool          // a tick was handled in this turn
	told      time.Duration // when stats were told last

	// For tables and the store's own loops.
	published atomic.Uint64 // generation that is known to be published
	tooLong   atomic.Bool   // the log is larger than it should be
	held      atomic.Int64  // bytes of the log beyond what state has made durable, when that was looked at last
	givingUp  atomic.Bool   // a task is at it (GiveUp)
	heard     atomic.Int64  // when a leader was last heard, of a replica that follows one; 0: it leads, or hears of none
	untold    atomic.Bool   // stats are older than the last turn
	stats     atomic.Pointer[replicaStats]
}

// softState is the Raft state that others look at.
type softState struct {
	term  uint64
	lead  uint64
	state raft.StateType
}

// replicaStats is what the task tells of itself.
type replicaStats struct {
	Term, Applied, Committed, Last, First uint64
	State                                 raft.StateType
	Lead                                  kv.NodeID
	Match                                 map[kv.ReplicaID]uint64 // on the leader
}

// newReplica makes a replica from what the disk has; desc is nil for an uninitialized one.
func (s *Store) newReplica(id kv.RangeID, rid kv.ReplicaID, desc *kv.RangeDescriptor) (*Replica, error) {
	r := &Replica{
		store: s, id: id, rid: rid,
		log:   s.opts.Log.With("range", uint64(id)),
		queue: rt.NewQueue[event](s.opts.RT, 0),
		voter: voter{self: s.opts.Node},
		election: election{
			spread: s.opts.ElectionSpread, quiet: s.opts.Silence, stagger: s.opts.ElectionSpread / 16, random: s.opts.RT.Uint64,
		},
		latches: latch.New(s.opts.RT),
		admin:   mutex{rt: s.opts.RT},
	}
	r.reads = tscache.New(clock.Timestamp{}, r.store.opts.ReadCache)
	r.lease = newLeaseUse(s, func() []kv.NodeID { return votersOf(r.desc.Load()) })
	r.locks = newLocks(&s.opts)
	r.lease.lost = r.locks.clear
	r.proposals.init(r)
	r.conflicts = r.newConflicts()
	r.stats.Store(&replicaStats{})
	q, err := s.loadQuarantine(id)
	if err != nil {
		return nil, err
	}
	if q != nil {
		return r, r.beQuarantined(q, desc)
	}
	return r, r.load(desc)
}

// load makes the RawNode from what is on disk. It is called again when an uninitialized replica gets its state.
func (r *Replica) load(desc *kv.RangeDescriptor) (err error) {
	r.applied, r.low = entryID{}, lowWater{}
	if desc != nil {
		me, ok := desc.On(r.store.opts.Node)
		if !ok || me.ID != r.rid {
			return fmt.Errorf("%s has no replica %d on node %d", desc, r.rid, r.store.opts.Node)
		}
		if r.applied, r.low, err = r.store.loadRangeState(r.id); err != nil {
			return err
		}
	}
	if r.raftLog, err = loadLog(r.store.opts.Engines, r.id, r.applied); err != nil {
		return err
	}
	r.raftLog.snapshot = r.describeSnapshot
	r.raftLog.conf = confState(desc)
	r.rn, err = raft.NewRawNode(&raft.Config{
		ID:                        uint64(r.rid),
		ElectionTick:              10, // of the leader: ticks after which a transfer is given up
		HeartbeatTick:             3,
		Storage:                   r.raftLog,
		Applied:                   r.applied.index,
		AsyncStorageWrites:        true,
		MaxSizePerMsg:             maxMessage,
		MaxCommittedSizePerReady:  maxApplying,
		MaxUncommittedEntriesSize: maxUncommitted,
		MaxInflightMsgs:           maxInflight,
		PreVote:                   true,
		DisableProposalForwarding: true,
		Logger:                    raftLogger{r.log},
	})
	if err != nil {
		return err
	}
	r.appliedIndex.Store(r.applied.index)
	r.desc.Store(desc)
	r.observe()
	return nil
}

// confState is the Raft configuration that a descriptor stands for.
func confState(d *kv.RangeDescriptor) *raftpb.ConfState {
	cs := &raftpb.ConfState{}
	if d != nil {
		for _, m := range d.Replicas {
			if m.Learner {
				cs.Learners = append(cs.Learners, uint64(m.ID))
			} else {
				cs.Voters = append(cs.Voters, uint64(m.ID))
			}
		}
	}
	return cs
}

// nodeOf is the node of a replica of this range; 0: not known.
func (r *Replica) nodeOf(id uint64) kv.NodeID {
	if d := r.desc.Load(); d != nil {
		for _, m := range d.Replicas {
			if uint64(m.ID) == id {
				return m.Node
			}
		}
	}
	return r.store.addressOf(r.id, kv.ReplicaID(id))
}

func (r *Replica) leading() bool { return r.soft.state == raft.StateLeader }

// fatal stops the node: its disk failed, or its data contradict themselves. Nothing is acknowledged after it.
func (r *Replica) fatal(err error) {
	r.store.fatal(fmt.Errorf("r%d: %w", r.id, err))
}
