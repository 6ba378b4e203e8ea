package replica

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// A range can stand still on a store that is well: its task waits for something that does not come, or its replica is quarantined.
// Its leader then sends nothing and applies nothing, but the store renews its support for the sake of all other ranges, so nobody
// could be elected in its place. The task itself can do nothing about it. So the task of the ticks looks after all ranges
// (Store.watch): a leader whose task has been in one turn for longer than ProgressLimit, or that is quarantined,
//
//  1. loses its lease, for good in this term: what it may have relied on so far is frozen at leaseCore.used;
//  2. is excluded, until that instant, from what the support of this store is for (cluster P9). Its followers are free to elect
//     another leader once the instant is past, and do not wait until they take it for silent.
// A replica that has led before, and stands still after its lead has ended, says the same of its last term: those that answered
// it last may be bound to its store still, because nobody was elected since, and it cannot free them by campaigning.
//
// If it can go on before another has been elected, it still leads in Raft, and serves nothing: it hands over (resign).
//
// Nothing about safety rests on what is taken for standing still: the lease ends first. A turn that is merely long, as one that
// applies 64 MiB, costs the range an election.

// progress is what a range's task shows of itself.
type progress struct {
	turn     atomic.Int64 // when the turn that is under way began, 0: none is; in the runtime's time, plus one
	applying atomic.Int64 // the same of a batch on its way into state
	// What only the task of the ticks uses: the turn that it saw last, and in how many ticks.
	seen    int64
	applied uint64
	ticks   int
	waits   waits
	said    uint64 // the term of the exclusion that was said; 0: none
}

func begin(at *atomic.Int64, now time.Duration) { at.Store(int64(now) + 1) }

// exclude ends the lease for good in its term, if there is one, and returns the last term in which this replica led and what it has relied
// on. ok is false if it never led.
func (l *leaseUse) exclude() (term uint64, until clock.Instant, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.core.term != 0 && !l.uncapped {
		l.core.exclude()
		l.publish()
	}
	return l.core.led, l.core.used, l.core.led != 0
}

// endForGood ends the lease for good in its term, if there is one, and returns what this process has relied on in any term.
func (l *leaseUse) endForGood() (used clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.core.term != 0 && !l.uncapped {
		l.core.exclude()
		l.publish()
	}
	return l.core.used
}

// exclude ends serving for good in this term, and freezes what this replica has relied on (cluster P9).
func (l *leaseCore) exclude() {
	l.stop()
	l.excluded = true
	l.cap = l.used
}

// checkExcluded is the other half of P9: what was said of the lease of this term holds.
func (l *leaseCore) checkExcluded(t clock.Instant) {
	if l.excluded && t > l.cap {
		panic(fmt.Sprintf("replica: P9: a lease of term %d, excluded until %d, is used until %d", l.term, l.cap, t))
	}
}

// watch looks after the ranges that stand still. It is called with each tick.
func (s *Store) watch() {
	oldest := int64(0)
	for _, r := range s.ranges.all() {
		if at := r.progress.applying.Load(); at != 0 && (oldest == 0 || at < oldest) {
			oldest = at
		}
		r.watch()
	}
	s.applying.Store(oldest)
}

func (r *Replica) watch() {
	p := &r.progress
	if q := r.quarantined.Load(); q != nil { // Q3
		// What was said of this term because the task stood still was said by its leader, which had waited for all that the
		// process before may have relied on.
		if q.owed.Term > p.said {
			p.said = q.owed.Term
			r.store.opts.Cluster.Exclude(q.owed)
			r.store.opts.Metrics.Excluded.Inc()
		}
		return
	}
	at, applied := p.turn.Load(), r.appliedIndex.Load()
	if at == 0 || at != p.seen || applied != p.applied { // a turn that applies a long log makes progress
		p.seen, p.applied, p.ticks = at, applied, 0
	} else {
		p.ticks++ // that time passed is not enough: the process may have been stopped
	}
	limit := r.store.opts.ProgressLimit
	stands := p.ticks > 0 && time.Duration(p.ticks)*r.store.opts.Tick >= limit && r.store.opts.RT.Now()-time.Duration(at-1) >= limit
	term, leads := r.lease.leads()
	why, mired := "", false
	if leads {
		why, mired = r.isMired()
	}
	switch {
	case p.said != 0 && (leads && term != p.said || !leads && !stands):
		p.said = 0
		r.store.opts.Cluster.Include(r.id)
	case p.said != 0 && leads && !stands:
		r.startResigning(p.said)
	case p.said == 0 && stands && r.replaceable():
		r.exclude(fmt.Sprintf("its task has been in one turn for %s", limit))
	case p.said == 0 && mired && r.replaceable():
		r.exclude(why)
	}
}

// exclude is 1 and 2.
func (r *Replica) exclude(why string) {
	term, until, ok := r.lease.exclude()
	if !ok {
		return
	}
	r.progress.said = term
	r.store.opts.Cluster.Exclude(kv.Exclusion{Range: r.id, Term: term, Until: until})
	r.store.opts.Metrics.Excluded.Inc()
	r.log.Error("a range makes no progress here: its lease, if this node has it, ends, so that another replica can lead", "why", why, "term", term,
		"hint", "if disk and network are well this is a bug: a dump of the goroutines (/debug/pprof/goroutine?debug=2) shows where the range's task stands")
}

// replaceable reports whether there is another voter.
func (r *Replica) replaceable() bool {
	d := r.desc.Load()
	return d != nil && d.Voters() > 1
}

// startResigning has a leader that can go on hand over: it serves nothing in its term.
func (r *Replica) startResigning(term uint64) {
	if r.successor() == 0 || !r.givingUp.CompareAndSwap(false, true) {
		return
	}
	r.store.tasks.Go("resign", func() {
		defer r.givingUp.Store(false)
		if !r.admin.lock(r.store.opts.RequestLimit) {
			return // the next tick tries again
		}
		defer r.admin.unlock()
		to := r.successor()
		if now, leads := r.lease.leads(); !leads || now != term || to == 0 {
			return
		}
		r.store.opts.Metrics.Transfers.Inc()
		r.log.Info("has given up its lease, and hands over", "to", to, "term", term)
		r.handOverUntilDone(term, to, false)
	})
}

// excludedBy reports whether the store of the leader that this replica last answered has said that it does not use that lease.
func (r *Replica) excludedBy(lead kv.NodeID) (until clock.Instant, ok bool) {
	return r.store.opts.Cluster.Excluded(lead, r.id, r.voter.term)
}

// excluded wakes the followers of ranges that a store has excluded.
func (s *Store) excluded(from kv.NodeID, ids []kv.RangeID) {
	if s.stopped() {
		return
	}
	for _, id := range ids {
		if r := s.ranges.get(id); r != nil {
			r.queue.Push(leaderSuspected{})
		}
	}
}

// releaseIn is how long it takes until this replica may vote against the leader that it last answered.
func (r *Replica) releaseIn(lead kv.NodeID) time.Duration {
	wait := r.store.opts.Cluster.WithdrawableIn(lead)
	if until, ok := r.excludedBy(lead); ok {
		if now, err := r.store.opts.Clock.Now(); err == nil {
			wait = min(wait, max(0, until.Sub(now.Earliest)+1))
		}
	}
	return wait
}
