package node

import (
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
)

// A node that loses power just after it has got its identity knows its peers when it comes back: they are kept first. One
// that has lost them asks again, and keeps its identity; else it would know nobody, and nobody would know it, for ever.
// (Simulation, seed 943 at bb23415.)
func TestANodeWithAnIdentityKnowsSomebody(t *testing.T) {
	c := newTrio(t, eventloop.New(1))
	m := c.nodes[0]
	clk := clock.New(m.source, clock.Options{Mono: m.source.Mono(c.loop.Now)})
	eng, err := storage.Open(storage.Options{FS: m.fs, Dir: "s", Cache: 1 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	others := []kv.NodeInfo{{ID: 1, RPCAddr: "a"}, {ID: 2, RPCAddr: "b"}}
	cluster := kv.ClusterID{7}
	var asked []kv.NodeInfo
	answer := &kv.Message{Cluster: cluster, Join: &kv.Join{ID: 4, Nodes: others}}
	make := func() *Node {
		n, err := New(Options{RT: c.rt, Clock: clk, Transport: wire{m}, Engines: eng, Self: kv.NodeInfo{RPCAddr: "d"},
			Join: func(q *kv.Message) (*kv.Message, error) {
				asked = append(asked, q.Join.Info)
				return answer, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	identify := func(n *Node) (id storage.Identity, nodes []kv.NodeInfo, err error) {
		c.run(func() { id, nodes, err = n.identify() })
		return id, nodes, err
	}

	id, nodes, err := identify(make())
	if err != nil || id.Node != 4 || len(nodes) != 2 || asked[0].ID != 0 {
		t.Fatalf("%+v %v %v; asked %v", id, nodes, err, asked)
	}
	if known, err := KnownNodes(eng); err != nil || len(known) != 2 {
		t.Errorf("kept with the identity: %v %v", known, err)
	}
	if _, _, err := identify(make()); err != nil || len(asked) != 1 {
		t.Errorf("with peers on disk it asks nobody: %v, asked %v", err, asked)
	}

	make().saveNodes([]kv.NodeInfo{{ID: 4}})
	id, nodes, err = identify(make())
	if err != nil || id.Node != 4 || len(nodes) != 2 || len(asked) != 2 || asked[1].ID != 4 || asked[1].Cluster != cluster {
		t.Errorf("without peers: %+v %v %v; asked %v", id, nodes, err, asked)
	}

	make().saveNodes(nil)
	answer = &kv.Message{Cluster: kv.ClusterID{8}, Join: &kv.Join{ID: 4, Nodes: others}}
	if _, _, err := identify(make()); err == nil {
		t.Error("a store of one cluster was opened as a node of another")
	}
}
