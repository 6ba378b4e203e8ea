package server

import "github.com/longitude-db/longitude/internal/node"

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
