package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Errors of recursive common table expressions.
func errNeedsUnion(name string) error {
	return expr.Errorf(3573, "HY000", "Recursive Common Table Expression '%s' should contain a UNION", name)
}

func errNeedsSeed(name string) error {
	return expr.Errorf(3574, "HY000",
		"Recursive Common Table Expression '%s' should have one or more non-recursive query blocks followed by one or more "+
			"recursive ones", name)
}

func notYet(what string) error {
	return expr.Errorf(1235, "42000", "This version of MySQL doesn't yet support '%s'", what)
}

// recursive binds a common table expression that names itself: queries that do not (seeds), then some that do (steps).
func (b *binder) recursive(c *cteList, stmt sqlparser.SelectStatement) (*query, error) {
	set, ok := queryInParens(stmt).(*sqlparser.SetOp)
	if !ok {
		return nil, errNeedsUnion(c.name)
	}
	if kind, _ := setKind(set); kind != rel.Union {
		return nil, errNeedsUnion(c.name)
	}
	if set.Into != nil || set.Lock != nil && set.Lock.Type != "" {
		return nil, unsupported("INTO or a lock in a recursive query")
	}
	if set.With != nil {
		ctes := b.ctes
		defer func() { b.ctes = ctes }()
		if err := b.with(set.With, set, c.outer); err != nil {
			return nil, err
		}
	}
	blocks, err := unionBlocks(set)
	if err != nil {
		return nil, err
	}
	seeds := 0
	for seeds < len(blocks) && !mentions(blocks[seeds].stmt, c.name).any() {
		seeds++
	}
	if seeds == 0 || seeds == len(blocks) {
		return nil, errNeedsSeed(c.name)
	}
	distinct := false
	for _, o := range blocks[seeds:] {
		if err := recursiveBlock(c.name, o.stmt); err != nil {
			return nil, err
		}
		if distinct && o.all {
			return nil, notYet("recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression")
		}
		distinct = distinct || !o.all
	}
	if len(set.OrderBy) > 0 {
		return nil, notYet("ORDER BY over UNION in recursive Common Table Expression")
	}
	s := newScope(c.outer)
	limit, err := b.limit(set.Limit, s)
	if err != nil {
		return nil, err
	}
	out := &rel.Recursive{Name: c.name, Distinct: distinct}
	if limit != nil {
		out.Limit, out.Offset = limit.Count, limit.Offset
	}
	q, err := b.seed(c, out, blocks[:seeds])
	if err != nil {
		return nil, err
	}
	c.step, c.cols = out, q.cols
	defer func() { c.step, c.cols = nil, nil }()
	return q, b.steps(c, out, blocks[seeds:])
}

// unionBlocks are the query blocks of a UNION and of those in parentheses in it.
func unionBlocks(set *sqlparser.SetOp) ([]operand, error) {
	kind, all := setKind(set)
	if kind != rel.Union {
		return nil, unsupported("INTERSECT or EXCEPT in a recursive query")
	}
	side := func(stmt sqlparser.SelectStatement) ([]operand, error) {
		in, ok := queryInParens(stmt).(*sqlparser.SetOp)
		if !ok {
			return []operand{{stmt: queryInParens(stmt), all: true}}, nil
		}
		if !bare(in) {
			return []operand{{stmt: stmt, all: true}}, nil
		}
		return unionBlocks(in)
	}
	left, err := side(set.Left)
	if err != nil {
		return nil, err
	}
	right, err := side(set.Right)
	if err != nil {
		return nil, err
	}
	for _, o := range right[1:] {
		if o.all != all { // a UNION (b UNION ALL c) is not (a UNION b) UNION ALL c
			return nil, unsupported("UNION and UNION ALL in parentheses in a recursive query")
		}
	}
	right[0].all = all
	return append(left, right...), nil
}

// recursiveBlock checks what a query block that names its own common table expression may not have.
func recursiveBlock(name string, stmt sqlparser.SelectStatement) error {
	m := mentions(stmt, name)
	if !m.any() {
		return errNeedsSeed(name)
	}
	sel, ok := stmt.(*sqlparser.Select)
	if !ok {
		return unsupported("%T in a recursive query", stmt)
	}
	if len(sel.OrderBy) > 0 || sel.Limit != nil || sel.QueryOpts.Distinct {
		return notYet("ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression")
	}
	windows := len(sel.Window) > 0
	for _, e := range sel.SelectExprs {
		if a, ok := e.(*sqlparser.AliasedExpr); ok {
			windows = windows || callsWindow(a.Expr)
		}
	}
	if windows || len(sel.GroupBy) > 0 || hasAggregates(sel) {
		return expr.Errorf(3575, "HY000",
			"Recursive Common Table Expression '%s' can contain neither aggregation nor window functions in recursive query block", name)
	}
	inFrom, optional := 0, false
	for _, t := range sel.From {
		n, o := fromMentions(t, name, false)
		inFrom, optional = inFrom+n, optional || o
	}
	if inFrom != 1 || m.direct+m.nested != 1 {
		return expr.Errorf(3577, "HY000",
			"In recursive query block of Recursive Common Table Expression '%s', the recursive table must be referenced only once, "+
				"and not in any subquery", name)
	}
	if optional {
		return expr.Errorf(3576, "HY000",
			"In recursive query block of Recursive Common Table Expression '%s', the recursive table must neither be in the right "+
				"argument of a LEFT JOIN, nor be forced to be non-first with join order hints", name)
	}
	return nil
}

// fromMentions counts where a table in FROM, not in that of a derived table, has a name; optional reports whether one of them is on the
// side of an outer join whose rows may be missing. within says that the tree itself stands there.
func fromMentions(t sqlparser.TableExpr, name string, within bool) (n int, optional bool) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		if e, ok := t.Expr.(sqlparser.TableName); ok && e.DbQualifier.IsEmpty() && sameName(e.Name.String(), name) {
			return 1, within
		}
	case *sqlparser.ParenTableExpr:
		for _, in := range t.Exprs {
			k, o := fromMentions(in, name, within)
			n, optional = n+k, optional || o
		}
	case *sqlparser.JoinTableExpr:
		kind := strings.ToLower(t.Join)
		l, lo := fromMentions(t.LeftExpr, name, within || strings.Contains(kind, "right"))
		r, ro := fromMentions(t.RightExpr, name, within || strings.Contains(kind, "left") || strings.Contains(kind, "straight"))
		return l + r, lo || ro
	}
	return n, optional
}

// seed binds the queries that do not name the expression; they alone decide about the types of its columns, all of which may be NULL.
func (b *binder) seed(c *cteList, out *rel.Recursive, blocks []operand) (*query, error) {
	var q *query
	var err error
	if len(blocks) == 1 {
		q, err = b.statement(blocks[0].stmt, c.outer)
	} else {
		q, err = b.combine(rel.Union, blocks, c.outer)
	}
	if err != nil {
		return nil, err
	}
	types := make([]expr.Type, len(q.cols))
	for i, col := range q.cols {
		types[i] = storedType(b.meta.Columns[col.id].Type)
	}
	b.bringTo(q, types)
	named, err := renamed(q.cols, c.def.Columns)
	if err != nil {
		return nil, err
	}
	out.Seed, out.SeedCols = q.plan, columnIDs(q.cols)
	result := &query{plan: out}
	for i, col := range named {
		id := b.add(rel.Column{Name: col.name, Type: types[i], Nullable: true})
		result.cols = append(result.cols, column{name: col.name, id: id})
		out.Cols = append(out.Cols, id)
	}
	return result, nil
}

// steps binds the queries that name the expression. Their rows are stored in its columns as an INSERT would store them.
func (b *binder) steps(c *cteList, out *rel.Recursive, blocks []operand) error {
	for _, o := range blocks {
		q, err := b.statement(o.stmt, c.outer)
		if err != nil {
			return err
		}
		if len(q.cols) != len(out.Cols) {
			return errColumnCount
		}
		ids := b.store(q, out.Cols)
		if out.Step == nil {
			out.Step, out.StepCols = q.plan, ids
			continue
		}
		op := &rel.SetOp{Kind: rel.Union, All: true, Left: out.Step, LeftCols: out.StepCols, Right: q.plan, RightCols: ids}
		for _, id := range out.Cols {
			to := b.meta.Columns[id]
			op.Cols = append(op.Cols, b.add(rel.Column{Name: to.Name, Type: to.Type, Nullable: true}))
		}
		out.Step, out.StepCols = op, op.Cols
	}
	return nil
}

// store puts conversions to the types of columns on the plan of a query, where its values may not be such as they are.
func (b *binder) store(q *query, to []rel.ColID) []rel.ColID {
	ids := columnIDs(q.cols)
	made := calculated(q.plan)
	var p *rel.Project
	for i, id := range ids {
		from, target := &b.meta.Columns[id], b.meta.Columns[to[i]]
		if fits(from.Type, target.Type) && sameValues(from, target.Type) {
			continue
		}
		var place any = expr.Target{Type: target.Type, Name: target.Name, Row: 1}
		if from.Type.Kind() == expr.KindText && !made[id] {
			place = expr.CopyTarget{Target: place.(expr.Target)}
		}
		as, err := expr.Build("store as", target.Name, place, b.ref(id))
		if err != nil {
			panic(err) // every type can be asked for
		}
		if p == nil {
			p = &rel.Project{Child: q.plan}
		}
		ids[i] = b.add(rel.Column{Name: target.Name, Type: target.Type, Nullable: true})
		p.Exprs, p.Cols = append(p.Exprs, as), append(p.Cols, ids[i])
	}
	if p != nil {
		q.plan = p
	}
	return ids
}

// calculated are the columns that a query calculates, unlike those that it reads.
func calculated(n rel.Node) rel.Cols {
	out := rel.Cols{}
	for n != nil {
		switch n := n.(type) {
		case *rel.Project:
			for _, id := range n.Cols {
				out[id] = true
			}
		case *rel.Values, *rel.SetOp:
			for _, id := range n.Columns() {
				out[id] = true
			}
		}
		if len(n.Children()) != 1 {
			break
		}
		n = n.Children()[0]
	}
	return out
}

// fits reports whether a column of type to holds all values of type from that are held in the same way.
func fits(from, to expr.Type) bool {
	switch to.Kind() {
	case expr.KindInt, expr.KindUint:
		return to.Name == expr.BigInt || from.Name == to.Name
	case expr.KindText, expr.KindBytes:
		return from.Length >= 0 && (to.Length < 0 || from.Length <= to.Length)
	case expr.KindDecimal:
		return from.Length-from.Scale <= to.Length-to.Scale
	case expr.KindFloat, expr.KindDate, expr.KindDatetime, expr.KindTime, expr.KindJSON:
		return true
	}
	return false
}

// workScan reads the rows of the step before.
func (b *binder) workScan(c *cteList) *query {
	scan := &rel.WorkScan{From: c.step}
	out := &query{plan: scan}
	for _, from := range c.cols {
		id := b.add(rel.Column{Name: from.name, Type: b.meta.Columns[from.id].Type, Nullable: true})
		scan.Cols = append(scan.Cols, id)
		out.cols = append(out.cols, column{name: from.name, id: id})
	}
	return out
}
