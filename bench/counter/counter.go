// Package counter is the smallest workload that loses something if a database does: clients add one to counters, each
// addition a statement of its own, and sometimes read one.
//
//	C1  At the end the counters add up to every acknowledged addition, and to nothing that was refused; of those whose
//	    fate the client could not learn each counts at most once.
//	C2  A read of a counter that starts after an addition was acknowledged sees it, and sees none that nobody had sent.
package counter

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/longitude-db/longitude/bench/harness"
)

// Options of the workload.
type Options struct {
	Counters     int     // few: clients meet at the same row; 1: all of them do
	ReadFraction float64 // how often an operation reads a counter
}

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	if o.Counters < 1 {
		faults = append(faults, fmt.Errorf("counters is %d, wanted: 1 or more", o.Counters))
	}
	if !(o.ReadFraction >= 0 && o.ReadFraction <= 1) {
		faults = append(faults, fmt.Errorf("read fraction is %g, wanted: 0 to 1", o.ReadFraction))
	}
	return errors.Join(faults...)
}

// Workload is the counters on one target.
type Workload struct {
	o       Options
	ledgers []harness.Ledger // by counter
	wrong   harness.Violations
}

// New makes one.
func New(o Options) (*Workload, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &Workload{o: o, ledgers: make([]harness.Ledger, o.Counters)}, nil
}

// Name implements harness.Workload.
func (w *Workload) Name() string { return "counter" }

// Classes implements harness.Workload.
func (w *Workload) Classes() []string { return []string{"add", "read"} }

const (
	create = `CREATE TABLE counters(id INT PRIMARY KEY, n BIGINT NOT NULL)`
	add    = `UPDATE counters SET n = n + 1 WHERE id = ?`
	look   = `SELECT n FROM counters WHERE id = ?`
)

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, _ harness.Say) error {
	if err := t.Fresh(ctx, "counters"); err != nil {
		return err
	}
	if _, err := t.Nodes[0].ExecContext(ctx, create); err != nil {
		return fmt.Errorf("%s: %w", create, err)
	}
	return harness.Insert(ctx, t.Nodes[0], "INSERT INTO counters VALUES ", "(?, 0)", 0, w.o.Counters, func(i int) []any { return []any{i} })
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client { return &client{w, rnd} }

type client struct {
	w   *Workload
	rnd *rand.Rand
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	id := c.rnd.IntN(c.w.o.Counters)
	l := &c.w.ledgers[id]
	if c.rnd.Float64() < c.w.o.ReadFraction {
		return harness.Op{Class: 1, Do: func(ctx context.Context, conn *harness.Conn) error {
			atLeast, _ := l.Bounds()
			rows, err := conn.Query(ctx, look, id)
			n, err := one(rows, err)
			if err != nil {
				return err
			}
			if atMost := l.Issued(); n < atLeast || n > atMost {
				c.w.wrong.Add("C2: a read of counter %d saw %d; %d additions had been acknowledged before it, and %d sent when it ended", id, n, atLeast, atMost)
			}
			return nil
		}}
	}
	return harness.Op{Do: func(ctx context.Context, conn *harness.Conn) error {
		return l.Do(1, func() error {
			_, err := conn.Exec(ctx, add, id)
			return err
		})
	}}
}

// one reads the only value of the only row.
func one(rows *sql.Rows, err error) (n int64, _ error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return 0, err
		}
		return 0, sql.ErrNoRows
	}
	if err := rows.Scan(&n); err != nil {
		return 0, err
	}
	return n, rows.Err()
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	found := w.wrong.List()
	for i, db := range t.Nodes {
		rows, err := db.QueryContext(ctx, "SELECT id, n FROM counters")
		if err != nil {
			return nil, err
		}
		seen := 0
		for rows.Next() {
			var id int
			var n int64
			if err := rows.Scan(&id, &n); err != nil {
				rows.Close()
				return nil, err
			}
			if id < 0 || id >= len(w.ledgers) {
				found = append(found, fmt.Sprintf("C1: node %d of %d has a counter %d that nobody made", i+1, len(t.Nodes), id))
				continue
			}
			seen++
			if atLeast, atMost := w.ledgers[id].Bounds(); n < atLeast || n > atMost {
				found = append(found, fmt.Sprintf("C1: counter %d is %d on node %d of %d, wanted: %d to %d (acknowledged, and those of unknown fate)",
					id, n, i+1, len(t.Nodes), atLeast, atMost))
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if seen != w.o.Counters {
			found = append(found, fmt.Sprintf("C1: node %d of %d has %d counters, wanted: %d", i+1, len(t.Nodes), seen, w.o.Counters))
		}
	}
	return found, nil
}
