package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// ClockRow is a row of longitude.clock: what a node knows of time.
type ClockRow struct {
	Node     kv.NodeID
	Source   string
	State    string
	Earliest clock.Instant
	Latest   clock.Instant
	// Bound is half the width; P99 and Max are of the last five minutes.
	Bound, BoundP99, BoundMax time.Duration
	Age                       time.Duration // since the source's last good answer; -1: there was none
	IntervalConflicts         uint64        // peers' reported intervals that excluded ours
	IntervalConflictsByPeer   string        // "1: 12, 3: 4"
	DisjointReadings          uint64        // peers' readings that did
	DisjointReadingsByPeer    string
	LastStep                  string // the last step, suspension or contradiction, and how long ago
	Fenced                    string // why; "": it is not
	Detail                    string
}

// ClockChange is a row of what CALL longitude_set_clock answers.
type ClockChange struct {
	Node   kv.NodeID
	Source string // that the node has now
	Done   string
}

// NodeRow is a row of longitude.nodes.
type NodeRow struct {
	kv.NodeInfo
	Alive bool
}

// RangeRow is a row of longitude.ranges.
type RangeRow struct {
	kv.RangeDescriptor
	Leaseholder kv.NodeID // 0: not known here
	Quarantined []QuarantinedReplica
}

// QuarantinedReplica is one that takes part in nothing any more, because it could not apply what it had to.
type QuarantinedReplica struct {
	Node   kv.NodeID
	Reason string
}

// systemDatabase shows the state of the cluster as tables.
type systemDatabase struct {
	noEvents
	noPrograms
	e *Engine
}

var (
	_ sql.Database         = (*systemDatabase)(nil)
	_ sql.ReadOnlyDatabase = (*systemDatabase)(nil)
)

// Name implements sql.Nameable.
func (d *systemDatabase) Name() string { return SystemDatabase }

// IsReadOnly implements sql.ReadOnlyDatabase.
func (d *systemDatabase) IsReadOnly() bool { return true }

// GetTableNames implements sql.Database.
func (d *systemDatabase) GetTableNames(*sql.Context) ([]string, error) {
	return []string{"clock", "index_builds", "nodes", "ranges", "statements", "transactions"}, nil
}

// GetTableInsensitive implements sql.Database.
func (d *systemDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if s, err := sessionOf(ctx); err == nil && s.stmt.source != nil && name == querySourceName {
		return &sourceTable{s.stmt.source}, true, nil
	}
	for _, t := range systemTables {
		if strings.EqualFold(t.name, name) {
			v := *t
			v.e = d.e
			return &v, true, nil
		}
	}
	return nil, false, nil
}

// systemTable computes its rows when it is read.
type systemTable struct {
	e       *Engine
	name    string
	columns []systemColumn
	rows    func(ctx *sql.Context, e *Engine) ([]sql.Row, error)
}

type systemColumn struct {
	name string
	typ  sql.Type
}

var textType = types.MustCreateString(sqltypes.VarChar, 1024, sql.Collation_utf8mb4_0900_bin)

var errSystem = errors.New("the database longitude shows the state of the cluster and cannot be changed")

var systemTables = []*systemTable{
	{name: "clock", columns: []systemColumn{{"node_id", types.Uint32}, {"source", textType}, {"state", textType},
		{"earliest", types.DatetimeMaxPrecision}, {"latest", types.DatetimeMaxPrecision}, {"earliest_ns", types.Int64}, {"latest_ns", types.Int64},
		{"bound_us", types.Float64}, {"bound_p99_us", types.Float64}, {"bound_max_us", types.Float64}, {"age_ms", types.Float64},
		{"last_step", textType}, {"interval_conflicts", types.Uint64}, {"interval_conflicts_by_peer", textType},
		{"disjoint_readings", types.Uint64}, {"disjoint_readings_by_peer", textType}, {"fenced", textType}, {"detail", textType}}, rows: clockRows},
	{name: "index_builds", columns: buildColumns, rows: buildRows},
	{name: "nodes", columns: []systemColumn{{"node_id", types.Uint32}, {"alive", types.Boolean}, {"rpc_addr", textType}, {"sql_addr", textType},
		{"http_addr", textType}, {"version", textType}, {"started", types.DatetimeMaxPrecision}, {"clock_source", textType}, {"bound_us", types.Float64},
		{"fenced", textType}, {"leases", types.Int64}, {"replicas", types.Int64}}, rows: nodeRows},
	{name: "ranges", columns: []systemColumn{{"range_id", types.Uint64}, {"start_key", textType}, {"end_key", textType}, {"leaseholder", types.Uint32},
		{"preferred", types.Uint32}, {"replicas", textType}, {"generation", types.Uint64}, {"database_name", textType}, {"table_name", textType},
		{"index_name", textType}, {"quarantined", textType}}, rows: rangeRows},
	{name: "statements", columns: []systemColumn{{"node_id", types.Uint32}, {"digest_text", textType}, {"executions", types.Uint64}, {"compiled", types.Uint64}, {"errors", types.Uint64},
		{"total_ms", types.Float64}, {"mean_ms", types.Float64}, {"max_ms", types.Float64}, {"retries", types.Uint64}, {"retry_reasons", textType},
		{"retry_ms", types.Float64}, {"deadlocks", types.Uint64}, {"last_seen", types.DatetimeMaxPrecision},
		{"own_planner", types.Uint64}}, rows: statementRows},
	{name: "transactions", columns: transactionColumns, rows: transactionRows},
}

func instant(i clock.Instant) any { return time.Unix(0, int64(i)).UTC() }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func clockRows(_ *sql.Context, e *Engine) (out []sql.Row, err error) {
	if e.o.ClockStatus == nil {
		now, err := e.o.Clock.Now()
		if err != nil {
			return nil, err
		}
		return []sql.Row{clockSQLRow(ClockRow{Node: e.o.NodeID, Earliest: now.Earliest, Latest: now.Latest, Bound: now.Width() / 2, Age: -1})}, nil
	}
	for _, r := range e.o.ClockStatus() {
		out = append(out, clockSQLRow(r))
	}
	return out, nil
}

// clockSQLRow has NULL where a node says nothing.
func clockSQLRow(r ClockRow) sql.Row {
	null := func(ok bool, v any) any {
		if !ok {
			return nil
		}
		return v
	}
	read := r.Latest != 0
	return sql.Row{uint32(r.Node), r.Source, r.State, null(read, instant(r.Earliest)), null(read, instant(r.Latest)), null(read, int64(r.Earliest)), null(read, int64(r.Latest)),
		null(read, micros(r.Bound)), micros(r.BoundP99), micros(r.BoundMax), null(r.Age >= 0, micros(r.Age)/1000),
		null(r.LastStep != "", r.LastStep), r.IntervalConflicts, r.IntervalConflictsByPeer,
		r.DisjointReadings, r.DisjointReadingsByPeer, null(r.Fenced != "", r.Fenced), r.Detail}
}

func nodeRows(_ *sql.Context, e *Engine) (out []sql.Row, err error) {
	if e.o.Nodes == nil {
		return nil, nil
	}
	for _, r := range e.o.Nodes() {
		alive := int8(0)
		if r.Alive {
			alive = 1
		}
		out = append(out, sql.Row{uint32(r.ID), alive, r.RPCAddr, r.SQLAddr, r.HTTPAddr, r.Version, instant(r.Started), r.Source,
			micros(r.Bound), r.Fenced, int64(r.Leases), int64(r.Replicas)})
	}
	return out, nil
}

func rangeRows(ctx *sql.Context, e *Engine) (out []sql.Row, err error) {
	if e.o.Ranges == nil {
		return nil, nil
	}
	e.used(ctx, (*uses).everything)
	s, err := e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range e.o.Ranges() {
		var replicas []string
		for _, p := range r.Replicas {
			text := fmt.Sprint(p.Node)
			if p.Learner {
				text += " (learner)"
			}
			replicas = append(replicas, text)
		}
		db, table, index := s.whose(r.Span.Start)
		out = append(out, sql.Row{uint64(r.ID), printKey(r.Span.Start), printKey(r.Span.End), uint32(r.Leaseholder), uint32(r.Preferred),
			strings.Join(replicas, ","), r.Generation, db, table, index, whyQuarantined(r.Quarantined)})
	}
	return out, nil
}

// whyQuarantined lists the quarantined replicas of a range: "2: why; 3: why".
func whyQuarantined(qs []QuarantinedReplica) string {
	slices.SortFunc(qs, func(a, b QuarantinedReplica) int { return cmp.Compare(a.Node, b.Node) })
	var out []string
	for _, q := range qs {
		out = append(out, fmt.Sprintf("%d: %s", q.Node, q.Reason))
	}
	return strings.Join(out, "; ")
}

func printKey(k kv.Key) string {
	q := fmt.Sprintf("%q", []byte(k))
	return q[1 : len(q)-1]
}

var _ sql.Table = (*systemTable)(nil)

// Name implements sql.Nameable.
func (t *systemTable) Name() string { return t.name }

// String implements fmt.Stringer.
func (t *systemTable) String() string { return t.name }

// Schema implements sql.Table.
func (t *systemTable) Schema(*sql.Context) (out sql.Schema) {
	for _, c := range t.columns {
		out = append(out, &sql.Column{Name: c.name, Type: c.typ, Source: t.name, DatabaseSource: SystemDatabase, Nullable: true})
	}
	return out
}

// Collation implements sql.Table.
func (t *systemTable) Collation() sql.CollationID { return sql.Collation_utf8mb4_0900_bin }

// Partitions implements sql.Table.
func (t *systemTable) Partitions(*sql.Context) (sql.PartitionIter, error) { return &partitions{}, nil }

// PartitionRows implements sql.Table.
func (t *systemTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.rows(ctx, t.e)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}

// IsTemporary implements sql.TemporaryTable.
func (t *systemTable) IsTemporary() bool { return false }

// The engine asks every database for views.
var _ sql.ViewDatabase = (*systemDatabase)(nil)

// CreateView implements sql.ViewDatabase.
func (d *systemDatabase) CreateView(*sql.Context, string, string, string) error { return errSystem }

// DropView implements sql.ViewDatabase.
func (d *systemDatabase) DropView(*sql.Context, string) error { return errSystem }

// GetViewDefinition implements sql.ViewDatabase.
func (d *systemDatabase) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase.
func (d *systemDatabase) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }
