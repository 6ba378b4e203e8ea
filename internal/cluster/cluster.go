package cluster

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// Options of a Cluster.
type Options struct {
	RT        rt.Runtime
	Clock     *clock.Clock
	Transport kv.Transport
	Self      kv.NodeInfo
	// Nodes are those known from before: from the disk, or from who let us join. Addresses may be old.
	Nodes []kv.NodeInfo
	// Promise is L, how far ahead promises are asked for; default 2 s. Shorter: a failed node's ranges are served again
	// sooner, and a shorter pause or partition makes a leader lose its leases. It must be the same on all nodes.
	Promise time.Duration
	// Interval is the time between two heartbeats; default 250 ms, and at most a quarter of Promise.
	Interval time.Duration
	// Silence is after how long without a heartbeat what a node's process was to do is given up (Gone); default 5 intervals.
	// Shorter: what a dead coordinator left is out of the way sooner, and one that was only slow restarts its transactions.
	Silence time.Duration
	// Slack is by how much the durable high water is rounded up; default Promise. Longer: fewer syncs, but a node that
	// was killed waits longer before it votes.
	Slack time.Duration
	// HighWater is what Persist was last called with in an earlier process; 0 on a new store.
	HighWater clock.Instant
	// Persist makes the high water durable before it returns. It may be called from several tasks, one at a time.
	Persist func(highWater clock.Instant) error
	// NodesChanged, if set, is told the nodes whenever one is new or has started again, so that they can be kept for the
	// next start.
	NodesChanged func([]kv.NodeInfo)
	// Closed, if set, is called for each round of heartbeats, and what it returns for each peer: the closed timestamps that
	// travel with them.
	Closed func() func(to kv.NodeID) []kv.ClosedRange
	// Vote are the options of the vote on clocks; the zero value is right unless Interval is far from its default.
	Vote clock.VoteOptions
	// Fenced, if set, is called when a majority of the nodes has come to disprove our clock, after it has been fenced. It
	// must not block.
	Fenced func()
	// Stalled, if set, says why this store can do no work at present; "": it can (P7). It must not block.
	Stalled func() string
	// Unsafe is for negative controls alone.
	Unsafe  Unsafe
	Metrics *Metrics
	Log     *slog.Logger
}

// Unsafe turns rules off. It is for tests only: for the negative controls, which show that the checkers find what each
// rule prevents. No flag and no setting leads here.
type Unsafe struct {
	// BreakPromises: this store votes against others although it promised not to (P1), and says nothing of it (P3).
	BreakPromises bool
	// NoFence: a clock that a majority disproves goes on being used (P6).
	NoFence bool
}

func (o *Options) fill() error {
	if o.RT == nil || o.Clock == nil || o.Transport == nil || o.Persist == nil || o.Self.ID == 0 {
		return errors.New("cluster: RT, Clock, Transport, Persist and Self.ID are needed")
	}
	if o.Promise == 0 {
		o.Promise = 2 * time.Second
	}
	if o.Interval == 0 {
		o.Interval = 250 * time.Millisecond
	}
	o.Interval = min(o.Interval, o.Promise/4)
	if o.Silence == 0 {
		o.Silence = 5 * o.Interval
	}
	if o.Slack == 0 {
		o.Slack = o.Promise
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Cluster is the shell around the two cores: it reads the clock, sends, and makes the high water durable.
type Cluster struct {
	opts Options

	mu        sync.Mutex // never held over I/O
	promises  *promises
	gossip    *gossip
	vote      *clock.Vote
	onSupport []func()
	stopped   bool
	stalled   bool // when it beat last

	began time.Duration // on the runtime's clock; before that nobody was heard

	fenceMu   sync.Mutex // orders decisions about the clock's fence; held over nothing that blocks
	persistMu sync.Mutex // one Persist at a time; held over the sync, not over a wait of the runtime
}

// New makes a Cluster; Start sets it going.
func New(o Options) (*Cluster, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Cluster{
		opts:     o,
		began:    o.RT.Now(),
		promises: newPromises(o.Promise, o.Slack, o.HighWater),
		gossip:   newGossip(o.Self, o.Nodes),
		vote:     clock.NewVote(uint32(o.Self.ID), o.Vote),
	}, nil
}

// Start begins the heartbeats.
func (c *Cluster) Start() {
	c.opts.RT.Go("cluster", func() {
		for c.beat() {
			c.opts.RT.Sleep(c.opts.Interval)
		}
	})
}

// Stop ends promising for good, and leaves the exact high water for the next start.
func (c *Cluster) Stop() error {
	now, err := c.opts.Clock.Now()
	c.persistMu.Lock()
	defer c.persistMu.Unlock()
	c.mu.Lock()
	done := c.stopped
	c.stopped = true
	mark := c.promises.close(now)
	c.mu.Unlock()
	if done || err != nil {
		return nil // the rounded high water on disk stays, which is safe
	}
	return c.opts.Persist(mark)
}

// beat sends one heartbeat to every peer, and asks ourselves. It reports whether to go on.
func (c *Cluster) beat() bool {
	c.judge()
	now, clockErr := c.opts.Clock.Now()
	claimed, disproved, _ := c.claim()
	stalled := c.isStalled()
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return false
	}
	var want clock.Instant
	if clockErr == nil && !stalled {
		want = c.promises.want(now)
	}
	c.mu.Unlock()
	closed := func(kv.NodeID) []kv.ClosedRange { return nil }
	if c.opts.Closed != nil {
		closed = c.opts.Closed()
	}
	c.mu.Lock()
	nodes, first, alive := c.gossip.list(), c.gossip.first, 0
	messages := make([]*kv.Message, 0, len(nodes))
	for _, n := range nodes {
		if c.aliveLocked(n.ID) {
			alive++
		}
		if n.ID != c.opts.Self.ID {
			g := c.promises.given[n.ID]
			messages = append(messages, &kv.Message{To: n.ID, Liveness: &kv.Liveness{Ask: want, Granted: g.Until, Since: g.Since, Nodes: nodes, First: first,
				ClaimedEarliest: claimed.Earliest, ClaimedLatest: claimed.Latest, Disproved: disproved}})
		}
	}
	c.mu.Unlock()
	c.opts.Metrics.Known.Set(float64(len(nodes)))
	c.opts.Metrics.Alive.Set(float64(alive))
	for _, m := range messages {
		m.Liveness.Closed = closed(m.To)
		c.opts.Transport.Send(m.To, m)
	}
	if want != 0 {
		c.handleAsk(c.opts.Self.ID, want)
	}
	return true
}

// isStalled is P7; it says so in the log when it begins and when it is over.
func (c *Cluster) isStalled() bool {
	why := ""
	if c.opts.Stalled != nil {
		why = c.opts.Stalled()
	}
	c.mu.Lock()
	was := c.stalled
	c.stalled = why != ""
	c.mu.Unlock()
	switch {
	case why != "" && !was:
		c.opts.Metrics.Stalled.Set(1)
		c.opts.Log.Error("this store can do no work: it lets its leases run out, so that other nodes serve its ranges", "why", why,
			"hint", "look at the disk (iostat, dmesg); it takes part again by itself when the disk does")
	case why == "" && was:
		c.opts.Metrics.Stalled.Set(0)
		c.opts.Log.Info("this store can work again")
	}
	return why != ""
}

// HandleLiveness takes in a peer's heartbeat.
func (c *Cluster) HandleLiveness(m *kv.Message) {
	lv := m.Liveness
	if m.From == 0 || m.From == c.opts.Self.ID {
		return
	}
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	changed := c.gossip.learn(m.From, lv.Nodes)
	c.gossip.setFirst(lv.First)
	c.gossip.heard[m.From] = c.opts.RT.Now()
	supported := lv.Granted != 0 && c.promises.granted(m.From, Support{Until: lv.Granted, Since: lv.Since})
	nodes := c.gossip.list()
	c.mu.Unlock()
	if changed && c.opts.NodesChanged != nil {
		c.opts.NodesChanged(nodes)
	}
	if supported {
		c.tellSupport()
	}
	c.hearClaim(m.From, lv)
	if lv.Ask != 0 {
		c.handleAsk(m.From, lv.Ask)
	}
}

// handleAsk gives the promise if the core allows it, after making the high water durable if it must.
func (c *Cluster) handleAsk(from kv.NodeID, t clock.Instant) {
	out, err := c.decide(from, t)
	if err != nil {
		return // a node that does not know the time promises nothing about it
	}
	if out.refused != nil {
		c.opts.Metrics.Refused.Inc()
		c.opts.Log.Warn("promise refused", "err", out.refused)
	}
	if out.persist != 0 {
		out = c.raise(out.persist)
	}
	c.deliver(out.grants)
}

// decide asks the core. The reading is inside the lock: P3 needs readings and decisions in one order.
func (c *Cluster) decide(from kv.NodeID, t clock.Instant) (output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.opts.Clock.Now()
	if err != nil {
		return output{}, err
	}
	return c.promises.ask(now, from, t), nil
}

// raise makes the high water durable at mark or above.
func (c *Cluster) raise(mark clock.Instant) output {
	c.persistMu.Lock()
	defer c.persistMu.Unlock()
	c.mu.Lock()
	durable, stopped := c.promises.durable, c.stopped
	c.mu.Unlock()
	if stopped {
		return output{}
	}
	if mark > durable {
		if err := c.opts.Persist(mark); err != nil {
			c.opts.Log.Error("high water of promises cannot be made durable; no promise is given", "err", err)
			return output{}
		}
		c.opts.Metrics.Synced.Inc()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.opts.Clock.Now()
	if err != nil {
		return output{}
	}
	return c.promises.persisted(now, max(mark, durable))
}

func (c *Cluster) deliver(grants []grant) {
	for _, g := range grants {
		c.opts.Metrics.Given.Inc()
		if g.to != c.opts.Self.ID {
			c.opts.Transport.Send(g.to, &kv.Message{To: g.to, Liveness: &kv.Liveness{Granted: g.Until, Since: g.Since}})
			continue
		}
		c.mu.Lock()
		changed := c.promises.granted(g.to, g.Support)
		c.mu.Unlock()
		if changed {
			c.tellSupport()
		}
	}
}
