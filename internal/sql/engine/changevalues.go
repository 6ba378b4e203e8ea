package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// The values that a changer stores in a row: what SET, defaults and generated columns give (C2).

// assigned is the row with what SET assigns. The registers of the row hold it, too.
func (w *changer) assigned(t *changedTable, was datums) (datums, error) {
	for _, at := range t.needs {
		v, err := t.value(was, at)
		if err != nil {
			return nil, err
		}
		w.regs[t.New[at]] = v
	}
	for _, a := range t.Virtual {
		v, err := w.virtual(t, a)
		if err != nil {
			return nil, err
		}
		w.regs[t.New[a.Place]] = v
	}
	will := append(datums(nil), was...)
	for _, a := range t.Sets {
		if err := w.set(t, will, a); err != nil {
			return nil, err
		}
	}
	return will, nil
}

// value is what a row holds of a column.
func (t *changedTable) value(d datums, at int) (expr.Value, error) {
	if d[at].IsNull() {
		return expr.Null, nil
	}
	return t.q.read[at](d[at])
}

// virtual is the value of a column that is calculated when it is read.
func (w *changer) virtual(t *changedTable, a rel.Assignment) (expr.Value, error) {
	ignore := w.env.Ignore
	w.env.Ignore = true
	defer func() { w.env.Ignore = ignore }()
	v, err := a.Value.Eval(w.env)
	if err != nil {
		return v, err
	}
	return expr.Assign(w.env, v, w.target(t, a.Place))
}

// target is where a value of the row in question goes.
func (w *changer) target(t *changedTable, at int) *expr.Target {
	to := t.types[at]
	if to == nil {
		c := t.l.schema.Schema[at]
		typ, _ := targetType(c.Type)
		to = &expr.Target{Type: declaredType(typ, t.l.desc.Columns[at].Type.Declared), Name: c.Name, Table: t.l.desc.Name}
		t.types[at] = to
	}
	to.Row = w.row
	return to
}

// set makes an assignment.
func (w *changer) set(t *changedTable, will datums, a rel.Assignment) error {
	at, to := a.Place, w.target(t, a.Place)
	if a.Default {
		if err := w.lacksDefault(t, a); err != nil {
			return err
		}
	}
	v, err := w.evaluated(t, a, to)
	if err = strictly(w.env, err); err != nil {
		return err
	}
	if v, err = expr.Assign(w.env, v, to); err != nil {
		return err
	}
	if v.IsNull() && !t.q.columns[at].Nullable && !t.later {
		if code := nullCode(a); code == 1265 && (w.env.Strict() || w.env.Ignore) {
			if err := w.env.StrictOrWarn(1265, "01000", "Data truncated for column '%s' at row %d", to.Name, to.Row); err != nil {
				return err
			}
			v = zeroValue(to.Type)
		} else if w.env.Strict() || !w.env.Ignore && w.nullFails {
			return expr.Errorf(1048, "23000", "Column '%s' cannot be null", to.Name)
		} else {
			w.env.Warning(1048, "Column '%s' cannot be null", to.Name)
			v = zeroValue(to.Type)
		}
	}
	if err := w.env.Failed(); err != nil {
		return err
	}
	w.regs[t.New[at]] = v
	if t.atOnce {
		w.regs[t.Cols[at]] = v
	}
	will[at], err = t.datum(w.ctx, v, at)
	return err
}

// nullCode is what MySQL says of a NULL for a column that takes none: 1048, or 1265 of one that a JSON function gives.
func nullCode(a rel.Assignment) int {
	if a.Value == nil {
		return 1048
	}
	if _, column := a.Value.(*rel.Col); a.Value.Type().Name == expr.JSONType && !column {
		return 1265
	}
	return 1048
}

// generate calculates the generated columns of the row in the registers, and checks it.
func (w *changer) generate(t *changedTable, will datums) error {
	for _, a := range t.Generated {
		if err := w.set(t, will, a); err != nil {
			return err
		}
	}
	return w.check(t)
}

// evaluated is the value of an assignment before its conversion.
func (w *changer) evaluated(t *changedTable, a rel.Assignment, to *expr.Target) (expr.Value, error) {
	if a.Value != nil {
		return a.Value.Eval(w.env)
	}
	if t.l.desc.Columns[a.Place].Nullable {
		return expr.Null, nil
	}
	return expr.ImplicitDefault(to.Type), nil
}

// lacksDefault is error 1364, or the warning, if a column that takes no NULL has no default. An ENUM has its first element.
func (w *changer) lacksDefault(t *changedTable, a rel.Assignment) error {
	c := &t.l.desc.Columns[a.Place]
	if a.Value != nil || c.Nullable || c.AutoIncrement || c.Generated != "" || t.q.columns[a.Place].Type.Name == expr.EnumType {
		return nil
	}
	return w.env.StrictOrWarn(1364, "HY000", "Field '%s' doesn't have a default value", c.Name)
}

// zeroValue is what a column that takes no NULL holds where a NULL is assigned to it: that of an ENUM is none of its elements.
func zeroValue(t expr.Type) expr.Value {
	if t.Name == expr.EnumType {
		return expr.Enum(0, "")
	}
	return expr.ImplicitDefault(t)
}

// datum is a value of a column's type as it is kept.
func (t *changedTable) datum(ctx *sql.Context, v expr.Value, at int) (rowcodec.Datum, error) {
	if v.Kind() == expr.KindJSON { // go-mysql-server writes 1000.0 as 1000
		s, err := expr.ToText(nil, v)
		return rowcodec.Datum{Kind: t.l.columns[at].Kind, B: []byte(s)}, err
	}
	host, err := toHost(v, t.q.columns[at].Type)
	if err != nil {
		return rowcodec.Datum{}, err
	}
	d, err := toDatum(ctx, t.l.columns[at].Kind, host)
	if err == nil && t.l.fixed[at] {
		d.B = withoutPadding(d.B)
	}
	return d, err
}

// other reports whether assignments have made another row: texts by their bytes, other values in the eyes of their columns' types.
func (t *changedTable) other(ctx *sql.Context, was, will datums, sets []rel.Assignment) (bool, error) {
	for _, a := range sets {
		other, err := t.l.otherValue(ctx, a.Place, was[a.Place], will[a.Place])
		if err != nil || other {
			return other, err
		}
	}
	return false, nil
}

// otherValue reports whether two values of a column are different ones.
func (l *layout) otherValue(ctx *sql.Context, at int, was, will rowcodec.Datum) (bool, error) {
	if rowcodec.Equal(was, will) {
		return false, nil
	}
	if was.IsNull() || will.IsNull() || l.columns[at].Kind == rowcodec.Text || l.columns[at].Kind == rowcodec.Bytes {
		return true, nil
	}
	a, err := l.decode[at](was)
	if err != nil {
		return false, err
	}
	b, err := l.decode[at](will)
	if err != nil {
		return false, err
	}
	n, err := l.schema.Schema[at].Type.Compare(ctx, a, b)
	return n != 0, err
}

// check is error 3819 if a CHECK constraint is false of the row in the registers.
func (w *changer) check(t *changedTable) error {
	for _, k := range t.Checks {
		v, err := k.Cond.Eval(w.env)
		if err != nil {
			return err
		}
		is, known, err := expr.Truth(w.env, v)
		if err != nil {
			return err
		}
		if known && !is {
			return expr.Errorf(3819, "HY000", "Check constraint '%s' is violated.", k.Name)
		}
	}
	return nil
}
