package engine

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// updateForm is UPDATE of the row with a primary key.
type updateForm struct {
	target
	where *keyCondition
	sets  []setForm
}

// setForm assigns to one column: a value, or what another column holds plus or minus a whole number.
type setForm struct {
	at      int
	assign  assign
	operand operand
	from    int // -1: only the operand
	minus   bool
}

// locked reads the row that a statement is about to change, and locks it.
func (x *execution) locked(sc *sql.Context, l *layout, where *keyCondition, given []literal) (key kv.Key, row datums, err error) {
	ks, ok := where.find(sc, given)
	if !ok {
		return nil, nil, errOrdinary
	}
	lock := txn.Lock{Mode: kv.LockExclusive, Wait: x.s.settings(sc).lockWait}
	values, _, err := x.s.transaction().getLocked(sc, ks, lock)
	if err != nil || len(values[0]) == 0 {
		return ks[0], nil, err
	}
	row, err = l.decodeRow(ks[0], values[0])
	return ks[0], row, err
}

func (f *updateForm) perform(x *execution, sc *sql.Context, given []literal) error {
	values := make([]literal, len(f.sets))
	for i := range f.sets {
		var ok bool
		if values[i], ok = f.sets[i].operand.literal(given); !ok {
			return errOrdinary
		}
	}
	_, was, err := x.locked(sc, f.l, f.where, given)
	if err != nil {
		return err
	}
	matched, changed := 0, 0
	if was != nil {
		matched = 1
		will, err := f.changed(sc, was, values)
		if err != nil {
			return err
		}
		if changed, err = f.write(x, sc, was, will); err != nil {
			return err
		}
	}
	x.s.GetLastQueryInfo().FoundRows.Store(int64(matched))
	r := types.OkResult{RowsAffected: uint64(changed), Info: plan.UpdateInfo{Matched: matched, Updated: changed}}
	if x.c.Capabilities&mysql.CapabilityClientFoundRows > 0 {
		r.RowsAffected = uint64(matched)
	}
	x.counted(r)
	return nil
}

// changed is the row as it will be: assignments see those before them.
func (f *updateForm) changed(sc *sql.Context, was datums, values []literal) (datums, error) {
	will := append(datums(nil), was...)
	for i := range f.sets {
		s := &f.sets[i]
		d, ok := s.value(sc, will, values[i])
		if !ok || d.IsNull() && !f.l.desc.Columns[s.at].Nullable {
			return nil, errOrdinary
		}
		will[s.at] = d
	}
	return will, nil
}

func (s *setForm) value(sc *sql.Context, row datums, v literal) (rowcodec.Datum, bool) {
	if s.from < 0 {
		if s.operand.fixed != nil {
			return *s.operand.fixed, true
		}
		return s.assign(sc, v)
	}
	have := row[s.from]
	if v.kind == nullLiteral || have.IsNull() {
		return rowcodec.Datum{}, v.kind == nullLiteral || v.kind == intLiteral
	}
	n, err := strconv.ParseInt(string(v.text), 10, 64)
	// Of numbers within 62 bits neither sums nor differences overflow.
	if v.kind != intLiteral || err != nil || !within62(n) || !within62(have.I) {
		return rowcodec.Datum{}, false
	}
	if s.minus {
		n = -n
	}
	return s.assign(sc, literal{intLiteral, strconv.AppendInt(nil, have.I+n, 10)})
}

func within62(n int64) bool { return n > math.MinInt64/2 && n < math.MaxInt64/2 }

// write changes the row, if it is another one: texts by their bytes, other values in the eyes of their columns' types.
func (f *updateForm) write(x *execution, sc *sql.Context, was, will datums) (changed int, err error) {
	other := false
	for i := range f.sets {
		at := f.sets[i].at
		if rowcodec.Equal(was[at], will[at]) {
			continue
		}
		if was[at].IsNull() || will[at].IsNull() || f.l.columns[at].Kind == rowcodec.Text || f.l.columns[at].Kind == rowcodec.Bytes {
			other = true
			continue
		}
		a, err := f.l.decode[at](was[at])
		if err != nil {
			return 0, err
		}
		b, err := f.l.decode[at](will[at])
		if err != nil {
			return 0, err
		}
		n, err := f.l.schema.Schema[at].Type.Compare(sc, a, b)
		if err != nil {
			return 0, err
		}
		other = other || n != 0
	}
	if !other {
		return 0, nil
	}
	if len(f.l.indexes) > 0 {
		x.s.stmt.locks = lockPlan{tables: []lockedTable{{strings.ToLower(f.db.Name), strings.ToLower(f.l.desc.Name), txn.Lock{Mode: kv.LockExclusive, Wait: x.s.settings(sc).lockWait}, true}}}
	}
	e := f.table(x.h.e).editor(sc)
	if e.err != nil {
		return 0, e.err
	}
	if err := e.replace(sc, was, will); err != nil {
		return 0, err
	}
	return 1, e.StatementComplete(sc)
}

// deleteForm is DELETE of the row with a primary key.
type deleteForm struct {
	target
	where *keyCondition
}

func (f *deleteForm) perform(x *execution, sc *sql.Context, given []literal) error {
	_, was, err := x.locked(sc, f.l, f.where, given)
	if err != nil {
		return err
	}
	n := uint64(0)
	if was != nil {
		n = 1
		e := f.table(x.h.e).editor(sc)
		if e.err != nil {
			return e.err
		}
		if err := e.remove(was); err != nil {
			return err
		}
	}
	x.counted(types.OkResult{RowsAffected: n})
	return nil
}
