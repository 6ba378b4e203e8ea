package rpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// accepted is a connection that a peer dialled, with its calls on it.
type accepted struct {
	t    *Transport
	conn *impatient
	out  *queue
	lane kv.Lane
	from kv.NodeID
	told time.Time // when the peer was last told that it is heard; the reader's

	ended        atomic.Bool    // nothing more comes
	handlers     sync.WaitGroup // added to by the reader alone, which has ended when it is waited for
	calls, sends atomic.Int64   // being handled
}

// accept takes connections until the listener is closed.
func (t *Transport) accept() {
	for {
		conn, err := t.o.Listen.Accept()
		if err != nil {
			if t.quit.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			t.o.Log.Warn("cannot accept a connection", "err", err)
			sleepOrDone(t.quit, 100*time.Millisecond) // out of file descriptors, most likely
			continue
		}
		if !t.spawn(func() { t.serve(conn) }) {
			conn.Close()
		}
	}
}

func sleepOrDone(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (t *Transport) serve(conn net.Conn) {
	defer conn.Close()
	unhook := context.AfterFunc(t.quit, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) }) // a greeting under way
	_ = conn.SetDeadline(time.Now().Add(t.o.DialTimeout))
	h, err := answerGreeting(conn, t.who())
	if err != nil {
		unhook()
		t.o.Log.Warn("refused a connection", "from", conn.RemoteAddr().String(), "err", err)
		return
	}
	a := &accepted{t: t, from: h.from, lane: h.lane, out: t.newQueue(h.lane)}
	a.conn = &impatient{Conn: conn, limit: t.o.dead(), heard: a.heard}
	if !unhook() || !t.admit(a) {
		return // closing
	}
	defer t.dismiss(a)
	gauge := t.m.Connections.WithLabelValues("accepted")
	gauge.Inc()
	defer gauge.Dec()

	_ = conn.SetWriteDeadline(time.Time{}) // the greeting's
	var writer sync.WaitGroup
	var broke error // why nothing can be written
	writer.Go(func() {
		broke = a.out.writeTo(a.conn, t.wrote)
		a.conn.hangUp(broke) // ends the reader
		a.out.discard()
	})
	err = a.read()
	a.ended.Store(true)
	if a.conn.readEnds.Load() {
		a.awaitHandlers()
		a.conn.stopWriting(drain)
		a.out.closeWith(byeFrame()) // the answers in it still leave
		writer.Wait()
		a.conn.drain()
		return
	}
	if onPurpose(err) {
		a.conn.stopWriting(parting)
		a.out.end(byeFrame())
	} else {
		conn.Close()
		a.out.discard()
	}
	writer.Wait()
	a.conn.drain()
	if errors.Is(err, net.ErrClosed) {
		err = broke
	}
	t.noteDamage(a.from, err)
	t.o.Log.Debug("a peer's connection ended", "node", a.from, "lane", a.lane, "err", err)
	if tellsOfEnd(err, true) {
		t.tellLost(a.from)
	}
	a.awaitHandlers()
}

// awaitHandlers waits until all calls have been handled; once the transport closes, not for longer than drain.
func (a *accepted) awaitHandlers() {
	done := make(chan struct{})
	go func() { a.handlers.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-a.t.quit.Done():
	}
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		a.t.o.Log.Warn("closing while calls are still being handled", "node", a.from, "calls", a.calls.Load(), "sends", a.sends.Load())
	}
}

func (t *Transport) admit(a *accepted) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.served[a] = struct{}{}
	}
	return !t.closed
}

func (t *Transport) dismiss(a *accepted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.served, a)
}

// heard is called whenever something has arrived. While a large message is on its way pings wait behind it, and so would the
// pongs by which the peer knows that it is heard: it is told without being asked.
func (a *accepted) heard(now time.Time) {
	if now.Sub(a.told) > 2*a.t.o.Keepalive {
		a.pong(now)
	}
}

func (a *accepted) pong(now time.Time) {
	a.told = now
	_ = a.out.push(stampFrame(kindPong, a.t.reading()))
}

func (a *accepted) read() error {
	r := bufio.NewReaderSize(a.conn, 64<<10)
	for {
		f, err := readFrame(r, a.t.o.MaxMessage)
		if err != nil {
			return err
		}
		a.t.received(f)
		switch f.kind() {
		case kindCall:
			a.start(f, &a.calls, a.handleCall)
		case kindSend:
			a.start(f, &a.sends, a.handleSend)
		case kindPing:
			iv, ok := f.stamp()
			f.put()
			if ok {
				a.t.observe(a.from, clock.Interval{}, iv)
			}
			a.pong(time.Now())
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

// start handles a message in a goroutine of its own, or refuses it (N5).
func (a *accepted) start(f *buffer, running *atomic.Int64, handle func(*buffer)) {
	if running.Add(1) <= int64(a.t.o.MaxHandled) {
		a.handlers.Add(1)
		a.t.handlers.Go(func() {
			defer a.handlers.Done()
			defer running.Add(-1)
			handle(f)
		})
		return
	}
	running.Add(-1)
	if f.kind() == kindCall {
		a.t.m.Refused.Inc()
		_ = a.out.push(textFrame(f.id(), fmt.Sprintf("node %d handles %d calls of this node already", a.t.who().node, a.t.o.MaxHandled)))
	} else {
		a.t.m.Dropped.WithLabelValues("overload").Inc()
	}
	f.put()
}

// take decodes, checks and observes a message.
func (a *accepted) take(f *buffer) (*kv.Message, error) {
	m, err := kv.DecodeMessage(f.body())
	if err != nil {
		return nil, err
	}
	t := a.t
	self := t.who()
	switch {
	case m.Cluster != self.cluster && m.Join == nil: // N2
		return nil, fmt.Errorf("message of cluster %s; node %d belongs to cluster %s", m.Cluster, self.node, self.cluster)
	case m.To != 0 && m.To != self.node:
		return nil, fmt.Errorf("message for node %d arrived at node %d", m.To, self.node)
	}
	m.To = self.node
	t.observe(m.From, clock.Interval{}, clock.Interval{Earliest: m.Earliest, Latest: m.Latest})
	return m, nil
}

func (a *accepted) handleSend(f *buffer) {
	m, err := a.take(f)
	f.put()
	if err != nil {
		a.t.m.Dropped.WithLabelValues("refused").Inc()
		a.t.o.Log.Warn("refused a message", "node", a.from, "err", err)
		return
	}
	a.t.o.Handler(m)
}

func (a *accepted) handleCall(f *buffer) {
	id := f.id()
	m, err := a.take(f)
	f.put()
	var reply *buffer
	if err == nil {
		if answer := a.t.o.Handler(m); answer != nil {
			s := a.t.stamped(answer, m.From)
			reply, err = messageFrame(kindAnswer, id, &s, a.t.o.MaxMessage)
		} else {
			err = fmt.Errorf("node %d has no answer to this message", a.t.who().node)
		}
	}
	if err != nil {
		reply = textFrame(id, err.Error())
	}
	_ = a.out.pushWait(reply) // if the connection is gone, so is the call
}
