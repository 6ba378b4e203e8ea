package replica

import (
	"slices"
	"time"

	"go.etcd.io/raft/v3"

	"github.com/longitude-db/longitude/internal/kv"
)

// A lease is handed over so that nobody waits for its end:
//
//	1  stop serving, for good in this term (L4)
//	2  latch everything: requests that were let in before are done
//	3  commit a command with a low water no lower than anything served (L3), and perhaps a new Preferred
//	4  Raft's transfer: a follower that has the whole log campaigns at once; support does not stop its votes
//
// Without 1 and 2 a read could be served after 3, above the low water, and the next leader could write below it. Without 3
// the next leader's latest might be below what was served, since T is not past. Once 1 is done there is no way back: if
// the first target fails, others are tried until one of them leads.
type handover struct {
	target kv.NodeID
	tried  int
}

// transferLease serves AdminRequest.TransferLease. With prefer the descriptor says from now on where the range should lead.
func (r *Replica) transferLease(target kv.NodeID, prefer bool) *kv.Error {
	limit := r.store.opts.RequestLimit
	if !r.admin.lock(limit) {
		return kv.Errorf(kv.ErrUnavailable, "another change of the range is under way")
	}
	unlock := true
	defer func() {
		if unlock {
			r.admin.unlock()
		}
	}()
	view, kerr := r.lease.check(r.lease.servedSoFar())
	if kerr != nil {
		return kerr
	}
	d := r.desc.Load()
	if m, ok := d.On(target); !ok || m.Learner {
		return kv.Errorf(kv.ErrInternal, "node %d has no voting replica of %s", target, d)
	}
	if target == r.store.opts.Node {
		if !prefer || d.Preferred == target {
			return nil
		}
		cmd := command{Term: view.term, Generation: d.Generation, Desc: preferring(d, target)}
		return r.proposeWait(&proposal{cmd: cmd}, func(*kv.Error) {})
	}
	r.lease.change(func(l *leaseCore) { // 1
		if l.term == view.term {
			l.stop()
		}
	})
	r.store.opts.Metrics.Transfers.Inc()
	r.log.Debug("stops serving, to hand over", "to", target, "term", view.term)
	over := r.store.opts.RT.NewSignal()
	r.store.tasks.Go("handover", func() {
		defer r.admin.unlock()
		r.handOverUntilDone(view.term, target, prefer)
		over.Fire()
	})
	unlock = false
	if !over.Wait(limit) {
		return kv.Errorf(kv.ErrAmbiguous, "the lease is being handed over to node %d", target)
	}
	return nil
}

// handOverUntilDone does not give up: a leader that has stopped serving must cease to lead.
func (r *Replica) handOverUntilDone(term uint64, target kv.NodeID, prefer bool) {
	committed := false
	for !r.store.stopped() && r.quarantined.Load() == nil {
		if now, leads := r.lease.leads(); !leads || now != term {
			return
		}
		if !committed {
			e := r.handOver(term, target, prefer)
			committed = e == nil
			if e != nil {
				r.log.Info("handing over", "to", target, "err", e)
			}
		}
		r.store.opts.RT.Sleep(r.store.opts.Tick / 4)
	}
}

// handOver is steps 2 and 3. What comes after happens in the range's task, even if nobody waits any more.
func (r *Replica) handOver(term uint64, target kv.NodeID, prefer bool) *kv.Error {
	guard, err := r.latches.Acquire(everything, r.store.opts.RequestLimit)
	if err != nil {
		return kv.Errorf(kv.ErrUnavailable, "requests are still under way")
	}
	r.log.Debug("has ended what it served", "term", term)
	d := r.desc.Load()
	p := &proposal{cmd: command{Term: term, Generation: d.Generation, LowWater: r.served()}}
	if prefer && d.Preferred != target {
		p.cmd.Desc = preferring(d, target)
	}
	return r.proposeWait(p, func(e *kv.Error) {
		guard.Release()
		if e == nil && r.leading() && r.soft.term == term {
			r.log.Debug("its low water is committed", "to", target, "term", term)
			r.handover = &handover{target: target}
			r.queue.Push(handNow{})
		}
	})
}

func preferring(d *kv.RangeDescriptor, target kv.NodeID) *kv.RangeDescriptor {
	n := *d
	n.Generation++
	n.Preferred = target
	n.Replicas = slices.Clone(d.Replicas)
	return &n
}

// handNow begins step 4 at once.
type handNow struct{}

func (handNow) handle(r *Replica) { r.pushHandover() }

// pushHandover goes on with step 4: Raft gives a target some ticks, then it is another one's turn.
func (r *Replica) pushHandover() {
	h := r.handover
	if h == nil || !r.leading() || r.rn.BasicStatus().LeadTransferee != raft.None {
		return
	}
	d := r.desc.Load()
	nodes := slices.DeleteFunc(votersOf(d), func(n kv.NodeID) bool {
		return n == r.store.opts.Node || !r.store.opts.Cluster.Serves(n)
	})
	to := h.target
	if h.tried > 1 && len(nodes) > 0 {
		to = nodes[h.tried%len(nodes)]
	}
	h.tried++
	if m, ok := d.On(to); ok {
		r.rn.TransferLeader(uint64(m.ID))
	}
}

// leads reports whether this replica leads, and in which term.
func (l *leaseUse) leads() (term uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.term, l.core.term != 0
}

// HandOverLeases is what Stop does first, for a node that is about to stop and still serves its clients meanwhile.
func (s *Store) HandOverLeases(limit time.Duration) {
	if !s.stopped() {
		s.drain(limit)
	}
}

// drain hands over all leases: the node is about to stop.
func (s *Store) drain(limit time.Duration) {
	end := s.opts.RT.Now() + limit
	for _, r := range s.ranges.all() {
		if _, ok := r.lease.holds(); !ok {
			continue
		}
		if to := r.successor(); to != 0 {
			s.tasks.Go("drain", func() { r.transferLease(to, false) })
		}
	}
	for s.opts.RT.Now() < end && slices.ContainsFunc(s.ranges.all(), func(r *Replica) bool {
		_, leads := r.lease.leads()
		return leads && r.successor() != 0
	}) {
		s.opts.RT.Sleep(s.opts.Tick / 2)
	}
}

// successor is the voter that can serve and whose log is longest; 0: there is none.
func (r *Replica) successor() (to kv.NodeID) {
	d, st := r.desc.Load(), r.stats.Load()
	if d == nil || r.quarantined.Load() != nil {
		return 0
	}
	var best uint64
	for _, m := range d.Replicas {
		if match := st.Match[m.ID]; !m.Learner && m.Node != r.store.opts.Node && r.store.opts.Cluster.Serves(m.Node) && match > best {
			to, best = m.Node, match
		}
	}
	return to
}
