// Package readers runs read-only transactions beside writers of the same rows: readers should neither wait for writers nor
// hold them up nor be told to begin again.
//
//	R1  Both sums that a read-only transaction takes are those of one moment: they are equal, and equal to what all rows held
//	    at the beginning, because writers only move amounts between rows.
package readers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/longitude-db/longitude/bench/harness"
)

const (
	rows    = 600
	opening = 1000
)

// Mode says who runs.
type Mode int

// Modes. With Both every second client writes.
const (
	Readers Mode = iota
	Writers
	Both
)

// Workload is the rows on one target.
type Workload struct {
	mode    Mode
	clients atomic.Int64
	// Begun counts reading transactions that were begun again because the server asked for it.
	begun atomic.Int64
	wrong harness.Violations
}

// New makes one.
func New() *Workload { return &Workload{} }

// Run says who the clients made from now on are.
func (w *Workload) Run(m Mode) { w.mode = m; w.clients.Store(0) }

// Again is how many reading transactions the server asked to begin again, so far.
func (w *Workload) Again() int64 { return w.begun.Load() }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "readers" }

// Classes implements harness.Workload.
func (w *Workload) Classes() []string { return []string{"read", "write"} }

const (
	create = `CREATE TABLE shelves(id INT PRIMARY KEY, n BIGINT NOT NULL)`
	sum    = `SELECT SUM(n), COUNT(*) FROM shelves`
	take   = `UPDATE shelves SET n = n - ? WHERE id = ?`
	give   = `UPDATE shelves SET n = n + ? WHERE id = ?`
)

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	if err := t.Fresh(ctx, "shelves"); err != nil {
		return err
	}
	if _, err := t.Nodes[0].ExecContext(ctx, create); err != nil {
		return fmt.Errorf("%s: %w", create, err)
	}
	err := harness.Insert(ctx, t.Nodes[0], "INSERT INTO shelves VALUES ", "(?, ?)", 0, rows, func(i int) []any { return []any{i, opening} })
	if err != nil || !t.Ours {
		return err
	}
	return t.SplitEvenly(ctx, "shelves", []int{0, rows / 3, 2 * rows / 3}, say)
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client {
	writes := w.mode == Writers
	if w.mode == Both {
		// Pairs, because clients are dealt out to nodes in turn: each node gets readers and writers.
		writes = (w.clients.Add(1)-1)/3%2 == 1
	}
	return &client{w, rnd, writes}
}

type client struct {
	w      *Workload
	rnd    *rand.Rand
	writes bool
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	if !c.writes {
		return harness.Op{Class: 0, Do: c.read}
	}
	from := c.rnd.IntN(rows)
	to := (from + 1 + c.rnd.IntN(rows-1)) % rows
	amount := c.rnd.IntN(10) + 1
	return harness.Op{Class: 1, Do: func(ctx context.Context, conn *harness.Conn) error {
		return conn.Tx(ctx, func() error {
			if _, err := conn.Exec(ctx, take, amount, from); err != nil {
				return err
			}
			_, err := conn.Exec(ctx, give, amount, to)
			return err
		})
	}}
}

// read checks R1.
func (c *client) read(ctx context.Context, conn *harness.Conn) error {
	err := conn.TxReadOnly(ctx, func() error {
		for range 2 {
			n, count, err := total(ctx, conn)
			if err != nil {
				return err
			}
			if n != rows*opening || count != rows {
				c.w.wrong.Add("R1: a read-only transaction saw %d rows that hold %d, wanted: %d and %d", count, n, rows, rows*opening)
			}
		}
		return nil
	})
	if harness.Retryable(err) {
		c.w.begun.Add(1)
	}
	return err
}

func total(ctx context.Context, conn *harness.Conn) (n, count int64, _ error) {
	rs, err := conn.Query(ctx, sum)
	if err != nil {
		return 0, 0, err
	}
	defer rs.Close()
	if !rs.Next() {
		return 0, 0, errors.Join(rs.Err(), errors.New("a sum without a row"))
	}
	var f float64 // whether a sum is a DECIMAL or a DOUBLE differs between servers, and builds of ours
	if err := rs.Scan(&f, &count); err != nil {
		return 0, 0, err
	}
	return int64(f), count, errors.Join(rs.Err(), rs.Close())
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	var found harness.Violations
	for i, db := range t.Nodes {
		var f float64
		var count int64
		if err := db.QueryRowContext(ctx, sum).Scan(&f, &count); err != nil {
			return nil, err
		}
		n := int64(f)
		if n != rows*opening || count != rows {
			found.Add("R1: at the end node %d of %d has %d rows that hold %d, wanted: %d and %d", i+1, len(t.Nodes), count, n, rows, rows*opening)
		}
	}
	return append(w.wrong.List(), found.List()...), nil
}
