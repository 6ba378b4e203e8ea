package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// statementKind is what has to be known of a statement before it is planned.
type statementKind uint8

const (
	other statementKind = iota
	reading
	writing
	changingCatalog
	control // of transactions
)

func (k statementKind) String() string {
	return [...]string{"other", "read", "write", "ddl", "transaction"}[k]
}

func kindOfStatement(s sqlparser.Statement) statementKind {
	switch s := s.(type) {
	case *sqlparser.Select:
		if s.Into != nil {
			return writing
		}
		return reading
	case *sqlparser.SetOp, *sqlparser.ParenSelect, *sqlparser.Show, *sqlparser.Explain:
		return reading
	case *sqlparser.Insert, *sqlparser.Update, *sqlparser.Delete, *sqlparser.Load, *sqlparser.Call, *sqlparser.BeginEndBlock:
		return writing
	case *sqlparser.DDL:
		if createsTemporary(s) != nil {
			return writing
		}
		return changingCatalog
	case *sqlparser.AlterTable, *sqlparser.DBDDL:
		return changingCatalog
	case *sqlparser.Begin, *sqlparser.Commit, *sqlparser.Rollback, *sqlparser.Savepoint, *sqlparser.RollbackSavepoint, *sqlparser.ReleaseSavepoint:
		return control
	}
	return other
}

// unnamedIndexes are the columns that ALTER TABLE declares with UNIQUE. go-mysql-server calls the index like the column, even if there is one of
// that name (sql/planbuilder/ddl.go, buildAlterTableClause); MySQL calls it email_2.
func unnamedIndexes(s sqlparser.Statement) (out map[string]bool) {
	a, ok := s.(*sqlparser.AlterTable)
	if !ok {
		return nil
	}
	for _, d := range a.Statements {
		if d.ColumnAction == "" || d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Columns {
			if text := strings.ToLower(sqlparser.String(&c.Type)); strings.HasSuffix(text, " unique") || strings.Contains(text, " unique ") {
				if out == nil {
					out = map[string]bool{}
				}
				out[strings.ToLower(c.Name.String())] = true
			}
		}
	}
	return out
}

// onlyInserts reports whether a statement only adds rows and leaves at the first duplicate.
func onlyInserts(s sqlparser.Statement) bool {
	i, ok := s.(*sqlparser.Insert)
	return ok && i.Ignore == "" && len(i.OnDup) == 0 && !strings.EqualFold(i.Action, sqlparser.ReplaceStr) && len(i.Returning) == 0
}

// reacts reports whether a statement may do something about a duplicate, so that it has to know at each row.
func reacts(s sqlparser.Statement) bool {
	switch s := s.(type) {
	case *sqlparser.Insert:
		return !onlyInserts(s)
	case *sqlparser.Update:
		return s.Ignore != ""
	case *sqlparser.Delete:
		return false
	}
	return true
}

// ignores reports whether a statement takes what does not fit for a warning.
func ignores(s sqlparser.Statement) bool {
	switch s := s.(type) {
	case *sqlparser.Insert:
		return s.Ignore != ""
	case *sqlparser.Update:
		return s.Ignore != ""
	}
	return false
}

// managesAccounts reports whether a statement is about users, roles or privileges.
func managesAccounts(s sqlparser.Statement) bool {
	switch s := s.(type) {
	case *sqlparser.CreateUser, *sqlparser.RenameUser, *sqlparser.DropUser, *sqlparser.CreateRole, *sqlparser.DropRole,
		*sqlparser.GrantPrivilege, *sqlparser.GrantRole, *sqlparser.GrantProxy, *sqlparser.RevokePrivilege, *sqlparser.RevokeRole, *sqlparser.RevokeProxy:
		return true
	case *sqlparser.DDL:
		return s.Authentication != nil
	}
	return false
}
