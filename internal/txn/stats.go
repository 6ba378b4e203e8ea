package txn

import (
	"sync"
	"time"
)

// Stats is a snapshot of what a DB has done since it was opened.
type Stats struct {
	Commits   uint64 // read-only ones included
	ReadOnly  uint64 // commits that had nothing to write
	OnePhase  uint64 // commits of one range
	Parallel  uint64 // commits of several ranges in one round
	Spilled   uint64 // attempts that laid intents before their commit
	Aborts    uint64 // attempts that ended without a commit
	Restarts  map[string]uint64
	Uncertain Uncertain
	// CommitWait is rule 2 at commits, ReadWait rule 2 before rows leave (Release).
	CommitWait, ReadWait WaitStats
}

// Uncertain counts the times that a version within the uncertainty limit moved a transaction's read timestamp.
type Uncertain struct {
	Refreshed uint64 // in place: by the leaseholder, or by a refresh of what was read
	Retried   uint64 // by starting the transaction again
}

// WaitStats sums up waits of rule 2.
type WaitStats struct {
	Count          uint64
	Needed, Actual time.Duration // see Metrics
}

// Hidden is the share of the wait that ran inside other work; 1 if there was nothing to wait for.
func (w WaitStats) Hidden() float64 {
	if w.Needed <= 0 {
		return 1
	}
	return max(0, 1-float64(w.Actual)/float64(w.Needed))
}

// Sub is what was added since the earlier snapshot o.
func (s Stats) Sub(o Stats) Stats {
	s.Commits -= o.Commits
	s.ReadOnly -= o.ReadOnly
	s.OnePhase -= o.OnePhase
	s.Parallel -= o.Parallel
	s.Spilled -= o.Spilled
	s.Aborts -= o.Aborts
	restarts := make(map[string]uint64, len(s.Restarts))
	for reason, n := range s.Restarts {
		restarts[reason] = n - o.Restarts[reason]
	}
	s.Restarts = restarts
	s.Uncertain.Refreshed -= o.Uncertain.Refreshed
	s.Uncertain.Retried -= o.Uncertain.Retried
	s.CommitWait = s.CommitWait.sub(o.CommitWait)
	s.ReadWait = s.ReadWait.sub(o.ReadWait)
	return s
}

func (w WaitStats) sub(o WaitStats) WaitStats {
	return WaitStats{Count: w.Count - o.Count, Needed: w.Needed - o.Needed, Actual: w.Actual - o.Actual}
}

// counters is the live form of Stats.
type counters struct {
	mu         sync.Mutex
	s          Stats
	commitWait waitCounter
	readWait   waitCounter
}

type waitCounter struct {
	mu sync.Mutex
	w  WaitStats
}

func (c *waitCounter) add(needed, actual time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w.Count++
	c.w.Needed += needed
	c.w.Actual += actual
}

func (c *waitCounter) get() WaitStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w
}

// Stats returns what the DB has done so far.
func (db *DB) Stats() Stats {
	db.stats.mu.Lock()
	s := db.stats.s
	s.Restarts = make(map[string]uint64, len(db.stats.s.Restarts))
	for k, v := range db.stats.s.Restarts {
		s.Restarts[k] = v
	}
	db.stats.mu.Unlock()
	s.CommitWait, s.ReadWait = db.stats.commitWait.get(), db.stats.readWait.get()
	return s
}

func (db *DB) countCommit(kind string) {
	db.m.Commits.WithLabelValues(kind).Inc()
	db.stats.mu.Lock()
	defer db.stats.mu.Unlock()
	db.stats.s.Commits++
	switch kind {
	case kindReadOnly:
		db.stats.s.ReadOnly++
	case kindOnePhase:
		db.stats.s.OnePhase++
	case kindParallel:
		db.stats.s.Parallel++
	}
}

func (db *DB) countSpilled() {
	db.m.Spilled.Inc()
	db.stats.mu.Lock()
	defer db.stats.mu.Unlock()
	db.stats.s.Spilled++
}

func (db *DB) countAbort() {
	db.m.Aborts.Inc()
	db.stats.mu.Lock()
	defer db.stats.mu.Unlock()
	db.stats.s.Aborts++
}

func (db *DB) countRestart(reason string) {
	db.m.Restarts.WithLabelValues(reason).Inc()
	db.stats.mu.Lock()
	defer db.stats.mu.Unlock()
	if db.stats.s.Restarts == nil {
		db.stats.s.Restarts = map[string]uint64{}
	}
	db.stats.s.Restarts[reason]++
}

func (db *DB) countUncertain(refreshed bool) {
	outcome := "retried"
	db.stats.mu.Lock()
	defer db.stats.mu.Unlock()
	if refreshed {
		outcome = "refreshed"
		db.stats.s.Uncertain.Refreshed++
	} else {
		db.stats.s.Uncertain.Retried++
	}
	db.m.Uncertain.WithLabelValues(outcome).Inc()
}
