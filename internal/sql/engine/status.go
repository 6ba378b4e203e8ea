package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// What OK and EOF packets say of the session (SERVER_STATUS_*). Drivers believe it instead of asking: PyMySQL sends SET AUTOCOMMIT = 0
// only if the last packet said that autocommit is on, and pools roll back only what is said to be open.
//
//	W1  The handshake and every OK and EOF packet say whether autocommit is on, whether a transaction is open and whether that is a
//	    read-only one, as it is when the packet's statement is over; in a result that is sent while it is read, as it is then.
//	W2  NO_BACKSLASH_ESCAPES is said exactly if the session's next statement is read that way (backslash.go).
//
// More results and cursors are added by vitess, packet by packet.
const (
	statusInTransReadOnly    = 0x2000 // SERVER_STATUS_IN_TRANS_READONLY
	statusNoBackslashEscapes = 0x0200 // SERVER_STATUS_NO_BACKSLASH_ESCAPES
)

// status is what the session's next packet says (W1, W2).
func (s *Session) status(ctx *sql.Context) (flags uint16) {
	k := s.settings(ctx)
	if k.autocommit {
		flags |= mysql.ServerStatusAutocommit
	}
	if t := s.transaction(); t != nil && (t.explicit || !k.autocommit || s.GetIgnoreAutoCommit()) {
		flags |= mysql.ServerInTransaction
		if t.readOnly {
			flags |= statusInTransReadOnly
		}
	}
	if k.noBackslash {
		flags |= statusNoBackslashEscapes
	}
	return flags
}

// ownStatus are the flags that status decides about.
const ownStatus = uint16(mysql.ServerStatusAutocommit) | uint16(mysql.ServerInTransaction) | statusInTransReadOnly | statusNoBackslashEscapes

// setStatus puts the session's status into the packets that come next on its connection.
func (s *Session) setStatus(ctx *sql.Context, c *mysql.Conn) {
	c.StatusFlags = c.StatusFlags&^ownStatus | s.status(ctx)
}

func (x *execution) setStatus(sc *sql.Context) { x.s.setStatus(sc, x.c) }

// NewConnection implements mysql.Handler. The handshake, which comes before there is a session, says what a new session is like.
func (h *handler) NewConnection(c *mysql.Conn) {
	h.Handler.NewConnection(c)
	c.StatusFlags = mysql.ServerStatusAutocommit
	if _, v, ok := sql.SystemVariables.GetGlobal(sql.AutoCommitSessionVar); ok {
		if on, err := sql.ConvertToBool(sql.NewEmptyContext(), v); err == nil && !on {
			c.StatusFlags = 0
		}
	}
}
