package cluster

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// This file is the shell around clock.Vote: what heartbeats say of clocks goes in, a fence comes out.

// reportedInterval is what our clock says and whom it contradicts, for a heartbeat. A node whose clock says nothing has no vote.
func (c *Cluster) reportedInterval() (reported clock.Interval, contradicted []kv.NodeID, ok bool) {
	reported, err := c.opts.Clock.ReportedInterval()
	if err != nil {
		return clock.Interval{}, nil, false
	}
	lately := c.opts.Clock.Conflicts()
	if c.opts.Unsafe.VoteByReadings {
		lately = append(lately, c.opts.Clock.DisjointReadings()...)
	}
	for _, d := range lately {
		if d.Age <= c.vote.Stand()/reportFor {
			contradicted = append(contradicted, kv.NodeID(d.Peer))
		}
	}
	return reported, contradicted, true
}

// reportFor: a conflict is reported for a fifth of the time for which it counts, so some heartbeats with it may be lost. A node
// that hears of it counts it from then.
const reportFor = 5

// observeReported takes in what a heartbeat says of clocks. It is called without the lock.
func (c *Cluster) observeReported(from kv.NodeID, lv *kv.Liveness) {
	if lv.ReportedLatest == 0 {
		return
	}
	c.opts.Clock.ObserveReported(uint32(from), lv.ReportedEarliest, lv.ReportedLatest)
	c.mu.Lock()
	c.vote.RecordReport(c.opts.RT.Now(), uint32(from), numbers(lv.Contradicted))
	c.mu.Unlock()
	c.judge()
}

// judge counts the votes, ours with them, and fences the clock or takes the fence away. From then on the clock learns nothing from
// suspects. Decision and effect are in one
// order: fenceMu is held over both, and nothing under it blocks.
func (c *Cluster) judge() {
	_, contradicted, says := c.reportedInterval()
	c.fenceMu.Lock()
	defer c.fenceMu.Unlock()
	j, suspects := c.countVotes(says, contradicted)
	c.opts.Clock.Suspect(suspects)
	if c.opts.Unsafe.NoFence {
		return
	}
	switch was, _ := c.opts.Clock.Fenced(); {
	case j.Falseticker && was != j.Why:
		c.opts.Clock.Fence(j.Why)
		if was == "" && c.opts.Fenced != nil {
			c.opts.Fenced()
		}
	case !j.Falseticker && was != "":
		c.opts.Clock.Unfence()
	}
}

// countVotes counts the votes.
func (c *Cluster) countVotes(says bool, contradicted []kv.NodeID) (j clock.Judgement, suspects []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.RT.Now()
	if says {
		c.vote.RecordReport(now, uint32(c.opts.Self.ID), numbers(contradicted))
	}
	falsetickers, _ := c.vote.Falsetickers(now)
	c.opts.Metrics.Falsetickers.Set(float64(len(falsetickers)))
	return c.vote.Step(now), c.vote.Suspects(now)
}

// numbers are the ids as package clock has them.
func numbers(ids []kv.NodeID) (out []uint32) {
	for _, id := range ids {
		out = append(out, uint32(id))
	}
	return out
}

// Falsetickers lists the nodes whose clocks a majority contradicts, and for each why, as this node sees it.
func (c *Cluster) Falsetickers() (nodes []kv.NodeID, why []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids, why := c.vote.Falsetickers(c.opts.RT.Now())
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
	nodes, _ := c.vote.Falsetickers(c.opts.RT.Now())
	for _, n := range nodes {
		if kv.NodeID(n) == id {
			return false
		}
	}
	return true
}
