package engine

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// handler takes the commands of connections. Statements are executed here rather than by go-mysql-server's own handler:
// that one sends rows before the commit, leaves transactions open after an error, and cannot repeat a statement.
type handler struct {
	mysql.Handler // for everything that is not a statement
	e             *Engine
	sm            *server.SessionManager
	senders       knownSenders
}

// request is one statement as it came.
type request struct {
	query    string
	multi    bool
	bindings map[string]*querypb.BindVariable
	rows     rowForm
}

// sender sends a result, or a part of one; more: another statement's result follows.
type sender func(r *sqltypes.Result, more bool) error

// ComQuery implements mysql.Handler.
func (h *handler) ComQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) error {
	_, err := h.statement(ctx, c, request{query: query, rows: h.direct(textRows, reflect.ValueOf(send).Pointer())}, sender(send))
	return err
}

// ComMultiQuery implements mysql.Handler. After an error nothing follows, as in MySQL: vitess would execute the rest, and send answers
// that the client takes for those to its next statements.
func (h *handler) ComMultiQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) (string, error) {
	rest, err := h.statement(ctx, c, request{query: query, multi: true, rows: h.direct(textRows, reflect.ValueOf(send).Pointer())}, sender(send))
	if err != nil {
		rest = ""
	}
	return rest, err
}

// ComStmtExecute implements mysql.Handler.
func (h *handler) ComStmtExecute(ctx context.Context, c *mysql.Conn, p *mysql.PrepareData, send func(*sqltypes.Result) error) error {
	mendTimes(p.BindVars)
	form := h.direct(binaryRows, reflect.ValueOf(send).Pointer())
	_, err := h.statement(ctx, c, request{query: p.PrepareStmt, bindings: p.BindVars, rows: form}, func(r *sqltypes.Result, _ bool) error { return send(r) })
	if failed, ok := err.(*mysql.SQLError); ok {
		if own, ok := c.Conn.(*countedConn); ok && !onConnection() {
			own.instead = errorBody(failed) // vitess forgets the error of a statement for which a cursor was asked
		}
	}
	return err
}

// ComPrepare implements mysql.Handler. What preparing reads of the catalog is no part of a transaction, unless one is open.
func (h *handler) ComPrepare(ctx context.Context, c *mysql.Conn, query string, _ *mysql.PrepareData) (fields []*querypb.Field, err error) {
	defer h.recovered(query, &err)
	if err := h.refuse(c); err != nil {
		return nil, err
	}
	if tooManyParameters(query) {
		return nil, errTooManyParameters
	}
	if s := h.e.sessions.of(c); s != nil {
		if p := s.planOf(ctx, query); p != nil {
			results := s.known.results
			if fields, ok := p.preparedFields(results); ok {
				if err := s.release(ctx); err != nil {
					return nil, h.e.clientError(ctx, err, s.transaction())
				}
				return fields, nil
			}
			defer func() {
				if err == nil {
					p.prepared.Store(&fieldsFor{results, fields})
				}
			}()
		}
	}
	sc, err := h.sm.NewContextWithQuery(ctx, c, query)
	if err != nil {
		return nil, h.e.clientError(ctx, err, nil)
	}
	s, ok := sc.Session.(*Session)
	if !ok {
		return nil, mysql.NewSQLError(1105, "HY000", "session of unknown kind %T", sc.Session)
	}
	if sc, err = sc.ProcessList.BeginOperation(sc); err != nil {
		return nil, h.e.clientError(ctx, err, nil)
	}
	defer sc.ProcessList.EndOperation(sc)
	if s.GetTransaction() == nil {
		defer func() {
			if t, ok := s.GetTransaction().(*tx); ok && t != nil {
				t.rollback(ctx)
			}
			s.SetTransaction(nil)
		}()
	}
	defer func() {
		if rerr := s.release(ctx); rerr != nil { // the columns, or that there is no such table, may not be told yet
			fields, err = nil, h.e.clientError(ctx, rerr, s.transaction())
		}
	}()
	if fields, err = h.describe(sc, s, query); err != nil {
		t, _ := s.GetTransaction().(*tx)
		return nil, h.e.clientError(ctx, err, t)
	}
	return fields, nil
}

// describe checks a statement as far as that goes without its parameters, and describes the rows that it will give; nil: it gives none,
// or describes them when it is executed.
func (h *handler) describe(sc *sql.Context, s *Session, query string) ([]*querypb.Field, error) {
	if s.settings(sc).noBackslash {
		query = doubleBackslashes(query)
	}
	if done, err := s.prepareCall(sc, query); done {
		return nil, err // the columns are told with each of its results
	}
	if fields, ok, err := h.prepareQuery(sc, s, query); ok {
		return fields, err
	}
	if done, err := h.prepareChange(sc, s, query); done {
		return nil, err
	}
	if own := ownAlone(query); own != nil {
		if own.answer != nil {
			return nil, nil // its columns are told with its rows
		}
		query = own.instead
	}
	n, err := h.prepare(sc, forShare(plainComments(query), true))
	if err != nil {
		return nil, err
	}
	if noRows(n) || types.IsOkResultSchema(n.Schema(sc)) {
		return nil, nil
	}
	return resultFields(sc, n.Schema(sc)), nil
}

// prepare plans a statement as far as that goes without its parameters.
func (h *handler) prepare(sc *sql.Context, query string) (sql.Node, error) {
	query = sql.RemoveSpaceAndDelimiter(query, ';')
	if mentionsAsOf(query) || upsertsSelect.MatchString(query) {
		if stmt, _, err := h.e.gms.Parser.ParseOneWithOptions(sc, query, sql.LoadSqlMode(sc).ParserOptions()); err == nil {
			settleAsOf(stmt)
			h.e.reshape(sc, stmt)
			return h.e.gms.PrepareParsedQuery(sc, query, query, stmt)
		}
	}
	return h.e.gms.PrepareQuery(sc, query)
}

// noRows reports whether a statement answers with a count, whatever its plan says before it is analyzed.
func noRows(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.InsertInto:
		return n.Returning == nil
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return true
	}
	return false
}

// ComInitDB implements mysql.Handler.
func (h *handler) ComInitDB(c *mysql.Conn, name string) (err error) {
	defer h.recovered("USE "+name, &err)
	if err := h.refuse(c); err != nil {
		return err
	}
	err = h.Handler.ComInitDB(c, name)
	if s := h.e.sessions.of(c); s != nil {
		if rerr := s.release(context.Background()); rerr != nil {
			err = rerr
		}
	}
	if err != nil {
		err = h.e.clientError(context.Background(), err, nil)
	}
	return err
}

// recovered turns a panic into an error: the statement is lost, the connection and the process are not (S5).
func (h *handler) recovered(query string, err *error) {
	if p := recover(); p != nil {
		if h.e.o.Fatal != nil && h.e.o.Fatal(p) {
			panic(p)
		}
		h.e.log.Error("panic in a statement", "query", query, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = mysql.NewSQLError(1105, "HY000", "internal error in this statement (%v); it was not executed. Please report it with the server's log", p)
	}
}

// statement executes one statement, with repetitions, and sends its result.
func (h *handler) statement(ctx context.Context, c *mysql.Conn, r request, send sender) (remainder string, err error) {
	if err := h.refuse(c); err != nil {
		return "", err
	}
	began := time.Now()
	h.e.active.Add(1)
	defer h.e.active.Add(-1)
	defer executing(c)()
	s := h.e.sessions.of(c)
	var x *execution
	done := false
	if s != nil {
		s.active, s.cleared = nil, false
		if err := s.locksLapsed(); err != nil {
			return "", err
		}
		ctx = s.running.begin(ctx, s, r.query, began).Context
		defer s.running.end()
		x = &execution{h: h, ctx: ctx, s: s, c: c, out: newOutput(s, send, h.e.o.ResultBuffer)}
		x.out.c, x.out.form = c, r.rows
		done, err = x.byPlan(r)
	}
	if !done {
		sc, err := h.sm.NewContextWithQuery(ctx, c, r.query)
		if err != nil {
			return "", h.e.clientError(ctx, err, nil)
		}
		if x == nil {
			own, ok := sc.Session.(*Session)
			if !ok {
				return "", mysql.NewSQLError(1105, "HY000", "session of unknown kind %T", sc.Session)
			}
			ctx = own.running.begin(ctx, own, r.query, began).Context
			defer own.running.end()
			x = &execution{h: h, ctx: ctx, s: own, c: c, out: newOutput(own, send, h.e.o.ResultBuffer)}
		}
		remainder, err = x.run(sc, r)
		return h.over(x, began, remainder, err)
	}
	return h.over(x, began, "", err)
}

// over counts a statement that is over, and returns what the connection is to hear of it.
func (h *handler) over(x *execution, began time.Time, remainder string, err error) (string, error) {
	x.out.packets.free()
	x.unwatch()
	x.s.clearTemporary()
	if err != nil {
		x.s.setStatus(h.e.context(x.ctx, x.s), x.c) // an error packet does not say it: the next packet does
	}
	x.s.allow()
	took := time.Since(began)
	h.e.m.done(x.kind, took)
	if x.kind == reading && !x.compiled {
		h.e.m.planned(x.byOwn)
	}
	var code int
	if own, ok := err.(*mysql.SQLError); ok {
		code = own.Num
		x.s.failed(own)
	}
	if x.digest == "" {
		x.digest = h.e.statements.digest(x.query)
	}
	h.e.statements.done(x.digest, took, code, x.repeats, x.compiled, x.byOwn)
	if own, ok := err.(*mysql.SQLError); ok && x.out.sent && x.tellMidway(own) {
		return "", nil // as far as it concerns the connection
	}
	return remainder, err
}

// WarningCount implements mysql.Handler.
func (h *handler) WarningCount(c *mysql.Conn) uint16 {
	if s := h.e.sessions.of(c); s != nil {
		return s.WarningCount()
	}
	return h.Handler.WarningCount(c)
}

var showClock = regexp.MustCompile(`(?i)^\s*show\s+clock\s*;?\s*$`)

// What the parser does not know of transactions: an access mode beside WITH CONSISTENT SNAPSHOT (which has no effect here), and
// LOCAL, which means SESSION.
var (
	modeAndSnapshot = regexp.MustCompile(`(?i)^(\s*start\s+transaction\s+)(?:with\s+consistent\s+snapshot\s*,\s*(read\s+(?:only|write))|(read\s+(?:only|write))\s*,\s*with\s+consistent\s+snapshot)`)
	localMode       = regexp.MustCompile(`(?i)^(\s*set\s+)local(\s+transaction\s)`)
)

// rewrite turns what the parser does not know into what it does.
func rewrite(query string) string {
	if showClock.MatchString(query) {
		return "SELECT * FROM longitude.clock"
	}
	query = executedProgram(plainComments(query))
	if q := cmp.Or(statusOfRoutines(query), shownTriggers(query)); q != "" {
		return q
	}
	query = modeAndSnapshot.ReplaceAllString(query, "$1$2$3")
	query = localMode.ReplaceAllString(query, "${1}session$2")
	return forShare(keepLikeEscapes(query), false)
}

// parse parses the next statement of the request. An error of the parser is left to the engine, which words it.
func (x *execution) parse(sc *sql.Context, r *request) (stmt sqlparser.Statement, rest string) {
	plain := x.s.settings(sc).noBackslash
	if plain {
		r.query = doubleBackslashes(r.query)
	}
	r.query = rewrite(r.query)
	if prepared, ok := x.s.GetPreparedQuery(sql.RemoveSpaceAndDelimiter(r.query, ';')); ok && !r.multi && x.program == nil {
		x.h.e.reshape(sc, prepared)
		return prepared, ""
	}
	if own, behind := findOwn(r.query); own != nil {
		if !r.multi && strings.TrimSpace(behind) != "" {
			behind, own = "", nil // a mistake, about which the parser speaks
		}
		if x.own = own; own != nil {
			if rest = strings.TrimSpace(behind); plain {
				rest = halveBackslashes(rest)
			}
			if own.answer != nil {
				return nil, rest
			}
			r.query, r.multi = own.instead, false
			stmt, _, _, _ = x.h.e.gms.Parser.Parse(sc, r.query, false)
			return stmt, rest
		}
	}
	stmt, query, rest, err := x.h.e.gms.Parser.Parse(sc, r.query, r.multi)
	for text, n := r.query, 0; err != nil && n < mostQuoted; n++ {
		var ok bool
		if text, ok = quoteNear(text, err.Error()); !ok {
			break
		}
		if s, q, behind, again := x.h.e.gms.Parser.Parse(sc, text, r.multi); again == nil {
			stmt, query, rest, err = s, q, behind, nil
			r.query = text
		} else if again.Error() != err.Error() {
			err = again
		} else {
			break
		}
	}
	if query != "" {
		r.query = query
	}
	if plain {
		rest = halveBackslashes(rest)
	}
	if err == nil && x.program != nil {
		stmt, err = x.program.literalize(stmt)
	}
	if err != nil {
		return nil, rest
	}
	x.h.e.reshape(sc, stmt)
	return stmt, rest
}

// expressions turns bound values into literals.
func expressions(bindings map[string]*querypb.BindVariable) (map[string]sqlparser.Expr, error) {
	out := make(map[string]sqlparser.Expr, len(bindings))
	for name, b := range bindings {
		v, err := sqltypes.BindVariableToValue(b)
		if err != nil {
			return nil, err
		}
		if out[name], err = sqlparser.ExprFromValue(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
