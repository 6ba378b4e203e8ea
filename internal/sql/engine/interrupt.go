package engine

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
)

// A statement can be ended from outside: by KILL, because its time is up (max_execution_time), or because its client has gone.
//
//	B1  What ends a statement says why, and ends the statement's context. Whatever waits, for other nodes, for locks or for time, heeds
//	    the context; whatever computes asks interrupted, which costs a load, at least once for each row.
//	B2  It ends the statement that was meant and no later one of the session.
//	B3  A statement that was ended fails as one that never was (S2), with an error that says why. If its commit was under way and it is
//	    not known what became of it, it is that what is said.
type stopReason uint32

const (
	goingOn stopReason = iota
	killed
	outOfTime
	clientGone
)

// running is the statement that a session executes. Its context is used for one after the other, until
// somebody ends one of them.
type running struct {
	mu       sync.Mutex
	sc       *sql.Context
	cancel   context.CancelFunc
	sequence uint64 // of the statement
	now      bool
	why      atomic.Uint32
	query    string
	since    time.Time
}

// begin notes a statement and returns its context.
func (r *running) begin(ctx context.Context, s *Session, query string, at time.Time) *sql.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sc == nil || r.sc.Err() != nil {
		c, cancel := context.WithCancel(ctx)
		r.sc, r.cancel = s.e.context(c, s), cancel
	}
	r.why.Store(uint32(goingOn))
	r.sequence++
	r.now, r.query, r.since = true, query, at
	return r.sc
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now, r.query = false, ""
}

// close ends the context when the session does.
func (r *running) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		r.cancel()
	}
}

// current is the number of the statement under way; 0: there is none.
func (r *running) current() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.now {
		return 0
	}
	return r.sequence
}

// stop ends a statement, if it is still under way (B2). sequence 0: whichever is.
func (r *running) stop(why stopReason, sequence uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now && (sequence == 0 || sequence == r.sequence) {
		r.why.CompareAndSwap(uint32(goingOn), uint32(why))
		r.cancel()
	}
}

// stopAfter ends the present statement when its time is up. The returned func must be called at its end.
func (r *running) stopAfter(d time.Duration) (over func()) {
	n := r.current()
	t := time.AfterFunc(d, func() { r.stop(outOfTime, n) })
	return func() { t.Stop() }
}

func (r *running) show(p *sql.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now {
		p.Command, p.Query, p.StartedAt = sql.ProcessCommandQuery, r.query, r.since
	}
}

var (
	errKilled    = mysql.NewSQLError(1317, "70100", "Query execution was interrupted")
	errOutOfTime = mysql.NewSQLError(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded")
)

// interrupted is what a loop asks that computes (B1). Nil: go on.
func interrupted(ctx *sql.Context) error {
	if s, ok := ctx.Session.(*Session); ok && stopReason(s.running.why.Load()) != goingOn {
		return errKilled
	}
	return nil
}

// stopped is the error of a statement that was ended from outside; nil: it was not, or something came of it that matters more (B3).
func (s *Session) stopped(errs ...error) *mysql.SQLError {
	why := stopReason(s.running.why.Load())
	for _, err := range errs {
		var k *kv.Error
		if errors.As(err, &k) && k.Code == kv.ErrAmbiguous {
			return nil
		}
	}
	switch why {
	case goingOn:
		return nil
	case outOfTime:
		return errOutOfTime
	}
	return errKilled
}

// watchedRows asks before each row whether the statement goes on.
type watchedRows struct {
	sql.RowIter
	why *atomic.Uint32
}

// Next implements sql.RowIter.
func (w *watchedRows) Next(ctx *sql.Context) (sql.Row, error) {
	if stopReason(w.why.Load()) != goingOn {
		return nil, errKilled
	}
	return w.RowIter.Next(ctx)
}

// watchRows makes a source of rows one that can be stopped. Every loop of an operator goes through rows of one: those of tables, of
// what a statement keeps in memory, and of recursion. Nil: the node is none.
func (b *builder) watchRows(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	s, ok := ctx.Session.(*Session)
	if !ok {
		return nil, nil
	}
	if s.stmt.native { // asked by ourselves, below
		s.stmt.native = false
		return nil, nil
	}
	switch n.(type) {
	case *plan.ResolvedTable, *plan.IndexedTableAccess, *plan.RecursiveTable, *plan.RecursiveCte, *plan.CachedResults, *plan.HashLookup,
		*plan.Values, *plan.ValueDerivedTable, *plan.JSONTable, *plan.SubqueryAlias:
	default:
		return nil, nil
	}
	if _, counted := n.(sql.WithDescribeStats); counted && s.stmt.explains { // the rows would be counted twice
		return nil, nil
	}
	s.stmt.native = true
	it, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n, row)
	s.stmt.native = false
	if it == nil || err != nil {
		return it, err
	}
	return &watchedRows{it, &s.running.why}, nil
}

// onlySleeps reports whether a statement does nothing but sleep. In MySQL that is not an error when it is ended: SLEEP has been
// interrupted, says its result, 1.
func onlySleeps(stmt sqlparser.Statement) bool {
	s, ok := stmt.(*sqlparser.Select)
	if !ok || len(s.SelectExprs) != 1 || s.Where != nil || len(s.From) > 1 || len(s.From) == 1 && sqlparser.String(s.From[0]) != "dual" {
		return false
	}
	e, ok := s.SelectExprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		return false
	}
	f, ok := e.Expr.(*sqlparser.FuncExpr)
	return ok && f.Name.EqualString("sleep")
}

const executionTimeVariable = "max_execution_time"

var executionTimeHint = regexp.MustCompile(`(?i)\bMAX_EXECUTION_TIME\s*\(\s*(\d+)\s*\)`)

// executionLimit is how long a statement may take; 0: as long as it likes. As in MySQL it is for SELECT alone, and the hint comes first.
func (x *execution) executionLimit(stmt sqlparser.Statement, sc *sql.Context) time.Duration {
	if x.kind != reading {
		return 0
	}
	var first *sqlparser.Select
	for first == nil {
		switch s := stmt.(type) {
		case *sqlparser.Select:
			first = s
		case *sqlparser.ParenSelect:
			stmt = s.Select
		case *sqlparser.SetOp:
			stmt = s.Left
		default:
			return 0
		}
	}
	if first.Lock != nil && first.Lock.Type != "" { // it is not read-only
		return 0
	}
	for _, c := range first.Comments {
		if m := executionTimeHint.FindSubmatch(c); m != nil {
			n, err := strconv.ParseInt(string(m[1]), 10, 32)
			if err == nil {
				return time.Duration(n) * time.Millisecond
			}
		}
	}
	return x.s.settings(sc).maxTime
}
