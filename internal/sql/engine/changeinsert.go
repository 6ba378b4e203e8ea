package engine

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// inserter inserts the rows of an INSERT or REPLACE, one after the other.
type inserter struct {
	*changer
	into      *changedTable
	dup       *changedTable // the row that is there, with ON DUPLICATE KEY UPDATE; nil: without
	constants []constant    // by place: what a column holds before anything is assigned
	late      []rel.Assignment
	given     []bool // by place: Rows assign it
	zeroIsID  bool
	removed   rowEvents     // DELETE triggers, of REPLACE
	mark      txn.Savepoint // before the first row
	kept      []datums      // the first rows, where it is left to the commit whether their keys are taken

	rows, inserted, deleted, updated, touched int
	generated                                 uint64 // the first AUTO_INCREMENT value that was generated for a row that is there now
	last                                      uint64 // that of the row that was last inserted or changed
}

// constant is a value and how it is kept.
type constant struct {
	v   expr.Value
	d   rowcodec.Datum
	set bool
}

// insert executes the plan of an INSERT or REPLACE.
func (x *execution) insert(w *changer) (r types.OkResult, err error) {
	i, err := newInserter(w, x.s.settings(w.ctx).zeroIsID)
	if err != nil {
		return r, err
	}
	defer func() { i.into.e.tx.attempt().Forget(i.mark) }()
	if err := i.insertAll(); err != nil {
		return r, err
	}
	if err := i.complete(); err != nil {
		return r, err
	}
	return i.answer(x), nil
}

// answer tells what was done.
func (i *inserter) answer(x *execution) types.OkResult {
	info := x.s.GetLastQueryInfo()
	r := types.OkResult{RowsAffected: uint64(i.inserted + i.deleted)}
	if x.c.Capabilities&mysql.CapabilityClientFoundRows > 0 {
		r.RowsAffected += uint64(i.touched + i.updated) // a row that was changed counts twice
	} else {
		r.RowsAffected += uint64(2 * i.updated)
	}
	switch {
	case i.generated > 0:
		r.InsertID = i.generated
		info.LastInsertId.Store(int64(i.generated))
	case callsLastInsertID(x.ast):
		r.InsertID = uint64(info.LastInsertId.Load())
	case i.inserted > 0 || i.updated > 0 && !i.c.Insert.Queried:
		r.InsertID = i.last
	}
	if i.c.Insert.Listed {
		duplicates := i.deleted + i.updated
		if i.c.Ignore {
			duplicates = i.rows - i.inserted - i.updated
		}
		r.Info = infoOfInsert(i.rows, duplicates, len(x.s.Warnings()))
	}
	return r
}

// insertInfo is the text with which the answer to an INSERT of several rows ends.
type insertInfo string

func infoOfInsert(records, duplicates, warnings int) insertInfo {
	return insertInfo(fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", records, duplicates, warnings))
}

// String implements fmt.Stringer.
func (i insertInfo) String() string { return string(i) }

func newInserter(w *changer, zeroIsID bool) (*inserter, error) {
	ins := w.c.Insert
	e := ins.Into.Table.(*queryTable).t.editor(w.ctx)
	if e.err != nil {
		return nil, e.err
	}
	i := &inserter{changer: w, into: newChangedTable(ins.Into, e), zeroIsID: zeroIsID}
	i.into.keys = w.keys[i.into.l.desc.ID]
	var err error
	if i.into.events, err = w.triggers(i.into, "INSERT"); err != nil {
		return nil, err
	}
	if i.into.later = len(i.into.events.before) > 0; ins.Replace {
		if i.removed, err = w.triggers(i.into, "DELETE"); err != nil {
			return nil, err
		}
	}
	if len(w.targets) > 0 {
		i.dup = w.targets[0]
		i.dup.e = e
	}
	w.nullFails = !ins.Listed
	i.mark = e.tx.attempt().Savepoint()
	w.s.stmt.insertsInto(e.t)
	i.given = make([]bool, len(ins.Into.New))
	for _, row := range ins.Rows[:min(1, len(ins.Rows))] {
		for _, a := range row {
			i.given[a.Place] = true
		}
	}
	return i, i.begin()
}

// begin finds out what columns hold before anything is assigned, and reports those that have to be given a value and are not.
func (i *inserter) begin() error {
	t := i.into
	i.constants = make([]constant, len(t.New))
	i.row = 1
	read := rel.Cols{}
	for _, row := range i.c.Insert.Rows {
		for _, a := range row {
			rel.CollectCols(read, a.Value)
		}
	}
	for _, a := range i.c.Insert.Defaults {
		switch constant := a.Value == nil || expr.IsConst(a.Value); {
		case i.given[a.Place] && (!constant || !read[t.New[a.Place]]):
			continue
		case i.given[a.Place]:
			if err := i.constant(a); err != nil {
				return err
			}
			continue
		}
		if a.Value != nil && !expr.IsConst(a.Value) {
			i.late = append(i.late, a)
		} else if err := i.constant(a); err != nil {
			return err
		}
	}
	for at := range t.New {
		c := &t.l.desc.Columns[at]
		if i.constants[at].set || c.Nullable || c.Generated != "" {
			continue
		}
		i.constants[at].v = expr.ImplicitDefault(i.target(t, at).Type)
	}
	i.row = 0
	return nil
}

// constant finds out the value of a default.
func (i *inserter) constant(a rel.Assignment) (err error) {
	t, at := i.into, a.Place
	k := &i.constants[at]
	k.set = true
	switch {
	case a.Value != nil:
		if k.v, err = a.Value.Eval(i.env); err == nil {
			k.v, err = expr.Assign(i.env, k.v, i.target(t, at))
		}
	case !t.l.desc.Columns[at].Nullable && at != t.l.autoInc && !t.later:
		k.v = expr.ImplicitDefault(i.target(t, at).Type)
	}
	if err == nil {
		k.d, err = t.datum(i.ctx, k.v, at)
	}
	return err
}

// insertAll inserts all rows.
func (i *inserter) insertAll() error {
	if i.c.Apart && i.dup == nil && !i.c.Insert.Replace && len(i.into.keys.own) == 0 {
		row := make([]expr.Value, len(i.c.Query.Out))
		for {
			if err := interrupted(i.ctx); err != nil {
				return err
			}
			ok, err := i.run.Next(row)
			if err != nil {
				i.row++
				return i.earlier(err)
			}
			if !ok {
				return nil
			}
			if err := i.insertRows(); err != nil {
				return err
			}
		}
	}
	rows, err := i.keep(len(i.c.Query.Out))
	if err != nil {
		return err
	}
	for n, row := range rows {
		rows[n] = nil
		if err := interrupted(i.ctx); err != nil {
			return err
		}
		i.run.Fill(i.c.Query.Out, row)
		if err := i.insertRows(); err != nil {
			return err
		}
	}
	return nil
}

// insertRows inserts what is made of one row of the query.
func (i *inserter) insertRows() error {
	for _, list := range i.c.Insert.Rows {
		i.row++
		i.rows++
		err := i.insertRow(list)
		if err = strictly(i.env, err); err != nil {
			if !i.c.Ignore {
				return i.earlier(err)
			}
			if !isDuplicate(err) {
				i.rows-- // MySQL counts it neither as a record nor as a duplicate
			}
			if err := i.ignored(err); err != nil {
				return err
			}
		}
		if i.row&1023 == 0 {
			if err := interrupted(i.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *inserter) insertRow(list []rel.Assignment) error {
	t := i.into
	if err := t.e.tx.alive(); err != nil {
		return err
	}
	will := make(datums, len(t.New)+1)
	for at := range t.New {
		k := &i.constants[at]
		i.regs[t.New[at]], will[at] = k.v, k.d
	}
	for _, a := range list {
		if t.l.desc.Columns[a.Place].Generated != "" {
			continue // DEFAULT
		}
		if a.Place == t.l.autoInc {
			if err := i.setID(will, a); err != nil {
				return err
			}
		} else if err := i.set(t, will, a); err != nil {
			return err
		}
	}
	if i.row == 1 && !t.later {
		if err := i.lacking(nil); err != nil {
			return err
		}
	}
	for _, a := range i.late {
		if err := i.set(t, will, a); err != nil {
			return err
		}
	}
	if t.later {
		if err := i.before(will); err != nil {
			return err
		}
	}
	generated, err := i.identify(will)
	if err != nil {
		return err
	}
	if err := i.generate(t, will); err != nil {
		return err
	}
	if err := i.hasParents(t, nil, will); err != nil {
		return err
	}
	return i.store(will, generated)
}

// lacking reports the columns that have to be given a value and are not.
func (i *inserter) lacking(assigned datums) error {
	for _, a := range i.c.Insert.Defaults {
		if i.given[a.Place] || assigned != nil && !rowcodec.Equal(assigned[a.Place], i.constants[a.Place].d) {
			continue
		}
		if err := i.lacksDefault(i.into, a); err != nil {
			return err
		}
	}
	return nil
}

// before executes BEFORE triggers.
func (i *inserter) before(will datums) error {
	t := i.into
	for _, a := range t.Generated {
		if err := i.set(t, will, a); err != nil {
			return err
		}
	}
	at := t.l.autoInc
	if at >= 0 && will[at].IsNull() { // NEW has 0 there
		i.regs[t.New[at]] = expr.ImplicitDefault(t.q.columns[at].Type)
	}
	if err := i.fire(t, t.events.before, nil, will); err != nil {
		return err
	}
	if err := i.lacking(will); err != nil {
		return err
	}
	return i.noNulls(t, will)
}

// earlier is the error of a row before, which has a key that is taken, or else that of the present row: keys are looked up for many rows
// together, or by the commit.
func (i *inserter) earlier(err error) error {
	e, stmt := i.into.e, i.s.stmt
	if !stmt.deferred || i.row < 2 || e.tx.retry != nil {
		return err
	}
	if stmt.atCommit {
		e.tx.attempt().RollbackTo(i.mark)
		stmt.atCommit = false
		for _, r := range i.kept {
			ws, werr := e.writesOf(r)
			if werr != nil {
				return err
			}
			e.rows = append(e.rows, newRow{ws, r})
		}
	}
	if first := e.flush(i.ctx); first != nil {
		return first
	}
	return err
}

// setID assigns to the AUTO_INCREMENT column. NULL, and DEFAULT, are for identify.
func (i *inserter) setID(will datums, a rel.Assignment) error {
	t, at := i.into, a.Place
	i.regs[t.New[at]], will[at] = expr.Null, rowcodec.Datum{}
	if a.Value == nil {
		return nil
	}
	v, err := a.Value.Eval(i.env)
	if err != nil || v.IsNull() {
		return err
	}
	if v, err = expr.Assign(i.env, v, i.target(t, at)); err != nil {
		return err
	}
	if err := i.env.Failed(); err != nil {
		return err
	}
	i.regs[t.New[at]] = v
	will[at], err = t.datum(i.ctx, v, at)
	return err
}

// identify gives the row its AUTO_INCREMENT value, and its row id.
func (i *inserter) identify(will datums) (generated bool, err error) {
	t := i.into
	if t.l.desc.Keyless() {
		id, err := t.e.t.db.e.ids.rowID(i.ctx, t.l)
		if err != nil {
			return false, err
		}
		will[t.l.rowIDAt()] = rowcodec.Datum{Kind: rowcodec.Uint, U: id}
	}
	at := t.l.autoInc
	if at < 0 {
		return false, nil
	}
	d := &will[at]
	switch {
	case d.IsNull() || d.I == 0 && d.U == 0 && d.F == 0 && !i.zeroIsID:
		v, err := t.e.t.GetNextAutoIncrementValue(i.ctx, nil)
		if err != nil {
			return false, err
		}
		if i.regs[t.New[at]], err = expr.Assign(i.env, expr.Uint(v), i.target(t, at)); err != nil {
			return false, err
		}
		if will[at], err = t.datum(i.ctx, i.regs[t.New[at]], at); err != nil {
			return false, err
		}
		return true, i.env.Failed()
	}
	return false, i.pass(t, *d)
}

// isDuplicate reports whether a row could not be inserted because its key is taken.
func isDuplicate(err error) bool {
	_, is := uniqueKeyText(err)
	return is
}

// store writes the row, and does with those that have one of its keys what the statement says.
func (i *inserter) store(will datums, generated bool) error {
	t := i.into
	stmt := i.s.stmt
	if err := t.e.fill(i.ctx, will); err != nil {
		return err
	}
	if stmt.deferred {
		if stmt.atCommit && len(i.kept) < lookupBatch {
			i.kept = append(i.kept, will)
		}
		if err := t.e.insert(i.ctx, will, generated); err != nil {
			return err
		}
		i.noteInserted(will, generated)
		return nil
	}
	ws, err := t.e.writesOf(will)
	if err != nil {
		return err
	}
	for {
		x, have, err := t.e.holder(i.ctx, ws, will)
		if err != nil {
			return err
		}
		switch {
		case x == nil:
			for _, w := range ws {
				t.e.tx.put(w.key, w.value)
			}
			t.e.t.db.e.stats.wrote(t.l.desc.ID, 1)
			i.noteInserted(will, generated)
			return i.fire(t, t.events.after, nil, will)
		case i.dup != nil:
			return i.update(have)
		case !i.c.Insert.Replace:
			return t.e.duplicate(i.ctx, x, will, nil)
		}
		if done, err := i.replace(x, have, will, generated); err != nil || done {
			return err
		}
	}
}

// update makes the assignments of ON DUPLICATE KEY UPDATE.
func (i *inserter) update(have datums) error {
	before, fails := i.changed, i.nullFails
	i.nullFails = false
	defer func() { i.nullFails = fails }()
	will, err := i.updateRow(i.dup, have)
	if err != nil {
		return err
	}
	i.touched++
	i.updated += i.changed - before
	if i.changed > before {
		i.noteLast(will)
	}
	return nil
}

// replace takes away a row that has one of the new row's keys. done: the new row stands in its place.
func (i *inserter) replace(x *indexLayout, have, will datums, generated bool) (done bool, err error) {
	t := i.into
	if i.lastUnique(x) && i.removed.none() && len(t.keys.referred) == 0 && t.l.content(have) == t.l.content(will) { // the same row again is no change
		i.noteInserted(will, generated)
		return true, i.fire(t, t.events.after, nil, will)
	}
	var old []expr.Value
	if !i.removed.none() {
		if old, err = i.rowValues(t, have); err != nil {
			return false, err
		}
	}
	if err := i.fireDeleted(i.removed.before, old); err != nil {
		return false, err
	}
	fks := t.keys.replaced(have, will)
	if err := i.release(fks, have, nil); err != nil {
		return false, err
	}
	if err := t.e.remove(have); err != nil {
		return false, err
	}
	i.deleted++
	if err := i.cascade(fks, have, nil, 0); err != nil {
		return false, err
	}
	return false, i.fireDeleted(i.removed.after, old)
}

// lastUnique reports whether no unique index comes behind this one.
func (i *inserter) lastUnique(x *indexLayout) bool {
	all := i.into.l.all()
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].desc.Unique || all[n].isPK {
			return all[n] == x
		}
	}
	return false
}

func (i *inserter) noteInserted(will datums, generated bool) {
	i.inserted++
	i.noteLast(will)
	if generated && i.generated == 0 {
		i.generated = i.last
	}
}

func (i *inserter) noteLast(will datums) {
	if at := i.into.l.autoInc; at >= 0 {
		if d := will[at]; i.into.l.columns[at].Kind == rowcodec.Int {
			i.last = uint64(d.I)
		} else {
			i.last = d.U
		}
	}
}

// holder finds the row that has one of the keys of a row that is about to be written, and by which index; nil: there is none. If there are
// several it is that of the first index.
func (e *editor) holder(ctx *sql.Context, ws []write, d datums) (*indexLayout, datums, error) {
	if err := e.flush(ctx); err != nil {
		return nil, nil, err
	}
	found, err := e.taken(ctx, ws)
	if err != nil {
		return nil, nil, err
	}
	for n, w := range ws {
		if w.unique && len(found[n]) > 0 {
			have, err := e.existingRow(ctx, w.x, d, found[n])
			return w.x, have, err
		}
	}
	return nil, nil, nil
}
