package cluster

import (
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// gossip is what is known of the nodes and of the first range. Like supportCore it does no I/O.
type gossip struct {
	self  kv.NodeID
	nodes map[kv.NodeID]kv.NodeInfo
	heard map[kv.NodeID]time.Duration // when a node was last heard, on the runtime's clock
	first *kv.RangeDescriptor
	order []kv.NodeID // of all nodes
}

func newGossip(self kv.NodeInfo, known []kv.NodeInfo) *gossip {
	g := &gossip{self: self.ID, nodes: map[kv.NodeID]kv.NodeInfo{}, heard: map[kv.NodeID]time.Duration{}}
	g.learn(0, known)
	g.put(self)
	return g
}

// learn takes in descriptions that a node sent. Of itself it knows best; about others the later start counts, since what
// it heard of them may be old. It reports whether an address or a start changed.
func (g *gossip) learn(from kv.NodeID, infos []kv.NodeInfo) (changed bool) {
	for _, n := range infos {
		old, known := g.nodes[n.ID]
		switch {
		case n.ID == 0 || n.ID == g.self:
			continue // nobody tells us about ourselves
		case known && n.Started < old.Started, known && n.Started == old.Started && n.ID != from:
			continue
		}
		g.put(n)
		changed = changed || !known || n.Started > old.Started
	}
	return changed
}

// put keeps a description. Nodes are never taken out.
func (g *gossip) put(n kv.NodeInfo) {
	if _, known := g.nodes[n.ID]; !known {
		i, _ := slices.BinarySearch(g.order, n.ID)
		g.order = slices.Insert(g.order, i, n.ID)
	}
	g.nodes[n.ID] = n
}

// list returns all nodes in order of their ids.
func (g *gossip) list() []kv.NodeInfo {
	out := make([]kv.NodeInfo, len(g.order))
	for i, id := range g.order {
		out[i] = g.nodes[id]
	}
	return out
}

// setFirst keeps the descriptor of the higher generation.
func (g *gossip) setFirst(d *kv.RangeDescriptor) {
	if d != nil && (g.first == nil || d.Generation > g.first.Generation) {
		g.first = d
	}
}
