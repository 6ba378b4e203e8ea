package engine

import (
	"context"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// What a connection is allowed, beside its statements: how long it may be idle (wait_timeout, or interactive_timeout for clients that call
// themselves interactive), how long with a transaction open (longitude_idle_transaction_timeout), and how long a command may be
// (max_allowed_packet). And what becomes of a statement whose client has gone: it is ended.

const (
	waitVariable        = "wait_timeout"
	interactiveVariable = "interactive_timeout"
	idleTxVariable      = "longitude_idle_transaction_timeout"

	// maxPacket is MySQL's default of max_allowed_packet, in bytes.
	maxPacket = 64 << 20
	// watchEvery is how often connections are looked at: a client that is gone is noticed within so long.
	watchEvery = 200 * time.Millisecond
	// capabilityInteractive is CLIENT_INTERACTIVE.
	capabilityInteractive = 1 << 10
	// takingIn is how long the rest of a command that is too long is taken in.
	takingIn = 30 * time.Second
)

// The packets below are written while the client is expected to send: they are the answer to whatever comes next, as in shutdown.go.
var (
	idlePacket = errorPacket(1, 4031, "HY000",
		"The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.")
	idleTxPacket = errorPacket(1, 1159, "08S01",
		"Got timeout reading communication packets: a transaction was open and idle for longer than "+idleTxVariable+", and is rolled back")
)

// errorPacket is an error as the packet of that number.
func errorPacket(number byte, code uint16, state, text string) []byte {
	body := append([]byte{mysql.ErrPacket, byte(code), byte(code >> 8), '#'}, state+text...)
	return append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), number}, body...)
}

// allow takes over what the session's variables say, for the task that looks at connections. It is called at the end of a statement.
func (s *Session) allow() {
	own, ok := s.countedConn()
	if !ok {
		return
	}
	k := s.known
	if k == nil {
		k = s.settings(s.e.context(context.Background(), s))
	}
	own.turn.mu.Lock()
	defer own.turn.mu.Unlock()
	own.turn.idle, own.turn.idleTx = k.idle, 0
	if s.GetTransaction() != nil {
		own.turn.idleTx = k.idleTx
	}
}

func (s *Session) countedConn() (*countedConn, bool) {
	if s.conn == nil {
		return nil, false
	}
	own, ok := s.conn.Conn.(*countedConn)
	return own, ok
}

// watchConns looks at all connections until the engine is closed.
func (e *Engine) watchConns() {
	for tick := time.NewTicker(watchEvery); ; {
		select {
		case <-e.background.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		for _, c := range e.connections() {
			c.look()
		}
	}
}

// look ends a connection that was idle for too long, and the statement of one whose client has gone.
func (c *countedConn) look() {
	c.turn.mu.Lock()
	conn, executing, number := c.turn.conn, c.turn.executing > 0, c.turn.number
	c.turn.mu.Unlock()
	if conn == nil {
		return
	}
	if !executing {
		c.endIfIdle()
		return
	}
	s := c.e.sessions.of(conn)
	if s == nil || number != c.seen { // it began since the last look: most have ended at the next
		c.seen = number
		return
	}
	if n := s.running.current(); n != 0 && hungUp(c.Conn) {
		s.running.stop(clientGone, n)
	}
}

// endIfIdle ends the connection if its client has been silent for longer than it may.
func (c *countedConn) endIfIdle() {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	t := &c.turn
	if !t.waiting || t.ended || t.executing > 0 || !t.frame.between() {
		return
	}
	silent, packet := time.Since(t.since), []byte(nil)
	switch {
	case t.idleTx > 0 && silent >= t.idleTx:
		packet = idleTxPacket
	case t.idle > 0 && silent >= t.idle:
		packet = idlePacket
	default:
		return
	}
	t.end(c, packet)
}

// end tells the client why the connection ends, and ends it. mu is held.
func (t *turn) end(c *countedConn, packet []byte) {
	t.ended = true
	_ = c.Conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.Conn.Write(packet)
	c.endWriting()
	_ = c.Conn.SetReadDeadline(time.Now()) // the goroutine in Read goes on
}

// isLong reports whether the command that is coming in is longer than it may be. mu is held.
func (t *turn) isLong() bool {
	return t.executing == 0 && t.limit > 0 && t.frame.size > t.limit
}

// refuseLong takes in the rest of a command that is too long, so that its client reads what it is told then, and ends the connection, as
// MySQL does. Nothing of the command is kept.
func (c *countedConn) refuseLong() {
	_ = c.Conn.SetReadDeadline(time.Now().Add(takingIn))
	room := make([]byte, 64<<10)
	t := &c.turn
	for {
		t.mu.Lock()
		over := t.frame.between()
		t.mu.Unlock()
		if over {
			break
		}
		n, err := c.Conn.Read(room)
		t.mu.Lock()
		t.frame.take(room[:n])
		t.mu.Unlock()
		if err != nil {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(c, errorPacket(t.frame.header[3]+1, 1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes"))
}

// globalLimit is a variable's global value, which holds for new connections.
func globalLimit(name string, missing int) int {
	if _, v, ok := sql.SystemVariables.GetGlobal(name); ok {
		switch n := v.(type) {
		case int64:
			return int(n)
		case uint64:
			return int(n)
		}
	}
	return missing
}

// allow is what holds for a connection until its first statement is over. mu is held.
func (t *turn) allow() {
	t.limit = globalLimit(packetVariable, maxPacket)
	t.idle = time.Duration(globalLimit(waitVariable, 0)) * time.Second
	if t.conn.Capabilities&capabilityInteractive != 0 {
		t.idle = time.Duration(globalLimit(interactiveVariable, 0)) * time.Second
	}
}
