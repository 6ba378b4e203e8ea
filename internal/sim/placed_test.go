package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/txn"
)

// testWorld is a cluster of three without faults, its clients and workloads the test's own, with the clocks given.
func testWorld(t *testing.T, seed uint64, change func(*Config)) *run {
	t.Helper()
	cfg := ControlConfig(seed)
	cfg.MaxSteps, cfg.Workloads, cfg.Disk = 20_000_000, []string{"register"}, 0
	change(&cfg)
	r := &run{World: newWorld(cfg, newTrace(200, nil, false))}
	t.Cleanup(r.close)
	for _, name := range cfg.Workloads {
		r.loads = append(r.loads, newWorkload(name))
	}
	for _, err := range []error{r.bootAll(), r.setup()} {
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, r.pending())
		}
	}
	return r
}

// on runs fn as a task of a machine to its end.
func (r *run) on(t *testing.T, m *Machine, fn func() error) {
	t.Helper()
	var err error
	done := false
	m.RT.Go("test", func() { err, done = fn(), true })
	if rerr := r.runUntil(time.Minute, "the test's task ends", func() bool { return done }); rerr != nil {
		t.Fatal(rerr)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ownRange makes a range that begins with the key, led by a machine.
func (r *run) ownRange(t *testing.T, key kv.Key, m *Machine) {
	t.Helper()
	r.on(t, m, func() error {
		ctx := context.Background()
		if err := m.Node.Router.Split(ctx, key); err != nil {
			return err
		}
		return m.Node.Router.TransferLease(ctx, key, m.ID)
	})
	if err := r.runUntil(10*time.Second, "the lease is there", func() bool {
		return slices.ContainsFunc(m.Node.Store.Ranges(), func(x replica.RangeInfo) bool { return x.Desc.Span.Start.Equal(key) && x.Leads && x.LeaseUntil != 0 })
	}); err != nil {
		t.Fatal(err)
	}
}

func testKey(s string) kv.Key { return append(append(kv.Key(nil), keys.DataPrefix...), s...) }

// TestPoorGateway: a client of a node whose clock may be off by 50 ms writes and reads single keys of a range that a node with a good
// clock leads. Every other transaction goes by the gateway's own reading, for comparison. Latencies are medians, in virtual time.
func TestPoorGateway(t *testing.T) {
	t.Parallel()
	r := testWorld(t, 1, func(c *Config) {
		c.Clocks = []clock.Conditions{{Bound: 50 * time.Millisecond, Offset: 30 * time.Millisecond}, {Bound: 50 * time.Microsecond}, {Bound: 50 * time.Microsecond}}
		c.Link.Base, c.Link.Jitter = 500*time.Microsecond, 0
	})
	gateway, leaseholder := r.Machines[0], r.Machines[1]
	r.ownRange(t, testKey("placed"), leaseholder)
	took := map[string][]time.Duration{}
	r.on(t, gateway, func() error {
		for i := range 100 {
			for _, own := range []bool{true, false} {
				o := txn.Options{OwnReading: own}
				key := testKey(fmt.Sprintf("placed/%d/%t", i, own))
				run := func(what string, fn txn.Func) error {
					began := gateway.RT.Now()
					err := gateway.Node.DB.Run(context.Background(), o, fn)
					took[fmt.Sprint(what, own)] = append(took[fmt.Sprint(what, own)], gateway.RT.Now()-began)
					return err
				}
				if err := run("insert", func(_ context.Context, x *txn.Txn) error { return x.Insert(key, []byte("1")) }); err != nil {
					return err
				}
				if err := run("read", func(ctx context.Context, x *txn.Txn) error { _, err := x.Get(ctx, key); return err }); err != nil {
					return err
				}
				// A row that another node's client has just written.
				var fresh error
				done := leaseholder.RT.NewSignal()
				leaseholder.RT.Go("writer", func() {
					fresh = leaseholder.Node.DB.Run(context.Background(), txn.Options{}, func(_ context.Context, x *txn.Txn) error {
						x.Put(key, []byte("2"))
						return nil
					})
					done.Fire()
				})
				for !done.Fired() {
					gateway.RT.Sleep(10 * time.Microsecond)
				}
				if fresh != nil {
					return fresh
				}
				if err := run("fresh read", func(ctx context.Context, x *txn.Txn) error { _, err := x.Get(ctx, key); return err }); err != nil {
					return err
				}
				gateway.RT.Sleep(3 * time.Millisecond)
			}
		}
		return nil
	})
	median := func(what string, own bool) time.Duration {
		ds := took[fmt.Sprint(what, own)]
		slices.Sort(ds)
		return ds[len(ds)/2]
	}
	for _, what := range []string{"insert", "read", "fresh read"} {
		t.Logf("%-10s by its own reading %8s, placed %8s", what, median(what, true).Round(10*time.Microsecond), median(what, false).Round(10*time.Microsecond))
	}
	if own, placed := median("insert", true), median("insert", false); placed > 5*time.Millisecond || own < 4*placed {
		t.Errorf("an insert takes %s by its own reading, and %s placed", own, placed)
	}
}
