package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// A result that is larger than what the node holds back, of a table in two ranges. Its reader is between the first, of which
// rows have left, and the second, when another transaction changes rows of both, at a time that may have been before the
// reader's beginning: node 1's clock is ahead, node 2's behind, both within their bounds. In uncertainty ordering there is no way
// out: the new row of the second range has to be read, and does not fit to what was sent. The client is told so, and what to
// do. In wait ordering it does not happen.
func TestUncertainAfterRowsWereSent(t *testing.T) {
	c := &cluster{t: t, mute: true, clocks: []clock.Conditions{
		{Offset: 200 * time.Millisecond, Bound: 220 * time.Millisecond}, {Offset: -200 * time.Millisecond, Bound: 220 * time.Millisecond}}}
	var armed atomic.Bool
	var write func()
	c.calls = func(to kv.NodeID, m *kv.Message) {
		if to == 2 && m.Batch != nil && len(m.Batch.Requests) > 0 && m.Batch.Requests[0].Read != nil && armed.CompareAndSwap(true, false) {
			write()
		}
	}
	c.startAll(2, func(o *Options) { o.ResultBuffer = 64 << 10 })
	c.waitReplicated()
	a, b := c.nodes[0], c.nodes[1]
	a.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, pad VARCHAR(5000))",
		"SET cte_max_recursion_depth = 10000; INSERT INTO d.t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, 0, REPEAT('x', 3000) FROM n",
		"CALL longitude_split('d.t', 'PRIMARY', 1001)", "CALL longitude_move_lease('d.t', 'PRIMARY', 1001, 2)")
	write = func() { b.exec("BEGIN", "UPDATE d.t SET n = n + 1 WHERE id IN (1, 2000)", "COMMIT") }
	b.root.SetMaxOpenConns(1)
	b.query("SELECT COUNT(pad) FROM d.t") // both nodes know that the table is too large to be read at once
	a.query("SELECT COUNT(pad) FROM d.t")
	for _, o := range []txn.Ordering{txn.Uncertainty, txn.Wait} {
		for _, prepared := range []bool{false, true} {
			t.Run(fmt.Sprint(o, " prepared ", prepared), func(t *testing.T) {
				c.settle()
				x, err := a.root.Conn(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				defer x.Close()
				if _, err := x.ExecContext(context.Background(), fmt.Sprintf("SET longitude_ordering = '%s'", o)); err != nil {
					t.Fatal(err)
				}
				armed.Store(true)
				query, args := "SELECT id, n, pad FROM d.t", []any(nil)
				if prepared {
					query, args = query+" WHERE n < ?", []any{100}
				}
				got, err := rows(x, query, args...)
				if armed.Load() {
					t.Fatal("the reader did not go to node 2")
				}
				if o == txn.Wait {
					if err != nil || len(got) != 2000 {
						t.Errorf("%d rows, %v", len(got), err)
					}
					return
				}
				if code(err) != 1213 {
					t.Fatalf("%d rows, %v", len(got), err)
				}
				if got, err := rows(x, "SELECT 1 + 1"); err != nil || got[0] != "2" {
					t.Errorf("the connection afterwards: %v, %v", got, err)
				}
				for _, word := range []string{"restarting transaction (uncertain;", "larger than 64 KiB", "SET longitude_ordering = 'wait'"} {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("no %q in: %v", word, err)
					}
				}
			})
		}
	}
}
