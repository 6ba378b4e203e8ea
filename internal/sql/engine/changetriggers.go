package engine

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// Triggers of the tables that a statement changes: BEFORE a row is written, when they may assign to NEW, and AFTER it.

// rowEvents are the triggers of one event.
type rowEvents struct{ before, after []*rowTrigger }

func (e *rowEvents) none() bool { return len(e.before)+len(e.after) == 0 }

// triggers finds the triggers of a table for an event. With some, rows are found before any is changed, and are written one by
// one: what a trigger
// reads includes the rows so far.
func (w *changer) triggers(t *changedTable, event string) (out rowEvents, err error) {
	database := t.e.t.db.name
	if out.before, err = w.s.rowTriggers(w.ctx, database, t.l, "BEFORE", event); err != nil {
		return out, err
	}
	if out.after, err = w.s.rowTriggers(w.ctx, database, t.l, "AFTER", event); err != nil {
		return out, err
	}
	if !out.none() {
		w.s.stmt.deferred, w.s.stmt.atCommit, w.c.Apart = false, false, false
	}
	return out, nil
}

// rowValues are the values of a row that is kept, those of columns that are calculated when they are read included.
func (w *changer) rowValues(t *changedTable, d datums) ([]expr.Value, error) {
	saved := w.registersOf(t)
	defer w.restore(t, saved)
	for at, id := range t.New {
		if !t.kept(at) {
			w.regs[id] = expr.Null
			continue
		}
		v, err := t.value(d, at)
		if err != nil {
			return nil, err
		}
		w.regs[id] = v
	}
	for _, list := range [][]rel.Assignment{t.Virtual, t.Generated} {
		for _, a := range list {
			if t.kept(a.Place) {
				continue
			}
			v, err := w.virtual(t, a)
			if err != nil {
				return nil, err
			}
			w.regs[t.New[a.Place]] = v
		}
		if len(t.Virtual) > 0 {
			break
		}
	}
	return w.registersOf(t), nil
}

// registersOf are the values in the registers of the row.
func (w *changer) registersOf(t *changedTable) []expr.Value {
	out := make([]expr.Value, len(t.New))
	for at, id := range t.New {
		out[at] = w.regs[id]
	}
	return out
}

func (w *changer) restore(t *changedTable, values []expr.Value) {
	for at, id := range t.New {
		w.regs[id] = values[at]
	}
}

// fire executes triggers for the row in the registers; was is the row before, nil if it is new. What they assign to NEW is
// assigned to the row.
func (w *changer) fire(t *changedTable, list []*rowTrigger, was []expr.Value, will datums) error {
	for _, tr := range list {
		values := w.registersOf(t)
		changed, err := tr.fire(w.ctx, was, values)
		if err != nil {
			return err
		}
		for _, at := range changed {
			w.regs[t.New[at]] = values[at]
			if will[at], err = t.datum(w.ctx, values[at], at); err != nil {
				return err
			}
		}
	}
	return nil
}

// fireDeleted executes triggers for a row that is deleted.
func (w *changer) fireDeleted(list []*rowTrigger, was []expr.Value) error {
	for _, tr := range list {
		if _, err := tr.fire(w.ctx, was, nil); err != nil {
			return err
		}
	}
	return nil
}

// noNulls is error 1048 for a NULL that a column does not take and that triggers have left there.
func (w *changer) noNulls(t *changedTable, will datums) error {
	for at := range t.New {
		c := &t.l.desc.Columns[at]
		if c.Nullable || c.AutoIncrement || c.Generated != "" || !will[at].IsNull() {
			continue
		}
		to := w.target(t, at)
		if w.env.Strict() || !w.env.Ignore && w.nullFails {
			return expr.Errorf(1048, "23000", "Column '%s' cannot be null", to.Name)
		}
		w.env.Warning(1048, "Column '%s' cannot be null", to.Name)
		v := zeroValue(to.Type)
		w.regs[t.New[at]] = v
		var err error
		if will[at], err = t.datum(w.ctx, v, at); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether two rows hold the same.
func (t *changedTable) same(a, b datums) bool {
	for at := range t.New {
		if !t.l.virtual[at] && !rowcodec.Equal(a[at], b[at]) {
			return false
		}
	}
	return true
}
