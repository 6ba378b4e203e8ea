package bind

import (
	"fmt"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// binder binds one statement.
type binder struct {
	h    Host
	set  Settings
	meta *rel.Metadata
	// null says of each column, by id, whether it may be NULL where the query that is being bound reads it: in the column itself,
	// or because an outer join or ROLLUP has made it so.
	null []bool
	// names are how the columns of derived tables are called.
	names map[rel.ColID]derivedName
	// agg is the aggregate whose arguments are being bound, nil: none.
	agg *aggregateCall
	// anyValue: the arguments of ANY_VALUE() are being bound, which ONLY_FULL_GROUP_BY leaves alone.
	anyValue bool
	// database is the one that names without a database belong to; a view's query has that of the view.
	database string
	// ctes are the common table expressions that are visible where the binder is (with.go).
	ctes *cteList
	// views are the views whose queries are being bound, for views that contain themselves.
	views []string
	depth int
	// outer are the columns of queries around the one that reads them.
	outer map[*rel.Col]bool
	// materialized are the derived tables that MySQL does not merge into the query around them, by their plans.
	materialized map[rel.Node]*materialized
	// semijoins are the subqueries that MySQL joins to the tables outside, where they are conditions of WHERE or ON.
	semijoins map[*rel.Subquery]bool
	// calls counts the calls that have been bound: an interrupted statement ends between two of them.
	calls int
	// hostCalls are the names of the functions that the host evaluates.
	hostCalls map[expr.Node]string
	// checks are made when all names have been bound: errors in names come first.
	checks []func() error
	// existential says of the next query whether it is asked only for such a row: see scope.
	existential bool
	// nested says of the next query that it is a subquery in an expression.
	nested bool
	// exists says of the next query that it stands in EXISTS.
	exists bool
	// subqueries is how many subqueries there are in expressions.
	subqueries int
	// rows: the tables that are being bound are those of a statement that changes rows, and give their rows as well (rel.Changeable).
	rows bool
	// inserted is the row that is being inserted, for VALUES(column); nil: there is none. valued: VALUES was used.
	inserted *source
	valued   bool
	// reads are the tables that have been bound.
	reads []*readTable
}

// column is a column of a query's rows or of a table in FROM.
type column struct {
	name   string
	id     rel.ColID
	hidden bool // * does not mean it
}

// query is a query that has been bound: a tree and the columns of its rows, in order.
type query struct {
	plan      rel.Node
	cols      []column
	foundRows bool
	// merged: MySQL merges the query into the one around it if it is a derived table.
	merged bool
	reads  []*readTable // the tables below
	from   []*source    // the tables of a SELECT whose rows are not grouped: their columns are with each row
}

// Bind makes a tree of operators of a query. An error is MySQL's (*expr.Error) or wraps ErrUnsupported.
func Bind(h Host, stmt sqlparser.SelectStatement) (*rel.Query, error) {
	b := &binder{h: h, set: h.Settings(), meta: &rel.Metadata{}, database: h.Database()}
	q, err := b.statement(stmt, nil)
	if err != nil {
		return nil, err
	}
	for _, check := range b.checks {
		if err := check(); err != nil {
			return nil, err
		}
	}
	out := &rel.Query{Meta: b.meta, Root: q.plan, FoundRows: q.foundRows}
	for _, c := range q.cols {
		out.Out = append(out.Out, rel.Output{Name: c.name, Col: c.id, Nullable: b.mayBeNull(c.id), From: b.told(c, q.plan)})
	}
	if err := b.finish(out); err != nil {
		return nil, err
	}
	return out, nil
}

// maxDepth is how deep queries may be nested: MySQL's limit (error 1473).
const maxDepth = 61

// statement binds a query expression. outer is what it sees of the query around it; nil: nothing.
func (b *binder) statement(stmt sqlparser.SelectStatement, outer *scope) (*query, error) {
	b.depth++
	rows, before := b.rows, len(b.reads)
	b.rows = false
	defer func() { b.depth, b.rows = b.depth-1, rows }()
	q, err := b.queryExpression(stmt, outer)
	if q != nil {
		q.reads = b.reads[before:len(b.reads):len(b.reads)]
	}
	return q, err
}

func (b *binder) queryExpression(stmt sqlparser.SelectStatement, outer *scope) (*query, error) {
	if b.depth > maxDepth {
		return nil, expr.Errorf(1473, "HY000", "Too high level of nesting for select")
	}
	if _, is := stmt.(*sqlparser.SetOp); is {
		b.existential, b.nested, b.exists = false, false, false
	}
	switch s := stmt.(type) {
	case *sqlparser.Select:
		return b.selectStatement(s, outer)
	case *sqlparser.ParenSelect:
		return b.statement(s.Select, outer)
	case *sqlparser.SetOp:
		return b.setOp(s, outer)
	}
	return nil, unsupported("%T", stmt)
}

// unsupported is an error that wraps ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

// add makes a column.
func (b *binder) add(c rel.Column) rel.ColID {
	c.Type.Truth = false // a column holds 1 or 0
	id := b.meta.Add(c)
	b.setNull(id, c.Nullable)
	return id
}

func (b *binder) setNull(id rel.ColID, null bool) {
	for int(id) >= len(b.null) {
		b.null = append(b.null, false)
	}
	b.null[id] = null
}

// mayBeNull reports whether a column may be NULL above all that has been bound.
func (b *binder) mayBeNull(id rel.ColID) bool { return int(id) < len(b.null) && b.null[id] }

// ref is an expression that reads a column.
func (b *binder) ref(id rel.ColID) *rel.Col {
	c := b.meta.Ref(id)
	if n, ok := b.names[id]; ok {
		c.Name = n.quoted()
	}
	return c
}
