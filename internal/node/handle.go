package node

import (
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

const (
	joinRetry    = 200 * time.Millisecond
	joinLimit    = 10 * time.Second
	controlLimit = 3 * time.Second
)

// Handle takes in a message from another node: it is the kv.Handler of the transport.
func (n *Node) Handle(m *kv.Message) *kv.Message {
	if !n.assembled.Fired() {
		return n.notYet(m)
	}
	switch {
	case m.Join != nil:
		return &kv.Message{Join: n.handleJoin(m.Join)}
	case m.Cluster != n.self.Cluster: // N3; the transport has refused it already, this is the second half of the pair
		return nil
	case m.Batch != nil:
		return &kv.Message{BatchReply: n.Store.Execute(m.Batch)}
	case m.Raft != nil:
		n.Store.HandleRaft(m.Raft)
	case m.Liveness != nil:
		n.Cluster.HandleLiveness(m)
		n.Store.HandleClosed(m.Liveness.Closed)
	case m.Closed != nil:
		n.Store.HandleClosed(m.Closed.Ranges)
	case m.Snapshot != nil:
		return &kv.Message{Ack: n.Store.HandleSnapshot(m.Snapshot)}
	case m.Control != nil:
		return &kv.Message{Control: n.control(m.Control)}
	}
	return nil
}

// HandleLost takes in that another node's process seems to have ended: its system has closed or refused a connection. It is what
// the transport calls, possibly several times. That is evidence, not proof (N6 of package rpc).
func (n *Node) HandleLost(peer kv.NodeID) {
	if n.assembled.Fired() {
		n.Cluster.Lost(peer)
	}
}

// notYet answers while the node starts. Nothing was done, and the answers say so, except where that is not all that matters.
func (n *Node) notYet(m *kv.Message) *kv.Message {
	switch {
	case m.Join != nil:
		return &kv.Message{Join: &kv.Join{Error: "the node is starting"}}
	case m.Batch != nil:
		reply := &kv.BatchReply{Responses: make([]kv.Response, len(m.Batch.Requests))}
		for i := range reply.Responses {
			code := kv.ErrUnavailable
			if w := m.Batch.Requests[i].Write; w != nil && w.Try != 0 {
				code = kv.ErrAmbiguous // the process before may have executed a copy (C3 of package replica)
			}
			reply.Responses[i].Err = kv.Errorf(code, "the node is starting")
		}
		return &kv.Message{BatchReply: reply}
	case m.Snapshot != nil:
		return &kv.Message{Ack: &kv.Ack{Error: "the node is starting"}}
	case m.Control != nil:
		return &kv.Message{Control: &kv.ControlRequest{Kind: m.Control.Kind}}
	}
	return nil
}

// OnControl sets the func that answers what a node is asked of its own, for system tables. It is called before Start.
func (n *Node) OnControl(kind string, fn func() []byte) { n.controls[kind] = fn }

// OnCommand sets the func that carries out what a node is told to do, for administration. It is called before Start.
func (n *Node) OnCommand(kind string, fn func(arg []byte) []byte) { n.commands[kind] = fn }

func (n *Node) control(c *kv.ControlRequest) *kv.ControlRequest {
	out := &kv.ControlRequest{Kind: c.Kind}
	if fn := n.controls[c.Kind]; fn != nil {
		out.Reply = fn()
	} else if fn := n.commands[c.Kind]; fn != nil {
		out.Reply = fn(c.Arg)
	}
	return out
}

// Ask asks a node (this one included) something of its own.
func (n *Node) Ask(node kv.NodeID, kind string) ([]byte, error) { return n.Command(node, kind, nil) }

// Command tells a node (this one included) to do something. An error means that it may or may not have been done.
func (n *Node) Command(node kv.NodeID, kind string, arg []byte) ([]byte, error) {
	c := &kv.ControlRequest{Kind: kind, Arg: arg}
	if node == n.self.ID {
		return n.control(c).Reply, nil
	}
	answer, err := n.opts.Transport.Call(node, &kv.Message{Control: c}, controlLimit)
	if err != nil {
		return nil, fmt.Errorf("ask node %d: %w", node, err)
	}
	if answer.Control == nil || len(answer.Control.Reply) == 0 {
		return nil, fmt.Errorf("ask node %d: it does not answer %q yet", node, kind)
	}
	return answer.Control.Reply, nil
}
