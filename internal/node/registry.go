package node

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// registryPrefix begins the names of the system values that list the nodes that ever joined. Gossip forgets a node that
// everybody who knew it has forgotten; this does not.
const registryPrefix = "node/"

// joinPrefix begins those that say which id a request to join was given.
const joinPrefix = "join/"

func registryName(id kv.NodeID) string { return fmt.Sprintf("%s%010d", registryPrefix, id) }

// register writes a node's description to the registry.
func (n *Node) register(ctx context.Context, info kv.NodeInfo) error {
	b, err := info.MarshalMsg(nil)
	if err != nil {
		return err
	}
	return n.Router.Update(ctx, registryName(info.ID), func([]byte) ([]byte, error) { return b, nil })
}

// registerNew does so for a node that joins. What is there stays: by the time that a copy of its request arrives the node may
// have said itself who it is.
func (n *Node) registerNew(ctx context.Context, info kv.NodeInfo) error {
	b, err := info.MarshalMsg(nil)
	if err != nil {
		return err
	}
	return n.Router.Update(ctx, registryName(info.ID), func(old []byte) ([]byte, error) {
		if len(old) > 0 {
			return old, nil
		}
		return b, nil
	})
}

// registerSelf does so for this node, as it is after this start, until it has succeeded.
func (n *Node) registerSelf() {
	for {
		err := n.register(n.within(joinLimit), n.Self())
		if err == nil {
			return
		}
		n.log.Debug("not registered yet", "err", err)
		if n.stopped.Wait(rt.Jitter(n.rt, announceEvery)) {
			return
		}
	}
}

// Registered lists the nodes that ever joined, by id, as they were when they last started.
func (n *Node) Registered(ctx context.Context) ([]kv.NodeInfo, error) {
	_, values, err := n.Router.List(ctx, registryPrefix)
	if err != nil {
		return nil, err
	}
	out := make([]kv.NodeInfo, len(values))
	for i, v := range values {
		if _, err := out[i].UnmarshalMsg(v); err != nil {
			return nil, kv.Errorf(kv.ErrInternal, "the registry of nodes holds an entry that cannot be read: %v", err)
		}
	}
	return out, nil
}
