package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// What statements that change rows have to know of a table beside what queries do: its rows as they are kept, and what it says of them.

// rowTable is a table with its rows as one column more: values are datums.
type rowTable struct {
	*queryTable
	columns []rel.TableColumn
}

var (
	_ rel.Changeable  = (*queryTable)(nil)
	_ bind.ChangeHost = (*queryHost)(nil)
)

// WithRows implements rel.Changeable.
func (t *queryTable) WithRows() rel.Table {
	columns := slices.Clone(t.q.columns)
	return &rowTable{queryTable: t, columns: append(columns, rel.TableColumn{Name: rel.RowColumn, Type: expr.Type{Name: expr.OtherType}, Hidden: true})}
}

// Columns implements rel.Table.
func (t *rowTable) Columns() []rel.TableColumn { return t.columns }

// Rules implements bind.ChangeHost.
func (h *queryHost) Rules(t rel.Table) (*bind.TableRules, error) {
	q, ok := t.(*queryTable)
	if !ok {
		return nil, fmt.Errorf("%w: rows of %s.%s", bind.ErrUnsupported, t.Database(), t.Name())
	}
	r, err := q.t.l.tableRules()
	if err != nil {
		return nil, err
	}
	s, err := h.s.schema(h.ctx)
	if err != nil {
		return nil, err
	}
	if !q.t.l.desc.Temporary() && triggersOf(s.snap.Databases()[q.t.l.desc.Database], q.t.l.desc.Name) {
		triggered := *r
		triggered.Triggered = true
		r = &triggered
	}
	return r, nil
}

// tableRules are what the table says of its rows.
func (l *layout) tableRules() (*bind.TableRules, error) {
	if r := l.rules.Load(); r != nil {
		return r, nil
	}
	r := &bind.TableRules{Kept: l.stored}
	for i := range l.desc.Columns {
		c := &l.desc.Columns[i]
		generated := c.Generated
		if isPart(c) { // the editor calculates it
			generated = ""
		}
		for _, e := range []struct {
			text string
			list *[]sqlparser.Expr
		}{{c.Default, &r.Defaults}, {c.OnUpdate, &r.OnUpdate}, {generated, &r.Generated}} {
			if isPart(c) { // the editor calculates it
				e.text = ""
			}
			parsed, err := parseRule(e.text)
			if err != nil {
				return nil, fmt.Errorf("%w: column %s of table %s: %v", bind.ErrUnsupported, c.Name, l.desc.Name, err)
			}
			*e.list = append(*e.list, parsed)
		}
	}
	for _, c := range l.desc.Checks {
		if !c.Enforced {
			continue
		}
		parsed, err := parseRule(c.Expr)
		if err != nil {
			return nil, fmt.Errorf("%w: check %s of table %s: %v", bind.ErrUnsupported, c.Name, l.desc.Name, err)
		}
		r.Checks = append(r.Checks, bind.CheckRule{Name: c.Name, Expr: parsed})
	}
	l.rules.Store(r)
	return r, nil
}

// parseRule parses an expression of the catalog; nil: there is none.
func parseRule(text string) (sqlparser.Expr, error) {
	if text == "" {
		return nil, nil
	}
	stmt, rest, err := parseQuery("SELECT "+text, sqlparser.ParserOptions{})
	if err != nil {
		return nil, err
	}
	s, ok := stmt.(*sqlparser.Select)
	if !ok || rest != "" || len(s.SelectExprs) != 1 {
		return nil, fmt.Errorf("%q is no expression", text)
	}
	e, ok := s.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return nil, fmt.Errorf("%q is no expression", text)
	}
	return e.Expr, nil
}

// triggersOf reports whether a table has triggers.
func triggersOf(db *catalog.Database, table string) bool {
	for i := range db.Triggers {
		if m := triggerTable.FindStringSubmatch(db.Triggers[i].Create); m == nil || strings.EqualFold(strings.Trim(m[3], "`"), table) {
			return true
		}
	}
	return false
}
