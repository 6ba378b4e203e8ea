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
	// SupportDuration is L, how far ahead support is asked for, to which twice the round trip to the farthest peer is added;
	// default 300 ms. Shorter: a failed node's ranges are served again sooner, and a shorter pause makes a leader wait for
	// its lease to be renewed. A lease that runs out is not a failover: that takes evidence (Suspected) or Silence.
	SupportDuration time.Duration
	// Interval is the time between two heartbeats; default 50 ms, and at most a quarter of SupportDuration.
	Interval time.Duration
	// GossipInterval is the time between two heartbeats that also carry the descriptions of the nodes and the closed
	// timestamps; default 250 ms, and at least Interval.
	GossipInterval time.Duration
	// Silence is after how long without a heartbeat a node is taken for dead: this store requests no support from it any more,
	// requests go elsewhere, and what its process was to do is given up (Gone); default 1 s, and at least 5 intervals.
	// Shorter: ranges are served again sooner after a node has stopped or was cut off, and a process that merely stood
	// still loses its leases.
	Silence time.Duration
	// Slack is by how much the durable high water is rounded up; default 2 s. It is raised in the background when half of
	// it is used up, so that no support waits for a slow disk. Longer: fewer syncs, but a node that was killed waits longer
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
	// Fenced, if set, is called when a majority of the nodes has come to contradict our clock, after it has been fenced. It
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
	// IgnoreSupport: this store votes against others that it supports (P1), and goes on with the support epoch (P3).
	IgnoreSupport bool
	// NoFence: a clock that a majority contradicts goes on being used (P6).
	NoFence bool
	// AskUnheard: this store asks for the support of peers that it does not hear (P8).
	AskUnheard bool
	// NoSuspicion: no evidence hurries an election (Suspected).
	NoSuspicion bool
	// VoteByReadings: disjoint readings, which a third clock may have caused, count like a conflict of reported intervals (clock/F2).
	VoteByReadings bool
}

func (o *Options) fill() error {
	if o.RT == nil || o.Clock == nil || o.Transport == nil || o.Persist == nil || o.Self.ID == 0 {
		return errors.New("cluster: RT, Clock, Transport, Persist and Self.ID are needed")
	}
	def(&o.SupportDuration, 300*time.Millisecond)
	def(&o.Interval, 50*time.Millisecond)
	o.Interval = min(o.Interval, o.SupportDuration/4)
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

	mu                sync.Mutex // never held over I/O
	support           *supportCore
	gossip            *gossip
	suspects          suspects
	exclusions        exclusions
	trips             trips
	vote              *clock.Vote
	onSupportExtended []func()
	onSuspect         []func(kv.NodeID)
	onExcluded        []func(kv.NodeID, []kv.RangeID)
	stopped           bool
	stalled           bool          // when it beat last
	raising           bool          // a task makes the high water durable
	wantedHighWater   clock.Instant // how high it is to be raised

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
		support:    newSupportCore(o.SupportDuration, maxSupportAhead(o.SupportDuration, o.Clock.Status().Limit), o.Slack, o.HighWater),
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
		for n := 0; c.sendHeartbeats(n%every == 0); n++ {
			c.opts.RT.Sleep(c.opts.Interval)
		}
	})
}

// Stop ends all support for good, and leaves the exact high water for the next start.
func (c *Cluster) Stop() error {
	now, err := c.opts.Clock.Now()
	c.persistMu.Lock()
	defer c.persistMu.Unlock()
	c.mu.Lock()
	done := c.stopped
	c.stopped = true
	highWater := c.support.stop(now)
	c.mu.Unlock()
	if done || err != nil {
		return nil // the rounded high water on disk stays, which is safe
	}
	return c.opts.Persist(highWater)
}

// sendHeartbeats sends one heartbeat to every peer, and asks ourselves. With gossip it also says what is known of the nodes, and what is
// closed. It reports whether to go on.
func (c *Cluster) sendHeartbeats(gossip bool) bool {
	c.judge()
	now, clockErr := c.opts.Clock.Now()
	reported, contradicted, _ := c.reportedInterval()
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
		want = c.support.requestUntil(now, c.trips.allowance(c.opts.RT.Now()))
		c.trips.recordRequest(want, c.opts.RT.Now())
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
		g := c.support.supportFor[id]
		lv := &kv.Liveness{Heartbeat: true, SupportUntil: g.Until, SupportEpoch: g.Epoch,
			ReportedEarliest: reported.Earliest, ReportedLatest: reported.Latest, Contradicted: contradicted, Excluded: excluded}
		if c.hearsLocked(id) || c.opts.Unsafe.AskUnheard { // P8
			lv.SupportRequest = want
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
		c.handleSupportRequest(c.opts.Self.ID, want)
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
	suspect := lv.Heartbeat && c.suspects.heartbeat(m.From, at, lv.SupportRequest != 0)
	var excluded []kv.RangeID
	if lv.Heartbeat {
		excluded = c.exclusions.hear(m.From, lv.Excluded)
	}
	supported := lv.SupportUntil != 0 && c.support.handleSupport(m.From, Support{Until: lv.SupportUntil, Epoch: lv.SupportEpoch})
	if supported {
		c.trips.recordSupport(m.From, lv.SupportUntil, at)
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
		c.notifySupportExtended()
	}
	if suspect {
		c.notifySuspect(m.From)
	}
	if len(excluded) > 0 {
		c.notifyExcluded(m.From, excluded)
	}
	c.observeReported(m.From, lv)
	if lv.SupportRequest != 0 {
		c.handleSupportRequest(m.From, lv.SupportRequest)
	}
}

// handleSupportRequest gives the support if the core allows it, and raises the high water if that is needed now or soon.
func (c *Cluster) handleSupportRequest(from kv.NodeID, t clock.Instant) {
	out, err := c.decideSupport(from, t)
	if err != nil {
		return // a node that does not know the time gives no support
	}
	if out.refused != nil {
		c.opts.Metrics.SupportRefused.Inc()
		c.opts.Log.Warn("support refused", "err", out.refused)
	}
	c.deliverSupport(out.replies)
	if out.persistHighWater != 0 {
		c.raiseHighWater(out.persistHighWater)
	}
}

// decideSupport asks the core. The reading is inside the lock: P3 needs readings and decisions in one order.
func (c *Cluster) decideSupport(from kv.NodeID, t clock.Instant) (output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, err := c.opts.Clock.Now()
	if err != nil {
		return output{}, err
	}
	return c.support.handleRequest(now, from, t), nil
}

// raiseHighWater has a task make the high water durable, and give the support that waits for it. There is one such task at a
// time, so that requests that come in while the disk is slow are answered together.
func (c *Cluster) raiseHighWater(highWater clock.Instant) {
	c.mu.Lock()
	c.wantedHighWater = max(c.wantedHighWater, highWater)
	idle := !c.raising
	c.raising = true
	c.mu.Unlock()
	if idle {
		c.opts.RT.Go("raise", c.raiseHighWaterTask)
	}
}

func (c *Cluster) raiseHighWaterTask() {
	for {
		c.mu.Lock()
		highWater, durable := c.wantedHighWater, c.support.durable
		if highWater <= durable || c.stopped {
			c.raising = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if !c.persistHighWater(highWater) {
			c.mu.Lock()
			c.raising, c.wantedHighWater = false, 0 // the next request tries again
			c.mu.Unlock()
			return
		}
		c.mu.Lock()
		var out output
		if now, err := c.opts.Clock.Now(); err == nil {
			out = c.support.highWaterPersisted(now, highWater)
		} else {
			c.support.durable = highWater // no support is given without a reading
		}
		c.mu.Unlock()
		c.deliverSupport(out.replies)
	}
}

// persistHighWater makes the high water durable.
func (c *Cluster) persistHighWater(highWater clock.Instant) bool {
	c.persistMu.Lock()
	defer c.persistMu.Unlock()
	c.mu.Lock()
	stopped := c.stopped
	c.mu.Unlock()
	if stopped {
		return false // Stop has written the exact high water
	}
	if err := c.opts.Persist(highWater); err != nil {
		c.opts.Log.Error("the high water of support cannot be made durable: this store gives no support", "err", err)
		return false
	}
	c.opts.Metrics.SupportSyncs.Inc()
	return true
}

func (c *Cluster) deliverSupport(grants []supportReply) {
	for _, g := range grants {
		c.opts.Metrics.SupportGiven.Inc()
		if g.to != c.opts.Self.ID {
			c.opts.Transport.Send(g.to, &kv.Message{To: g.to, Liveness: &kv.Liveness{SupportUntil: g.Until, SupportEpoch: g.Epoch}})
			continue
		}
		c.mu.Lock()
		changed := c.support.handleSupport(g.to, g.Support)
		c.mu.Unlock()
		if changed {
			c.notifySupportExtended()
		}
	}
}
