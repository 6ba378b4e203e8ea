package txn

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

const (
	// maxJobs is how many finished transactions may wait for their intents to be resolved. What does not fit is left to
	// whoever meets the intents, and to the collector of records.
	maxJobs = 4096
	// maxRounds is how many rounds of resolving may be under way: one that hangs on a dead node must not hold the rest up.
	maxRounds = 16
	// cleanupLimit is how long a round is tried.
	cleanupLimit = 10 * time.Second
	// heartbeatEvery is well below the time (3 s) after which a transaction counts as abandoned.
	heartbeatEvery = time.Second
)

// job is a finished transaction whose intents are to be resolved.
type job struct {
	txn    kv.TxnID
	age    clock.Timestamp
	anchor kv.Key
	keys   []kv.Key
	// Of a large transaction: its other intents, and what goes into its record.
	spans   []kv.Span
	seq     uint64
	ignored []kv.SeqRange
	// Staged: it is committed, its record does not say so yet. Pending: not known; it is aborted unless its record says
	// otherwise.
	status kv.TxnStatus
}

// cleanup resolves intents in the background: all that has gathered goes out in one parallel round.
type cleanup struct {
	db     *DB
	q      *rt.Queue[job]
	tasks  *rt.Group
	rounds atomic.Int64
	closed atomic.Bool
}

func newCleanup(db *DB) *cleanup {
	c := &cleanup{db: db, q: rt.NewQueue[job](db.o.RT, maxJobs), tasks: rt.NewGroup(db.o.RT)}
	c.tasks.Go("txn-cleanup", func() {
		for {
			jobs, open := c.q.Take(rt.Forever)
			if !open {
				return
			}
			if len(jobs) == 0 {
				continue
			}
			if c.rounds.Load() >= maxRounds {
				c.round(jobs)
				continue
			}
			c.rounds.Add(1)
			c.tasks.Go("txn-resolve", func() {
				defer c.rounds.Add(-1)
				c.round(jobs)
			})
		}
	})
	return c
}

func (c *cleanup) add(j job) {
	if !c.q.Push(j) {
		c.db.m.Cleanups.WithLabelValues("left").Inc()
	}
}

func (c *cleanup) close(limit time.Duration) {
	c.closed.Store(true)
	c.q.Close()
	c.tasks.Wait(limit)
}

func (c *cleanup) round(jobs []job) {
	ctx := route.WithDeadline(context.Background(), c.db.o.RT.Now()+cleanupLimit)
	c.settle(ctx, jobs)
	var reqs []route.Addressed
	for i := range jobs {
		j := &jobs[i]
		if !j.status.State.Final() {
			c.db.m.Cleanups.WithLabelValues("left").Inc()
			continue
		}
		if len(j.spans) > 0 {
			c.large(*j)
		}
		if len(j.keys) > 0 {
			reqs = append(reqs, route.Addressed{Request: kv.Request{Resolve: &kv.ResolveRequest{Txn: j.txn, Status: j.status, Keys: j.keys}}})
		}
	}
	failed := make([]bool, len(reqs))
	for _, res := range c.db.o.Router.Spread(ctx, reqs) {
		failed[res.Index] = failed[res.Index] || res.Err != nil
	}
	for _, f := range failed {
		outcome := "resolved"
		if f {
			outcome = "left"
		}
		c.db.m.Cleanups.WithLabelValues(outcome).Inc()
	}
}

// settle makes the records of the jobs say how their transactions ended. Only then are their intents resolved: whoever
// recovers a staged transaction takes an intent that is not there for a write that has not landed.
func (c *cleanup) settle(ctx context.Context, jobs []job) {
	var reqs []route.Addressed
	var of []*job
	now, _ := c.db.o.Now()
	for i := range jobs {
		j := &jobs[i]
		if j.status.State.Final() {
			continue
		}
		q := &kv.EndTxnRequest{Txn: j.txn, Start: j.age, Anchor: j.anchor, Now: now.Earliest, Intents: j.keys,
			Seq: j.seq, Spans: j.spans, Ignored: j.ignored}
		if j.status.State == kv.Staged {
			q.Commit, q.CommitTS = true, j.status.CommitTS
		}
		of = append(of, j)
		reqs = append(reqs, route.Addressed{Key: j.anchor, Request: kv.Request{EndTxn: q}})
	}
	if len(reqs) == 0 {
		return
	}
	for i, res := range c.db.o.Router.DoMany(ctx, reqs) {
		j := of[i]
		st := kv.TxnStatus{State: kv.Aborted}
		switch {
		case res.Err == nil && res.Response.EndTxn != nil:
			st = *res.Response.EndTxn
		case res.Err != nil && res.Err.Code == kv.ErrAborted:
		case res.Err != nil && res.Err.Code == kv.ErrRetryAt && j.status.State == kv.Staged:
			st.State = kv.Pending // again: as impossible as aborted
		default:
			continue
		}
		if j.status.State == kv.Staged && (st.State != kv.Committed || st.CommitTS != j.status.CommitTS) {
			// P3 and P4 hold if leases do. HAZARD: they may not if a clock is outside its bound.
			c.db.m.Cleanups.WithLabelValues("contradicted").Inc()
			c.db.log.Error("a transaction was acknowledged as committed, and its record says otherwise: has a clock been outside its bound?",
				"txn", j.txn.String(), "committed at", j.status.CommitTS, "record", st.State, "at", st.CommitTS)
		}
		if st.State.Final() {
			j.status = st
		}
	}
}

// keepAlive tells the record, while a commit takes long, or a large transaction is under way, that its coordinator is at it.
func (t *Txn) keepAlive(anchor kv.Key) (stop func()) {
	var over atomic.Bool
	var beat func()
	beat = func() {
		if over.Load() {
			return
		}
		t.beat(context.Background(), anchor)
		if !over.Load() && !t.db.cleanup.closed.Load() {
			t.db.o.RT.After(heartbeatEvery, beat)
		}
	}
	cancel := t.db.o.RT.After(heartbeatEvery, beat)
	return func() {
		over.Store(true)
		cancel()
	}
}
