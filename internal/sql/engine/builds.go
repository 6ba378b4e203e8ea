package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// Indexes that are not finished: one is being filled, or the node that filled it has stopped. longitude.index_builds shows them, the
// same CREATE INDEX goes on with one, and DROP INDEX removes it. A CREATE INDEX that fails, or is killed, removes its own.

// build is the filling of an index by a statement of this node.
type build struct {
	conn  uint32
	began time.Time
	rows  atomic.Int64 // that have been read, by the present attempt
}

type buildKey struct {
	table uint64
	index uint32
}

// builds are those under way on this node.
type builds struct {
	mu sync.Mutex
	of map[buildKey]*build
}

func (b *builds) begin(k buildKey, conn uint32) *build {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[buildKey]*build{}
	}
	x := &build{conn: conn, began: time.Now()}
	b.of[k] = x
	return x
}

func (b *builds) end(k buildKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, k)
}

func (b *builds) find(k buildKey) *build {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[k]
}

var buildColumns = []systemColumn{{"table_schema", textType}, {"table_name", textType}, {"index_name", textType}, {"unique_key", types.Boolean},
	{"columns", textType}, {"connection_id", types.Uint32}, {"began", types.DatetimeMaxPrecision}, {"rows_done", types.Int64}}

// buildRows is longitude.index_builds. Who fills an index is known to the node that does.
func buildRows(ctx *sql.Context, e *Engine) (out []sql.Row, err error) {
	e.used(ctx, (*uses).everything)
	s, err := e.schemaOf(ctx)
	if err != nil {
		return nil, err
	}
	for _, db := range s.snap.Databases() {
		for _, t := range s.snap.Tables(db.ID) {
			for i := range t.Indexes {
				if t.Indexes[i].State == catalog.WriteOnly {
					out = append(out, buildRow(e, db.Name, t, &t.Indexes[i]))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b sql.Row) int {
		for i := range 3 {
			if c := cmp.Compare(a[i].(string), b[i].(string)); c != 0 {
				return c
			}
		}
		return 0
	})
	return out, nil
}

func buildRow(e *Engine, db string, t *catalog.Table, x *catalog.Index) sql.Row {
	var columns []string
	for _, p := range x.Columns {
		if c := t.ColumnByID(p.Column); c != nil {
			columns = append(columns, c.Name)
		}
	}
	unique := int8(0)
	if x.Unique {
		unique = 1
	}
	row := sql.Row{db, t.Name, x.Name, unique, strings.Join(columns, ","), nil, nil, nil}
	if b := e.builds.find(buildKey{t.ID, x.ID}); b != nil {
		row[5], row[6], row[7] = b.conn, b.began.UTC(), b.rows.Load()
	}
	return row
}

// dropsIndexes reports whether a statement may drop an index: then it sees those that are not finished, too.
func dropsIndexes(stmt sqlparser.Statement) bool {
	drops := func(d *sqlparser.DDL) bool {
		return d != nil && d.IndexSpec != nil && strings.EqualFold(d.IndexSpec.Action, sqlparser.DropStr)
	}
	switch s := stmt.(type) {
	case *sqlparser.DDL:
		return drops(s)
	case *sqlparser.AlterTable:
		return slices.ContainsFunc(s.Statements, drops)
	}
	return false
}

// abandonLimit is how long a statement that has failed tries to remove the index that it has not finished.
const abandonLimit = 20 * time.Second

// abandon drops an index that could not be filled, for good: the statement's error would otherwise roll that back. The statement may
// have been killed, or its client may be gone; what it leaves behind would cost every write of the table, so this goes on.
func (t *table) abandon(ctx *sql.Context, s *Session, name string) (err error) {
	r := t.db.e.o.RT
	until := r.Now() + abandonLimit
	own := ctx.WithContext(route.WithDeadline(context.WithoutCancel(ctx), until))
	for try := 0; ; try++ {
		s.another(own)
		if err = t.DropIndex(own, name); err == nil {
			if err = t.alter(own, dropOrphans); err == nil {
				err = s.checkpoint(own)
			}
		}
		x := s.transaction()
		if err == nil || sql.ErrCantDropFieldOrKey.Is(err) || x == nil || x.retry == nil || r.Now() >= until {
			return err
		}
		t.db.e.pause(try)
	}
}

// another has the statement go on with a transaction of its own, in the place of one that need not be committed.
func (s *Session) another(ctx *sql.Context) {
	ordering := s.settings(ctx).ordering
	if x := s.transaction(); x != nil {
		x.rollback(ctx)
	}
	s.SetTransaction(&tx{e: s.e, ordering: ordering})
}
