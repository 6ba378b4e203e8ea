package engine

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// A rewrite puts all rows of a table under new index ids, in the transaction that also changes the descriptor. It is
// limited to what one transaction may write (txn.DBOptions.MaxWriteBytes), and refused for larger tables; nothing is lost then. The old indexes become
// garbage at the moment of the commit.

var (
	_ sql.RewritableTable          = (*table)(nil)
	_ sql.PrimaryKeyAlterableTable = (*table)(nil)
)

// ShouldRewriteTable implements sql.RewritableTable. One of the columns is nil if a column is added or dropped.
func (t *table) ShouldRewriteTable(ctx *sql.Context, _, _ sql.PrimaryKeySchema, old, new *sql.Column) bool {
	switch {
	case old != nil && new != nil:
		return !sameStorage(old.Type, new.Type) || t.narrows(ctx, old, new) || old.Virtual != new.Virtual || (old.Generated == nil) != (new.Generated == nil)
	case old != nil: // dropped
		i := findColumn(t.l.desc, old.Name)
		if i < 0 {
			return false
		}
		in := func(x catalog.Index) bool {
			return slices.ContainsFunc(x.Columns, func(p catalog.IndexPart) bool { return p.Column == t.l.desc.Columns[i].ID })
		}
		return in(t.l.desc.Primary) || slices.ContainsFunc(t.l.desc.Indexes, func(x catalog.Index) bool { return in(x) && len(x.Columns) > 1 })
	}
	return false
}

// RewriteInserter implements sql.RewritableTable.
func (t *table) RewriteInserter(ctx *sql.Context, _, newSchema sql.PrimaryKeySchema, old, new *sql.Column, columns []sql.IndexColumn) (sql.RowInserter, error) {
	if old == nil && new != nil && fillable(new) {
		// Adding a column that is the same in all rows: the engine wants to rewrite, we need not.
		t.noRows = true
		at := newSchema.Schema.IndexOfColName(strings.ToLower(new.Name))
		order := &sql.ColumnOrder{First: true}
		if at > 0 {
			order = &sql.ColumnOrder{AfterColumn: newSchema.Schema[at-1].Name}
		}
		return doneInserter{}, t.AddColumn(ctx, new, order)
	}
	x, err := ddl(ctx)
	if err != nil {
		return nil, err
	}
	d, err := x.table(t.l.desc.ID)
	if err != nil {
		return nil, err
	}
	if old != nil && (new == nil || !strings.EqualFold(old.Name, new.Name)) {
		if err := dependsOn(d, old.Name); err != nil {
			return nil, err
		}
	}
	if err := t.adopt(ctx, d, newSchema, old, new, columns); err != nil {
		return nil, err
	}
	if r := t.retypes(d, old, new); r != nil {
		rows, err := t.allRows(ctx)
		if err != nil {
			return nil, err
		}
		to, err := t.rewriteTo(ctx, x, d)
		if err != nil {
			return nil, err
		}
		t.noRows = true
		return doneInserter{}, r.rewrite(ctx, rows, to)
	}
	return t.rewriteTo(ctx, x, d)
}

// adopt makes the descriptor that of the new schema. Columns that stay keep their ids.
func (t *table) adopt(ctx *sql.Context, d *catalog.Table, s sql.PrimaryKeySchema, old, new *sql.Column, columns []sql.IndexColumn) error {
	ids := map[string]uint32{}
	for _, c := range d.Columns {
		ids[strings.ToLower(c.Name)] = c.ID
	}
	if old != nil && new != nil {
		ids[strings.ToLower(new.Name)] = ids[strings.ToLower(old.Name)]
	}
	var described []catalog.Column
	kept := map[uint32]bool{}
	for _, c := range s.Schema {
		id, ok := ids[strings.ToLower(c.Name)]
		if !ok {
			id = d.NextColumnID
			d.NextColumnID++
		}
		kept[id] = true
		col, err := t.db.describeColumn(ctx, d, c, id)
		if err != nil {
			return err
		}
		described = append(described, col)
	}
	d.Columns = described
	parts := map[uint32]catalog.IndexPart{}
	for _, p := range d.Primary.Columns {
		parts[p.Column] = p
	}
	desc := descendingParts(ctx, "PRIMARY", columns)
	for i, c := range columns {
		if at := findColumn(d, c.Name); at >= 0 {
			parts[d.Columns[at].ID] = catalog.IndexPart{Length: int(c.Length), Desc: isDescending(desc, i)}
		}
	}
	d.Primary.Columns = nil
	for _, at := range s.PkOrdinals {
		id := d.Columns[at].ID
		d.Columns[at].Nullable = false
		d.Primary.Columns = append(d.Primary.Columns, catalog.IndexPart{Column: id, Length: parts[id].Length, Desc: parts[id].Desc})
	}
	for i := range d.Indexes {
		d.Indexes[i].Columns = slices.DeleteFunc(d.Indexes[i].Columns, func(p catalog.IndexPart) bool { return !kept[p.Column] })
	}
	return t.db.retypeParts(ctx, d, true)
}

// rewriteTo returns an inserter that writes rows as the descriptor says; closing it puts the descriptor in place.
func (t *table) rewriteTo(ctx *sql.Context, x *tx, d *catalog.Table) (*rewriter, error) {
	x.edit.Discard(d.ID, d.Primary.ID)
	d.Primary.ID = d.NextIndexID
	d.NextIndexID++
	for i := range d.Indexes {
		x.edit.Discard(d.ID, d.Indexes[i].ID)
	}
	d.Indexes = slices.DeleteFunc(d.Indexes, func(i catalog.Index) bool { return len(i.Columns) == 0 })
	for i := range d.Indexes {
		d.Indexes[i].ID = d.NextIndexID
		d.NextIndexID++
	}
	l, err := newLayout(t.db.name, d)
	if err != nil {
		return nil, err
	}
	x.cleanup = append(x.cleanup, t.db.e.garbage.wake)
	n := &table{db: t.db, l: l, schema: copySchema(l.schema.Schema)}
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	return &rewriter{old: t, editor: &editor{t: n, s: s, tx: x}, desc: d}, nil
}

// rewriter is an inserter into fresh indexes.
type rewriter struct {
	*editor
	old  *table
	desc *catalog.Table
	over bool
}

// Insert implements sql.RowInserter. The indexes are new: only rows of this rewrite can be in each other's way, and those
// the transaction's own writes tell.
func (r *rewriter) Insert(ctx *sql.Context, row sql.Row) error {
	if err := r.tx.alive(); err != nil {
		return err
	}
	var rowID uint64
	if r.t.l.desc.Keyless() {
		var err error
		if rowID, err = r.t.db.e.ids.rowID(ctx, r.t.l); err != nil {
			return err
		}
	}
	d, err := r.t.l.encodeRow(ctx, row, rowID)
	if err != nil {
		return err
	}
	if err := r.fill(ctx, d); err != nil {
		return err
	}
	ws, err := r.writesOf(d)
	if err != nil {
		return err
	}
	return r.conditional(ctx, newRow{ws, d}, false)
}

// DiscardChanges implements sql.EditOpenerCloser: the statement is rolled back as a whole.
func (r *rewriter) DiscardChanges(*sql.Context, error) error {
	r.over = true
	return nil
}

// StatementComplete implements sql.EditOpenerCloser.
func (r *rewriter) StatementComplete(*sql.Context) error { return nil }

// Close implements sql.Closer.
func (r *rewriter) Close(ctx *sql.Context) error {
	if r.over {
		return nil
	}
	r.over = true
	if err := r.tx.edit.PutTable(r.desc); err != nil {
		return err
	}
	return r.old.reload(ctx)
}

// rewrite changes the descriptor in a way that needs all rows to be encoded anew.
func (t *table) rewrite(ctx *sql.Context, fn func(*catalog.Table) error) error {
	return t.rewriteEach(ctx, func(sql.Row) error { return nil }, fn)
}

// rewriteEach is rewrite that looks at each row before.
func (t *table) rewriteEach(ctx *sql.Context, each func(sql.Row) error, fn func(*catalog.Table) error) error {
	if t.l.indexesCalculated() {
		return fmt.Errorf("table %s has an index on a virtual column: drop the index first", t.Name())
	}
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	d, err := x.table(t.l.desc.ID)
	if err != nil {
		return err
	}
	if err := fn(d); err != nil {
		return err
	}
	if err := t.db.retypeParts(ctx, d, true); err != nil {
		return err
	}
	it, err := t.allRows(ctx)
	if err != nil {
		return err
	}
	to, err := t.rewriteTo(ctx, x, d)
	if err != nil {
		return err
	}
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return to.Close(ctx)
		}
		if err == nil {
			err = each(row)
		}
		if err == nil {
			err = to.Insert(ctx, row)
		}
		if err != nil {
			return err
		}
	}
}

// CreatePrimaryKey implements sql.PrimaryKeyAlterableTable. (The engine rewrites instead.)
func (t *table) CreatePrimaryKey(ctx *sql.Context, columns []sql.IndexColumn) error {
	return t.rewrite(ctx, func(d *catalog.Table) error {
		for _, c := range columns {
			i := findColumn(d, c.Name)
			if i < 0 {
				return sql.ErrKeyColumnDoesNotExist.New(c.Name)
			}
			d.Columns[i].Nullable = false
			d.Primary.Columns = append(d.Primary.Columns, catalog.IndexPart{Column: d.Columns[i].ID, Length: int(c.Length)})
		}
		return nil
	})
}

// DropPrimaryKey implements sql.PrimaryKeyAlterableTable. (The engine rewrites instead.)
func (t *table) DropPrimaryKey(ctx *sql.Context) error {
	return t.rewrite(ctx, func(d *catalog.Table) error {
		d.Primary.Columns = nil
		return nil
	})
}

// replaceIndexes is TRUNCATE TABLE: the table goes on with empty indexes.
func (t *table) replaceIndexes(ctx *sql.Context) error {
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	d, err := x.table(t.l.desc.ID)
	if err != nil {
		return err
	}
	d.Sequence++
	d.SequenceStart = 0
	to, err := t.rewriteTo(ctx, x, d)
	if err != nil {
		return err
	}
	x.cleanup = append(x.cleanup, func() { t.db.e.stats.scanned(d.ID, 0, 0) })
	return to.Close(ctx)
}

// doneInserter takes rows that need not be written.
type doneInserter struct{}

func (doneInserter) StatementBegin(*sql.Context)              {}
func (doneInserter) DiscardChanges(*sql.Context, error) error { return nil }
func (doneInserter) StatementComplete(*sql.Context) error     { return nil }
func (doneInserter) Insert(*sql.Context, sql.Row) error       { return nil }
func (doneInserter) Close(*sql.Context) error                 { return nil }
