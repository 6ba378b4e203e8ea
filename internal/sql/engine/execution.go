package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/txn"
)

// execution is one statement under way.
type execution struct {
	h       *handler
	ctx     context.Context // of the connection
	s       *Session
	c       *mysql.Conn
	kind    statementKind
	asOf    *txn.Past
	query   string // the statement alone
	ast     sqlparser.Statement
	repeats txn.Repeats
	// lockUntil is how long the statement waits for locks, over all its attempts.
	lockUntil time.Time
	out       *output
	more      bool
	watching  bool // longitude.transactions has been told of the statement

	digest    string      // of the query, if known
	compiled  bool        // executed by a plan
	byOwn     bool        // planned and executed by our own packages (query.go)
	explains  explainForm // EXPLAIN of a query, by our own packages
	discards  bool        // DO: the rows of the query are not sent
	into      *sqlparser.Into
	program   *invocation                  // whose statement it is; nil: it is the client's
	begun     bool                         // the result of a procedure's query has begun to be sent
	gives     func(*rel.Query) rowReceiver // where the rows of the query go; nil: to the client
	hinted    []*sql.Warning               // about optimizer hints
	inserted  *insertedQuery               // of INSERT ... SELECT
	unknown   *planKey                     // the statement is one to make a plan of
	pinned    *schema                      // the version of the catalog that the ordinary path has used
	schema    sql.Schema                   // of the result that it gave
	described *rel.Query                   // how the result was described, if not by schema
	own       *ownStatement                // that the parser does not know; nil: it is none
	behind    bool                         // the statement is that of an EXECUTE, behind which the text goes on
	temporary bool                         // it changes temporary tables, and no others
	dropsToo  []*catalog.Table             // temporary tables that a DROP TABLE drops with others
	// foreignKeys are those of the tables that the statement changes, by table.
	foreignKeys map[uint64]*foreignKeys
}

// run executes the first statement of the request and returns the rest of the text.
func (x *execution) run(sc *sql.Context, r request) (remainder string, err error) {
	if p, inner, rest, err := x.executes(sc, r); err != nil {
		x.s.ClearWarnings()
		return rest, x.h.e.clientError(sc, err, nil)
	} else if p != nil {
		return rest, x.executePrepared(sc, p, inner, rest)
	}
	if done, rest, err := x.calls(sc, r); done {
		if err != nil {
			err = x.h.e.clientError(sc, err, nil)
		}
		return rest, err
	}
	return x.runStatement(sc, r)
}

// runStatement executes the first statement of the request, which is no EXECUTE.
func (x *execution) runStatement(sc *sql.Context, r request) (remainder string, err error) {
	if undo := x.applyHints(sc, r.query); undo != nil {
		defer undo()
	}
	if done, remainder, err := x.byOwnPlanner(sc, r); done {
		return remainder, err
	}
	stmt, remainder := x.parse(sc, &r)
	if own := x.showsLog(stmt); own != nil {
		x.own = own
	}
	if x.own != nil && x.own.answer != nil {
		return remainder, x.answerOwn(sc, r, remainder)
	}
	x.kind, x.more, x.query, x.ast = kindOfStatement(stmt), x.behind || remainder != "", r.query, stmt
	if d := dropsTables(stmt); d != nil {
		if done, err := x.dropTables(sc, d, remainder); done {
			return remainder, err
		}
	}
	if x.temporary, err = x.meansTemporary(sc, stmt); err != nil {
		return remainder, x.h.e.clientError(sc, err, nil)
	}
	if done, err := x.shortcut(stmt); done {
		return remainder, err
	}
	x.watch()
	if limit := x.executionLimit(stmt, sc); limit > 0 {
		defer x.s.running.stopAfter(limit)()
	}
	if managesAccounts(stmt) {
		return remainder, x.h.e.clientError(x.ctx, errAccounts, nil)
	}
	if ofNext(stmt) && x.s.inTransaction() {
		return remainder, x.h.e.clientError(x.ctx, errInTransaction, nil)
	}
	if x.kind == changingCatalog {
		if err := x.beforeChange(sc); err != nil {
			return remainder, err
		}
	}
	bindings, err := expressions(r.bindings)
	if err != nil {
		return remainder, x.h.e.clientError(sc, err, nil)
	}
	if x.asOf, err = x.findAsOf(sc, r.query, stmt, bindings); err == nil && x.asOf != nil && x.s.GetTransaction() != nil {
		err = errAsOfInside
	}
	if err != nil {
		return remainder, x.h.e.clientError(sc, err, nil)
	}
	if f := controlForm(stmt, r.query); f != nil {
		if err := x.repeat(sc, func() error { return x.attemptControl(sc, f, beginMode(stmt)) }); err != nil {
			return remainder, err
		}
		x.learn(sc)
		x.setStatus(sc)
		return remainder, x.out.finish(x.more)
	}
	err = errOrdinary
	if ins, q := x.insertsQuery(sc, &r); q != nil {
		x.inserted = q
		if err = x.repeat(sc, func() error { return x.attempt(r.query, ins, q.without(bindings)) }); err == errOrdinary {
			x.inserted = nil
			x.out.reset()
		}
	}
	if err == errOrdinary {
		err = x.repeat(sc, func() error { return x.attempt(r.query, stmt, bindings) })
	}
	if err != nil {
		if own, ok := err.(*mysql.SQLError); ok {
			err = x.incompatibleKey(stmt, inContext(stmt, own))
		}
		return remainder, err
	}
	x.s.dropTemporary(x.dropsToo)
	x.learn(sc)
	x.setStatus(sc)
	if e, ok := stmt.(*sqlparser.Explain); ok && e.Analyze {
		x.out.note(x.repeats)
	}
	return remainder, x.out.finish(x.more)
}

// answerOwn executes a statement that go-mysql-server has no part in.
func (x *execution) answerOwn(sc *sql.Context, r request, remainder string) error {
	x.kind, x.more, x.query = reading, x.behind || remainder != "", r.query
	x.watch()
	if x.own.changes {
		x.kind = changingCatalog
		if err := x.beforeChange(sc); err != nil {
			return err
		}
	}
	if err := x.repeat(sc, func() error { return x.attemptOwn(sc, x.own.answer) }); err != nil {
		return err
	}
	x.setStatus(sc)
	return x.out.finish(x.more)
}

// repeat makes attempts until one succeeds, or may not be made again (S3). Its error is as the client gets it, but for
// errOrdinary.
func (x *execution) repeat(sc *sql.Context, attempt func() error) error {
	start := x.h.e.now()
	x.lockUntil = start.Add(cmp.Or(x.s.settings(sc).lockWait, x.h.e.o.RetryLimit))
	deadline := start.Add(x.h.e.o.RetryLimit)
	for try := 0; ; try++ {
		began := x.h.e.now()
		err := attempt()
		if err == nil || err == errOrdinary {
			return err
		}
		t := x.s.transaction()
		until := deadline
		if t != nil && waitedFor(t.retry) {
			until = x.lockUntil
		}
		if !x.repeatable(sc, t, err) || x.h.e.now().After(until) || x.ctx.Err() != nil {
			return x.fail(sc, t, err)
		}
		why := reasonOf(t)
		next := t.again()
		x.s.SetTransaction(next)
		x.out.reset()
		x.h.e.pause(try)
		lost := x.h.e.now().Sub(began)
		x.repeats.Add(why, lost)
		next.repeated(why, lost)
		x.h.e.m.Repeated.WithLabelValues(why).Inc()
		x.h.e.m.RepeatTime.Add(lost.Seconds())
	}
}

// waitedFor reports that an attempt was lost because its commit has waited for a lock for as long as it may at once.
func waitedFor(err error) bool {
	var k *kv.Error
	return errors.As(err, &k) && k.Code == kv.ErrWaited
}

// reasonOf says why a transaction has to be repeated.
func reasonOf(t *tx) string {
	var k *kv.Error
	if errors.As(t.retry, &k) {
		return k.Code.String()
	}
	if t.retry == nil {
		return "generated key taken"
	}
	return "other"
}

// pause waits a little before a repetition, longer each time.
func (e *Engine) pause(try int) {
	d := time.Millisecond << min(try, 6)
	e.o.RT.Sleep(d/2 + time.Duration(e.o.RT.Uint64()%uint64(d)))
}

// repeatable is S3.
func (x *execution) repeatable(sc *sql.Context, t *tx, err error) bool {
	if t == nil || x.out.sent || t.statements > 0 || x.s.stmt.tookFile {
		return false
	}
	if t.retry != nil {
		return true
	}
	// A generated value that somebody had used: there are others (D3).
	if t.kv == nil || !isCondition(t.failed) || !x.autocommit(sc) {
		return false
	}
	return t.takenGenerated()
}

// autocommit reports whether the statement is a transaction of its own.
func (x *execution) autocommit(sc *sql.Context) bool {
	if x.s.GetIgnoreAutoCommit() {
		return false
	}
	return x.s.settings(sc).autocommit
}

// beforeChange prepares a change of the catalog: it is a transaction of its own. One that only reads ends as any other does, and its access
// mode with it; what is left is that of the session.
func (x *execution) beforeChange(sc *sql.Context) error {
	if t := x.s.transaction(); t != nil && !t.past.Present() && !x.temporary {
		return x.h.e.clientError(sc, sql.ErrReadOnlyTransaction.New(), t)
	}
	if err := x.implicitCommit(sc); err != nil {
		return err
	}
	x.s.next = nil
	if x.s.settings(sc).readOnly {
		return x.h.e.clientError(sc, sql.ErrReadOnlyTransaction.New(), nil)
	}
	return nil
}

// implicitCommit ends the open transaction before a statement that changes the catalog, as MySQL does.
func (x *execution) implicitCommit(sc *sql.Context) error {
	t, ok := x.s.GetTransaction().(*tx)
	if !ok || t == nil {
		x.s.SetIgnoreAutoCommit(false)
		return nil
	}
	err := t.commit(sc)
	x.s.endTransaction()
	if err != nil {
		return x.h.e.clientError(sc, err, t)
	}
	return nil
}

// fail ends the statement: its writes are taken back, and a transaction that is lost, or was only this statement, is over
// (S2). The error goes out after rule 2 is paid for what it may tell (S1).
func (x *execution) fail(sc *sql.Context, t *tx, err error) error {
	own := x.h.e.clientError(sc, x.whyStopped(err, t), t)
	if t == nil {
		return own
	}
	t.accessed = t.accessed || x.kind != control && x.kind != other && own.Num != 1792 // which is found before anything is looked at
	if t.kv != nil && t.retry == nil {
		if rerr := t.kv.Release(context.WithoutCancel(sc)); rerr != nil {
			own = x.h.e.clientError(sc, rerr, nil)
		}
	}
	if t.retry != nil {
		t.watched.become(fmt.Sprintf("error %d: %s", own.Num, reasonOf(t)))
	}
	switch {
	case t.retry != nil, x.kind == changingCatalog, x.autocommit(sc), t.kv != nil && t.kv.Finished():
		t.forgetEdit()
		t.rollback(sc)
		x.s.endTransaction()
	default:
		t.forgetEdit()
		t.rollbackStatement()
		t.statements++
	}
	x.setStatus(sc)
	return own
}

// whyStopped is the error of a statement that was ended from outside (B3), or the one that it is.
func (x *execution) whyStopped(err error, t *tx) error {
	errs := []error{err}
	if t != nil {
		errs = append(errs, t.failed, t.retry)
	}
	if own := x.s.stopped(errs...); own != nil {
		return own
	}
	return err
}

// attempt executes the statement once, in a context of its own: the engine cancels it at the end.
func (x *execution) attempt(query string, stmt sqlparser.Statement, bindings map[string]sqlparser.Expr) (err error) {
	defer x.h.recovered(query, &err)
	session, err := x.h.sm.NewContextWithQuery(x.ctx, x.c, query)
	if err != nil {
		return err
	}
	sc, err := session.ProcessList.BeginQuery(session, query)
	if err != nil {
		return err
	}
	defer sc.ProcessList.EndQuery(sc)
	x.s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: x.kind, asOf: x.asOf, once: ofNext(stmt), begin: beginMode(stmt), deferred: !reacts(stmt), drops: dropsIndexes(stmt), explains: explains(stmt)}
	x.s.stmt.flags, x.s.stmt.unnamed = &sql.QueryFlags{}, unnamedIndexes(stmt)
	x.s.stmt.by = x
	x.s.stmt.temporary = x.temporary
	if x.own != nil {
		x.s.stmt.trigger = x.own.trigger
	}
	x.s.stmt.explainJSON = x.own != nil && x.own.json
	x.s.stmt.ignores = ignores(stmt)
	x.s.stmt.ids.inserts(stmt)
	x.s.stmt.atCommit = onlyInserts(stmt) && x.autocommit(sc)
	if x.s.stmt.locks = x.lockPlan(sc, stmt, bindings); x.kind == writing {
		x.s.stmt.scanLocks = scanLocks(sc)
	}
	before, _ := x.s.GetTransaction().(*tx)
	x.s.latest = before
	if before != nil {
		before.startStatement(x.lockUntil)
	}
	if plainly(stmt) || x.kind == changingCatalog && !x.temporary && !createsOfQuery(stmt) {
		x.s.temporary.plain++ // M1
		defer func() { x.s.temporary.plain-- }()
	}
	if x.kind == changingCatalog && !x.temporary {
		if err := x.lockCatalog(sc); err != nil {
			return err
		}
	}
	if x.kind == changingCatalog || x.temporary {
		if d, ok := stmt.(*sqlparser.DDL); ok && x.temporary && d.Action == sqlparser.TruncateStr {
			return x.attemptTruncate(sc, d)
		}
		if s, is := createsLike(stmt); is {
			return x.attemptLike(sc, s)
		}
		if err := x.refuseStar(sc, stmt); err != nil {
			return err
		}
		noted, err := x.noteTables(sc, stmt)
		if err != nil {
			return err
		}
		if d := createsTemporary(noted); d != nil {
			noted = asPermanent(d)
		}
		if a, ok := noted.(*sqlparser.AlterTable); ok && x.s.stmt.tables != nil {
			if len(a.Statements) == 0 {
				x.out.ok(types.OkResult{})
				return x.commitOwn(sc)
			}
			if x.s.stmt.tables.inSteps(a) {
				return x.attemptSteps(sc, "/* step */ "+query, a)
			}
		}
		if noted != stmt {
			stmt, query = noted, "/* columns */ "+query // its own key: the statement that was prepared is another
		}
	}
	if x.inserted != nil {
		if err := x.inserted.bind(x, sc); err != nil {
			return err
		}
		query = "/* rows */ " + query // its own key: the statement that was prepared is another
		if len(bindings) > 0 {
			sc.Session.PrepareQuery(query, stmt)
			defer sc.Session.UnprepareQuery(query)
		}
	}
	if load, ok := stmt.(*sqlparser.Load); ok { // in MySQL's words if there is no such table
		if _, err := (&queryHost{ctx: sc, s: x.s}).Relation(load.Table.DbQualifier.String(), load.Table.Name.String()); err != nil {
			return clientSide(err)
		}
	}
	_, sets := stmt.(*sqlparser.Set)
	if sets {
		x.s.ClearWarnings() // go-mysql-server does so for all others
	}
	autocommit := x.s.settings(sc).autocommit
	schema, iter, _, err := x.h.e.gms.QueryWithBindings(sc, query, stmt, bindings, x.s.stmt.flags)
	if err != nil {
		x.keep()
		return err
	}
	if err := x.drain(sc, schema, iter); err != nil && (interrupted(sc) == nil || !onlySleeps(stmt) || x.h.e.draining.Load()) {
		return err
	} else if err != nil {
		x.out.rows = append(x.out.rows, []sqltypes.Value{sqltypes.MakeTrusted(x.out.fields[0].Type, []byte("1"))})
	}
	if sets {
		if err := x.setsAutocommit(session, autocommit); err != nil { // the end of its plan has cancelled sc
			return err
		}
	}
	if n := x.s.stmt.tables; n != nil {
		n.warnOfTypes(x.s)
	}
	return x.statementOver()
}

// lockCatalog begins the transaction of a change of the catalog with waiting for its turn: planned before, it would have to be planned again.
func (x *execution) lockCatalog(sc *sql.Context) error {
	t, err := x.s.current(sc)
	if err != nil {
		return err
	}
	x.s.latest = t
	return t.lockCatalog(sc)
}

// statementOver is the end of an attempt that has succeeded.
func (x *execution) statementOver() error {
	if t := x.s.transaction(); t != nil { // still open
		if t.retry != nil { // lost, and nobody on the way said so
			return t.retry
		}
		x.s.adopt(t)
		if t.kv != nil {
			if err := t.note(t.kv.Release(x.ctx)); err != nil {
				return err
			}
		}
		if x.kind != control {
			t.statements++
		}
		if !t.accessed && !t.explicit { // autocommit is off, and nothing has begun yet
			t.rollback(x.ctx)
			x.s.endTransaction()
		}
	}
	return nil
}

// keep undoes that the engine forgets a transaction after an error: it is looked at first.
func (x *execution) keep() {
	if x.s.latest != nil && x.s.GetTransaction() == nil {
		x.s.SetTransaction(x.s.latest)
	}
}

// drain reads the result into the output. Closing the iterator commits, outside a transaction.
func (x *execution) drain(sc *sql.Context, schema sql.Schema, iter sql.RowIter) (err error) {
	closed := false
	defer func() {
		if closed {
			return
		}
		// Closing commits, whatever came before: not so after an error.
		t, _ := x.s.GetTransaction().(*tx)
		if t != nil {
			t.broken = true
			defer func() { t.broken = false }()
		}
		_ = iter.Close(sc)
	}()
	if t := x.s.transaction(); t != nil && t.edit == nil {
		t.used().add(&x.s.stmt.uses) // what was looked at before the transaction began
		x.pinned = t.schema
	}
	x.schema = schema
	fields := resultFields(sc, schema)
	switch {
	case x.own != nil && x.own.discard:
		x.out.ok(types.OkResult{})
	case !types.IsOkResultSchema(schema):
		if x.own != nil && x.own.json && len(fields) == 1 {
			fields[0].Name, fields[0].OrgName = "EXPLAIN", "EXPLAIN"
		}
		nameShown(fields, x.ast)
		x.out.begin(fields)
	}
	sending := newRowSender(sc, schema)
	for {
		if err := interrupted(sc); err != nil {
			return err
		}
		row, err := iter.Next(sc)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if x.own != nil && x.own.discard {
			continue
		}
		if types.IsOkResult(row) {
			r := row[0].(types.OkResult)
			x.countAsMySQL(sc, &r)
			x.out.ok(r)
			continue
		}
		values, err := sending.values(sc, row)
		if err != nil {
			return err
		}
		if err := x.out.row(sc, values, x.more); err != nil {
			return err
		}
	}
	closed = true
	return iter.Close(sc)
}

// shortcut answers the statement that pools send to see whether a connection lives: SELECT 1.
func (x *execution) shortcut(stmt sqlparser.Statement) (done bool, err error) {
	sel, ok := stmt.(*sqlparser.Select)
	if !ok || x.own != nil || len(sel.SelectExprs) != 1 || sel.Where != nil || sel.Limit != nil || sel.With != nil || sel.Having != nil || sel.QueryOpts.Distinct ||
		len(sel.GroupBy) > 0 || len(sel.OrderBy) > 0 {
		return false, nil
	}
	if len(sel.From) > 1 || len(sel.From) == 1 && sqlparser.String(sel.From[0]) != "dual" {
		return false, nil
	}
	ex, ok := sel.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return false, nil
	}
	v, ok := ex.Expr.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.IntVal || len(v.Val) > 9 {
		return false, nil
	}
	name := string(v.Val)
	if !ex.As.IsEmpty() {
		name = ex.As.String()
	}
	return x.small(name, v.Val)
}

// small answers with a whole number, if it is a small one.
func (x *execution) small(name string, value []byte) (done bool, err error) {
	n, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil || n < -128 || n > 127 {
		return false, nil
	}
	f := &querypb.Field{Name: name, Type: sqltypes.Int64, ColumnLength: uint32(len(value)) + 1, Charset: uint32(sql.Collation_binary),
		Flags: uint32(querypb.MySqlFlag_NOT_NULL_FLAG | querypb.MySqlFlag_BINARY_FLAG)}
	x.out.begin([]*querypb.Field{f})
	x.out.rows = append(x.out.rows, []sqltypes.Value{sqltypes.MakeTrusted(sqltypes.Int64, value)})
	x.s.ClearWarnings()
	return true, x.out.finish(x.more)
}

func explains(stmt sqlparser.Statement) bool {
	_, ok := stmt.(*sqlparser.Explain)
	return ok
}
