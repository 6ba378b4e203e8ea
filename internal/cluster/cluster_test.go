package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// net is three stores on one event loop; messages take a millisecond.
type net struct {
	t     *testing.T
	loop  *eventloop.Loop
	nodes map[kv.NodeID]*node
	cut   map[kv.NodeID]bool
	deaf  map[kv.NodeID]bool          // what is sent to them is lost
	lies  map[kv.NodeID]time.Duration // by how much a node's clock is off, beyond its bound of 1 ms
}

type node struct {
	net   *net
	id    kv.NodeID
	rt    *eventloop.Runtime
	c     *Cluster
	clock *clock.Clock
	sim   *clock.Sim
	high  clock.Instant // what is durable
	syncs int
	fail  error
	slow  time.Duration // how long a sync takes
}

const base = clock.Instant(1e18)

func clockAt(d time.Duration) clock.Instant { return base.Add(d + 1) }

func newNet(t *testing.T) *net { return newNetOf(t, 3, nil) }

func newNetOf(t *testing.T, size kv.NodeID, lies map[kv.NodeID]time.Duration) *net {
	n := &net{lies: lies, t: t, loop: eventloop.New(1), nodes: map[kv.NodeID]*node{}, cut: map[kv.NodeID]bool{}, deaf: map[kv.NodeID]bool{}}
	for id := kv.NodeID(1); id <= size; id++ {
		n.nodes[id] = &node{net: n, id: id}
		n.nodes[id].start(nil)
	}
	return n
}

// start begins a new process on what is durable; it knows node 1 alone.
func (n *node) start(known []kv.NodeInfo) {
	loop := n.net.loop
	n.rt = loop.Runtime(fmt.Sprint("n", n.id))
	n.sim = clock.NewSim(clock.Conditions{Bound: time.Millisecond, Offset: n.net.lies[n.id], Lying: true}, func() clock.Instant { return base.Add(loop.Now()) })
	ck := clock.New(n.sim, clock.Options{Mono: loop.Now})
	n.clock = ck
	ck.Poll()
	rt := n.rt
	rt.Go("poll", func() {
		for {
			rt.Sleep(100 * time.Millisecond)
			ck.Poll()
		}
	})
	c, err := New(Options{
		RT: n.rt, Clock: ck, Transport: n, HighWater: n.high,
		Self:  kv.NodeInfo{ID: n.id, RPCAddr: fmt.Sprint("addr", n.id), Started: base.Add(loop.Now())},
		Nodes: append([]kv.NodeInfo{{ID: 1, RPCAddr: "addr1"}}, known...),
		Persist: func(h clock.Instant) error {
			n.rt.Sleep(n.slow)
			if n.fail == nil {
				n.high = h
				n.syncs++
			}
			return n.fail
		},
	})
	if err != nil {
		n.net.t.Fatal(err)
	}
	n.c = c
	c.Start()
}

func (n *node) Call(kv.NodeID, *kv.Message, time.Duration) (*kv.Message, error) { panic("not used") }

func (n *node) Send(to kv.NodeID, m *kv.Message) {
	m.From = n.id
	n.net.loop.At(n.net.loop.Now()+time.Millisecond, func() {
		if dst := n.net.nodes[to]; dst != nil && !n.net.cut[to] && !n.net.deaf[to] && !n.net.cut[m.From] && !dst.rt.Dead() {
			dst.rt.Go("liveness", func() { dst.c.HandleLiveness(m) })
		}
	})
}

func (n *net) run(d time.Duration) { n.loop.Run(d, nil) }

func (n *net) now() clock.Instant { return base.Add(n.loop.Now()) }

// TestMesh: nodes that know only the first one hear of all others, and all support each other.
func TestMesh(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	for id, nd := range n.nodes {
		if got := len(nd.c.Nodes()); got != 3 {
			t.Errorf("node %d knows %d nodes", id, got)
		}
		for peer := range n.nodes {
			if until := nd.c.SupportFromUntil(peer); until < n.now().Add(200*time.Millisecond) {
				t.Errorf("node %d has support of %d until %d, now %d", id, peer, until, n.now())
			}
			if !nd.c.Alive(peer) {
				t.Errorf("node %d takes %d for dead", id, peer)
			}
			if nd.c.SupportEpochFor(peer) != n.nodes[peer].c.SupportFrom(id).Epoch {
				t.Errorf("node %d and %d name the run differently", id, peer)
			}
		}
	}
	n.run(20 * time.Second)
	if s := n.nodes[2].syncs; s > 25 {
		t.Errorf("%d syncs in 22 s for some 1,300 requests", s)
	}
}

// TestSilence: when a node falls silent, the others are released once its support has expired, and not before.
func TestSilence(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	n.cut[3] = true
	until := n.nodes[1].c.SupportForUntil(3)
	for n.now() < until.Add(10*time.Millisecond) {
		if n.nodes[1].c.TryWithdraw(3) && n.now() <= until {
			t.Fatalf("released at %d, bound until %d", n.now(), until)
		}
		n.run(time.Millisecond)
	}
	if !n.nodes[1].c.TryWithdraw(3) {
		t.Fatalf("still bound at %d by support until %d", n.now(), until)
	}
	n.run(time.Second)
	if n.nodes[1].c.Alive(3) {
		t.Error("a node that was silent for more than a second is taken for alive")
	}
	// The node comes back: the support that it gets belongs to another epoch.
	old := n.nodes[3].c.SupportFrom(1).Epoch
	n.cut[3] = false
	n.run(time.Second)
	if s := n.nodes[3].c.SupportFrom(1); s.Epoch == old || s.Until < n.now() {
		t.Fatalf("after the silence: support %+v, the run before was %d", s, old)
	}
}

// TestRestart: a killed node is bound to everybody until its high water has passed, asks nobody until then, and hears of
// the cluster again. Its peers see its new start.
func TestRestart(t *testing.T) {
	n := newNet(t)
	n.run(2 * time.Second)
	n.nodes[2].rt.Kill()
	n.run(100 * time.Millisecond)
	n.nodes[2].start(nil)
	fence := n.nodes[2].high
	for n.now() <= fence {
		if n.nodes[2].c.TryWithdraw(0) || n.nodes[2].c.TryWithdraw(1) {
			t.Fatalf("released at %d, the high water is %d", n.now(), fence)
		}
		n.run(50 * time.Millisecond)
	}
	if n.nodes[1].c.SupportFromUntil(2) < n.now() {
		t.Error("a restarted node supports others while it waits")
	}
	n.run(time.Second)
	if !n.nodes[2].c.TryWithdraw(0) {
		t.Error("still bound after its high water")
	}
	if n.nodes[2].c.SupportFromUntil(1) < n.now() {
		t.Error("no support of the restarted node")
	}
	a, _ := n.nodes[3].c.Node(2)
	if b := n.nodes[2].c.Self(); a.Started != b.Started {
		t.Error("node 3 has not heard of the new start")
	}
}

// TestDiskFails: a store that cannot make its high water durable gives no support.
func TestDiskFails(t *testing.T) {
	n := newNet(t)
	n.run(time.Second)
	n.nodes[2].fail = errors.New("disk full")
	n.run(10 * time.Second)
	if until := n.nodes[1].c.SupportFromUntil(2); until > n.nodes[2].high {
		t.Fatalf("support until %d, durable %d", until, n.nodes[2].high)
	}
}

// TestFirstRange: the descriptor of the highest generation reaches all.
func TestFirstRange(t *testing.T) {
	n := newNet(t)
	n.nodes[2].c.SetFirstRange(kv.RangeDescriptor{ID: 1, Generation: 3})
	n.nodes[3].c.SetFirstRange(kv.RangeDescriptor{ID: 1, Generation: 2})
	n.nodes[3].c.Update(func(i *kv.NodeInfo) { i.Leases = 7 })
	n.run(2 * time.Second)
	for id, nd := range n.nodes {
		if d, ok := nd.c.FirstRange(); !ok || d.Generation != 3 {
			t.Errorf("node %d has %v", id, d.String())
		}
		if i, _ := nd.c.Node(3); i.Leases != 7 {
			t.Errorf("node %d has not heard of the change", id)
		}
	}
}
