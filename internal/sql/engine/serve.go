package engine

import (
	"errors"
	"net"

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
		Protocol: "tcp", Address: l.Addr().String(), Listener: countedListener{l, e, h}, Version: MySQLVersion + "-" + versionPostfix(e.o.Version),
		MaxConnections: 10_000, DisableConnectionWatcher: true, // ours is watchConns
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
	first := len(e.servers) == 1
	e.mu.Unlock()
	if first {
		go e.watchConns() // until Close
	}
	s.Listener.Accept() // until the listener is closed
	return ErrClosed
}
