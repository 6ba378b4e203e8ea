package engine

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// sessions are those of the open connections, and go-mysql-server's list of what they do: statements that are executed by
// compiled plans note themselves in their session alone, and are added to the list when somebody looks at it.
type sessions struct {
	sql.ProcessList
	mu     sync.RWMutex
	byID   map[uint32]*Session
	byConn map[*mysql.Conn]*Session
}

func newSessions(inner sql.ProcessList) *sessions {
	return &sessions{ProcessList: inner, byID: map[uint32]*Session{}, byConn: map[*mysql.Conn]*Session{}}
}

func (l *sessions) add(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[s.conn.ConnectionID], l.byConn[s.conn] = s, s
}

// remove forgets a session, unless its connection has another one already.
func (l *sessions) remove(s *Session) {
	if s.conn == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byConn[s.conn] == s {
		delete(l.byConn, s.conn)
		delete(l.byID, s.conn.ConnectionID)
	}
}

// of returns the session of a connection; nil if it has none yet.
func (l *sessions) of(c *mysql.Conn) *Session {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byConn[c]
}

// Processes implements sql.ProcessList.
func (l *sessions) Processes() []sql.Process {
	all := l.ProcessList.Processes()
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := range all {
		if s := l.byID[all[i].Connection]; s != nil {
			s.running.show(&all[i])
		}
	}
	return all
}

// Kill implements sql.ProcessList.
func (l *sessions) Kill(id uint32) {
	l.mu.RLock()
	s := l.byID[id]
	l.mu.RUnlock()
	if s != nil {
		s.running.stop(killed, 0)
	}
	l.ProcessList.Kill(id)
}
