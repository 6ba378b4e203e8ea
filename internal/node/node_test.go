package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// trio is three nodes over an in-memory transport, on an event loop or on goroutines: the test is the same.
type trio struct {
	t     *testing.T
	loop  *eventloop.Loop // nil: goroutines
	rt    rt.Runtime      // of the test itself
	mu    sync.Mutex
	nodes [3]*member
	lying bool // conflicts are what the test is about
}

type member struct {
	c      *trio
	i      int
	fs     *vfs.MemFS
	source *clock.Sim

	// The process; c.mu guards it.
	rt    rt.Runtime
	clock *clock.Clock
	eng   *storage.Engines
	node  *Node
	id    kv.NodeID
	up    bool
}

const epoch = 1_700_000_000_000_000_000

func newTrio(t *testing.T, loop *eventloop.Loop) *trio {
	c := &trio{t: t, loop: loop}
	c.rt = c.runtime("test")
	var truth func() clock.Instant
	if loop != nil {
		truth = func() clock.Instant { return clock.Instant(epoch).Add(loop.Now()) }
	}
	for i := range c.nodes {
		eps := time.Duration(i+1) * time.Millisecond
		c.nodes[i] = &member{c: c, i: i, fs: vfs.NewCrashableMem(),
			source: clock.NewSim(clock.Conditions{Bound: eps, Offset: []time.Duration{eps, -eps, 0}[i]}, truth)}
	}
	return c
}

func (c *trio) runtime(name string) rt.Runtime {
	if c.loop != nil {
		return c.loop.Runtime(name)
	}
	return rt.New()
}

// run executes fn as a task of the test.
func (c *trio) run(fn func()) {
	if c.loop == nil {
		fn()
		return
	}
	done := false
	c.rt.Go("test", func() { fn(); done = true })
	if !c.loop.Run(10*time.Minute, func() bool { return done }) {
		c.t.Fatal("the test hangs")
	}
}

// on executes fn as a task of a node's process.
func (m *member) on(what string, fn func() error) {
	m.c.t.Helper()
	fut := rt.NewFuture[struct{}](m.c.rt)
	m.rt.Go("op", func() { fut.Set(struct{}{}, fn()) })
	if _, err := fut.Get(time.Minute); err != nil {
		m.c.t.Fatalf("node %d: %s: %v", m.i+1, what, err)
	}
}

// until waits for a condition.
func (c *trio) until(what string, limit time.Duration, ok func() bool) {
	c.t.Helper()
	for began := c.rt.Now(); !ok(); c.rt.Sleep(20 * time.Millisecond) {
		if c.rt.Now()-began > limit {
			c.t.Fatalf("after %s: not yet: %s", limit, what)
		}
	}
}

func (m *member) start() {
	c := m.c
	m.rt = c.runtime(fmt.Sprint("n", m.i+1))
	o := clock.Options{}
	if c.loop != nil {
		o.Mono = m.source.Mono(c.loop.Now)
	}
	m.clock = clock.New(m.source, o)
	eng, err := storage.Open(storage.Options{FS: m.fs, Dir: "store", Cache: 1 << 20, Deterministic: c.loop != nil})
	if err != nil {
		c.t.Fatal(err)
	}
	m.eng = eng
	m.node, err = New(Options{RT: m.rt, Clock: m.clock, Transport: wire{m}, Engines: eng, Self: kv.NodeInfo{RPCAddr: fmt.Sprint("n", m.i+1)},
		Bootstrap: m.i == 0, SupportDuration: time.Second,
		Join: func(msg *kv.Message) (*kv.Message, error) { return wire{m}.to(c.nodes[0], msg, time.Second) }})
	if err != nil {
		c.t.Fatal(err)
	}
	m.on("open", func() error {
		if err := m.node.Open(); err != nil {
			return err
		}
		c.mu.Lock()
		m.id, m.up = m.node.Self().ID, true
		c.mu.Unlock()
		return m.node.Start()
	})
}

// stop ends the process in order; silently it just no longer hears or says anything.
func (m *member) stop(drain bool) {
	m.on("stop", func() error { return m.node.Stop(drain) })
	m.silence()
	if err := m.eng.Close(); err != nil {
		m.c.t.Fatal(err)
	}
}

func (m *member) silence() {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	m.up = false
}

// wire carries messages between members that are up, encoded.
type wire struct{ m *member }

var errDown = errors.New("down")

func (w wire) peer(id kv.NodeID) *member {
	w.m.c.mu.Lock()
	defer w.m.c.mu.Unlock()
	for _, p := range w.m.c.nodes {
		if p.id == id && p.up && w.m.up {
			return p
		}
	}
	return nil
}

func (w wire) Call(id kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	if p := w.peer(id); p != nil {
		return w.to(p, m, limit)
	}
	w.m.rt.Sleep(time.Millisecond)
	return nil, errDown
}

func (w wire) to(p *member, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	p.c.mu.Lock()
	up := p.up
	p.c.mu.Unlock()
	if !up {
		w.m.rt.Sleep(10 * time.Millisecond)
		return nil, errDown
	}
	fut := rt.NewFuture[*kv.Message](w.m.rt)
	sent := w.m.stamp(m)
	p.rt.Go("handle", func() {
		got := p.receive(sent)
		answer := p.node.Handle(got)
		if answer == nil {
			return
		}
		back := p.stamp(answer)
		w.m.rt.Go("answer", func() { fut.Set(w.m.receive(back), nil) })
	})
	return fut.Get(limit)
}

func (w wire) Send(id kv.NodeID, m *kv.Message) {
	p := w.peer(id)
	if p == nil {
		return
	}
	sent := w.m.stamp(m)
	p.rt.Go("handle", func() { p.node.Handle(p.receive(sent)) })
}

func (m *member) stamp(msg *kv.Message) []byte {
	out := *msg
	out.From, out.Cluster = m.node.Self().ID, m.node.Self().Cluster
	if iv, err := m.clock.Now(); err == nil {
		out.Earliest, out.Latest = iv.Earliest, iv.Latest
	}
	b, err := out.MarshalMsg(nil)
	if err != nil {
		panic(err)
	}
	return b
}

func (m *member) receive(b []byte) *kv.Message {
	var msg kv.Message
	if _, err := msg.UnmarshalMsg(b); err != nil {
		panic(err)
	}
	if msg.From != 0 && msg.Earliest != 0 && m.clock.Observe(uint32(msg.From), msg.Earliest, msg.Latest) && !m.c.lying {
		m.c.t.Errorf("honest clocks contradict each other: node %d, message from %d", m.i+1, msg.From)
	}
	return &msg
}

func key(s string) kv.Key { return append(kv.Key(nil), append(keys.DataPrefix, s...)...) }

// both writes the same number, one more than before, to two keys of different ranges.
func (m *member) both(o txn.Ordering) {
	m.c.t.Helper()
	m.on("transaction", func() error {
		return m.node.DB.Run(context.Background(), txn.Options{Ordering: o}, func(ctx context.Context, tx *txn.Txn) error {
			vs, err := tx.GetMany(ctx, []kv.Key{key("a"), key("z")})
			if err != nil {
				return err
			}
			if string(vs[0]) != string(vs[1]) {
				return fmt.Errorf("a=%q and z=%q", vs[0], vs[1])
			}
			var n int
			_, _ = fmt.Sscan(string(vs[0]), &n)
			tx.Put(key("a"), fmt.Append(nil, n+1))
			tx.Put(key("z"), fmt.Append(nil, n+1))
			return nil
		})
	})
}

func (m *member) expect(want int) {
	m.c.t.Helper()
	m.on("check", func() error {
		return m.node.DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, tx *txn.Txn) error {
			rows, err := tx.ScanMany(ctx, []kv.Span{{Start: key(""), End: keys.Max}})
			if err != nil {
				return err
			}
			if len(rows[0]) != 2 || string(rows[0][0].Value) != fmt.Sprint(want) || string(rows[0][1].Value) != fmt.Sprint(want) {
				return fmt.Errorf("read %v, want %d twice", rows[0], want)
			}
			return nil
		})
	})
}

// leads reports whether the member leads the range that holds the key.
func (m *member) leads(k kv.Key) bool {
	for _, r := range m.node.Store.Ranges() {
		if r.Desc.Span.Contains(k) {
			return r.Leads
		}
	}
	return false
}

func (m *member) voters() int {
	least := 99
	for _, r := range m.node.Store.Ranges() {
		least = min(least, r.Desc.Voters())
	}
	return least
}

func threeNodes(t *testing.T, c *trio) {
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	ctx := context.Background()
	for _, m := range c.nodes {
		m.start()
	}
	if a.id != 1 || b.id == d.id || b.id < 2 || d.id < 2 {
		t.Fatalf("node ids %d, %d, %d", a.id, b.id, d.id)
	}
	c.until("three voters", 30*time.Second, func() bool { return a.voters() == 3 })
	a.both(txn.Wait)
	b.both(txn.Uncertainty)
	d.both(txn.Wait)
	d.expect(3)

	b.on("split", func() error { return b.node.Router.Split(ctx, key("m")) })
	b.on("split again", func() error { return b.node.Router.Split(ctx, key("m")) })
	a.on("transfer", func() error { return a.node.Router.TransferLease(ctx, key("m"), d.id) })
	c.until("node 3 leads the right range", 10*time.Second, func() bool { return d.leads(key("z")) })
	for range 3 {
		a.both(txn.Uncertainty)
		b.both(txn.Wait)
		d.both(txn.Uncertainty)
	}
	d.expect(12)
	a.on("ranges", func() error {
		rs, err := a.node.Router.Ranges(ctx, kv.Span{Start: keys.Min, End: keys.Max})
		if err == nil && (len(rs) != 2 || !rs[1].Span.Start.Equal(key("m"))) {
			err = fmt.Errorf("%v", rs)
		}
		return err
	})

	b.on("registry", func() error {
		reg, err := b.node.Registered(ctx)
		if err == nil && (len(reg) != 3 || reg[2].ID != max(b.id, d.id) || reg[2].RPCAddr == "") {
			err = fmt.Errorf("%v", reg)
		}
		return err
	})

	// One node falls silent without giving anything up, the leaseholder of half the data. The others go on.
	d.silence()
	began := c.rt.Now()
	a.both(txn.Wait)
	t.Logf("a transaction went through %s after the leaseholder fell silent", c.rt.Now()-began)
	b.both(txn.Uncertainty)
	b.expect(14)
	d.on("stop", func() error { return d.node.Stop(false) })
	if err := d.eng.Close(); err != nil {
		t.Fatal(err)
	}

	// It comes back as who it was, and has what it missed.
	was := d.id
	d.start()
	if d.id != was {
		t.Errorf("node %d came back as %d", was, d.id)
	}
	d.both(txn.Wait)
	d.expect(15)

	// A graceful stop gives its leases away.
	lead := a
	if !a.leads(key("a")) {
		lead = b
	}
	other := a
	if lead == a {
		other = b
	}
	c.until("all are one", 30*time.Second, func() bool { return len(other.node.Cluster.Nodes()) == 3 && other.node.Cluster.Alive(d.id) })
	lead.stop(true)
	began = c.rt.Now()
	other.both(txn.Wait)
	if took := c.rt.Now() - began; took > time.Second {
		t.Errorf("a transaction took %s after a graceful stop", took)
	}
	other.expect(16)
	other.stop(false)
	d.stop(false)
}

func TestThreeNodesOnTheEventLoop(t *testing.T) {
	for seed := range uint64(5) {
		c := newTrio(t, eventloop.New(seed))
		c.run(func() { threeNodes(t, c) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestThreeNodesOnGoroutines(t *testing.T) {
	c := newTrio(t, nil)
	c.run(func() { threeNodes(t, c) })
}
