package harness

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// Conn is a worker's connection. Statements with arguments are prepared on the server once per connection.
type Conn struct {
	c     *sql.Conn
	stmts map[string]*sql.Stmt
}

// Dial takes a connection of its own from a pool.
func Dial(ctx context.Context, db *sql.DB) (*Conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{c: c, stmts: map[string]*sql.Stmt{}}, nil
}

// Close gives the connection back.
func (c *Conn) Close() {
	for _, s := range c.stmts {
		s.Close()
	}
	c.c.Close()
}

func (c *Conn) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.c.PrepareContext(ctx, query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// Exec carries out a statement.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if len(args) == 0 {
		return c.c.ExecContext(ctx, query)
	}
	s, err := c.prepared(ctx, query)
	if err != nil {
		return nil, notDone{err}
	}
	return s.ExecContext(ctx, args...)
}

// Query carries out a statement that returns rows.
func (c *Conn) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if len(args) == 0 {
		return c.c.QueryContext(ctx, query)
	}
	s, err := c.prepared(ctx, query)
	if err != nil {
		return nil, notDone{err}
	}
	return s.QueryContext(ctx, args...)
}

// Tx carries out f in a transaction, once. An error before the commit was sent means that nothing was done (Refused).
func (c *Conn) Tx(ctx context.Context, f func() error) error {
	return c.tx(ctx, "START TRANSACTION", f)
}

// TxReadOnly is Tx for a transaction that writes nothing, and says so. All that it reads is of one moment, that of its first read on
// another server. It does not ask for that with WITH CONSISTENT SNAPSHOT, which older builds of ours do not know beside READ ONLY.
func (c *Conn) TxReadOnly(ctx context.Context, f func() error) error {
	return c.tx(ctx, "START TRANSACTION READ ONLY", f)
}

func (c *Conn) tx(ctx context.Context, begin string, f func() error) error {
	if _, err := c.c.ExecContext(ctx, begin); err != nil {
		return notDone{err}
	}
	if err := f(); err != nil {
		// Some servers end only the statement with error 1205, and the transaction would live on in the connection. If
		// even this fails the connection is broken, which the next statement shows.
		_, _ = c.c.ExecContext(ctx, "ROLLBACK")
		return notDone{err}
	}
	_, err := c.c.ExecContext(ctx, "COMMIT")
	return err
}

// notDone is an error after which it is certain that nothing was done.
type notDone struct{ error }

func (e notDone) Unwrap() error { return e.error }

// Retryable reports whether an error asks the client to begin the operation again: 1213 deadlock (ours: restart the
// transaction), 1205 lock wait timeout, and 1020, by which MariaDB says since 11.6 that a row has changed since it was read.
func Retryable(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205 || e.Number == 1020)
}

// Refused reports whether an error says that the operation did nothing. Any other error leaves its fate open.
func Refused(err error) bool {
	var nothing notDone
	if errors.As(err, &nothing) || Retryable(err) {
		return true
	}
	var e *mysql.MySQLError
	// Duplicate key, foreign key.
	return errors.As(err, &e) && (e.Number == 1062 || e.Number == 1452)
}

// answered reports whether the error came from the server: then the connection is still good.
func answered(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e)
}
