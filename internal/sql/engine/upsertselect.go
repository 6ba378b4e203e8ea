package engine

import (
	"regexp"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// newRows is the name that go-mysql-server's planner gives to the rows that an INSERT would insert (planbuilder.OnDupValuesPrefix).
const newRows = "__new_ins"

// upsertSelect lets INSERT INTO t (a, b) SELECT ... ON DUPLICATE KEY UPDATE b = VALUES(b) find what VALUES means: the planner knows the new
// rows by name only if they are VALUES, so the SELECT becomes a derived table of that name. Without a list of columns nothing is changed.
func upsertSelect(n *sqlparser.Insert) {
	source, ok := n.Rows.(sqlparser.SelectStatement)
	if !ok || len(n.Columns) == 0 || len(n.OnDup) == 0 || !usesValues(n.OnDup) {
		return
	}
	if s, ok := source.(*sqlparser.Select); ok && len(s.From) == 1 {
		if t, ok := s.From[0].(*sqlparser.AliasedTableExpr); ok && t.As.String() == newRows {
			return // done already
		}
	}
	n.Rows = &sqlparser.Select{
		SelectExprs: sqlparser.SelectExprs{&sqlparser.StarExpr{}},
		From: sqlparser.TableExprs{&sqlparser.AliasedTableExpr{Expr: &sqlparser.Subquery{Select: source, Columns: n.Columns},
			As: sqlparser.NewTableIdent(newRows), Auth: sqlparser.AuthInformation{AuthType: sqlparser.AuthType_IGNORE}}},
	}
}

func usesValues(updates sqlparser.OnDup) (found bool) {
	for _, u := range updates {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			_, values := n.(*sqlparser.ValuesFuncExpr)
			found = found || values
			return !found, nil
		}, u.Expr)
	}
	return found
}

// upsertsSelect finds what may be such a statement in a text.
var upsertsSelect = regexp.MustCompile(`(?is)\bselect\b.*\bon\s+duplicate\s+key\s+update\b.*\bvalues\s*\(`)

// ofSelect reports whether an INSERT takes its rows from a query.
func ofSelect(n *sqlparser.Insert) bool {
	_, ok := n.Rows.(sqlparser.SelectStatement)
	return ok
}
