package cluster

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// TryWithdraw reports whether this store's support of another has expired, so that its replicas may vote against the other's
// (P1). If so the support epoch ends (P3). Store 0 is an unknown one.
func (c *Cluster) TryWithdraw(to kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Unsafe.IgnoreSupport {
		return true
	}
	now, err := c.opts.Clock.Now() // inside the lock: support given in between would hide that we were free
	if err != nil || !c.support.withdraw(now, to) {
		return false
	}
	c.opts.Metrics.SupportWithdrawn.Inc()
	return true
}

// SupportEpochFor is the epoch of this store's support of another, which a follower names in its answers to its leader. 0: there is
// none.
func (c *Cluster) SupportEpochFor(to kv.NodeID) (epoch clock.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.support.supportFor[to]; !g.withdrawn {
		return g.Epoch
	}
	return 0
}

// SupportFrom is a store's support of this one.
func (c *Cluster) SupportFrom(from kv.NodeID) Support {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.support.supportFrom[from]
}

// SupportFromUntil is the end of a store's support of this one.
func (c *Cluster) SupportFromUntil(from kv.NodeID) clock.Instant { return c.SupportFrom(from).Until }

// SupportForUntil is the end of this store's support of another, given by this process or an earlier one.
func (c *Cluster) SupportForUntil(to kv.NodeID) clock.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.support.supportForUntil(to)
}

// OnSupportExtended has fn called whenever another store's support of this one was extended. fn must not block.
func (c *Cluster) OnSupportExtended(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onSupportExtended = append(c.onSupportExtended, fn)
}

func (c *Cluster) notifySupportExtended() {
	c.mu.Lock()
	fns := c.onSupportExtended
	c.mu.Unlock()
	for _, fn := range fns {
		fn()
	}
}

// Nodes lists the known nodes in order of their ids, this one included.
func (c *Cluster) Nodes() []kv.NodeInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gossip.list()
}

// Node returns what is known of a node.
func (c *Cluster) Node(id kv.NodeID) (kv.NodeInfo, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.gossip.nodes[id]
	return n, ok
}

// Self is this node's description of itself.
func (c *Cluster) Self() kv.NodeInfo {
	n, _ := c.Node(c.opts.Self.ID)
	return n
}

// Update changes this node's description of itself; others hear of it with the next heartbeat.
func (c *Cluster) Update(fn func(*kv.NodeInfo)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.gossip.nodes[c.opts.Self.ID]
	fn(&n)
	n.ID = c.opts.Self.ID
	c.gossip.put(n)
}

// Add takes in nodes that were learned of otherwise: from a join.
func (c *Cluster) Add(nodes []kv.NodeInfo) {
	c.mu.Lock()
	changed := c.gossip.learn(0, nodes)
	all := c.gossip.list()
	c.mu.Unlock()
	if changed && c.opts.NodesChanged != nil {
		c.opts.NodesChanged(all)
	}
}

// Alive reports whether a node was heard lately and its connection has not broken since. It proves nothing; placement and
// routing use it.
func (c *Cluster) Alive(id kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aliveLocked(id)
}

func (c *Cluster) aliveLocked(id kv.NodeID) bool {
	return c.hearsLocked(id) && !c.suspects[id].lost
}

// Gone reports whether a process has ended, or seems to: its node has started again since, its connection broke and was not made
// again soon, or it was silent for long (Options.Silence). The first is certain. The others are guesses, for a caller that
// waits for something that the process was to do and may have it given up; whatever that is must be safe if the process is
// alive after all.
func (c *Cluster) Gone(p kv.Process) bool {
	if p.Node == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, known := c.gossip.nodes[p.Node]; known && n.Started > p.Started {
		return true
	}
	now := c.opts.RT.Now()
	if s := c.suspects[p.Node]; s.lost && now-s.lostAt > 4*c.opts.Interval {
		return true
	}
	return p.Node != c.opts.Self.ID && now-max(c.gossip.heard[p.Node], c.began) > c.opts.Silence
}

// FirstRange is the descriptor of the range that holds meta, as far as it is known.
func (c *Cluster) FirstRange() (kv.RangeDescriptor, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gossip.first == nil {
		return kv.RangeDescriptor{}, false
	}
	return *c.gossip.first, true
}

// SetFirstRange takes in a descriptor of the first range; an older generation than the known one is ignored.
func (c *Cluster) SetFirstRange(d kv.RangeDescriptor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gossip.setFirst(&d)
}
