// Package demo shows what clocks do to a database: it runs the social workload on three nodes in this process under one
// regime of clocks after the other, each on a fresh cluster with stores on disk and loopback ports of its own.
//
//	D1  Regimes share nothing: not stores, not ports, not caches of nodes.
//	D2  Offsets of the clocks are the same under all regimes; only what the nodes know of them differs (regime.go).
//	D3  Whatever way it ends, every node is stopped, and the stores are removed unless a directory was named for them.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/social"
)

// Options of a demonstration.
type Options struct {
	Nodes    int           // 3
	Latency  time.Duration // added to each message between nodes
	Regimes  []Regime      // default: all
	Workload social.Options
	Load     harness.Load
	Dir      string // of the stores; empty: a temporary one, removed at the end
	Version  string
	Progress func(format string, args ...any)
	Live     func(harness.Second) // is shown each second of a run; may be nil
}

// Demo is a demonstration under way. The cluster of the last regime stays up until Close.
type Demo struct {
	opts    Options
	dir     string
	cluster *Cluster
}

// New prepares a demonstration.
func New(o Options) (*Demo, error) {
	if len(o.Regimes) == 0 {
		o.Regimes = Regimes
	}
	d := &Demo{opts: o, dir: o.Dir}
	var err error
	if d.dir == "" {
		d.dir, err = os.MkdirTemp("", "longitude-demo-")
	} else {
		err = os.MkdirAll(d.dir, 0o750)
	}
	if err != nil {
		return nil, fmt.Errorf("a directory for the stores: %w", err)
	}
	return d, nil
}

// Run runs every regime and returns their results. If it fails it returns those that it has.
func (d *Demo) Run(ctx context.Context) (results []*social.Row, err error) {
	for i, r := range d.opts.Regimes {
		d.opts.Progress("regime %s: %s", r.Name, r.About)
		res, err := d.regime(ctx, r)
		if err != nil {
			return results, fmt.Errorf("regime %s: %w", r.Name, err)
		}
		results = append(results, res)
		if i+1 < len(d.opts.Regimes) {
			if err := d.stop(); err != nil {
				return results, fmt.Errorf("regime %s: stopping: %w", r.Name, err)
			}
		}
	}
	return results, nil
}

func (d *Demo) regime(ctx context.Context, r Regime) (*social.Row, error) {
	dir := filepath.Join(d.dir, r.Name)
	if _, err := os.Stat(dir); err == nil {
		return nil, fmt.Errorf("%s exists already; each run needs fresh stores\nhint: name another directory with --dir, or remove it", dir)
	}
	var err error
	d.cluster, err = StartCluster(ctx, ClusterOptions{
		Nodes: d.opts.Nodes, Dir: dir, Clock: r.Clock, Ordering: r.Ordering, Delay: d.opts.Latency, Version: d.opts.Version,
	})
	if err != nil {
		return nil, err
	}
	w, err := social.New(d.opts.Workload)
	if err != nil {
		return nil, err
	}
	t, err := d.cluster.Target(ctx, harness.TargetOptions{Name: r.Name, Database: database})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := w.Setup(ctx, t, d.opts.Progress); err != nil {
		return nil, err
	}
	d.opts.Progress("%d workers on %d nodes for %s", d.opts.Load.Workers, len(t.Nodes), d.opts.Load.Duration)
	res, err := harness.Run(ctx, t, w, d.opts.Load, d.opts.Live)
	if err != nil {
		return nil, err
	}
	if res.Missing != nil {
		d.opts.Progress("restarts and commit wait are missing from the result: %v", res.Missing)
	}
	if res.Errors > 0 {
		d.opts.Progress("first of %d errors: %s", res.Errors, res.FirstError)
	}
	if err := harness.Verify(ctx, t, w, res); err != nil {
		return nil, err
	}
	return social.RowOf(r.Name, d.opts.Workload, res), nil
}

// database holds the workload's tables.
const database = "social"

// Cluster is what stays up after Run: that of the last regime.
func (d *Demo) Cluster() *Cluster { return d.cluster }

// stop ends the present cluster.
func (d *Demo) stop() error {
	if d.cluster == nil {
		return nil
	}
	c := d.cluster
	d.cluster = nil
	return c.Stop()
}

// Close stops everything and removes what nobody asked to keep (D3).
func (d *Demo) Close() error {
	err := d.stop()
	if d.opts.Dir == "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}
