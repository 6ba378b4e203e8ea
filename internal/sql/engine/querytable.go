package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// queryLayout is what queries have to know of a layout: columns, indexes, and how the values of columns are read. It is made once for
// each layout.
type queryLayout struct {
	columns []rel.TableColumn
	read    []datumReader
	indexes []rel.Index
	exprs   map[int]sqlparser.Expr // of generated columns, by place
	indexed map[int]sqlparser.Expr // those of them that an index is on
}

// queries is the queryLayout of the table.
func (l *layout) queries() *queryLayout {
	if q := l.query.Load(); q != nil {
		return q
	}
	q := newQueryLayout(l)
	l.query.Store(q)
	return q
}

func newQueryLayout(l *layout) *queryLayout {
	q := &queryLayout{exprs: map[int]sqlparser.Expr{}, indexed: map[int]sqlparser.Expr{}}
	for i, c := range l.schema.Schema {
		t := declaredType(exprType(c.Type, expr.Implicit), l.desc.Columns[i].Type.Declared)
		q.columns = append(q.columns, rel.TableColumn{Name: c.Name, Type: t, Nullable: c.Nullable, AutoIncrement: c.AutoIncrement,
			Hidden: c.Hidden || c.HiddenSystem || l.desc.Columns[i].Invisible, System: c.HiddenSystem, HasDefault: c.Default != nil})
		q.read = append(q.read, datumReaderOf(t, l.columns[i].Kind))
		if text := l.desc.Columns[i].Generated; text != "" {
			if e, err := parseRule(text); err == nil {
				q.exprs[i] = e
			}
			if c.HiddenSystem { // as EXPLAIN names it
				q.columns[i].Name = strings.ReplaceAll(shownText(text), "`", "")
			}
		}
	}
	for _, x := range l.all() {
		if x.isPK && l.desc.Keyless() || !x.isPK && x.desc.State != catalog.Public {
			continue
		}
		q.indexes = append(q.indexes, newQueryIndex(x))
		for n, p := range x.parts {
			if e, ok := q.exprs[p.at]; ok {
				q.indexed[p.at] = e
			}
			c := &q.columns[p.at]
			switch {
			case x.isPK:
				c.PrimaryKey = true
			case n > 0:
			case x.desc.Unique && len(x.parts) == 1:
				c.UniqueKey = true
			default:
				c.MultipleKey = true
			}
		}
	}
	return q
}

// queryTable is a table of the catalog as queries read it.
type queryTable struct {
	t       *table
	q       *queryLayout
	virtual *virtualColumns
	locked  bool // the statement locks what it reads of it
}

var _ rel.Table = (*queryTable)(nil)

func newQueryTable(t *table) *queryTable { return &queryTable{t: t, q: t.l.queries()} }

// Database implements rel.Table.
func (t *queryTable) Database() string { return t.t.db.name }

// Name implements rel.Table.
func (t *queryTable) Name() string { return t.t.l.desc.Name }

// Columns implements rel.Table.
func (t *queryTable) Columns() []rel.TableColumn { return t.q.columns }

// Indexes implements rel.Table.
func (t *queryTable) Indexes() []rel.Index { return t.q.indexes }

// lockedRows is what a table is taken for at least whose rows are locked as they are read: what no index finds is locked as well.
const lockedRows = 100_000

// Rows implements rel.Table.
func (t *queryTable) Rows() float64 {
	n := float64(t.t.db.e.stats.rows(t.t.l.desc.ID))
	if t.locked {
		n = max(n, lockedRows)
	}
	return n
}

// queryIndex is an index as queries read it.
type queryIndex struct {
	x             *indexLayout
	parts, suffix []rel.IndexPart
}

var _ rel.Index = (*queryIndex)(nil)

func newQueryIndex(x *indexLayout) *queryIndex {
	q := &queryIndex{x: x}
	for _, p := range x.parts {
		q.parts = append(q.parts, rel.IndexPart{Place: p.at, Prefix: p.col.Prefix})
	}
	if !x.table.desc.Keyless() {
		for _, p := range x.suffix {
			q.suffix = append(q.suffix, rel.IndexPart{Place: p.at, Prefix: p.col.Prefix})
		}
	}
	return q
}

// Name implements rel.Index.
func (i *queryIndex) Name() string { return i.x.desc.Name }

// Unique implements rel.Index.
func (i *queryIndex) Unique() bool { return i.x.desc.Unique || i.x.isPK }

// Primary implements rel.Index.
func (i *queryIndex) Primary() bool { return i.x.isPK }

// Parts implements rel.Index.
func (i *queryIndex) Parts() []rel.IndexPart { return i.parts }

// Suffix implements rel.Index.
func (i *queryIndex) Suffix() []rel.IndexPart { return i.suffix }

// Covers implements rel.Index.
func (i *queryIndex) Covers(places []int) bool {
	if i.x.isPK {
		return true
	}
	for _, at := range places {
		if !slices.Contains(i.x.covering, at) {
			return false
		}
	}
	return true
}

// hostTable is a table that the server makes up, or that go-mysql-server has: information_schema, mysql, longitude. It is read whole.
type hostTable struct {
	db      string
	t       sql.Table
	schema  sql.Schema
	columns []rel.TableColumn
}

var _ rel.Table = (*hostTable)(nil)

func newHostTable(ctx *sql.Context, db string, t sql.Table) *hostTable {
	h := &hostTable{db: db, t: t, schema: t.Schema(ctx)}
	for _, c := range h.schema {
		h.columns = append(h.columns, rel.TableColumn{Name: c.Name, Type: exprType(c.Type, expr.Implicit), Nullable: c.Nullable, PrimaryKey: c.PrimaryKey,
			AutoIncrement: c.AutoIncrement, Hidden: c.Hidden || c.HiddenSystem, System: c.HiddenSystem, HasDefault: c.Default != nil})
	}
	return h
}

// Database implements rel.Table.
func (t *hostTable) Database() string { return t.db }

// Name implements rel.Table.
func (t *hostTable) Name() string { return t.t.Name() }

// Columns implements rel.Table.
func (t *hostTable) Columns() []rel.TableColumn { return t.columns }

// Indexes implements rel.Table.
func (t *hostTable) Indexes() []rel.Index { return nil }

// Rows implements rel.Table.
func (t *hostTable) Rows() float64 {
	if strings.EqualFold(t.db, sql.InformationSchemaDatabaseName) {
		return unknownRows
	}
	return 100
}
