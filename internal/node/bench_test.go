package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rpc"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// What one operation costs below SQL: three nodes in this process, with TCP between them, Pebble on disk (TMPDIR) and
// goroutines, as in production. cpu-µs/op is what the whole process used of its processors, both sides of every message, all
// three replicas and the kernel included, so it does not change with what else the machine has to do. Of three ranges each
// node leads one.
//
//	go test -run '^$' -bench . ./internal/node

const (
	benchRows  = 30_000 // of each range
	benchValue = 100    // bytes
)

// benchCluster is three nodes; it lives for the whole test process's benchmarks.
type benchCluster struct {
	nodes    [3]*Node
	clocks   [3]*clock.Clock
	inserted atomic.Uint64
}

var theBench struct {
	sync.Once
	c *benchCluster
}

// benchNodes starts the cluster once: that takes longer than the benchmarks. It ends with the process.
func benchNodes(b *testing.B) *benchCluster {
	b.Helper()
	theBench.Do(func() {
		c := &benchCluster{}
		for i := range c.nodes {
			c.start(b, i)
		}
		c.ranges(b)
		c.fill(b)
		theBench.c = c
	})
	if theBench.c == nil {
		b.Skip("the cluster did not start")
	}
	return theBench.c
}

var benchDir string

func (c *benchCluster) start(b *testing.B, i int) {
	b.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	cl := clock.New(clock.Static{D: 20 * time.Microsecond}, clock.Options{})
	if err := cl.Poll(); err != nil {
		b.Fatal(err)
	}
	engines, err := storage.Open(storage.Options{Dir: filepath.Join(benchDir, fmt.Sprint("n", i+1))})
	if err != nil {
		b.Fatal(err)
	}
	var n *Node
	made := make(chan struct{})
	transport := rpc.New(rpc.Options{
		Node:    func() kv.NodeID { return n.Self().ID },
		Cluster: func() kv.ClusterID { return n.Self().Cluster },
		Addr: func(id kv.NodeID) (string, bool) {
			info, ok := n.Cluster.Node(id)
			return info.RPCAddr, ok
		},
		Clock: cl, Listen: listen, Handler: func(m *kv.Message) *kv.Message { <-made; return n.Handle(m) },
	})
	n, err = New(Options{RT: rt.New(), Clock: cl, Transport: transport, Engines: engines, Bootstrap: i == 0,
		Self: kv.NodeInfo{RPCAddr: listen.Addr().String()},
		Join: func(m *kv.Message) (*kv.Message, error) {
			return transport.CallAddr(c.nodes[0].Self().RPCAddr, m, 10*time.Second)
		}})
	if err != nil {
		b.Fatal(err)
	}
	close(made)
	if err := n.Open(); err != nil {
		b.Fatal(err)
	}
	if err := n.Start(); err != nil {
		b.Fatal(err)
	}
	c.nodes[i], c.clocks[i] = n, cl
}

// rangeKey begins the i-th range, which node i+1 leads.
func rangeKey(i int) kv.Key { return kv.Key{keys.DataPrefix[0], byte('a' + i)} }

func benchKey(i int, n uint64) kv.Key {
	return binary.BigEndian.AppendUint64(append(rangeKey(i), "table/"...), n)
}

func (c *benchCluster) ranges(b *testing.B) {
	b.Helper()
	ctx := context.Background()
	r := c.nodes[0].Router
	for i := range c.nodes {
		if err := r.Split(ctx, rangeKey(i)); err != nil {
			b.Fatal(err)
		}
	}
	ready := func() bool {
		for _, info := range c.nodes[0].Store.Ranges() {
			if info.Desc.Voters() < 3 {
				return false
			}
		}
		return true
	}
	for began := time.Now(); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			b.Fatal("the ranges do not get three voters")
		}
	}
	for i := range c.nodes {
		var err error
		for try := 0; try < 100; try++ {
			if err = r.TransferLease(ctx, rangeKey(i), c.nodes[i].Self().ID); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (c *benchCluster) fill(b *testing.B) {
	b.Helper()
	value := make([]byte, benchValue)
	for i := range c.nodes {
		for n := uint64(0); n < benchRows; n += 1000 {
			err := c.nodes[i].DB.Run(context.Background(), txn.Options{}, func(_ context.Context, t *txn.Txn) error {
				for j := range uint64(1000) {
					t.Put(benchKey(i, n+j), value)
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	c.inserted.Store(benchRows)
}

// cpuTime is what this process has used of the processors.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// histogram returns how often a histogram was told something, and the sum.
func histogram(h prometheus.Histogram) (count uint64, sum float64) {
	var m dto.Metric
	if err := h.Write(&m); err != nil {
		panic(err)
	}
	return m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()
}

// syncs counts the log's syncs of all nodes.
func (c *benchCluster) syncs() (n uint64) {
	for _, node := range c.nodes {
		count, _ := histogram(node.Metrics.Replica.LogSync)
		n += count
	}
	return n
}

// clients runs op b.N times from so many clients at once, and reports what one costs.
func (c *benchCluster) clients(b *testing.B, clients int, op func(n uint64) error) {
	b.Helper()
	for i := range uint64(100) {
		if err := op(i); err != nil { // routes are learnt, connections are made
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	cpu, syncs := cpuTime(), c.syncs()
	var n atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for {
				i := n.Add(1)
				if i > int64(b.N) {
					return
				}
				if err := op(uint64(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
	if s := c.syncs() - syncs; s > uint64(b.N/100) {
		b.ReportMetric(float64(s)/float64(b.N), "syncs/op")
	}
}

func (c *benchCluster) read(node, led int, n uint64) error {
	return c.nodes[node].DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, t *txn.Txn) error {
		v, err := t.Get(ctx, benchKey(led, n*7919%benchRows))
		if err == nil && len(v) != benchValue {
			err = fmt.Errorf("read %d bytes", len(v))
		}
		return err
	})
}

// write puts a new row into each of the ranges.
func (c *benchCluster) write(node int, ranges ...int) error {
	n := c.inserted.Add(1)
	return c.nodes[node].DB.Run(context.Background(), txn.Options{}, func(_ context.Context, t *txn.Txn) error {
		for _, i := range ranges {
			if err := t.Insert(benchKey(i, n*0x9E3779B97F4A7C15>>16|1<<60), make([]byte, benchValue)); err != nil {
				return err
			}
		}
		return nil
	})
}

func benchClients(b *testing.B, op func(c *benchCluster) func(n uint64) error, clients ...int) {
	c := benchNodes(b)
	for _, k := range clients {
		b.Run(fmt.Sprintf("clients=%d", k), func(b *testing.B) { c.clients(b, k, op(c)) })
	}
}

// BenchmarkPointReadLocal reads one row on the node that leads its range.
func BenchmarkPointReadLocal(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(n uint64) error { return c.read(0, 0, n) }
	}, 1, 16)
}

// BenchmarkPointReadRemote reads one row of a range that another node leads.
func BenchmarkPointReadRemote(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(n uint64) error { return c.read(0, 1, n) }
	}, 1, 16, 64)
}

// BenchmarkPutOnePhase inserts one row, in a range that this node leads.
func BenchmarkPutOnePhase(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(uint64) error { return c.write(0, 0) }
	}, 1, 16, 64)
}

// BenchmarkPutAnywhere inserts one row: clients of all nodes, rows of all ranges.
func BenchmarkPutAnywhere(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(n uint64) error { return c.write(int(n%3), int(n/3%3)) }
	}, 16, 64)
}

// BenchmarkPutThreeRanges inserts three rows in one transaction, one into each range.
func BenchmarkPutThreeRanges(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(uint64) error { return c.write(0, 0, 1, 2) }
	}, 16)
}

// BenchmarkScan100 reads a hundred rows in a row, on the node that leads their range.
func BenchmarkScan100(b *testing.B) {
	benchClients(b, func(c *benchCluster) func(uint64) error {
		return func(n uint64) error {
			return c.nodes[0].DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, t *txn.Txn) error {
				from := n * 7919 % (benchRows - 100)
				rows, err := t.ScanMany(ctx, []kv.Span{{Start: benchKey(0, from), End: benchKey(0, from+100)}})
				if err == nil && len(rows[0]) != 100 {
					err = fmt.Errorf("read %d rows", len(rows[0]))
				}
				return err
			})
		}
	}, 1, 16)
}

// BenchmarkIdle is three nodes of which nobody wants anything, for a tenth of a second each.
func BenchmarkIdle(b *testing.B) {
	benchNodes(b)
	cpu := cpuTime()
	for b.Loop() {
		time.Sleep(100 * time.Millisecond)
	}
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
}
