package rpc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

var (
	// errSilent reports that a peer has sent nothing for too long, errStuck that it has taken nothing.
	errSilent = errors.New("nothing heard")
	errStuck  = errors.New("nothing taken")
)

// writeStep is how much is written under one deadline.
const writeStep = 256 << 10

// impatient gives up a connection from which nothing arrives for long, or into which nothing fits: for the limit, or up to an
// eighth more. A large message may take longer, as long as it moves.
type impatient struct {
	net.Conn
	limit time.Duration
	heard func(time.Time) // if set, called by Read whenever something has arrived

	readEnds  atomic.Bool
	writeEnds atomic.Bool
	readSet   time.Time // when the deadline was set last; the reader's
	writeSet  time.Time // the writer's
}

func (c *impatient) Read(b []byte) (int, error) {
	// Setting a deadline costs as much as the rest of a read, so it is not done for each.
	now := time.Now()
	if now.Sub(c.readSet) > c.limit/8 {
		if err := c.SetReadDeadline(now.Add(c.limit + c.limit/8)); err != nil {
			return 0, err
		}
		c.readSet = now
	}
	if c.readEnds.Load() { // after the deadline was set: stopReading's own may have been overwritten
		return 0, errShutdown
	}
	n, err := c.Conn.Read(b)
	if n > 0 && c.heard != nil {
		c.heard(now)
	}
	if isTimeout(err) && !c.readEnds.Load() {
		return n, fmt.Errorf("%w for %s", errSilent, c.limit)
	}
	return n, err
}

func (c *impatient) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		if now := time.Now(); now.Sub(c.writeSet) > c.limit/8 && !c.writeEnds.Load() {
			if err := c.SetWriteDeadline(now.Add(c.limit + c.limit/8)); err != nil {
				return written, err
			}
			c.writeSet = now
			if c.writeEnds.Load() { // stopWriting's own may have been overwritten; it was to be sooner
				_ = c.SetWriteDeadline(now.Add(parting))
			}
		}
		n, err := c.Conn.Write(b[:min(len(b), writeStep)])
		written += n
		if err != nil {
			if isTimeout(err) && !c.writeEnds.Load() {
				err = fmt.Errorf("%w for %s", errStuck, c.limit)
			}
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// stopReading makes the present read and later ones fail.
func (c *impatient) stopReading() {
	c.readEnds.Store(true)
	_ = c.SetReadDeadline(time.Unix(1, 0))
}

// hangUp is called when nothing more will be written. After a goodbye (no error) the peer, that has it, ends the connection;
// if we closed it with something unread, our system would reset it, and the goodbye might be lost.
func (c *impatient) hangUp(err error) {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && err == nil && c.writeEnds.Load() && tcp.CloseWrite() == nil {
		c.readEnds.Store(true)
		_ = c.SetReadDeadline(time.Now().Add(parting))
		return
	}
	c.Close()
}

// drain reads what the peer still says until it has ended the connection too, for a short time; then it is closed.
func (c *impatient) drain() {
	_ = c.SetReadDeadline(time.Now().Add(parting)) // again: a read may have overwritten it
	_, _ = io.Copy(io.Discard, c.Conn)
	c.Close()
}

// stopWriting gives what is still to be written a last term.
func (c *impatient) stopWriting(within time.Duration) {
	c.writeEnds.Store(true)
	_ = c.SetWriteDeadline(time.Now().Add(within))
}
