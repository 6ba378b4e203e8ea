package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// leftToOrdinary reports whether a query is left to the ordinary path by its syntax: it writes its result somewhere, or sets
// variables by a hint.
func leftToOrdinary(stmt sqlparser.SQLNode) (left bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			left = left || n.Into != nil || setsVariables(n.Comments)
		case *sqlparser.SetOp:
			left = left || n.Into != nil
		case *sqlparser.Update:
			left = left || setsVariables(n.Comments)
		case *sqlparser.Delete:
			left = left || setsVariables(n.Comments)
		case *sqlparser.Insert:
			left = left || setsVariables(n.Comments)
		}
		return !left, nil
	}, stmt)
	return left
}

// changes reports whether a statement changes rows in a way that our own packages know.
func changes(stmt sqlparser.Statement) bool {
	switch stmt.(type) {
	case *sqlparser.Update, *sqlparser.Delete, *sqlparser.Insert:
		return true
	}
	return false
}

func setsVariables(cs sqlparser.Comments) bool {
	for _, c := range cs {
		if strings.HasPrefix(string(c), "/*+") && strings.Contains(strings.ToLower(string(c)), "set_var") {
			return true
		}
	}
	return false
}

// withoutClauses takes out of a query what is heeded where its tables are read: FOR UPDATE and its like (lockPlan), and AS OF
// (findAsOf).
func withoutClauses(stmt sqlparser.SQLNode) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			n.Lock = nil
		case *sqlparser.SetOp:
			n.Lock = nil
		case *sqlparser.AliasedTableExpr:
			n.AsOf = nil
		}
		return true, nil
	}, stmt)
}

// unknownLocked is error 3568: FOR UPDATE OF names a table that the FROM clause does not.
func unknownLocked(stmt sqlparser.SQLNode) (err error) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		s, ok := n.(*sqlparser.Select)
		if !ok || s.Lock == nil {
			return true, nil
		}
		for _, t := range s.Lock.Tables {
			name := t.Name.String()
			if name != shareMarker && !slices.ContainsFunc(aliases(s.From), func(a string) bool { return strings.EqualFold(a, name) }) {
				err = mysql.NewSQLError(3568, "HY000", "Unresolved table name '%s' in locking clause.", name)
			}
		}
		return err == nil, nil
	}, stmt)
	return err
}

// aliases are the names by which a FROM clause calls its tables, derived ones included.
func aliases(from sqlparser.TableExprs) (out []string) {
	for _, e := range from {
		switch e := e.(type) {
		case *sqlparser.AliasedTableExpr:
			if t, ok := e.Expr.(sqlparser.TableName); ok && e.As.IsEmpty() {
				out = append(out, t.Name.String())
			} else {
				out = append(out, e.As.String())
			}
		case *sqlparser.JoinTableExpr:
			out = append(out, aliases(sqlparser.TableExprs{e.LeftExpr, e.RightExpr})...)
		case *sqlparser.ParenTableExpr:
			out = append(out, aliases(e.Exprs)...)
		}
	}
	return out
}
