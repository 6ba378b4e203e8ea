package node

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// identify finds out whose store this is (N1): its own word, or a new cluster's first node, or a new node of the cluster
// that it joins. It returns the nodes that are known by that.
func (n *Node) identify() (storage.Identity, []kv.NodeInfo, error) {
	id, ok, err := n.opts.Engines.Identity()
	switch {
	case err != nil:
		return id, nil, err
	case ok:
		nodes, err := n.findOthers(id)
		return id, nodes, err
	}
	if n.opts.Bootstrap {
		return n.bootstrap()
	}
	if n.opts.Join == nil {
		return id, nil, fmt.Errorf("store %s is empty, and there is neither a cluster to join nor one to begin", n.opts.Engines.Dir())
	}
	return n.join()
}

// bootstrap makes the first node of a new cluster. The identity is written last, so a crash in between leaves an empty store.
func (n *Node) bootstrap() (storage.Identity, []kv.NodeInfo, error) {
	id := storage.Identity{Node: 1}
	binary.BigEndian.PutUint64(id.Cluster[:8], n.opts.RT.Uint64())
	binary.BigEndian.PutUint64(id.Cluster[8:], n.opts.RT.Uint64())
	if err := replica.Bootstrap(n.opts.Engines, id.Node); err != nil {
		return id, nil, fmt.Errorf("begin a cluster: %w", err)
	}
	if err := n.opts.Engines.Claim(id); err != nil {
		return id, nil, fmt.Errorf("begin a cluster: %w", err)
	}
	n.log.Info("began a new cluster", "cluster", id.Cluster)
	return id, nil, nil
}

// join asks the cluster for an identity until it gets one. The nodes are kept first: a node that has an identity and knows
// nobody is known to nobody either.
func (n *Node) join() (id storage.Identity, _ []kv.NodeInfo, err error) {
	answer, err := n.ask(n.opts.Self)
	if err != nil {
		return id, nil, err
	}
	id = storage.Identity{Cluster: answer.Cluster, Node: answer.Join.ID}
	n.saveNodes(answer.Join.Nodes)
	if err := n.opts.Engines.Claim(id); err != nil {
		return id, nil, err
	}
	n.log.Info("joined", "cluster", id.Cluster, "node", id.Node)
	return id, answer.Join.Nodes, nil
}

// findOthers asks for the nodes of the cluster if this one has an identity in it and knows no other, although it has
// somebody to ask.
func (n *Node) findOthers(id storage.Identity) ([]kv.NodeInfo, error) {
	if n.opts.Bootstrap || n.opts.Join == nil || slices.ContainsFunc(n.loadNodes(), func(o kv.NodeInfo) bool { return o.ID != id.Node }) {
		return nil, nil
	}
	info := n.opts.Self
	info.ID, info.Cluster = id.Node, id.Cluster
	answer, err := n.ask(info)
	if err != nil {
		return nil, err
	}
	if answer.Cluster != id.Cluster || answer.Join.ID != id.Node {
		return nil, fmt.Errorf("store %s belongs to node %d of another cluster (%s) than the nodes that it is told to join (%s); nothing was changed\n"+
			"hint: give --store the directory of this cluster or an empty one, or leave --join out to go on in the other cluster",
			n.opts.Engines.Dir(), id.Node, id.Cluster, answer.Cluster)
	}
	n.saveNodes(answer.Join.Nodes)
	return answer.Join.Nodes, nil
}

// ask sends a join message until it is answered.
func (n *Node) ask(info kv.NodeInfo) (*kv.Message, error) {
	begun := n.rt.Now()
	for try := 0; ; try++ {
		answer, err := n.opts.Join(&kv.Message{Join: &kv.Join{Info: info}})
		if err == nil && answer.Join == nil {
			err = fmt.Errorf("unexpected answer")
		}
		if err == nil && answer.Join.Error != "" {
			err = fmt.Errorf("%s", answer.Join.Error)
		}
		if err == nil {
			return answer, nil
		}
		if n.opts.JoinLimit > 0 && n.rt.Now()-begun > n.opts.JoinLimit {
			return nil, fmt.Errorf("no cluster could be joined within %s: %w", n.opts.JoinLimit, err)
		}
		if try%10 == 0 {
			n.log.Warn("waiting to join a cluster", "err", err)
		}
		if n.stopped.Wait(rt.Jitter(n.rt, joinRetry)) {
			return nil, kv.Errorf(kv.ErrUnavailable, "stopped while joining")
		}
	}
}

// handleJoin gives a new node its id. A node that crashes before it has written the id down asks again and gets another;
// the first is then never used.
func (n *Node) handleJoin(j *kv.Join) *kv.Join {
	fail := func(err error) *kv.Join { return &kv.Join{Error: err.Error()} }
	if !n.serving.Fired() {
		return fail(fmt.Errorf("node %d is starting and cannot take in another yet", n.self.ID))
	}
	if j.Info.ID != 0 { // it has its id, and knows nobody; whether this is its cluster it sees by the answer
		return &kv.Join{ID: j.Info.ID, Nodes: n.Cluster.Nodes()}
	}
	if n.opts.RefuseJoin != nil {
		if err := n.opts.RefuseJoin(j.Info); err != nil {
			return fail(err)
		}
	}
	ctx := route.WithDeadline(n.ctx, n.rt.Now()+joinLimit)
	var id uint64
	for id <= 1 { // 1 is the first node's; the counter does not know
		var err error
		if id, err = n.Router.Increment(ctx, route.NodeCounter, 1); err != nil {
			return fail(fmt.Errorf("node %d could not get a node id: %w", n.self.ID, err))
		}
	}
	info := j.Info
	info.ID, info.Cluster = kv.NodeID(id), n.self.Cluster
	if err := n.register(ctx, info); err != nil {
		return fail(fmt.Errorf("node %d could not register node %d: %w", n.self.ID, id, err))
	}
	n.log.Info("a node joins", "node", id, "addr", j.Info.RPCAddr)
	return &kv.Join{ID: kv.NodeID(id), Nodes: n.Cluster.Nodes()}
}
