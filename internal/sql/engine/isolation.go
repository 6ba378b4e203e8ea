package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// What MySQL's clients may say about transactions to come: an isolation level, of which there is one, and an access mode,
// for the next transaction (SET TRANSACTION), for all of the session (SET SESSION TRANSACTION) or of sessions to come (SET
// GLOBAL TRANSACTION). go-mysql-server takes the first for the second, and heeds neither.

const (
	isolationVariable = "transaction_isolation"
	readOnlyVariable  = "transaction_read_only"
)

// oldNames are what MySQL before 8.0 called them. Drivers still ask for them by these names.
var oldNames = map[string]string{"tx_isolation": isolationVariable, "tx_read_only": readOnlyVariable}

var errInTransaction = mysql.NewSQLError(1568, "25001", "Transaction characteristics can't be changed while a transaction is in progress")

// isolationType takes the name or number of any level and keeps the one that there is: who looks sees what he gets. It is
// text, since what an enumeration is compared with is converted first, and every level would be equal to every other.
type isolationType struct{ sql.SystemVariableType }

var levels = types.NewSystemEnumType(isolationVariable, "READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", serializable)

// Convert implements sql.Type.
func (t isolationType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if _, _, err := levels.Convert(ctx, v); err != nil {
		return nil, sql.InRange, mysql.NewSQLError(1231, "42000",
			"Variable '%s' can't be set to the value of '%s': it is READ-UNCOMMITTED, READ-COMMITTED, REPEATABLE-READ or SERIALIZABLE; transactions are SERIALIZABLE with each of them", isolationVariable, shownValue(v))
	}
	return serializable, sql.InRange, nil
}

const serializable = "SERIALIZABLE"

func shownValue(v any) string {
	if v == nil {
		return "NULL"
	}
	return strings.ToValidUTF8(fmt.Sprint(v), "?")
}

func isolationVariables() (out []sql.SystemVariable) {
	for _, name := range []string{isolationVariable, "tx_isolation"} {
		scope := sql.SystemVariableScope_Both
		if oldNames[name] != "" {
			scope = sql.SystemVariableScope_Session // a global one would be another variable
		}
		out = append(out, &sql.MysqlSystemVariable{
			Name: name, Scope: sql.GetMysqlScope(scope), Dynamic: true, Default: serializable,
			Type: isolationType{types.NewSystemStringType(name)},
		})
	}
	return append(out, &sql.MysqlSystemVariable{
		Name: "tx_read_only", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Dynamic: true,
		Type: types.NewSystemBoolType("tx_read_only"), Default: int8(0),
	})
}

// GetSessionVariable implements sql.Session.
func (s *Session) GetSessionVariable(ctx *sql.Context, name string) (any, error) {
	name = strings.ToLower(name)
	if now := oldNames[name]; now != "" {
		name = now
	}
	if at := s.timestamp(name); at != nil {
		return timestampText(*at), nil
	}
	return s.BaseSession.GetSessionVariable(ctx, name)
}

// SetSessionVariable implements sql.Session. What a statement says of the next transaction alone is no value of the
// variable.
func (s *Session) SetSessionVariable(ctx *sql.Context, name string, value any) error {
	s.known = nil
	name = strings.ToLower(name)
	if now := oldNames[name]; now != "" {
		name = now
	}
	if ok, err := s.setTimestamp(name, value); ok {
		return err
	}
	if !s.stmt.once || name != readOnlyVariable {
		return s.BaseSession.SetSessionVariable(ctx, name, value)
	}
	v, _, err := types.NewSystemBoolType(name).Convert(ctx, value)
	if err != nil {
		return err
	}
	on := isOn(v)
	s.next = &on
	return nil
}

func isOn(v any) bool {
	switch v := v.(type) {
	case int8:
		return v != 0
	case bool:
		return v
	}
	return false
}

// startsReadOnly is the access mode of a transaction that begins now: its own, that of SET TRANSACTION, or the session's.
func (s *Session) startsReadOnly(ctx *sql.Context, c sql.TransactionCharacteristic) bool {
	switch {
	case c == sql.ReadOnly:
		return true
	case s.next != nil:
		return *s.next
	}
	return s.settings(ctx).readOnly
}

// used notes that a transaction is over: what was said of the next one has been heeded, if it was one. Statements that
// look at no table are none, unless they stand between BEGIN and COMMIT.
func (s *Session) used(t *tx) {
	if s.stmt.begin == "" && (t.accessed || t.explicit) {
		s.next = nil
	}
}

// inTransaction reports whether a transaction is in progress, for MySQL's eyes: one that was begun, or has looked at
// something.
func (s *Session) inTransaction() bool {
	t, ok := s.GetTransaction().(*tx)
	return ok && t != nil && (t.explicit || t.accessed)
}

// beginMode is what a statement says that begins a transaction: "" if it does not begin one.
func beginMode(stmt sqlparser.Statement) string {
	b, ok := stmt.(*sqlparser.Begin)
	switch {
	case !ok:
		return ""
	case b.TransactionCharacteristic == "":
		return "as usual"
	}
	return b.TransactionCharacteristic
}

// ofNext reports whether a statement speaks of the next transaction alone: SET TRANSACTION without a scope.
func ofNext(stmt sqlparser.Statement) bool {
	set, ok := stmt.(*sqlparser.Set)
	if !ok {
		return false
	}
	for _, e := range set.Exprs {
		if e.Name.Qualifier.IsEmpty() && e.Scope == sqlparser.SetScope_None && e.Name.Name.Lowered() == sqlparser.TransactionStr {
			return true
		}
	}
	return false
}
