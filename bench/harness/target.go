package harness

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/client"
)

// Target is a server, or a cluster of them, under test.
type Target struct {
	Name    string
	Version string    // what it says of itself
	Nodes   []*sql.DB // one pool for each node, on the database that holds (or gets) the tables
	Ours    bool      // a Longitude cluster: it can be told to split ranges, and its counters can be read
	// Drop allows a workload to drop tables that are there already.
	Drop bool
	// Stats adds up what all nodes counted since they started; nil where that cannot be known.
	Stats func(ctx context.Context) (Stats, error)
	// Metrics is all that the nodes count, added up; nil where that cannot be known.
	Metrics func(ctx context.Context) (client.Metrics, error)
	// CPU is the processor time that the servers' processes have used so far; nil where that cannot be known.
	CPU func() (time.Duration, error)
	// Idle is what they use when nobody asks them anything, seconds a second: heartbeats, timers. It is taken off what
	// operations are said to cost, because how much of it falls on one depends on how fast the machine is. See MeasureIdle.
	Idle float64
}

// TargetOptions say how to reach a target.
type TargetOptions struct {
	Name     string
	URLs     []string // one for each node, as client.Parse takes them
	Database string   // where a URL names none; made if it is missing
	Ordering string   // of the sessions: wait, uncertainty, or empty for what the nodes do
	Drop     bool
}

// Open connects to a target and finds out what it is.
func Open(ctx context.Context, o TargetOptions) (_ *Target, err error) {
	t := &Target{Name: o.Name, Drop: o.Drop}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	for i, u := range o.URLs {
		cfg, err := client.Parse(u)
		if err != nil {
			return nil, err
		}
		if o.Ordering != "" {
			if cfg.Params == nil {
				cfg.Params = map[string]string{}
			}
			cfg.Params["longitude_ordering"] = client.Quote(o.Ordering)
		}
		if cfg.DBName == "" {
			cfg.DBName = o.Database
		}
		if i == 0 {
			without := cfg.Clone()
			without.Params = nil
			if err := client.CreateDatabase(ctx, without); err != nil {
				return nil, err
			}
		}
		db, err := client.Open(cfg)
		if err != nil {
			return nil, err
		}
		t.Nodes = append(t.Nodes, db)
	}
	if len(t.Nodes) == 0 {
		return nil, errors.New("no node to send work to")
	}
	return t, t.identify(ctx)
}

// identify asks what the server is. Ours is known by a table that no other server has.
func (t *Target) identify(ctx context.Context) error {
	if err := t.Nodes[0].QueryRowContext(ctx, "SELECT VERSION()").Scan(&t.Version); err != nil {
		return fmt.Errorf("asking %s for its version: %w", t.Name, err)
	}
	var nodes int
	if err := t.Nodes[0].QueryRowContext(ctx, "SELECT COUNT(*) FROM longitude.nodes").Scan(&nodes); err != nil {
		if !answered(err) {
			return fmt.Errorf("asking %s what it is: %w", t.Name, err)
		}
		return nil
	}
	t.Ours, t.Metrics = true, metricsOf(t.Nodes[0])
	t.Stats = statsOf(t.Metrics)
	return nil
}

// Close closes the connections.
func (t *Target) Close() {
	for _, db := range t.Nodes {
		db.Close()
	}
}

// NodeIDs lists the nodes of a cluster of ours.
func (t *Target) NodeIDs(ctx context.Context) (ids []int, err error) {
	rows, err := t.Nodes[0].QueryContext(ctx, "SELECT node_id FROM longitude.nodes ORDER BY node_id")
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

// Fresh makes sure that tables can be made: those that exist are dropped if that is allowed, else they are somebody's and
// an error. They are given in the order in which they can be dropped.
func (t *Target) Fresh(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		var n int
		err := t.Nodes[0].QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?`, table).Scan(&n)
		if err != nil {
			return fmt.Errorf("looking for table %s: %w", table, err)
		}
		if n == 0 {
			continue
		}
		if !t.Drop {
			return fmt.Errorf("table %s exists already; nothing was changed\nhint: name another database in the URL, or allow it to be dropped with --drop", table)
		}
		if _, err := t.Nodes[0].ExecContext(ctx, "DROP TABLE "+client.QuoteName(table)); err != nil {
			return fmt.Errorf("dropping table %s: %w", table, err)
		}
	}
	return nil
}

// Stats is what nodes of ours count about transactions, summed over nodes.
type Stats struct {
	Refreshed, Retried uint64        // uncertainty restarts: avoided by a refresh, or started over
	Commits            uint64        // read-only ones included: they wait too, for what they read
	WaitNeeded         time.Duration // commit wait, had nothing else been going on meanwhile
	WaitActual         time.Duration // commit wait that somebody stood still for
}

// Sub is what was counted from o to s.
func (s Stats) Sub(o Stats) Stats {
	return Stats{s.Refreshed - o.Refreshed, s.Retried - o.Retried, s.Commits - o.Commits, s.WaitNeeded - o.WaitNeeded, s.WaitActual - o.WaitActual}
}

// Add is both together.
func (s Stats) Add(o Stats) Stats {
	return Stats{s.Refreshed + o.Refreshed, s.Retried + o.Retried, s.Commits + o.Commits, s.WaitNeeded + o.WaitNeeded, s.WaitActual + o.WaitActual}
}

// Restarts are all uncertainty restarts.
func (s Stats) Restarts() uint64 { return s.Refreshed + s.Retried }

// WaitMean is what a transaction stood still for.
func (s Stats) WaitMean() time.Duration {
	if s.Commits == 0 {
		return 0
	}
	return s.WaitActual / time.Duration(s.Commits)
}

// NeededMean is what a transaction would have stood still for with nothing else to do.
func (s Stats) NeededMean() time.Duration {
	if s.Commits == 0 {
		return 0
	}
	return s.WaitNeeded / time.Duration(s.Commits)
}

// Hidden is the share of the needed wait that passed under other work; 1 if none was needed.
func (s Stats) Hidden() float64 {
	if s.WaitNeeded <= 0 {
		return 1
	}
	return max(0, 1-s.WaitActual.Seconds()/s.WaitNeeded.Seconds())
}

// metricsOf adds up what the nodes of a cluster count, by reading /metrics of each of them.
func metricsOf(db *sql.DB) func(context.Context) (client.Metrics, error) {
	return func(ctx context.Context) (client.Metrics, error) {
		addrs, err := client.HTTPAddrs(ctx, db)
		if err != nil {
			return nil, fmt.Errorf("finding the nodes' metrics: %w", err)
		}
		return client.Scrape(ctx, addrs)
	}
}

// statsOf picks out what is about restarts and commit wait.
func statsOf(metrics func(context.Context) (client.Metrics, error)) func(context.Context) (Stats, error) {
	return func(ctx context.Context) (Stats, error) {
		m, err := metrics(ctx)
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

// Insert writes rows begin to end-1, a hundred with each statement.
func Insert(ctx context.Context, db *sql.DB, head, tuple string, begin, end int, row func(i int) []any) error {
	const batch = 100
	for from := begin; from < end; from += batch {
		to := min(from+batch, end)
		var args []any
		q := head
		for i := from; i < to; i++ {
			if i > from {
				q += ", "
			}
			q += tuple
			args = append(args, row(i)...)
		}
		for attempt := 0; ; attempt++ {
			_, err := db.ExecContext(ctx, q, args...)
			if err == nil {
				break
			}
			if !Retryable(err) || attempt == maxRetries {
				return fmt.Errorf("%s...: %w", head+tuple, err)
			}
		}
	}
	return nil
}
