package cluster

import (
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// This file is about evidence that a node's leases are about to run out. Nothing about safety rests on it: support binds until
// its time is past (P1), whatever the evidence says. It decides only whether a replica waits any longer than that before it
// campaigns, and where requests are sent meanwhile. So evidence that turns out to be wrong costs nothing: the node renews its
// support, and nobody is free to vote against it.

// suspects are the nodes that there is evidence against. It does no I/O and reads no clock.
type suspects map[kv.NodeID]suspicion

type suspicion struct {
	lost   bool          // the connection with its process broke, and nothing was heard since
	mute   bool          // its heartbeats request no support: it does not hear us, or can use no lease
	lostAt time.Duration // on the runtime's clock
}

// settle is how long messages that were on their way when a connection broke may arrive after it.
const settle = 10 * time.Millisecond

// lost notes that the connection with a node broke. It reports whether that is news.
func (s suspects) lost(id kv.NodeID, now time.Duration) bool {
	old := s[id]
	s[id] = suspicion{lost: true, mute: old.mute, lostAt: now}
	return !old.lost && !old.mute
}

// heartbeat notes a heartbeat, and whether it asked for support. It reports whether the node is suspected from now on.
func (s suspects) heartbeat(id kv.NodeID, now time.Duration, asks bool) bool {
	old := s[id]
	is := old
	is.mute = !asks
	if old.lost && now-old.lostAt >= settle {
		is.lost = false
	}
	if !is.lost && !is.mute {
		delete(s, id)
		return false
	}
	s[id] = is
	return !old.lost && !old.mute
}

// Lost is told by the transport that the connections with a node broke although neither side meant to end them, or that
// nobody listens at its address any more: its process has ended, most likely. It does not block.
func (c *Cluster) Lost(id kv.NodeID) {
	if id == 0 || id == c.opts.Self.ID {
		return
	}
	c.mu.Lock()
	news := c.suspects.lost(id, c.opts.RT.Now())
	c.mu.Unlock()
	if news {
		c.opts.Metrics.Suspected.Inc()
		c.opts.Log.Info("a node seems to have stopped: the connection with it broke", "peer", id)
		c.notifySuspect(id)
	}
}

// Suspected reports whether there is evidence that a node's leases are about to run out: the connection with it broke, or its
// heartbeats request no support. It proves nothing.
func (c *Cluster) Suspected(id kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.suspects[id]
	return is && !c.opts.Unsafe.NoSuspicion
}

// Calm reports whether there is no evidence against any node: nothing by which an election would be hurried.
func (c *Cluster) Calm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.suspects) == 0 && len(c.exclusions.heard) == 0
}

// Reachable reports whether a node is alive and there is no evidence that a request to it would be in vain: a node that does
// not hear us would never answer. It proves nothing; routing uses it.
func (c *Cluster) Reachable(id kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, suspected := c.suspects[id]
	return c.aliveLocked(id) && !suspected
}

// Hears reports whether a node was heard lately (Options.Silence), on whatever way. A node hears itself.
func (c *Cluster) Hears(id kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hearsLocked(id)
}

func (c *Cluster) hearsLocked(id kv.NodeID) bool {
	if id == c.opts.Self.ID {
		return true
	}
	at, ok := c.gossip.heard[id]
	return ok && c.opts.RT.Now()-at < c.opts.Silence
}

// WithdrawableIn is how long it takes, by our present reading, until this store's support of another has expired: 0 if it has, or if
// there is no reading to tell by.
func (c *Cluster) WithdrawableIn(to kv.NodeID) time.Duration {
	now, err := c.opts.Clock.Now()
	if err != nil {
		return 0
	}
	return max(0, c.SupportForUntil(to).Sub(now.Earliest)+1) // until earliest is above it (P1)
}

// OnSuspect has fn called whenever there is new evidence against a node (Suspected). fn must not block.
func (c *Cluster) OnSuspect(fn func(kv.NodeID)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onSuspect = append(c.onSuspect, fn)
}

func (c *Cluster) notifySuspect(id kv.NodeID) {
	c.mu.Lock()
	fns := c.onSuspect
	c.mu.Unlock()
	for _, fn := range fns {
		fn(id)
	}
}
