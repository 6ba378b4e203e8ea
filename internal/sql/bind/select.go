package bind

import (
	"errors"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// regroup is returned when an aggregate was found to belong, or not to belong, to a query that was bound as if it did not, or did: the
// query is bound once more.
type regroup struct {
	sel     *sqlparser.Select
	grouped bool
}

// Error implements error.
func (*regroup) Error() string {
	return "bind: the query is grouped in another way than it was taken to be"
}

// selectStatement binds a SELECT.
func (b *binder) selectStatement(sel *sqlparser.Select, outer *scope) (*query, error) {
	switch {
	case sel.Into != nil:
		return nil, unsupported("SELECT INTO")
	case sel.Lock != nil && sel.Lock.Type != "":
		return nil, unsupported("locking reads")
	case len(sel.QueryOpts.DistinctOn) > 0:
		return nil, unsupported("DISTINCT ON")
	}
	if sel.With != nil {
		ctes := b.ctes
		defer func() { b.ctes = ctes }()
		if err := b.with(sel.With, sel, outer); err != nil {
			return nil, err
		}
	}
	grouped := len(sel.GroupBy) > 0 || hasAggregates(sel)
	agg, anyValue, checks, existential, nested := b.agg, b.anyValue, len(b.checks), b.existential, b.nested
	exists := b.exists
	b.existential, b.nested, b.exists = false, false, false
	for tries := 0; ; tries++ {
		q, err := b.block(sel, outer, grouped, existential && tries == 0, nested, exists)
		var again *regroup
		if !errors.As(err, &again) || again.sel != sel || tries > 1 {
			return q, err
		}
		grouped, b.agg, b.anyValue, b.checks = again.grouped || len(sel.GroupBy) > 0, agg, anyValue, b.checks[:checks]
	}
}

// block binds a SELECT whose rows are grouped or not.
func (b *binder) block(sel *sqlparser.Select, outer *scope, grouped, existential, nested, exists bool) (*query, error) {
	s := newScope(outer)
	s.sel = sel
	s.clause = fromClause
	var err error
	if s.from, err = b.fromClause(sel.From, s); err != nil {
		return nil, err
	}
	s.clause = fieldList
	items, err := b.expandItems(sel, s)
	if err != nil {
		return nil, err
	}
	plan, err := b.belowItems(sel, s, items, grouped)
	if err != nil {
		return nil, b.firstError(s, items, err)
	}
	if existential && grouped && s.group.explicit && !s.group.rollup && sel.Having == nil && !hasAggregates(sel) {
		s.group, grouped = nil, false // the groups are not told apart: MySQL forgets GROUP BY
	}
	s.grouped = grouped
	if err := b.bindItems(s); err != nil {
		return nil, err
	}
	if exists && sel.Having == nil {
		s.dropStars() // * is any constant there
	}
	having, err := b.having(sel, s)
	if err != nil {
		return nil, err
	}
	loose, checks := len(s.loose), len(b.checks)
	keys, distinct, err := b.orderBy(sel.OrderBy, s)
	if err != nil {
		return nil, err
	}
	if nested && sel.Limit == nil || grouped && !s.group.explicit {
		// the rows of a subquery in an expression need no order, nor does a single row: MySQL forgets ORDER BY when it knows its names
		s.loose, b.checks, keys, distinct = s.loose[:loose], b.checks[:checks], nil, nil
	}
	if grouped && len(sel.GroupBy) == 0 && len(s.group.aggs) == 0 {
		return nil, &regroup{sel: sel}
	}
	b.checkGrouping(s, plan)
	if distinct != nil {
		b.checks = append(b.checks, func() error { return distinct })
	}
	if s.grouped {
		plan = s.group.plan(plan)
	}
	return b.assemble(sel, s, plan, having, keys)
}

// belowItems binds what comes below the select list: WHERE, the conditions of joins, and GROUP BY.
func (b *binder) belowItems(sel *sqlparser.Select, s *scope, items []*item, grouped bool) (rel.Node, error) {
	plan := s.from.plan
	if sel.Where != nil {
		s.clause = whereClause
		conds, err := b.conditions(sel.Where.Expr, s, nil)
		if err != nil {
			return nil, err
		}
		plan = &rel.Filter{Child: plan, Conds: conds}
	}
	if err := b.bindOns(s); err != nil {
		return nil, err
	}
	s.items, s.clause = items, fieldList
	if !grouped {
		return plan, nil
	}
	s.clause = groupClause
	s.group = &grouping{}
	return plan, b.groupBy(sel.GroupBy, s)
}

// firstError is the error that MySQL finds first if there is one in what comes below the select list: those in the select list come
// before.
func (b *binder) firstError(s *scope, items []*item, err error) error {
	var e *expr.Error
	if !errors.As(err, &e) {
		return err
	}
	s.group, s.grouped, s.items = &grouping{}, false, items
	for _, it := range items {
		it.node = nil
	}
	if first := b.bindItems(s); errors.As(first, &e) {
		return first
	}
	return err
}

// assemble puts what stands above WHERE and GROUP BY on a plan: HAVING, windows, the select list, DISTINCT, ORDER BY and LIMIT. What
// of the select list nothing before the end of the query reads is calculated last, for the rows that the query gives.
func (b *binder) assemble(sel *sqlparser.Select, s *scope, plan rel.Node, having []expr.Node, keys []rel.SortKey) (*query, error) {
	limit, err := b.limit(sel.Limit, s)
	if err != nil {
		return nil, err
	}
	plan = project(plan, s.items, func(it *item) bool { return it.early })
	if len(having) > 0 {
		plan = &rel.Filter{Child: plan, Conds: having}
	}
	if plan, err = b.windows(s, plan); err != nil {
		return nil, err
	}
	distinct := sel.QueryOpts.Distinct
	b.columnsOfItems(s)
	plan = project(plan, s.items, func(it *item) bool { return it.sorted || distinct })
	q := &query{foundRows: sel.QueryOpts.SQLCalcFoundRows}
	if q.foundRows {
		b.warn(1287, "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate queries instead.")
	}
	if s.group == nil && !distinct {
		q.from = s.from.sources
	}
	q.merged = s.group == nil && !distinct && limit == nil && len(having) == 0 && len(s.windows) == 0 && !isDual(sel.From)
	for _, it := range s.items {
		q.cols = append(q.cols, column{name: it.name, id: it.id})
	}
	if distinct {
		d := &rel.Distinct{Child: plan}
		for _, c := range q.cols {
			d.Cols = append(d.Cols, c.id)
		}
		plan = d
	}
	if len(keys) > 0 {
		plan = &rel.Sort{Child: plan, Keys: keys}
	}
	if limit != nil || q.foundRows {
		if limit == nil {
			limit = &rel.Limit{}
		}
		limit.Child, limit.FoundRows = plan, q.foundRows
		plan = limit
	}
	q.plan = project(plan, s.items, func(*item) bool { return true })
	return q, nil
}

// project puts the expressions of the select list that want says, and that are not there yet, on a plan.
func project(plan rel.Node, items []*item, want func(*item) bool) rel.Node {
	var p *rel.Project
	for _, it := range items {
		if it.plain || it.done || !want(it) {
			continue
		}
		if p == nil {
			p = &rel.Project{Child: plan}
		}
		p.Exprs, p.Cols = append(p.Exprs, it.node), append(p.Cols, it.id)
		it.done = true
	}
	if p == nil {
		return plan
	}
	return p
}

// having binds HAVING. Without a grouping it filters rows as WHERE does.
func (b *binder) having(sel *sqlparser.Select, s *scope) ([]expr.Node, error) {
	if sel.Having == nil {
		return nil, nil
	}
	s.clause, s.allowAggregates, s.number = havingClause, true, 1
	return b.conditions(sel.Having.Expr, s, nil)
}

// limit binds LIMIT; nil: there is none.
func (b *binder) limit(l *sqlparser.Limit, s *scope) (*rel.Limit, error) {
	if l == nil {
		return nil, nil
	}
	out := &rel.Limit{}
	var err error
	if l.Rowcount != nil {
		if out.Count, err = b.limitValue(l.Rowcount, s); err != nil {
			return nil, err
		}
	}
	if l.Offset != nil {
		if out.Offset, err = b.limitValue(l.Offset, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *binder) limitValue(e sqlparser.Expr, s *scope) (expr.Node, error) {
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return b.literal(e)
	case *sqlparser.ColName:
		if e.StoredProcVal != nil {
			return b.limitValue(e.StoredProcVal, s)
		}
		if name := e.Name.String(); strings.HasPrefix(name, "@") {
			return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version "+
				"for the right syntax to use near '%s' at line 1", name)
		}
	}
	return nil, unsupported("LIMIT %T", e)
}

// hasAggregates reports whether a query calls aggregates outside of its subqueries. That they belong to it is likely, not certain.
func hasAggregates(sel *sqlparser.Select) bool {
	for _, e := range sel.SelectExprs {
		if a, ok := e.(*sqlparser.AliasedExpr); ok && aggregates(a.Expr) {
			return true
		}
	}
	if sel.Having != nil && aggregates(sel.Having.Expr) {
		return true
	}
	for _, o := range sel.OrderBy {
		if aggregates(o.Expr) {
			return true
		}
	}
	return false
}

// aggregates reports whether an expression calls aggregates outside of subqueries.
func aggregates(e sqlparser.Expr) (found bool) {
	switch e := e.(type) {
	case *sqlparser.ColName, *sqlparser.SQLVal:
		return false
	case *sqlparser.SubstrExpr:
		return e.From != nil && aggregates(e.From) || e.To != nil && aggregates(e.To)
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case *sqlparser.GroupConcatExpr:
			found = true
		case *sqlparser.FuncExpr:
			if n.Over == nil && isAggregate(strings.ToLower(n.Name.String())) {
				found = true
			}
		case *sqlparser.Over:
			if n == nil {
				return false, nil
			}
			for _, o := range n.OrderBy { // the syntax tree does not walk into the frame, which has no aggregates
				found = found || aggregates(o.Expr)
			}
		}
		return !found, nil
	}, e)
	return found
}
