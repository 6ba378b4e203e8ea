package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/processes"
	"github.com/longitude-db/longitude/internal/demo"
)

// held is a cluster under measurement, in one process or in several.
type held interface {
	Target(context.Context, harness.TargetOptions) (*harness.Target, error)
	Stop() error
}

// setUp finds out how nodes can be run: in one process for each cluster, unless that is not wanted, or the other build cannot. Both
// sides are run alike in any case.
func (r *txnRun) setUp(ctx context.Context) error {
	if r.against != "" && !r.apart {
		able, err := processes.HoldsNodes(ctx, r.against)
		if err != nil {
			return err
		}
		if !able {
			r.say("%s cannot hold several nodes in one process: each node of both builds is one of its own", r.against)
			r.apart = true
		}
	}
	if !r.apart {
		return nil
	}
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, to run the nodes: %w", err)
	}
	if r.flags, err = processes.FlagsOf(ctx, own); err != nil {
		return err
	}
	if r.against != "" {
		other, err := processes.FlagsOf(ctx, r.against)
		if err != nil {
			return err
		}
		r.flags = processes.Common(r.flags, other)
	}
	if w := r.withheld(); w != "" {
		r.say("%s", w)
	}
	if profileOf(r.c, "node") != "" {
		r.say("--cpuprofile is of the clients only: nodes in processes of their own serve /debug/pprof")
	}
	return nil
}

// other is what the other build is called in the report.
func (o *txnOptions) other() string { return filepath.Base(o.against) }

// place says where nodes run.
func (r *txnRun) place() string {
	if r.apart {
		return fmt.Sprintf("%d nodes, each in a process of its own, with the delay between the processes", r.nodes)
	}
	return fmt.Sprintf("%d nodes in one process", r.nodes)
}

// withheld says what the builds cannot be told.
func (r *txnRun) withheld() string {
	if !r.apart {
		return ""
	}
	w := processes.Options{Flags: r.flags, Delay: zone}.Withheld()
	if w != "" {
		w = "One of the builds lacks flags, so both do without: " + w + "."
	}
	return w
}

// delayed reports whether there is a delay between nodes.
func (r *txnRun) delayed() bool { return !r.apart || r.flags["advertise-addr"] }

// cluster starts one; the caller stops it. binary is what runs it, empty for this program.
func (r *txnRun) cluster(ctx context.Context, name string, s nodesSpec, binary string) (held, error) {
	r.serial++
	s.Dir = filepath.Join(r.dir, fmt.Sprintf("%d-%s", r.serial, name))
	s.MaxUncertainty, s.Database = time.Second, "txn"
	if !r.apart {
		p, err := startNodesOf(ctx, binary, s, profileOf(r.c, name))
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	if binary == "" {
		var err error
		if binary, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this program, to run the nodes: %w", err)
		}
	}
	p, err := processes.Start(ctx, processes.Options{Program: binary, Flags: r.flags, Dir: s.Dir, Clocks: s.Clocks, Ordering: s.Ordering, Delay: s.Delay, MaxUncertainty: s.MaxUncertainty})
	if err != nil {
		return nil, fmt.Errorf("starting the nodes of %s: %w", binary, err)
	}
	t, err := p.Target(ctx, harness.TargetOptions{Name: name, Database: s.Database})
	if err == nil {
		err = demo.Replicated(ctx, t.Nodes[0], len(s.Clocks))
		t.Close()
	}
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}
