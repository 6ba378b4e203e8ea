package replica

import (
	"sync"
	"sync/atomic"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
)

// leaseUse is the lease as requests see it. The range's task moves the core on; requests read a view that is replaced as a
// whole, and look at the support again only when the view's T is near. Any task may use it.
type leaseUse struct {
	cluster  *cluster.Cluster
	clock    *clock.Clock
	node     kv.NodeID
	voters   func() []kv.NodeID
	metrics  *Metrics
	lost     func() // called when the lease ends or begins; it does not block
	stalled  func() string
	early    bool // Unsafe.EarliestLease
	uncapped bool // Unsafe.ExcludeUncapped

	mu   sync.Mutex
	core leaseCore

	view   atomic.Pointer[leaseView]
	served eval.Highest  // that any request may have been served at that leaves no marks in the timestamp cache (L3)
	leader atomic.Uint32 // node of the leader, as far as it is known; a hint
}

// leaseView is a lease at one moment.
type leaseView struct {
	term  uint64
	until clock.Instant
	low   clock.Timestamp // no lower than anything served before this lease began
}

func newLeaseUse(s *Store, voters func() []kv.NodeID) *leaseUse {
	l := &leaseUse{cluster: s.opts.Cluster, clock: s.opts.Clock, node: s.opts.Node, voters: voters, metrics: s.opts.Metrics, stalled: s.Stalled, early: s.opts.Unsafe.EarliestLease, uncapped: s.opts.Unsafe.ExcludeUncapped}
	l.core.self = s.opts.Node
	return l
}

// check lets a request be served at ts, or says why not (L2). The caller holds its latches. What it reads or writes under
// them is then in order with every other lease of the range, however long it takes: another can begin only when true time
// is past T, or with a low water above ts.
func (l *leaseUse) check(ts clock.Timestamp) (*leaseView, *kv.Error) { return l.checkAs(ts, ts) }

// checkAs is check for a request of which only what is at or below global counts as served for every key. For the rest it
// leaves marks in the timestamp cache before it releases its latches. That is as good: who hands the lease on, or splits the range,
// waits for all latches and passes the marks on; a write under a later lease of this replica waits for the latches on its
// keys, and meets the marks.
func (l *leaseUse) checkAs(ts, global clock.Timestamp) (*leaseView, *kv.Error) {
	now, err := l.reading()
	if err != nil {
		return nil, kv.Errorf(kv.ErrFenced, "node %d does not know the time well enough: %v", l.node, err)
	}
	v := l.view.Load()
	if v != nil && !v.serves(now, ts) {
		l.refresh()
		v = l.view.Load()
	}
	if v == nil {
		return nil, l.notLeaseholder()
	}
	if !v.serves(now, ts) {
		l.metrics.LeaseRefused.Inc()
		if why := l.stalled(); why != "" {
			return nil, kv.Errorf(kv.ErrUnavailable, "node %d lets its lease of term %d run out: %s", l.node, v.term, why)
		}
		if now.Before(v.until) { // it leads, and will serve this in a moment
			e := kv.Errorf(kv.ErrTooEarly, "node %d's lease of term %d ends at %d, and its latest is %d", l.node, v.term, v.until, now.Latest)
			e.Leaseholder, e.TS = l.node, ts
			return nil, e
		}
		return nil, kv.Errorf(kv.ErrUnavailable, "lease of term %d ended at %d: too late for %s at latest %d", v.term, v.until, ts, now.Latest)
	}
	// First served, then the view again: a lease that begins anew on this replica takes the view away first and reads
	// served then, so one of the two sees the other: whichever comes second to the lock of served.
	l.serve(global)
	if again := l.view.Load(); again == nil || again.term != v.term {
		return nil, l.notLeaseholder()
	}
	if !v.serves(now, ts) { // L2, after the fact
		panic("replica: served beyond the lease")
	}
	return v, nil
}

// reading is what leases are held against.
func (l *leaseUse) reading() (clock.Interval, error) {
	now, err := l.clock.Now()
	if l.early {
		now.Latest = now.Earliest
	}
	return now, err
}

// serves is L2.
func (v *leaseView) serves(now clock.Interval, ts clock.Timestamp) bool {
	return now.Before(v.until) && ts.Wall < int64(v.until)
}

func (l *leaseUse) notLeaseholder() *kv.Error {
	e := kv.Errorf(kv.ErrNotLeaseholder, "node %d does not hold the lease", l.node)
	e.Node, e.Leaseholder = l.node, kv.NodeID(l.leader.Load())
	if e.Leaseholder == l.node {
		e.Code = kv.ErrUnavailable // elected, and about to serve; or handing over to nobody known yet
		e.Msg = "the lease is about to begin, or being handed over"
		e.Leaseholder = 0
	}
	return e
}

// servedSoFar is the highest timestamp that this replica may have served, but for what is in the timestamp cache.
func (l *leaseUse) servedSoFar() clock.Timestamp { return l.served.Get() }

// serve raises what counts as served.
func (l *leaseUse) serve(ts clock.Timestamp) { l.served.Forward(ts) }

// change moves the core on and replaces the view.
func (l *leaseUse) change(fn func(*leaseCore)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(&l.core)
	l.publish()
}

// refresh looks at the support again.
func (l *leaseUse) refresh() { l.change(func(*leaseCore) {}) }

func (l *leaseUse) publish() {
	old := l.view.Load()
	if l.core.term == 0 || !l.core.serving || l.core.stopped {
		l.view.Store(nil)
		if old != nil && l.lost != nil {
			l.lost()
		}
		return
	}
	v := &leaseView{term: l.core.term, low: l.core.low, until: l.core.until(l.voters(), l.cluster.SupportFrom)}
	if old == nil || *old != *v {
		l.view.Store(v)
	}
	if termOf(old) != v.term && l.lost != nil { // what was locked under another term means nothing
		l.lost()
	}
}

// answered notes a voter's answer.
func (l *leaseUse) answered(from kv.NodeID, term uint64, since clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.core.answered(from, term, since) {
		l.publish()
	}
}

// over reports whether everything that this replica ever served is safe from a lease that another begins now. With giveUp
// the lease, if there is one, ends in the same step: the caller is about to vote against it.
func (l *leaseUse) over(giveUp bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.clock.Now() // inside the lock: nobody may prolong the lease between the reading and giving up
	if err != nil || !now.Passed(l.core.used) {
		return false
	}
	if giveUp {
		l.core.follow()
		l.publish()
	}
	return true
}

// holds reports whether a lease can be used right now, and its term.
func (l *leaseUse) holds() (term uint64, ok bool) {
	now, err := l.reading()
	if err != nil {
		return 0, false
	}
	v := l.view.Load()
	if v != nil && !now.Before(v.until) {
		l.refresh()
		v = l.view.Load()
	}
	return termOf(v), v != nil && now.Before(v.until)
}

// begun reports whether the lease of the present term has begun, whatever became of it.
func (l *leaseUse) begun() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.serving
}

func termOf(v *leaseView) uint64 {
	if v == nil {
		return 0
	}
	return v.term
}

// hint is the leaseholder as far as this replica knows.
func (l *leaseUse) hint() kv.NodeID { return kv.NodeID(l.leader.Load()) }
