package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/rpc"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/sql/engine"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// slowWait is a commit wait that people notice.
const slowWait = 50 * time.Millisecond

// Server is a running node.
type Server struct {
	opts     Options
	log      *slog.Logger
	rt       rt.Runtime
	clock    *clock.Clock
	engines  *storage.Engines
	rpc      *rpc.Transport
	node     atomic.Pointer[node.Node] // set once it is open
	opening  atomic.Pointer[node.Node] // set while it opens, and after
	sql      *engine.Engine
	http     *http.Server
	registry *prometheus.Registry
	addrs    Addrs
	phase    atomic.Value // string
	alone    atomic.Bool  // on its own clock, because there is no bounded source: nobody may join
	failed   chan error   // V4; holds one
	stop     sync.Once
	stopErr  error
}

// Addrs are where a node is reached.
type Addrs struct{ RPC, SQL, HTTP string }

// Open starts a node and returns when it serves. While it waits, for its clock or for a cluster that can be joined, it
// says so in the log and under /healthz; ctx ends the wait.
func Open(ctx context.Context, o Options) (_ *Server, err error) {
	src, err := o.check()
	if err != nil {
		return nil, err
	}
	s := &Server{opts: o, log: o.Log, rt: rt.New(), registry: prometheus.NewRegistry(), failed: make(chan error, 1)}
	s.phase.Store(phaseStarting)
	var ls [3]net.Listener // V1
	defer func() {
		if err == nil {
			return
		}
		for _, l := range ls {
			if l != nil {
				l.Close()
			}
		}
		s.close(false)
	}()
	for i, l := range []struct{ what, flag, addr string }{
		{"other nodes", "--rpc-addr", o.RPCAddr}, {"SQL", "--sql-addr", o.SQLAddr}, {"HTTP", "--http-addr", o.HTTPAddr},
	} {
		if ls[i], err = listen(l.what, l.flag, l.addr); err != nil {
			return nil, err
		}
	}
	s.addrs = Addrs{advertised(ls[0], o.Advertise), advertised(ls[1], o.Advertise), advertised(ls[2], o.Advertise)}
	if o.Advertise != "" {
		s.addrs.RPC = o.Advertise
	}
	s.engines, err = storage.Open(storage.Options{Dir: o.Store, Cache: o.Cache, Log: o.Log, OnFatal: func(f *storage.FatalError) { s.fail(f) }})
	if err != nil {
		return nil, err
	}
	if src, err = s.chooseClock(src); err != nil {
		return nil, err
	}
	s.clock = clock.New(src, clock.Options{MaxUncertainty: o.MaxUncertainty, Log: o.Log})
	_ = s.clock.Poll() // most sources answer at once; if this one does not, the node waits for it and says so
	s.serveHTTP(ls[2])
	if err := s.openNode(ctx, ls[0]); err != nil {
		return nil, err
	}
	if err := s.openSQL(ls[1]); err != nil {
		return nil, err
	}
	s.phase.Store(phaseServing)
	s.log.Info("serving", "node", s.ID(), "cluster", s.ClusterID().String(), "sql", s.addrs.SQL, "rpc", s.addrs.RPC, "http", s.addrs.HTTP,
		"clock", src.String(), "ordering", o.Ordering.String(), "version", o.Version)
	if st, ok := src.(clock.Static); ok && st.D >= slowWait && o.Ordering == txn.Wait {
		s.log.Warn("transactions that write wait out the assumed distance of the clocks", "wait", st.D.String(),
			"hint", "with chronyd on the machines, --clock=chrony makes that about a millisecond")
	}
	return s, nil
}

// fail ends the node because of what happened to it (V4).
func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Failed delivers the error that makes going on impossible. Whoever started the node stops it then.
func (s *Server) Failed() <-chan error { return s.failed }

// Addrs returns where the node is reached.
func (s *Server) Addrs() Addrs { return s.addrs }

// ID returns the node's id.
func (s *Server) ID() kv.NodeID { return s.running().Self().ID }

// ClusterID returns the cluster that the node belongs to.
func (s *Server) ClusterID() kv.ClusterID { return s.running().Self().Cluster }

// running is the node, nil while it starts.
func (s *Server) running() *node.Node { return s.node.Load() }

// Stop ends the node (V3). Without drain it hands nothing over.
func (s *Server) Stop(drain bool) error {
	s.stop.Do(func() { s.stopErr = s.close(drain) })
	return s.stopErr
}

// close ends whatever has been opened, from the outside in.
func (s *Server) close(drain bool) error {
	var errs []error
	s.phase.Store(phaseDraining)
	if n := s.running(); n != nil && drain {
		n.HandOverLeases() // its clients are still served, through the other nodes
	}
	if s.sql != nil {
		limit := time.Duration(0)
		if drain {
			limit = s.opts.DrainLimit
		}
		errs = append(errs, s.sql.Close(limit))
	}
	if n := s.running(); n != nil {
		errs = append(errs, n.Stop(drain))
	}
	if s.rpc != nil {
		errs = append(errs, s.rpc.Close())
	}
	if s.clock != nil {
		s.clock.Stop()
	}
	if s.http != nil {
		errs = append(errs, s.http.Close())
	}
	if s.engines != nil {
		errs = append(errs, s.engines.Close())
	}
	s.phase.Store(phaseStopped)
	err := errors.Join(errs...)
	if err != nil {
		return fmt.Errorf("stopping the node: %w", err)
	}
	s.log.Info("stopped")
	return nil
}
