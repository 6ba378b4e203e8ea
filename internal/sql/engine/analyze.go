package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/sql"
)

// analyzed keeps what ANALYZE TABLE has found out, of tables by their names. go-mysql-server's own keeper of statistics
// (memory/stats.go) is a map that ANALYZE TABLE writes while every statement that is being planned goes through it: in Go that ends the
// process. Each ANALYZE is therefore given a keeper of its own, and what that has at the end is taken over at once.
type analyzed struct {
	mu      sync.RWMutex
	byTable map[analyzedTable][]sql.Statistic
}

type analyzedTable struct{ db, table string }

var _ sql.StatsProvider = (*analyzed)(nil)

func newAnalyzed() *analyzed { return &analyzed{byTable: map[analyzedTable][]sql.Statistic{}} }

func analyzedName(db, table string) analyzedTable {
	return analyzedTable{strings.ToLower(db), strings.ToLower(table)}
}

// AnalyzeTable implements sql.StatsProvider.
func (a *analyzed) AnalyzeTable(ctx *sql.Context, of sql.Table, db string) error {
	if t, ok := sql.GetUnderlyingTable(of).(sql.StatisticsTable); ok {
		n, _, err := t.RowCount(ctx)
		if own, is := t.(*table); err != nil || n == 0 || is && own.l.desc.Temporary() {
			return err // of no rows go-mysql-server can tell nothing (it divides by their number); of temporary ones others shall not know
		}
	}
	own := memory.NewStatsProv()
	if err := own.AnalyzeTable(ctx, of, db); err != nil {
		return err
	}
	// The name of the table is a prefix of those of others there; in this keeper there are no others.
	found, err := own.GetTableStats(ctx, "", db, of)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byTable[analyzedName(db, of.Name())] = found
	return nil
}

// of is what is known of a table. Its statistics are never changed, only replaced.
func (a *analyzed) of(db, table string) []sql.Statistic {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.byTable[analyzedName(db, table)]
}

// GetTableStats implements sql.StatsProvider.
func (a *analyzed) GetTableStats(_ *sql.Context, _, db string, table sql.Table) ([]sql.Statistic, error) {
	return slices.Clone(a.of(db, table.Name())), nil
}

// SetStats implements sql.StatsProvider.
func (a *analyzed) SetStats(_ *sql.Context, s sql.Statistic) error {
	q := s.Qualifier()
	n := analyzedName(q.Db(), q.Table())
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := without(a.byTable[n], q, s.Columns())
	a.byTable[n] = append(kept, s)
	return nil
}

// without is a new list.
func without(list []sql.Statistic, q sql.StatQualifier, columns []string) (kept []sql.Statistic) {
	for _, s := range list {
		if !isOf(s, q, columns) {
			kept = append(kept, s)
		}
	}
	return kept
}

func isOf(s sql.Statistic, q sql.StatQualifier, columns []string) bool {
	return strings.EqualFold(s.Qualifier().String(), q.String()) && slices.EqualFunc(s.Columns(), columns, strings.EqualFold)
}

// GetStats implements sql.StatsProvider.
func (a *analyzed) GetStats(_ *sql.Context, q sql.StatQualifier, columns []string) (sql.Statistic, bool) {
	for _, s := range a.of(q.Db(), q.Table()) {
		if isOf(s, q, columns) {
			return s, true
		}
	}
	return nil, false
}

// DropStats implements sql.StatsProvider.
func (a *analyzed) DropStats(_ *sql.Context, q sql.StatQualifier, columns []string) error {
	n := analyzedName(q.Db(), q.Table())
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byTable[n] = without(a.byTable[n], q, columns)
	return nil
}

// DropDbStats implements sql.StatsProvider.
func (a *analyzed) DropDbStats(_ *sql.Context, _, db string, _ bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range a.byTable {
		if n.db == strings.ToLower(db) {
			delete(a.byTable, n)
		}
	}
	return nil
}

// RowCount implements sql.StatsProvider. 0: not known.
func (a *analyzed) RowCount(_ *sql.Context, _, db string, table sql.Table) (n uint64, _ error) {
	for _, s := range a.of(db, table.Name()) {
		n = max(n, s.RowCount())
	}
	return n, nil
}

// DataLength implements sql.StatsProvider.
func (a *analyzed) DataLength(_ *sql.Context, _, db string, table sql.Table) (n uint64, _ error) {
	for _, s := range a.of(db, table.Name()) {
		n = max(n, s.AvgSize())
	}
	return n, nil
}
