package tpcc

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/bench/harness"
)

// conditions are W1 as queries, each of which gives a row for every place where one does not hold.
var conditions = []struct{ what, query string }{
	{"condition 1: a warehouse's takings are its districts'",
		"SELECT w.w, w.ytd, SUM(d.ytd) FROM tpcc_warehouse w JOIN tpcc_district d ON d.w = w.w GROUP BY w.w, w.ytd HAVING w.ytd <> SUM(d.ytd)"},
	{"condition 4: orders have as many lines as they say",
		"SELECT o.w, o.ol_cnt, COUNT(l.n) FROM tpcc_orders o LEFT JOIN tpcc_order_line l ON l.w = o.w AND l.d = o.d AND l.o = o.o GROUP BY o.w, o.d, o.o, o.ol_cnt HAVING o.ol_cnt <> COUNT(l.n)"},
	{"condition 8: a warehouse's takings are its payments'",
		"SELECT w.w, w.ytd, COALESCE(SUM(h.amount), 0) FROM tpcc_warehouse w LEFT JOIN tpcc_history h ON h.w = w.w GROUP BY w.w, w.ytd HAVING w.ytd <> COALESCE(SUM(h.amount), 0)"},
	{"condition 9: a district's takings are its payments'",
		"SELECT d.w, d.ytd, COALESCE(SUM(h.amount), 0) FROM tpcc_district d LEFT JOIN tpcc_history h ON h.w = d.w AND h.d = d.d GROUP BY d.w, d.d, d.ytd HAVING d.ytd <> COALESCE(SUM(h.amount), 0)"},
	{"a customer owes what the history says",
		"SELECT c.w, c.paid, COALESCE(SUM(h.amount), 0) FROM tpcc_customer c LEFT JOIN tpcc_history h ON h.w = c.w AND h.d = c.d AND h.c = c.c GROUP BY c.w, c.d, c.c, c.paid, c.balance HAVING c.paid <> COALESCE(SUM(h.amount), 0) OR c.balance <> -c.paid"},
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	db := t.Nodes[len(t.Nodes)-1]
	var found harness.Violations
	for _, c := range conditions {
		rows, err := db.QueryContext(ctx, c.query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.what, err)
		}
		for rows.Next() {
			var at, a, b int64
			if err := rows.Scan(&at, &a, &b); err != nil {
				rows.Close()
				return nil, fmt.Errorf("%s: %w", c.what, err)
			}
			found.Add("W1: %s; of warehouse %d: %d and %d", c.what, at, a, b)
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.what, err)
		}
	}
	if err := numbers(ctx, t, &found); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		what, query string
		ledger      *harness.Ledger
	}{
		{"orders", "SELECT COUNT(*) FROM tpcc_orders", &w.orders},
		{"payments", "SELECT COUNT(*) FROM tpcc_history", &w.payments},
		{"cents of payments", "SELECT COALESCE(SUM(ytd), 0) FROM tpcc_warehouse", &w.cents},
	} {
		var f float64 // whether a sum is a DECIMAL or a DOUBLE differs between servers, and builds of ours
		if err := db.QueryRowContext(ctx, x.query).Scan(&f); err != nil {
			return nil, fmt.Errorf("%s: %w", x.query, err)
		}
		n := int64(f)
		if atLeast, atMost := x.ledger.Bounds(); n < atLeast || n > atMost {
			found.Add("W2: there are %d %s, wanted: %d to %d", n, x.what, atLeast, atMost)
		}
	}
	return append(w.wrong.List(), found.List()...), nil
}

// numbers checks conditions 2 and 3: order numbers of each district.
func numbers(ctx context.Context, t *harness.Target, found *harness.Violations) error {
	db := t.Nodes[0]
	type district struct{ w, d int }
	next := map[district]int64{}
	rows, err := db.QueryContext(ctx, "SELECT w, d, next_o FROM tpcc_district")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var at district
		var n int64
		if err := rows.Scan(&at.w, &at.d, &n); err != nil {
			return err
		}
		next[at] = n
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, table := range []string{"tpcc_orders", "tpcc_new_order"} {
		seen := map[district]int64{}
		rows, err := db.QueryContext(ctx, "SELECT w, d, COUNT(*), MIN(o), MAX(o) FROM "+table+" GROUP BY w, d")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var at district
			var n, low, high int64
			if err := rows.Scan(&at.w, &at.d, &n, &low, &high); err != nil {
				return err
			}
			seen[at] = high
			if high-low+1 != n || low != 1 {
				found.Add("W1: condition 3: %s of district %d of warehouse %d are %d, numbered %d to %d", table, at.d, at.w, n, low, high)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for at, n := range next {
			if seen[at] != n-1 {
				found.Add("W1: condition 2: the highest of %s of district %d of warehouse %d is %d, and its next order is %d", table, at.d, at.w, seen[at], n)
			}
		}
	}
	return nil
}
