package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// datesBesideColumn makes literal numbers that a DATE column is compared with dates, and warns, as MySQL does before it reads a row, of literals
// that a column of dates or times could not hold.
func (b *binder) datesBesideColumn(name string, args []expr.Node) {
	between, list := name == "between" || name == "not between", name == "in" || name == "not in"
	switch name {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "not between", "in", "not in":
	default:
		return
	}
	column, _ := args[0].(*rel.Col)
	if column == nil && len(args) == 2 && !list {
		column, _ = args[1].(*rel.Col)
	}
	if column == nil || b.set.Env == nil {
		return
	}
	if column.T.Name == expr.YearType && !list { // dates that are constant count by their years: package expr looks for literals
		for i, a := range args {
			if !a.Type().HasDate() || !expr.IsConst(a) {
				continue
			}
			if v, err := a.Eval(b.set.Env); err == nil && !v.IsNull() {
				args[i] = &expr.Lit{V: v, T: a.Type()}
			}
		}
		return
	}
	if !column.T.IsTemporal() {
		return
	}
	for i, a := range args {
		l, ok := a.(*expr.Lit)
		if !ok || l.V.IsNull() || !l.T.IsNumber() && (column.T.Name != expr.TimeType || !l.T.IsString() || list || between) {
			continue
		}
		if l.T.IsInteger() && l.V.RawInt() == 0 {
			continue
		}
		v, err := b.stored(l, column)
		if e, is := err.(*expr.Error); is && e.Code == 1292 {
			b.warn(1292, "%s", e.Message)
			continue
		}
		if err == nil && column.T.Name == expr.DateType && !list && v.Kind() == expr.KindDate {
			args[i] = &expr.Lit{V: v, T: expr.TDate}
		}
	}
}

// stored is what a literal is as a value of a column; an error if it is none.
func (b *binder) stored(l *expr.Lit, column *rel.Col) (expr.Value, error) {
	strict := *b.set.Env
	strict.Change, strict.Ignore, strict.Mode, strict.Warn = true, false, strict.Mode|expr.StrictTables, nil
	return expr.Assign(&strict, l.V, &expr.Target{Type: column.T, Name: b.meta.Columns[column.ID].Name, Row: 1})
}
