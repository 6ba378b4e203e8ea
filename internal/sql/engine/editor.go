package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// editor changes the rows of one table for one statement. Everything goes into the transaction's buffer; what has to be
// read is whether keys are taken:
//
//   - A statement that is a transaction of its own and only inserts reads nothing: the commit refuses a key that is taken.
//     So does a row whose key the node has generated itself.
//   - Otherwise keys are looked up together: of an insert for each batch of rows, of an update at the end of the
//     statement. One that moves keys among its rows therefore succeeds if the result has no duplicates.
//   - A statement that reacts to duplicates (IGNORE, REPLACE, ON DUPLICATE KEY) looks up each row's keys, in one round.
type editor struct {
	t    *table
	s    *Session
	tx   *tx
	err  error // why there is no transaction
	rows []newRow
	mark txn.Savepoint
	// marked: mark is held. waiting is about how much memory rows take.
	marked  bool
	waiting int
	// moves: rows that are there get other keys. They are looked up at the very end, because a key that is taken now may
	// be that of a row yet to be moved.
	moves bool
	exprs *rowExpressions // of functional indexes; nil: there are none, or none has been needed
	// virtuals are those of the virtual columns that indexes have, for rows that foreign keys change; nil: none have been needed.
	virtuals *rowExpressions
}

// newRow is a row whose keys are still to be looked up.
type newRow struct {
	writes []write
	d      datums
}

// write is one key of a row.
type write struct {
	key    kv.Key
	value  []byte
	unique bool
	x      *indexLayout
}

var (
	_ sql.TableEditor       = (*editor)(nil)
	_ sql.InsertableTable   = (*table)(nil)
	_ sql.UpdatableTable    = (*table)(nil)
	_ sql.DeletableTable    = (*table)(nil)
	_ sql.ReplaceableTable  = (*table)(nil)
	_ sql.TruncateableTable = (*table)(nil)
)

func (t *table) editor(ctx *sql.Context) *editor {
	s, tx, err := txOf(ctx)
	e := &editor{t: t, s: s, tx: tx, err: err}
	if err == nil {
		s.stmt.editors = append(s.stmt.editors, e)
	}
	return e
}

// Inserter implements sql.InsertableTable.
func (t *table) Inserter(ctx *sql.Context) sql.RowInserter { return t.editor(ctx) }

// Updater implements sql.UpdatableTable.
func (t *table) Updater(ctx *sql.Context) sql.RowUpdater { return t.editor(ctx) }

// Deleter implements sql.DeletableTable.
func (t *table) Deleter(ctx *sql.Context) sql.RowDeleter { return t.editor(ctx) }

// Replacer implements sql.ReplaceableTable.
func (t *table) Replacer(ctx *sql.Context) sql.RowReplacer { return t.editor(ctx) }

// StatementBegin implements sql.EditOpenerCloser.
func (e *editor) StatementBegin(*sql.Context) {
	if e.err == nil {
		e.unmark()
		e.mark, e.marked = e.tx.attempt().Savepoint(), true
	}
}

// unmark gives the savepoint back.
func (e *editor) unmark() {
	if e.marked {
		e.tx.attempt().Forget(e.mark)
		e.marked = false
	}
}

// DiscardChanges implements sql.EditOpenerCloser.
func (e *editor) DiscardChanges(*sql.Context, error) error {
	e.rows, e.waiting = nil, 0
	if e.err == nil && e.tx.retry == nil {
		e.tx.attempt().RollbackTo(e.mark)
	}
	return nil
}

// StatementComplete implements sql.EditOpenerCloser.
func (e *editor) StatementComplete(ctx *sql.Context) error {
	if err := e.s.stmt.checkParents(ctx); err != nil {
		return err
	}
	return e.flush(ctx)
}

// Close implements sql.Closer.
func (e *editor) Close(ctx *sql.Context) error {
	err := e.flush(ctx)
	if e.err == nil {
		e.unmark()
	}
	return err
}

// writesOf lists the keys of a row.
func (e *editor) writesOf(d datums) ([]write, error) {
	l := e.t.l
	key, err := l.primaryKey(d)
	if err != nil {
		return nil, err
	}
	out := []write{{key: key, value: l.rowValue(d), unique: !l.desc.Keyless(), x: l.primary}}
	for _, x := range l.indexes {
		if x.desc.State == catalog.WriteOnly && e.t.db.e.o.Unsafe.IgnoreWriteOnly {
			continue
		}
		key, value, unique, err := x.entry(d)
		if err != nil {
			return nil, err
		}
		out = append(out, write{key: key, value: value, unique: unique, x: x})
	}
	for i := range out {
		if n := len(out[i].key) + len(out[i].value); n > maxRow {
			return nil, mysql.NewSQLError(1118, "42000", "Row size too large: this row of table %s takes %d bytes, and one may take %d", l.desc.Name, n, maxRow)
		}
	}
	return out, nil
}

// maxRow is how many bytes a row may take, or an entry of an index: it is replicated by one command, which may have 64 MiB
// (replica.Options.MaxCommand), with what belongs to it. What is larger is refused before anything is sent.
const maxRow = 64<<20 - 64<<10

// Insert implements sql.RowInserter.
func (e *editor) Insert(ctx *sql.Context, row sql.Row) error {
	if e.err != nil {
		return e.err
	}
	if err := e.tx.alive(); err != nil {
		return err
	}
	var rowID uint64
	if e.t.l.desc.Keyless() {
		var err error
		if rowID, err = e.t.db.e.ids.rowID(ctx, e.t.l); err != nil {
			return err
		}
	}
	d, err := e.t.l.encodeRow(ctx, row, rowID)
	if err != nil {
		return err
	}
	if err := e.fill(ctx, d); err != nil {
		return err
	}
	generated := e.s.stmt.isGenerated(e.t.l, row)
	if err := e.insert(ctx, d, generated); err != nil {
		return err
	}
	e.s.stmt.noteInserted(ctx, e.t.l, row, generated)
	return nil
}

// insert adds a row, which has been filled. generated: the node has given it its AUTO_INCREMENT value.
func (e *editor) insert(ctx *sql.Context, d datums, generated bool) error {
	ws, err := e.writesOf(d)
	if err != nil {
		return err
	}
	e.t.db.e.stats.wrote(e.t.l.desc.ID, 1)
	if e.s.stmt.atCommit {
		return e.conditional(ctx, newRow{ws, d}, generated)
	}
	if generated && !e.otherUnique(ws) {
		return e.conditional(ctx, newRow{ws, d}, true)
	}
	return e.add(ctx, newRow{ws, d})
}

// Delete implements sql.RowDeleter.
func (e *editor) Delete(ctx *sql.Context, row sql.Row) error {
	d, err := e.old(ctx, row)
	if err != nil {
		return err
	}
	if e.s.stmt.counts.table == e.t.l.desc.ID {
		e.s.stmt.counts.deleted++
	}
	return e.remove(d)
}

func (e *editor) remove(d datums) error {
	ws, err := e.writesOf(d)
	if err != nil {
		return err
	}
	for _, w := range ws {
		e.tx.delete(w.key)
	}
	e.t.db.e.stats.wrote(e.t.l.desc.ID, -1)
	return nil
}

// old encodes a row that is there.
func (e *editor) old(ctx *sql.Context, row sql.Row) (datums, error) {
	if e.err != nil {
		return nil, e.err
	}
	if err := e.tx.alive(); err != nil {
		return nil, err
	}
	if !e.s.stmt.deferred {
		if err := e.flush(ctx); err != nil {
			return nil, err
		}
	}
	d, err := e.t.l.encodeRow(ctx, row, 0)
	if err != nil {
		return nil, err
	}
	if e.t.l.desc.Keyless() {
		id, err := e.s.stmt.takeRowID(e.t.l, d)
		if d[e.t.l.rowIDAt()].U = id; err != nil {
			return d, err
		}
	}
	if e.t.l.virtualIndex {
		return e.stored(ctx, d)
	}
	return d, nil
}

// fill calculates the expressions of functional indexes for a row that is about to be written.
func (e *editor) fill(ctx *sql.Context, d datums) (err error) {
	if !e.t.l.hasParts {
		return nil
	}
	if e.exprs == nil {
		if e.exprs, err = newRowExpressions(ctx, e.s, e.t.db, e.t.l, false); err != nil {
			return err
		}
	}
	return e.exprs.fill(d)
}

// fillVirtual calculates the virtual columns that indexes have for a row that a foreign key changes.
func (e *editor) fillVirtual(ctx *sql.Context, d datums) (err error) {
	if !e.t.l.virtualIndex {
		return nil
	}
	if e.virtuals == nil {
		if e.virtuals, err = newRowExpressions(ctx, e.s, e.t.db, e.t.l, true); err != nil {
			return err
		}
	}
	return e.virtuals.fill(d)
}

// stored reads the row with this primary key. For tables with an index on a virtual column: of a row that it got by a
// cascade or by REPLACE, the engine does not know what that column was.
func (e *editor) stored(ctx *sql.Context, d datums) (datums, error) {
	key, err := e.t.l.primaryKey(d)
	if err != nil {
		return nil, err
	}
	v, err := e.tx.get(ctx, key)
	if err != nil {
		return nil, err
	}
	if len(v) == 0 {
		return nil, sql.ErrDeleteRowNotFound.New()
	}
	return e.t.l.decodeRow(key, v)
}

// Update implements sql.RowUpdater.
func (e *editor) Update(ctx *sql.Context, old, new sql.Row) error {
	was, err := e.old(ctx, old)
	if err != nil {
		return err
	}
	will, err := e.t.l.encodeRow(ctx, new, was[e.t.l.rowIDAt()].U)
	if err != nil {
		return err
	}
	if err := e.replace(ctx, was, will); err != nil {
		return err
	}
	if c := &e.s.stmt.counts; c.table == e.t.l.desc.ID && e.t.l.autoInc >= 0 && e.t.l.content(was) != e.t.l.content(will) {
		if v, in, err := sqlUint64(ctx, new[e.t.l.autoInc]); err == nil && in {
			c.given = v
		}
	}
	return nil
}

// replace puts a row into the place of another one.
func (e *editor) replace(ctx *sql.Context, was, will datums) error {
	if err := e.fill(ctx, will); err != nil {
		return err
	}
	before, err := e.writesOf(was)
	if err != nil {
		return err
	}
	after, err := e.writesOf(will)
	if err != nil {
		return err
	}
	var moved []write
	for i, w := range after {
		if !before[i].key.Equal(w.key) {
			moved = append(moved, w)
		}
	}
	now := !e.s.stmt.deferred
	if now { // nothing is written if a key is taken: the statement goes on without the row, perhaps
		if err := e.free(ctx, moved, will); err != nil {
			return err
		}
	}
	for i, w := range after {
		switch {
		case !before[i].key.Equal(w.key):
			if e.tx.delete(before[i].key); now {
				e.tx.put(w.key, w.value)
			}
		case string(before[i].value) != string(w.value):
			e.tx.put(w.key, w.value)
		}
	}
	if len(moved) == 0 || now {
		return nil
	}
	e.moves = true
	return e.add(ctx, newRow{moved, will})
}

// free is error 1062 if one of the keys that a row is about to get is taken.
func (e *editor) free(ctx *sql.Context, moved []write, will datums) error {
	found, err := e.taken(ctx, moved)
	if err != nil {
		return err
	}
	for i, w := range moved {
		if len(found[i]) > 0 {
			return e.duplicate(ctx, w.x, will, nil)
		}
	}
	return nil
}

// taken reads the entries that the store has under a row's unique keys, one for each write; nil: the key is free.
func (e *editor) taken(ctx *sql.Context, ws []write) ([][]byte, error) {
	out := make([][]byte, len(ws))
	var ks []kv.Key
	var at []int
	for i, w := range ws {
		if w.unique {
			ks, at = append(ks, w.key), append(at, i)
		}
	}
	if len(ks) == 0 {
		return out, nil
	}
	found, _, err := e.tx.getLocked(ctx, ks, e.s.stmt.lockFor(e.t, false))
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		out[at[i]] = v
	}
	return out, nil
}

// Truncate implements sql.TruncateableTable: DELETE without WHERE, or TRUNCATE TABLE, which is a change of the catalog.
func (t *table) Truncate(ctx *sql.Context) (int, error) {
	s, tx, err := txOf(ctx)
	if err != nil {
		return 0, err
	}
	if s.stmt.kind == changingCatalog {
		return 0, t.replaceIndexes(ctx)
	}
	n := 0
	for _, x := range append([]*indexLayout{t.l.primary}, t.l.indexes...) {
		sc := tx.attempt().Scan(ctx, spanOf(x), txn.ScanOptions{})
		for {
			rows, err := sc.Next(ctx)
			if err != nil {
				return 0, tx.note(err)
			}
			if len(rows) == 0 {
				break
			}
			for _, r := range rows {
				tx.delete(r.Key)
			}
			if err := tx.alive(); err != nil {
				return 0, err
			}
			if x.isPK {
				n += len(rows)
			}
		}
	}
	t.db.e.stats.scanned(t.l.desc.ID, 0, 0)
	return n, nil
}
