package bind

import (
	"slices"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// UPDATE and DELETE. The tables, WHERE, ORDER BY and LIMIT are those of a query; what is to be stored reads the registers of the
// row that is
// being changed (rel.Target.New), where the statement names one table, and the rows that the query found where it may name several.

// IgnoreMark is the comment that stands for IGNORE in a DELETE, where the grammar has none.
const IgnoreMark = "/*longitude ignore*/"

// readTable is a table of the catalog that the statement reads.
type readTable struct {
	table rel.Table
	given rel.Table // the same, perhaps with its rows
	alias string
	depth int  // how many queries are around it
	kept  bool // a derived table whose rows are read before anything is changed is around it
}

// BindChange makes a plan of an UPDATE or a DELETE. An error is MySQL's (*expr.Error) or wraps ErrUnsupported.
func BindChange(h ChangeHost, stmt sqlparser.Statement) (*rel.Change, error) {
	b := &binder{h: h, set: h.Settings(), meta: &rel.Metadata{}, database: h.Database()}
	c := &changed{b: b, h: h, s: newScope(nil), out: &rel.Change{Query: &rel.Query{Meta: b.meta}}}
	var err error
	switch stmt := stmt.(type) {
	case *sqlparser.Update:
		err = c.update(stmt)
	case *sqlparser.Delete:
		err = c.delete(stmt)
	case *sqlparser.Insert:
		err = c.insert(stmt)
	default:
		err = unsupported("%T", stmt)
	}
	if err != nil {
		return nil, err
	}
	for _, check := range b.checks {
		if err := check(); err != nil {
			return nil, err
		}
	}
	c.apart()
	f := &finisher{shared: map[*rel.Shared]bool{}}
	f.node(c.out.Query.Root)
	c.out.EachExpr(func(slot *expr.Node) { f.expression(*slot, rel.Cols{}) })
	return c.out, nil
}

// changed is the statement that is being bound.
type changed struct {
	b   *binder
	h   ChangeHost
	s   *scope // of the tables that the statement names
	out *rel.Change
}

// ignores notes whether the statement says IGNORE. What constants warn of is no error then.
func (c *changed) ignores(is bool) {
	if c.out.Ignore = is; c.b.set.Env != nil {
		c.b.set.Env.Ignore = is
	}
}

// tables binds what the statement names behind UPDATE or FROM.
func (c *changed) tables(with *sqlparser.With, from sqlparser.TableExprs, rest ...sqlparser.SQLNode) (err error) {
	if with != nil {
		if err := c.b.with(with, asQuery(from, rest), nil); err != nil {
			return err
		}
	}
	c.s.sel = &sqlparser.Select{From: from}
	c.s.clause = fromClause
	c.b.rows = true
	c.s.from, err = c.b.fromClause(from, c.s)
	c.b.rows = false
	c.out.Query.Root = c.s.from.plan
	return err
}

// asQuery is a query that names all that a statement names, for counting.
func asQuery(from sqlparser.TableExprs, rest []sqlparser.SQLNode) *sqlparser.Select {
	out := &sqlparser.Select{From: from}
	for _, n := range rest {
		switch n := n.(type) {
		case *sqlparser.Where:
			if n != nil {
				out.SelectExprs = append(out.SelectExprs, &sqlparser.AliasedExpr{Expr: n.Expr})
			}
		case sqlparser.AssignmentExprs:
			for _, a := range n {
				out.SelectExprs = append(out.SelectExprs, &sqlparser.AliasedExpr{Expr: a.Expr})
			}
		case sqlparser.OrderBy:
			for _, o := range n {
				out.SelectExprs = append(out.SelectExprs, &sqlparser.AliasedExpr{Expr: o.Expr})
			}
		}
	}
	return out
}

// conditions adds WHERE, and ON, to the query that finds the rows.
func (c *changed) conditions(where *sqlparser.Where) error {
	if where != nil {
		c.s.clause = whereClause
		conds, err := c.b.conditions(where.Expr, c.s, nil)
		if err != nil {
			return err
		}
		c.out.Query.Root = &rel.Filter{Child: c.out.Query.Root, Conds: conds}
		c.constants(conds)
	}
	if err := c.b.bindOns(c.s); err != nil {
		return err
	}
	for _, on := range c.s.ons {
		c.constants(on.join.On)
	}
	return nil
}

// constants notes the conditions that read no row. They are what is evaluated of each: an expression stands in one place.
func (c *changed) constants(conds []expr.Node) {
	for i, n := range conds {
		if o, ok := n.(*once); ok {
			c.out.Constants = append(c.out.Constants, o)
		} else if expr.IsConst(n) {
			k := &once{node: n}
			conds[i] = k
			c.out.Constants = append(c.out.Constants, k)
		}
	}
}

// ordered adds ORDER BY and LIMIT to it.
func (c *changed) ordered(order sqlparser.OrderBy, limit *sqlparser.Limit) error {
	keys, _, err := c.b.orderBy(order, c.s)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		c.out.Query.Root = &rel.Sort{Child: c.out.Query.Root, Keys: keys}
	}
	l, err := c.b.limit(limit, c.s)
	if l != nil {
		l.Child = c.out.Query.Root
		c.out.Query.Root = l
	}
	return err
}

// single reports whether a statement is of the form that names one table.
func single(from sqlparser.TableExprs) bool {
	if len(from) != 1 {
		return false
	}
	t, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return false
	}
	_, ok = t.Expr.(sqlparser.TableName)
	return ok
}

func (c *changed) update(stmt *sqlparser.Update) error {
	if len(stmt.Returning) > 0 {
		return unsupported("RETURNING")
	}
	c.ignores(stmt.Ignore != "")
	c.out.Several = !single(stmt.TableExprs)
	if err := c.tables(stmt.With, stmt.TableExprs, stmt.Exprs, stmt.Where, stmt.OrderBy); err != nil {
		return err
	}
	switch {
	case c.out.Several && len(stmt.OrderBy) > 0:
		return expr.Errorf(1221, "HY000", "Incorrect usage of UPDATE and ORDER BY")
	case c.out.Several && stmt.Limit != nil:
		return expr.Errorf(1221, "HY000", "Incorrect usage of UPDATE and LIMIT")
	}
	if err := c.conditions(stmt.Where); err != nil {
		return err
	}
	if err := c.assignments(stmt.Exprs); err != nil {
		return err
	}
	if err := c.ordered(stmt.OrderBy, stmt.Limit); err != nil {
		return err
	}
	c.b.warnOfValues()
	if err := c.notRead(); err != nil {
		return err
	}
	for _, t := range c.out.Targets {
		if err := c.rules(t); err != nil {
			return err
		}
	}
	return nil
}

// apart finds out whether the table of the only target is read in one place.
func (c *changed) apart() {
	for _, t := range c.out.Targets {
		n := 0
		for _, r := range c.b.reads {
			if sameTable(r.table, t.Table) {
				n++
			}
		}
		t.Once = n == 1
	}
	var target rel.Table
	once := 1
	switch {
	case c.out.Insert != nil:
		target, once = c.out.Insert.Into.Table, 0
	case len(c.out.Targets) == 1:
		target = c.out.Targets[0].Table
	default:
		return
	}
	n := 0
	for _, r := range c.b.reads {
		if sameTable(r.table, target) {
			n++
		}
	}
	c.out.Apart = n == once
}

// assignments binds SET.
func (c *changed) assignments(list sqlparser.AssignmentExprs) error {
	type target struct {
		t  *rel.Target
		at int
	}
	targets := make([]target, len(list))
	c.s.clause = fieldList
	for i, a := range list {
		src, col, found, err := c.s.from.find(a.Name, c.s.place())
		if err != nil {
			return err
		}
		if !found {
			return unknownColumn(a.Name, c.s.place())
		}
		t, err := c.target(src, "UPDATE")
		if err != nil {
			return err
		}
		targets[i] = target{t, slices.IndexFunc(src.cols, func(o column) bool { return o.id == col.id })}
	}
	c.s.number = 1
	values := c.s
	if !c.out.Several {
		values = c.rowScope(targets[0].t)
	}
	for i, a := range list {
		set, err := c.assignment(targets[i].t, targets[i].at, a.Expr, values)
		if err != nil {
			return err
		}
		if set.Default && c.generates(targets[i].t, set.Place) {
			continue // it is what it is
		}
		targets[i].t.Sets = append(targets[i].t.Sets, set)
	}
	return nil
}

// generates reports whether a column is a generated one.
func (c *changed) generates(t *rel.Target, at int) bool {
	r, err := c.h.Rules(t.Table)
	return err == nil && r.Generated[at] != nil
}

// assignment binds one value. DEFAULT is bound with what the table says of its rows.
func (c *changed) assignment(t *rel.Target, at int, e sqlparser.Expr, s *scope) (rel.Assignment, error) {
	out := rel.Assignment{Place: at}
	rules, err := c.h.Rules(t.Table)
	if err != nil {
		return out, err
	}
	if d, ok := inParens(e).(*sqlparser.Default); ok && d.ColName == "" {
		out.Default = true
		if rules.Defaults[at] == nil || rules.Generated[at] != nil {
			return out, nil
		}
		out.Value, err = c.b.ruled(rules.Defaults[at], c.rowScope(t), t.Table)
		return out, err
	}
	if rules.Generated[at] != nil {
		return out, valueOfGenerated(t, at)
	}
	out.Value, err = c.b.scalar(e, s)
	return out, err
}

// target is a table of FROM as one of which rows are changed. Error 1288: its rows cannot be.
func (c *changed) target(src *source, verb string) (*rel.Target, error) {
	last := len(src.cols) - 1
	if i := slices.IndexFunc(c.b.reads, func(r *readTable) bool { return r.alias == src.alias && r.depth == 0 }); i >= 0 {
		if _, ok := c.b.reads[i].table.(rel.Changeable); !ok {
			return nil, unsupported("%s.%s, whose rows are not kept in the catalog's tables", src.database, src.alias)
		}
	}
	if last < 0 || src.cols[last].name != rel.RowColumn {
		return nil, expr.Errorf(1288, "HY000", "The target table %s of the %s is not updatable", src.alias, verb)
	}
	id := src.cols[last].id
	for _, t := range c.out.Targets {
		if t.Row == id {
			return t, nil
		}
	}
	from := c.b.meta.Columns[id].Origin.Source
	read := c.b.reads[slices.IndexFunc(c.b.reads, func(r *readTable) bool { return r.given == from })]
	t := &rel.Target{Table: read.table, Alias: src.alias, Row: id}
	c.registers(t)
	if c.out.Several {
		for _, col := range src.cols[:last] {
			t.Cols = append(t.Cols, col.id)
		}
	}
	c.out.Targets = append(c.out.Targets, t)
	c.out.Query.Out = append(c.out.Query.Out, rel.Output{Col: id})
	return t, nil
}

// rowScope is what names mean where they mean the row of a target that is being changed.
func (c *changed) rowScope(t *rel.Target) *scope {
	s := newScope(nil)
	s.clause, s.number = fieldList, 1
	src := &source{database: t.Table.Database(), alias: t.Alias}
	for at, col := range t.Table.Columns() {
		own := column{name: col.Name, id: t.New[at], hidden: col.Hidden || col.System}
		if col.System {
			own.name = ""
		}
		src.cols = append(src.cols, own)
	}
	s.from = sideBySide([]*source{src})
	return s
}

func sameTable(x, y rel.Table) bool { return x.Database() == y.Database() && x.Name() == y.Name() }

// notRead is error 1093: a subquery reads a table that the statement changes.
func (c *changed) notRead() error {
	for _, t := range c.out.Targets {
		for _, r := range c.b.reads {
			if r.depth > 0 && !r.kept && sameTable(r.table, t.Table) {
				return expr.Errorf(1093, "HY000", "You can't specify target table '%s' for update in FROM clause", t.Alias)
			}
		}
	}
	return nil
}

func (c *changed) delete(stmt *sqlparser.Delete) error {
	switch {
	case len(stmt.Returning) > 0:
		return unsupported("RETURNING")
	case len(stmt.Partitions) > 0:
		return unsupported("PARTITION")
	}
	c.out.Delete = true
	for _, comment := range stmt.Comments {
		c.out.Ignore = c.out.Ignore || string(comment) == IgnoreMark
	}
	c.ignores(c.out.Ignore)
	c.out.Several = len(stmt.Targets) > 0
	if err := c.tables(stmt.With, stmt.TableExprs, stmt.Where, stmt.OrderBy); err != nil {
		return err
	}
	names := stmt.Targets
	if len(names) == 0 {
		if _, err := c.target(c.s.from.sources[0], "DELETE"); err != nil {
			return err
		}
	}
	for _, n := range names {
		src, err := c.named(n)
		if err != nil {
			return err
		}
		if _, err := c.target(src, "DELETE"); err != nil {
			return err
		}
	}
	for _, t := range c.out.Targets {
		if r, err := c.h.Rules(t.Table); err != nil {
			return err
		} else if r.Triggered {
			if err := c.rules(t); err != nil {
				return err
			}
		}
	}
	if err := c.conditions(stmt.Where); err != nil {
		return err
	}
	if err := c.ordered(stmt.OrderBy, stmt.Limit); err != nil {
		return err
	}
	return c.notRead()
}

// named is the table that a DELETE names as one of those that it deletes from. Error 1109: there is none.
func (c *changed) named(n sqlparser.TableName) (*source, error) {
	for _, src := range c.s.from.sources {
		if src.is(n) {
			return src, nil
		}
	}
	return nil, expr.Errorf(1109, "42S02", "Unknown table '%s' in MULTI DELETE", n.Name.String())
}
