// Package latency times single statements, one kind at a time, on rows that nobody else wants: what a statement costs by
// itself, in time and in the servers' processor time. With one worker nothing queues; with several the clients do not meet
// either.
//
//	L1  At the end each client's row holds every one of its acknowledged additions, and each acknowledged insert is there.
//	L2  A client reads its own last write, on its own connection.
package latency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/longitude-db/longitude/bench/harness"
)

// rows is how many rows there are; each client owns one for updates.
const rows = 1000

// Workload is the rows on one target.
type Workload struct {
	clients atomic.Int64
	only    atomic.Int64 // the kind whose turn it is
	// inserted numbers the inserts: clients of other slices may have drawn the same random numbers.
	inserted atomic.Uint64
	inserts  harness.Ledger
	updates  [rows]harness.Ledger
	wrong    harness.Violations
}

// New makes one.
func New() *Workload { return &Workload{} }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "latency" }

// Classes of operations.
const (
	ping        = iota // a statement without a table: protocol, parser
	pointRead          // one row by primary key
	insert             // one row
	update             // one row: read, add, write
	transaction        // BEGIN; read; update; COMMIT: four round trips
)

// Classes implements harness.Workload.
func (w *Workload) Classes() []string { return []string{"ping", "read", "insert", "update", "txn"} }

const (
	createRows = `CREATE TABLE latency_rows(id INT PRIMARY KEY, n BIGINT NOT NULL, filler VARCHAR(100) NOT NULL)`
	createLog  = `CREATE TABLE latency_log(id BIGINT PRIMARY KEY, filler VARCHAR(100) NOT NULL)`
	readRow    = `SELECT n FROM latency_rows WHERE id = ?`
	insertRow  = `INSERT INTO latency_log VALUES (?, ?)`
	updateRow  = `UPDATE latency_rows SET n = n + 1 WHERE id = ?`
	filler     = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
)

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, _ harness.Say) error {
	if err := t.Fresh(ctx, "latency_rows", "latency_log"); err != nil {
		return err
	}
	for _, q := range []string{createRows, createLog} {
		if _, err := t.Nodes[0].ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return harness.Insert(ctx, t.Nodes[0], "INSERT INTO latency_rows VALUES ", "(?, 0, ?)", 0, rows, func(i int) []any { return []any{i, filler} })
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client {
	return &client{w: w, own: int(w.clients.Add(1)-1) % rows, rnd: rnd}
}

// Only implements harness.Phased.
func (w *Workload) Only(class int) { w.only.Store(int64(class)) }

type client struct {
	w   *Workload
	own int
	rnd *rand.Rand
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	op := harness.Op{Class: int(c.w.only.Load())}
	switch op.Class {
	case ping:
		op.Do = func(ctx context.Context, conn *harness.Conn) error { return drain(ctx, conn, "SELECT 1") }
	case pointRead:
		other := c.rnd.IntN(rows)
		op.Do = func(ctx context.Context, conn *harness.Conn) error { return drain(ctx, conn, readRow, other) }
	case insert:
		id := harness.Scattered(c.w.inserted.Add(1))
		op.Do = func(ctx context.Context, conn *harness.Conn) error {
			return c.w.inserts.Do(1, func() error {
				_, err := conn.Exec(ctx, insertRow, id, filler)
				return err
			})
		}
	case update:
		op.Do = func(ctx context.Context, conn *harness.Conn) error {
			return c.w.updates[c.own].Do(1, func() error {
				_, err := conn.Exec(ctx, updateRow, c.own)
				return err
			})
		}
	case transaction:
		op.Do = c.txn
	}
	return op
}

// txn checks L2.
func (c *client) txn(ctx context.Context, conn *harness.Conn) error {
	l := &c.w.updates[c.own]
	atLeast, _ := l.Bounds()
	return l.Do(1, func() error {
		return conn.Tx(ctx, func() error {
			rs, err := conn.Query(ctx, readRow, c.own)
			if err != nil {
				return err
			}
			defer rs.Close()
			n := int64(-1)
			if rs.Next() {
				if err := rs.Scan(&n); err != nil {
					return err
				}
			}
			if err := errors.Join(rs.Err(), rs.Close()); err != nil { // the connection carries one statement at a time
				return err
			}
			if n < atLeast {
				c.w.wrong.Add("L2: row %d reads %d after %d additions were acknowledged", c.own, n, atLeast)
			}
			_, err = conn.Exec(ctx, updateRow, c.own)
			return err
		})
	})
}

// drain carries out a query and reads its rows to the end.
func drain(ctx context.Context, conn *harness.Conn, q string, args ...any) error {
	rs, err := conn.Query(ctx, q, args...)
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		var n int64
		if err := rs.Scan(&n); err != nil {
			return err
		}
	}
	return rs.Err()
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	found := w.wrong.List()
	var n int64
	if err := t.Nodes[0].QueryRowContext(ctx, "SELECT COUNT(*) FROM latency_log").Scan(&n); err != nil {
		return nil, err
	}
	if atLeast, atMost := w.inserts.Bounds(); n < atLeast || n > atMost {
		found = append(found, fmt.Sprintf("L1: %d inserted rows, wanted: %d to %d", n, atLeast, atMost))
	}
	rs, err := t.Nodes[0].QueryContext(ctx, "SELECT id, n FROM latency_rows")
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	seen := 0
	for rs.Next() {
		var id int
		if err := rs.Scan(&id, &n); err != nil {
			return nil, err
		}
		seen++
		if id < 0 || id >= rows {
			found = append(found, fmt.Sprintf("L1: there is a row %d that nobody made", id))
		} else if atLeast, atMost := w.updates[id].Bounds(); n < atLeast || n > atMost {
			found = append(found, fmt.Sprintf("L1: row %d holds %d, wanted: %d to %d", id, n, atLeast, atMost))
		}
	}
	if seen != rows {
		found = append(found, fmt.Sprintf("L1: there are %d rows, wanted: %d", seen, rows))
	}
	return found, rs.Err()
}
