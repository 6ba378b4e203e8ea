package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/internal/client"
	"github.com/longitude-db/longitude/internal/server"
	"github.com/longitude-db/longitude/internal/txn"
)

// ClusterOptions of a cluster in one process.
type ClusterOptions struct {
	Nodes    int
	Dir      string             // the nodes' stores lie below it
	Clock    func(i int) string // source of the node with this index
	Ordering string
	Delay    time.Duration
	// MaxUncertainty as in server.Options.
	MaxUncertainty time.Duration
	Version        string
	Log            func(i int) *slog.Logger // of the node with this index; nil: discard
}

// Cluster is nodes in this process, on loopback ports that the system chose.
type Cluster struct {
	Nodes    []*server.Server
	Database string
}

// StartCluster starts a new cluster. If a node cannot be started those that run are stopped.
func StartCluster(ctx context.Context, o ClusterOptions) (_ *Cluster, err error) {
	ordering, err := txn.ParseOrdering(o.Ordering)
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	for i := range o.Nodes {
		so := server.Options{
			Store: filepath.Join(o.Dir, fmt.Sprintf("node%d", i+1)), Clock: o.Clock(i), Ordering: ordering, Delay: o.Delay, MaxUncertainty: o.MaxUncertainty, Version: o.Version,
			RPCAddr: "127.0.0.1:0", SQLAddr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", DrainLimit: 5 * time.Second,
		}
		if i > 0 {
			so.Join = []string{c.Nodes[0].Addrs().RPC}
		}
		if o.Log != nil {
			so.Log = o.Log(i)
		}
		s, err := server.Open(ctx, so)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		c.Nodes = append(c.Nodes, s)
	}
	return c, nil
}

// Target waits until every range has all its replicas, makes a database, and connects to it on each node. Its URLs are
// filled in.
func (c *Cluster) Target(ctx context.Context, o harness.TargetOptions) (*harness.Target, error) {
	c.Database = o.Database
	o.URLs = nil
	for _, n := range c.Nodes {
		o.URLs = append(o.URLs, n.Addrs().SQL)
	}
	t, err := harness.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := Replicated(ctx, t.Nodes[0], len(c.Nodes)); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Replicated waits until every range of a cluster of so many nodes has as many replicas as it should.
func Replicated(ctx context.Context, db *sql.DB, nodes int) error {
	want, last := min(3, nodes), 0
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		n, err := client.FewestVoters(ctx, db)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && n >= want {
			return nil
		}
		last = n
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("some range still has %d of %d replicas after a minute", last, want)
}

// Stop ends all nodes. The data are about to be thrown away, or are safe on disk, so leases are not handed over.
func (c *Cluster) Stop() error {
	errs := make([]error, len(c.Nodes))
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		wg.Go(func() { errs[i] = n.Stop(false) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
