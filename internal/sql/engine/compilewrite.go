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

// maxCells bounds the rows of an INSERT times the columns of its table: what a plan takes in memory.
const maxCells = 1024

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
	if len(values.Values)*len(missing) > maxCells {
		return nil
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
	if st.at == c.l.autoInc {
		return st, false // its counter goes on behind the value
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
