// Package fakesql is a database/sql driver for tests of workloads: a func answers statements, so that a test can be a
// server that forgets, repeats or tears what it acknowledged, and see that the workload's verification finds it.
package fakesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/longitude-db/longitude/bench/harness"
)

// Answer is what a statement returns: rows, if it has columns.
type Answer struct {
	Columns []string
	Rows    [][]driver.Value
}

// Server answers statements, one at a time.
type Server func(query string, args []any) (Answer, error)

// Target is a target of one node that this server answers for.
func Target(name string, s Server) *harness.Target {
	return &harness.Target{Name: name, Version: "fake", Nodes: []*sql.DB{sql.OpenDB(&connector{server: s})}}
}

// Rows makes an answer of rows.
func Rows(rows ...[]driver.Value) Answer {
	a := Answer{Rows: rows, Columns: []string{"?"}}
	if len(rows) > 0 {
		a.Columns = make([]string, len(rows[0]))
	}
	return a
}

// Measure sets a workload up on a server, runs it for a moment, and has it verify what the server did.
func Measure(t *testing.T, s Server, w harness.Workload, l harness.Load) *harness.Result {
	t.Helper()
	tgt := Target("fake", s)
	defer tgt.Close()
	if err := w.Setup(t.Context(), tgt, t.Logf); err != nil {
		t.Fatal(err)
	}
	r, err := harness.Run(t.Context(), tgt, w, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Verify(t.Context(), tgt, w, r); err != nil {
		t.Fatal(err)
	}
	return r
}

type connector struct {
	mu     sync.Mutex
	server Server
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return &conn{c}, nil }
func (c *connector) Driver() driver.Driver                        { return nil }

func (c *connector) answer(query string, args []driver.NamedValue) (Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var vs []any
	for _, a := range args {
		vs = append(vs, a.Value)
	}
	return c.server(query, vs)
}

type conn struct{ c *connector }

func (c *conn) Prepare(q string) (driver.Stmt, error) { return &stmt{c, q}, nil }
func (c *conn) Close() error                          { return nil }
func (c *conn) Begin() (driver.Tx, error)             { return nil, errors.New("workloads say START TRANSACTION") }

func (c *conn) ExecContext(_ context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.c.answer(q, args)
	return driver.RowsAffected(1), err
}

func (c *conn) QueryContext(_ context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	a, err := c.c.answer(q, args)
	return &rows{a: a}, err
}

type stmt struct {
	c *conn
	q string
}

func (s *stmt) Close() error                               { return nil }
func (s *stmt) NumInput() int                              { return -1 }
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.q, args)
}
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.q, args)
}

type rows struct {
	a  Answer
	at int
}

func (r *rows) Columns() []string { return r.a.Columns }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(to []driver.Value) error {
	if r.at == len(r.a.Rows) {
		return io.EOF
	}
	copy(to, r.a.Rows[r.at])
	r.at++
	return nil
}
