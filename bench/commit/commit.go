// Package commit times transactions by where their rows lie: one row; three rows of one range; three rows of three ranges that
// three nodes lead. No two clients want the same row, so what is seen is the commit protocol and nothing else.
//
//	O1  At the end each row holds every one of its acknowledged additions, and nothing that was refused.
//	O2  The three rows of a transaction hold the same whenever they are read together: none of it is there without the rest.
package commit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/longitude-db/longitude/bench/harness"
)

// perRange is how many rows each of the three ranges holds. A client owns nine of them: three for each class, of which the
// first class uses one.
const (
	perRange = 3000
	clients  = perRange / 5
)

// Workload is the rows on one target.
type Workload struct {
	only    atomic.Int64
	clients atomic.Int64
	acked   [3][clients]harness.Ledger // by class and client
}

// New makes one.
func New() *Workload { return &Workload{} }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "commit" }

// Classes of transactions, by what they write.
const (
	oneRow = iota
	oneRange
	threeRanges
)

// Classes implements harness.Workload.
func (w *Workload) Classes() []string {
	return []string{"1 row", "3 rows, 1 range", "3 rows, 3 ranges"}
}

// Only implements harness.Phased.
func (w *Workload) Only(class int) { w.only.Store(int64(class)) }

const (
	create = `CREATE TABLE commits(id INT PRIMARY KEY, n BIGINT NOT NULL)`
	addOne = `UPDATE commits SET n = n + 1 WHERE id = ?`
	addAll = `UPDATE commits SET n = n + 1 WHERE id IN (?, ?, ?)`
)

// rowsOf are the rows that a client writes with a class.
func rowsOf(class, client int) []int {
	switch class {
	case oneRow:
		return []int{client*5 + client%3*perRange} // a third of the clients in each range
	case oneRange:
		at := client*5 + client%3*perRange
		return []int{at + 1, at + 2, at + 3}
	}
	at := client*5 + 4
	return []int{at, at + perRange, at + 2*perRange}
}

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	if err := t.Fresh(ctx, "commits"); err != nil {
		return err
	}
	db := t.Nodes[0]
	if _, err := db.ExecContext(ctx, create); err != nil {
		return fmt.Errorf("%s: %w", create, err)
	}
	if err := harness.Insert(ctx, db, "INSERT INTO commits VALUES ", "(?, 0)", 0, 3*perRange, func(i int) []any { return []any{i} }); err != nil {
		return err
	}
	if !t.Ours {
		return nil
	}
	return t.SplitEvenly(ctx, "commits", []int{0, perRange, 2 * perRange}, say)
}

// Client implements harness.Workload.
func (w *Workload) Client(*rand.Rand) harness.Client {
	return &client{w, int(w.clients.Add(1)-1) % clients}
}

type client struct {
	w   *Workload
	own int
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	class := int(c.w.only.Load())
	return harness.Op{Class: class, Do: func(ctx context.Context, conn *harness.Conn) error {
		return c.w.acked[class][c.own].Do(1, func() error {
			rows := rowsOf(class, c.own)
			if class == oneRow {
				_, err := conn.Exec(ctx, addOne, rows[0])
				return err
			}
			_, err := conn.Exec(ctx, addAll, rows[0], rows[1], rows[2])
			return err
		})
	}}
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	rows, err := t.Nodes[0].QueryContext(ctx, "SELECT id, n FROM commits")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := make([]int64, 3*perRange)
	seen, found := 0, harness.Violations{}
	for rows.Next() {
		var id int
		var v int64
		if err := rows.Scan(&id, &v); err != nil {
			return nil, err
		}
		if id < 0 || id >= len(n) {
			found.Add("O1: there is a row %d that nobody made", id)
			continue
		}
		n[id], seen = v, seen+1
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if seen != len(n) {
		found.Add("O1: there are %d rows, wanted: %d", seen, len(n))
	}
	for class := range w.acked {
		for c := range w.acked[class] {
			atLeast, atMost := w.acked[class][c].Bounds()
			own := rowsOf(class, c)
			for _, id := range own {
				if n[id] < atLeast || n[id] > atMost {
					found.Add("O1: row %d holds %d, wanted: %d to %d", id, n[id], atLeast, atMost)
				}
				if n[id] != n[own[0]] {
					found.Add("O2: rows %v were only written together, and hold %d and %d", own, n[own[0]], n[id])
				}
			}
		}
	}
	return found.List(), nil
}
