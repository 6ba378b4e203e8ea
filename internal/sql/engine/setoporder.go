package engine

import (
	"strconv"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// nameOrder writes ORDER BY 2 of a set operation as ORDER BY the name of its second column. go-mysql-server
// (planbuilder/orderby.go) puts the first SELECT's expression in place of the number, which is then evaluated on rows of the result:
// it sorts by a constant, or looks for a column that is not there.
func nameOrder(u *sqlparser.SetOp) {
	var list sqlparser.SelectExprs
	for left := u.Left; list == nil; {
		switch s := left.(type) {
		case *sqlparser.Select:
			list = s.SelectExprs
		case *sqlparser.ParenSelect:
			left = s.Select
		case *sqlparser.SetOp:
			left = s.Left
		default:
			return
		}
	}
	for _, o := range u.OrderBy {
		v, ok := o.Expr.(*sqlparser.SQLVal)
		if !ok || v.Type != sqlparser.IntVal {
			continue
		}
		n, err := strconv.Atoi(string(v.Val))
		if err != nil || n < 1 || n > len(list) || starBefore(list, n) {
			continue
		}
		e, ok := list[n-1].(*sqlparser.AliasedExpr)
		if !ok {
			continue
		}
		if e.As.IsEmpty() {
			if _, column := e.Expr.(*sqlparser.ColName); column {
				continue
			}
			if e.InputExpression == "" {
				continue
			}
			e.As = sqlparser.NewColIdent(e.InputExpression)
		}
		for i, other := range list { // of two columns with one name the number says which
			if a, ok := other.(*sqlparser.AliasedExpr); ok && i != n-1 && a.As.EqualString(e.As.String()) {
				return
			}
		}
		o.Expr = &sqlparser.ColName{Name: e.As}
	}
}

func starBefore(list sqlparser.SelectExprs, n int) bool {
	for _, e := range list[:n] {
		if _, ok := e.(*sqlparser.StarExpr); ok {
			return true
		}
	}
	return false
}
