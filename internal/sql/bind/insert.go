package bind

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// INSERT and REPLACE. Each row is made by assignments: of the expressions in VALUES, or of the columns of a query's rows.

func (c *changed) insert(stmt *sqlparser.Insert) error {
	switch {
	case len(stmt.Returning) > 0:
		return unsupported("RETURNING")
	case len(stmt.Partitions) > 0:
		return unsupported("PARTITION")
	case stmt.With != nil:
		return unsupported("WITH before INSERT")
	}
	c.ignores(stmt.Ignore != "")
	ins := &rel.Insert{Replace: strings.EqualFold(stmt.Action, sqlparser.ReplaceStr), Listed: true}
	c.out.Insert = ins
	c.out.Query.Root = oneRow()
	var err error
	if ins.Into, err = c.insertedTable(stmt.Table); err != nil {
		return err
	}
	rules, err := c.h.Rules(ins.Into.Table)
	if err != nil {
		return err
	}
	places, err := c.insertedColumns(stmt.Columns)
	if err != nil {
		return err
	}
	row := c.rowScope(ins.Into)
	other := row.from.sources // what ON DUPLICATE KEY UPDATE may name beside the row that is there; the first is the row of VALUES
	alias := ""
	switch rows := stmt.Rows.(type) {
	case *sqlparser.AliasedValues:
		if alias = rows.As.String(); alias != "" {
			if other, err = c.rowAlias(row.from.sources[0], places, alias, rows.Columns); err != nil {
				return err
			}
		}
		err = c.values(rows.Values, places, len(stmt.Columns) > 0, row)
	case sqlparser.Values:
		err = c.values(rows, places, len(stmt.Columns) > 0, row)
	case sqlparser.SelectStatement:
		ins.Queried = true
		other, err = c.rowsOfQuery(rows, places)
	default:
		err = unsupported("INSERT of %T", stmt.Rows)
	}
	if err != nil {
		return err
	}
	if err := c.defaults(rules, row); err != nil {
		return err
	}
	if err := c.insertRules(rules, row); err != nil {
		return err
	}
	if len(stmt.OnDup) > 0 {
		if alias == "" && len(other) == 1 && other[0] == row.from.sources[0] {
			other = nil
		}
		if err := c.onDuplicate(sqlparser.AssignmentExprs(stmt.OnDup), row.from.sources[0], other); err != nil {
			return err
		}
	}
	return c.notReadByValues(stmt)
}

// insertedTable is the table that rows are inserted into.
func (c *changed) insertedTable(name sqlparser.TableName) (*rel.Target, error) {
	database := name.DbQualifier.String()
	if database == "" {
		database = c.b.database
	}
	r, err := c.h.Relation(database, name.Name.String())
	if err != nil {
		return nil, err
	}
	if _, ok := r.Table.(rel.Changeable); !ok {
		return nil, unsupported("INSERT into %s", name.Name.String())
	}
	t := &rel.Target{Table: r.Table, Alias: name.Name.String()}
	c.registers(t)
	return t, nil
}

// registers makes those of a row of a table.
func (c *changed) registers(t *rel.Target) {
	for at, col := range t.Table.Columns() {
		o := &rel.Origin{Database: t.Table.Database(), Table: t.Table.Name(), Alias: t.Alias, Column: col.Name, Source: t.Table, Place: at}
		t.New = append(t.New, c.b.add(rel.Column{Name: col.Name, Type: col.Type, Nullable: true, Origin: o}))
	}
}

// insertedColumns are the places of the columns that the statement names; none: all that * means.
func (c *changed) insertedColumns(names sqlparser.Columns) (out []int, err error) {
	cols := c.out.Insert.Into.Table.Columns()
	if names == nil {
		for at := range cols {
			if !cols[at].Hidden && !cols[at].System {
				out = append(out, at)
			}
		}
		return out, nil
	}
	for _, n := range names {
		at := slices.IndexFunc(cols, func(col rel.TableColumn) bool { return !col.System && sameName(col.Name, n.String()) })
		if at < 0 {
			return nil, expr.Errorf(1054, "42S22", "Unknown column '%s' in 'field list'", n.String())
		}
		if slices.Contains(out, at) {
			return nil, expr.Errorf(1110, "42000", "Column '%s' specified twice", n.String())
		}
		out = append(out, at)
	}
	return out, nil
}

// values binds VALUES; named: the statement names columns. An expression may name the columns that are assigned before it.
func (c *changed) values(rows sqlparser.Values, places []int, named bool, s *scope) error {
	ins := c.out.Insert
	ins.Listed = len(rows) > 1
	for i, row := range rows {
		if len(row) == 0 && !named && (i == 0 || len(ins.Rows[0]) == 0) {
			ins.Rows = append(ins.Rows, []rel.Assignment{})
			continue
		}
		if len(row) != len(places) || i > 0 && len(ins.Rows[0]) != len(row) {
			return expr.Errorf(1136, "21S01", "Column count doesn't match value count at row %d", i+1)
		}
		list := make([]rel.Assignment, len(row))
		for j, e := range row {
			var err error
			if list[j], err = c.assignment(ins.Into, places[j], e, s); err != nil {
				return err
			}
		}
		ins.Rows = append(ins.Rows, list)
	}
	return nil
}

// rowsOfQuery binds the query of INSERT ... SELECT. The sources are what ON DUPLICATE KEY UPDATE may name.
func (c *changed) rowsOfQuery(stmt sqlparser.SelectStatement, places []int) ([]*source, error) {
	q, err := c.b.statement(stmt, nil)
	if err != nil {
		return nil, err
	}
	c.b.dropHidden(q)
	if len(q.cols) != len(places) {
		return nil, expr.Errorf(1136, "21S01", "Column count doesn't match value count at row 1")
	}
	c.out.Query.Root = q.plan
	c.out.Query.FoundRows = q.foundRows
	rules, err := c.h.Rules(c.out.Insert.Into.Table)
	if err != nil {
		return nil, err
	}
	list := make([]rel.Assignment, len(places))
	for i, at := range places {
		if rules.Generated[at] != nil {
			return nil, valueOfGenerated(c.out.Insert.Into, at)
		}
		list[i] = rel.Assignment{Place: at, Value: c.b.ref(q.cols[i].id)}
	}
	c.out.Insert.Rows = [][]rel.Assignment{list}
	return q.from, nil
}

// valueOfGenerated is error 3105.
func valueOfGenerated(t *rel.Target, at int) error {
	return expr.Errorf(3105, "HY000", "The value specified for generated column '%s' in table '%s' is not allowed.",
		t.Table.Columns()[at].Name, t.Table.Name())
}

// rowAlias is the row of VALUES under the names that the statement gives it.
func (c *changed) rowAlias(row *source, places []int, alias string, names sqlparser.Columns) ([]*source, error) {
	if sameName(alias, c.out.Insert.Into.Alias) {
		return nil, expr.Errorf(1066, "42000", "Not unique table/alias: '%s'", alias)
	}
	if len(names) == 0 {
		out := &source{alias: alias}
		for _, at := range places {
			out.cols = append(out.cols, row.cols[at])
		}
		return []*source{out}, nil
	}
	if len(names) != len(places) {
		return nil, expr.Errorf(1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and "+
			"column names list have different column counts")
	}
	out := &source{alias: alias}
	for i, n := range names {
		out.cols = append(out.cols, column{name: n.String(), id: row.cols[places[i]].id})
	}
	return []*source{out}, nil
}

// defaults binds those of the columns.
func (c *changed) defaults(rules *TableRules, s *scope) error {
	ins := c.out.Insert
	for at, e := range rules.Defaults {
		if rules.Generated[at] != nil {
			continue
		}
		a := rel.Assignment{Place: at, Default: true}
		if e != nil {
			var err error
			if a.Value, err = c.b.ruled(e, s, ins.Into.Table); err != nil {
				return err
			}
		}
		ins.Defaults = append(ins.Defaults, a)
	}
	return nil
}

// insertRules binds what the table says of a row that is inserted: its CHECK constraints and generated columns.
func (c *changed) insertRules(rules *TableRules, s *scope) error {
	t := c.out.Insert.Into
	for _, k := range rules.Checks {
		n, err := c.b.ruled(k.Expr, s, t.Table)
		if err != nil {
			return err
		}
		t.Checks = append(t.Checks, rel.Check{Name: k.Name, Cond: n})
	}
	set := make([]bool, len(t.New))
	for at := range set {
		set[at] = true
	}
	return c.b.generated(t, rules, s, set, true)
}

// onDuplicate binds ON DUPLICATE KEY UPDATE: assignments to the row that is there. They may name its columns, those of the row of
// VALUES or of
// the query's tables (other), and VALUES(column).
func (c *changed) onDuplicate(list sqlparser.AssignmentExprs, inserted *source, other []*source) error {
	t := &rel.Target{Table: c.out.Insert.Into.Table, Alias: c.out.Insert.Into.Alias}
	c.registers(t)
	c.out.Targets = append(c.out.Targets, t)
	s := c.rowScope(t)
	for _, a := range list {
		_, col, found, err := s.from.find(a.Name, s.place())
		if err != nil {
			return err
		}
		if !found {
			return unknownColumn(a.Name, s.place())
		}
		t.Sets = append(t.Sets, rel.Assignment{Place: slices.Index(t.New, col.id)})
	}
	values := c.rowScope(t)
	values.from = sideBySide(append(values.from.sources, other...))
	c.b.inserted = inserted
	for i, a := range list {
		set, err := c.assignment(t, t.Sets[i].Place, a.Expr, values)
		if err != nil {
			return err
		}
		t.Sets[i] = set
	}
	c.b.inserted = nil
	c.b.warnOfValues()
	return c.rules(t)
}

// warnOfValues is warning 1287, where VALUES(column) was used.
func (b *binder) warnOfValues() {
	if b.valued {
		b.warn(1287, "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT INTO ... VALUES (...) "+
			"AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead")
	}
}

// valuesCall is VALUES(column): what the row that could not be inserted has there; elsewhere NULL.
func (b *binder) valuesCall(e *sqlparser.ValuesFuncExpr, s *scope) (expr.Node, error) {
	b.valued = true
	if b.inserted == nil {
		n, err := b.columnRef(e.Name, s)
		if err != nil {
			return nil, err
		}
		return &expr.Lit{T: n.Type()}, nil
	}
	name := e.Name.Name.String()
	for _, c := range b.inserted.cols {
		if sameName(c.name, name) && (e.Name.Qualifier.IsEmpty() || b.inserted.is(e.Name.Qualifier)) {
			return b.ref(c.id), nil
		}
	}
	return nil, unknownColumn(e.Name, s.place())
}

// notReadByValues is error 1093: a subquery in VALUES or ON DUPLICATE KEY UPDATE reads the table that rows are inserted into. The
// query of
// INSERT ... SELECT may.
func (c *changed) notReadByValues(stmt *sqlparser.Insert) error {
	if _, query := stmt.Rows.(sqlparser.SelectStatement); query {
		return nil
	}
	for _, r := range c.b.reads {
		if !r.kept && sameTable(r.table, c.out.Insert.Into.Table) {
			return expr.Errorf(1093, "HY000", "You can't specify target table '%s' for update in FROM clause", c.out.Insert.Into.Alias)
		}
	}
	return nil
}
