package engine

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// How connections end when the node stops.
//
//	E1  A statement that has begun is finished and answered, up to the limit. One that takes longer is killed, and answered so.
//	E2  A statement that has not begun when its connection ends does not begin. Its client reads error 1053 in the place of the answer, so
//	    nobody is in doubt about what became of it.
//	E3  A transaction that is open may go on until it ends, up to the limit; then it is rolled back.
//
// A client that sends a statement meanwhile reads the error, and then the end of the connection. A client that is quiet is told without
// being asked: the error is written as the answer to whatever comes next. A client that is about to send a statement finds it
// when it looks for the answer; a pool that looks whether the connection is still good, before it uses it, finds that it is not. The
// connection then only takes in, and forgets, what is still on its way: closing it at once would take the error away from a client
// that has not read it. Quiet is not only that nothing is under way. Drivers read ahead, and some of them take more than one answer at
// once for a fault of the protocol, so the error must not come right behind the last answer.

// errServerShutdown is ER_SERVER_SHUTDOWN.
const errServerShutdown = 1053

const shutdownText = "Server shutdown in progress: this node is stopping, and the statement was not executed. Connect to another node"

// shutdownPacket is the error as the first answer to a command.
var shutdownPacket = errorPacket(1, errServerShutdown, "08S01", shutdownText)

// quiet is how long a client has to have been silent to be told without being asked.
const quiet = 250 * time.Millisecond

// lingering is how long a connection that was told goes on taking in what comes.
const lingering = 200 * time.Millisecond

// turn is whose turn it is on a connection.
//
//	            bytes of a command arrive            the answer is written
//	waiting ─────────────────────────────▶ working ──────────────────────▶ waiting
//	   └── quiet ──▶ ended                    └── refused: at its next Read ──▶ ended
//
// Only a connection that is waiting, in between two commands and without an open transaction, is ended: its goroutine is in Read.
type turn struct {
	mu        sync.Mutex
	conn      *mysql.Conn // nil: not authenticated yet
	waiting   bool
	since     time.Time // it waits
	refused   bool      // the client was told, as the answer to a statement
	executing int       // statements under way; a Read belongs to them (LOAD DATA LOCAL)
	number    uint64    // of statements so far
	ended     bool
	frame     frame
	// What idle.go heeds. 0: without a limit.
	idle, idleTx time.Duration
	limit        int // bytes of a command
}

// frame follows where packets begin and end in what a client sends.
type frame struct {
	header [4]byte
	have   int // bytes of the header
	left   int // bytes of the body
	size   int // bytes of the command so far, as far as headers have told
	more   bool
}

// between reports that what was received so far ends with a whole command.
func (f *frame) between() bool { return f.have == 0 && f.left == 0 && !f.more }

func (f *frame) take(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, len(p))
			f.left -= n
			p = p[n:]
			continue
		}
		n := copy(f.header[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have == len(f.header) {
			if !f.more {
				f.size = 0
			}
			f.left = int(f.header[0]) | int(f.header[1])<<8 | int(f.header[2])<<16
			f.size += f.left
			f.have, f.more = 0, f.left == mysql.MaxPacketSize // a longer command goes on in the next packet
		}
	}
}

// Read implements net.Conn.
func (c *countedConn) Read(p []byte) (int, error) {
	if c.await() {
		return 0, io.EOF
	}
	for {
		n, own, err := c.receive(p)
		if !own || err != nil {
			return n, err
		}
		if n, err = c.own(p, n); n > 0 || err != nil {
			return n, err
		}
		if c.await() {
			return 0, io.EOF
		}
	}
}

// receive reads what comes next. It reports whether that begins with a command that is executed here (commands.go).
func (c *countedConn) receive(p []byte) (n int, own bool, err error) {
	if n = copy(p, c.behind); n > 0 {
		c.behind = c.behind[n:]
	} else {
		n, err = c.Conn.Read(p)
	}
	c.nth, c.info = 0, ""
	for err == nil && n > 0 && n < 5 && len(p) >= 5 && c.betweenCommands() { // which command it is stands behind the header
		var more int
		more, err = c.Conn.Read(p[n:])
		n += more
	}
	c.turn.mu.Lock()
	c.turn.waiting = false
	if c.turn.ended {
		c.turn.mu.Unlock()
		return 0, false, io.EOF // what came was not executed, and the client is told so (E2)
	}
	if first := firstCommand(p[:n]); first < n && c.turn.betweenCommands() {
		c.behind = append(bytes.Clone(p[first:n]), c.behind...)
		n = first
	}
	if c.turn.betweenCommands() {
		c.notePrepare(p[:n])
	}
	if n > 4 && c.turn.betweenCommands() && ownCommands[p[4]] != nil {
		c.turn.mu.Unlock()
		return n, true, err
	}
	c.turn.frame.take(p[:n])
	long := c.turn.isLong()
	c.turn.mu.Unlock()
	if long {
		c.refuseLong()
		return 0, false, io.EOF
	}
	return n, false, err
}

// firstCommand is the length of the packet with which p begins, or of p, which is part of it. Drivers send a command behind one that has no
// answer (COM_STMT_CLOSE): each is looked at alone.
func firstCommand(p []byte) int {
	if len(p) < 4 {
		return len(p)
	}
	return min(len(p), firstLength(p))
}

// firstLength is the length of the packet with which p begins, whether it is in p or not.
func firstLength(p []byte) int { return 4 + (int(p[0]) | int(p[1])<<8 | int(p[2])<<16) }

// betweenCommands reports that what comes next is a command. The mutex is held.
func (t *turn) betweenCommands() bool { return t.conn != nil && t.executing == 0 && t.frame.between() }

// betweenCommands notes that the client is sending something, and reports whether that is a command.
func (c *countedConn) betweenCommands() bool {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.turn.waiting = false
	return c.turn.betweenCommands()
}

// await notes that the connection waits for its client. It reports that there is nothing to wait for any more.
func (c *countedConn) await() (over bool) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	if c.turn.executing > 0 {
		return c.turn.ended
	}
	c.turn.waiting, c.turn.since = true, time.Now()
	if c.turn.refused && !c.turn.ended {
		c.turn.ended = true
		c.endWriting()
	}
	return c.turn.ended
}

// endIfQuiet ends the connection if nothing is under way. With force an open transaction does not count.
func (c *countedConn) endIfQuiet(force bool) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	t := &c.turn
	if t.conn == nil || !t.waiting || t.ended || !t.frame.between() || time.Since(t.since) < quiet {
		return
	}
	// The session is at rest: its goroutine is in Read.
	if s := c.e.sessions.of(t.conn); s != nil && !force && s.GetTransaction() != nil {
		return // E3
	}
	t.end(c, shutdownPacket)
}

// endWriting tells the client that nothing more comes.
func (c *countedConn) endWriting() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// refuse answers a command while the node stops (E2), unless it belongs to a transaction that is open (E3).
func (h *handler) refuse(c *mysql.Conn) error {
	if !h.e.draining.Load() {
		return nil
	}
	own, ok := c.Conn.(*countedConn)
	if s := h.e.sessions.of(c); !ok || s != nil && s.GetTransaction() != nil && !h.e.drained.Load() {
		return nil
	}
	own.endAfterAnswer()
	return mysql.NewSQLError(errServerShutdown, "08S01", shutdownText)
}

// endAfterAnswer ends the connection when the answer to the present command has been written.
func (c *countedConn) endAfterAnswer() {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.turn.refused = true
}

// authenticated makes the connection one that takes commands.
func (c *countedConn) authenticated(conn *mysql.Conn) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.turn.conn = conn
	c.turn.allow()
}

// execute notes that a statement begins, and the returned func that it is over.
func (c *countedConn) execute() (over func()) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	c.turn.executing++
	c.nth++
	c.turn.number++
	return func() {
		c.turn.mu.Lock()
		defer c.turn.mu.Unlock()
		c.turn.executing--
	}
}

// open reports whether a client still expects something of the connection, and the id of the statement's connection if one is under way.
func (c *countedConn) open() (expects bool, executing uint32) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	if c.turn.conn == nil || c.turn.ended {
		return false, 0
	}
	if c.turn.executing > 0 {
		executing = c.turn.conn.ConnectionID
	}
	return true, executing
}

// linger takes in what a client still sends on a connection that has ended, and closes it after a while.
func (c *countedConn) linger() {
	_ = c.Conn.SetReadDeadline(time.Now().Add(lingering))
	var room [4096]byte
	for {
		if _, err := c.Conn.Read(room[:]); err != nil {
			break
		}
	}
	_ = c.forget()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.turn.mu.Lock()
	ended := c.turn.ended
	c.turn.mu.Unlock()
	if ended {
		go c.linger()
		return nil
	}
	return c.forget()
}

func (c *countedConn) forget() error {
	c.e.mu.Lock()
	if _, open := c.e.conns[c]; open {
		delete(c.e.conns, c)
		c.e.m.Connections.Dec()
	}
	c.e.mu.Unlock()
	return c.Conn.Close()
}

// ConnectionAuthenticated implements mysql.Handler.
func (h *handler) ConnectionAuthenticated(c *mysql.Conn) error {
	if own, ok := c.Conn.(*countedConn); ok {
		own.authenticated(c)
	}
	err := h.Handler.ConnectionAuthenticated(c)
	if s := h.e.sessions.of(c); err == nil && s != nil {
		s.setStatus(h.e.context(context.Background(), s), c)
	}
	return err
}

// executing notes that a statement begins on a connection.
func executing(c *mysql.Conn) (over func()) {
	if own, ok := c.Conn.(*countedConn); ok {
		return own.execute()
	}
	return func() {}
}

// Close stops accepting connections and ends those that there are (E1 to E3), waiting for at most drain for statements and
// transactions that are under way. Then it ends the background work.
func (e *Engine) Close(drain time.Duration) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	servers := e.servers
	e.mu.Unlock()
	for _, s := range servers {
		s.Listener.Close()
	}
	e.draining.Store(true)
	e.endConns(drain)
	e.endBackground()
	e.schemas.close()
	e.garbage.close()
	return e.gms.Close()
}

// dying is how long statements that were killed may take to say so.
const dying = 2 * time.Second

func (e *Engine) endConns(drain time.Duration) {
	settled := func(force bool) func() bool {
		return func() bool {
			all := true
			for _, c := range e.connections() {
				c.endIfQuiet(force)
				expects, _ := c.open()
				all = all && !expects
			}
			return all
		}
	}
	if !wait(drain, settled(false)) {
		e.drained.Store(true) // E3
		n := 0
		for _, c := range e.connections() {
			if _, id := c.open(); id != 0 && drain > 0 {
				e.sessions.Kill(id)
				n++
			}
		}
		e.log.Info("statements and transactions are ended before their time", "after", drain, "statements", n)
		if drain > 0 {
			wait(dying, settled(true))
		} else {
			settled(true)()
		}
	}
	// The others have nothing to expect: they were told, or have not said who they are.
	wait(2*lingering, func() bool { return e.openConns() == 0 })
	for _, c := range e.connections() {
		_ = c.Conn.Close()
		_ = c.forget()
	}
	wait(5*time.Second, func() bool { return e.active.Load() == 0 })
}

// wait asks until the answer is yes, or the limit has passed.
func wait(limit time.Duration, yes func() bool) bool {
	for end := time.Now().Add(limit); !yes(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (e *Engine) connections() (out []*countedConn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.conns {
		out = append(out, c)
	}
	return out
}

func (e *Engine) openConns() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.conns)
}

// countedListener knows the open connections.
type countedListener struct {
	net.Listener
	e *Engine
	h *handler
}

// Accept implements net.Listener.
func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	cc := &countedConn{Conn: c, e: l.e, h: l.h}
	l.e.mu.Lock()
	l.e.conns[cc] = struct{}{}
	l.e.mu.Unlock()
	l.e.m.Connections.Inc()
	return cc, nil
}

type countedConn struct {
	net.Conn
	e    *Engine
	h    *handler
	turn turn
	seen uint64 // the number of the statement that was under way at the last look

	nth     int    // statement of the command under way, from 1
	info    string // the text of the OK packet that is written next (writeInfo)
	instead []byte // the body of the error packet that is to be sent in the place of vitess's (ComStmtExecute)
	swallow bool   // the next packet is not to be sent (tellMidway)
	packet  []byte // what there is of it
	// preparing is the text that is prepared now; empty: nothing is, or the text came in parts.
	preparing []byte
	header    []byte // of the first packet of the answer to it
	behind    []byte // what the client has sent behind the command under way (receive)
}

// Write implements net.Conn.
func (c *countedConn) Write(p []byte) (int, error) {
	if c.swallow {
		return c.swallowed(p)
	}
	if c.info != "" {
		p = c.correctInfo(p)
	}
	if len(c.preparing) > 0 {
		return len(p), c.prepared(p)
	}
	if c.instead != nil && len(p) > 4 && p[4] == mysql.ErrPacket {
		own := packet(p[3], c.instead)
		c.instead = nil
		_, err := c.Conn.Write(own)
		return len(p), err
	}
	return c.Conn.Write(p)
}
