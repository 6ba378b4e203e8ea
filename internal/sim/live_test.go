package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// liveNode is a node on goroutines and real time, in a process that can be killed.
type liveNode struct {
	c      *liveCluster
	index  int
	source *clock.Sim

	mu    sync.Mutex // guards what follows; never held while waiting
	id    kv.NodeID
	disk  *vfs.MemFS
	life  int
	rt    *mortal
	clock *clock.Clock
	eng   *storage.Engines
	node  *node.Node // nil: no process
}

type liveCluster struct {
	t     *testing.T
	nodes []*liveNode
}

func newLiveCluster(t *testing.T, n int) *liveCluster {
	c := &liveCluster{t: t}
	for i := range n {
		eps := time.Duration(i+1) * time.Millisecond
		c.nodes = append(c.nodes, &liveNode{c: c, index: i, disk: vfs.NewCrashableMem(),
			source: clock.NewSim(clock.Conditions{Bound: eps, Offset: []time.Duration{eps, -eps, 0}[i%3]}, nil)})
	}
	return c
}

// process is what the node's present process consists of; ok is false if there is none.
func (n *liveNode) process() (p *node.Node, r *mortal, life int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.node, n.rt, n.life, n.node != nil
}

func (n *liveNode) alive(life int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life == life && n.node != nil
}

func (n *liveNode) start() error {
	r := newMortal()
	eng, err := storage.Open(storage.Options{FS: n.disk, Dir: "store", Cache: 8 << 20})
	if err != nil {
		return err
	}
	clk := clock.New(n.source, clock.Options{})
	n.mu.Lock()
	n.life++
	life := n.life
	n.mu.Unlock()
	p, err := node.New(node.Options{RT: r, Clock: clk, Transport: liveTransport{n, life, r, clk}, Engines: eng,
		Self: kv.NodeInfo{RPCAddr: fmt.Sprint("n", n.index+1), Version: "test"}, Bootstrap: n.index == 0, Join: n.join,
		SupportDuration: time.Second})
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.rt, n.clock, n.eng, n.node = r, clk, eng, p
	n.mu.Unlock()
	if err := p.Open(); err != nil {
		return err
	}
	n.mu.Lock()
	n.id = p.Self().ID
	n.mu.Unlock()
	return p.Start()
}

// kill ends the process and takes away what it had not synced. Order matters: first nothing of it reaches anybody any
// more, then the disk is as it is.
func (n *liveNode) kill() {
	n.mu.Lock()
	r, eng := n.rt, n.eng
	n.node, n.rt, n.clock, n.eng = nil, nil, nil, nil
	n.life++
	n.disk = n.disk.CrashClone(vfs.CrashCloneCfg{})
	n.mu.Unlock()
	r.kill()
	if !r.drained(20 * time.Second) {
		n.c.t.Errorf("node %d: %d tasks did not end after a kill", n.index+1, r.tasks.Load())
		return
	}
	_ = eng.Close() // writes what it has to the disk that was
}

func (n *liveNode) join(m *kv.Message) (*kv.Message, error) {
	_, r, life, ok := n.process()
	if !ok {
		return nil, errReset
	}
	n.mu.Lock()
	clk := n.clock
	n.mu.Unlock()
	return liveTransport{n, life, r, clk}.call(n.c.nodes[0], 1, m, 5*time.Second)
}

// liveTransport carries encoded messages between the nodes of one test, each in a goroutine of its own.
type liveTransport struct {
	n    *liveNode
	life int
	rt   *mortal
	clk  *clock.Clock
}

func (t liveTransport) peer(id kv.NodeID) *liveNode {
	for _, p := range t.n.c.nodes {
		p.mu.Lock()
		found := p.id == id
		p.mu.Unlock()
		if found {
			return p
		}
	}
	return nil
}

func stampLive(m *kv.Message, from, to kv.NodeID, cluster kv.ClusterID, clk *clock.Clock) ([]byte, error) {
	c := *m
	c.From, c.To, c.Cluster, c.Earliest, c.Latest = from, to, cluster, 0, 0
	if iv, err := clk.Now(); err == nil {
		c.Earliest, c.Latest = iv.Earliest, iv.Latest
	}
	return c.MarshalMsg(nil)
}

// deliver hands an encoded message to a peer's process, if there is one, and returns the encoded answer.
func deliver(p *liveNode, data []byte, answer func([]byte)) bool {
	proc, r, life, ok := p.process()
	if !ok {
		return false
	}
	r.Go("message", func() {
		m := new(kv.Message)
		if _, err := m.UnmarshalMsg(data); err != nil {
			p.c.t.Errorf("decode: %v", err)
			return
		}
		p.mu.Lock()
		clk, id := p.clock, p.id
		p.mu.Unlock()
		if clk == nil {
			return
		}
		if m.Latest != 0 && m.From != 0 {
			clk.Observe(uint32(m.From), m.Earliest, m.Latest)
		}
		reply := proc.Handle(m)
		if reply == nil || answer == nil {
			return
		}
		out, err := stampLive(reply, id, m.From, proc.Self().Cluster, clk)
		if err != nil {
			p.c.t.Errorf("encode: %v", err)
		} else if p.alive(life) {
			answer(out)
		}
	})
	return true
}

func (t liveTransport) Send(to kv.NodeID, m *kv.Message) {
	if p := t.peer(to); p != nil && t.n.alive(t.life) {
		proc, _, _, _ := t.n.process()
		data, err := stampLive(m, t.n.id, to, proc.Self().Cluster, t.clk)
		if err != nil {
			t.n.c.t.Errorf("encode: %v", err)
			return
		}
		deliver(p, data, nil)
	}
}

func (t liveTransport) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	p := t.peer(to)
	if p == nil {
		return nil, errNoRoute
	}
	return t.call(p, to, m, limit)
}

func (t liveTransport) call(p *liveNode, to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	proc, _, _, ok := t.n.process()
	if !ok || !t.n.alive(t.life) {
		return nil, errReset
	}
	t.n.mu.Lock()
	from := t.n.id
	t.n.mu.Unlock()
	data, err := stampLive(m, from, to, proc.Self().Cluster, t.clk)
	if err != nil {
		return nil, err
	}
	f := rt.NewFuture[[]byte](t.rt)
	if !deliver(p, data, func(b []byte) { f.Set(b, nil) }) {
		return nil, errReset
	}
	data, err = f.Get(limit)
	if err != nil {
		return nil, err
	}
	out := new(kv.Message)
	if _, err := out.UnmarshalMsg(data); err != nil {
		return nil, err
	}
	if out.Latest != 0 && out.From != 0 {
		t.clk.Observe(uint32(out.From), out.Earliest, out.Latest)
	}
	return out, nil
}

func (n *liveNode) client(h *History, name string, seed uint64) (*Client, bool) {
	p, r, life, ok := n.process()
	if !ok || !p.Serving() {
		return nil, false
	}
	return &Client{Name: fmt.Sprintf("n%d.%d/%s", n.index+1, life, name), DB: p.DB, RT: r, H: h,
		Rand: rand.New(rand.NewPCG(seed, uint64(life))), Orderings: []txn.Ordering{txn.Wait}, Locking: 0.5,
		Alive: func() bool { return n.alive(life) }, Note: func(string, ...any) {}}, true
}

// do runs fn as a task of the node's process and waits for it.
func (n *liveNode) do(fn func(p *node.Node, r rt.Runtime) error) error {
	p, r, _, ok := n.process()
	if !ok {
		return errReset
	}
	done := make(chan error, 1)
	r.Go("do", func() { done <- fn(p, r) })
	select {
	case err := <-done:
		return err
	case <-r.dead:
		return errReset
	case <-time.After(time.Minute):
		return errors.New("not done within a minute")
	}
}

// TestLiveCluster is the same nodes and workloads on goroutines and real time: nodes are killed and restarted while
// clients transfer money, change registers and read whole tables. It is here for the race detector, and because the event
// loop, which runs one task at a time, cannot show what only true concurrency does.
func TestLiveCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute")
	}
	t.Parallel()
	c := newLiveCluster(t, 3)
	defer func() {
		for _, n := range c.nodes {
			if _, _, _, ok := n.process(); ok {
				n.kill()
			}
		}
	}()
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			t.Fatal(err)
		}
	}
	var h History
	loads := []Workload{newRegisters(6, 0), &bank{}, &order{}}
	setup := func(p *node.Node, r rt.Runtime) error {
		for r.Now() < time.Minute && !replicatedOn(p, 3) {
			r.Sleep(50 * time.Millisecond)
		}
		cl, _ := c.nodes[0].client(&h, "setup", 1)
		for _, l := range loads {
			if err := cl.cut(p.Router, l, []kv.NodeID{1, 2, 3}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := c.nodes[0].do(setup); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i, n := range c.nodes {
		for j, l := range loads {
			clients.Add(1)
			go func() {
				defer clients.Done()
				for seed := uint64(0); ; seed++ {
					select {
					case <-stop:
						return
					default:
					}
					cl, ok := n.client(&h, fmt.Sprint("c", j), seed<<8|uint64(i*len(loads)+j))
					if !ok {
						time.Sleep(20 * time.Millisecond)
						continue
					}
					_ = n.do(func(*node.Node, rt.Runtime) error {
						for {
							select {
							case <-stop:
								return nil
							default:
								l.Step(cl)
							}
						}
					})
				}
			}()
		}
	}
	for k := range 3 {
		time.Sleep(3 * time.Second)
		n := c.nodes[(k+1)%3]
		n.kill()
		time.Sleep(1500 * time.Millisecond)
		if err := n.start(); err != nil {
			t.Fatal(err)
		}
	}
	// Accounts that a killed node was about to change are locked until its transactions have expired.
	time.Sleep(7 * time.Second)
	close(stop)
	clients.Wait()
	for i, n := range c.nodes {
		err := n.do(func(p *node.Node, r rt.Runtime) error {
			cl, _ := n.client(&h, "final", uint64(i))
			for _, l := range loads {
				if err := cl.insist(20*time.Second, "final read", func() error { return l.Final(cl) }); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("node %d does not serve at the end: %v", i+1, err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range loads {
		n := l.Ops()
		t.Logf("%T: %d ok, %d failed, %d unknown", l, n[check.OK], n[check.Failed], n[check.Unknown])
		if n[check.OK] < 50 {
			t.Errorf("%T: only %d operations succeeded", l, n[check.OK])
		}
		for _, a := range l.Check() {
			t.Error(a)
		}
	}
}
