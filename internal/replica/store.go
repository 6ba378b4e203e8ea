package replica

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/replica/eval/conflict"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// Store holds the replicas of one node.
type Store struct {
	opts         Options
	ranges       rangeMap
	writer       logWriter
	outboxes     [kv.Lanes]outbox
	incoming     incomingSnapshots
	sending      counter
	observed     eval.Highest
	intentFilter mvcc.IntentFilter // of all ranges' intents and records
	pushes       *conflict.Pushes
	copies       *copies
	behind       behindList
	applying     atomic.Int64 // when the oldest batch that is on its way into state began (stall.go)

	stop    atomic.Bool
	ending  rt.Signal // fired with stop: what rests between two looks need not wake to see it
	failed  sync.Once
	failure atomic.Pointer[error]
	tasks   *rt.Group
	serving atomic.Int64        // requests and snapshots in their callers' tasks
	publish *rt.Queue[struct{}] // wakes the publication of descriptors

	addresses sync.Map // raftAddress -> kv.NodeID: where members were heard of that no descriptor here names yet
}

// maxSending bounds the snapshots that are sent at once: each reads a range and fills the network.
const maxSending = 2

// Bootstrap writes the first range, all of the key space with one replica, to an empty store. It is durable when this
// returns.
func Bootstrap(e *storage.Engines, node kv.NodeID) error {
	b := e.State.NewBatch()
	defer b.Close()
	if err := putNewRange(b, firstRange(node), &lowWater{}); err != nil {
		return err
	}
	if err := e.ApplyState(b); err != nil {
		return err
	}
	return e.FlushState()
}

func firstRange(node kv.NodeID) *kv.RangeDescriptor {
	return &kv.RangeDescriptor{
		ID: 1, Span: kv.Span{Start: keys.Min, End: keys.Max}, Replicas: []kv.Replica{{Node: node, ID: 1}}, NextID: 2, Generation: 1,
	}
}

// NewStore brings the replicas that the disk has to life; Start sets them going.
func NewStore(o Options) (*Store, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Store{opts: o, tasks: rt.NewGroup(o.RT), ending: o.RT.NewSignal()}
	s.pushes = s.newPushes()
	s.copies = newCopies(&s.opts)
	s.ranges.init()
	s.writer.s, s.writer.queue = s, rt.NewQueue[*logJob](o.RT, 0)
	s.makeOutboxes()
	s.sending.limit = maxSending
	s.publish = rt.NewQueue[struct{}](o.RT, 1)
	if err := s.unquarantine(o.Unquarantine); err != nil {
		return nil, err
	}
	if err := s.recover(); err != nil {
		return nil, err
	}
	o.Cluster.OnSuspect(s.suspect)
	o.Cluster.OnExcluded(s.excluded)
	return s, nil
}

// recover makes replicas of all ranges that state has. What the logs have beyond it their tasks apply.
func (s *Store) recover() error {
	if err := s.intentFilter.Load(s.opts.Engines.State); err != nil {
		return err
	}
	ds, err := s.loadDescriptors()
	if err != nil {
		return err
	}
	for _, d := range ds {
		me, ok := d.On(s.opts.Node)
		if !ok {
			return fmt.Errorf("replica: state has %s, which has no replica on node %d", d, s.opts.Node)
		}
		if _, _, err := s.ranges.add(d.ID, func() (*Replica, error) { return s.newReplica(d.ID, me.ID, d) }); err != nil {
			return err
		}
		s.toldFirst(d)
	}
	return nil
}

// Start sets the tasks going.
func (s *Store) Start() {
	s.copies.start()
	s.tasks.Go("log", s.writer.run)
	for lane := range s.outboxes {
		s.tasks.Go("outbox", s.outboxes[lane].run)
	}
	for _, r := range s.ranges.all() {
		s.tasks.Go("range", r.run)
	}
	s.tasks.Go("ticks", s.runTicks)
	if s.opts.ClosedLag > 0 && s.opts.ClosedEvery > 0 {
		s.tasks.Go("close", s.closeOften)
	}
	s.tasks.Go("truncate", s.runTruncation)
	s.tasks.Go("placement", s.runPlacement)
	s.tasks.Go("publish", s.runPublication)
	if s.opts.Resolve != nil {
		s.tasks.Go("collect", s.runCollection)
	}
}

// rest waits between two looks at something, and reports whether to look again. It is over as soon as the store stops.
func (s *Store) rest(d time.Duration) bool { return !s.ending.Wait(d) && !s.stopped() }

// runTicks tells the replicas that time passes, but for those to which that makes no difference.
func (s *Store) runTicks() {
	for s.rest(s.opts.Tick) {
		s.watch()
		leaders, initialized, quarantined := 0, 0, 0
		calm, now := s.opts.Cluster.Calm(), s.opts.RT.Now()
		for _, r := range s.ranges.all() {
			if !calm || !r.content(now) {
				r.queue.Push(tick{})
			}
			if r.desc.Load() != nil {
				initialized++
			}
			if r.stats.Load().State == raft.StateLeader {
				leaders++
			}
			if r.quarantined.Load() != nil {
				quarantined++
			}
		}
		s.opts.Metrics.Ranges.Set(float64(initialized))
		s.opts.Metrics.Leaders.Set(float64(leaders))
		s.opts.Metrics.Quarantined.Set(float64(quarantined))
		s.opts.Cluster.Update(func(n *kv.NodeInfo) { n.Leases, n.Replicas = leaders, initialized })
	}
}

// Stop ends everything. With drain > 0 leases are handed over first, for at most that long.
func (s *Store) Stop(drain time.Duration) error {
	if drain > 0 && !s.stopped() {
		s.drain(drain)
	}
	s.stop.Store(true)
	s.ending.Fire()
	for _, r := range s.ranges.all() {
		r.queue.Close()
	}
	s.writer.queue.Close()
	for lane := range s.outboxes {
		s.outboxes[lane].queue.Close()
	}
	s.publish.Close()
	if !s.tasks.Wait(stopLimit) {
		return errors.New("replica: tasks are still running; the disk may be stuck")
	}
	for end := s.opts.RT.Now() + stopLimit; s.serving.Load() > 0; s.opts.RT.Sleep(s.opts.Tick / 4) {
		if s.opts.RT.Now() >= end {
			return errors.New("replica: requests are still being served")
		}
	}
	return nil
}

const stopLimit = 10 * time.Second

func (s *Store) stopped() bool { return s.stop.Load() }

// fatal stops the node. What is not yet acknowledged never will be.
func (s *Store) fatal(err error) {
	s.failed.Do(func() {
		s.failure.Store(&err)
		s.stop.Store(true)
		s.ending.Fire()
		s.opts.Log.Error("store stops", "err", err)
		// No more requesting support: they would keep the others from electing leaders for our ranges.
		if err := s.opts.Cluster.Stop(); err != nil {
			s.opts.Log.Error("high water of support stays as it was", "err", err)
		}
		if s.opts.OnFatal != nil {
			s.opts.OnFatal(err)
		}
	})
}

// Err is why the store stopped by itself, or nil.
func (s *Store) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// replica returns this store's replica of a range, and makes and starts it if there is none.
func (s *Store) replica(id kv.RangeID, rid kv.ReplicaID, d *kv.RangeDescriptor) (*Replica, error) {
	r, added, err := s.ranges.add(id, func() (*Replica, error) {
		if d == nil {
			var err error
			if d, err = s.loadDescriptor(id); err != nil {
				return nil, err
			}
		}
		return s.newReplica(id, rid, d)
	})
	if err != nil {
		return nil, err
	}
	if added {
		s.tasks.Go("range", r.run)
		if d != nil {
			s.toldFirst(d)
		}
	}
	return r, nil
}

// receiver returns the replica that a message is for; nil: nobody. A message for a range that is not here makes an
// uninitialized replica, which answers and waits for a snapshot; unless the range is about to come from a split here, of
// a replica that is only behind. Two histories of the same keys on one node would then meet.
func (s *Store) receiver(m *kv.RaftMessage) *Replica {
	if m.To.Node != s.opts.Node {
		return nil
	}
	r := s.ranges.get(m.Range)
	if r == nil {
		if h := s.ranges.holder(m.Start); h != nil {
			return nil
		}
		var err error
		if r, err = s.replica(m.Range, m.To.ID, nil); err != nil {
			s.fatal(err)
			return nil
		}
	}
	if r.rid != m.To.ID {
		return nil
	}
	return r
}

// HandleRaft takes in messages of other nodes. It does not block.
func (s *Store) HandleRaft(b *kv.RaftBatch) {
	for i := range b.Messages {
		if s.stopped() {
			return
		}
		rm := &b.Messages[i]
		m, err := decodeRaft(rm.Data)
		if err != nil || m.GetType() == raftpb.MsgSnap {
			s.opts.Log.Warn("raft message ignored", "range", uint64(rm.Range), "err", err)
			continue
		}
		r := s.receiver(rm)
		if r == nil {
			continue
		}
		if r.desc.Load() == nil || r.nodeOf(uint64(rm.From.ID)) == 0 {
			s.addresses.Store(raftAddress{rm.Range, rm.From.ID}, rm.From.Node)
		}
		if r.queued.Add(1) > s.opts.MaxQueued || !r.queue.Push(&incoming{m: m, from: rm.From.Node, epoch: rm.SupportEpoch}) {
			r.queued.Add(-1)
			s.opts.Metrics.MessagesDropped.Inc()
		}
	}
}

type raftAddress struct {
	id  kv.RangeID
	rid kv.ReplicaID
}

func (s *Store) addressOf(id kv.RangeID, rid kv.ReplicaID) kv.NodeID {
	if n, ok := s.addresses.Load(raftAddress{id, rid}); ok {
		return n.(kv.NodeID)
	}
	return 0
}

// toldFirst tells the cluster where meta is.
func (s *Store) toldFirst(d *kv.RangeDescriptor) {
	if len(d.Span.Start) == 0 {
		s.opts.Cluster.SetFirstRange(*d)
	}
}

func (s *Store) loadDescriptor(id kv.RangeID) (*kv.RangeDescriptor, error) {
	v, ok, err := s.getState(keys.RangeState(id, stateDesc))
	if err != nil || !ok {
		return nil, err
	}
	return decodeDescriptor(v)
}

// RangeInfo is what tables show of a replica.
type RangeInfo struct {
	Desc                                  kv.RangeDescriptor
	Leader                                kv.NodeID // 0: not known
	Leads                                 bool      // this replica leads
	LeaseUntil                            clock.Instant
	Term, Applied, Committed, First, Last uint64
	Match                                 map[kv.ReplicaID]uint64 // on the leader: how far each replica's log is
	Quarantined                           string                  // why the replica takes part in nothing any more; "": it does
}

// Ranges describes the initialized replicas, in order of their start keys.
func (s *Store) Ranges() (out []RangeInfo) {
	for _, r := range s.ranges.view.Load().sorted {
		st := r.stats.Load()
		i := RangeInfo{
			Desc: *r.desc.Load(), Leader: st.Lead, Leads: st.State == raft.StateLeader,
			Term: st.Term, Applied: st.Applied, Committed: st.Committed, First: st.First, Last: st.Last, Match: st.Match,
		}
		if v := r.lease.view.Load(); v != nil {
			i.LeaseUntil = v.until
		}
		if q := r.quarantined.Load(); q != nil {
			i.Quarantined = q.Reason
		}
		out = append(out, i)
	}
	return out
}
