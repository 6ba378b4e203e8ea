package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// UPDATE and DELETE by packages of our own: they find the rows (package exec), and the changer changes them (changerows.go).

// attemptChange executes a statement that changes rows once, in a context of its own. errOrdinary: nothing has been done, and
// go-mysql-server has to.
func (x *execution) attemptChange(r request, stmt sqlparser.Statement, locks lockPlan) (err error) {
	defer x.h.recovered(r.query, &err)
	sc, err := x.h.sm.NewContextWithQuery(x.ctx, x.c, r.query)
	if err != nil {
		return err
	}
	if sc, err = sc.ProcessList.BeginQuery(sc, r.query); err != nil {
		return err
	}
	defer sc.ProcessList.EndQuery(sc)
	s := x.s
	s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: writing, deferred: !reacts(stmt), locks: locks, scanLocks: scanLocks(sc),
		flags: &sql.QueryFlags{}, by: x}
	s.stmt.by = x
	s.stmt.ids.inserts(stmt)
	s.stmt.atCommit = onlyInserts(stmt) && x.autocommit(sc)
	if s.latest = s.transaction(); s.latest != nil {
		s.latest.startStatement(x.lockUntil)
	}
	t, err := s.current(sc)
	if err != nil {
		return err
	}
	s.latest = t
	if t.readOnly && x.explains == noExplain && len(s.temporary.tables) == 0 {
		return sql.ErrReadOnlyTransaction.New()
	}
	c, warned, err := x.planChange(sc, stmt, &queryHost{ctx: sc, s: s, parameters: r.bindings, program: x.program})
	if errors.Is(err, bind.ErrUnsupported) {
		x.h.e.log.Debug("a statement is left to go-mysql-server", "why", err, "query", x.query)
		return errOrdinary
	}
	sql.IncrementStatusVariable(sc, "Questions", 1)
	s.ClearWarnings()
	if err != nil {
		return clientSide(err)
	}
	for _, w := range append(slices.Clip(x.hinted), warned...) {
		s.Warn(w)
	}
	if t := s.transaction(); t != nil && t.edit == nil {
		t.used().add(&s.stmt.uses) // what was looked at before the transaction began
		x.pinned = t.schema
	}
	switch {
	case x.explains != noExplain:
		err = x.explain(sc, c.Query, c)
	default:
		x.schema = types.OkResultSchema
		var r types.OkResult
		if r, err = x.change(sc, c); err == nil {
			x.counted(r)
		}
	}
	if err != nil {
		return clientSide(err)
	}
	if x.autocommit(sc) {
		if t := s.transaction(); t != nil {
			if err := s.CommitTransaction(sc, t); err != nil {
				return err
			}
			s.SetTransaction(nil)
		}
	}
	return x.statementOver()
}

// planChange binds a statement that changes rows and makes its plan. The warnings are those about constants.
func (x *execution) planChange(sc *sql.Context, stmt sqlparser.Statement, h *queryHost) (c *rel.Change, warned []*sql.Warning, err error) {
	h.env = environment(sc)
	h.env.Warn = func(code uint16, message string) {
		warned = append(warned, &sql.Warning{Level: "Warning", Code: int(code), Message: message})
	}
	h.assigning = assignedVariables(h.env, x.query, stmt)
	if c, err = bind.BindChange(h, stmt); err != nil {
		return nil, warned, err
	}
	if err := x.ownChange(sc, c); err != nil {
		return nil, warned, err
	}
	h.env.Ignore = c.Ignore
	if err := optimize.Change(c, h.env, optimize.Options{}); err != nil {
		return nil, warned, err
	}
	return c, warned, strictly(h.env, nil)
}

// constants evaluates the conditions that read no row: what strict mode makes an error of is one, though there may be no rows.
func constants(c *rel.Change, env *expr.Env) error {
	for _, n := range c.Constants {
		v, err := n.Eval(env)
		if err != nil {
			return err
		}
		if _, _, err := expr.Truth(env, v); err != nil {
			return err
		}
	}
	return strictly(env, nil)
}

// ownChange finds out whether the rows of the tables can be changed here; else the error wraps bind.ErrUnsupported.
func (x *execution) ownChange(sc *sql.Context, c *rel.Change) error {
	s, err := x.s.schema(sc)
	if err != nil {
		return err
	}
	targets := c.Targets
	if c.Insert != nil {
		targets = []*rel.Target{c.Insert.Into}
	}
	if c.Insert == nil && !c.Delete {
		if err := keyOfTwo(targets); err != nil {
			return err
		}
	}
	own := map[uint64]bool{}
	if r := x.s.transaction(); r != nil && r.readOnly && x.explains == noExplain {
		for _, t := range targets {
			if q, ok := t.Table.(*queryTable); !ok || !q.t.l.desc.Temporary() {
				return sql.ErrReadOnlyTransaction.New()
			}
		}
	}
	for _, t := range targets {
		if q, ok := t.Table.(*queryTable); ok {
			own[q.t.l.desc.ID] = true
		}
	}
	x.foreignKeys = map[uint64]*foreignKeys{}
	for _, t := range targets {
		q, ok := t.Table.(*queryTable)
		if !ok {
			return fmt.Errorf("%w: rows of table %s", bind.ErrUnsupported, t.Table.Name())
		}
		db := s.snap.Databases()[q.t.l.desc.Database]
		x.s.stmt.uses.database(db.ID)
		if x.foreignKeys[q.t.l.desc.ID], err = x.s.foreignKeysOf(sc, x.h.e, q.t.l, own); err != nil {
			return err
		}
	}
	return nil
}

// keyOfTwo is error 1706: a table is updated under two names, and its primary key is assigned to under one of them.
func keyOfTwo(targets []*rel.Target) error {
	for i, a := range targets {
		for _, b := range targets[i+1:] {
			q, ok := a.Table.(*queryTable)
			if !ok || a.Table.Database() != b.Table.Database() || a.Table.Name() != b.Table.Name() {
				continue
			}
			for _, p := range q.t.l.primary.parts {
				is := func(s rel.Assignment) bool { return s.Place == p.at }
				if slices.ContainsFunc(a.Sets, is) || slices.ContainsFunc(b.Sets, is) {
					return mysql.NewSQLError(1706, "HY000", "Primary key/partition key update is not allowed since the table is updated both as '%s' and '%s'.",
						a.Alias, b.Alias)
				}
			}
		}
	}
	return nil
}

// change executes the plan of a statement that changes rows. r is what the client is told.
func (x *execution) change(sc *sql.Context, c *rel.Change) (r types.OkResult, err error) {
	env := environment(sc)
	env.Ignore = c.Ignore
	run := exec.New(c.Query, env, &querySource{ctx: sc, s: x.s}, queryOptions(sc, x.s, nil))
	defer func() {
		if cerr := run.Close(); err == nil {
			err = cerr
		}
	}()
	if err := run.Open(); err != nil {
		return r, err
	}
	if x.s.stmt.ignores = c.Ignore; c.Ignore {
		x.s.stmt.deferred = false
	}
	if err := constants(c, env); err != nil {
		return r, err
	}
	w, err := newChanger(sc, x.s, c, env, run, x.foreignKeys)
	if err != nil {
		return r, err
	}
	if c.Insert != nil {
		return x.insert(w)
	}
	if err := w.changeAll(); err != nil {
		return r, err
	}
	if err := w.complete(); err != nil {
		return r, err
	}
	r.RowsAffected = uint64(w.changed)
	if !c.Delete {
		x.s.GetLastQueryInfo().FoundRows.Store(int64(w.matched))
		r.Info = plan.UpdateInfo{Matched: w.matched, Updated: w.changed, Warnings: len(x.s.Warnings())}
		if x.c.Capabilities&mysql.CapabilityClientFoundRows > 0 {
			r.RowsAffected = uint64(w.matched)
		}
		if callsLastInsertID(x.ast) && r.RowsAffected > 0 {
			r.InsertID = uint64(x.s.GetLastQueryInfo().LastInsertId.Load())
		}
	}
	return r, nil
}

// strictly fails with what strict mode makes an error of in the evaluation before.
func strictly(env *expr.Env, err error) error {
	failed := env.Failed()
	var own *expr.Error
	if failed != nil && (err == nil || errors.As(err, &own)) { // it came first
		return failed
	}
	return err
}

// prepareChange checks a statement that changes rows and whose parameters are not known yet. done is false: go-mysql-server has to.
func (h *handler) prepareChange(sc *sql.Context, s *Session, query string) (done bool, err error) {
	query = sql.RemoveSpaceAndDelimiter(query, ';')
	if !s.settings(sc).ownPlanner || !beginsChange(query) {
		return false, nil
	}
	stmt, rest, err := parseQuery(rewrite(query), sql.LoadSqlMode(sc).ParserOptions())
	if err != nil || rest != "" || !changes(stmt) || leftToOrdinary(stmt) {
		return false, nil
	}
	withoutClauses(stmt)
	host := &queryHost{ctx: sc, s: s, preparing: true, env: environment(sc)}
	host.env.Change, host.env.Warn = true, func(uint16, string) {} // of what is not executed yet
	host.assigning = assignedVariables(host.env, query, stmt)
	_, err = bind.BindChange(host, stmt)
	if errors.Is(err, bind.ErrUnsupported) {
		return false, nil
	}
	return true, clientSide(err)
}
