package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// BEGIN, COMMIT and ROLLBACK.
//
// An access mode that START TRANSACTION or SET TRANSACTION names is that of the next transaction until a COMMIT or ROLLBACK without AND CHAIN,
// an implicit commit, or the end of a statement that was a transaction of its own. A BEGIN that ends an open transaction keeps it, as in MySQL.

// beginForm begins a transaction, after a commit of the one that is open.
type beginForm struct{}

// commitForm and rollbackForm end the transaction. chain: another one like it begins at once.
type (
	commitForm   struct{ chain bool }
	rollbackForm struct{ chain bool }
)

// controlForm is what a statement does that begins or ends a transaction; nil: it does not.
func controlForm(stmt sqlparser.Statement, text string) form {
	switch stmt.(type) {
	case *sqlparser.Begin:
		return beginForm{}
	case *sqlparser.Commit:
		return commitForm{chains(text)}
	case *sqlparser.Rollback:
		return rollbackForm{chains(text)}
	}
	return nil
}

// chains reports whether a COMMIT or ROLLBACK says AND CHAIN, which the syntax tree does not keep.
func chains(text string) bool {
	t := ownText{text: text}
	t.words = wordsOf(text)
	for n := range t.words {
		if t.word(n) == "and" && t.word(n+1) == "chain" {
			return true
		}
	}
	return false
}

// attemptControl executes a form once.
func (x *execution) attemptControl(sc *sql.Context, f form, begin string) (err error) {
	defer x.h.recovered(x.query, &err)
	s := x.s
	s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: control, begin: begin, deferred: true, by: x}
	if s.latest = s.transaction(); s.latest != nil {
		s.latest.startStatement(x.lockUntil)
	}
	s.ClearWarnings()
	if err := f.perform(x, sc, nil); err != nil {
		return err
	}
	sql.IncrementStatusVariable(sc, "Questions", 1)
	return x.statementOver()
}

// controlled is the answer of a statement about transactions: a result without rows.
func (x *execution) controlled() {
	i := x.s.GetLastQueryInfo()
	i.RowCount.Store(-1)
	x.schema = sql.Schema{}
	x.out.begin(nil)
}

func (beginForm) perform(x *execution, sc *sql.Context, _ []literal) error {
	if t := x.s.transaction(); t != nil {
		if err := x.s.CommitTransaction(sc, t); err != nil {
			return err
		}
	}
	return x.begin(sc)
}

// begin begins a transaction that lasts until a statement ends it.
func (x *execution) begin(sc *sql.Context) error {
	s := x.s
	t, err := s.StartTransaction(sc, sql.ReadWrite)
	if err != nil {
		return err
	}
	s.SetTransaction(t)
	s.SetIgnoreAutoCommit(true)
	x.controlled()
	return nil
}

func (f commitForm) perform(x *execution, sc *sql.Context, _ []literal) error {
	return x.endTransaction(sc, f.chain, x.s.CommitTransaction)
}

func (f rollbackForm) perform(x *execution, sc *sql.Context, _ []literal) error {
	return x.endTransaction(sc, f.chain, x.s.Rollback)
}

// endTransaction ends the session's transaction, and begins another one of the same access mode if chain says so.
func (x *execution) endTransaction(sc *sql.Context, chain bool, end func(*sql.Context, sql.Transaction) error) error {
	s := x.s
	next := s.next
	if t := s.transaction(); t != nil {
		if err := end(sc, t); err != nil {
			return err
		}
	}
	s.SetIgnoreAutoCommit(false)
	s.SetTransaction(nil)
	if !chain {
		s.next = nil
		x.controlled()
		return nil
	}
	s.next = next
	s.stmt.begin = chained
	return x.begin(sc)
}

// chained is what a statement says of the transaction that it begins by AND CHAIN.
const chained = "chained"

// setsAutocommit ends the open transaction if a statement has set autocommit, which was off. The access mode of the next transaction stays.
func (x *execution) setsAutocommit(sc *sql.Context, was bool) error {
	s := x.s
	t := s.transaction()
	if was || t == nil || !s.settings(sc).autocommit {
		return nil
	}
	next := s.next
	if err := s.CommitTransaction(sc, t); err != nil {
		return err
	}
	s.SetTransaction(nil)
	s.SetIgnoreAutoCommit(false)
	s.next = next
	return nil
}
