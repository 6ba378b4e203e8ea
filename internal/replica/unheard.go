package replica

import (
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// A leader that can be heard but hears nobody must not keep its range. It happens where connections to a node fail and those
// from it do not: a wrong advertised address, a firewall, a listener out of file descriptors. Its heartbeats would keep its
// followers from campaigning, and its asks would keep their stores bound to it, while their answers, on which its own lease
// rests, never reach it.
//
//   - A store asks for the support of those peers only that it hears (package cluster, P8).
//   - A leader that does not hear a quorum of its voters does not tick: its followers hear nothing of it, and elect another once
//     the support has expired. It is not asked to forget that it leads: if nobody was elected when the quorum is heard again, it
//     goes on.
//
// And the other way round: what is known of a leader's store makes followers campaign without waiting for its silence.

// hearsQuorum reports whether the stores of a quorum of the voters are heard, this one included.
func (r *Replica) hearsQuorum() bool {
	d := r.desc.Load()
	if d == nil || r.store.opts.Unsafe.KeepTicking {
		return true
	}
	heard, voters := 0, 0
	for _, m := range d.Replicas {
		if m.Learner {
			continue
		}
		voters++
		if r.store.opts.Cluster.Hears(m.Node) {
			heard++
		}
	}
	hears := heard > voters/2
	if hears == r.unheard {
		r.unheard = !hears
		if hears {
			r.log.Info("hears a quorum of its voters again, and goes on leading", "term", r.soft.term)
		} else {
			r.store.opts.Metrics.Unheard.Inc()
			r.log.Warn("leads its range but hears no quorum of its voters: it falls silent, so that they can elect another leader",
				"term", r.soft.term, "heard", heard, "voters", voters,
				"hint", "messages from this node may arrive although those to it do not: check its advertised address, firewalls, and open files")
		}
	}
	return hears
}

// suspects reports whether there is evidence that the leader that this replica follows has stopped, or
// does not use the lease of this range any more.
func (r *Replica) suspects(lead kv.NodeID) bool {
	if lead == 0 || lead == r.store.opts.Node {
		return false
	}
	_, excluded := r.excludedBy(lead)
	return excluded || r.store.opts.Cluster.Suspected(lead)
}

// suspect tells the ranges that a node leads, or led when they last heard of it, that there is evidence against it.
func (s *Store) suspect(id kv.NodeID) {
	if s.stopped() {
		return
	}
	for _, r := range s.ranges.all() {
		if r.stats.Load().Lead == id {
			r.queue.Push(leaderSuspected{})
		}
	}
}

// leaderSuspected wakes a follower: it campaigns when the support of its leader has expired, and not at some later tick.
type leaderSuspected struct{}

func (ev leaderSuspected) handle(r *Replica) {
	if r.hurrying {
		return // one of them is enough
	}
	ev.again(r)
}

// hurryOn is the next look.
type hurryOn struct{}

func (hurryOn) handle(r *Replica) {
	r.hurrying = false
	leaderSuspected{}.again(r)
}

func (leaderSuspected) again(r *Replica) {
	if r.leading() || r.voter.lead == 0 || !r.suspects(r.voter.lead) {
		return
	}
	if _, excluded := r.excludedBy(r.voter.lead); excluded {
		r.prefer.rest = preferRest // if it is the preferred one, it is not to have the lease back at once
	}
	tried := r.election.tries
	r.campaign()
	if r.leading() || r.election.tries >= maxHurried {
		return
	}
	wait := r.releaseIn(r.voter.lead)
	switch at := r.election.at; {
	case at != 0:
		wait = max(wait, at-r.store.opts.RT.Now())
	case r.election.tries > tried:
		wait = max(wait, r.election.stagger/2)
	case wait == 0:
		// No support binds this replica, and it may not campaign: it is a learner, its clock gives no readings, or it led
		// itself. Nothing of that passes soon.
		wait = r.store.opts.Tick
	}
	r.hurrying = true
	r.store.opts.RT.After(max(wait, time.Millisecond), func() { r.queue.Push(hurryOn{}) })
}
