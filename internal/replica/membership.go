package replica

import (
	"cmp"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/longitude-db/longitude/internal/kv"
)

// A range gets a new member in two changes, each one command that carries the descriptor that it leads to: first as a
// learner, which receives a snapshot and the log and has no vote, then, once it has caught up, as a voter. A voter with an
// empty log would count for a quorum and could answer for nothing: with two of three alive a range would stand still until
// the snapshot had arrived. Members are added one at a time, so any two quorums, before and after, have one in common.
// Nothing is ever removed yet.

// addReplica serves AdminRequest.AddReplica: it returns when the node's replica votes.
func (r *Replica) addReplica(node kv.NodeID) ([]kv.RangeDescriptor, *kv.Error) {
	d := r.desc.Load()
	m, ok := d.On(node)
	if ok && !m.Learner {
		return []kv.RangeDescriptor{*d}, nil
	}
	if !r.store.opts.Cluster.Alive(node) {
		return nil, kv.Errorf(kv.ErrUnavailable, "node %d is not alive", node)
	}
	if !ok {
		if kerr := r.changeMember(node, raftpb.ConfChangeAddLearnerNode); kerr != nil {
			return nil, kerr
		}
		m, _ = r.desc.Load().On(node)
	}
	if kerr := r.awaitLearner(m.ID); kerr != nil {
		return nil, kerr
	}
	if kerr := r.changeMember(node, raftpb.ConfChangeAddNode); kerr != nil {
		return nil, kerr
	}
	return []kv.RangeDescriptor{*r.desc.Load()}, nil
}

// changeMember makes one of the two changes.
func (r *Replica) changeMember(node kv.NodeID, kind raftpb.ConfChangeType) *kv.Error {
	if !r.admin.lock(r.store.opts.RequestLimit) {
		return kv.Errorf(kv.ErrUnavailable, "another change of the range is under way")
	}
	defer r.admin.unlock()
	view, kerr := r.lease.check(r.lease.servedSoFar())
	if kerr != nil {
		return kerr
	}
	old := r.desc.Load()
	d := *old
	d.Generation++
	d.Replicas = slices.Clone(old.Replicas)
	i := slices.IndexFunc(d.Replicas, func(m kv.Replica) bool { return m.Node == node })
	switch {
	case kind == raftpb.ConfChangeAddNode && i >= 0:
		d.Replicas[i].Learner = false
	case kind == raftpb.ConfChangeAddLearnerNode && i < 0:
		i = len(d.Replicas)
		d.Replicas = append(d.Replicas, kv.Replica{Node: node, ID: d.NextID, Learner: true})
		d.NextID++
	default:
		return kv.Errorf(kv.ErrUnavailable, "%s has changed meanwhile", old)
	}
	id := uint64(d.Replicas[i].ID)
	p := &proposal{
		cmd:    command{Term: view.term, Generation: old.Generation, Desc: &d},
		change: &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{Type: kind.Enum(), NodeId: &id}}},
	}
	return r.proposeWait(p, func(*kv.Error) {})
}

// The time that a learner has for its snapshot, and how far behind it may be to become a voter.
const (
	learnerLimit = 2 * time.Minute
	learnerLag   = 64
)

func (r *Replica) awaitLearner(id kv.ReplicaID) *kv.Error {
	for began := r.store.opts.RT.Now(); r.store.opts.RT.Now()-began < learnerLimit; r.store.opts.RT.Sleep(r.store.opts.Tick) {
		if _, ok := r.lease.holds(); !ok || r.store.stopped() {
			return kv.Errorf(kv.ErrUnavailable, "the lease was lost while the new replica caught up")
		}
		st := r.stats.Load()
		if m, ok := st.Match[id]; ok && m > 0 && m+learnerLag >= st.Committed {
			return nil
		}
	}
	return kv.Errorf(kv.ErrUnavailable, "the new replica %d of r%d has not caught up within %s", id, r.id, learnerLimit)
}

// matches tells how far each replica's log is known to agree with the leader's. A replica that has not answered in this term, as a
// quarantined one never does, has 0.
func (r *Replica) matches() map[kv.ReplicaID]uint64 {
	m := map[kv.ReplicaID]uint64{}
	r.rn.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		if p.RecentActive {
			m[kv.ReplicaID(id)] = p.Match
		} else {
			m[kv.ReplicaID(id)] = 0
		}
	})
	return m
}

// runPlacement gives ranges that this node leads the replicas that they lack.
func (s *Store) runPlacement() {
	for s.rest(placementInterval) {
		for _, r := range s.ranges.all() {
			if s.stopped() {
				return
			}
			if _, ok := r.lease.holds(); !ok {
				continue
			}
			node := r.wantsReplicaOn()
			if node == 0 {
				continue
			}
			if _, e := r.addReplica(node); e != nil {
				r.log.Info("no replica added", "node", node, "err", e)
			}
		}
	}
}

const placementInterval = time.Second

// wantsReplicaOn is the node that is to have a replica: a live learner's first, else the live node with the fewest.
func (r *Replica) wantsReplicaOn() kv.NodeID {
	d := r.desc.Load()
	if d.Voters() >= r.store.opts.ReplicationFactor {
		return 0
	}
	var free []kv.NodeInfo
	for _, n := range r.store.opts.Cluster.Nodes() {
		if !r.store.opts.Cluster.Alive(n.ID) {
			continue
		}
		m, ok := d.On(n.ID)
		if ok && m.Learner {
			return n.ID
		}
		if !ok {
			free = append(free, n)
		}
	}
	if len(free) == 0 {
		return 0
	}
	return slices.MinFunc(free, func(a, b kv.NodeInfo) int {
		return cmp.Or(cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.ID, b.ID))
	}).ID
}
