package social

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/client"
)

// MetricsOf adds up what the nodes of a cluster count, by reading /metrics of each of them.
func MetricsOf(ctx context.Context, db *sql.DB) func() (Stats, error) {
	return func() (Stats, error) {
		addrs, err := client.HTTPAddrs(ctx, db)
		if err != nil {
			return Stats{}, fmt.Errorf("finding the nodes' metrics: %w", err)
		}
		m, err := client.Scrape(ctx, addrs)
		if err != nil {
			return Stats{}, err
		}
		seconds := func(name string) time.Duration { return time.Duration(m[name] * float64(time.Second)) }
		return Stats{
			Refreshed:  uint64(m["longitude_txn_uncertainty_total{outcome=refreshed}"]),
			Retried:    uint64(m["longitude_txn_uncertainty_total{outcome=retried}"]),
			Commits:    uint64(m["longitude_txn_commit_wait_actual_seconds_count"]),
			WaitNeeded: seconds("longitude_txn_commit_wait_needed_seconds_sum"),
			WaitActual: seconds("longitude_txn_commit_wait_actual_seconds_sum"),
		}, nil
	}
}

// nodeIDs lists the nodes of the cluster.
func nodeIDs(ctx context.Context, db *sql.DB) (ids []int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT node_id FROM longitude.nodes ORDER BY node_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
