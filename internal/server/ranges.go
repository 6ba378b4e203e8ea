package server

import (
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
)

// consoleRanges lists the replicas of a node.
func consoleRanges(n *node.Node) (out []consoleRange) {
	for _, r := range n.Store.Ranges() {
		out = append(out, consoleRange{
			ID: r.Desc.ID, Span: r.Desc.Span.String(), Leader: r.Leader, Here: r.Leads,
			Voters: r.Desc.Voters(), Generation: r.Desc.Generation, Applied: r.Applied,
		})
	}
	return out
}

func rangeIDs(ns []uint) (ids []kv.RangeID) {
	for _, n := range ns {
		ids = append(ids, kv.RangeID(n))
	}
	return ids
}

// rangesCheck names the replicas that are quarantined. The node serves all else, and the other replicas these ranges, so it is
// healthy with them.
func (s *Server) rangesCheck() check {
	c := check{Name: "ranges", OK: true, Reason: "no replica is quarantined"}
	qs := s.running().Store.Quarantined()
	if len(qs) == 0 {
		return c
	}
	var names []string
	for _, q := range qs {
		names = append(names, fmt.Sprintf("r%d: %s", q.Range, q.Reason))
	}
	c.Warning = true
	c.Reason = fmt.Sprintf("%d replicas of this node are quarantined and take part in nothing: %s", len(qs), strings.Join(names, "; "))
	c.Hint = "their ranges have one replica less; keep the store, see the log for the stack, and report it; with a version that mends it start with --unquarantine"
	return c
}
