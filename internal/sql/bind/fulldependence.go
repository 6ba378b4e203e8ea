package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// ONLY_FULL_GROUP_BY: a column that is no key of GROUP BY must be decided by the keys (manual, MySQL Handling of GROUP BY and Detection
// of Functional Dependence): by a unique key of the table, by equalities in WHERE and ON.

// looseColumn is a column above a grouping that is no key of it, with the place where it was named.
type looseColumn struct {
	clause clause
	number int
	id     rel.ColID
	name   string
	window string // the window whose PARTITION BY or ORDER BY names it; "": none does
}

// checkGrouping has the groups of a query checked when all names have been bound. plan is what is grouped.
func (b *binder) checkGrouping(s *scope, plan rel.Node) {
	if len(s.loose) > 0 {
		b.checks = append(b.checks, func() error { return b.groupingError(s, plan) })
	}
}

// groupingError is error 1055, or 1140 without GROUP BY, for the first column that the groups do not decide; nil: they decide all.
func (b *binder) groupingError(s *scope, plan rel.Node) error {
	d := &dependence{b: b, given: rel.Cols{}}
	d.walk(plan)
	for _, id := range plan.Columns() {
		d.given[id] = true
	}
	decided := rel.Cols{}
	if !s.group.rollup { // the NULLs of ROLLUP stand for any key
		for _, k := range s.group.keys {
			decided[k.id] = true
			if !k.col {
				d.calculated(k.node, k.id)
			}
		}
	}
	d.close(decided)
	for _, in := range [...]clause{fieldList, orderClause, havingClause} {
		for _, l := range s.loose {
			if l.clause != in && (in != fieldList || l.clause == orderClause || l.clause == havingClause) || decided[l.id] {
				continue
			}
			name := l.name
			if !s.group.explicit {
				return expr.Errorf(1140, "42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; "+
					"this is incompatible with sql_mode=only_full_group_by", l.number, l.list(), name)
			}
			return expr.Errorf(1055, "42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not "+
				"functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by",
				l.number, l.list(), name)
		}
	}
	return nil
}

// list is how errors call the list that the column was named in.
func (l *looseColumn) list() string {
	if l.window != "" {
		return "PARTITION BY or ORDER BY clause of window '" + l.window + "'"
	}
	switch l.clause {
	case orderClause:
		return "ORDER BY clause"
	case havingClause:
		return "HAVING clause"
	}
	return "SELECT list"
}

// dependence is what decides the columns of a plan.
type dependence struct {
	b      *binder
	given  rel.Cols // the columns that the plan gives anywhere
	deps   []dependency
	tables []*materialized
}

// dependency says that rows that are equal in from are equal in to.
type dependency struct {
	from, to []rel.ColID
	// nulls: to may be other than NULL though all of from are NULL: the rows that an outer join adds are not told apart from others then.
	nulls bool
}

// materialized is a derived table that MySQL does not merge into the query. What decides its columns is looked for when one of them is
// decided.
type materialized struct {
	in   *dependence
	cols []rel.ColID // of the table
	own  []rel.ColID // the same, in its query
	null []bool      // whether they may be NULL in the table
	weak bool        // an outer join adds rows of NULLs to it
}

func (d *dependence) add(from rel.Cols, to ...rel.ColID) {
	x := dependency{to: to}
	for id := range from {
		x.from = append(x.from, id)
	}
	d.deps = append(d.deps, x)
}

// calculated: a column is decided by those that its expression reads.
func (d *dependence) calculated(n expr.Node, to rel.ColID) {
	d.add(readBy(n), to)
	d.deps[len(d.deps)-1].nulls = !nullOfNull(n)
}

// nullOfNull reports whether an expression is NULL if all of its columns are, as far as its functions say.
func nullOfNull(n expr.Node) bool {
	switch n := withoutOnce(n).(type) {
	case *rel.Col:
		return true
	case *expr.Lit:
		return n.V.IsNull()
	case *expr.Call:
		if asArguments[n.Name] && n.Name != "and" && n.Name != "or" {
			for _, a := range n.Args {
				if nullOfNull(a) {
					return true
				}
			}
		}
	}
	return false
}

// close adds the columns that those in a set decide.
func (d *dependence) close(set rel.Cols) {
	for more := true; more; {
		more = false
	next:
		for _, x := range d.deps {
			for _, id := range x.from {
				if !set[id] && d.given[id] { // a column of a query around is a constant
					continue next
				}
			}
			for _, id := range x.to {
				if !set[id] {
					set[id], more = true, true
				}
			}
		}
		for _, t := range d.tables {
			more = t.close(set) || more
		}
	}
}

// close adds the columns of the table that those of it in a set decide; more: there are some.
func (t *materialized) close(set rel.Cols) (more bool) {
	in := rel.Cols{}
	for i, id := range t.cols {
		if set[id] && !(t.weak && t.null[i]) {
			in[t.own[i]] = true
		}
	}
	if len(in) == 0 {
		return false
	}
	t.in.close(in)
	for i, id := range t.cols {
		if in[t.own[i]] && !set[id] {
			set[id], more = true, true
		}
	}
	return more
}

func readBy(nodes ...expr.Node) rel.Cols {
	cols := rel.Cols{}
	rel.CollectCols(cols, nodes...)
	return cols
}

func (d *dependence) walk(n rel.Node) {
	if t := d.b.materialized[n]; t != nil {
		d.table(n, t)
		return
	}
	d.walkPlan(n)
}

// walkPlan is walk for what is no derived table of its own.
func (d *dependence) walkPlan(n rel.Node) {
	switch n := n.(type) {
	case *rel.Scan:
		d.scan(n)
		return
	case *rel.Join:
		d.join(n)
		return
	case *rel.SetOp, *rel.Recursive, *rel.WorkScan, *rel.Values:
		for _, id := range n.Columns() {
			d.given[id] = true
		}
		return
	case *rel.SharedScan:
		d.sharedScan(n)
		return
	}
	for _, c := range n.Children() {
		d.walk(c)
	}
	for _, id := range n.Columns() {
		d.given[id] = true
	}
	switch n := n.(type) {
	case *rel.Filter:
		d.equalities(n.Conds, nil)
	case *rel.Project:
		for i, e := range n.Exprs {
			if !rel.IsVolatile(e) {
				d.calculated(e, n.Cols[i])
			}
		}
	case *rel.Group:
		keys := rel.Cols{}
		for _, k := range n.Out {
			keys[k] = true
		}
		if !n.Rollup {
			for _, a := range n.Aggs {
				d.add(keys, a.Col)
			}
		}
	}
}

// table is a derived table that is not merged.
func (d *dependence) table(n rel.Node, derived *materialized) {
	t := *derived
	t.own, t.in = t.cols, &dependence{b: d.b, given: rel.Cols{}}
	for _, id := range t.cols {
		d.given[id] = true
	}
	if shared, ok := n.(*rel.SharedScan); ok {
		t.in.walk(shared.From.Plan)
		at := map[rel.ColID]rel.ColID{}
		for i, id := range shared.Cols {
			at[id] = shared.From.Cols[i]
		}
		t.own = make([]rel.ColID, len(t.cols))
		for i, id := range t.cols {
			t.own[i] = at[id]
		}
	} else {
		t.in.walkPlan(n)
	}
	d.tables = append(d.tables, &t)
}

// scan: a unique key without NULLs decides all columns of its table.
func (d *dependence) scan(n *rel.Scan) {
	at := map[int]rel.ColID{}
	for i, p := range n.Places {
		at[p] = n.Cols[i]
		d.given[n.Cols[i]] = true
	}
	cols := n.Table.Columns()
next:
	for _, x := range n.Table.Indexes() {
		if !x.Unique() && !x.Primary() {
			continue
		}
		key := rel.Cols{}
		for _, p := range x.Parts() {
			id, ok := at[p.Place]
			if !ok || p.Prefix > 0 || cols[p.Place].Nullable {
				continue next
			}
			key[id] = true
		}
		d.add(key, n.Cols...)
	}
}

func (d *dependence) join(n *rel.Join) {
	d.walk(n.Left)
	if n.Kind != rel.Left {
		d.walk(n.Right)
		d.equalities(n.On, nil)
		return
	}
	// rows without a partner have NULLs on the right side: what was constant there depends on whether there is one, and that on the
	// columns of the left side that ON names
	left := rel.Cols{}
	for _, id := range n.Left.Columns() {
		left[id] = true
	}
	within := rel.Cols{}
	for id := range readBy(n.On...) {
		if left[id] {
			within[id] = true
		}
	}
	right := &dependence{b: d.b, given: d.given}
	right.walk(n.Right)
	for _, t := range right.tables {
		t.weak = true
	}
	d.tables = append(d.tables, right.tables...)
	for _, on := range n.On {
		if rel.IsVolatile(on) {
			return
		}
	}
	own := rel.Cols{}
	for _, id := range n.Right.Columns() {
		own[id] = true
	}
	on := &dependence{b: d.b, given: d.given}
	on.equalities(n.On, own)
	for _, x := range append(right.deps, on.deps...) {
		fromRight, certain := false, !x.nulls
		for _, id := range x.from {
			fromRight = fromRight || own[id]
			certain = certain || own[id] && !d.b.meta.Columns[id].Nullable
		}
		if fromRight && !certain {
			continue
		}
		if !fromRight {
			from := rel.Cols{}
			for id := range within {
				from[id] = true
			}
			for _, id := range x.from {
				from[id] = true
			}
			d.add(from, x.to...)
			continue
		}
		d.deps = append(d.deps, x)
	}
}

func (d *dependence) sharedScan(n *rel.SharedScan) {
	for _, id := range n.Cols {
		d.given[id] = true
	}
	in := &dependence{b: d.b, given: rel.Cols{}}
	in.walk(n.From.Plan)
	at := map[rel.ColID]rel.ColID{}
	for i, id := range n.From.Cols {
		at[id] = n.Cols[i]
	}
next:
	for _, x := range in.deps {
		from, set := rel.Cols{}, rel.Cols{}
		for _, id := range x.from {
			out, ok := at[id]
			if !ok {
				continue next
			}
			from[out], set[id] = true, true
		}
		in.close(set)
		for id := range set {
			if out, ok := at[id]; ok {
				d.add(from, out)
			}
		}
	}
}

// equalities: what is equal to a constant or to a column is decided by it. only: the columns that may be decided; nil: all.
func (d *dependence) equalities(conds []expr.Node, only rel.Cols) {
	for _, c := range conds {
		switch c := c.(type) {
		case *expr.Call:
			if !c.Volatile {
				d.equality(c, false, only)
			}
		case *rel.Subquery:
			if only == nil && !c.Negated && d.b.semijoins[c] {
				d.semijoin(c)
			}
		}
	}
}

// equality is equalities for one condition, or for its negation.
func (d *dependence) equality(call *expr.Call, negated bool, only rel.Cols) {
	name := call.Name
	if negated {
		name = map[string]string{"or": "and", "<>": "=", "!=": "=", "not": "not", "not in": "in", "not between": "between"}[name]
	}
	switch name {
	case "and":
		if !negated {
			d.equalities(call.Args, only)
			return
		}
		for _, a := range call.Args {
			if c, ok := a.(*expr.Call); ok {
				d.equality(c, true, only)
			}
		}
	case "=":
		l, r := columnsOf(call.Args[0]), columnsOf(call.Args[1])
		for i := range min(len(l), len(r)) {
			d.equal(l[i], r[i], only)
			d.equal(r[i], l[i], only)
		}
	case "in":
		if len(call.Args) == 2 {
			l, r := columnsOf(call.Args[0]), columnsOf(call.Args[1])
			for i := range min(len(l), len(r)) {
				d.equal(l[i], r[i], only)
			}
		}
	case "between":
		if rel.Same(call.Args[1], call.Args[2]) {
			d.equal(call.Args[0], call.Args[1], only)
		}
	case "not":
		if c, ok := call.Args[0].(*expr.Call); ok {
			d.equality(c, !negated, only)
		}
	}
}

// semijoin is IN (SELECT ...) or EXISTS that MySQL joins to the tables outside.
func (d *dependence) semijoin(q *rel.Subquery) {
	d.walk(q.Plan)
	for i, left := range q.Left {
		out := &rel.Col{ID: q.Out[i]}
		d.equal(left, out, nil)
		d.equal(out, left, nil)
	}
}

func (d *dependence) equal(x, y expr.Node, only rel.Cols) {
	col, ok := x.(*rel.Col)
	if !ok || only != nil && !only[col.ID] || rel.IsVolatile(y) {
		return
	}
	from := readBy(y)
	if _, ok := y.(*rel.Col); !ok {
		for id := range from {
			if d.given[id] {
				return // MySQL looks at columns and constants only
			}
		}
	}
	d.add(from, col.ID)
}
