package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// simple reports whether rows of the table can be changed without anything but its indexes being concerned: no CHECK, no
// trigger, no column that follows from others.
func (c *compiler) simple() bool {
	for _, ch := range c.l.desc.Checks {
		if ch.Enforced {
			return false
		}
	}
	for _, t := range c.db.Triggers { // which table a trigger is for stands in its text alone
		if strings.Contains(strings.ToLower(t.Create), strings.ToLower(c.l.desc.Name)) {
			return false
		}
	}
	return !c.l.virtualIndex
}

func (c *compiler) insertion(s *sqlparser.Insert, database string) form {
	values, ok := s.Rows.(*sqlparser.AliasedValues)
	if !ok || !values.As.IsEmpty() || len(values.Columns) > 0 || !onlyInserts(s) || s.With != nil || len(s.Comments) > 0 || len(s.Partitions) > 0 {
		return nil
	}
	if !c.named(s.Table, database) || !c.simple() {
		return nil
	}
	f := &insertForm{target: c.target(), assign: make([]assign, len(c.l.columns))}
	for i := range f.assign {
		f.assign[i] = c.l.assigner(i)
	}
	places := make([]int, 0, len(s.Columns))
	for _, name := range s.Columns {
		at := c.columnNamed(name.String())
		if at < 0 || slices.Contains(places, at) {
			return nil
		}
		places = append(places, at)
	}
	if len(s.Columns) == 0 {
		for i := range c.l.columns {
			places = append(places, i)
		}
	}
	missing := make([]operand, len(c.l.columns))
	for i := range missing {
		if slices.Contains(places, i) {
			continue
		}
		o := c.defaultOf(i)
		if o == nil || !c.settle(o, f.assign[i]) || o.fixed.IsNull() && !c.l.desc.Columns[i].Nullable && i != c.l.autoInc {
			return nil
		}
		missing[i] = *o
	}
	for _, tuple := range values.Values {
		if len(tuple) != len(places) {
			return nil
		}
		row := slices.Clone(missing)
		for i, e := range tuple {
			o, ok := c.operand(e)
			if !ok || !c.settle(&o, f.assign[places[i]]) {
				return nil
			}
			row[places[i]] = o
		}
		f.rows = append(f.rows, row)
	}
	if !c.parents(f) {
		return nil
	}
	return f
}

// parents finds out where the parents of the table's rows are looked up: by a key that is unique, of columns of the same types.
func (c *compiler) parents(f *insertForm) bool {
	for i := range c.l.desc.ForeignKeys {
		fk := &c.l.desc.ForeignKeys[i]
		db := c.schema.snap.Database(fk.ParentDatabase)
		if db == nil {
			return false
		}
		t := c.schema.snap.Table(db.ID, fk.ParentTable)
		if t == nil || t.ID == c.l.desc.ID || t.Keyless() {
			return false
		}
		l, err := c.schema.layout(db, t)
		if err != nil {
			return false
		}
		p := parentForm{fk: constraintOf(*fk), target: target{l: l, db: db}}
		for _, name := range fk.Columns {
			at := c.columnNamed(name)
			if at < 0 {
				return false
			}
			p.from = append(p.from, at)
		}
		if p.x = parentKey(l, fk); p.x == nil {
			return false
		}
		for i, part := range p.x.parts {
			if !l.schema.Schema[part.at].Type.Equals(c.l.schema.Schema[p.from[i]].Type) {
				return false
			}
		}
		f.parents = append(f.parents, p)
	}
	return true
}

// parentKey is the unique index of exactly the columns that a foreign key refers to, in their order.
func parentKey(l *layout, fk *catalog.ForeignKey) *indexLayout {
	for _, x := range append([]*indexLayout{l.primary}, l.indexes...) {
		if !x.isPK && (!x.desc.Unique || x.desc.State != catalog.Public) || x.prefixes != nil || len(x.parts) != len(fk.ParentColumns) {
			continue
		}
		same := true
		for i, p := range x.parts {
			same = same && strings.EqualFold(l.desc.Columns[p.at].Name, fk.ParentColumns[i])
		}
		if same {
			return x
		}
	}
	return nil
}

func (c *compiler) target() target { return target{l: c.l, db: c.db} }

func (c *compiler) update(s *sqlparser.Update, database string) form {
	if len(s.Comments) > 0 || s.Ignore != "" || s.With != nil || len(s.OrderBy) > 0 || s.Limit != nil || len(s.Returning) > 0 || !c.table(s.TableExprs, database) || !c.simple() {
		return nil
	}
	for i := range c.l.desc.Columns {
		if c.l.desc.Columns[i].OnUpdate != "" {
			return nil
		}
	}
	f := &updateForm{target: c.target(), where: c.where(s.Where)}
	if f.where == nil || len(f.where.keys) != 1 {
		return nil
	}
	for _, e := range s.Exprs {
		st, ok := c.assignment(e)
		if !ok {
			return nil
		}
		f.sets = append(f.sets, st)
	}
	return f
}

// assignment reads a = 1, a = b + 1 or a = b - 1.
func (c *compiler) assignment(e *sqlparser.AssignmentExpr) (st setForm, ok bool) {
	st = setForm{at: c.column(e.Name), from: -1}
	if st.at < 0 || c.bound(st.at) {
		return st, false
	}
	st.assign = c.l.assigner(st.at)
	if b, isBinary := e.Expr.(*sqlparser.BinaryExpr); isBinary {
		if st.from = c.column(b.Left); st.from < 0 || !c.wholeNumbers(st.from) || !c.wholeNumbers(st.at) {
			return st, false
		}
		switch b.Operator {
		case sqlparser.PlusStr:
		case sqlparser.MinusStr:
			st.minus = true
		default:
			return st, false
		}
		st.operand, ok = c.operand(b.Right)
		return st, ok
	}
	st.operand, ok = c.operand(e.Expr)
	return st, ok && c.settle(&st.operand, st.assign)
}

// wholeNumbers reports whether a column is of a signed integer type: sums of those are simple.
func (c *compiler) wholeNumbers(at int) bool {
	t := c.l.schema.Schema[at].Type.Type()
	return integers[t.String()].low < 0
}

// bound reports whether more depends on a column than its own row's entries: the primary key, foreign keys in either
// direction.
func (c *compiler) bound(at int) bool {
	for _, p := range c.l.primary.parts {
		if p.at == at {
			return true
		}
	}
	name := c.l.desc.Columns[at].Name
	is := func(n string) bool { return strings.EqualFold(n, name) }
	for _, fk := range c.l.desc.ForeignKeys {
		if slices.ContainsFunc(fk.Columns, is) {
			return true
		}
	}
	for _, fk := range c.schema.snap.References(c.db.Name, c.l.desc.Name) {
		if slices.ContainsFunc(fk.ParentColumns, is) {
			return true
		}
	}
	return false
}

func (c *compiler) deletion(s *sqlparser.Delete, database string) form {
	if len(s.Comments) > 0 || len(s.Targets) > 0 || s.With != nil || len(s.Partitions) > 0 || len(s.OrderBy) > 0 || s.Limit != nil || len(s.Returning) > 0 ||
		!c.table(s.TableExprs, database) || !c.simple() || len(c.schema.snap.References(c.db.Name, c.l.desc.Name)) > 0 {
		return nil
	}
	f := &deleteForm{target: c.target(), where: c.where(s.Where)}
	if f.where == nil || len(f.where.keys) != 1 {
		return nil
	}
	return f
}

// selection reads SELECT of columns of one table by its primary key.
func (c *compiler) selection(s *sqlparser.Select, database string) form {
	o := s.QueryOpts
	if s.Into != nil || s.With != nil || s.Having != nil || s.Lock != nil && s.Lock.Type != "" || len(s.Comments) > 0 || len(s.GroupBy) > 0 || len(s.Window) > 0 ||
		o.Distinct || len(o.DistinctOn) > 0 || o.StraightJoinHint || o.SQLCalcFoundRows || !c.table(s.From, database) {
		return nil
	}
	f := &selectForm{target: c.target(), schema: c.result}
	for _, e := range s.SelectExprs {
		switch e := e.(type) {
		case *sqlparser.StarExpr:
			if !e.TableName.IsEmpty() && !strings.EqualFold(e.TableName.Name.String(), c.alias) || !e.TableName.DbQualifier.IsEmpty() {
				return nil
			}
			for i := range c.l.columns {
				f.columns = append(f.columns, c.l.resultColumn(i))
			}
		case *sqlparser.AliasedExpr:
			at := c.column(e.Expr)
			if at < 0 {
				return nil
			}
			f.columns = append(f.columns, c.l.resultColumn(at))
		default:
			return nil
		}
	}
	if !c.answers(f) {
		return nil
	}
	if f.where = c.where(s.Where); f.where != nil {
		return c.ordered(f, s)
	}
	return c.ranged(f, s)
}

// answers reports whether the result that the ordinary path gave is of the columns that were found.
func (c *compiler) answers(f *selectForm) bool {
	if len(c.result) != len(f.columns) {
		return false
	}
	for i, col := range c.result {
		if !col.Type.Equals(f.columns[i].typ) {
			return false
		}
	}
	return true
}

// ordered reads ORDER BY and LIMIT of a SELECT by the whole key: of one row any order is the same.
func (c *compiler) ordered(f *selectForm, s *sqlparser.Select) form {
	for _, o := range s.OrderBy {
		if len(f.where.keys) > 1 || c.column(o.Expr) < 0 {
			return nil
		}
	}
	if s.Limit != nil && !c.limit(f, s.Limit) {
		return nil
	}
	return f
}

func (c *compiler) limit(f *selectForm, l *sqlparser.Limit) bool {
	o, ok := c.operand(l.Rowcount)
	f.limit = &o
	return ok && l.Offset == nil && !o.negative
}

// ranged reads SELECT ... WHERE key >= 1 ORDER BY key LIMIT 10, for keys of one column.
func (c *compiler) ranged(f *selectForm, s *sqlparser.Select) form {
	if s.Where == nil || s.Where.Type != sqlparser.WhereStr || s.Limit == nil || len(s.OrderBy) != 1 || len(c.l.primary.parts) != 1 {
		return nil
	}
	p := &c.l.primary.parts[0]
	cmp, ok := s.Where.Expr.(*sqlparser.ComparisonExpr)
	if !ok || cmp.Operator != sqlparser.GreaterEqualStr && cmp.Operator != sqlparser.GreaterThanStr || c.column(cmp.Left) != p.at {
		return nil
	}
	if o := s.OrderBy[0]; c.column(o.Expr) != p.at || o.Direction != sqlparser.AscScr {
		return nil
	}
	r := &rangeForm{selectForm: f, beyond: cmp.Operator == sqlparser.GreaterThanStr, assign: c.l.keyOf(p)}
	if r.from, ok = c.operand(cmp.Right); !ok || !c.limit(f, s.Limit) {
		return nil
	}
	return r
}
