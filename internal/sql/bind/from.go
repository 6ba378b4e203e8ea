package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// oneRow is what SELECT without FROM reads: a row without columns.
func oneRow() *rel.Values { return &rel.Values{Rows: [][]expr.Node{{}}} }

// isDual reports whether FROM is missing or means no table.
func isDual(from sqlparser.TableExprs) bool {
	if len(from) == 0 {
		return true
	}
	if len(from) > 1 {
		return false
	}
	t, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok {
		return false
	}
	name, ok := t.Expr.(sqlparser.TableName)
	return ok && name.DbQualifier.IsEmpty() && strings.EqualFold(name.Name.String(), "dual") && t.As.IsEmpty()
}

// fromClause binds FROM. s gets what the tables so far give while LATERAL derived tables and ON are bound.
func (b *binder) fromClause(from sqlparser.TableExprs, s *scope) (joined, error) {
	if isDual(from) {
		return joined{plan: oneRow()}, nil
	}
	if err := b.uniqueNames(from, &[]tableName{}); err != nil {
		return joined{}, err
	}
	return b.commaList(from, s, nil)
}

// tableName is how a query calls one of its tables.
type tableName struct{ database, alias string }

// uniqueNames reports error 1066: two tables are called the same.
func (b *binder) uniqueNames(list sqlparser.TableExprs, names *[]tableName) error {
	add := func(n tableName) error {
		for _, o := range *names {
			if sameName(o.alias, n.alias) && o.database == n.database {
				return expr.Errorf(1066, "42000", "Not unique table/alias: '%s'", n.alias)
			}
		}
		*names = append(*names, n)
		return nil
	}
	for _, t := range list {
		var err error
		switch t := t.(type) {
		case *sqlparser.AliasedTableExpr:
			n := tableName{alias: t.As.String()}
			if e, ok := t.Expr.(sqlparser.TableName); ok {
				if n.alias == "" {
					n.alias = e.Name.String()
				}
				if n.database = e.DbQualifier.String(); n.database == "" {
					n.database = b.database
				}
			}
			err = add(n)
		case *sqlparser.ParenTableExpr:
			err = b.uniqueNames(t.Exprs, names)
		case *sqlparser.JoinTableExpr:
			err = b.uniqueNames(sqlparser.TableExprs{t.LeftExpr, t.RightExpr}, names)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commaList binds tables that stand side by side. left are the tables of the same FROM before them.
func (b *binder) commaList(list sqlparser.TableExprs, s *scope, left []*source) (joined, error) {
	out, err := b.tableExpr(list[0], s, left)
	if err != nil {
		return out, err
	}
	for _, t := range list[1:] {
		right, err := b.tableExpr(t, s, append(left[:len(left):len(left)], out.sources...))
		if err != nil {
			return out, err
		}
		if out, err = b.join(out, right, &rel.Join{Kind: rel.Inner, Straight: s.straight()}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// straight reports whether the query asks for its tables to be joined in the order in which they stand.
func (s *scope) straight() bool { return s.sel != nil && s.sel.QueryOpts.StraightJoinHint }

// tableExpr binds a table, a derived table or a join.
func (b *binder) tableExpr(t sqlparser.TableExpr, s *scope, left []*source) (joined, error) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		return b.aliasedTable(t, s, left)
	case *sqlparser.ParenTableExpr:
		return b.commaList(t.Exprs, s, left)
	case *sqlparser.JoinTableExpr:
		return b.joinExpr(t, s, left)
	case *sqlparser.ValuesStatement:
		q, err := b.values(t, s.outer)
		if err != nil {
			return joined{}, err
		}
		return b.derived(q, "", "", "", columnNames(t.Columns))
	}
	return joined{}, unsupported("%T in FROM", t)
}

func columnNames(cs sqlparser.Columns) []string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = c.String()
	}
	return out
}

func (b *binder) aliasedTable(t *sqlparser.AliasedTableExpr, s *scope, left []*source) (joined, error) {
	switch {
	case t.AsOf != nil:
		return joined{}, unsupported("AS OF")
	case len(t.Partitions) > 0:
		return joined{}, unsupported("PARTITION")
	}
	alias := t.As.String()
	switch e := t.Expr.(type) {
	case sqlparser.TableName:
		if alias == "" {
			alias = e.Name.String()
		}
		return b.namedTable(e, alias, t.Hints)
	case *sqlparser.Subquery:
		q, err := b.derivedQuery(e.Select, s, left, t.Lateral)
		if err != nil {
			return joined{}, err
		}
		return b.derived(q, "", "", alias, columnNames(e.Columns))
	case *sqlparser.ValuesStatement:
		q, err := b.values(e, s.outer)
		if err != nil {
			return joined{}, err
		}
		return b.derived(q, "", "", alias, columnNames(e.Columns))
	}
	return joined{}, unsupported("%T in FROM", t.Expr)
}

// derivedQuery binds the query of a derived table. It sees the queries around the one in whose FROM it stands, and if it is LATERAL
// the tables before it as well.
func (b *binder) derivedQuery(stmt sqlparser.SelectStatement, s *scope, left []*source, lateral bool) (*query, error) {
	outer := s.outer
	if lateral {
		outer = newScope(s.outer)
		outer.lateral = true
		outer.clause = fromClause
		outer.from = sideBySide(left)
	}
	// an aggregate around a subquery does not reach the columns of its derived tables' own queries
	return b.statement(stmt, outer)
}

// sideBySide is what tables are together, without a plan.
func sideBySide(sources []*source) joined {
	out := joined{sources: sources}
	for _, src := range sources {
		for _, c := range src.cols {
			if !c.hidden {
				out.cols = append(out.cols, visible{src, c})
			}
		}
	}
	return out
}

// derived is a query as a table in FROM: a view, if it has a database.
func (b *binder) derived(q *query, database, view, alias string, names []string) (joined, error) {
	b.dropHidden(q)
	for _, r := range q.reads {
		r.kept = true
	}
	src := &source{database: database, alias: alias, cols: make([]column, 0, len(q.cols)), merged: q.merged}
	if len(names) > 0 && len(names) != len(q.cols) {
		return joined{}, expr.Errorf(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and "+
			"column names list have different column counts")
	}
	for i, c := range q.cols {
		c.hidden = false
		if len(names) > 0 {
			c.name = names[i]
		}
		for _, d := range src.cols {
			if sameName(d.name, c.name) {
				return joined{}, expr.Errorf(1060, "42S21", "Duplicate column name '%s'", c.name)
			}
		}
		src.cols = append(src.cols, c)
		if b.names == nil {
			b.names = map[rel.ColID]derivedName{}
		}
		b.names[c.id] = derivedName{database: database, view: view, alias: alias, column: c.name}
	}
	if !q.merged {
		b.noteMaterialized(src, q.plan)
	}
	out := sideBySide([]*source{src})
	out.plan = q.plan
	return out, nil
}

// noteMaterialized notes that a derived table is not merged.
func (b *binder) noteMaterialized(src *source, plan rel.Node) {
	t := &materialized{}
	for _, c := range src.cols {
		t.cols, t.null = append(t.cols, c.id), append(t.null, b.mayBeNull(c.id))
	}
	if b.materialized == nil {
		b.materialized = map[rel.Node]*materialized{}
	}
	b.materialized[plan] = t
}

// derivedName is how a column of a derived table, a view or a common table expression is called.
type derivedName struct {
	database, view string // of a view
	alias, column  string
}

// quoted is how errors call the column.
func (n derivedName) quoted() string { return quoted(n.database, n.alias, n.column) }

// told is what clients are told about where a column of the result of a query comes from.
func (b *binder) told(c column, plan rel.Node) rel.Label {
	var out rel.Label
	if o := b.meta.Columns[c.id].Origin; o != nil {
		out = rel.Label{Database: o.Database, Table: o.Alias, OrgTable: o.Table, OrgName: o.Column}
	}
	if n, ok := b.names[c.id]; ok {
		out.Table, out.OrgName = n.alias, n.column
		if n.view != "" {
			out.OrgTable = n.view
		}
		return out
	}
	for plan != nil {
		switch n := plan.(type) {
		case *rel.Sort, *rel.Limit:
			plan = n.Children()[0]
			continue
		case *rel.SetOp:
			out.OrgName = c.name
		}
		break
	}
	return out
}

// quoted is a name with its parts in backquotes.
func quoted(parts ...string) string {
	var out strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('.')
		}
		out.WriteByte('`')
		out.WriteString(strings.ReplaceAll(p, "`", "``"))
		out.WriteByte('`')
	}
	return out.String()
}

// namedTable is a table, a view or a common table expression.
func (b *binder) namedTable(name sqlparser.TableName, alias string, hints *sqlparser.IndexHints) (joined, error) {
	database := name.DbQualifier.String()
	if database == "" {
		q, err := b.cte(name.Name.String())
		if err != nil {
			return joined{}, err
		}
		if q != nil {
			return b.derived(q, "", "", alias, nil)
		}
		database = b.database
	}
	r, err := b.h.Relation(database, name.Name.String())
	if err != nil {
		return joined{}, err
	}
	if r.View != nil {
		q, err := b.view(r.View)
		if err != nil {
			return joined{}, err
		}
		return b.derived(q, r.View.Database, r.View.Name, alias, nil)
	}
	t := r.Table
	if c, ok := t.(rel.Changeable); ok && b.rows {
		t = c.WithRows()
	}
	b.reads = append(b.reads, &readTable{table: r.Table, given: t, alias: alias, depth: b.depth})
	out, err := b.scan(t, alias, hints)
	if err == nil && len(r.Generated) > 0 {
		err = b.heldExpressions(&out, r.Generated)
	}
	return out, err
}

// heldExpressions binds the expressions of indexed columns of a table, which package optimize looks for.
func (b *binder) heldExpressions(t *joined, es map[int]sqlparser.Expr) error {
	scan := t.plan.(*rel.Scan)
	s := newScope(nil)
	s.from, s.where = *t, "generated column function"
	database := b.database
	defer func() { b.database = database }()
	b.database = scan.Table.Database()
	for at, id := range scan.Cols {
		e, ok := es[scan.Places[at]]
		if !ok {
			continue
		}
		n, err := b.scalar(e, s)
		if err != nil {
			return err
		}
		if scan.Table.Columns()[scan.Places[at]].System {
			b.meta.Columns[id].Origin = nil
		}
		scan.Generated = append(scan.Generated, rel.Generated{Col: id, Expr: n})
	}
	return nil
}

// scan reads a table with all its columns.
func (b *binder) scan(t rel.Table, alias string, hints *sqlparser.IndexHints) (joined, error) {
	cols := t.Columns()
	scan := &rel.Scan{Table: t, Alias: alias, Places: make([]int, len(cols)), Cols: make([]rel.ColID, len(cols)), Rows: t.Rows()}
	src := &source{database: t.Database(), alias: alias, cols: make([]column, len(cols))}
	origins := make([]rel.Origin, len(cols))
	out := joined{plan: scan, sources: []*source{src}, cols: make([]visible, 0, len(cols))}
	for i := range cols {
		c := &cols[i]
		origins[i] = rel.Origin{Database: src.database, Table: t.Name(), Alias: alias, Column: c.Name, Source: t, Place: i}
		id := b.add(rel.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Origin: &origins[i]})
		scan.Places[i], scan.Cols[i] = i, id
		src.cols[i] = column{name: c.Name, id: id, hidden: c.Hidden}
		if c.System {
			src.cols[i].name = ""
		}
		if !c.Hidden {
			out.cols = append(out.cols, visible{src, src.cols[i]})
		}
	}
	if hints == nil {
		return out, nil
	}
	h := rel.IndexHint{Kind: strings.TrimSpace(hints.Type)}
	for _, n := range hints.Indexes {
		if !hasIndex(t, n.String()) {
			return out, expr.Errorf(1176, "42000", "Key '%s' doesn't exist in table '%s'", n.String(), alias)
		}
		h.Names = append(h.Names, n.String())
	}
	scan.Hints = append(scan.Hints, h)
	return out, nil
}

func hasIndex(t rel.Table, name string) bool {
	for _, x := range t.Indexes() {
		if strings.EqualFold(x.Name(), name) {
			return true
		}
	}
	return false
}
