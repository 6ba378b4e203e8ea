package engine

import (
	"errors"
	"maps"
	"net"
	"slices"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// ErrClosed is returned by Serve after Close.
var ErrClosed = errors.New("the SQL layer is closed")

// Serve accepts connections until Close.
func (e *Engine) Serve(l net.Listener) error {
	h := &handler{e: e}
	cfg := server.Config{
		Protocol: "tcp", Address: l.Addr().String(), Listener: countedListener{l, e}, Version: MySQLVersion + "-" + versionPostfix(e.o.Version),
		MaxConnections: 10_000, DisableConnectionWatcher: true,
		Options: []server.Option{func(g *sqle.Engine, sm *server.SessionManager, m mysql.Handler) (*sqle.Engine, *server.SessionManager, mysql.Handler) {
			h.sm = sm
			return g, sm, m
		}},
	}
	s, err := server.NewServerWithHandler(cfg, e.gms, sql.NewContext, e.newSession, nil, func(inner mysql.Handler) (mysql.Handler, error) {
		h.Handler = inner
		return h, nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return ErrClosed
	}
	e.servers = append(e.servers, s)
	e.mu.Unlock()
	s.Listener.Accept() // until the listener is closed
	return ErrClosed
}

// Close stops accepting connections, lets the statements that are under way finish for at most drain, and ends the
// connections and the background work. Transactions that are open are rolled back.
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
	if !wait(drain, func() bool { return e.active.Load() == 0 }) {
		e.log.Info("closing connections in the middle of statements", "after", drain)
	}
	e.closeConns()
	wait(5*time.Second, func() bool { return e.openConns() == 0 })
	e.endBackground()
	e.schemas.close()
	e.garbage.close()
	return e.gms.Close()
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

func (e *Engine) openConns() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.conns)
}

func (e *Engine) closeConns() {
	e.mu.Lock()
	open := slices.Collect(maps.Keys(e.conns))
	e.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// countedListener knows the open connections.
type countedListener struct {
	net.Listener
	e *Engine
}

// Accept implements net.Listener.
func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	cc := &countedConn{Conn: c, e: l.e}
	l.e.mu.Lock()
	l.e.conns[cc] = struct{}{}
	l.e.mu.Unlock()
	l.e.m.Connections.Inc()
	return cc, nil
}

type countedConn struct {
	net.Conn
	e *Engine

	swallow bool   // the next packet is not to be sent (tellMidway)
	packet  []byte // what there is of it
}

// Write implements net.Conn.
func (c *countedConn) Write(p []byte) (int, error) {
	if c.swallow {
		return c.swallowed(p)
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.e.mu.Lock()
	if _, open := c.e.conns[c]; open {
		delete(c.e.conns, c)
		c.e.m.Connections.Dec()
	}
	c.e.mu.Unlock()
	return c.Conn.Close()
}
