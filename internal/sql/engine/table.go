package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// table is a table as one statement uses it: a version of it, and perhaps some of its columns.
type table struct {
	db      *database
	l       *layout
	columns []int // of the projection; nil: all
	names   []string
	schema  sql.Schema
	lookup  *sql.IndexLookup // set by IndexedAccess
	refOnly bool             // only whether there are rows matters
	noRows  bool             // the engine is to see no rows: what it would do with them is done already
}

var (
	_ sql.Table                 = (*table)(nil)
	_ sql.ProjectedTable        = (*table)(nil)
	_ sql.CommentedTable        = (*table)(nil)
	_ sql.PrimaryKeyTable       = (*table)(nil)
	_ sql.IndexAddressableTable = (*table)(nil)
	_ sql.IndexedTable          = (*table)(nil)
	_ sql.StatisticsTable       = (*table)(nil)
	_ sql.TemporaryTable        = (*table)(nil)
	_ sql.ReferenceChecker      = (*table)(nil)
	_ sql.Databaseable          = (*table)(nil)
)

func newTable(db *database, l *layout) *table {
	return &table{db: db, l: l, schema: copySchema(l.schema.Schema)}
}

// copySchema copies what the engine may write to: it resolves the defaults in place.
func copySchema(s sql.Schema) sql.Schema {
	for _, c := range s {
		if c.Default != nil || c.Generated != nil || c.OnUpdate != nil {
			out := make(sql.Schema, len(s))
			for i, c := range s {
				out[i] = c.Copy()
			}
			return out
		}
	}
	return s
}

// Name implements sql.Nameable.
func (t *table) Name() string { return t.l.desc.Name }

// String implements fmt.Stringer.
func (t *table) String() string { return t.l.desc.Name }

// Database implements sql.Databaseable.
func (t *table) Database() string { return t.db.name }

// IsTemporary implements sql.TemporaryTable. (Without it READ ONLY transactions panic.)
func (t *table) IsTemporary() bool { return t.l.desc.Temporary() }

// Schema implements sql.Table.
func (t *table) Schema(*sql.Context) sql.Schema { return t.schema }

// PrimaryKeySchema implements sql.PrimaryKeyTable.
func (t *table) PrimaryKeySchema(*sql.Context) sql.PrimaryKeySchema {
	return sql.PrimaryKeySchema{Schema: copySchema(t.l.schema.Schema), PkOrdinals: t.l.schema.PkOrdinals}
}

// Collation implements sql.Table.
func (t *table) Collation() sql.CollationID {
	if c, err := sql.ParseCollation("", t.l.desc.Collation, false); err == nil {
		return c
	}
	return defaultCollation
}

// Comment implements sql.CommentedTable.
func (t *table) Comment() string { return t.l.desc.Comment }

// WithProjections implements sql.ProjectedTable.
func (t *table) WithProjections(ctx *sql.Context, names []string) (sql.Table, error) {
	n := *t
	n.names, n.columns, n.schema = names, []int{}, sql.Schema{}
	all := copySchema(t.l.schema.Schema)
	for _, name := range names {
		i := all.IndexOfColName(name)
		if i < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.Name(), name)
		}
		n.columns = append(n.columns, i)
		n.schema = append(n.schema, all[i])
	}
	return &n, nil
}

// whole is the table with all its columns.
func (t *table) whole() *table {
	n := *t
	n.names, n.columns, n.schema = nil, nil, copySchema(t.l.schema.Schema)
	return &n
}

// Projections implements sql.ProjectedTable.
func (t *table) Projections() []string { return t.names }

// partition is what to read: the whole table, or a lookup.
type partition struct{ lookup *sql.IndexLookup }

// Key implements sql.Partition.
func (partition) Key() []byte { return []byte("rows") }

type partitions struct {
	p    partition
	over bool
}

func (p *partitions) Next(*sql.Context) (sql.Partition, error) {
	if p.over {
		return nil, io.EOF
	}
	p.over = true
	return p.p, nil
}

func (p *partitions) Close(*sql.Context) error { return nil }

// Partitions implements sql.Table. There is one: how reading is spread over ranges is the business of the layers below.
func (t *table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return &partitions{over: t.noRows}, nil
}

// PartitionRows implements sql.Table.
func (t *table) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	if p, ok := p.(partition); ok && p.lookup != nil {
		return t.lookupRows(ctx, *p.lookup)
	}
	return t.allRows(ctx)
}

// IndexedAccess implements sql.IndexAddressable.
func (t *table) IndexedAccess(_ *sql.Context, lookup sql.IndexLookup) sql.IndexedTable {
	n := *t
	n.lookup = &lookup
	return &n
}

// LookupPartitions implements sql.IndexedTable.
func (t *table) LookupPartitions(_ *sql.Context, lookup sql.IndexLookup) (sql.PartitionIter, error) {
	return &partitions{p: partition{lookup: &lookup}}, nil
}

// PreciseMatch implements sql.IndexAddressable.
func (t *table) PreciseMatch() bool { return true }

// SetReferenceCheck implements sql.ReferenceChecker.
func (t *table) SetReferenceCheck() error {
	t.refOnly = true
	return nil
}

// GetIndexes implements sql.IndexAddressable. An index that is still being filled is not among them, but for who drops it.
func (t *table) GetIndexes(ctx *sql.Context) ([]sql.Index, error) {
	var out []sql.Index
	unfinished := false
	if s, err := sessionOf(ctx); err == nil {
		unfinished = s.stmt.drops
	}
	if !t.l.desc.Keyless() {
		out = append(out, newIndex(t.db.name, t.l.primary))
	}
	for _, x := range t.l.indexes {
		if x.desc.State == catalog.Public || unfinished {
			out = append(out, newIndex(t.db.name, x))
		}
	}
	return out, nil
}

// RowCount implements sql.StatisticsTable: an estimate from earlier scans.
func (t *table) RowCount(*sql.Context) (uint64, bool, error) {
	return t.db.e.stats.rows(t.l.desc.ID), false, nil
}

// DataLength implements sql.StatisticsTable.
func (t *table) DataLength(*sql.Context) (uint64, error) {
	return t.db.e.stats.bytes(t.l.desc.ID), nil
}

// expressionText is how a default or a generated column's expression is kept.
func expressionText(ctx *sql.Context, d *sql.ColumnDefaultValue) (string, error) {
	if d == nil {
		return "", nil
	}
	if u, ok := d.Expr.(*sql.UnresolvedColumnDefault); ok {
		return u.ExprString, nil
	}
	e, _, err := transform.Expr(ctx, d, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := e.(*expression.GetField); ok { // a table can be renamed
			n := expression.NewGetField(f.Index(), f.Type(ctx), f.Name(), f.IsNullable(ctx))
			return n.WithQuotedNames(sql.DefaultMySQLSchemaFormatter, true), transform.NewTree, nil
		}
		if l, ok := e.(*expression.Literal); ok {
			if s, ok := l.Val.(types.Timespan); ok { // it would be written without quotes
				return expression.NewLiteral(s.String(), types.LongText), transform.NewTree, nil
			}
		}
		return e, transform.SameTree, nil
	})
	if err != nil {
		return "", err
	}
	return e.String(), nil
}
