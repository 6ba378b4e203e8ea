package engine

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// A procedure's statements belong to the transaction of the CALL, if one is open; else each is a transaction of its own, as
// in MySQL. go-mysql-server puts the open transaction aside for the time of a CALL, so that what the procedure writes would be
// lost and what it reads would be of another time. It does so by setting the session's transaction to nil, and back at the
// end: those two are recognized here and have no effect.

// call is a CALL under way.
type call struct {
	outer sql.Transaction // the session's transaction when it began
	keep  bool            // which is open: the procedure is part of it
	begun bool            // go-mysql-server has put it aside
}

// beginCall notes that go-mysql-server is about to execute a procedure.
func (s *Session) beginCall(ctx *sql.Context) error {
	on, err := plan.IsSessionAutocommit(ctx)
	if err != nil {
		return err
	}
	s.calls = append(s.calls, call{outer: s.GetTransaction(), keep: s.GetIgnoreAutoCommit() || !on})
	return nil
}

// SetTransaction implements sql.Session.
func (s *Session) SetTransaction(t sql.Transaction) {
	if n := len(s.calls); n > 0 {
		c := &s.calls[n-1]
		switch {
		case !c.begun && t == nil:
			if c.begun = true; c.keep {
				return
			}
		case c.begun && t == c.outer:
			s.calls = s.calls[:n-1]
			if c.keep || s.GetIgnoreAutoCommit() { // a procedure that has ended it has left another one, or none
				return
			}
		case t == nil: // one of its statements is over: if it has failed, its locks end here
			if own, ok := s.GetTransaction().(*tx); ok && own != nil {
				own.rollback(context.Background())
			}
		}
	}
	s.BaseSession.SetTransaction(t)
}
