package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// datesBesideColumn makes literal numbers that a DATE column is compared with dates, and warns, as MySQL does before it reads a row, of
// literals that a column of dates or times could not hold.
func (b *binder) datesBesideColumn(name string, args []expr.Node) {
	between, list := name == "between" || name == "not between", (name == "in" || name == "not in") && len(args) > 2
	switch name {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "between", "not between", "in", "not in", "nullif":
	default:
		return
	}
	column, _ := args[0].(*rel.Col)
	if column == nil && len(args) == 2 && name != "nullif" {
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
		l, ok := b.writtenNumber(a)
		if !ok || list || l.V.IsNull() || !l.T.IsNumber() && (column.T.Name != expr.TimeType || !l.T.IsString() || between) {
			continue
		}
		if l.T.IsNumber() && b.isNaught(l.V) {
			continue
		}
		v, err := b.stored(l, column)
		if e, is := err.(*expr.Error); is && e.Code == 1292 {
			b.warn(1292, "%s", e.Message)
			continue
		}
		if err == nil && column.T.Name == expr.DateType && v.Kind() == expr.KindDate {
			args[i] = &expr.Lit{V: v, T: expr.TDate}
		}
	}
}

// writtenNumber is a literal, or the negative of one, as a literal.
func (b *binder) writtenNumber(n expr.Node) (*expr.Lit, bool) {
	n = withoutOnce(n)
	if c, ok := n.(*expr.Call); ok && c.Name == "neg" {
		if l, ok := c.Args[0].(*expr.Lit); ok && !l.V.IsNull() {
			if v, err := c.Eval(b.set.Env); err == nil {
				return &expr.Lit{V: v, T: c.T}, true
			}
		}
	}
	l, ok := n.(*expr.Lit)
	return l, ok
}

// isNaught reports whether a number is 0 as a whole number.
func (b *binder) isNaught(v expr.Value) bool {
	quiet := *b.set.Env
	quiet.Warn = nil
	n, _, err := expr.ToInt(&quiet, v)
	return err == nil && n == 0
}

// stored is what a literal is as a value of a column; an error if it is none.
func (b *binder) stored(l *expr.Lit, column *rel.Col) (expr.Value, error) {
	strict := *b.set.Env
	strict.Change, strict.Ignore, strict.Mode, strict.Warn = true, false, strict.Mode|expr.StrictTables, nil
	return expr.Assign(&strict, l.V, &expr.Target{Type: column.T, Name: b.meta.Columns[column.ID].Name, Row: 1})
}
