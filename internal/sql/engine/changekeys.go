package engine

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// Foreign keys of the tables that a statement changes.
//
//	C4  A row with values for the columns of a foreign key has a parent when its statement is over. Parents are looked up together
//	at the end
//	    of the statement; at once where it goes on without the row (IGNORE), or where the table refers to itself.
//	C5  Before a row is deleted, or given other values that others refer to, nothing refers to it: what does is an error, or changed as the
//	    foreign key says. Rows that are changed so have no triggers, as in MySQL.

// foreignKeys are those of one table.
type foreignKeys struct {
	own      []*foreignKey // of the table: it is the child
	referred []*foreignKey // of others, and perhaps of itself: it is the parent
	// again: what a row's change does to others may change rows of the statement's own tables.
	again bool
}

// foreignKey is one as rows are checked by it.
type foreignKey struct {
	fk       sql.ForeignKeyConstraint
	self     bool
	t        *table       // the other table
	x        *indexLayout // its index that begins with the columns
	from, to []int        // columns of the own table, and of the other one, as the foreign key lists them
	exact    bool         // x is unique and has no other columns
	onDelete string
	onUpdate string
}

// foreignKeysOf finds the foreign keys of a table. The error wraps bind.ErrUnsupported if one cannot be checked here.
func (s *Session) foreignKeysOf(sc *sql.Context, e *Engine, l *layout, own map[uint64]bool) (*foreignKeys, error) {
	out := &foreignKeys{}
	if v, err := sc.GetSessionVariable(sc, "foreign_key_checks"); err != nil || !isOn(v) {
		return out, err
	}
	now, err := s.schema(sc)
	if err != nil {
		return nil, err
	}
	db := now.snap.Databases()[l.desc.Database]
	for i := range l.desc.ForeignKeys {
		f := &l.desc.ForeignKeys[i]
		k, err := s.foreignKey(now, e, l, f, f.ParentDatabase, f.ParentTable, f.Columns, f.ParentColumns)
		if err != nil {
			return nil, err
		}
		out.own = append(out.own, k)
	}
	if l.desc.Temporary() {
		return out, nil
	}
	for _, f := range now.snap.References(db.Name, l.desc.Name) {
		k, err := s.foreignKey(now, e, l, &f, f.Database, f.Table, f.ParentColumns, f.Columns)
		if err != nil {
			return nil, err
		}
		if k.t == nil {
			continue
		}
		out.referred = append(out.referred, k)
		out.again = out.again || (changesChildren(k.onDelete) || changesChildren(k.onUpdate)) && leadsTo(now.snap, k.t.l.desc, own, map[uint64]bool{})
	}
	return out, nil
}

func unsupportedKey(f *catalog.ForeignKey) error {
	return fmt.Errorf("%w: foreign key %s", bind.ErrUnsupported, f.Name)
}

// leadsTo reports whether changes of a table, and what follows of them, reach one of some tables.
func leadsTo(snap *catalog.Snapshot, t *catalog.Table, own, seen map[uint64]bool) bool {
	if own[t.ID] {
		return true
	}
	if seen[t.ID] {
		return false
	}
	seen[t.ID] = true
	for _, f := range snap.References(snap.Databases()[t.Database].Name, t.Name) {
		if db := snap.Database(f.Database); db != nil && (changesChildren(f.OnDelete) || changesChildren(f.OnUpdate)) {
			if child := snap.Base(db.ID, f.Table); child != nil && leadsTo(snap, child, own, seen) {
				return true
			}
		}
	}
	return false
}

// changesChildren reports whether an action changes the rows that refer to one.
func changesChildren(action string) bool {
	switch sql.ForeignKeyReferentialAction(action) {
	case sql.ForeignKeyReferentialAction_Cascade, sql.ForeignKeyReferentialAction_SetNull:
		return true
	}
	return false
}

// foreignKey finds the other table of a foreign key; its t is nil if there is none.
func (s *Session) foreignKey(now *schema, e *Engine, l *layout, f *catalog.ForeignKey, in, name string, from, to []string) (*foreignKey, error) {
	k := &foreignKey{fk: constraintOf(*f), onDelete: f.OnDelete, onUpdate: f.OnUpdate}
	for _, c := range from {
		k.from = append(k.from, placeNamed(l, c))
	}
	db := now.snap.Database(in)
	if db == nil {
		s.stmt.uses.missing(0, in)
		return k, nil
	}
	d := now.snap.Base(db.ID, name)
	if d == nil {
		s.stmt.uses.missing(db.ID, name)
		return k, nil
	}
	s.stmt.uses.table(d.ID)
	other, err := now.layout(db, d)
	if err != nil {
		return nil, err
	}
	k.self = d.ID == l.desc.ID
	k.t = newTable(&database{e: e, id: db.ID, name: db.Name, collation: db.Collation}, other)
	for _, c := range to {
		k.to = append(k.to, placeNamed(other, c))
	}
	if slices.Contains(k.from, -1) || slices.Contains(k.to, -1) {
		return nil, unsupportedKey(f)
	}
	for i, at := range k.to {
		if other.columns[at].Kind != l.columns[k.from[i]].Kind || other.columns[at].Scale != l.columns[k.from[i]].Scale {
			return nil, unsupportedKey(f)
		}
	}
	if k.x = beginsWith(other, k.to); k.x == nil {
		return nil, unsupportedKey(f)
	}
	k.exact = len(k.x.parts) == len(k.to) && (k.x.isPK || k.x.desc.Unique)
	return k, nil
}

func placeNamed(l *layout, name string) int {
	return slices.IndexFunc(l.desc.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) })
}

// beginsWith is an index that begins with columns, in any order; nil: there is none. One that has no others is preferred.
func beginsWith(l *layout, places []int) (best *indexLayout) {
	for _, x := range l.all() {
		if !x.isPK && x.desc.State != catalog.Public || x.isPK && l.desc.Keyless() || len(x.parts) < len(places) {
			continue
		}
		same := true
		for i := range places {
			p := &x.parts[i]
			same = same && slices.Contains(places, p.at) && p.col.Prefix == 0
		}
		if same && (best == nil || len(x.parts) == len(places) && (x.isPK || x.desc.Unique)) {
			best = x
		}
	}
	return best
}

// key is what entries of the other table's index begin with whose columns are those of a row. false: one of them is NULL.
func (k *foreignKey) key(d datums) (kv.Key, bool, error) {
	key := append(kv.Key{}, k.x.prefix...)
	for i := range k.to {
		p := &k.x.parts[i]
		v := d[k.from[slices.Index(k.to, p.at)]]
		if v.IsNull() {
			return nil, false, nil
		}
		var err error
		if key, err = rowcodec.AppendKey(key, &p.col, v); err != nil {
			return nil, false, err
		}
	}
	return key, true, nil
}

func (k *foreignKey) reach(key kv.Key) reach {
	if k.exact {
		return reach{span: kv.Span{Start: key}, point: true}
	}
	return reach{span: prefixSpan(key)}
}

// same reports whether two rows of the own table have the same values in the columns of the foreign key.
func (k *foreignKey) same(a, b datums) bool {
	for _, at := range k.from {
		if !rowcodec.Equal(a[at], b[at]) {
			return false
		}
	}
	return true
}

// hasParents sees to C4 for a row. was is nil if it is new.
func (w *changer) hasParents(t *changedTable, was, will datums) error {
	for _, k := range t.keys.own {
		if was != nil && k.same(was, will) {
			continue
		}
		missing := sql.ErrForeignKeyChildViolation.New(k.fk.Name, k.fk.Table, k.fk.ParentTable, "")
		if k.t == nil {
			if k.hasNull(will) {
				continue
			}
			return missing
		}
		key, ok, err := k.key(will)
		if err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		if !k.self && !w.c.Ignore {
			w.s.stmt.parents.add(parentCheck{t: k.t, x: k.x, r: k.reach(key), fk: k.fk})
			continue
		}
		if k.self { // the row may be its own parent
			if own, err := k.ownKey(will); err != nil || own.Equal(key) {
				if err != nil {
					return err
				}
				continue
			}
		}
		rows, err := w.lookUp(k, key, 1)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return missing
		}
	}
	return nil
}

func (k *foreignKey) hasNull(d datums) bool {
	return slices.ContainsFunc(k.from, func(at int) bool { return d[at].IsNull() })
}

// ownKey is the beginning of the row's own entry in the index that its parents are looked up in, of a table that refers to itself.
func (k *foreignKey) ownKey(d datums) (kv.Key, error) {
	return k.x.appendParts(append(kv.Key{}, k.x.prefix...), k.x.parts[:len(k.to)], d)
}

// lookUp reads rows of the other table; most: so many suffice, 0: all.
func (w *changer) lookUp(k *foreignKey, key kv.Key, most int) (rows []datums, err error) {
	if err := w.s.stmt.flushTable(w.ctx, k.t.l.desc.ID); err != nil {
		return nil, err
	}
	it, err := newRowReader(w.ctx, k.t, k.x, []reach{{span: prefixSpan(key)}}, false)
	if err != nil {
		return nil, err
	}
	if it.lock.Mode == kv.NoLock {
		it.limit = most
	}
	for most == 0 || len(rows) < most {
		d, err := it.next(w.ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, d)
	}
	return rows, it.Close(w.ctx)
}

// replaced is foreignKeys without those to which the new row gives the values that a row had which it takes the place of: what
// refers to the
// one refers to the other.
func (f *foreignKeys) replaced(have, will datums) *foreignKeys {
	out := &foreignKeys{own: f.own, again: f.again}
	for _, k := range f.referred {
		if !k.same(have, will) {
			out.referred = append(out.referred, k)
		}
	}
	return out
}

// release sees to C5 before a row is deleted (will is nil) or becomes another one.
func (w *changer) release(fks *foreignKeys, was, will datums) error {
	for _, k := range fks.referred {
		if will != nil && k.same(was, will) {
			continue
		}
		key, ok, err := k.key(was)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		action := k.onDelete
		if will != nil {
			action = k.onUpdate
		}
		if !changesChildren(action) || k.restrictsItself(will) {
			if err := w.unreferred(k, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// restrictsItself reports whether a foreign key of a table to itself refuses the change of a row to another one (will; nil: the row goes)
// that others refer to, whatever its action: MySQL updates no table that it is updating.
func (k *foreignKey) restrictsItself(will datums) bool { return k.self && will != nil }

// unreferred is error 1451 if a row refers to one that is about to go, or to become another one: the row itself, too (8.0 lets such a row go).
func (w *changer) unreferred(k *foreignKey, key kv.Key) error {
	rows, err := w.lookUp(k, key, 1)
	if err != nil || len(rows) == 0 {
		return err
	}
	return sql.ErrForeignKeyParentViolation.New(k.fk.Name, k.fk.Table, k.fk.ParentTable, "")
}

// mostCascades is how deep changes may follow each other (InnoDB's FK_MAX_CASCADE_DEL).
const mostCascades = 15

// cascade changes the rows that referred to a row that is gone (will is nil) or has become another one.
func (w *changer) cascade(fks *foreignKeys, was, will datums, depth int) error {
	for _, k := range fks.referred {
		if will != nil && k.same(was, will) {
			continue
		}
		action := k.onDelete
		if will != nil {
			action = k.onUpdate
		}
		if !changesChildren(action) || k.restrictsItself(will) {
			continue
		}
		key, ok, err := k.key(was)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		rows, err := w.lookUp(k, key, 0)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			continue
		}
		if depth >= mostCascades {
			return sql.ErrForeignKeyParentViolation.New(k.fk.Name, k.fk.Table, k.fk.ParentTable, "")
		}
		for _, child := range rows {
			if err := interrupted(w.ctx); err != nil {
				return err
			}
			if err := w.follow(k, action, child, will, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow changes one row that referred to another.
func (w *changer) follow(k *foreignKey, action string, child, parent datums, depth int) error {
	fks, err := w.keysOf(k.t.l)
	if err != nil {
		return err
	}
	e := w.editorOf(k.t)
	cascades := sql.ForeignKeyReferentialAction(action) == sql.ForeignKeyReferentialAction_Cascade
	if cascades && parent == nil {
		if err := w.release(fks, child, nil); err != nil {
			return err
		}
		if err := e.remove(child); err != nil {
			return err
		}
		return w.cascade(fks, child, nil, depth)
	}
	next := slices.Clone(child)
	for i, at := range k.to {
		if next[at] = (rowcodec.Datum{}); cascades {
			next[at] = parent[k.from[i]]
		}
	}
	if err := e.fillVirtual(w.ctx, next); err != nil {
		return err
	}
	if err := w.release(fks, child, next); err != nil {
		return err
	}
	if err := e.replace(w.ctx, child, next); err != nil {
		return err
	}
	return w.cascade(fks, child, next, depth)
}

// keysOf are the foreign keys of a table that a change has led to.
func (w *changer) keysOf(l *layout) (*foreignKeys, error) {
	if k := w.keys[l.desc.ID]; k != nil {
		return k, nil
	}
	k, err := w.s.foreignKeysOf(w.ctx, w.s.e, l, nil)
	if err == nil {
		w.keys[l.desc.ID] = k
	}
	return k, err
}

// editorOf changes rows of a table that a change has led to.
func (w *changer) editorOf(t *table) *editor {
	for _, e := range w.s.stmt.editors {
		if e.t.l == t.l {
			return e
		}
	}
	return t.editor(w.ctx)
}

// attempted makes one row's change, and takes it back if it fails and the statement goes on without it.
func (w *changer) attempted(fks *foreignKeys, tx *tx, change func() error) error {
	if !w.c.Ignore || len(fks.referred) == 0 {
		return change()
	}
	mark := tx.attempt().Savepoint()
	defer func() { tx.attempt().Forget(mark) }()
	err := change()
	if err != nil && tx.retry == nil {
		tx.attempt().RollbackTo(mark)
	}
	return err
}

// again reports whether what the triggers of a table do to others may change rows of the table itself.
func (t *changedTable) again() bool {
	return !t.events.none() && slices.ContainsFunc(t.keys.own, func(k *foreignKey) bool {
		return changesChildren(k.onDelete) || changesChildren(k.onUpdate)
	})
}

// current is a row as it is now, where changes of others may have changed it; nil: it is gone, and
// was to be deleted; one that was to be updated is error 1032.
func (w *changer) current(t *changedTable, was datums) (datums, error) {
	if !w.again && !t.again() {
		return was, nil
	}
	if err := w.s.stmt.flushTable(w.ctx, t.l.desc.ID); err != nil {
		return nil, err
	}
	key, err := t.l.primaryKey(was)
	if err != nil {
		return nil, err
	}
	v, err := t.e.tx.get(w.ctx, key)
	if err == nil && len(v) == 0 && !w.c.Delete {
		err = expr.Errorf(1032, "HY000", "Can't find record in '%s'", t.Alias)
	}
	if err != nil || len(v) == 0 {
		return nil, err
	}
	return t.l.decodeRow(key, v)
}
