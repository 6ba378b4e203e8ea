package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// cteList is a list of common table expressions, those of inner queries first. Each is bound when it is first named in a FROM: MySQL does
// not look into those that nobody names.
type cteList struct {
	next *cteList
	name string
	def  *sqlparser.CommonTableExpr
	// outer, database and visible are what its query sees: the queries around the one that WITH belongs to, the database of names without
	// one, the common table expressions before it (and itself, if it is recursive).
	outer    *scope
	database string
	visible  *cteList
	// recursive: WITH RECURSIVE, and the query names the expression itself.
	recursive bool
	// inline: it is named in one place, in the FROM of the query that WITH belongs to: its operators stand there themselves.
	inline bool
	shared *rel.Shared
	cols   []column // of shared
	step   *rel.Recursive
}

// with makes the common table expressions of a WITH visible to stmt: it changes b.ctes, which the caller puts back when the query that
// WITH belongs to has been bound.
func (b *binder) with(w *sqlparser.With, stmt sqlparser.SelectStatement, outer *scope) error {
	for i, def := range w.Ctes {
		name := def.As.String()
		for _, other := range w.Ctes[:i] {
			if sameName(other.As.String(), name) {
				return expr.Errorf(1066, "42000", "Not unique table/alias: '%s'", name)
			}
		}
		c := &cteList{next: b.ctes, name: name, def: def, outer: outer, database: b.database, visible: b.ctes}
		if w.Recursive && mentions(def.Expr, name).any() {
			c.recursive, c.visible = true, c
		}
		m := mentions(stmt, name)
		for _, later := range w.Ctes[i+1:] {
			n := mentions(later.Expr, name)
			m.direct, m.nested = m.direct+n.direct, m.nested+n.nested
		}
		c.inline = m.direct == 1 && m.nested == 0
		b.ctes = c
	}
	return nil
}

// mentioned counts where a table is named without its database: in FROM, of derived tables too, or in subqueries of expressions.
type mentioned struct{ direct, nested int }

func (m mentioned) any() bool { return m.direct+m.nested > 0 }

// mentions counts the places where a query, without its own WITH, names a table. A table of a WITH inside with the same name is counted
// too: that a common table expression is taken to be named more often than it is costs time alone.
func mentions(n sqlparser.SQLNode, name string) (m mentioned) {
	switch n := n.(type) {
	case *sqlparser.ParenSelect:
		return mentions(n.Select, name)
	case *sqlparser.Subquery:
		return mentions(n.Select, name)
	case *sqlparser.ValuesStatement:
		m.nested = named(name, n)
	case *sqlparser.SetOp:
		l, r := mentions(n.Left, name), mentions(n.Right, name)
		m.direct, m.nested = l.direct+r.direct, l.nested+r.nested+named(name, n.OrderBy)
		m.nested += withMentions(n.With, name)
	case *sqlparser.Select:
		for _, t := range n.From {
			tableMentions(t, name, &m)
		}
		m.nested += named(name, n.SelectExprs, n.Where, n.GroupBy, n.Having, n.OrderBy, n.Window) + withMentions(n.With, name)
	}
	return m
}

// withMentions counts in the queries of a WITH inside the query.
func withMentions(w *sqlparser.With, name string) (n int) {
	if w == nil {
		return 0
	}
	for _, c := range w.Ctes {
		if m := mentions(c.Expr, name); m.any() {
			n += m.direct + m.nested
		}
	}
	return n
}

func tableMentions(t sqlparser.TableExpr, name string, m *mentioned) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		switch e := t.Expr.(type) {
		case sqlparser.TableName:
			if e.DbQualifier.IsEmpty() && sameName(e.Name.String(), name) {
				m.direct++
			}
		case *sqlparser.Subquery:
			in := mentions(e.Select, name)
			if t.Lateral { // it is executed for each row
				in.direct, in.nested = 0, in.direct+in.nested
			}
			m.direct, m.nested = m.direct+in.direct, m.nested+in.nested
		default:
			m.nested += named(name, e)
		}
	case *sqlparser.ParenTableExpr:
		for _, in := range t.Exprs {
			tableMentions(in, name, m)
		}
	case *sqlparser.JoinTableExpr:
		tableMentions(t.LeftExpr, name, m)
		tableMentions(t.RightExpr, name, m)
		if t.Condition.On != nil {
			m.nested += named(name, t.Condition.On)
		}
	default:
		m.nested += named(name, t)
	}
}

// named counts the tables of a name anywhere in syntax trees.
func named(name string, nodes ...sqlparser.SQLNode) (count int) {
	visit := func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select, *sqlparser.SetOp, *sqlparser.ParenSelect:
			if m := mentions(n, name); m.any() {
				count += m.direct + m.nested
			}
			return false, nil
		}
		return true, nil
	}
	for _, n := range nodes {
		_ = sqlparser.Walk(visit, n)
	}
	return count
}

// cte is a common table expression as it is read in FROM, with columns of its own; nil: there is none of this name.
func (b *binder) cte(name string) (*query, error) {
	c := b.ctes
	for c != nil && !sameName(c.name, name) {
		c = c.next
	}
	switch {
	case c == nil:
		return nil, nil
	case c.step != nil:
		return b.workScan(c), nil
	case c.inline:
		return b.cteQuery(c)
	case c.shared == nil:
		q, err := b.cteQuery(c)
		if err != nil {
			return nil, err
		}
		c.shared, c.cols = &rel.Shared{Name: c.name, Plan: q.plan, Cols: columnIDs(q.cols)}, q.cols
	}
	scan := &rel.SharedScan{From: c.shared}
	out := &query{plan: scan}
	for _, from := range c.cols {
		id := b.add(rel.Column{Name: from.name, Type: b.meta.Columns[from.id].Type, Nullable: b.mayBeNull(from.id)})
		scan.Cols = append(scan.Cols, id)
		out.cols = append(out.cols, column{name: from.name, id: id})
	}
	return out, nil
}

// cteQuery binds the query of a common table expression.
func (b *binder) cteQuery(c *cteList) (*query, error) {
	ctes, database, agg, anyValue := b.ctes, b.database, b.agg, b.anyValue
	defer func() { b.ctes, b.database, b.agg, b.anyValue = ctes, database, agg, anyValue }()
	b.ctes, b.database, b.agg, b.anyValue = c.visible, c.database, nil, false
	var q *query
	var err error
	switch e := c.def.Expr.(type) {
	case *sqlparser.Subquery:
		if c.recursive {
			q, err = b.recursive(c, e.Select)
		} else {
			q, err = b.statement(e.Select, c.outer)
		}
	case *sqlparser.ValuesStatement:
		q, err = b.values(e, c.outer)
	default:
		err = unsupported("WITH of %T", e)
	}
	if err != nil {
		return nil, err
	}
	if !c.recursive { // whose columns have their names already
		q.cols, err = renamed(q.cols, c.def.Columns)
	}
	return q, err
}

// renamed gives columns the names of a list; an empty list leaves them as they are.
func renamed(cols []column, names sqlparser.Columns) ([]column, error) {
	if len(names) == 0 {
		return cols, nil
	}
	if len(names) != len(cols) {
		return nil, expr.Errorf(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and "+
			"column names list have different column counts")
	}
	out := make([]column, len(cols))
	for i, c := range cols {
		out[i] = column{name: names[i].String(), id: c.id}
	}
	return out, nil
}

// view is the query of a view, which sees nothing of the statement that names it. What is wrong with it is error 1356.
func (b *binder) view(v *View) (*query, error) {
	name := quoted(v.Database, v.Name)
	for _, around := range b.views {
		if around == name {
			return nil, expr.Errorf(1462, "HY000", "%s contains view recursion", name)
		}
	}
	ctes, database, agg, anyValue := b.ctes, b.database, b.agg, b.anyValue
	defer func() {
		b.ctes, b.database, b.agg, b.anyValue = ctes, database, agg, anyValue
		b.views = b.views[:len(b.views)-1]
	}()
	b.ctes, b.database, b.agg, b.anyValue, b.views = nil, v.Database, nil, false, append(b.views, name)
	var q *query
	var err error
	if fn := func() { q, err = b.statement(v.Query, nil) }; v.Bind != nil {
		v.Bind(fn)
	} else {
		fn()
	}
	if err != nil {
		return nil, invalidView(v, err)
	}
	if len(v.Columns) == 0 {
		return q, nil
	}
	if len(v.Columns) > len(q.cols) {
		return nil, errInvalidView(v)
	}
	cols := make([]column, len(v.Columns)) // columns that a table of SELECT * was given later are none of the view
	for i, n := range v.Columns {
		cols[i] = column{name: n, id: q.cols[i].id}
	}
	q.cols = cols
	return q, nil
}

func errInvalidView(v *View) error {
	return expr.Errorf(1356, "HY000",
		"View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them",
		v.Database, v.Name)
}

// invalidView is what an error in the query of a view is to the statement that reads the view: names that are not there any more are 1356.
func invalidView(v *View, err error) error {
	e, ok := err.(*expr.Error)
	if !ok {
		return err
	}
	switch e.Code {
	case 1049, 1051, 1054, 1109, 1146, 1305, 1356, 1449:
		return errInvalidView(v)
	}
	return err
}
