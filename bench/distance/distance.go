// Package distance puts a delay between processes that know nothing of it: who wants to talk to a server talks to a line in front
// of it instead, which hands on what it is given, each piece a fixed time later, in both directions.
//
//	T1  What arrives is what was sent, in order, and no earlier than the delay after it was sent.
//	T2  It is a delay and not a limit: a piece waits for its own moment, not for the one before it to arrive.
//	T3  When one side ends its half of a connection so does the line, after what was sent before; when Close returns, nothing of the
//	    line is left.
package distance

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/rt/hrsleep"
)

// pending is how many pieces may be on their way on one connection in one direction, each of 64 KiB at most. A sender that is faster
// has to wait, as it has to where a window is full.
const pending = 1024

// Line is a listener in front of a server.
type Line struct {
	to    string
	delay time.Duration
	l     net.Listener

	wg    sync.WaitGroup
	mu    sync.Mutex
	open  map[net.Conn]struct{}
	ended chan struct{} // closed by Close
}

// Listen begins a line to a server's TCP address, which need not be there yet. It listens on a loopback address of its own.
func Listen(to string, delay time.Duration) (*Line, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a line to %s: %w", to, err)
	}
	d := &Line{to: to, delay: delay, l: l, open: map[net.Conn]struct{}{}, ended: make(chan struct{})}
	d.wg.Go(d.accept)
	return d, nil
}

// Addr is where to talk to instead.
func (d *Line) Addr() string { return d.l.Addr().String() }

// Close cuts all connections (T3). It is called once.
func (d *Line) Close() error {
	d.mu.Lock()
	close(d.ended)
	for c := range d.open {
		c.Close()
	}
	d.mu.Unlock()
	err := d.l.Close()
	d.wg.Wait()
	return err
}

func (d *Line) accept() {
	for {
		near, err := d.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a connection that was gone before it was taken
		}
		if d.holds(near) {
			d.wg.Go(func() { d.connect(near) })
		}
	}
}

// holds has a connection closed with the line; false: the line has ended.
func (d *Line) holds(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.ended:
		c.Close()
		return false
	default:
	}
	d.open[c] = struct{}{}
	return true
}

func (d *Line) release(c net.Conn) {
	c.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

func (d *Line) connect(near net.Conn) {
	defer d.release(near)
	far, err := net.Dial("tcp", d.to)
	if err != nil {
		return // who dialed sees the connection end, as with a server that is not there
	}
	if !d.holds(far) {
		return
	}
	defer d.release(far)
	var both sync.WaitGroup
	both.Go(func() { d.carry(far, near) })
	both.Go(func() { d.carry(near, far) })
	both.Wait()
}

type piece struct {
	due   time.Time
	bytes []byte
}

// carry hands on one direction until its sender ends it.
func (d *Line) carry(to, from net.Conn) {
	queue, gone := make(chan piece, pending), make(chan struct{})
	d.wg.Go(func() {
		defer close(queue)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			p := piece{time.Now().Add(d.delay), b[:n:n]}
			if n < len(b)/2 {
				p.bytes = append([]byte(nil), b[:n]...) // small ones do not hold large buffers
			}
			select {
			case queue <- p:
			case <-gone:
				return
			}
			if err != nil {
				return
			}
		}
	})
	defer close(gone)
	for p := range queue {
		d.await(p.due)
		if _, err := to.Write(p.bytes); err != nil {
			from.Close() // nobody takes it any more
			return
		}
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite() // it may be closed as a whole already
	}
}

// await returns at an instant, or when the line ends. The last millisecond is slept exactly: timers are late by about that.
func (d *Line) await(due time.Time) {
	const exact = time.Millisecond
	if wait := time.Until(due) - exact; wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-d.ended:
			return
		}
	}
	if wait := time.Until(due); wait > 0 {
		hrsleep.Sleep(wait)
	}
}
