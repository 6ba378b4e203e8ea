package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/rpc"
)

// joinCallLimit is how long one node that could be joined is waited for before the next is asked.
const joinCallLimit = 15 * time.Second

// openNode puts the layers together over TCP and waits until they have a clock and a cluster.
func (s *Server) openNode(ctx context.Context, l net.Listener) error {
	var n *node.Node
	made := make(chan struct{})
	rpcMetrics := rpc.NewMetrics()
	s.registry.MustRegister(rpcMetrics.Collectors()...)
	s.rpc = rpc.New(rpc.Options{
		Node:    func() kv.NodeID { return s.identity().ID },
		Cluster: func() kv.ClusterID { return s.identity().Cluster },
		Addr: func(id kv.NodeID) (string, bool) {
			if n := s.running(); n != nil {
				i, ok := n.Cluster.Node(id)
				return i.RPCAddr, ok
			}
			return "", false
		},
		Clock: s.clock, Listen: l, Latency: s.opts.Delay, Metrics: rpcMetrics, Log: s.log,
		Handler: func(m *kv.Message) *kv.Message { <-made; return n.Handle(m) },
		Lost: func(id kv.NodeID) {
			if n := s.running(); n != nil {
				n.HandleLost(id)
			}
		},
	})
	var err error
	n, err = node.New(node.Options{
		RT: s.rt, Clock: s.clock, Transport: s.rpc, Engines: s.engines, Log: s.log, OnFatal: s.fail,
		Self: kv.NodeInfo{RPCAddr: s.addrs.RPC, SQLAddr: s.addrs.SQL, HTTPAddr: s.addrs.HTTP, Version: s.opts.Version,
			Source: s.clock.Status().Source},
		Bootstrap: len(s.opts.Join) == 0, Join: s.askToJoin, RefuseJoin: s.refuseJoin,
		ClosedLag: s.opts.ClosedLag, ClosedEvery: s.opts.ClosedEvery, Unquarantine: rangeIDs(s.opts.Unquarantine),
		Reaches: s.rpc.Reaches,
	})
	if err != nil {
		return err
	}
	s.answerControls(n)
	s.opening.Store(n)
	close(made)
	undo := context.AfterFunc(ctx, func() { _ = n.Stop(false) })
	defer undo()
	if err := n.Open(); err != nil {
		_ = n.Stop(false)
		return err
	}
	s.node.Store(n)
	if err := s.refuseForeignCluster(); err != nil {
		return err
	}
	s.registry.MustRegister(n.Metrics.Cluster.Collectors()...)
	s.registry.MustRegister(n.Metrics.Replica.Collectors()...)
	s.registry.MustRegister(n.Metrics.Route.Collectors()...)
	s.registry.MustRegister(n.Metrics.Txn.Collectors()...)
	return n.Start()
}

// identity is who the node is, zero until it is known.
func (s *Server) identity() kv.NodeInfo {
	if n := s.running(); n != nil {
		return n.Self()
	}
	return kv.NodeInfo{}
}

// askToJoin asks one node after the other, and says of each why it could not help.
func (s *Server) askToJoin(m *kv.Message) (*kv.Message, error) {
	s.phase.Store(phaseJoining)
	var errs []error
	for _, addr := range s.opts.Join {
		answer, err := s.rpc.CallAddr(addr, m, joinCallLimit)
		if err == nil && answer.Join != nil && answer.Join.Error != "" {
			err = fmt.Errorf("%s: %s", addr, answer.Join.Error)
		}
		if err == nil {
			return answer, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("none of %s can be joined yet, trying again: %w\nhint: check that one of them runs, and that --join names its --rpc-addr",
		strings.Join(s.opts.Join, ", "), errors.Join(errs...))
}

// refuseForeignCluster asks the nodes named by --join whether the store belongs to their cluster. One that cannot be
// reached says nothing: a cluster whose nodes all start at once must come up.
func (s *Server) refuseForeignCluster() error {
	self := s.identity()
	for _, addr := range s.opts.Join {
		_, err := s.rpc.CallAddr(addr, &kv.Message{Control: &kv.ControlRequest{Kind: controlPing}}, 3*time.Second)
		var refused *rpc.RefusedError
		if errors.As(err, &refused) && refused.Cluster != (kv.ClusterID{}) && refused.Cluster != self.Cluster {
			return fmt.Errorf("store %s belongs to node %d of another cluster (%s) than %s does (%s); nothing was changed\n"+
				"hint: give --store the directory that this node has in this cluster, or leave --join out to go on in the other cluster; "+
				"an empty directory makes a new node of it, which takes the place of none",
				s.opts.Store, self.ID, self.Cluster, addr, refused.Cluster)
		}
	}
	return nil
}
