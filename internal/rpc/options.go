package rpc

import (
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// Options of a Transport. Node, Cluster, Clock and Addr are needed; Listen and Handler to be reachable.
type Options struct {
	// Node and Cluster say who we are; zero until it is known. They must not block.
	Node    func() kv.NodeID
	Cluster func() kv.ClusterID
	Clock   *clock.Clock
	// Listen is the socket on which peers reach us; the transport closes it.
	Listen net.Listener
	// Handler takes messages in, each in a goroutine that has nothing else to do.
	Handler kv.Handler
	// Addr says where a node is reached. It must not block.
	Addr func(kv.NodeID) (string, bool)

	// Lost, if set, is told that a peer's process seems to have ended (N6). It must not block. It may be told several times.
	Lost func(kv.NodeID)

	// Latency delays every message that leaves, as distance would. 0: none.
	Latency time.Duration
	// DialTimeout bounds connecting and greeting. 0: 2 s.
	DialTimeout time.Duration
	// Keepalive is the time between pings. 0: 500 ms. A peer of whom nothing arrives for 6 times that is dead: its calls fail.
	// Shorter finds dead peers sooner, and takes slow ones for dead.
	Keepalive time.Duration
	// MaxMessage bounds a message's size. 0: 128 MiB.
	MaxMessage int
	// MaxQueue and MaxQueueBytes bound what waits for one peer. 0: 8192 messages, 128 MiB (and one message more).
	MaxQueue, MaxQueueBytes int
	// MaxHandled bounds the calls, and apart from them the one-way messages, of one peer that are handled at a time.
	// 0: 8192.
	MaxHandled int

	Metrics *Metrics
	Log     *slog.Logger
}

func (o *Options) complete() error {
	if o.Node == nil || o.Cluster == nil || o.Clock == nil || o.Addr == nil {
		return errors.New("rpc: Node, Cluster, Clock and Addr are needed")
	}
	if o.Listen != nil && o.Handler == nil {
		return errors.New("rpc: Listen without Handler")
	}
	def(&o.DialTimeout, 2*time.Second)
	def(&o.Keepalive, 500*time.Millisecond)
	def(&o.MaxMessage, 128<<20)
	def(&o.MaxQueue, 8192)
	def(&o.MaxQueueBytes, 128<<20)
	def(&o.MaxHandled, 8192)
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

func def[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// dead is the silence after which a connection is given up.
func (o *Options) dead() time.Duration { return 6 * o.Keepalive }
