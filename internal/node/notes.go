package node

import (
	"encoding/binary"
	"fmt"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// supportHighWater is the high water of the support that an earlier process gave.
func (n *Node) supportHighWater() (clock.Instant, error) {
	v, ok, err := n.opts.Engines.Note(supportNote)
	if err != nil || !ok {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("store %s: the high water of support has %d bytes instead of 8: the store is damaged", n.opts.Engines.Dir(), len(v))
	}
	return clock.Instant(binary.BigEndian.Uint64(v)), nil
}

// saveNodes keeps the known nodes for the next start, so that a restarted node finds its peers without being told one.
func (n *Node) saveNodes(nodes []kv.NodeInfo) {
	b, err := (&kv.Join{Nodes: nodes}).MarshalMsg(nil)
	if err == nil {
		err = n.opts.Engines.SetNote(nodesNote, b)
	}
	if err != nil {
		n.log.Warn("the list of nodes was not kept; after a restart this node finds the others through --join alone", "err", err)
	}
}

func (n *Node) loadNodes() []kv.NodeInfo {
	nodes, err := KnownNodes(n.opts.Engines)
	if err != nil {
		n.log.Warn("the kept list of nodes is unreadable; the others are found through --join", "err", err)
	}
	return nodes
}

// KnownNodes lists the nodes of the cluster that a store has heard of, itself included if there were others; none: it has
// always been alone, or is new.
func KnownNodes(e *storage.Engines) ([]kv.NodeInfo, error) {
	v, ok, err := e.Note(nodesNote)
	if err != nil || !ok {
		return nil, err
	}
	var j kv.Join
	if _, err := j.UnmarshalMsg(v); err != nil {
		return nil, err
	}
	return j.Nodes, nil
}
