package replica

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"google.golang.org/protobuf/proto"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
	"github.com/longitude-db/longitude/internal/storage"
)

// harness is a few stores on one event loop: virtual time, a network that delays and can be cut, disks that lose what was
// not synced. The same seed gives the same run.
type harness struct {
	t     *testing.T
	loop  *eventloop.Loop
	nodes []*member // by id - 1
	cut   map[[2]kv.NodeID]bool
	// drop, if set, loses some messages.
	drop  func(from, to kv.NodeID, m *kv.Message) bool
	trace uint64 // hash of everything delivered
	tweak func(*Options)
	mesh  func(*cluster.Options)
	// poisoned says whose replicas of which ranges are to be quarantined; nil: none.
	poisoned func(kv.NodeID, kv.RangeID) bool
	user     *eventloop.Runtime // of clients
}

type member struct {
	h     *harness
	id    kv.NodeID
	disk  *vfs.MemFS
	eng   *storage.Engines
	rt    *eventloop.Runtime
	clock *clock.Clock
	sim   *clock.Sim
	c     *cluster.Cluster
	s     *Store
	up    bool
	wrap  func(errorfs.Op) error // faults of the disk
}

const epoch = clock.Instant(1_700_000_000e9)

// newHarness starts n nodes, of which the first has the first range, and waits until all have replicas of it.
func newHarness(t *testing.T, seed uint64, n int, tweak func(*Options)) *harness {
	t.Helper()
	return newHarnessOf(t, seed, n, tweak, nil)
}

func newHarnessOf(t *testing.T, seed uint64, n int, tweak func(*Options), mesh func(*cluster.Options)) *harness {
	t.Helper()
	h := &harness{t: t, loop: eventloop.New(seed), cut: map[[2]kv.NodeID]bool{}, tweak: tweak, mesh: mesh}
	h.user = h.loop.Runtime("user")
	for i := range n {
		m := &member{h: h, id: kv.NodeID(i + 1), disk: vfs.NewCrashableMem()}
		// Unequal clocks: each is off by some of its bound.
		m.sim = clock.NewSim(clock.Conditions{Bound: time.Duration(i+1) * time.Millisecond, Offset: time.Duration(i%3-1) * time.Millisecond}, h.now)
		h.nodes = append(h.nodes, m)
		m.start(i == 0)
	}
	t.Cleanup(func() {
		for _, m := range h.nodes {
			if m.up {
				m.crash()
			}
		}
	})
	h.watch()
	h.wait("replicas everywhere", 20*time.Second, func() bool {
		return slices.ContainsFunc(h.leaders(1), func(m *member) bool {
			d := m.s.ranges.get(1).desc.Load()
			return d.Voters() == min(n, 3)
		})
	})
	// Until the others know that the last change is committed, they could not do without the leader: Raft elects by the
	// configuration that is applied.
	h.run(time.Second)
	return h
}

// watch checks L1 all the time.
func (h *harness) watch() {
	for id := kv.RangeID(1); id <= 3; id++ {
		h.leaders(id)
	}
	h.loop.At(h.loop.Now()+7*time.Millisecond, h.watch)
}

func (h *harness) now() clock.Instant { return epoch.Add(h.loop.Now()) }

// start opens the disk and starts a process on it.
func (m *member) start(bootstrap bool) {
	h := m.h
	var err error
	var fs vfs.FS = m.disk
	if m.wrap != nil {
		fs = errorfs.Wrap(fs, errorfs.InjectorFunc(m.wrap))
	}
	if m.eng, err = storage.Open(storage.Options{FS: fs, Dir: "store", Deterministic: true, Cache: 8 << 20}); err != nil {
		h.t.Fatal(err)
	}
	if bootstrap {
		if err := Bootstrap(m.eng, m.id); err != nil {
			h.t.Fatal(err)
		}
	}
	var high clock.Instant
	if v, ok, err := m.eng.Note("high"); err != nil {
		h.t.Fatal(err)
	} else if ok {
		fmt.Sscan(string(v), &high)
	}
	m.rt = h.loop.Runtime(fmt.Sprint("n", m.id))
	m.clock = clock.New(m.sim, clock.Options{Mono: h.loop.Now})
	m.clock.Poll()
	r := m.rt
	ck := m.clock
	r.Go("clock", func() {
		for {
			r.Sleep(100 * time.Millisecond)
			ck.Poll()
		}
	})
	eng := m.eng
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("TRACE") != "" {
		log = slog.New(slog.NewTextHandler(traceWriter{h}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})).With("n", m.id)
	}
	infos := []kv.NodeInfo{}
	for _, p := range h.nodes {
		infos = append(infos, kv.NodeInfo{ID: p.id})
	}
	co := cluster.Options{
		RT: m.rt, Clock: m.clock, Transport: m, Self: kv.NodeInfo{ID: m.id, Started: h.now()}, Nodes: append(infos, kv.NodeInfo{ID: 1}),
		HighWater: high, Log: log,
		Closed:  func() func(kv.NodeID) []kv.ClosedRange { return m.s.CloseTimestamps() },
		Stalled: func() string { return m.s.Stalled() },
		Persist: func(t clock.Instant) error { return eng.SetNote("high", []byte(fmt.Sprint(t))) },
	}
	if h.mesh != nil {
		h.mesh(&co)
	}
	if m.c, err = cluster.New(co); err != nil {
		h.t.Fatal(err)
	}
	o := Options{RT: m.rt, Clock: m.clock, Engines: m.eng, Transport: m, Cluster: m.c, Node: m.id, Log: log,
		OnFatal:     func(err error) { h.t.Errorf("node %d: %v", m.id, err) },
		Quarantined: m.quarantined,
		DiskDelay:   func() time.Duration { return time.Duration(h.loop.Rand().IntN(2000)) * time.Microsecond }}
	if h.tweak != nil {
		h.tweak(&o)
	}
	if m.s, err = NewStore(o); err != nil {
		h.t.Fatal(err)
	}
	m.c.Start()
	m.s.Start()
	m.up = true
}

type traceWriter struct{ h *harness }

func (w traceWriter) Write(b []byte) (int, error) {
	fmt.Printf("%10.4f %s", w.h.loop.Now().Seconds(), b)
	return len(b), nil
}

// crash kills the process; what was not synced is lost.
func (m *member) crash() {
	if !m.up {
		m.h.t.Fatal("crash of a node that is down")
	}
	m.up = false
	m.rt.Kill()
	after := m.disk.CrashClone(vfs.CrashCloneCfg{})
	if err := m.eng.Close(); err != nil && m.eng.Failed() == nil {
		m.h.t.Fatal(err)
	}
	m.disk = after
}

func (m *member) restart() {
	m.crash()
	m.start(false)
}

// isolate cuts a node off from all others, or mends that.
func (h *harness) isolate(id kv.NodeID, off bool) {
	for _, p := range h.nodes {
		h.cut[[2]kv.NodeID{id, p.id}] = off
		h.cut[[2]kv.NodeID{p.id, id}] = off
	}
}

// deliver hands a message to a node after a random time, unless it is lost.
func (h *harness) deliver(from, to kv.NodeID, m *kv.Message, then func(reply *kv.Message)) {
	if int(to) > len(h.nodes) || h.cut[[2]kv.NodeID{from, to}] || (h.drop != nil && h.drop(from, to, m)) {
		return
	}
	m.From, m.To = from, to
	dst := h.nodes[to-1]
	r := dst.rt
	h.loop.At(h.loop.Now()+time.Duration(100+h.loop.Rand().IntN(2000))*time.Microsecond, func() {
		if h.cut[[2]kv.NodeID{from, to}] || r.Dead() || dst.rt != r {
			return
		}
		h.record(from, to, m)
		r.Go("rpc", func() {
			if reply := dst.handle(m); then != nil {
				then(reply)
			}
		})
	})
}

func (m *member) handle(msg *kv.Message) *kv.Message {
	switch {
	case msg.Raft != nil:
		m.s.HandleRaft(msg.Raft)
	case msg.Liveness != nil:
		m.c.HandleLiveness(msg)
		m.s.HandleClosed(msg.Liveness.Closed)
	case msg.Snapshot != nil:
		return &kv.Message{Ack: m.s.HandleSnapshot(msg.Snapshot)}
	case msg.Batch != nil:
		return &kv.Message{BatchReply: m.s.Execute(msg.Batch)}
	}
	return nil
}

func (m *member) Send(to kv.NodeID, msg *kv.Message) { m.h.deliver(m.id, to, msg, nil) }

func (m *member) Call(to kv.NodeID, msg *kv.Message, limit time.Duration) (*kv.Message, error) {
	f := rt.NewFuture[*kv.Message](m.rt)
	m.h.deliver(m.id, to, msg, func(reply *kv.Message) {
		m.h.deliverReply(to, m, func() { f.Set(reply, nil) })
	})
	return f.Get(limit)
}

func (h *harness) deliverReply(from kv.NodeID, to *member, fn func()) {
	r := to.rt
	h.loop.At(h.loop.Now()+time.Duration(100+h.loop.Rand().IntN(2000))*time.Microsecond, func() {
		if !r.Dead() && !h.cut[[2]kv.NodeID{from, to.id}] {
			fn()
		}
	})
}

// record hashes what is delivered, when, and to whom.
func (h *harness) record(from, to kv.NodeID, m *kv.Message) {
	f := fnv.New64a()
	fmt.Fprint(f, h.trace, h.loop.Now(), from, to)
	b, err := m.MarshalMsg(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	f.Write(b)
	h.trace = f.Sum64()
	if os.Getenv("TRACE") == "2" && m.Raft != nil {
		for _, rm := range m.Raft.Messages {
			p := &raftpb.Message{}
			proto.Unmarshal(rm.Data, p)
			fmt.Printf("%10.4f n%d->n%d r%d %s term=%d index=%d entries=%d commit=%d reject=%t since=%d\n", h.loop.Now().Seconds(), from, to, rm.Range,
				p.GetType(), p.GetTerm(), p.GetIndex(), len(p.GetEntries()), p.GetCommit(), p.GetReject(), rm.SupportEpoch)
		}
	}
}

func (h *harness) run(d time.Duration) { h.loop.Run(d, nil) }

func (h *harness) wait(what string, limit time.Duration, cond func() bool) {
	h.t.Helper()
	if !h.loop.Run(limit, cond) {
		h.t.Fatalf("after %s: still no %s", limit, what)
	}
}

// leaders lists the nodes that can use the lease of a range now. L1 says that there is at most one.
func (h *harness) leaders(id kv.RangeID) (out []*member) {
	for _, m := range h.nodes {
		if m.up {
			if r := m.s.ranges.get(id); r != nil {
				if _, ok := r.lease.holds(); ok {
					out = append(out, m)
				}
			}
		}
	}
	if len(out) > 1 {
		h.t.Fatalf("L1: nodes %d and %d both hold the lease of r%d at %s", out[0].id, out[1].id, id, h.loop.Now())
	}
	return out
}

func (h *harness) leader(id kv.RangeID) *member {
	h.t.Helper()
	h.wait(fmt.Sprintf("leaseholder of r%d", id), 20*time.Second, func() bool { return len(h.leaders(id)) == 1 })
	return h.leaders(id)[0]
}

// task runs fn as a task of the users and steps until it is done.
func (h *harness) task(limit time.Duration, fn func()) {
	h.t.Helper()
	done := false
	h.user.Go("test", func() {
		fn()
		done = true
	})
	h.wait("end of the task", limit, func() bool { return done })
}

var errDown = errors.New("node is down")

// call sends a request to a node from outside, and waits. It is used within a task.
func (h *harness) call(id kv.NodeID, q kv.Request, limit time.Duration) (kv.Response, error) {
	m := h.nodes[id-1]
	if !m.up {
		return kv.Response{}, errDown
	}
	f := rt.NewFuture[kv.Response](h.user)
	r := m.rt
	r.Go("client", func() {
		reply := m.s.Execute(&kv.Batch{Requests: []kv.Request{q}})
		if !r.Dead() {
			f.Set(reply.Responses[0], nil)
		}
	})
	return f.Get(limit)
}

// client is a user of the range that keeps trying, and knows what it was told.
type client struct {
	h   *harness
	rng *rand.Rand
	at  kv.NodeID
}

func (h *harness) client(n uint64) *client {
	return &client{h: h, rng: rand.New(rand.NewPCG(n, 7)), at: 1}
}

func (c *client) txn() (id kv.TxnID) {
	for i := range id {
		id[i] = byte(c.rng.Uint32())
	}
	return id
}

// reading is a clock that a client may use: an honest one.
func (h *harness) reading() clock.Interval {
	return clock.Interval{Earliest: h.now().Add(-time.Millisecond), Latest: h.now().Add(time.Millisecond)}
}

// do sends a request until it is answered or the limit has passed. ok: it certainly took effect; the error of a refusal
// that retrying does not help is returned.
func (c *client) do(id kv.RangeID, q kv.Request, limit time.Duration) (kv.Response, bool) {
	q.Range = id
	for end := c.h.loop.Now() + limit; c.h.loop.Now() < end; {
		resp, err := c.h.call(c.at, q, 3*time.Second)
		switch {
		case err == nil && resp.Err == nil:
			return resp, true
		case err == nil && resp.Err.Code == kv.ErrNotLeaseholder && resp.Err.Leaseholder != 0 && resp.Err.Leaseholder != c.at:
			c.at = resp.Err.Leaseholder
		case err == nil && resp.Err.Code == kv.ErrTooEarly: // there is where to ask, a little later
		case err == nil && resp.Err.Code != kv.ErrNotLeaseholder && resp.Err.Code != kv.ErrUnavailable && resp.Err.Code != kv.ErrAmbiguous &&
			resp.Err.Code != kv.ErrRangeMismatch:
			return resp, false
		default:
			c.at = kv.NodeID(c.rng.IntN(len(c.h.nodes)) + 1)
		}
		c.h.user.Sleep(20 * time.Millisecond)
	}
	return kv.Response{Err: kv.Errorf(kv.ErrAmbiguous, "the client gave up")}, false
}

func (c *client) write(id kv.RangeID, key, value string, limit time.Duration) (kv.Response, bool) {
	return c.writeAt(id, key, value, c.h.reading().Limit(), limit)
}

// writeAt wants to commit at ts, and takes what it gets.
func (c *client) writeAt(id kv.RangeID, key, value string, ts clock.Timestamp, limit time.Duration) (kv.Response, bool) {
	resp, ok := c.do(id, kv.Request{Write: &kv.WriteRequest{
		Txn: c.txn(), Start: ts, Anchor: kv.Key(key), ReadTS: ts, CommitTS: ts, OnePhase: true, CanForward: true,
		Puts: []kv.Put{{Key: kv.Key(key), Value: []byte(value)}}, Laid: c.h.reading().Earliest,
	}}, limit)
	for ok && !c.h.reading().Past(resp.Write.CommitTS) {
		c.h.user.Sleep(time.Millisecond) // rule 2
	}
	return resp, ok
}

// readOf is a read of one key.
func (c *client) readOf(id kv.RangeID, key string, ts clock.Timestamp) kv.Request {
	return kv.Request{Range: id, Read: &kv.ReadRequest{Txn: c.txn(), Start: ts, ReadTS: ts, Limit: ts, MaxLimit: ts, Keys: []kv.Key{kv.Key(key)}}}
}

func (c *client) read(id kv.RangeID, key string, limit time.Duration) (string, clock.Timestamp, bool) {
	ts := c.h.reading().Limit()
	resp, ok := c.do(id, c.readOf(id, key, ts), limit)
	if !ok {
		return "", ts, false
	}
	return string(resp.Read.Values[0]), ts, true
}

// state is what a replica's state instance holds of the range: for comparing replicas.
func (m *member) state(id kv.RangeID) string {
	d := m.s.ranges.get(id).desc.Load()
	it, err := m.eng.State.NewIter(nil)
	if err != nil {
		m.h.t.Fatal(err)
	}
	defer it.Close()
	f := fnv.New64a()
	n := 0
	for _, span := range spansOf(d) {
		lower, upper := storage.Span(span)
		for ok := it.SeekGE(lower); ok && slices.Compare(it.Key(), upper) < 0; ok = it.Next() {
			f.Write(it.Key())
			f.Write(it.Value())
			n++
		}
	}
	return fmt.Sprintf("%s: %d keys, hash %x", d, n, f.Sum64())
}

// converge waits until all replicas of a range have applied the same, and checks that they hold the same.
func (h *harness) converge(id kv.RangeID) {
	h.t.Helper()
	applied := func(m *member) uint64 {
		if r := m.s.ranges.get(id); m.up && r != nil && r.desc.Load() != nil {
			return r.applied.index
		}
		return 0
	}
	h.wait(fmt.Sprintf("agreement on r%d", id), 30*time.Second, func() bool {
		l := h.leaders(id)
		return len(l) == 1 && !slices.ContainsFunc(h.nodes, func(m *member) bool { return applied(m) != applied(l[0]) })
	})
	want := h.nodes[0].state(id)
	for _, m := range h.nodes[1:] {
		if got := m.state(id); got != want {
			h.t.Fatalf("node 1 has %s\nnode %d has %s", want, m.id, got)
		}
	}
}

// quarantined fails the test, unless it says which replicas are to be quarantined.
func (m *member) quarantined(id kv.RangeID, err error) {
	if m.h.poisoned != nil && m.h.poisoned(m.id, id) {
		return
	}
	m.h.t.Errorf("node %d: r%d is quarantined: %v", m.id, id, err)
}
