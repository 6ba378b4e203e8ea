package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/txn"
)

// Session is one connection's state.
type Session struct {
	*sql.BaseSession
	e    *Engine
	stmt *statement // the one that is being executed
	// latest is the transaction that was begun last. The engine forgets that of a failed statement before anybody has
	// looked at why it failed.
	latest *tx
	// next is the access mode of the next transaction, read-only or not, if SET TRANSACTION has said so.
	next *bool
	// watched is the transaction that longitude.transactions shows for the session now.
	watched *watchedTx
	// calls are the procedures under way, the innermost last.
	calls []call
}

var _ sql.TransactionSession = (*Session)(nil)

func (e *Engine) newSession(_ context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
	client := sql.Client{User: c.User, Capabilities: c.Capabilities}
	if ud, ok := c.UserData.(sql.MysqlConnectionUser); ok {
		client.User, client.Address = ud.User, ud.Host
	}
	s := e.makeSession(addr, client, c.ConnectionID)
	return s, s.initVariables()
}

func (e *Engine) makeSession(addr string, client sql.Client, id uint32) *Session {
	return &Session{BaseSession: sql.NewBaseSessionWithClientServer(addr, client, id), e: e, stmt: &statement{}}
}

// sessionOf returns the session of a context. Only contexts that the engine makes for itself have none.
func sessionOf(ctx *sql.Context) (*Session, error) {
	if s, ok := ctx.Session.(*Session); ok {
		return s, nil
	}
	return nil, fmt.Errorf("tables cannot be used without a session (%T)", ctx.Session)
}

// current returns the session's transaction, begun if need be.
func (s *Session) current(ctx *sql.Context) (*tx, error) {
	if t, ok := s.GetTransaction().(*tx); ok && t != nil {
		return t, nil
	}
	t, err := s.StartTransaction(ctx, sql.ReadWrite)
	if err != nil {
		return nil, err
	}
	s.SetTransaction(t)
	return t.(*tx), nil
}

// txOf returns the transaction of a context.
func txOf(ctx *sql.Context) (*Session, *tx, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.current(ctx)
	return s, t, err
}

// StartTransaction begins a transaction that takes no reading before its first access.
func (s *Session) StartTransaction(ctx *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	past := s.past(ctx)
	s.latest = &tx{e: s.e, ordering: s.ordering(ctx), readOnly: s.startsReadOnly(ctx, c) || !past.Present(), past: past, explicit: s.stmt.begin != ""}
	s.watch(s.latest)
	if len(s.calls) > 0 { // what the procedure did before may be committed: nothing is repeated by the node
		s.latest.statements = 1
	}
	return s.latest, nil
}

// ordering is what the session's variable says.
func (s *Session) ordering(ctx *sql.Context) txn.Ordering {
	v, err := s.GetSessionVariable(ctx, orderingVariable)
	if err == nil {
		if name, ok := v.(string); ok {
			if o, err := txn.ParseOrdering(strings.ToLower(name)); err == nil {
				return o
			}
		}
	}
	return s.e.o.DefaultOrdering
}

// CommitTransaction implements sql.TransactionSession. After an error the transaction is over as well: the handler clears
// it (the engine does not).
func (s *Session) CommitTransaction(ctx *sql.Context, t sql.Transaction) error {
	if t, ok := t.(*tx); ok && t != nil {
		s.used(t)
		if t.kv != nil && !s.stmt.lockUntil.IsZero() {
			t.kv.WaitAtMost(max(time.Millisecond, time.Until(s.stmt.lockUntil)))
		}
		if err := t.commit(ctx); err != nil {
			return err
		}
		return s.remember(ctx, t)
	}
	return nil
}

// Rollback implements sql.TransactionSession.
func (s *Session) Rollback(ctx *sql.Context, t sql.Transaction) error {
	if t, ok := t.(*tx); ok && t != nil {
		s.used(t)
		t.rollback(ctx)
	}
	return nil
}

// CreateSavepoint implements sql.TransactionSession.
func (s *Session) CreateSavepoint(_ *sql.Context, t sql.Transaction, name string) error {
	if t, ok := t.(*tx); ok && t != nil {
		t.setSavepoint(name)
	}
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession.
func (s *Session) RollbackToSavepoint(_ *sql.Context, t sql.Transaction, name string) error {
	if t, ok := t.(*tx); ok && t != nil {
		return t.rollbackTo(name)
	}
	return nil
}

// ReleaseSavepoint implements sql.TransactionSession.
func (s *Session) ReleaseSavepoint(_ *sql.Context, t sql.Transaction, name string) error {
	if t, ok := t.(*tx); ok && t != nil {
		return t.releaseSavepoint(name)
	}
	return nil
}

// SessionEnd is called when the connection is gone: what it left open is rolled back.
func (s *Session) SessionEnd() {
	if t, ok := s.GetTransaction().(*tx); ok && t != nil {
		t.rollback(context.Background())
		s.SetTransaction(nil)
	}
	s.unwatch()
}

// CommandBegin implements sql.LifecycleAwareSession.
func (s *Session) CommandBegin() error { return nil }

// CommandEnd implements sql.LifecycleAwareSession.
func (s *Session) CommandEnd() {}

// endTransaction forgets the transaction, which is over. The next statement begins another one.
func (s *Session) endTransaction() {
	if t, ok := s.GetTransaction().(*tx); ok && t != nil {
		s.used(t)
	}
	s.SetTransaction(nil)
	s.SetIgnoreAutoCommit(false)
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }
