package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// CREATE INDEX on a table with rows, while others go on writing:
//
//	1  The index is put into the catalog as write-only, and that is committed: from this timestamp on every transaction
//	   that commits keeps the index (H2: one planned with the catalog before is refused).
//	2  The rows that are older get their entries, in transactions of backfillRows rows each. A row that changes meanwhile
//	   is a conflict of that transaction, and is read again.
//	3  The index is made public, in the statement's own transaction.
//
// If the second step finds a duplicate, or the node that does it stops, the index is dropped again, or stays write-only
// until the same CREATE INDEX is given again, or DROP INDEX; nothing reads it.

var (
	_ sql.IndexAlterableTable = (*table)(nil)
	_ sql.IndexBuildingTable  = (*table)(nil)
)

const backfillRows = 500

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
	fresh := t.isFresh(x)
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

func (t *table) indexesVirtual(def sql.IndexDef) (bool, error) {
	for _, c := range def.Columns {
		i := t.l.schema.Schema.IndexOfColName(strings.ToLower(c.Name))
		if i < 0 {
			return false, sql.ErrKeyColumnDoesNotExist.New(c.Name)
		}
		if t.l.virtual[i] {
			return true, nil
		}
	}
	return false, nil
}

func (t *table) addIndex(ctx *sql.Context, def sql.IndexDef, state catalog.IndexState) error {
	return t.alter(ctx, func(d *catalog.Table) error {
		at := slices.IndexFunc(d.Indexes, func(o catalog.Index) bool { return strings.EqualFold(o.Name, def.Name) })
		unfinished := at >= 0 && d.Indexes[at].State == catalog.WriteOnly
		if at >= 0 && !unfinished || strings.EqualFold(def.Name, "PRIMARY") {
			return sql.ErrDuplicateKey.New(def.Name)
		}
		n := catalog.Index{ID: d.NextIndexID, Name: def.Name, Unique: def.IsUnique(), State: state, Comment: def.Comment}
		d.NextIndexID++
		for _, c := range def.Columns {
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
			n.Columns = append(n.Columns, catalog.IndexPart{Column: d.Columns[i].ID, Length: int(c.Length)})
		}
		if unfinished { // by a node that stopped, or an attempt that was lost: go on with it
			o := &d.Indexes[at]
			if o.Unique == n.Unique && slices.Equal(o.Columns, n.Columns) && state == catalog.WriteOnly {
				return nil
			}
			return fmt.Errorf("an index %s with other columns was begun and not finished: drop it first", def.Name)
		}
		d.Indexes = append(d.Indexes, n)
		return nil
	})
}

// fillOnline is steps 1 to 3.
func (t *table) fillOnline(ctx *sql.Context, name string) error {
	s, err := sessionOf(ctx)
	if err != nil {
		return err
	}
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	if err := t.reload(ctx); err != nil {
		return err
	}
	x := t.l.indexByName(name)
	if x == nil {
		return sql.ErrIndexNotFound.New(name)
	}
	if err := t.backfill(ctx, x); err != nil {
		if derr := t.abandon(ctx, s, name); derr != nil {
			return fmt.Errorf("%w (and the unfinished index could not be dropped: %v)", err, derr)
		}
		return err
	}
	return t.alter(ctx, func(d *catalog.Table) error {
		for i := range d.Indexes {
			if strings.EqualFold(d.Indexes[i].Name, name) {
				d.Indexes[i].State = catalog.Public
				return nil
			}
		}
		return sql.ErrIndexNotFound.New(name)
	})
}

// abandon drops an index that could not be filled, for good: the statement's error would otherwise roll that back.
func (t *table) abandon(ctx *sql.Context, s *Session, name string) error {
	if err := t.DropIndex(ctx, name); err != nil {
		return err
	}
	return s.checkpoint(ctx)
}

// checkpoint commits what the statement has made of the catalog so far, and goes on with another transaction.
func (s *Session) checkpoint(ctx *sql.Context) error {
	_, x, err := txOf(ctx)
	if err != nil {
		return err
	}
	if err := x.commit(ctx); err != nil {
		return err
	}
	n := &tx{e: s.e, ordering: x.ordering}
	s.SetTransaction(n)
	_, err = ddl(ctx)
	return err
}

// backfill writes the entries of all rows.
func (t *table) backfill(ctx *sql.Context, x *indexLayout) error {
	rest := spanOf(t.l.primary)
	for !rest.Empty() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next kv.Key
		err := t.db.e.o.DB.Run(ctx, txn.Options{Name: "fill index"}, func(rc context.Context, tx *txn.Txn) (err error) {
			next, err = t.backfillChunk(rc, ctx, tx, x, rest)
			return err
		})
		if err != nil {
			return err
		}
		if next == nil {
			return nil
		}
		rest.Start = next
	}
	return nil
}

func (t *table) backfillChunk(ctx context.Context, sc *sql.Context, tx *txn.Txn, x *indexLayout, rest kv.Span) (next kv.Key, err error) {
	var rows []txn.KeyValue
	scan := tx.Scan(ctx, rest, txn.ScanOptions{Limit: backfillRows})
	for {
		page, err := scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		rows = append(rows, page...)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	type entry struct {
		key    kv.Key
		value  []byte
		unique bool
		d      datums
	}
	var entries []entry
	var ks []kv.Key
	for _, r := range rows {
		d, err := t.l.decodeRow(r.Key, r.Value)
		if err != nil {
			return nil, err
		}
		e := entry{d: d}
		if e.key, e.value, e.unique, err = x.entry(d); err != nil {
			return nil, err
		}
		entries, ks = append(entries, e), append(ks, e.key)
	}
	have, err := tx.GetMany(ctx, ks)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, e := range entries {
		taken := len(have[i]) > 0 && !bytes.Equal(have[i], e.value) || seen[string(e.key)]
		if e.unique && taken {
			return nil, sql.NewUniqueKeyErr(duplicateText(sc, x, e.d), false, nil)
		}
		seen[string(e.key)] = true
		if len(have[i]) == 0 {
			tx.Put(e.key, e.value)
		}
	}
	return keys.Next(rows[len(rows)-1].Key), nil
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
