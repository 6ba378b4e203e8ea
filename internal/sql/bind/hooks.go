package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// cteList is a list of common table expressions, those of inner queries first.
type cteList struct{}

// setOp binds UNION, INTERSECT and EXCEPT.
func (b *binder) setOp(*sqlparser.SetOp, *scope) (*query, error) {
	return nil, unsupported("set operations")
}

// values binds VALUES ROW(...), ... in FROM.
func (b *binder) values(*sqlparser.ValuesStatement, *scope) (*query, error) {
	return nil, unsupported("VALUES")
}

// with makes the common table expressions of a WITH visible: it changes b.ctes, which the caller puts back when the query that WITH
// belongs to has been bound.
func (b *binder) with(*sqlparser.With, *scope) error { return unsupported("WITH") }

// cte is a common table expression as it is read in FROM, with columns of its own; nil: there is none of this name.
func (b *binder) cte(string) (*query, error) { return nil, nil }

// view is the query of a view.
func (b *binder) view(*View) (*query, error) { return nil, unsupported("views") }

// windowCall binds a function with OVER: it gives an expression that reads the column which windows will add.
func (b *binder) windowCall(*sqlparser.FuncExpr, *scope) (expr.Node, error) {
	return nil, unsupported("window functions")
}

// windows puts the window functions that windowCall has found above plan.
func (b *binder) windows(_ *scope, plan rel.Node) (rel.Node, error) { return plan, nil }
