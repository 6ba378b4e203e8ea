// Package commit times transactions by where their rows lie: one row; three rows of one range; three rows of three ranges that
// three nodes lead. Clients do not meet, and rows are used in rotation, so that what a transaction has left behind (intents that are
// resolved after it was acknowledged) is gone before the next one comes to them: what is seen is the commit protocol and nothing
// else.
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

// perRange is how many rows each of the three ranges holds. Five of them are a set: for each class the rows of one transaction,
// some of them in the other ranges. Up to as many transactions as there are sets may be under way at once.
const (
	perRange = 3000
	sets     = perRange / 5
)

// Workload is the rows on one target.
type Workload struct {
	only  atomic.Int64
	next  atomic.Int64            // the set of the next transaction
	acked [3][sets]harness.Ledger // by class and set
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

// rowsOf are the rows that a transaction of a class writes. A third of the sets is in each range.
func rowsOf(class, set int) []int {
	at := set*5 + set%3*perRange
	switch class {
	case oneRow:
		return []int{at}
	case oneRange:
		return []int{at + 1, at + 2, at + 3}
	}
	at = set*5 + 4
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
	return &client{w}
}

type client struct{ w *Workload }

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	class, set := int(c.w.only.Load()), int(c.w.next.Add(1)%sets)
	return harness.Op{Class: class, Do: func(ctx context.Context, conn *harness.Conn) error {
		return c.w.acked[class][set].Do(1, func() error {
			rows := rowsOf(class, set)
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
		for set := range w.acked[class] {
			atLeast, atMost := w.acked[class][set].Bounds()
			own := rowsOf(class, set)
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
