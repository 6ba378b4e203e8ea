package replica

import (
	"errors"
	"log/slog"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
)

// Options of a Store.
type Options struct {
	RT        rt.Runtime
	Clock     *clock.Clock
	Engines   *storage.Engines
	Transport kv.Transport
	Cluster   *cluster.Cluster
	Node      kv.NodeID
	// Reaches reports whether entries get through to a node, as far as the transport knows. Nil: nothing is known.
	Reaches func(kv.NodeID) bool
	// Process is this one: what it sends to itself was sent after it began (C3). The zero value: that is not known.
	Process kv.Process

	// Push decides about a transaction that is in the way: it goes to the range of the transaction's record. It may block.
	Push func(*kv.PushRequest) (*kv.TxnStatus, error)
	// Resolve makes a finished transaction's intents go, in whatever ranges they are. It may block. Nil: records are never
	// collected.
	Resolve func(*kv.ResolveRequest) error
	// Stamped reports whether timestamps up to an instant may be given out on this node, without making it so. Nil: all may.
	// Transactions are placed by this node's reading only if it is (W1).
	Stamped func(clock.Instant) bool
	// Publish makes a descriptor known to whoever looks for ranges. It may block, is repeated until it succeeds, and may
	// be told the same or an older descriptor again.
	Publish func(kv.RangeDescriptor) error
	// OnFatal is told, once, why this node must stop: its disk failed, or its data contradict themselves. It may end the
	// process; if it returns, the store does nothing more.
	OnFatal func(error)

	// Quarantined, if set, is told when a replica is quarantined. It must not block. In a build with the tag invariants what would
	// quarantine a replica ends the process if it is not set.
	Quarantined func(kv.RangeID, error)
	// Unquarantine are ranges whose replicas an earlier process has quarantined, and that are to go on (Q4).
	Unquarantine []kv.RangeID

	// ReplicationFactor is how many replicas a range gets once there are as many nodes; default 3. Fewer: a failed node
	// makes ranges unavailable. 0 is the default; 1 keeps ranges where they are.
	ReplicationFactor int
	// Tick is the interval at which replicas look after themselves; default 100 ms. Leaders send heartbeats every third.
	Tick time.Duration
	// Silence is after how long without a message a leader is taken for gone if nothing else says so; default 12 ticks. Shorter:
	// a leader that was cut off is replaced sooner, and one whose process merely stood still loses its range.
	Silence time.Duration
	// ElectionSpread is the time over which followers spread their campaigns; default 4 ticks. Shorter: a failed leader
	// is replaced sooner, and campaigns collide more often.
	ElectionSpread time.Duration
	// RequestLimit bounds every wait of a request: for latches, for its command, for other transactions; default 10 s.
	RequestLimit time.Duration
	// ReadThrough is how many intents of a decided transaction a read has to meet before it leaves them to others to resolve;
	// default 32 (conflict.Options.Through).
	ReadThrough int
	// LockPatience is how long an older transaction waits for a lock of a younger one before it takes it; default 250 ms.
	// Shorter: deadlocks over several ranges are resolved sooner, and more transactions that were only slow restart. At most
	// a quarter of RequestLimit: patience is that of one request, and one that is asked again begins anew.
	LockPatience time.Duration
	// LockLimit is how many locks are kept in a range: at most a quarter of them for one owner. Beyond, requests go
	// on without locks, when it is their turn. 0: those of package lock.
	LockLimit int
	// ReadCache is the memory of a range's timestamp cache, in bytes. Less: writes are pushed higher than they had to be.
	// 0: tscache.DefaultBytes.
	ReadCache int
	// FlushInterval is the time between flushes of state, without which logs could not be truncated; default 30 s.
	FlushInterval time.Duration
	// FlushBytes is how much the logs of all ranges may hold beyond what state has made durable before it is flushed sooner
	// than that, though not within a tenth of the interval; default 48 MiB. Less: there is less to replay after a crash, and
	// state is written and merged more often, which costs more than anything else of a write.
	FlushBytes int64
	// StallLimit is how long a write of the log may take before the store lets its leases run out; default 2 s. Shorter: the
	// ranges of a node whose disk stands still are served by others sooner, and a slow disk loses leases more often.
	StallLimit time.Duration
	// ProgressLimit is how long a batch may take into state before the store lets all its leases run out, and how long one turn of
	// a range's task may take before the store lets that range's lease run out; default 2 s. Shorter: ranges that stand still are
	// served by others sooner, and large commands on slow machines cost elections.
	ProgressLimit time.Duration
	// CollectInterval is the time between two searches for records of finished transactions that are no longer needed;
	// default 1 min. Records are kept for eval.Retention in any case.
	CollectInterval time.Duration
	// ClosedLag is how far behind the present timestamps are closed, so that any replica can serve reads of them; default
	// 3 s. Shorter: reads of the past are fresher, and transactions that take longer than this are pushed and have to
	// refresh what they read. Negative: nothing is closed.
	ClosedLag time.Duration
	// ClosedEvery is the time between two rounds in which followers are told what is closed. 0: with the heartbeats between
	// stores. Together with a short ClosedLag it lets followers that are far from the leaseholder serve reads of the
	// present (package route, near.go), and costs a message to each node each time.
	ClosedEvery time.Duration
	// KeepEntries and KeepBytes are how much of the log is kept for followers that are slow or away; default 4096 and
	// 16 MiB. Beyond either they need a snapshot.
	KeepEntries uint64
	KeepBytes   int64
	// MaxQueued is how many messages of its other replicas may wait for a range's task; default 4096. More are dropped, and
	// Raft sends them again: fewer take less memory on a node that is slow, and more rounds until it has caught up.
	MaxQueued int32
	// MaxCommand is the largest command in bytes; default 64 MiB. It bounds what one transaction writes in one range.
	MaxCommand int
	// MaxSnapshot is the largest range, in bytes, that can be sent as a snapshot; default 1 GiB. Sender and receiver hold
	// that much in memory.
	MaxSnapshot int64

	// DiskDelay, if set, says how long the disk is to take before it makes a batch of the log durable, and before it
	// says so: for simulation, where disks are memory and would take no time at all.
	DiskDelay func() time.Duration
	// StateDelay and TurnDelay, if set, say how long a batch is to take into state, and a turn of a range's task: for simulation.
	StateDelay func() time.Duration
	TurnDelay  func(kv.RangeID) time.Duration

	// Unsafe is for negative controls alone.
	Unsafe Unsafe

	Metrics *Metrics
	Log     *slog.Logger
}

func (o *Options) fill() error {
	if o.RT == nil || o.Clock == nil || o.Engines == nil || o.Transport == nil || o.Cluster == nil || o.Node == 0 {
		return errors.New("replica: RT, Clock, Engines, Transport, Cluster and Node are needed")
	}
	set(&o.ReplicationFactor, 3)
	set(&o.Tick, 100*time.Millisecond)
	set(&o.ElectionSpread, 4*o.Tick)
	set(&o.Silence, 12*o.Tick)
	set(&o.RequestLimit, 10*time.Second)
	set(&o.LockPatience, 250*time.Millisecond)
	o.LockPatience = min(o.LockPatience, o.RequestLimit/4)
	set(&o.FlushInterval, 30*time.Second)
	set(&o.FlushBytes, 48<<20)
	set(&o.StallLimit, 2*time.Second)
	set(&o.ProgressLimit, 2*time.Second)
	set(&o.CollectInterval, time.Minute)
	set(&o.ClosedLag, 3*time.Second)
	set(&o.KeepEntries, 4096)
	set(&o.KeepBytes, 16<<20)
	set(&o.MaxQueued, 4096)
	set(&o.MaxCommand, 64<<20)
	set(&o.MaxSnapshot, 1<<30)
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

func set[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// The limits of what gathers in memory, per range.
const (
	maxProposals   = 4096      // commands on their way; more are refused with ErrUnavailable
	maxUncommitted = 128 << 20 // bytes of them
	maxInflight    = 256       // messages to one follower
	maxMessage     = 1 << 20   // bytes of entries in one of them; a larger entry goes alone
	maxApplying    = 64 << 20  // bytes of entries applied in one batch
)
