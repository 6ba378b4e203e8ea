package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/txn"
)

const (
	nodesNote     = "nodes"
	joinNote      = "join"
	supportNote   = "promises" // the key on disk keeps its first name, so that the high water of an earlier build is found
	announceEvery = time.Second
	// giveUpAfter is how long a clock may be silent (a step was seen, the source was lost for too long) before the leases
	// go. Longer than a source usually needs to learn something new; a fence does not pass so quickly and has no such time.
	giveUpAfter = time.Second
)

// Node is one node's layers. The fields are set by Open and not changed after.
type Node struct {
	Cluster *cluster.Cluster
	Store   *replica.Store
	Router  *route.Router
	DB      *txn.DB
	Metrics Metrics

	opts      Options
	rt        rt.Runtime
	log       *slog.Logger
	self      kv.NodeInfo
	stamps    *stamps
	ctx       context.Context
	cancel    context.CancelFunc
	controls  map[string]func() []byte
	commands  map[string]func([]byte) []byte
	assembled rt.Signal // messages can be handled
	serving   rt.Signal // Start has been called
	stopped   rt.Signal
	leaving   atomic.Bool // its leases are with others, and are to stay there
}

// Metrics of the layers, for registration.
type Metrics struct {
	Cluster *cluster.Metrics
	Replica *replica.Metrics
	Route   *route.Metrics
	Txn     *txn.Metrics
}

// New makes a node that can be handed to a transport as its handler; Open puts it together.
func New(o Options) (*Node, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Node{
		opts: o, rt: o.RT, log: o.Log, self: o.Self, ctx: ctx, cancel: cancel,
		stamps:    &stamps{rt: o.RT, clock: o.Clock, eng: o.Engines, log: o.Log},
		controls:  map[string]func() []byte{},
		commands:  map[string]func([]byte) []byte{},
		assembled: o.RT.NewSignal(), serving: o.RT.NewSignal(), stopped: o.RT.NewSignal(),
		Metrics: Metrics{cluster.NewMetrics(), replica.NewMetrics(), route.NewMetrics(), txn.NewMetrics()},
	}, nil
}

// Open waits for the clock and for an identity, and puts the layers together. It may take long; Stop ends it.
func (n *Node) Open() error {
	n.rt.Go("clock", n.pollClock)
	if err := n.stamps.awaitPassed(n.stopped); err != nil {
		return err
	}
	id, nodes, err := n.identify()
	if err != nil {
		return err
	}
	now, err := n.stamps.reading(0, n.stopped) // the clock may have failed meanwhile
	if err != nil {
		return err
	}
	if err := n.stamps.extendFrom(now); err != nil {
		return err
	}
	n.self.ID, n.self.Cluster, n.self.Started = id.Node, id.Cluster, now.Earliest
	n.log = n.log.With("node", id.Node)
	if err := n.assemble(append(nodes, n.loadNodes()...)); err != nil {
		return err
	}
	n.assembled.Fire()
	return nil
}

func (n *Node) assemble(nodes []kv.NodeInfo) (err error) {
	mark, err := n.supportHighWater()
	if err != nil {
		return err
	}
	o := &n.opts
	n.Cluster, err = cluster.New(cluster.Options{
		RT: n.rt, Clock: o.Clock, Transport: o.Transport, Self: n.self, Nodes: nodes,
		SupportDuration: o.SupportDuration, Interval: o.Heartbeat, HighWater: mark,
		Persist: func(t clock.Instant) error {
			return o.Engines.SetNote(supportNote, binary.BigEndian.AppendUint64(nil, uint64(t)))
		},
		NodesChanged: n.saveNodes, Unsafe: o.UnsafeCluster,
		Closed:  func() func(kv.NodeID) []kv.ClosedRange { return n.Store.CloseTimestamps() },
		Vote:    o.Vote,
		Stalled: func() string { return n.Store.Stalled() },
		Fenced:  func() { n.rt.Go("give up", n.Store.GiveUp) },
		Metrics: n.Metrics.Cluster, Log: n.log,
	})
	if err != nil {
		return err
	}
	ro := replica.Options{
		RT: n.rt, Clock: o.Clock, Engines: o.Engines, Transport: o.Transport, Cluster: n.Cluster, Node: n.self.ID,
		Process:           kv.Process{Node: n.self.ID, Started: n.self.Started},
		ReplicationFactor: o.ReplicationFactor, Tick: o.Tick, StallLimit: o.SupportDuration, ClosedLag: o.ClosedLag, ClosedEvery: o.ClosedEvery,
		Push: n.push, Resolve: n.resolve, Stamped: n.stamps.covers,
		Publish: func(d kv.RangeDescriptor) error {
			return n.Router.PublishDescriptors(n.within(publishLimit), []kv.RangeDescriptor{d})
		},
		OnFatal: o.OnFatal, Unquarantine: o.Unquarantine, Reaches: o.Reaches,
		Metrics: n.Metrics.Replica, Log: n.log,
	}
	if o.Tune != nil {
		o.Tune(&ro)
	}
	n.Store, err = replica.NewStore(ro)
	if err != nil {
		return err
	}
	// Nobody is nearer than a lag of a second.
	var closesIn func(kv.RangeID, clock.Timestamp) (time.Duration, bool)
	if lag := n.Store.ClosedLag(); lag > 0 && lag < time.Second {
		closesIn = n.Store.ClosesIn
	}
	n.Router = route.New(route.Options{
		RT: n.rt, Node: n.self.ID, Local: n.Store.Execute, Transport: o.Transport, Now: o.Clock.Now,
		FirstRange: func() *kv.RangeDescriptor {
			if d, ok := n.Cluster.FirstRange(); ok {
				return &d
			}
			return nil
		},
		Alive: n.Cluster.Reachable, ClosesIn: closesIn, Metrics: n.Metrics.Route, Log: n.log,
	})
	do := txn.DBOptions{
		RT: n.rt, Router: n.Router, Now: o.Clock.Now, Stamp: n.stamps.Check, Unsafe: o.Unsafe, SafeTime: n.Store.SafeTime,
		Process: kv.Process{Node: n.self.ID, Started: n.self.Started},
		Metrics: n.Metrics.Txn, Log: n.log,
	}
	if o.TuneTxn != nil {
		o.TuneTxn(&do)
	}
	n.DB = txn.Open(do)
	return nil
}

const (
	publishLimit = 5 * time.Second
	pushLimit    = 3 * time.Second
	drainLimit   = 5 * time.Second
)

func (n *Node) within(d time.Duration) context.Context {
	return route.WithDeadline(n.ctx, n.rt.Now()+d)
}

// push carries a range's question about a transaction that is in its way to the range that keeps the record.
func (n *Node) push(p *kv.PushRequest) (*kv.TxnStatus, error) {
	return n.DB.Push(n.within(pushLimit), p)
}

// resolve makes a finished transaction's intents go, wherever they are.
func (n *Node) resolve(q *kv.ResolveRequest) error {
	return n.DB.Resolve(q)
}

// Start lets the node serve and take part.
func (n *Node) Start() error {
	if !n.assembled.Fired() {
		return fmt.Errorf("node: Start before Open")
	}
	n.Cluster.Start()
	n.Store.Start()
	n.rt.Go("stamps", n.extendStamps)
	n.rt.Go("announce", n.announce)
	n.rt.Go("fence", n.watchReadings)
	n.rt.Go("register", n.registerSelf)
	n.serving.Fire()
	return nil
}

// HandOverLeases gives all leases of this node to others and says that it wants none back, while it goes on as before: it is a
// gateway then, like any node that leads no range.
func (n *Node) HandOverLeases() {
	if !n.assembled.Fired() || n.stopped.Fired() {
		return
	}
	n.leaving.Store(true)
	n.describe()
	n.Store.HandOverLeases(drainLimit)
}

// Stop ends the node. With drain it first gives its leases to others, so that they need not wait for support to expire.
// The engines are the caller's to close.
func (n *Node) Stop(drain bool) error {
	if n.stopped.Fired() {
		return nil
	}
	if n.assembled.Fired() {
		n.DB.Close(drainLimit)
		limit := time.Duration(0)
		if drain {
			limit = drainLimit
		}
		if err := n.Store.Stop(limit); err != nil {
			n.log.Error("the store did not stop", "err", err)
		}
		if err := n.Cluster.Stop(); err != nil {
			n.log.Error("the high water of support was not lowered; the next start waits longer", "err", err)
		}
	}
	n.stopped.Fire()
	n.cancel()
	return n.stamps.close()
}

// Self describes this node as others see it.
func (n *Node) Self() kv.NodeInfo {
	if n.assembled.Fired() {
		return n.Cluster.Self()
	}
	return n.self
}

// AwaitedMark is how long it takes until the clock has passed every timestamp that an earlier process of this node may have
// given out (N2); 0: it has, or gives no readings.
func (n *Node) AwaitedMark() time.Duration { return n.stamps.left() }

// Serving reports whether Start has been called and Stop has not.
func (n *Node) Serving() bool { return n.serving.Fired() && !n.stopped.Fired() }

func (n *Node) pollClock() {
	for !n.stopped.Fired() {
		_ = n.opts.Clock.Poll() // what it means is in the clock's state and log
		n.rt.Sleep(n.opts.ClockPoll)
	}
}

// watchReadings gives the leases to others while our clock gives no readings (N4).
func (n *Node) watchReadings() {
	var refusing time.Duration // since when; 0: it gives readings
	for !n.stopped.Wait(n.opts.ClockPoll) {
		_, err := n.opts.Clock.Now()
		switch now := n.rt.Now(); {
		case err == nil:
			refusing = 0
			continue
		case refusing == 0:
			refusing = now
		}
		if errors.Is(err, clock.ErrFenced) || n.rt.Now()-refusing >= giveUpAfter {
			n.Store.GiveUp()
		}
	}
}

func (n *Node) extendStamps() {
	for !n.stopped.Wait(stampEvery) {
		if _, err := n.opts.Clock.Now(); err != nil {
			continue // nothing is stamped without a reading
		}
		if err := n.stamps.extend(); err != nil {
			n.log.Warn("the mark of stamps was not raised; new transactions may have to", "err", err)
		}
	}
}

// announce keeps what this node says of itself up to date.
func (n *Node) announce() {
	for {
		n.describe()
		if n.stopped.Wait(announceEvery) {
			return
		}
	}
}

func (n *Node) describe() {
	st := n.opts.Clock.Status()
	now, err := n.opts.Clock.Now()
	n.Cluster.Update(func(i *kv.NodeInfo) {
		i.Source, i.Fenced = st.Source, ""
		if err != nil {
			if i.Fenced, _ = st.Refusal(); i.Fenced == "" {
				i.Fenced = err.Error() // it has changed between the two
			}
		} else {
			i.Bound = now.Width() / 2
		}
		if i.Fenced == "" && n.leaving.Load() {
			i.Fenced = "the node is stopping"
		}
	})
}
