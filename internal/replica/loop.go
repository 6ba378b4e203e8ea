package replica

import (
	"fmt"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// event is something that happens to a range. It is handled in the range's task.
type event interface{ handle(r *Replica) }

// run is the range's task: events in, and what follows from them out.
func (r *Replica) run() {
	var told softState
	if r.quarantined.Load() != nil {
		r.runQuarantined(nil)
		return
	}
	for {
		evs, open := r.queue.Take(rt.Forever)
		if !open || r.store.stopped() {
			r.end(evs)
			return
		}
		begin(&r.progress.turn, r.store.opts.RT.Now())
		if d := r.store.opts.TurnDelay; d != nil {
			sleep(r.store.opts.RT, d(r.id))
		}
		rest, ok := r.turn(evs)
		if r.quarantined.Load() != nil {
			r.progress.turn.Store(0)
			r.runQuarantined(rest)
			return
		}
		if !ok {
			r.end(rest)
			return
		}
		if now := r.store.opts.RT.Now(); r.soft != told || r.ticked || now-r.told >= r.store.opts.Tick {
			told, r.ticked, r.told = r.soft, false, now
			r.tellStats()
			r.untold.Store(false)
		} else {
			r.untold.Store(true) // the next tick sees to it
		}
		r.progress.turn.Store(0)
	}
}

// turn handles events, and all that follows from them. false: the store has failed, or the replica is quarantined; rest are the
// events that were not handled.
func (r *Replica) turn(evs []event) (rest []event, ok bool) {
	rest = evs
	defer func() {
		if p := recover(); p != nil {
			r.caught(p)
			ok = false
		} else if broken := r.raftLog.broken; broken != nil {
			r.fatal(fmt.Errorf("the log cannot be read: %w", broken))
			ok = false
		}
	}()
	for len(rest) > 0 {
		if r.quarantined.Load() != nil {
			return rest, false
		}
		now := rest[:max(1, together(rest))]
		rest = rest[len(now):]
		if _, ok := now[0].(*proposeEvent); ok {
			r.proposals.submitting = now
		}
		if len(now) > 1 {
			r.proposals.submitAll(now)
		} else {
			now[0].handle(r)
		}
		r.proposals.submitting = nil
		r.observe()
	}
	for r.rn.HasReady() && !r.store.stopped() {
		r.ready(r.rn.Ready())
		if r.quarantined.Load() != nil {
			return rest, false
		}
		r.observe()
	}
	if r.reload && r.writing == 0 {
		r.initialize()
	}
	return nil, true
}

// end answers who still waits. The outcome of commands that Raft has is not known.
func (r *Replica) end(rest []event) {
	r.lease.change((*leaseCore).follow)
	r.queue.Close()
	late, _ := r.queue.Take(0)
	for _, ev := range append(rest, late...) {
		if p, ok := ev.(*proposeEvent); ok {
			r.proposals.finish((*proposal)(p), kv.Errorf(kv.ErrUnavailable, "the node is stopping"))
		}
	}
	r.proposals.failAll(kv.Errorf(kv.ErrAmbiguous, "the node is stopping"))
}

// ready does what a Ready asks for. Appends go to the log writer, which hands back their responses when they are durable;
// committed entries are applied here, at once.
func (r *Replica) ready(rd raft.Ready) {
	for _, m := range rd.Messages {
		switch m.GetTo() {
		case raft.LocalAppendThread:
			r.append(m)
		case raft.LocalApplyThread:
			if !r.apply(m.GetEntries()) {
				return
			}
			for _, resp := range m.GetResponses() {
				r.step(resp)
			}
		default:
			r.send(m)
		}
		if r.store.stopped() || r.quarantined.Load() != nil {
			return
		}
	}
}

// step hands a message to Raft.
func (r *Replica) step(m *raftpb.Message) {
	if err := r.rn.Step(m); err != nil && err != raft.ErrProposalDropped {
		r.log.Debug("raft message ignored", "type", m.GetType(), "from", m.GetFrom(), "err", err)
	}
}

// observe notices changes of Raft's state as soon as they have happened, before anything else is stepped: a lease must
// end before its leader can vote for another.
func (r *Replica) observe() {
	st := r.rn.BasicStatus()
	now := softState{st.GetTerm(), st.Lead, st.RaftState}
	old := r.soft
	if now == old {
		return
	}
	r.soft = now
	r.lease.leader.Store(uint32(r.nodeOf(now.lead)))
	switch was, is := old.state == raft.StateLeader, r.leading(); {
	case is && (!was || now.term != old.term):
		r.voter.answered(r.store.opts.Node, now.term)
		r.lease.change(func(l *leaseCore) { l.lead(now.term) })
		r.store.opts.Metrics.Won.Inc()
		r.log.Info("leads its range", "term", now.term)
	case was && !is:
		r.lease.change((*leaseCore).follow)
		r.handover = nil
		r.log.Info("leads its range no more", "term", now.term)
	}
	switch {
	case r.leading():
		r.heard.Store(0)
	case now.lead != raft.None:
		r.recordLeaderMessage()
	}
}

// recordLeaderMessage notes that the leader that this replica follows was heard.
func (r *Replica) recordLeaderMessage() {
	now := r.store.opts.RT.Now()
	r.election.hear(now)
	r.heard.Store(int64(now))
}

// content reports whether a tick would change nothing: the replica follows a leader that it has heard lately, and has told how it
// is. That holds while there is evidence against no node.
func (r *Replica) content(now time.Duration) bool {
	heard := time.Duration(r.heard.Load())
	return heard != 0 && now-heard < r.store.opts.Silence && !r.untold.Load()
}

// send sends a message to another replica of the range.
func (r *Replica) send(m *raftpb.Message) {
	if m.GetTo() == uint64(r.rid) {
		r.step(m)
		return
	}
	if m.GetType() == raftpb.MsgSnap {
		r.sendSnapshot(m)
		return
	}
	r.store.send(r.wrap(m, r.supportEpochFor(m)))
}

// supportEpochFor names the support epoch under which an answer supports the leader's lease, and remembers whom this replica
// answers. An answer counts only if it goes to the leader of the term that this replica is in now: it may have been made
// in an earlier term and have waited for the disk, and votes may have been given since.
func (r *Replica) supportEpochFor(m *raftpb.Message) (epoch clock.Instant) {
	if t := m.GetType(); t != raftpb.MsgAppResp && t != raftpb.MsgHeartbeatResp {
		return 0
	}
	r.observe()
	if m.GetTerm() != r.soft.term || m.GetTo() != r.soft.lead || r.leading() {
		return 0
	}
	node := r.nodeOf(m.GetTo())
	if node == 0 {
		return 0
	}
	r.voter.answered(node, r.soft.term)
	return r.store.opts.Cluster.SupportEpochFor(node)
}

// incoming is a message of another replica.
type incoming struct {
	m     *raftpb.Message
	from  kv.NodeID
	epoch clock.Instant
}

func (ev *incoming) handle(r *Replica) {
	r.queued.Add(-1)
	r.receive(ev.m, ev.from, ev.epoch)
}

func (r *Replica) receive(m *raftpb.Message, from kv.NodeID, epoch clock.Instant) {
	switch m.GetType() {
	case raftpb.MsgVote, raftpb.MsgPreVote:
		if !r.voter.mayVote(m, from, r.soft.term, r) {
			r.store.opts.Metrics.VotesRefused.Inc()
			return
		}
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if m.GetTerm() >= r.soft.term && !r.leading() {
			r.recordLeaderMessage()
		}
	case raftpb.MsgAppResp, raftpb.MsgHeartbeatResp:
		if r.leading() && m.GetTerm() == r.soft.term && epoch != 0 {
			r.lease.answered(from, m.GetTerm(), epoch)
		}
	}
	r.step(m)
}

// supportWithdrawn and canLoseLease make a Replica the voteGuard of its voter. It is asked about the leader that the voter last answered.
func (r *Replica) supportWithdrawn(to kv.NodeID) bool {
	return r.store.opts.Cluster.LeaseExcluded(to, r.id, r.voter.term) || r.store.opts.Cluster.TryWithdraw(to)
}

func (r *Replica) canLoseLease(giveUp bool) bool { return r.lease.over(giveUp) }

// tick is the passing of time.
type tick struct{}

func (tick) handle(r *Replica) {
	r.ticked = true
	if r.leading() {
		if r.store.Stalled() != "" || !r.hearsQuorum() {
			return // stall.go, unheard.go
		}
		r.rn.Tick()
		r.observe()
		r.startLease()
		r.pushHandover()
		r.considerPreferred()
		return
	}
	r.campaign()
}

// campaign begins an election if it is time for one and support allows it.
func (r *Replica) campaign() {
	d := r.desc.Load()
	if d == nil {
		return
	}
	if me, ok := d.On(r.store.opts.Node); !ok || me.Learner {
		return
	}
	lead := r.voter.lead
	v := leaderView{suspected: r.suspects(lead), free: func() bool { return r.voter.mayCampaign(r) }}
	for _, n := range votersOf(d) {
		if n < r.store.opts.Node && n != lead {
			v.turn++
		}
	}
	if !r.election.due(r.store.opts.RT.Now(), v) {
		return
	}
	r.store.opts.Metrics.Elections.Inc()
	if err := r.rn.Campaign(); err != nil {
		r.log.Debug("campaign", "err", err)
	}
}

// tellStats shows where the replica is, after each tick. Tables and loops of the store read it.
func (r *Replica) tellStats() {
	first, _ := r.raftLog.FirstIndex()
	last, _ := r.raftLog.LastIndex()
	r.tooLong.Store(r.raftLog.size.keep(r.store.opts.KeepBytes) != 0)
	old := r.stats.Load()
	if old.Term == r.soft.term && old.Applied == r.applied.index && old.Last == last && old.First == first &&
		old.State == r.soft.state && old.Lead == r.lease.hint() && !r.leading() {
		return
	}
	s := &replicaStats{
		Term: r.soft.term, Applied: r.applied.index, Committed: r.rn.BasicStatus().GetCommit(), Last: last, First: first,
		State: r.soft.state, Lead: r.lease.hint(),
	}
	if r.leading() {
		s.Match = r.matches()
	}
	r.stats.Store(s)
}
