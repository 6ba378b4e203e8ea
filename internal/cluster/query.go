package cluster

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Released reports whether no promise binds this store to another any more, so that its replicas may vote against the
// other's (P1). If so the run of promises to that store ends (P3). Store 0 is an unknown one.
func (c *Cluster) Released(to kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Unsafe.BreakPromises {
		return true
	}
	now, err := c.opts.Clock.Now() // inside the lock: a promise given in between would hide that we were free
	if err != nil || !c.promises.released(now, to) {
		return false
	}
	c.opts.Metrics.Broken.Inc()
	return true
}

// Given is the run of promises that now binds this store to another, for stamping what a follower answers its leader. It
// is 0 if there is none.
func (c *Cluster) Given(to kv.NodeID) (since clock.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.promises.given[to]; !g.broken {
		return g.Since
	}
	return 0
}

// Support is what a store has promised us.
func (c *Cluster) Support(from kv.NodeID) Support {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.promises.got[from]
}

// SupportUntil is the end of a store's promise to us.
func (c *Cluster) SupportUntil(from kv.NodeID) clock.Instant { return c.Support(from).Until }

// PromisedUntil is the end of what binds us to a store, of this process or an earlier one.
func (c *Cluster) PromisedUntil(to kv.NodeID) clock.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.promises.until(to)
}

// OnSupport has fn called whenever a promise to us was prolonged. fn must not block.
func (c *Cluster) OnSupport(fn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onSupport = append(c.onSupport, fn)
}

func (c *Cluster) tellSupport() {
	c.mu.Lock()
	fns := c.onSupport
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
