package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// leftToOrdinary reports whether a statement is left to the ordinary path by its syntax: a query within it writes its result
// somewhere.
func leftToOrdinary(stmt sqlparser.SQLNode) (left bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			left = left || n.Into != nil
		case *sqlparser.SetOp:
			left = left || n.Into != nil
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

// limitSelect gives a query without LIMIT that of sql_select_limit.
func limitSelect(stmt sqlparser.SelectStatement, most uint64) {
	if most == math.MaxUint64 {
		return
	}
	limit := &sqlparser.Limit{Rowcount: sqlparser.NewIntVal(strconv.AppendUint(nil, most, 10))}
	switch s := stmt.(type) {
	case *sqlparser.ParenSelect:
		limitSelect(s.Select, most)
	case *sqlparser.Select:
		if s.Limit == nil {
			s.Limit = limit
		}
	case *sqlparser.SetOp:
		if s.Limit == nil {
			s.Limit = limit
		}
	}
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
