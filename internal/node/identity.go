package node

import (
	"context"
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
	token, err := n.joinToken()
	if err != nil {
		return id, nil, err
	}
	answer, err := n.ask(kv.Join{Info: n.opts.Self, Token: token})
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
	answer, err := n.ask(kv.Join{Info: info})
	if err != nil {
		return nil, err
	}
	if answer.Cluster != id.Cluster || answer.Join.ID != id.Node {
		return nil, fmt.Errorf("store %s belongs to node %d of another cluster (%s) than the nodes that it is told to join (%s); nothing was changed\n"+
			"hint: give --store the directory that this node has in this cluster, or leave --join out to go on in the other cluster; "+
			"an empty directory makes a new node of it, which takes the place of none",
			n.opts.Engines.Dir(), id.Node, id.Cluster, answer.Cluster)
	}
	n.saveNodes(answer.Join.Nodes)
	return answer.Join.Nodes, nil
}

// ask sends a join message until it is answered.
func (n *Node) ask(j kv.Join) (*kv.Message, error) {
	begun := n.rt.Now()
	for try := 0; ; try++ {
		answer, err := n.opts.Join(&kv.Message{Join: &j})
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

// joinToken names this store's request for an id. It is kept first, so that a node that crashes before it has written down
// who it is asks for the same again.
func (n *Node) joinToken() ([]byte, error) {
	token, ok, err := n.opts.Engines.Note(joinNote)
	if err != nil || ok {
		return token, err
	}
	token = binary.BigEndian.AppendUint64(nil, n.opts.RT.Uint64())
	token = binary.BigEndian.AppendUint64(token, n.opts.RT.Uint64())
	return token, n.opts.Engines.SetNote(joinNote, token)
}

// handleJoin gives a new node its id: one, however often it is asked by the same request, of any node. An id that was taken
// from the counter and lost is never registered, so it is never anybody's.
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
	id, err := n.idFor(ctx, j.Token)
	if err != nil {
		return fail(fmt.Errorf("node %d could not get a node id: %w", n.self.ID, err))
	}
	info := j.Info
	info.ID, info.Cluster = id, n.self.Cluster
	if err := n.registerNew(ctx, info); err != nil {
		return fail(fmt.Errorf("node %d could not register node %d: %w", n.self.ID, id, err))
	}
	n.log.Info("a node joins", "node", id, "addr", j.Info.RPCAddr)
	return &kv.Join{ID: id, Nodes: n.Cluster.Nodes()}
}

// idFor is the id for a request to join, a new one if it has none yet.
func (n *Node) idFor(ctx context.Context, token []byte) (kv.NodeID, error) {
	name := fmt.Sprintf("%s%x", joinPrefix, token)
	if len(token) > 0 {
		known, err := n.Router.Load(ctx, name)
		if err != nil || len(known) == 4 {
			return joinedAs(known), err
		}
	}
	var next uint64
	for next <= 1 { // 1 is the first node's; the counter does not know
		var err error
		if next, err = n.Router.Increment(ctx, route.NodeCounter, 1); err != nil {
			return 0, err
		}
	}
	id := kv.NodeID(next)
	if len(token) == 0 {
		return id, nil
	}
	err := n.Router.Update(ctx, name, func(old []byte) ([]byte, error) {
		if len(old) == 4 { // another copy of the request was faster
			id = joinedAs(old)
			return old, nil
		}
		id = kv.NodeID(next)
		return binary.BigEndian.AppendUint32(nil, uint32(id)), nil
	})
	return id, err
}

func joinedAs(v []byte) kv.NodeID {
	if len(v) != 4 {
		return 0
	}
	return kv.NodeID(binary.BigEndian.Uint32(v))
}
