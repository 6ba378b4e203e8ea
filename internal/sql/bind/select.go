package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// item is an expression of the select list.
type item struct {
	name string
	ast  sqlparser.Expr
	node expr.Node
	id   rel.ColID
	// has says that id is the column of the value: it is a column of a table, or it has been put into a Project.
	has bool
}

// grouping is what GROUP BY, or an aggregate without it, makes of a query's rows.
type grouping struct{}

// aggregateCall is an aggregate whose arguments are being bound.
type aggregateCall struct{}

// selectStatement binds a SELECT.
func (b *binder) selectStatement(sel *sqlparser.Select, outer *scope) (*query, error) {
	return nil, unsupported("SELECT")
}

// finish fills in what can be said of the whole tree only: the outer columns of subqueries, and which joins are LATERAL.
func (b *binder) finish(*rel.Query) error { return nil }

// bind makes an expression of a syntax tree.
func (b *binder) expression(e sqlparser.Expr, s *scope) (expr.Node, error) {
	return nil, unsupported("%T", e)
}
