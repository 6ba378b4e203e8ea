package node

import (
	"errors"
	"log/slog"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// Options of a node.
type Options struct {
	RT        rt.Runtime
	Clock     *clock.Clock
	Transport kv.Transport
	Engines   *storage.Engines
	// Self describes the node: addresses and version. ID, Cluster and Started are filled in.
	Self kv.NodeInfo
	// Bootstrap makes a new cluster if the store is empty. Without it an empty store joins one through Join.
	Bootstrap bool
	// Join carries a join message to any node of the cluster and returns its answer. It is called again until one answers.
	Join func(*kv.Message) (*kv.Message, error)
	// RefuseJoin, if set, says why no other node can be taken in now; nil: one can.
	RefuseJoin func(kv.NodeInfo) error
	// JoinLimit is how long joining is tried; 0: for ever.
	JoinLimit time.Duration
	// ReplicationFactor is how many replicas a range gets once there are so many nodes; default 3.
	ReplicationFactor int
	// SupportDuration and Heartbeat are L and the interval of package cluster; 0: its defaults.
	SupportDuration, Heartbeat time.Duration
	// Tick is the interval of Raft's heartbeats; 0: package replica's default.
	Tick time.Duration
	// ClosedLag and ClosedEvery are package replica's; 0: its defaults.
	ClosedLag, ClosedEvery time.Duration
	// Unquarantine are ranges whose replicas an earlier process has quarantined here, and that are to go on (package replica, Q4).
	Unquarantine []kv.RangeID
	// Reaches reports whether what is bulk gets through to a node, as far as the transport knows; nil: nothing is known (package replica).
	Reaches func(kv.NodeID) bool
	// Vote are the options of the vote on clocks (clock.Vote); the zero value is right.
	Vote clock.VoteOptions
	// ClockPoll is the time between two polls of the clock's source; 0: 100 ms.
	ClockPoll time.Duration
	// OnFatal is told, once, why the store had to stop: its disk failed, or its data contradict themselves.
	OnFatal func(error)
	// Tune, if set, changes the replicas' options, for simulation: small limits make rare paths common.
	Tune func(*replica.Options)
	// TuneTxn likewise changes those of transactions.
	TuneTxn func(*txn.DBOptions)
	// Unsafe and UnsafeCluster are for negative controls alone, as are those that Tune can set.
	Unsafe        txn.Unsafe
	UnsafeCluster cluster.Unsafe
	Log           *slog.Logger
}

func (o *Options) fill() error {
	if o.RT == nil || o.Clock == nil || o.Transport == nil || o.Engines == nil {
		return errors.New("node: RT, Clock, Transport and Engines are needed")
	}
	if o.ReplicationFactor == 0 {
		o.ReplicationFactor = 3
	}
	if o.ClockPoll == 0 {
		o.ClockPoll = 100 * time.Millisecond
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
