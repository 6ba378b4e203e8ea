package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// CreateIndex implements sql.IndexAlterableTable.
func (t *table) CreateIndex(ctx *sql.Context, def sql.IndexDef) error {
	if def.IsFullText() || def.IsSpatial() || def.IsVector() {
		return fmt.Errorf("index %s: FULLTEXT, SPATIAL and VECTOR indexes are not supported", def.Name)
	}
	if def.Predicate != nil {
		return fmt.Errorf("index %s: indexes with a WHERE clause are not supported", def.Name)
	}
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	if s, err := sessionOf(ctx); err == nil && len(def.Columns) == 1 && s.stmt.unnamed[strings.ToLower(def.Columns[0].Name)] && strings.EqualFold(def.Name, def.Columns[0].Name) {
		if def.Name, err = sql.GenerateMySqlIndexName(ctx, def, t); err != nil {
			return err
		}
	}
	fresh := t.isFresh(x)
	if t.l.desc.Temporary() && !fresh {
		return t.createTemporaryIndex(ctx, def)
	}
	virtual, err := t.indexesVirtual(def)
	if err != nil {
		return err
	}
	state := catalog.WriteOnly
	if fresh || virtual {
		state = catalog.Public
	}
	if err := t.addIndex(ctx, def, state); err != nil {
		return err
	}
	if fresh || virtual { // with virtual columns the engine computes the entries (BuildIndex)
		return t.reload(ctx)
	}
	t.noRows = true
	if err := t.fillOnline(ctx, def.Name); err != nil {
		return err
	}
	return t.reload(ctx)
}

// isFresh reports whether the table has been created by this very transaction, so that nobody else can write to it and
// what it holds is in the transaction's buffer.
func (t *table) isFresh(x *tx) bool {
	return x.base.TableByID(t.l.desc.ID) == nil
}

// indexesVirtual reports whether an index has a virtual column whose values go-mysql-server calculates.
func (t *table) indexesVirtual(def sql.IndexDef) (bool, error) {
	for _, c := range def.Columns {
		i := t.l.schema.Schema.IndexOfColName(strings.ToLower(c.Name))
		if i < 0 {
			return false, sql.ErrKeyColumnDoesNotExist.New(c.Name)
		}
		if t.l.virtual[i] && !isPart(&t.l.desc.Columns[i]) {
			return true, nil
		}
	}
	return false, nil
}

func (t *table) addIndex(ctx *sql.Context, def sql.IndexDef, state catalog.IndexState) error {
	return t.alter(ctx, t.withIndex(ctx, def, state))
}

// createTemporaryIndex writes all rows of a temporary table again, with the index: nobody else writes to it.
func (t *table) createTemporaryIndex(ctx *sql.Context, def sql.IndexDef) error {
	t.noRows = true
	old := &table{db: t.db, l: t.l, schema: copySchema(t.l.schema.Schema)}
	if err := old.rewrite(ctx, t.withIndex(ctx, def, catalog.Public)); err != nil {
		return err
	}
	return t.reload(ctx)
}

// withIndex adds an index to a descriptor.
func (t *table) withIndex(ctx *sql.Context, def sql.IndexDef, state catalog.IndexState) func(*catalog.Table) error {
	return func(d *catalog.Table) error {
		at := slices.IndexFunc(d.Indexes, func(o catalog.Index) bool { return strings.EqualFold(o.Name, def.Name) })
		unfinished := at >= 0 && d.Indexes[at].State == catalog.WriteOnly
		if at >= 0 && !unfinished || strings.EqualFold(def.Name, "PRIMARY") {
			return sql.ErrDuplicateKey.New(def.Name)
		}
		n := catalog.Index{ID: d.NextIndexID, Name: def.Name, Unique: def.IsUnique(), State: state, Comment: def.Comment}
		d.NextIndexID++
		descending := descendingParts(ctx, def.Name, def.Columns)
		for at, c := range def.Columns {
			i := findColumn(d, c.Name)
			if i < 0 {
				return sql.ErrKeyColumnDoesNotExist.New(c.Name)
			}
			typ, err := columnType(d.Columns[i].Type)
			if err != nil {
				return err
			}
			if err := checkIndexable(&sql.Column{Name: c.Name, Type: typ}, int(c.Length)); err != nil {
				return err
			}
			n.Columns = append(n.Columns, catalog.IndexPart{Column: d.Columns[i].ID, Length: int(c.Length), Desc: isDescending(descending, at)})
		}
		if unfinished { // by a node that stopped, or an attempt that was lost: go on with it
			o := &d.Indexes[at]
			if o.Unique == n.Unique && slices.Equal(o.Columns, n.Columns) && state == catalog.WriteOnly {
				return nil
			}
			return fmt.Errorf("an index %s with other columns was begun and not finished: drop it first", def.Name)
		}
		warnOfTwin(ctx, t, d, &n)
		d.Indexes = append(d.Indexes, n)
		return nil
	}
}

// warnOfTwin warns of an index on the same columns as another one. (go-mysql-server's own warning is of any two indexes with the same
// number of columns: Session.Warn drops it.)
func warnOfTwin(ctx *sql.Context, t *table, d *catalog.Table, n *catalog.Index) {
	s, err := sessionOf(ctx)
	if err != nil {
		return
	}
	for i := range d.Indexes {
		if o := &d.Indexes[i]; o.Unique == n.Unique && slices.Equal(o.Columns, n.Columns) {
			s.BaseSession.Warn(&sql.Warning{Level: "Warning", Code: twinIndex, Message: fmt.Sprintf("Duplicate index '%s' defined on the table '%s.%s'. "+
				"This is deprecated and will be disallowed in a future release.", n.Name, t.db.name, t.Name())})
			return
		}
	}
}

// DropIndex implements sql.IndexAlterableTable.
func (t *table) DropIndex(ctx *sql.Context, name string) error {
	x, err := ddl(ctx)
	if err != nil {
		return err
	}
	err = t.alter(ctx, func(d *catalog.Table) error {
		i := slices.IndexFunc(d.Indexes, func(o catalog.Index) bool { return strings.EqualFold(o.Name, name) })
		if i < 0 {
			return sql.ErrCantDropFieldOrKey.New(name)
		}
		x.edit.Discard(d.ID, d.Indexes[i].ID)
		d.Indexes = slices.Delete(d.Indexes, i, i+1)
		return nil
	})
	if err != nil {
		return err
	}
	x.cleanup = append(x.cleanup, t.db.e.garbage.wake)
	return t.reload(ctx)
}

// RenameIndex implements sql.IndexAlterableTable.
func (t *table) RenameIndex(ctx *sql.Context, from, to string) error {
	err := t.alter(ctx, func(d *catalog.Table) error {
		i := slices.IndexFunc(d.Indexes, func(o catalog.Index) bool { return strings.EqualFold(o.Name, from) })
		if i < 0 {
			return sql.ErrIndexNotFound.New(from)
		}
		if slices.ContainsFunc(d.Indexes, func(o catalog.Index) bool { return strings.EqualFold(o.Name, to) }) {
			return sql.ErrDuplicateKey.New(to)
		}
		d.Indexes[i].Name = to
		for at, p := range d.Indexes[i].Columns {
			if c := d.ColumnByID(p.Column); c != nil && isPart(c) {
				c.Name = sql.HiddenSystemColumnName(to, at)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.reload(ctx)
}

// CreateIndexForForeignKey implements sql.ForeignKeyTable.
func (t *table) CreateIndexForForeignKey(ctx *sql.Context, def sql.IndexDef) error {
	return t.CreateIndex(ctx, def)
}

// ShouldBuildIndex implements sql.IndexBuildingTable: only for entries that the engine has to compute.
func (t *table) ShouldBuildIndex(_ *sql.Context, def sql.IndexDef) (bool, error) {
	return t.indexesVirtual(def)
}

// BuildIndex implements sql.IndexBuildingTable. It is also called for unique indexes that are filled already; then the
// table shows no rows.
func (t *table) BuildIndex(ctx *sql.Context, def sql.IndexDef) (sql.RowInserter, error) {
	virtual, err := t.indexesVirtual(def)
	if err != nil || !virtual {
		t.noRows = true
		return doneInserter{}, err
	}
	x := t.l.indexByName(def.Name)
	if x == nil {
		return nil, sql.ErrIndexNotFound.New(def.Name)
	}
	return &indexFiller{editor: t.editor(ctx), x: x}, nil
}

// indexFiller writes the entries of one index for rows that are there.
type indexFiller struct {
	*editor
	x *indexLayout
}

// Insert implements sql.RowInserter.
func (f *indexFiller) Insert(ctx *sql.Context, row sql.Row) error {
	if f.t.l.desc.Keyless() {
		return errors.New("an index on a virtual column needs a table with a primary key")
	}
	d, err := f.t.l.encodeRow(ctx, row, 0)
	if err != nil {
		return err
	}
	if err := f.fill(ctx, d); err != nil {
		return err
	}
	key, value, unique, err := f.x.entry(d)
	if err != nil {
		return err
	}
	pk, err := f.t.l.primaryKey(d)
	if err != nil {
		return err
	}
	f.tx.put(pk, f.t.l.rowValue(d)) // now with the virtual column
	return f.conditional(ctx, newRow{[]write{{key, value, unique, f.x}}, d}, false)
}

// descendingParts reports which columns of an index that is being made are descending; nil: none.
func descendingParts(ctx *sql.Context, name string, columns []sql.IndexColumn) []bool {
	var names []string
	for _, c := range columns {
		names = append(names, strings.ToLower(c.Name))
	}
	return notesOf(ctx).descending(name, names)
}

// indexesCalculated reports whether an index has a virtual column whose values go-mysql-server calculates.
func (l *layout) indexesCalculated() bool {
	for _, x := range l.indexes {
		for _, p := range x.parts {
			if l.virtual[p.at] && !isPart(&l.desc.Columns[p.at]) {
				return true
			}
		}
	}
	return false
}
