package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
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

// A request to join that is executed several times, by several nodes, at once or long after, makes one node: others would be
// waited for and counted, and nobody would ever be them.
func TestAJoinExecutedTwiceMakesOneNode(t *testing.T) {
	c := newTrio(t, eventloop.New(3))
	c.run(func() {
		c.cluster()
		ask := func(m *member, token, addr string) (got *kv.Join) {
			m.on("join", func() error {
				got = m.node.Handle(&kv.Message{Join: &kv.Join{Token: []byte(token), Info: kv.NodeInfo{RPCAddr: addr}}}).Join
				return nil
			})
			if got.Error != "" {
				t.Fatal(got.Error)
			}
			return got
		}
		all := func() (nodes []kv.NodeInfo) {
			c.nodes[0].on("list", func() (err error) {
				nodes, err = c.nodes[0].node.Registered(context.Background())
				return err
			})
			return nodes
		}
		g := rt.NewGroup(c.rt)
		var ids [6]kv.NodeID
		for i := range ids { // copies of one request, everywhere at once
			g.Go("join", func() { ids[i] = ask(c.nodes[i%3], "one", "here").ID })
		}
		g.Wait(rt.Forever)
		for _, id := range ids {
			if id != ids[0] || id <= 3 {
				t.Errorf("one request was given the ids %v", ids)
			}
		}
		if other := ask(c.nodes[1], "another", "there").ID; other == ids[0] {
			t.Errorf("two requests were given the id %d", other)
		}
		// The node has started, and says where it is now. A copy of its first request, late, changes nothing.
		c.nodes[2].on("register", func() error {
			return c.nodes[2].node.register(context.Background(), kv.NodeInfo{ID: ids[0], RPCAddr: "moved"})
		})
		if again := ask(c.nodes[2], "one", "here").ID; again != ids[0] {
			t.Errorf("a late copy was given %d", again)
		}
		if nodes := all(); len(nodes) != 5 || nodes[3].RPCAddr+nodes[4].RPCAddr != "movedthere" && nodes[3].RPCAddr+nodes[4].RPCAddr != "theremoved" {
			t.Errorf("registered: %v", nodes)
		}
	})
}

// A node whose process ends while it joins asks for the same when it comes back, as the same.
func TestAJoinSurvivesACrash(t *testing.T) {
	c := newTrio(t, eventloop.New(4))
	m := c.nodes[0]
	clk := clock.New(m.source, clock.Options{Mono: m.source.Mono(c.loop.Now)})
	var tokens []string
	for range 2 {
		eng, err := storage.Open(storage.Options{FS: m.fs, Dir: "s", Cache: 1 << 20, Deterministic: true})
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(Options{RT: c.rt, Clock: clk, Transport: wire{m}, Engines: eng, Self: kv.NodeInfo{RPCAddr: "d"}, JoinLimit: time.Nanosecond,
			Join: func(q *kv.Message) (*kv.Message, error) {
				tokens = append(tokens, string(q.Join.Token))
				return nil, errors.New("the answer is lost")
			}})
		if err != nil {
			t.Fatal(err)
		}
		c.run(func() { _, _, err = n.identify() })
		if err == nil {
			t.Fatal("joined without an answer")
		}
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
		m.fs = m.fs.CrashClone(vfs.CrashCloneCfg{}) // what was synced is there, and nothing else
	}
	if first := tokens[0]; len(first) != 16 || tokens[len(tokens)-1] != first {
		t.Errorf("asked by %x", tokens)
	}
}
