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
	// Promise is L, how far ahead promises are asked for, to which twice the round trip to the farthest peer is added;
	// default 300 ms. Shorter: a failed node's ranges are served again sooner, and a shorter pause makes a leader wait for
	// its lease to be renewed. A lease that runs out is not a failover: that takes evidence (Suspected) or Silence.
	Promise time.Duration
	// Interval is the time between two heartbeats; default 50 ms, and at most a quarter of Promise.
	Interval time.Duration
	// GossipInterval is the time between two heartbeats that also carry the descriptions of the nodes and the closed
	// timestamps; default 250 ms, and at least Interval.
	GossipInterval time.Duration
	// Silence is after how long without a heartbeat a node is taken for dead: this store asks it for no promise any more,
	// requests go elsewhere, and what its process was to do is given up (Gone); default 1 s, and at least 5 intervals.
	// Shorter: ranges are served again sooner after a node has stopped or was cut off, and a process that merely stood
	// still loses its leases.
	Silence time.Duration
	// Slack is by how much the durable high water is rounded up; default 2 s. It is raised in the background when half of
	// it is used up, so that no promise waits for a slow disk. Longer: fewer syncs, but a node that was killed waits longer
	// before it votes.
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
	// AskUnheard: this store asks for the support of peers that it does not hear (P8).
	AskUnheard bool
	// NoSuspicion: no evidence hurries an election (Suspected).
	NoSuspicion bool
	// VoteByReadings: a conflict of readings, which a third clock may have caused, counts like one of claims (clock/F2).
	VoteByReadings bool
}

func (o *Options) fill() error {
	if o.RT == nil || o.Clock == nil || o.Transport == nil || o.Persist == nil || o.Self.ID == 0 {
		return errors.New("cluster: RT, Clock, Transport, Persist and Self.ID are needed")
	}
	def(&o.Promise, 300*time.Millisecond)
	def(&o.Interval, 50*time.Millisecond)
	o.Interval = min(o.Interval, o.Promise/4)
	def(&o.GossipInterval, 250*time.Millisecond)
	def(&o.Silence, time.Second)
	o.Silence = max(o.Silence, 5*o.Interval)
	def(&o.Slack, 2*time.Second)
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

func def(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Cluster is the shell around the two cores: it reads the clock, sends, and makes the high water durable.
type Cluster struct {
	opts Options

	mu         sync.Mutex // never held over I/O
	promises   *promises
	gossip     *gossip
	suspects   suspects
	exclusions exclusions
	trips      trips
	vote       *clock.Vote
	onSupport  []func()
	onSuspect  []func(kv.NodeID)
	onExcluded []func(kv.NodeID, []kv.RangeID)
	stopped    bool
	stalled    bool          // when it beat last
	raising    bool          // a task makes the high water durable
	mark       clock.Instant // how high it is to be raised

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
		opts:       o,
		began:      o.RT.Now(),
		promises:   newPromises(o.Promise, furthest(o.Promise, o.Clock.Status().Limit), o.Slack, o.HighWater),
		gossip:     newGossip(o.Self, o.Nodes),
		suspects:   suspects{},
		exclusions: newExclusions(),
		trips:      newTrips(),
		vote:       clock.NewVote(uint32(o.Self.ID), o.Vote),
	}, nil
}

// Start begins the heartbeats.
func (c *Cluster) Start() {
	c.opts.RT.Go("cluster", func() {
		every := max(1, int(c.opts.GossipInterval/c.opts.Interval))
		for n := 0; c.beat(n%every == 0); n++ {
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

// beat sends one heartbeat to every peer, and asks ourselves. With gossip it also says what is known of the nodes, and what is
// closed. It reports whether to go on.
func (c *Cluster) beat(gossip bool) bool {
	c.judge()
	now, clockErr := c.opts.Clock.Now()
	claimed, disproved, _ := c.claim()
	stalled := c.isStalled()
	closed := func(kv.NodeID) []kv.ClosedRange { return nil }
	if gossip && c.opts.Closed != nil {
		closed = c.opts.Closed()
	}
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return false
	}
	var want clock.Instant
	if clockErr == nil && !stalled {
		want = c.promises.want(now, c.trips.allowance(c.opts.RT.Now()))
		c.trips.asked(want, c.opts.RT.Now())
	}
	ids, first, alive, excluded := c.gossip.order, c.gossip.first, 0, c.exclusions.list()
	var nodes []kv.NodeInfo
	if gossip {
		nodes = c.gossip.list()
	}
	messages := make([]*kv.Message, 0, len(ids))
	for _, id := range ids {
		if c.aliveLocked(id) {
			alive++
		}
		if id == c.opts.Self.ID {
			continue
		}
		g := c.promises.given[id]
		lv := &kv.Liveness{Heartbeat: true, Granted: g.Until, Since: g.Since,
			ClaimedEarliest: claimed.Earliest, ClaimedLatest: claimed.Latest, Disproved: disproved, Excluded: excluded}
		if c.hearsLocked(id) || c.opts.Unsafe.AskUnheard { // P8
			lv.Ask = want
		}
		if gossip {
			lv.Nodes, lv.First = nodes, first
		}
		messages = append(messages, &kv.Message{To: id, Liveness: lv})
	}
	c.mu.Unlock()
	c.opts.Metrics.Known.Set(float64(len(ids)))
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
	at := c.opts.RT.Now()
	c.gossip.heard[m.From] = at
	suspect := lv.Heartbeat && c.suspects.heartbeat(m.From, at, lv.Ask != 0)
	var excluded []kv.RangeID
	if lv.Heartbeat {
		excluded = c.exclusions.hear(m.From, lv.Excluded)
	}
	supported := lv.Granted != 0 && c.promises.granted(m.From, Support{Until: lv.Granted, Since: lv.Since})
	if supported {
		c.trips.granted(m.From, lv.Granted, at)
	}
	var nodes []kv.NodeInfo
	if changed {
		nodes = c.gossip.list()
	}
	c.mu.Unlock()
	if changed && c.opts.NodesChanged != nil {
		c.opts.NodesChanged(nodes)
	}
	if supported {
		c.tellSupport()
	}
	if suspect {
		c.tellSuspect(m.From)
	}
	if len(excluded) > 0 {
		c.tellExcluded(m.From, excluded)
	}
	c.hearClaim(m.From, lv)
	if lv.Ask != 0 {
		c.handleAsk(m.From, lv.Ask)
	}
}

// handleAsk gives the promise if the core allows it, and has the high water raised if that is needed, now or soon.
func (c *Cluster) handleAsk(from kv.NodeID, t clock.Instant) {
	out, err := c.decide(from, t)
	if err != nil {
		return // a node that does not know the time promises nothing about it
	}
	if out.refused != nil {
		c.opts.Metrics.Refused.Inc()
		c.opts.Log.Warn("promise refused", "err", out.refused)
	}
	c.deliver(out.grants)
	if out.persist != 0 {
		c.raiseTo(out.persist)
	}
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

// raiseTo has a task make the high water durable at mark, and give the promises that wait for it. There is one such task at a
// time, so that asks that come in while the disk is slow are answered together.
func (c *Cluster) raiseTo(mark clock.Instant) {
	c.mu.Lock()
	c.mark = max(c.mark, mark)
	idle := !c.raising
	c.raising = true
	c.mu.Unlock()
	if idle {
		c.opts.RT.Go("raise", c.raise)
	}
}

func (c *Cluster) raise() {
	for {
		c.mu.Lock()
		mark, durable := c.mark, c.promises.durable
		if mark <= durable || c.stopped {
			c.raising = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if !c.persist(mark) {
			c.mu.Lock()
			c.raising, c.mark = false, 0 // the next ask tries again
			c.mu.Unlock()
			return
		}
		c.mu.Lock()
		var out output
		if now, err := c.opts.Clock.Now(); err == nil {
			out = c.promises.persisted(now, mark)
		} else {
			c.promises.durable = mark // nothing is promised without a reading
		}
		c.mu.Unlock()
		c.deliver(out.grants)
	}
}

// persist makes the high water durable.
func (c *Cluster) persist(mark clock.Instant) bool {
	c.persistMu.Lock()
	defer c.persistMu.Unlock()
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	if stopped {
		return false // Stop has written the exact mark
	}
	if err := c.opts.Persist(mark); err != nil {
		c.opts.Log.Error("the high water of promises cannot be made durable: this store gives no promise", "err", err)
		return false
	}
	c.opts.Metrics.Synced.Inc()
	return true
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
