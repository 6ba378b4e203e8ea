package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// link is a connection that we dial, with our calls on it.
type link struct {
	t    *Transport
	peer *peer // nil for CallAddr
	to   kv.NodeID
	lane kv.Lane
	addr string
	out  *queue
	ctx  context.Context // done when the link is shut
	stop context.CancelCauseFunc

	since time.Time // when the peer answered our greeting; zero: it has not. The link's own goroutine's

	mu      sync.Mutex
	pending map[uint64]*pending // nil once the link is shut
	lastID  uint64
}

// pending is a call that waits for its answer.
type pending struct {
	sent  clock.Interval // our stamp on it
	done  chan result    // has room for the one result
	timer *time.Timer    // stopped while nobody calls
}

// calls are used again: a channel and a timer for each would be a fifth of what a call allocates.
var calls = sync.Pool{New: func() any {
	p := &pending{done: make(chan result, 1), timer: time.NewTimer(time.Hour)}
	p.timer.Stop()
	return p
}}

type result struct {
	f   *buffer
	err error
}

func newLink(t *Transport, p *peer, to kv.NodeID, lane kv.Lane, addr string) *link {
	l := &link{t: t, peer: p, to: to, lane: lane, addr: addr, pending: make(map[uint64]*pending), out: t.newQueue(lane)}
	l.ctx, l.stop = context.WithCancelCause(t.quit)
	return l
}

// call sends a stamped message and waits for the answer.
func (l *link) call(m kv.Message, limit time.Duration) (*kv.Message, error) {
	p := calls.Get().(*pending)
	defer calls.Put(p) // each way out has taken its one result, or the call off the list
	p.sent = clock.Interval{Earliest: m.Earliest, Latest: m.Latest}
	id, err := l.register(p)
	if err != nil {
		return nil, err
	}
	f, err := messageFrame(kindCall, id, &m, l.t.o.MaxMessage)
	if err == nil {
		err = l.out.push(f)
	}
	if err != nil {
		if l.forget(id) == nil {
			return nil, (<-p.done).err // the link broke meanwhile, and says why
		}
		return nil, err
	}
	p.timer.Reset(limit)
	defer p.timer.Stop() // after which nothing is in its channel
	select {
	case r := <-p.done:
		return l.open(r, p)
	case <-p.timer.C:
	}
	if l.forget(id) == nil { // the answer came at the same moment
		return l.open(<-p.done, p)
	}
	return nil, fmt.Errorf("%w (%s)", ErrTimeout, limit)
}

func (l *link) register(p *pending) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		return 0, context.Cause(l.ctx)
	}
	l.lastID++
	l.pending[l.lastID] = p
	return l.lastID, nil
}

// forget takes a call off the list. It is nil if an answer or the end of the link did that before.
func (l *link) forget(id uint64) *pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pending[id]
	delete(l.pending, id)
	return p
}

// open decodes an answer, in the goroutine that waits for it.
func (l *link) open(r result, p *pending) (*kv.Message, error) {
	if r.err != nil {
		return nil, r.err
	}
	defer r.f.put()
	if r.f.kind() == kindFail {
		return nil, errors.New(string(r.f.body()))
	}
	m, err := kv.DecodeMessage(r.f.body())
	if err != nil {
		return nil, err
	}
	if own := l.t.who().cluster; m.Cluster != own && own != (kv.ClusterID{}) {
		return nil, fmt.Errorf("answer from node %d of cluster %s; this is cluster %s", m.From, m.Cluster, own)
	}
	l.t.observe(m.From, p.sent, clock.Interval{Earliest: m.Earliest, Latest: m.Latest})
	return m, nil
}

// run makes the connection and serves it until it breaks or is shut.
func (l *link) run() {
	err := l.serve()
	if cause := context.Cause(l.ctx); cause != nil {
		err = cause
	}
	l.t.noteDamage(l.to, err)
	if l.peer != nil {
		l.peer.lost(l, err) // first, so that who is told finds a new connection under way
		if tellsOfEnd(err, !l.since.IsZero()) && (!l.since.IsZero() || !l.t.isServed(l.to)) {
			l.t.tellLost(l.to)
		}
	}
	l.shut(err)
}

func (l *link) serve() error {
	d := net.Dialer{Timeout: l.t.o.DialTimeout}
	conn, err := d.DialContext(l.ctx, "tcp", l.addr)
	if err != nil {
		l.t.m.DialErrors.Inc()
		return err
	}
	defer conn.Close()
	hangUp := context.AfterFunc(l.ctx, func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(l.t.o.DialTimeout))
	node, err := greet(conn, l.t.hello(l.to, l.lane))
	if err != nil {
		l.t.m.DialErrors.Inc()
		return fmt.Errorf("%s: %w", l.addr, err)
	}
	if !hangUp() {
		return errClosed // shut meanwhile: run knows why
	}
	_ = conn.SetDeadline(time.Time{})
	c := &impatient{Conn: conn, limit: l.t.o.dead()}
	defer context.AfterFunc(l.ctx, func() { l.part(c) })()
	l.since = time.Now()
	if l.peer != nil {
		l.peer.up()
	}
	gauge := l.t.m.Connections.WithLabelValues("dialled")
	gauge.Inc()
	defer gauge.Dec()
	l.t.o.Log.Debug("connected", "node", node, "addr", l.addr, "lane", l.lane)

	var side sync.WaitGroup
	defer side.Wait()
	defer l.stop(errClosed) // ends the pings and, through it, the writer
	side.Go(func() {
		err := l.out.writeTo(c, l.t.wrote)
		c.hangUp(err) // ends the reader
		if err != nil {
			l.stop(fmt.Errorf("connection to %s broke: %w", l.addr, err))
		}
	})
	side.Go(l.keepalive)
	err = l.read(c, node)
	l.stop(fmt.Errorf("connection to %s broke: %w", l.addr, err))
	l.part(c)
	side.Wait()
	c.drain()
	return err
}

// part ends the connection of a link that is being shut. If that is our wish, the peer is told so first.
func (l *link) part(conn *impatient) {
	if onPurpose(context.Cause(l.ctx)) {
		conn.stopWriting(parting)
	} else {
		conn.Close()
	}
	l.clear()
}

// clear empties the queue of a link that is being shut.
func (l *link) clear() {
	dropped := 0
	if onPurpose(context.Cause(l.ctx)) {
		dropped = l.out.end(byeFrame())
	} else {
		dropped = l.out.discard()
	}
	if dropped > 0 {
		l.t.m.Dropped.WithLabelValues("unreachable").Add(float64(dropped))
	}
}

func (t *Transport) wrote(frames, bytes int) {
	t.m.Sent.Add(float64(frames))
	t.m.SentBytes.Add(float64(bytes))
}

// keepalive pings, so that silence means death, and clocks meet also where there is nothing to say.
func (l *link) keepalive() {
	tick := time.NewTicker(l.t.o.Keepalive)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-tick.C:
			_ = l.out.push(stampFrame(kindPing, l.t.reading())) // a full queue is being written, or the peer is dead
		}
	}
}

// read hands out answers until the connection breaks.
func (l *link) read(conn *impatient, node kv.NodeID) error {
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		f, err := readFrame(r, l.t.o.MaxMessage)
		if err != nil {
			return err
		}
		l.t.received(f)
		switch f.kind() {
		case kindAnswer, kindFail:
			if p := l.forget(f.id()); p != nil {
				p.done <- result{f: f}
			} else {
				f.put() // nobody waits any longer
			}
		case kindPong:
			iv, ok := f.stamp()
			f.put()
			if ok {
				l.t.observe(node, clock.Interval{}, iv)
			}
		case kindBye:
			f.put()
			return errParted
		default:
			k := f.kind()
			f.put()
			return fmt.Errorf("%w: its kind is %d", errDamaged, k)
		}
	}
}

func (t *Transport) received(f *buffer) {
	t.m.Received.Inc()
	t.m.RecvBytes.Add(float64(len(f.b)))
}

// shut ends the link and fails its calls (N3). Only the first reason counts.
func (l *link) shut(err error) {
	l.stop(err)
	l.clear()
	l.mu.Lock()
	calls := l.pending
	l.pending = nil
	l.mu.Unlock()
	err = context.Cause(l.ctx)
	for _, p := range calls {
		p.done <- result{err: err}
	}
}
