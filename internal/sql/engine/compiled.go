package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/catalog"
)

// Statements that come again and again are executed by plans of our own, without go-mysql-server, which takes most of the
// time that such a statement costs: it plans anew each time.
//
//	P1  A plan does what the ordinary path does, to the byte: its result, its effect, what the session knows afterwards. Of
//	    whatever it is not sure, it does nothing and leaves the statement to the ordinary path (errOrdinary): values that do not
//	    fit above all, so that there is one place that says so. Duplicates and missing parents are found by the same code.
//	P2  A plan leaves a statement before it has written anything.
//	P3  A plan is made from the tables of one version of the catalog, and used only by transactions whose own version that is, or
//	    one in which all is the same that the statement has looked at (S4, H5). The rest of a transaction's rules is not here: attempts, repetition, buffering, commit and failure are
//	    execution's, for both ways.
//	P4  A plan is made after the ordinary path has executed the statement: names and types of the result's columns are
//	    what it has answered with.
type compiled struct {
	kind    statementKind
	inserts bool   // it only adds rows
	begin   string // what a BEGIN says of its transaction
	counter string // the status variable that counts such statements
	digest  string
	form    form
	uses    *uses
	schema  atomic.Pointer[schema] // P3
	// prepared is how the columns of the result are described to who prepares the statement.
	prepared atomic.Pointer[fieldsFor]
}

// form is one shape of statement.
type form interface {
	// perform executes the statement once, and gives the result to the output.
	perform(x *execution, sc *sql.Context, given []literal) error
}

// errOrdinary says that the ordinary path has to execute the statement.
var errOrdinary = errors.New("a plan does not know what to do")

// target is the table that a plan works on.
type target struct {
	l  *layout
	db *catalog.Database
}

func (t *target) table(e *Engine) *table {
	return &table{db: &database{e: e, id: t.db.ID, name: t.db.Name, collation: t.db.Collation}, l: t.l}
}

// byPlan executes the statement by its plan, if it has one. Not done: the ordinary path has to.
func (x *execution) byPlan(r request) (done bool, err error) {
	s := x.s
	sc := s.running.sc
	defer s.scratch.trim()
	k := s.settings(sc)
	if !k.compilable {
		return false, nil
	}
	if r.bindings != nil {
		if !s.scratch.bound(r.query, r.bindings) {
			return false, nil
		}
	} else if !k.plainText || !s.scratch.normalize(r.query) {
		return false, nil
	}
	if g := s.scratch.literals; r.bindings == nil && len(g) == 1 && g[0].kind == intLiteral && strings.EqualFold(bytesAsString(s.scratch.text), "SELECT ?") {
		if done, err := x.small(string(g[0].text), g[0].text); done {
			x.kind, x.query, x.digest, x.compiled = reading, r.query, string(s.scratch.text), true
			return true, err
		}
	}
	database := s.GetCurrentDatabase()
	en := x.h.e.plans.find(database, k.sqlMode, s.scratch.text)
	if en == nil || en.plan == nil {
		if en == nil || en.version < x.h.e.schemas.newest() {
			x.unknown = &planKey{database, k.sqlMode, string(s.scratch.text)}
		}
		return false, nil
	}
	p := en.plan
	x.kind, x.query, x.digest = p.kind, r.query, p.digest
	given := s.scratch.literals
	x.watch()
	if p.kind == reading && k.maxTime > 0 {
		defer s.running.stopAfter(k.maxTime)()
	}
	err = x.repeat(sc, func() error { return x.attemptPlan(sc, p, given) })
	if err == errOrdinary {
		x.digest = ""
		x.out.reset()
		if en.version < x.h.e.schemas.newest() {
			x.unknown = &en.key
		}
		return false, nil
	}
	x.compiled = true
	if err != nil {
		return true, err
	}
	x.setStatus(sc)
	return true, x.out.finish(false)
}

// planOf returns the plan of a statement that a client prepares, if it has one that may be used now. It is executed by its
// text later, so nothing has to be kept of it in the session.
func (s *Session) planOf(ctx context.Context, query string) *compiled {
	sc := s.running.begin(ctx, s, query, time.Now())
	defer s.running.end()
	k := s.settings(sc)
	if !k.compilable || len(query) > maxPlanText {
		return nil
	}
	s.scratch.text = append(s.scratch.text[:0], query...)
	en := s.e.plans.find(s.GetCurrentDatabase(), k.sqlMode, s.scratch.text)
	if en == nil || en.plan == nil {
		return nil
	}
	if t := s.transaction(); t != nil && t.edit != nil {
		return nil
	}
	if sch, err := s.shared(sc); err != nil || !en.plan.fits(sch) || s.temporary.hides(en.plan.uses, sch) {
		return nil
	}
	return en.plan
}

// preparedFields is what the ordinary path has told a client that prepared the statement: the columns of its result.
func (p *compiled) preparedFields(results sql.CharacterSetID) (fields []*querypb.Field, ok bool) {
	if p.kind != reading {
		return nil, true
	}
	if known := p.prepared.Load(); known != nil && known.results == results {
		return known.fields, true
	}
	return nil, false
}

// attemptPlan executes the statement once.
func (x *execution) attemptPlan(sc *sql.Context, p *compiled, given []literal) (err error) {
	defer x.h.recovered(x.query, &err)
	s := x.s
	s.stmt = &statement{query: x.query, lockUntil: x.lockUntil, kind: p.kind, begin: p.begin, deferred: true}
	s.stmt.atCommit = p.inserts && x.autocommit(sc)
	s.latest = s.transaction()
	if s.latest != nil {
		s.latest.startStatement(x.lockUntil)
	}
	if p.kind != control {
		if err := x.pin(sc, p); err != nil {
			return err
		}
	}
	if p.kind == control {
		s.ClearWarnings() // a ROLLBACK may warn
	}
	err = p.form.perform(x, sc, given)
	if err == errOrdinary {
		return err
	}
	if p.kind != control {
		s.ClearWarnings()
	}
	sql.IncrementStatusVariable(sc, "Questions", 1)
	if p.counter != "" {
		sql.IncrementStatusVariable(sc, p.counter, 1)
	}
	if err != nil {
		return err
	}
	if p.kind != control && x.autocommit(sc) {
		if t := s.transaction(); t != nil {
			if err := s.CommitTransaction(sc, t); err != nil {
				return err
			}
			s.SetTransaction(nil)
		}
	}
	return x.statementOver()
}

// pin begins the statement's transaction if need be and is P3.
func (x *execution) pin(sc *sql.Context, p *compiled) error {
	t, err := x.s.current(sc)
	if err != nil {
		return err
	}
	if t.edit != nil || p.kind == writing && t.readOnly {
		return errOrdinary
	}
	sch, err := x.s.shared(sc)
	if err != nil {
		return err
	}
	if !p.fits(sch) || x.s.temporary.hides(p.uses, sch) {
		return errOrdinary
	}
	t.usePlan(p)
	return nil
}

// fits is P3.
func (p *compiled) fits(sch *schema) bool {
	made := p.schema.Load()
	switch {
	case p.kind == control, made == sch:
		return true
	}
	if !p.uses.holds(made.snap, sch.snap) {
		return false
	}
	p.schema.Store(sch)
	return true
}

// counted is the answer of a statement that changes rows.
func (x *execution) counted(r types.OkResult) {
	x.s.GetLastQueryInfo().RowCount.Store(int64(r.RowsAffected))
	x.out.ok(r)
}
