package bind

import (
	"fmt"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// TableExpr binds an expression over the columns of one table: of a generated column, a functional index part. The columns that it
// reads have their places in t.Columns() for ids. where is how errors name what it belongs to ("functional index"). A *NotOfTable: it has
// what no table can keep.
func TableExpr(h Host, t rel.Table, e sqlparser.Expr, where string) (n expr.Node, nullable bool, err error) {
	b := &binder{h: h, set: h.Settings(), meta: &rel.Metadata{}, database: t.Database()}
	s := newScope(nil)
	s.where = where
	if s.from, err = b.scan(t, t.Name(), nil); err != nil {
		return nil, false, err
	}
	if err := OfTable(e); err != nil {
		return nil, false, err
	}
	if n, err = b.scalar(e, s); err != nil {
		return nil, false, err
	}
	return n, b.nullable(n), nil
}

// NotOfTable is what an expression of a table cannot have.
type NotOfTable struct {
	Function string // its name; "": no function
	Variable bool
	err      error
}

// Error implements error.
func (n *NotOfTable) Error() string {
	if n.Variable {
		return "an expression of a table reads a variable"
	}
	return fmt.Sprintf("an expression of a table calls %s", n.Function)
}

// Unwrap is MySQL's error, if there is one that does not depend on what the expression belongs to.
func (n *NotOfTable) Unwrap() error { return n.err }

// notOfTables are the functions whose value does not depend on their arguments alone, or that do something.
var notOfTables = map[string]string{"uuid": "", "uuid_short": "", "sleep": "", "benchmark": "", "last_insert_id": "", "row_count": "",
	"found_rows": "", "database": "", "schema": "database", "current_user": "", "user": "", "session_user": "user", "system_user": "user",
	"version": "version()", "connection_id": "", "curdate": "", "current_date": "curdate", "curtime": "", "current_time": "curtime", "now": "",
	"localtime": "now", "localtimestamp": "now", "current_timestamp": "now", "sysdate": "", "utc_date": "", "utc_time": "",
	"utc_timestamp": "", "unix_timestamp": "", "get_lock": "", "release_lock": "", "is_free_lock": "", "is_used_lock": "",
	"release_all_locks": "", "load_file": "", "rand": "", "random_bytes": "", "values": "", "statement_digest": "",
	"statement_digest_text": "", "current_role": "", "roles_graphml": "", "icu_version": "icu_version()", "updatexml": "", "name_const": ""}

// OfTable reports what an expression has that a table cannot keep, as a *NotOfTable; nil: nothing.
func OfTable(e sqlparser.Expr) (found error) {
	note := func(n *NotOfTable) (bool, error) {
		if found == nil {
			found = n
		}
		return false, nil
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery, *sqlparser.ExistsExpr:
			return note(&NotOfTable{})
		case *sqlparser.ColName:
			if name := n.Name.String(); name != "" && name[0] == '@' {
				return note(&NotOfTable{Variable: true})
			}
		case *sqlparser.ValuesFuncExpr:
			return note(&NotOfTable{Function: "values"})
		case *sqlparser.Default:
			return note(&NotOfTable{Function: "default"})
		case *sqlparser.MatchExpr:
			return note(&NotOfTable{Function: "match"})
		case *sqlparser.GroupConcatExpr:
			return note(&NotOfTable{err: groupFunction()})
		case *sqlparser.FuncExpr:
			name := n.Name.Lowered()
			if n.Over != nil {
				return note(&NotOfTable{err: expr.Errorf(3593, "HY000", "You cannot use the window function '%s' in this context.'", name)})
			}
			if isAggregate(name) {
				return note(&NotOfTable{err: groupFunction()})
			}
			if shown, is := notOfTables[name]; is {
				if shown == "" {
					shown = name
				}
				return note(&NotOfTable{Function: shown})
			}
		}
		return found == nil, nil
	}, e)
	return found
}

func groupFunction() error { return expr.Errorf(1111, "HY000", "Invalid use of group function") }
