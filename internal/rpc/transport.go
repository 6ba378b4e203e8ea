package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/workerpool"
)

// ErrTimeout reports that a call was not answered within its limit.
var ErrTimeout = errors.New("no answer in time")

// Transport is one node's end of the network.
type Transport struct {
	o Options
	m *Metrics

	self     atomic.Pointer[identity] // once it is known
	handlers workerpool.Pool

	mu     sync.Mutex
	peers  map[way]*peer
	served map[*accepted]struct{}
	closed bool

	quit   context.Context // done when closing begins
	cancel context.CancelCauseFunc
	conns  sync.WaitGroup // goroutines of connections
}

var _ kv.Transport = (*Transport)(nil)

// New starts a transport, accepting connections if there is a listener. Options that lack something needed are a bug of the
// caller: it panics.
func New(o Options) *Transport {
	if err := o.complete(); err != nil {
		panic(err)
	}
	t := &Transport{o: o, m: o.Metrics, peers: make(map[way]*peer), served: make(map[*accepted]struct{})}
	t.quit, t.cancel = context.WithCancelCause(context.Background())
	if o.Listen != nil {
		t.conns.Go(t.accept)
	}
	return t
}

// Call implements kv.Transport.
func (t *Transport) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	start := time.Now()
	answer, err := t.call(to, m, limit)
	switch {
	case err == nil:
		t.m.ok.Inc()
		t.m.CallSeconds.Observe(time.Since(start).Seconds())
	case errors.Is(err, ErrTimeout):
		t.m.timeout.Inc()
	default:
		t.m.failed.Inc()
	}
	if err != nil {
		return nil, fmt.Errorf("call to node %d: %w", to, err)
	}
	return answer, nil
}

func (t *Transport) call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	p, err := t.peer(to, kv.LaneOf(m))
	if err != nil {
		return nil, err
	}
	l, err := p.connect()
	if err != nil {
		return nil, err
	}
	return l.call(t.stamped(m, to), limit)
}

// Send implements kv.Transport.
func (t *Transport) Send(to kv.NodeID, m *kv.Message) {
	p, err := t.peer(to, kv.LaneOf(m))
	var l *link
	if err == nil {
		l, err = p.connect()
	}
	if err != nil {
		t.m.Dropped.WithLabelValues("unreachable").Inc()
		return
	}
	s := t.stamped(m, to)
	f, err := messageFrame(kindSend, 0, &s, t.o.MaxMessage)
	if err == nil {
		err = l.out.push(f)
	}
	if err != nil {
		t.m.Dropped.WithLabelValues(fullQueue[l.lane]).Inc()
	}
}

// Reaches reports whether entries and requests get through to a node, as far as is known (N10). It says nothing of the urgent lane.
func (t *Transport) Reaches(to kv.NodeID) bool {
	t.mu.Lock()
	p := t.peers[way{to, kv.Bulk}]
	t.mu.Unlock()
	return p == nil || p.reaches(time.Now(), t.o.dead())
}

// CallAddr calls whoever listens at an address, over a connection of its own: for joining, before ids are known.
func (t *Transport) CallAddr(addr string, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	l := newLink(t, nil, 0, kv.LaneOf(m), addr)
	if !t.spawn(l.run) {
		return nil, errShutdown
	}
	defer l.shut(errClosed)
	answer, err := l.call(t.stamped(m, 0), limit)
	if err != nil {
		return nil, fmt.Errorf("call to %s: %w", addr, err)
	}
	return answer, nil
}

// identity is who a node is.
type identity struct {
	node    kv.NodeID
	cluster kv.ClusterID
}

// who says who we are. It is asked several times for each message, and does not change once it is known.
func (t *Transport) who() identity {
	if known := t.self.Load(); known != nil {
		return *known
	}
	id := identity{t.o.Node(), t.o.Cluster()}
	if id.node != 0 && id.cluster != (kv.ClusterID{}) {
		t.self.Store(&id)
	}
	return id
}

// hello is what we say to a node when we connect.
func (t *Transport) hello(to kv.NodeID, lane kv.Lane) hello {
	self := t.who()
	return hello{cluster: self.cluster, from: self.node, to: to, lane: lane}
}

// stamped is the message with its envelope; the caller's message is not touched (N1).
func (t *Transport) stamped(m *kv.Message, to kv.NodeID) kv.Message {
	s := *m
	self := t.who()
	s.From, s.To, s.Cluster = self.node, to, self.cluster
	iv := t.reading()
	s.Earliest, s.Latest = iv.Earliest, iv.Latest
	return s
}

// reading is ours, or zeros.
func (t *Transport) reading() clock.Interval {
	iv, _ := t.o.Clock.Now()
	return iv
}

// observe shows a peer's stamp to the clock. sent is our own stamp on the message that it answers, zeros if it answers none.
func (t *Transport) observe(peer kv.NodeID, sent, theirs clock.Interval) {
	if theirs.Latest == 0 || peer == 0 {
		return // it had no reading, or is nobody yet
	}
	if t.o.Clock.ObserveReply(uint32(peer), sent, theirs.Earliest, theirs.Latest) {
		t.m.DisjointReadings.Inc()
	}
}

var errShutdown = errors.New("this node is shutting down")

func (t *Transport) peer(id kv.NodeID, lane kv.Lane) (*peer, error) {
	if id == 0 || id == t.who().node {
		return nil, fmt.Errorf("node %d is no other node", id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errShutdown
	}
	w := way{id, lane}
	p := t.peers[w]
	if p == nil {
		p = &peer{t: t, way: w}
		t.peers[w] = p
	}
	return p, nil
}

// spawn runs a connection's goroutine unless the transport is closing.
func (t *Transport) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.conns.Go(f)
	return true
}

// parting is how long the last frame of a connection may take to leave.
const parting = 100 * time.Millisecond

// drain is how long Close waits for the calls that are being handled.
const drain = 2 * time.Second

// Close stops accepting, lets the calls that are being handled end and their answers leave (for at most 2 s), fails our own
// calls, and returns when no goroutine of a connection is left.
func (t *Transport) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.cancel(errShutdown) // ends every link
	var served []*accepted
	for a := range t.served {
		served = append(served, a)
	}
	t.mu.Unlock()

	var err error
	if t.o.Listen != nil {
		if err = t.o.Listen.Close(); errors.Is(err, net.ErrClosed) {
			err = nil
		}
	}
	for _, a := range served {
		a.conn.stopReading()
	}
	t.conns.Wait()
	t.handlers.Close()
	return err
}
