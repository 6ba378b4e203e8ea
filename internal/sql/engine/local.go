package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Local is a session without a network: the statements of a client that lives in this process. They take the way of any other
// from the handler on. A Local is used by one task at a time, on which everything is done that its statements do.
type Local struct {
	h *handler
	c *mysql.Conn
}

// Answer is what a statement came to.
type Answer struct {
	Rows     [][]string // NULL is "NULL"
	Affected uint64
	InsertID uint64
}

// Locals opens local sessions.
type Locals struct {
	h    *handler
	last atomic.Uint32
}

// Locals makes the engine ready for local sessions.
func (e *Engine) Locals() (*Locals, error) {
	h := &handler{e: e}
	cfg := server.Config{Protocol: "tcp", Address: "local", Listener: noListener{}, DisableConnectionWatcher: true,
		Options: []server.Option{func(g *sqle.Engine, sm *server.SessionManager, m mysql.Handler) (*sqle.Engine, *server.SessionManager, mysql.Handler) {
			h.sm = sm
			return g, sm, m
		}}}
	_, err := server.NewServerWithHandler(cfg, e.gms, sql.NewContext, e.newSession, nil, func(inner mysql.Handler) (mysql.Handler, error) {
		h.Handler = inner
		return h, nil
	})
	return &Locals{h: h}, err
}

// Open opens a session.
func (l *Locals) Open() (*Local, error) {
	c := &mysql.Conn{Conn: noConn{}, ConnectionID: l.last.Add(1), User: "root", UserData: sql.MysqlConnectionUser{User: "root", Host: "localhost"}}
	l.h.NewConnection(c)
	return &Local{h: l.h, c: c}, l.h.ConnectionAuthenticated(c)
}

// Exec executes one statement. Its error is as a client gets it.
func (l *Local) Exec(ctx context.Context, query string) (*Answer, error) {
	out := &Answer{}
	rest, err := l.h.statement(ctx, l.c, request{query: query}, func(r *sqltypes.Result, _ bool) error {
		for _, row := range r.Rows {
			texts := make([]string, len(row))
			for i, v := range row {
				if texts[i] = v.ToString(); v.IsNull() {
					texts[i] = "NULL"
				}
			}
			out.Rows = append(out.Rows, texts)
		}
		out.Affected, out.InsertID = out.Affected+r.RowsAffected, max(out.InsertID, r.InsertID)
		return nil
	})
	if err == nil && rest != "" {
		err = fmt.Errorf("more than one statement: %q", rest)
	}
	return out, err
}

// ErrorNumber is MySQL's number of an error that Exec returned; 0: it is none of MySQL's.
func ErrorNumber(err error) int {
	var own *mysql.SQLError
	if errors.As(err, &own) {
		return own.Num
	}
	return 0
}

// Close ends the session: an open transaction is rolled back.
func (l *Local) Close() { l.h.ConnectionClosed(l.c) }

// noListener and noConn stand where go-mysql-server wants a network.
type noListener struct{}

func (noListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (noListener) Close() error              { return nil }
func (noListener) Addr() net.Addr            { return noAddr{} }

type noAddr struct{}

func (noAddr) Network() string { return "local" }
func (noAddr) String() string  { return "local" }

type noConn struct{}

func (noConn) Read([]byte) (int, error)         { return 0, net.ErrClosed }
func (noConn) Write(p []byte) (int, error)      { return len(p), nil }
func (noConn) Close() error                     { return nil }
func (noConn) LocalAddr() net.Addr              { return noAddr{} }
func (noConn) RemoteAddr() net.Addr             { return noAddr{} }
func (noConn) SetDeadline(time.Time) error      { return nil }
func (noConn) SetReadDeadline(time.Time) error  { return nil }
func (noConn) SetWriteDeadline(time.Time) error { return nil }
