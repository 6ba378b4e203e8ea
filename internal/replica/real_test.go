package replica

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// realNode is a store on goroutines and the machine's clock; calls are function calls.
type realNode struct {
	id    kv.NodeID
	nodes *[]*realNode
	eng   *storage.Engines
	clock *clock.Clock
	c     *cluster.Cluster
	s     *Store
	ready atomic.Bool
}

func (n *realNode) deliver(to kv.NodeID, m *kv.Message) *kv.Message {
	m.From = n.id
	dst := (*n.nodes)[to-1]
	switch {
	case !dst.ready.Load():
	case m.Raft != nil:
		dst.s.HandleRaft(m.Raft)
	case m.Liveness != nil:
		dst.c.HandleLiveness(m)
	case m.Snapshot != nil:
		return &kv.Message{Ack: dst.s.HandleSnapshot(m.Snapshot)}
	}
	return nil
}

func (n *realNode) Send(to kv.NodeID, m *kv.Message) { go n.deliver(to, m) }

func (n *realNode) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	if reply := n.deliver(to, m); reply != nil {
		return reply, nil
	}
	return nil, fmt.Errorf("node %d does not answer", to)
}

// Real tasks, real time, and the race detector where it is on: clients write and read while the lease is handed about and
// the range is split.
func TestRealRuntime(t *testing.T) {
	r := rt.New()
	var nodes []*realNode
	for i := range 3 {
		n := &realNode{id: kv.NodeID(i + 1), nodes: &nodes, clock: clock.New(clock.NewSim(clock.Conditions{Bound: time.Millisecond}, nil), clock.Options{})}
		n.clock.Start()
		nodes = append(nodes, n)
	}
	infos := []kv.NodeInfo{{ID: 1}, {ID: 2}, {ID: 3}}
	for _, n := range nodes {
		var err error
		if n.eng, err = storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 8 << 20}); err != nil {
			t.Fatal(err)
		}
		if n.id == 1 {
			if err := Bootstrap(n.eng, n.id); err != nil {
				t.Fatal(err)
			}
		}
		if n.c, err = cluster.New(cluster.Options{RT: r, Clock: n.clock, Transport: n, Self: infos[n.id-1], Nodes: infos,
			Persist: func(clock.Instant) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		if n.s, err = NewStore(Options{RT: r, Clock: n.clock, Engines: n.eng, Transport: n, Cluster: n.c, Node: n.id, Tick: 20 * time.Millisecond,
			KeepEntries: 100, FlushInterval: time.Second, OnFatal: func(err error) { t.Error(err) }}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		n.c.Start()
		n.s.Start()
		n.ready.Store(true)
	}
	do := func(q kv.Request) *kv.Response {
		var resp kv.Response
		for i := range 500 {
			resp = nodes[i%3].s.Execute(&kv.Batch{Requests: []kv.Request{q}}).Responses[0]
			if resp.Err == nil {
				return &resp
			}
			if resp.Err.Code == kv.ErrRangeMismatch && q.Range == 1 && len(resp.Err.Descriptors) > 0 {
				for _, d := range resp.Err.Descriptors {
					if q.Write != nil && d.Span.Contains(q.Write.Puts[0].Key) || q.Read != nil && d.Span.Contains(q.Read.Keys[0]) {
						q.Range = d.ID
					}
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%+v", resp.Err)
		return nil
	}
	now := func() clock.Timestamp { iv, _ := nodes[0].clock.Now(); return iv.Limit() }
	var seq atomic.Uint64
	txn := func() (id kv.TxnID) {
		copy(id[:], fmt.Sprintf("%016d", seq.Add(1)))
		return id
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var done atomic.Int64
	for c := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key, val, ts := kv.Key(fmt.Sprintf("k%d-%d", c, i%10)), fmt.Sprint(i), now()
				w := do(kv.Request{Range: 1, Write: &kv.WriteRequest{Txn: txn(), Start: ts, Anchor: key, ReadTS: ts, CommitTS: ts, OnePhase: true, CanForward: true,
					Puts: []kv.Put{{Key: key, Value: []byte(val)}}, Laid: clock.Instant(ts.Wall)}})
				if w == nil {
					return
				}
				for at := now(); at.LessEq(w.Write.CommitTS); at = now() {
					time.Sleep(time.Millisecond)
				}
				ts = now()
				rd := do(kv.Request{Range: 1, Read: &kv.ReadRequest{Txn: txn(), Start: ts, ReadTS: ts, Limit: ts, MaxLimit: ts, Keys: []kv.Key{key}}})
				if rd == nil || string(rd.Read.Values[0]) != val {
					t.Errorf("%s: wrote %s at %s, read %v at %s", key, val, w.Write.CommitTS, rd, ts)
					return
				}
				done.Add(1)
			}
		})
	}
	wait := func(what string, cond func() bool) {
		for range 1000 {
			if cond() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("no %s", what)
	}
	wait("replicas", func() bool {
		rep := nodes[2].s.ranges.get(1)
		return rep != nil && rep.desc.Load() != nil && rep.desc.Load().Voters() == 3
	})
	do(kv.Request{Range: 1, Admin: &kv.AdminRequest{TransferLease: 2}})
	if resp := do(kv.Request{Range: 1, Admin: &kv.AdminRequest{SplitAt: kv.Key("k2"), NewRange: 2}}); resp != nil {
		do(kv.Request{Range: 2, Admin: &kv.AdminRequest{TransferLease: 3}})
	}
	time.Sleep(500 * time.Millisecond)
	close(stop)
	wg.Wait()
	t.Logf("%d writes and reads", done.Load())
	if done.Load() < 20 {
		t.Errorf("only %d writes and reads", done.Load())
	}
	for _, n := range nodes {
		if err := n.s.Stop(2 * time.Second); err != nil {
			t.Error(err)
		}
		n.ready.Store(false)
	}
	for _, n := range nodes {
		n.c.Stop()
		n.clock.Stop()
	}
	time.Sleep(300 * time.Millisecond) // messages on their way
	for _, n := range nodes {
		if err := n.eng.Close(); err != nil {
			t.Error(err)
		}
	}
}
