package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/clock"
)

// Session is one connection's state.
type Session struct {
	*sql.BaseSession
	e    *Engine
	conn *mysql.Conn // nil: not over the network
	stmt *statement  // the one that is being executed
	// latest is the transaction that was begun last. The engine forgets that of a failed statement before anybody has
	// looked at why it failed.
	latest *tx
	// next is the access mode of the next transaction, read-only or not, if SET TRANSACTION has said so.
	next *bool
	// watched is the transaction that longitude.transactions shows for the session now.
	watched *watchedTx
	// active is the stored program that is being executed, the innermost; nil: none is.
	active *invocation
	// prepared are the statements of PREPARE, by their names in lower case.
	prepared map[string]*preparedText
	named    namedLocks
	// temporary are the session's temporary tables.
	temporary temporaryTables

	// lockedTables: LOCK TABLES has been said, and not taken back.
	lockedTables bool

	// cleared: the present statement has cleared the warnings of the one before.
	cleared bool

	known            *settings // nil: to be looked up again
	token, committed clock.Timestamp
	running          running
	scratch          scratch
}

// Warnings implements sql.Session: the first one comes first, as SHOW WARNINGS of MySQL has them.
func (s *Session) Warnings() []*sql.Warning {
	out := s.BaseSession.Warnings()
	slices.Reverse(out)
	return out
}

var _ sql.TransactionSession = (*Session)(nil)

func (e *Engine) newSession(_ context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
	client := sql.Client{User: c.User, Capabilities: c.Capabilities}
	if ud, ok := c.UserData.(sql.MysqlConnectionUser); ok {
		client.User, client.Address = ud.User, ud.Host
	}
	s := e.makeSession(addr, client, c.ConnectionID)
	if err := s.initVariables(); err != nil {
		return nil, err
	}
	s.conn = c
	e.sessions.add(s)
	return s, nil
}

func (e *Engine) makeSession(addr string, client sql.Client, id uint32) *Session {
	return &Session{BaseSession: sql.NewBaseSessionWithClientServer(addr, client, id), e: e, stmt: &statement{}}
}

// twinIndex is the code of a warning that go-mysql-server gives wrongly (warnOfTwin).
const twinIndex = 1831

// ClearWarnings implements sql.Session.
func (s *Session) ClearWarnings() {
	s.BaseSession.ClearWarnings()
	s.cleared = true
}

// failed adds the error of a statement to the session's warnings, as MySQL does; those of the statement before are gone.
func (s *Session) failed(err *mysql.SQLError) {
	if !s.cleared {
		s.ClearWarnings()
	}
	s.BaseSession.Warn(&sql.Warning{Level: "Error", Code: err.Num, Message: err.Message})
}

// Warn implements sql.Session.
func (s *Session) Warn(w *sql.Warning) {
	if w.Code != twinIndex {
		s.BaseSession.Warn(w)
	}
}

// sessionOf returns the session of a context. Only contexts that the engine makes for itself have none.
func sessionOf(ctx *sql.Context) (*Session, error) {
	if s, ok := ctx.Session.(*Session); ok {
		return s, nil
	}
	return nil, fmt.Errorf("tables cannot be used without a session (%T)", ctx.Session)
}

// transaction is the session's transaction, or nil.
func (s *Session) transaction() *tx {
	t, _ := s.GetTransaction().(*tx)
	return t
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
	if s.stmt.begin == sqlparser.TxReadOnly || s.stmt.begin == sqlparser.TxReadWrite {
		readOnly := s.stmt.begin == sqlparser.TxReadOnly
		s.next = &readOnly
	}
	s.latest = &tx{e: s.e, ordering: s.settings(ctx).ordering, readOnly: s.startsReadOnly(ctx, c) || !past.Present(), past: past, explicit: s.stmt.begin != "", lockUntil: s.stmt.lockUntil}
	s.latest.mayWrite = past.Present() && len(s.temporary.tables) > 0
	s.watch(s.latest)
	return s.latest, nil
}

// CommitTransaction implements sql.TransactionSession. After an error the transaction is over as well: the handler clears
// it (the engine does not).
func (s *Session) CommitTransaction(ctx *sql.Context, t sql.Transaction) error {
	if t, ok := t.(*tx); ok && t != nil {
		s.used(t)
		t.lockUntil = s.stmt.lockUntil
		t.limitWaiting()
		if err := t.commit(ctx); err != nil {
			return err
		}
		s.adopt(t)
		s.remember(t)
	}
	return nil
}

// Rollback implements sql.TransactionSession.
func (s *Session) Rollback(ctx *sql.Context, t sql.Transaction) error {
	if t, ok := t.(*tx); ok && t != nil {
		s.used(t)
		t.rollback(ctx)
		s.warnOfTemporary(t)
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
		s.warnOfTemporary(t)
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
	s.e.sessions.remove(s)
	s.running.close()
	s.unwatch()
	s.endTemporary()
	s.endNamedLocks()
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
