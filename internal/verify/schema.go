package verify

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/client"
)

// prepare makes the database and its tables, opens the nodes, and finds out what they promise.
func (r *Run) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	first := r.o.Nodes[0].Clone()
	first.DBName = r.Database
	if err := client.CreateDatabase(ctx, first); err != nil {
		return err
	}
	r.Model = check.StrictSerializable
	for _, n := range r.o.Nodes {
		cfg := n.Clone()
		cfg.DBName = r.Database
		if r.o.Ordering != "" {
			params := map[string]string{"longitude_ordering": client.Quote(r.o.Ordering)}
			for k, v := range cfg.Params {
				if k != "longitude_ordering" {
					params[k] = v
				}
			}
			cfg.Params = params
		}
		db, err := client.Open(cfg)
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, db)
		var ordering string
		if err := db.QueryRowContext(ctx, "SELECT @@longitude_ordering").Scan(&ordering); err != nil {
			return fmt.Errorf("%s: %w", cfg.Addr, err)
		}
		if ordering != "wait" {
			r.Model = check.SerializableLinearizableKeys
		}
	}
	r.o.Progress("database %s on %d nodes; judged by %s", r.Database, len(r.nodes), r.Model)
	for _, l := range r.loads {
		for _, q := range l.schema() {
			if _, err := r.nodes[0].ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
	}
	if r.o.Split {
		return r.split(ctx)
	}
	return nil
}

// split cuts each table in three and gives each part another leader.
func (r *Run) split(ctx context.Context) error {
	var ids []int
	rows, err := r.nodes[0].QueryContext(ctx, "SELECT node_id FROM longitude.nodes ORDER BY node_id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	n := 0
	for _, l := range r.loads {
		for _, s := range l.splits() {
			for _, at := range s.at {
				for _, q := range []string{
					fmt.Sprintf("CALL longitude_split('%s', 'PRIMARY', %d)", s.table, at),
					fmt.Sprintf("CALL longitude_move_lease('%s', 'PRIMARY', %d, %d)", s.table, at, ids[n%len(ids)]),
				} {
					// A range that has just been made may still be busy, or have too few replicas to be moved there yet.
					if err := insist(ctx, func() error { _, err := r.nodes[0].ExecContext(ctx, q); return err }); err != nil {
						return fmt.Errorf("%s: %w\nhint: --split=false leaves the tables in one range", q, err)
					}
				}
				n++
			}
		}
	}
	return nil
}

// insist repeats what a busy cluster refuses.
func insist(ctx context.Context, fn func() error) error {
	for {
		err := fn()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// close drops the database and closes the connections. It does not depend on the run's context, which may have ended.
func (r *Run) close() error {
	var err error
	if r.o.Keep {
		r.o.Progress("database %s is kept", r.Database)
	} else if len(r.nodes) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), r.o.FinalTimeout)
		defer cancel()
		var at *sql.DB
		n := 0
		err = insist(ctx, func() error {
			at = r.nodes[n%len(r.nodes)]
			n++
			_, err := at.ExecContext(ctx, "DROP DATABASE IF EXISTS "+client.QuoteName(r.Database))
			return err
		})
		if err != nil {
			err = fmt.Errorf("database %s could not be dropped: %w", r.Database, err)
		}
	}
	for _, db := range r.nodes {
		err = errors.Join(err, db.Close())
	}
	return err
}
