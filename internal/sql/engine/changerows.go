package engine

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// changer changes the rows that a statement finds, one after the other:
//
//	C1  A row is changed at most once, and what is found does not depend on what the statement has changed: unless the plan cannot meet
//	    what it writes, all rows are found before the first is changed.
//	C2  A value is stored after expr.Assign alone (XA1). What was not assigned stays as it is kept.
//	C3  What goes wrong ends the statement; with IGNORE it is a warning, and nothing of the row is changed.
type changer struct {
	ctx     *sql.Context
	s       *Session
	c       *rel.Change
	env     *expr.Env
	run     *exec.Execution
	regs    []expr.Value
	targets []*changedTable
	order   []int // in which they are changed

	matched, changed int
	row              int // of the statement, from 1
	// nullFails: a NULL for a column that takes none is an error outside strict mode too.
	nullFails bool
	keys      map[uint64]*foreignKeys // by table
	again     bool                    // foreignKeys.again, of one of the targets
}

// changedTwice is what has become of the rows of a table, by the keys that they had.
type changedTwice struct {
	now  map[string]datums
	gone map[string]bool
}

// changedTable is a table of the statement.
type changedTable struct {
	*rel.Target
	l      *layout
	q      *queryLayout
	e      *editor
	needs  []int                   // places of the columns that are read of New before they are assigned
	types  map[int]*expr.Target    // by place: those that are assigned
	seen   map[string]bool         // rows that were changed, by their keys; nil: none comes twice
	twice  *changedTwice           // nil: the statement changes the table under this name alone
	atOnce bool                    // what is assigned is read by the assignments behind it
	shown  map[string][]expr.Value // with atOnce: what was assigned, by the keys of the rows
	keys   *foreignKeys
	events rowEvents // the triggers that the statement fires for the table's rows
	later  bool      // BEFORE triggers may replace a NULL that a column does not take
}

func newChanger(ctx *sql.Context, s *Session, c *rel.Change, env *expr.Env, run *exec.Execution, keys map[uint64]*foreignKeys) (*changer, error) {
	s.stmt.ignores = c.Ignore
	w := &changer{ctx: ctx, s: s, c: c, env: env, run: run, regs: run.Registers(), keys: keys}
	for _, t := range c.Targets {
		d := newChangedTable(t, t.Table.(*queryTable).t.editor(ctx))
		if d.e.err != nil {
			return nil, d.e.err
		}
		event := "UPDATE"
		if c.Delete {
			event = "DELETE"
		}
		var err error
		if d.events, err = w.triggers(d, event); err != nil {
			return nil, err
		}
		if d.later = len(d.events.before) > 0; !d.events.none() {
			d.readAll()
		}
		if d.keys = w.keys[d.l.desc.ID]; d.keys.again {
			w.c.Apart, w.again = false, true // rows are found before any is changed
		}
		if c.Several {
			d.seen = map[string]bool{}
		}
		w.targets = append(w.targets, d)
	}
	w.order = make([]int, len(w.targets))
	for n := range w.order {
		w.order[n] = n
	}
	if c.Several {
		w.share()
		w.findFirst()
	}
	if !c.Delete { // the others see what it becomes
		slices.SortStableFunc(w.order, func(a, b int) int { return cmp.Compare(rank(w.targets[a].atOnce), rank(w.targets[b].atOnce)) })
	}
	if c.Delete { // rows that refer to others go before those
		slices.SortStableFunc(w.order, func(a, b int) int {
			switch x, y := w.targets[a], w.targets[b]; {
			case x.refersTo(y) && !y.refersTo(x):
				return -1
			case y.refersTo(x) && !x.refersTo(y):
				return 1
			}
			return 0
		})
	}
	return w, nil
}

// refersTo reports whether a table has a foreign key to another one.
func (t *changedTable) refersTo(o *changedTable) bool {
	return slices.ContainsFunc(t.keys.own, func(k *foreignKey) bool { return k.t != nil && k.t.l.desc.ID == o.l.desc.ID })
}

// share has the tables that are changed under several names know what becomes of their rows. Rows are written at once then: what waited
// under one name would be written after the change under the other.
func (w *changer) share() {
	for i, t := range w.targets {
		for _, o := range w.targets[:i] {
			if o.l.desc.ID == t.l.desc.ID {
				if o.twice == nil {
					o.twice = &changedTwice{now: map[string]datums{}, gone: map[string]bool{}}
				}
				t.twice, w.s.stmt.deferred = o.twice, false
				break
			}
		}
	}
}

// findFirst finds the table whose assignments see those before them, as in MySQL, which changes the first table that it reads at
// once, and the
// others when all rows have been found: unless the statement reads the table elsewhere too, or finds rows by what it assigns.
func (w *changer) findFirst() {
	n := w.c.Query.Root
	for kids := n.Children(); len(kids) > 0; kids = n.Children() {
		n = kids[0]
	}
	s, ok := n.(*rel.Scan)
	if !ok {
		return
	}
	for _, t := range w.targets {
		if slices.Contains(s.Cols, t.Row) && t.Once {
			t.atOnce = !w.moves(t, s)
		}
	}
}

func newChangedTable(t *rel.Target, e *editor) *changedTable {
	q := t.Table.(*queryTable)
	d := &changedTable{Target: t, l: q.t.l, q: q.q, e: e, types: map[int]*expr.Target{}}
	d.plan()
	return d
}

// plan finds out which columns are read and assigned.
func (t *changedTable) plan() {
	reads := rel.Cols{}
	for _, list := range [][]rel.Assignment{t.Sets, t.OnUpdate, t.Generated, t.Virtual} {
		for _, a := range list {
			if a.Value != nil {
				rel.CollectCols(reads, a.Value)
			}
		}
	}
	for _, k := range t.Checks {
		rel.CollectCols(reads, k.Cond)
	}
	for at, id := range t.New {
		if reads[id] && t.kept(at) {
			t.needs = append(t.needs, at)
		}
	}
}

// kept reports whether rows hold the column: it is no virtual one, or an index has it.
func (t *changedTable) kept(at int) bool { return t.l.stored[at] && !isPart(&t.l.desc.Columns[at]) }

// readAll has all columns read of a row.
func (t *changedTable) readAll() {
	t.needs = nil
	for at := range t.New {
		if t.kept(at) {
			t.needs = append(t.needs, at)
		}
	}
}

// changeAll changes all rows that the query finds.
func (w *changer) changeAll() error {
	width := len(w.c.Query.Out)
	if !w.streams() {
		return w.changeKept(width)
	}
	row := make([]expr.Value, width)
	for {
		if err := interrupted(w.ctx); err != nil {
			return err
		}
		ok, err := w.run.Next(row)
		if err != nil || !ok {
			return err
		}
		if err := w.changeOne(w.targets[0], row[0]); err != nil {
			return err
		}
	}
}

// streams reports whether rows may be changed while others are still to be found: what is read does not meet what is written.
func (w *changer) streams() bool {
	if !w.c.Apart || w.c.Several {
		return false
	}
	n := w.c.Query.Root
	for {
		if s, ok := n.(*rel.Scan); ok {
			return !w.moves(w.targets[0], s)
		}
		kids := n.Children()
		if len(kids) != 1 {
			return false
		}
		n = kids[0]
	}
}

// moves reports whether a row may be given another place in the index that is read.
func (w *changer) moves(t *changedTable, s *rel.Scan) bool {
	x := t.l.primary
	if s.Access != nil {
		x = s.Access.Index.(*queryIndex).x
	}
	for _, parts := range [][]part{x.parts, x.suffix} {
		for _, p := range parts {
			if p.at >= len(t.New) { // the row id
				continue
			}
			if !w.c.Delete && isPart(&t.l.desc.Columns[p.at]) { // whatever its expression reads
				return true
			}
			for _, list := range [][]rel.Assignment{t.Sets, t.OnUpdate, t.Generated} {
				if slices.ContainsFunc(list, func(a rel.Assignment) bool { return a.Place == p.at }) {
					return true
				}
			}
		}
	}
	return false
}

// changeKept changes the rows when all have been found (C1).
func (w *changer) changeKept(width int) error {
	rows, err := w.keep(width)
	if err != nil {
		return err
	}
	for _, n := range w.order { // one table after the other
		t := w.targets[n]
		for _, row := range rows {
			if err := interrupted(w.ctx); err != nil {
				return err
			}
			w.run.Fill(w.c.Query.Out, row)
			if err := w.changeOne(t, row[n]); err != nil {
				return err
			}
			if t.atOnce && len(w.targets) > 1 {
				if err := w.show(t, row, row[n]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// show puts what has been assigned to the table that is changed at once into a row that was found, where the assignments of other tables
// read it.
func (w *changer) show(t *changedTable, row []expr.Value, kept expr.Value) error {
	if kept.IsNull() {
		return nil
	}
	k, err := t.l.primaryKey(kept.Raw().(datums))
	if err != nil {
		return err
	}
	if t.shown == nil {
		t.shown = map[string][]expr.Value{}
	}
	values := t.shown[string(k)]
	if values == nil {
		for _, a := range t.Sets {
			values = append(values, w.regs[t.Cols[a.Place]])
		}
		t.shown[string(k)] = values
	}
	for i, o := range w.c.Query.Out {
		for n, a := range t.Sets {
			if o.Col == t.Cols[a.Place] {
				row[i] = values[n]
			}
		}
	}
	return nil
}

// keep reads all that the query gives.
func (w *changer) keep(width int) (rows [][]expr.Value, err error) {
	for {
		if err := interrupted(w.ctx); err != nil {
			return nil, err
		}
		row := make([]expr.Value, width)
		ok, err := w.run.Next(row)
		if err != nil || !ok {
			return rows, err
		}
		if err := w.run.Keep(row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

// changeOne changes one row that was found of a table.
func (w *changer) changeOne(t *changedTable, row expr.Value) error {
	if row.IsNull() { // an outer join has found none
		return nil
	}
	was := row.Raw().(datums)
	key := ""
	if t.seen != nil {
		k, err := t.l.primaryKey(was)
		if err != nil {
			return err
		}
		if key = string(k); t.seen[key] || t.twice != nil && t.twice.gone[key] {
			return nil
		}
		t.seen[key] = true
		if t.twice != nil && t.twice.now[key] != nil {
			was = t.twice.now[key]
		}
	}
	was, err := w.current(t, was)
	if err != nil || was == nil {
		return err
	}
	w.row++
	will := was
	if w.c.Delete {
		err = w.deleteRow(t, was)
	} else {
		w.matched++
		will, err = w.updateRow(t, was)
	}
	if err = strictly(w.env, err); err != nil {
		if !w.c.Ignore {
			return w.earlierRow(t, err)
		}
		return w.ignored(err)
	}
	if t.twice != nil {
		if t.twice.now[key] = will; w.c.Delete {
			t.twice.gone[key] = true
		}
	}
	return nil
}

// earlierRow is the error of a row before whose new key is taken, or else that of the present row: keys are looked up for many rows together.
func (w *changer) earlierRow(t *changedTable, err error) error {
	if !w.s.stmt.deferred || t.e.tx.retry != nil {
		return err
	}
	if first := t.e.flush(w.ctx); first != nil {
		return first
	}
	return err
}

func (w *changer) deleteRow(t *changedTable, was datums) error {
	if err := t.e.tx.alive(); err != nil {
		return err
	}
	var old []expr.Value
	if !t.events.none() {
		var err error
		if old, err = w.rowValues(t, was); err != nil {
			return err
		}
	}
	if err := w.fireDeleted(t.events.before, old); err != nil {
		return err
	}
	err := w.attempted(t.keys, t.e.tx, func() error {
		if err := w.release(t.keys, was, nil); err != nil {
			return err
		}
		if err := t.e.remove(was); err != nil {
			return err
		}
		return w.cascade(t.keys, was, nil, 0)
	})
	if err != nil {
		return err
	}
	w.changed++
	return w.fireDeleted(t.events.after, old)
}

// updateRow makes the assignments of one row, and stores it if it has become another one. It returns the row as it is then.
func (w *changer) updateRow(t *changedTable, was datums) (datums, error) {
	will, err := w.assigned(t, was)
	if err != nil {
		return nil, err
	}
	other, err := t.other(w.ctx, was, will, t.Sets)
	if err != nil || !other && t.events.none() {
		return was, err
	}
	if other {
		for _, a := range t.OnUpdate {
			if err := w.set(t, will, a); err != nil {
				return nil, err
			}
		}
	}
	if t.events.none() {
		return w.stored(t, was, will)
	}
	for _, a := range t.Generated {
		if err := w.set(t, will, a); err != nil {
			return nil, err
		}
	}
	old, err := w.rowValues(t, was)
	if err != nil {
		return nil, err
	}
	if err := w.fire(t, t.events.before, old, will); err != nil {
		return nil, err
	}
	if was, err = w.changedBelow(t, was, will); err != nil {
		return nil, err
	}
	if err := w.noNulls(t, will); err != nil {
		return nil, err
	}
	if !t.same(was, will) {
		if will, err = w.stored(t, was, will); err != nil {
			return nil, err
		}
	}
	return will, w.fire(t, t.events.after, old, will)
}

// changedBelow is a row as triggers have left it, whose statements may change it by a cascade. Columns that the statement does not change keep
// what they have now.
func (w *changer) changedBelow(t *changedTable, was, will datums) (datums, error) {
	if !t.again() {
		return was, nil
	}
	now, err := w.current(t, was)
	if err != nil || now == nil {
		return was, err
	}
	for at := range t.New {
		if !t.kept(at) || rowcodec.Equal(now[at], was[at]) || !rowcodec.Equal(will[at], was[at]) {
			continue
		}
		if will[at] = now[at]; !slices.Contains(t.needs, at) {
			continue
		}
		if w.regs[t.New[at]], err = t.value(now, at); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// stored stores a row in the place of another one.
func (w *changer) stored(t *changedTable, was, will datums) (datums, error) {
	if err := w.generate(t, will); err != nil {
		return nil, err
	}
	if err := t.e.tx.alive(); err != nil {
		return nil, err
	}
	if err := w.hasParents(t, was, will); err != nil {
		return nil, err
	}
	err := w.attempted(t.keys, t.e.tx, func() error {
		if err := w.release(t.keys, was, will); err != nil {
			return err
		}
		if err := t.e.replace(w.ctx, was, will); err != nil {
			return err
		}
		return w.cascade(t.keys, was, will, 0)
	})
	if err != nil {
		return nil, err
	}
	if at := t.l.autoInc; at >= 0 && !rowcodec.Equal(was[at], will[at]) {
		if err := w.pass(t, will[at]); err != nil {
			return nil, err
		}
	}
	w.changed++
	return will, nil
}

// pass has the counter of AUTO_INCREMENT values go on behind a value that a row was given.
func (w *changer) pass(t *changedTable, d rowcodec.Datum) (err error) {
	switch {
	case d.Kind == rowcodec.Int && d.I > 0:
		_, err = t.e.t.GetNextAutoIncrementValue(w.ctx, uint64(d.I))
	case d.Kind == rowcodec.Uint && d.U > 0:
		_, err = t.e.t.GetNextAutoIncrementValue(w.ctx, d.U)
	}
	return err
}

// ignored makes a warning of an error about one row, where IGNORE does so.
func (w *changer) ignored(err error) error {
	var code int
	var message string
	var own *expr.Error
	var client *mysql.SQLError
	switch {
	case errors.As(err, &own):
		code, message = int(own.Code), own.Message
	case errors.As(err, &client):
		code, message = client.Num, client.Message
	case sql.ErrForeignKeyChildViolation.Is(err):
		code, message = 1452, text(err, w.s.transaction())
	case sql.ErrForeignKeyParentViolation.Is(err):
		code, message = 1451, text(err, w.s.transaction())
	default:
		text, ok := uniqueKeyText(err)
		if !ok {
			return err
		}
		code, message = 1062, text
	}
	if !ignorable[code] {
		return err
	}
	w.s.Warn(&sql.Warning{Level: "Warning", Code: code, Message: message})
	return nil
}

// ignorable are the errors that IGNORE makes warnings of (manual, The Effect of IGNORE on Statement Execution).
var ignorable = map[int]bool{1022: true, 1048: true, 1062: true, 1242: true, 1264: true, 1265: true, 1292: true, 1366: true, 1369: true, 1451: true,
	1452: true, 1526: true, 1586: true, 1591: true, 1748: true, 3819: true}

// complete looks up what the end of the statement decides: keys that rows were moved to.
func (w *changer) complete() error {
	if err := w.s.stmt.checkParents(w.ctx); err != nil {
		return err
	}
	for _, e := range w.s.stmt.editors { // those of rows that foreign keys have led to as well
		if err := e.flush(w.ctx); err != nil {
			return err
		}
	}
	return nil
}
