package cluster

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// This file is the shell around clock.Vote: what heartbeats say of clocks goes in, a fence comes out.

// claim is what our clock says and whom it disproves, for a heartbeat. A node whose clock says nothing has no vote.
func (c *Cluster) claim() (claimed clock.Interval, disproved []kv.NodeID, ok bool) {
	claimed, err := c.opts.Clock.Claim()
	if err != nil {
		return clock.Interval{}, nil, false
	}
	lately := c.opts.Clock.Disproofs()
	if c.opts.Unsafe.VoteByReadings {
		lately = append(lately, c.opts.Clock.Conflicts()...)
	}
	for _, d := range lately {
		if d.Age <= c.vote.Stand()/tellFor {
			disproved = append(disproved, kv.NodeID(d.Peer))
		}
	}
	return claimed, disproved, true
}

// tellFor: a disproof is told for a fifth of the time for which it counts, so some heartbeats with it may be lost. Who hears
// of it counts it from then.
const tellFor = 5

// hearClaim takes in what a heartbeat says of clocks. It is called without the lock.
func (c *Cluster) hearClaim(from kv.NodeID, lv *kv.Liveness) {
	if lv.ClaimedLatest == 0 {
		return
	}
	c.opts.Clock.ObserveClaim(uint32(from), lv.ClaimedEarliest, lv.ClaimedLatest)
	c.mu.Lock()
	c.vote.Heard(c.opts.RT.Now(), uint32(from), numbers(lv.Disproved))
	c.mu.Unlock()
	c.judge()
}

// judge counts the votes, ours with them, and fences the clock or takes the fence away. From then on the clock learns nothing from
// suspects. Decision and effect are in one
// order: fenceMu is held over both, and nothing under it blocks.
func (c *Cluster) judge() {
	_, disproved, says := c.claim()
	c.fenceMu.Lock()
	defer c.fenceMu.Unlock()
	j, suspects := c.count(says, disproved)
	c.opts.Clock.Suspect(suspects)
	if c.opts.Unsafe.NoFence {
		return
	}
	switch was, _ := c.opts.Clock.Fenced(); {
	case j.Guilty && was != j.Why:
		c.opts.Clock.Fence(j.Why)
		if was == "" && c.opts.Fenced != nil {
			c.opts.Fenced()
		}
	case !j.Guilty && was != "":
		c.opts.Clock.Unfence()
	}
}

// count counts the votes.
func (c *Cluster) count(says bool, disproved []kv.NodeID) (j clock.Judgement, suspects []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.RT.Now()
	if says {
		c.vote.Heard(now, uint32(c.opts.Self.ID), numbers(disproved))
	}
	guilty, _ := c.vote.Guilty(now)
	c.opts.Metrics.Guilty.Set(float64(len(guilty)))
	return c.vote.Step(now), c.vote.Suspects(now)
}

// numbers are the ids as package clock has them.
func numbers(ids []kv.NodeID) (out []uint32) {
	for _, id := range ids {
		out = append(out, uint32(id))
	}
	return out
}

// Guilty lists the nodes whose clocks a majority disproves, and for each why, as this node sees it.
func (c *Cluster) Guilty() (nodes []kv.NodeID, why []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids, why := c.vote.Guilty(c.opts.RT.Now())
	for _, id := range ids {
		nodes = append(nodes, kv.NodeID(id))
	}
	return nodes, why
}

// Serves reports whether a node is alive and, as far as it says and the vote knows, has a clock that it can serve with: a
// lease that is given to any other would serve nobody. It proves nothing.
func (c *Cluster) Serves(id kv.NodeID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.aliveLocked(id) || c.gossip.nodes[id].Fenced != "" {
		return false
	}
	nodes, _ := c.vote.Guilty(c.opts.RT.Now())
	for _, n := range nodes {
		if kv.NodeID(n) == id {
			return false
		}
	}
	return true
}
