package node

import (
	"encoding/binary"
	"fmt"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// promiseMark is the high water of the promises that an earlier process gave.
func (n *Node) promiseMark() (clock.Instant, error) {
	v, ok, err := n.opts.Engines.Note(promiseNote)
	if err != nil || !ok {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("store %s: the mark of promises has %d bytes instead of 8: the store is damaged", n.opts.Engines.Dir(), len(v))
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
