package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/txn"
)

// This file is the one place where errors get MySQL's codes and SQLSTATEs (S5).

var errIDsExhausted = mysql.NewSQLError(1467, "HY000", "Failed to read auto-increment value from storage engine: the column's type has no values left")

var errAccounts = mysql.NewSQLError(1235, "42000", "users, roles and privileges cannot be changed in this version: there is the user root, without a password, from this machine only")

var errAsOfInside = mysql.NewSQLError(1568, "25001", "AS OF inside an open transaction, which reads at one time already: commit it first, or set %s before it begins", asOfVariable)

func errOrdering(v any) error {
	return mysql.NewSQLError(1231, "42000", "Variable '%s' can't be set to the value of '%v': it is 'wait' (strictly serializable) or 'uncertainty'", orderingVariable, v)
}

// cause strips the engine's wrappers, which errors.As does not see through.
func cause(err error) error {
	for {
		switch e := err.(type) {
		case sql.WrappedInsertError:
			err = e.Cause
		case sql.WrappedTypeConversionError:
			err = e.Err
		default:
			return err
		}
	}
}

// uniqueKeyText finds the message of a duplicate key.
func uniqueKeyText(err error) (string, bool) {
	for err != nil {
		if u, ok := err.(sql.UniqueKeyError); ok {
			return u.Error(), true
		}
		switch e := err.(type) {
		case interface{ Cause() error }:
			err = e.Cause()
		default:
			err = errors.Unwrap(err)
		}
	}
	return "", false
}

func isCondition(err error) bool {
	var e *kv.Error
	return errors.As(err, &e) && e.Code == kv.ErrCondition
}

// clientError is the error as the client gets it. t is the transaction in which it happened, if any.
func (e *Engine) clientError(ctx context.Context, err error, t *tx) *mysql.SQLError {
	out := e.mapError(ctx, err, t)
	e.m.Errors.WithLabelValues(fmt.Sprint(out.Num)).Inc()
	return out
}

func (e *Engine) mapError(ctx context.Context, err error, t *tx) *mysql.SQLError {
	err = cause(err)
	var refused *collation.RefusedError
	if errors.As(err, &refused) {
		return mysql.NewSQLError(1235, "42000", "%s", err)
	}
	if own, ok := err.(*mysql.SQLError); ok {
		return withState(own)
	}
	if text, ok := uniqueKeyText(err); ok {
		return mysql.NewSQLError(1062, "23000", "%s", text)
	}
	if t != nil {
		if t.retry != nil && waitedFor(t.retry) && !t.explicit && t.statements == 0 {
			return lockWaitError() // the transaction is the statement, and that is what this error says is undone
		}
		if t.retry != nil {
			return e.deadlock(t.retry, t)
		}
		if t.failed != nil {
			err = t.failed
		}
	}
	var k *kv.Error
	if errors.As(err, &k) {
		return e.mapKV(err, k, t)
	}
	for _, c := range codes {
		if c.kind.Is(err) {
			if sql.ErrTableNotFound.Is(err) {
				return mysql.NewSQLError(c.code, c.state, "%s", missingTableText(ctx, err))
			}
			if c.code == 1046 {
				return mysql.NewSQLError(c.code, c.state, "No database selected")
			}
			return mysql.NewSQLError(c.code, c.state, "%s", text(err, t))
		}
	}
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		return mysql.NewSQLError(1317, "70100", "Query execution was interrupted")
	}
	out := withState(sql.CastSQLError(err))
	if out.Num == 1105 && strings.Contains(out.Message, "is beyond the maximum value that can be held by") { // a BIT; the kind of error has no name
		out.Num, out.State = 1406, "22001"
	}
	if out.Num == 1105 && strings.HasPrefix(out.Message, "syntax error") {
		out.Num, out.State = 1064, "42000"
	}
	if out.Num == 1105 {
		nameByText(out)
	}
	return out
}

func withState(e *mysql.SQLError) *mysql.SQLError {
	if state, ok := states[e.Num]; ok && (e.State == "" || e.State == "HY000") {
		e.State = state
	}
	if e.State == "" {
		e.State = "HY000"
	}
	return e
}

// text is the engine's message, in MySQL's words where clients look at them.
func text(err error, t *tx) string {
	s := err.Error()
	switch {
	case sql.ErrForeignKeyChildViolation.Is(err):
		return "Cannot add or update a child row: a foreign key constraint fails" + constraintText(quoted(s, " table: `", "`"), quoted(s, "fk: `", "`"), t)
	case sql.ErrForeignKeyParentViolation.Is(err):
		return "Cannot delete or update a parent row: a foreign key constraint fails" + constraintText(quoted(s, " table: `", "`"), quoted(s, "fk: `", "`"), t)
	case sql.ErrCheckConstraintViolated.Is(err):
		return fmt.Sprintf("Check constraint '%s' is violated.", quoted(s, "\"", "\""))
	case sql.ErrInsertIntoNonNullableProvidedNull.Is(err):
		return fmt.Sprintf("Column '%s' cannot be null", quoted(s, "'", "'"))
	case sql.ErrReadOnlyTransaction.Is(err) && t != nil && !t.past.Present():
		return fmt.Sprintf("Cannot execute statement in a READ ONLY transaction: it reads the past; to write, set %s and %s to ''", asOfVariable, stalenessVariable)
	case sql.ErrReadOnlyTransaction.Is(err):
		return "Cannot execute statement in a READ ONLY transaction."
	case sql.ErrCantDropFieldOrKey.Is(err):
		return fmt.Sprintf("Can't DROP '%s'; check that column/key exists", quoted(s, "drop '", "'"))
	case sql.ErrForeignKeyNotFound.Is(err):
		return fmt.Sprintf("Can't DROP '%s'; check that column/key exists", quoted(s, "`", "`"))
	case sql.ErrInvalidAutoIncCols.Is(err):
		return "Incorrect table definition; there can be only one auto column and it must be defined as a key"
	case sql.ErrTableAlreadyExists.Is(err):
		return fmt.Sprintf("Table '%s' already exists", quoted(s, "table with name ", " already exists"))
	case sql.ErrDatabaseNotFound.Is(err):
		return fmt.Sprintf("Unknown database '%s'", quoted(s, "database not found: ", ","))
	case sql.ErrColumnExists.Is(err):
		return fmt.Sprintf("Duplicate column name '%s'", quoted(s, "\"", "\""))
	}
	return s
}

// missingTableText names a table that there is not, with the database in which the statement looks for it.
func missingTableText(ctx context.Context, err error) string {
	name := quoted(err.Error(), "table not found: ", ",")
	sc, ok := ctx.(*sql.Context)
	if !ok || name == "" {
		return err.Error()
	}
	database := sc.GetCurrentDatabase()
	if s, err := sessionOf(sc); err == nil && s.stmt.by != nil && s.stmt.by.ast != nil {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if t, ok := n.(sqlparser.TableName); ok && !t.DbQualifier.IsEmpty() && strings.EqualFold(t.Name.String(), name) {
				database = t.DbQualifier.String()
			}
			return true, nil
		}, s.stmt.by.ast)
	}
	return fmt.Sprintf("Table '%s.%s' doesn't exist", database, name)
}

// quoted is what stands between two marks.
func quoted(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// constraintText describes a foreign key as MySQL does.
func constraintText(table, name string, t *tx) string {
	if t == nil || t.schema == nil {
		return fmt.Sprintf(" (CONSTRAINT `%s`)", name)
	}
	f := t.schema.snap.ForeignKey(table, name)
	if f == nil {
		return fmt.Sprintf(" (CONSTRAINT `%s`)", name)
	}
	list := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	out := fmt.Sprintf(" (`%s`.`%s`, CONSTRAINT `%s` FOREIGN KEY (%s) REFERENCES `%s` (%s)", f.Database, f.Table, f.Name, list(f.Columns),
		f.ParentTable, list(f.ParentColumns))
	for _, a := range []struct{ on, action string }{{"DELETE", f.OnDelete}, {"UPDATE", f.OnUpdate}} {
		if a.action != "" && a.action != string(sql.ForeignKeyReferentialAction_DefaultAction) {
			out += " ON " + a.on + " " + a.action
		}
	}
	return out + ")"
}

func lockWaitError() *mysql.SQLError {
	return mysql.NewSQLError(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")
}

// deadlock is what MySQL says to a transaction that has to be repeated, in its words: libraries look at them.
//
// One of the reasons is of the clocks' making: a version that may or may not have been there when the transaction began
// (rule 1). Where the node cannot repeat for it, the message says how it is avoided.
func (e *Engine) deadlock(err error, t *tx) *mysql.SQLError {
	e.m.Given.Inc()
	e.log.Debug("a client has to repeat its transaction", "why", err)
	why := "conflict"
	var k *kv.Error
	if errors.As(err, &k) {
		why = k.Code.String()
	}
	if t != nil && t.sent {
		why += fmt.Sprintf("; the node did not repeat the statement, because rows of it had been sent, as of any result larger than %s", printBytes(e.o.ResultBuffer))
	}
	if k != nil && k.Code == kv.ErrUncertain {
		why += "; it comes of the uncertainty of the clocks, and not in transactions that begin after SET longitude_ordering = 'wait'"
	}
	return mysql.NewSQLError(1213, "40001", "Deadlock found when trying to get lock; try restarting transaction (%s)", why)
}

// printBytes writes a size.
func printBytes(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// mapKV maps what the layers below report.
func (e *Engine) mapKV(err error, k *kv.Error, t *tx) *mysql.SQLError {
	switch {
	case txn.Retryable(err):
		return e.deadlock(err, t)
	case k.Code == kv.ErrTooLarge:
		return mysql.NewSQLError(1197, "HY000", "%s", k.Msg)
	case t != nil && t.lost():
		return e.deadlock(err, t) // earlier statements of it are lost as well
	case k.Code == kv.ErrCondition:
		if t != nil {
			if p := t.expected.of(k.Key); p.x != nil {
				return mysql.NewSQLError(1062, "23000", "%s", duplicateText(sql.NewEmptyContext(), p.x, p.d))
			}
		}
		return mysql.NewSQLError(1062, "23000", "Duplicate entry: %v", err)
	case k.Code == kv.ErrLocked:
		return mysql.NewSQLError(3572, "HY000", "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")
	case k.Code == kv.ErrLockWait:
		return lockWaitError()
	case k.Code == kv.ErrUnavailable:
		return mysql.NewSQLError(1205, "HY000", "the data cannot be reached, nothing was done: %v; the statement may be tried again", err)
	case k.Code == kv.ErrAmbiguous:
		return mysql.NewSQLError(1180, "HY000", "it is not known whether the transaction was committed: %v; look before repeating it", err)
	case k.Code == kv.ErrFuture:
		return mysql.NewSQLError(1210, "HY000", "Incorrect time to read at: %s", k.Msg)
	case k.Code == kv.ErrFenced && e.refusal() != "":
		return mysql.NewSQLError(1290, "HY000", "%s", e.refusal())
	case k.Code == kv.ErrFenced:
		return mysql.NewSQLError(1290, "HY000", "this node refuses transactions: %v; the other nodes go on", err)
	}
	e.log.Error("statement failed", "error", err)
	return mysql.NewSQLError(1105, "HY000", "%v", err)
}

// refusal is why this node's own clock gives no readings.
func (e *Engine) refusal() string {
	if e.o.Refusal == nil {
		return ""
	}
	return e.o.Refusal()
}
