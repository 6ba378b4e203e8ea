package engine

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Queries are planned and executed by packages of our own (docs/queries.md). What they do not know yet, or do more slowly, is left to
// go-mysql-server before anything has been done (errOrdinary). Attempts, repetition, buffering, commit and failure are execution's, as for
// all statements (S1 to S5).

// ownPlannerVariable turns this off for a session.
const ownPlannerVariable = "longitude_own_planner"

// queryMemoryVariable is how many bytes the operators of a query may keep in memory; 0: no limit.
const queryMemoryVariable = "longitude_query_memory"

const defaultQueryMemory = 256 << 20

// documentSize is about how many bytes a JSON document or a value of go-mysql-server takes.
func documentSize(v any) int {
	switch v := v.(type) {
	case []byte:
		return 24 + len(v)
	case datums: // a row that is about to be changed
		n := 64 * len(v)
		for i := range v {
			n += len(v[i].B)
		}
		return n
	}
	return 256
}

// byOwnPlanner executes a query. Not done: it is none, or is left to the ordinary path.
func (x *execution) byOwnPlanner(sc *sql.Context, r request) (done bool, remainder string, err error) {
	k := x.s.settings(sc)
	if !k.ownPlanner {
		return false, "", nil
	}
	if k.noBackslash {
		r.query = doubleBackslashes(r.query)
	}
	r.query = rewrite(r.query)
	form, query := explainedQuery(r.query)
	discard := false
	if form == noExplain {
		query, discard = doneQuery(query)
	}
	if form == noExplain && !discard && !beginsQuery(r.query) && !beginsChange(r.query) {
		return false, "", nil
	}
	whole := r.query
	r.query = query
	parsed, remainder, err := parseQuery(r.query, sql.LoadSqlMode(sc).ParserOptions())
	if err == nil {
		parsed, err = x.program.localize(parsed)
	}
	stmt, isQuery := parsed.(sqlparser.SelectStatement)
	change := !isQuery && changes(parsed)
	var into *sqlparser.Into
	if isQuery {
		into = takeInto(stmt)
	}
	if err != nil || !isQuery && !change || remainder != "" && !r.multi || leftToOrdinary(parsed) {
		x.h.e.log.Debug("a query is left to go-mysql-server", "why", cmp.Or(err, errors.New("its syntax")), "query", r.query)
		return false, "", nil // an error of the parser is worded there as well
	}
	x.explains, x.discards, x.into = form, discard, into
	if remainder != "" {
		r.query, whole = r.query[:len(r.query)-len(remainder)], whole[:len(whole)-len(remainder)]
		if k.noBackslash {
			remainder = halveBackslashes(remainder)
		}
	}
	r.query = sql.RemoveSpaceAndDelimiter(r.query, ';')
	x.kind, x.more, x.query, x.ast = reading, x.behind || remainder != "", r.query, parsed
	if change && form == noExplain {
		x.kind = writing
	}
	if form != noExplain {
		x.query = sql.RemoveSpaceAndDelimiter(whole, ';')
	} else if discard || into != nil {
		x.query = sql.RemoveSpaceAndDelimiter(whole, ';')
	} else if done, err := x.shortcut(parsed); done {
		return true, remainder, err
	}
	x.watch()
	bindings, err := expressions(r.bindings)
	if err != nil {
		return true, remainder, x.h.e.clientError(sc, err, nil)
	}
	if x.asOf, err = x.findAsOf(sc, r.query, parsed, bindings); err == nil && x.asOf != nil && x.s.GetTransaction() != nil {
		err = errAsOfInside
	}
	if err != nil {
		return true, remainder, x.h.e.clientError(sc, err, nil)
	}
	if err := unknownLocked(parsed); err != nil {
		return true, remainder, x.h.e.clientError(sc, err, nil)
	}
	locks := x.lockPlan(sc, parsed, bindings)
	stop := func() {}
	if limit := x.executionLimit(parsed, sc); limit > 0 {
		stop = x.s.running.stopAfter(limit)
	}
	withoutClauses(parsed)
	if isQuery && x.program == nil {
		limitSelect(stmt, k.selectLimit)
	}
	err = x.repeat(sc, func() error {
		if change {
			return x.attemptChange(r, parsed, locks)
		}
		return x.attemptQuery(r, stmt, locks)
	})
	stop()
	if err == errOrdinary {
		x.out.reset()
		x.explains, x.discards, x.into = noExplain, false, nil
		return false, "", nil
	}
	x.byOwn = true
	if err != nil {
		return true, remainder, err
	}
	if form == noExplain && !discard && into == nil {
		x.learn(sc)
	}
	x.setStatus(sc)
	if form == explainAnalyze {
		x.out.note(x.repeats)
	}
	return true, remainder, x.out.finish(x.more)
}

// attemptQuery executes a query once, in a context of its own. errOrdinary: nothing has been done, and go-mysql-server has to.
func (x *execution) attemptQuery(r request, stmt sqlparser.SelectStatement, locks lockPlan) (err error) {
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
	s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: reading, deferred: true, asOf: x.asOf, locks: locks,
		flags: &sql.QueryFlags{}, by: x}
	if s.latest = s.transaction(); s.latest != nil {
		s.latest.startStatement(x.lockUntil)
	}
	t, err := s.current(sc)
	if err != nil {
		return err
	}
	s.latest = t
	q, warned, err := x.plan(sc, stmt, &queryHost{ctx: sc, s: s, parameters: r.bindings, program: x.program})
	if errors.Is(err, bind.ErrUnsupported) {
		x.h.e.log.Debug("a query is left to go-mysql-server", "why", err, "query", x.query)
		return errOrdinary
	}
	sql.IncrementStatusVariable(sc, "Questions", 1)
	if err != nil {
		s.ClearWarnings()
		return clientSide(err)
	}
	s.ClearWarnings()
	for _, w := range append(slices.Clip(x.hinted), warned...) {
		s.Warn(w)
	}
	sql.IncrementStatusVariable(sc, "Com_select", 1)
	if t := s.transaction(); t != nil && t.edit == nil {
		t.used().add(&s.stmt.uses) // what was looked at before the transaction began
		x.pinned = t.schema
	}
	switch {
	case x.explains != noExplain:
		err = x.explain(sc, q, nil)
	case x.gives != nil:
		err = x.executeQuery(sc, q, nil, x.gives(q))
	case x.into != nil:
		err = x.selectInto(sc, q)
	case x.discards:
		x.out.ok(types.OkResult{})
		err = x.executeQuery(sc, q, nil, nil)
	default:
		x.schema, x.described = querySchema(q), describedQuery(q)
		x.out.begin(queryFields(sc, q))
		err = x.executeQuery(sc, q, nil, newQueryRowSender(x, sc, q))
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

// plan binds a query and makes its plan. The warnings are those about constants.
func (x *execution) plan(sc *sql.Context, stmt sqlparser.SelectStatement, h *queryHost) (q *rel.Query, warned []*sql.Warning, err error) {
	h.env = environment(sc)
	h.env.Warn = func(code uint16, message string) {
		warned = append(warned, &sql.Warning{Level: "Warning", Code: int(code), Message: message})
	}
	h.assigning = assignedVariables(h.env, x.query, stmt)
	if q, err = bind.Bind(h, stmt); err != nil {
		return nil, warned, err
	}
	return q, warned, optimize.Optimize(q, h.env, optimize.Options{})
}

// queryOptions are what a session decides about the execution of a query.
func queryOptions(sc *sql.Context, s *Session, m *exec.Measure) exec.Options {
	o := exec.Options{MaxRecursion: 1000, Session: s, Measure: m, MemorySetting: queryMemoryVariable, SizeOf: documentSize}
	if n, ok := integerVariable(sc, queryMemoryVariable); ok {
		o.MemoryLimit = n
	}
	if n, ok := integerVariable(sc, "cte_max_recursion_depth"); ok {
		o.MaxRecursion = int(n)
	}
	return o
}

// rowReceiver takes the rows of a query, whose values it may not keep the slice of.
type rowReceiver interface {
	send(env *expr.Env, row []expr.Value) error
}

// executeQuery executes a plan and gives its rows to a receiver; nil: to none.
func (x *execution) executeQuery(sc *sql.Context, q *rel.Query, m *exec.Measure, to rowReceiver) (err error) {
	env := environment(sc)
	run := exec.New(q, env, &querySource{ctx: sc, s: x.s}, queryOptions(sc, x.s, m))
	defer func() {
		if cerr := run.Close(); err == nil {
			err = cerr
		}
	}()
	row := make([]expr.Value, len(q.Out))
	if err := run.Open(); err != nil {
		return err
	}
	sent := 0
	for {
		if err := interrupted(sc); err != nil {
			return err
		}
		ok, err := run.Next(row)
		if err != nil && to != nil && interrupted(sc) != nil && onlySleeps(x.ast) && !x.h.e.draining.Load() {
			row[0] = expr.Int(1) // SLEEP says that it was ended
			return to.send(env, row)
		}
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		sent++
		if to == nil {
			continue
		}
		if err := to.send(env, row); err != nil {
			return err
		}
	}
	i := x.s.GetLastQueryInfo()
	i.RowCount.Store(-1)
	i.FoundRows.Store(int64(sent))
	if q.FoundRows {
		i.FoundRows.Store(int64(run.FoundRows()))
	}
	return nil
}

// querySchema is the result as compiled plans know it (P4).
func querySchema(q *rel.Query) (out sql.Schema) {
	for _, o := range q.Out {
		c := &q.Meta.Columns[o.Col]
		col := &sql.Column{Name: o.Name, Nullable: o.Nullable}
		if c.Origin != nil {
			col.Source, col.DatabaseSource = c.Origin.Table, c.Origin.Database
			if t, ok := c.Origin.Source.(*queryTable); ok {
				col.Type = t.t.l.schema.Schema[c.Origin.Place].Type
			}
		}
		if col.Type == nil {
			col.Type = hostType(c.Type)
		}
		out = append(out, col)
	}
	return out
}

// describedQuery is what is needed of a query to describe its result again (queryFields).
func describedQuery(q *rel.Query) *rel.Query {
	out := &rel.Query{Meta: &rel.Metadata{}}
	for _, o := range q.Out {
		o.Col = out.Meta.Add(q.Meta.Columns[o.Col])
		out.Out = append(out.Out, o)
	}
	return out
}

// prepareQuery describes the result of a query whose parameters are not known yet. ok is false: go-mysql-server has to.
func (h *handler) prepareQuery(sc *sql.Context, s *Session, query string) (fields []*querypb.Field, ok bool, err error) {
	k := s.settings(sc)
	query = sql.RemoveSpaceAndDelimiter(query, ';')
	if !k.ownPlanner || !beginsQuery(query) {
		return nil, false, nil
	}
	parsed, rest, err := parseQuery(rewrite(query), sql.LoadSqlMode(sc).ParserOptions())
	stmt, isQuery := parsed.(sqlparser.SelectStatement)
	if err != nil || !isQuery || rest != "" || leftToOrdinary(stmt) {
		return nil, false, nil
	}
	withoutClauses(stmt)
	x := &execution{h: h, s: s}
	q, _, err := x.plan(sc, stmt, &queryHost{ctx: sc, s: s, preparing: true})
	if errors.Is(err, bind.ErrUnsupported) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, clientSide(err)
	}
	return queryFields(sc, q), true, nil
}
