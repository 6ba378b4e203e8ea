package sqldiff

import (
	"fmt"
	"slices"
	"strings"
)

// Stmt is a generated statement.
type Stmt struct {
	Root    *Node
	Ordered bool   // ORDER BY is total: rows are compared in their order
	Order   string // how a statement with a total ORDER BY ends, or goes on with LIMIT: one that was reduced to something else is not ordered
	Folded  bool   // which of several equal texts stands for all is not determinate: texts are compared without case and accents
	Changes bool   // it may change tables: their states are compared after it
	Conn    int    // which connection executes it; 0 unless the case has several
}

func (s *Stmt) String() string { return s.Root.String() }

// ordered reports whether the order of rows is determinate.
func (s *Stmt) ordered() bool { return s.Ordered && orderedBy(s.String(), s.Order) }

func orderedBy(text, by string) bool {
	i := strings.LastIndex(text, "ORDER BY ")
	return i >= 0 && strings.Contains(text[i:], by)
}

// inOrder says that the rows of a SELECT are ordered by what tells them apart.
func inOrder(p parts, by []*Node) *Stmt {
	var names []string
	for _, n := range by {
		names = append(names, n.String())
	}
	root := p.node()
	if order := root.Kids[8]; p.limit != "" { // without the whole order other rows may be within the limit
		order.Min = len(order.Kids)
		for i, k := range order.Kids {
			if k.isAtom() {
				order.Kids[i] = word(k.String())
			}
		}
	}
	return &Stmt{Root: root, Ordered: true, Order: strings.Join(names, ", ")}
}

// parts are the clauses of a SELECT.
type parts struct {
	with     *Node
	distinct bool
	items    []*Node
	from     *Node
	where    *Node
	group    []*Node
	rollup   bool
	having   *Node
	order    []*Node
	limit    string
}

func (p parts) node() *Node {
	maybe := func(name, before string, n *Node) *Node {
		if n == nil {
			return list(0, before, "", "").named(name)
		}
		return list(0, before, "", "", n).named(name)
	}
	head := list(0, "", "", " ").named("DISTINCT")
	if p.distinct {
		head.Kids = append(head.Kids, word("DISTINCT"))
	}
	rollup := list(0, "", "", "").named("WITH ROLLUP")
	if p.rollup {
		rollup.Kids = append(rollup.Kids, word(" WITH ROLLUP"))
	}
	limit := list(0, " LIMIT ", "", "").named("LIMIT")
	if p.limit != "" {
		limit.Kids = append(limit.Kids, word(p.limit))
	}
	kids := []*Node{
		maybe("WITH", "", p.with), head, list(1, "", ", ", "", p.items...), maybe("", " FROM ", p.from), maybe("WHERE", " WHERE ", p.where),
		list(0, " GROUP BY ", ", ", "", p.group...).named("GROUP BY"), rollup, maybe("HAVING", " HAVING ", p.having),
		list(0, " ORDER BY ", ", ", "", p.order...).named("ORDER BY"), limit,
	}
	return tmpl(query, "", "$SELECT $$$$$$$$$", kids...)
}

// from is a FROM clause under construction.
type from struct {
	node    *Node
	tables  []*Table
	aliases []string
}

// scope has mostly plain conditions: the families about plans leave functions to expr and where.
func (f *from) scope(r source) *scope {
	s := newScope(r, f.tables, f.aliases)
	s.plain = 85
	return s
}

// withCollation are the text columns whose collation is that of the type.
func (f *from) withCollation(sql string) (out []string) {
	_, coll, _ := strings.Cut(sql, " COLLATE ")
	for i, t := range f.tables {
		for _, c := range t.Cols {
			if _, other, _ := strings.Cut(c.Type.sql, " COLLATE "); c.Type.kind == textKind && other == coll {
				out = append(out, f.aliases[i]+"."+c.Name)
			}
		}
	}
	return out
}

// ids are the keys of all tables joined; together they tell each row of the result from every other one.
func (f *from) ids() (out []*Node) {
	for i, t := range f.tables {
		out = append(out, atom(f.aliases[i]+"."+t.Cols[0].Name))
	}
	return out
}

// oneTable is FROM with one table under the alias x.
func oneTable(r source, s *Schema) *from {
	t := pick(r, s.Tables...)
	return &from{node: tmpl(relation, "", t.Name+" AS x"), tables: []*Table{t}, aliases: []string{"x"}}
}

// joined is FROM with n tables.
func joined(r source, s *Schema, n int) *from {
	f := oneTable(r, s)
	for i := 1; i < n; i++ {
		t, alias := pick(r, s.Tables...), string(rune('x'+i))
		if i > 2 {
			alias = fmt.Sprintf("w%d", i)
		}
		left := *f
		f.tables, f.aliases = append(slices.Clone(f.tables), t), append(slices.Clone(f.aliases), alias)
		right := tmpl(relation, "", t.Name+" AS "+alias)
		if r.oneIn(8) {
			items := make([]*Node, len(t.Cols))
			for j, c := range t.Cols {
				items[j] = atom(c.Name)
			}
			in := newScope(r, []*Table{t}, nil)
			sub := parts{items: items, from: tmpl(relation, "", t.Name)}
			if r.oneIn(2) {
				sub.where = in.condition(1)
			}
			right = tmpl(relation, "derived", "($) AS "+alias, sub.node())
		}
		on := joinCondition(r, &left, t, alias)
		for range r.IntN(3) {
			on = tmpl(expression, "AND", "$ AND $", on, f.scope(r).condition(1))
		}
		switch r.IntN(10) {
		case 0:
			f.node = tmpl(relation, "CROSS JOIN", "$ CROSS JOIN $", f.node, right)
		case 1, 2, 3:
			f.node = tmpl(relation, "LEFT JOIN", "$ LEFT JOIN $ ON $", f.node, right, on)
		case 4, 5:
			f.node = tmpl(relation, "RIGHT JOIN", "$ RIGHT JOIN $ ON $", f.node, right, on)
		case 6:
			if r.oneIn(2) && len(right.Kids) == 0 {
				f.node = tmpl(relation, "nested JOIN", "$ LEFT JOIN ($) ON $", f.node, right, on)
				break
			}
			fallthrough
		default:
			f.node = tmpl(relation, "JOIN", "$ JOIN $ ON $", f.node, right, on)
		}
	}
	return f
}

// joinCondition compares a column of the table with one of the same kind of the tables before it.
func joinCondition(r source, left *from, t *Table, alias string) *Node {
	cols := left.scope(r).columns
	for range 20 {
		c := pick(r, t.Cols...)
		if others := cols[c.Type.kind]; len(others) > 0 {
			if c.Type.kind == textKind && !r.oneIn(10) {
				if others = left.withCollation(c.Type.sql); len(others) == 0 {
					continue
				}
			}
			op := pick(r, "=", "=", "=", "=", "<=>", "<", ">=", "<>")
			return tmpl(expression, "join "+op, "$ "+op+" $", atom(pick(r, others...)), atom(alias+"."+c.Name))
		}
	}
	return tmpl(expression, "join =", "$ = $", left.ids()[0], atom(alias+"."+t.Cols[0].Name))
}

// genExpr makes a statement of the family expr: one function over constants, or over columns.
func genExpr(r source, s *Schema) *Stmt {
	f := allFunctions[r.IntN(len(allFunctions))]
	if r.oneIn(2) {
		return &Stmt{Root: parts{items: []*Node{constants(r).call(f, 1+r.IntN(2))}}.node()}
	}
	t := s.Tables[0]
	sc := newScope(r, s.Tables[:1], nil)
	e := sc.call(f, 1+r.IntN(2))
	p := parts{items: []*Node{atom(t.Cols[0].Name), e}, from: tmpl(relation, "", t.Name), order: []*Node{atom(t.Cols[0].Name)}}
	if r.oneIn(3) { // evaluating must not change what it reads
		e.walk(func(n *Node) {
			if n.isAtom() && strings.HasPrefix(n.Parts[0], "c") {
				p.items = append(p.items, n.clone())
			}
		})
	}
	return inOrder(p, p.order)
}

// allFunctions is every line of functionLines once.
var allFunctions = func() (out []function) {
	for _, k := range []Kind{anyKind, intKind, numKind, decKind, dblKind, textKind, binKind, dateKind, timeKind, jsonKind, boolKind} {
		for _, f := range functions[k] {
			if f.kind == k {
				out = append(out, f)
			}
		}
	}
	return out
}()

// genWhere makes a statement of the family where.
func genWhere(r source, s *Schema) *Stmt {
	f := oneTable(r, s)
	sc := f.scope(r)
	sc.plain = 30
	p := parts{items: f.ids(), from: f.node, where: sc.condition(1 + r.IntN(3)), order: f.ids()}
	switch r.IntN(6) {
	case 0:
		p.items = append(p.items, sc.leaf(anyKind))
	case 1:
		p.order = append([]*Node{sc.expr(anyKind, 1)}, p.order...)
		if r.oneIn(2) {
			p.order[0] = tmpl(clause, "DESC", "$ DESC", p.order[0])
		}
	case 2:
		p.limit = fmt.Sprint(1 + r.IntN(4))
		if r.oneIn(2) {
			p.limit += " OFFSET 1"
		}
	}
	return inOrder(p, f.ids())
}

// genJoin makes a statement of the family join.
func genJoin(r source, s *Schema) *Stmt {
	f := joined(r, s, 2+r.IntN(3))
	p := parts{items: f.ids(), from: f.node}
	if r.oneIn(2) {
		p.where = f.scope(r).condition(1 + r.IntN(2))
	}
	if r.oneIn(3) {
		p.items = append(p.items, f.scope(r).leaf(anyKind))
	}
	if r.oneIn(3) {
		p.order = f.ids()
		if r.oneIn(3) {
			p.limit = fmt.Sprint(1 + r.IntN(6))
		}
		return inOrder(p, p.order)
	}
	return &Stmt{Root: p.node()}
}

// genSubquery makes a statement of the family subquery.
func genSubquery(r source, s *Schema) *Stmt {
	f := oneTable(r, s)
	if r.oneIn(3) {
		f = joined(r, s, 2)
	}
	sc := f.scope(r)
	p := parts{items: f.ids(), from: f.node}
	switch r.IntN(5) {
	case 0:
		p.items = append(p.items, scalarSubquery(s, sc))
	case 1:
		p.items = append(p.items, subqueryPredicate(s, sc))
	default:
		p.where = subqueryPredicate(s, sc)
		if r.oneIn(3) {
			p.where = tmpl(expression, pick(r, "OR", "AND"), "$ OR $", p.where, sc.condition(1))
		}
		if r.oneIn(5) {
			p.where = tmpl(expression, "NOT", "NOT ($)", p.where)
		}
	}
	return &Stmt{Root: p.node()}
}

// inner starts a subquery over one or two tables, with what its expressions may name: its own columns, and those around it.
func inner(s *Schema, outer *scope) (*from, *scope) {
	r := outer.r
	t := pick(r, s.Tables...)
	f := &from{node: tmpl(relation, "", t.Name+" AS s"), tables: []*Table{t}, aliases: []string{"s"}}
	sc := f.scope(r)
	if r.oneIn(2) {
		for _, k := range []Kind{intKind, decKind, dblKind, textKind, dateKind, binKind, timeKind} {
			for _, c := range outer.columns[k] {
				sc.add(k, c)
			}
		}
	}
	return f, sc
}

// scalarSubquery gives one row and one column.
func scalarSubquery(s *Schema, outer *scope) *Node {
	r := outer.r
	f, sc := inner(s, outer)
	p := parts{from: f.node}
	if r.oneIn(2) {
		p.where = sc.condition(1)
	}
	switch r.IntN(4) {
	case 0:
		p.items = []*Node{sc.leaf(anyKind)}
		p.order, p.limit = f.ids(), "1"
	case 1:
		p.items = []*Node{atom("COUNT(*)")}
	case 2:
		p.items = []*Node{tmpl(expression, "SUM", "SUM($)", sc.leaf(numKind))}
	default:
		name := pick(r, "MIN", "MAX")
		p.items = []*Node{tmpl(expression, name, name+"($)", sc.leaf(pick(r, intKind, dateKind, decKind)))}
	}
	return tmpl(expression, "scalar subquery", "($)", p.node())
}

// subqueryPredicate is IN, EXISTS, a comparison with ANY or ALL, or with a scalar subquery.
func subqueryPredicate(s *Schema, outer *scope) *Node {
	r := outer.r
	f, sc := inner(s, outer)
	p := parts{from: f.node}
	if !r.oneIn(3) {
		p.where = sc.condition(1)
	}
	if r.oneIn(4) { // joined to the row around it
		o := pick(r, outer.columns[anyKind]...)
		p.where = tmpl(expression, "=", "$ = $", f.ids()[0], atom(o))
	}
	k := pick(r, intKind, intKind, textKind, decKind, dateKind, numKind, anyKind)
	col := newScope(r, f.tables, f.aliases).leaf(k)
	switch r.IntN(8) {
	case 0:
		p.items = []*Node{atom("1")}
		return tmpl(expression, "EXISTS", "EXISTS ($)", p.node())
	case 1:
		p.items = []*Node{atom("1")}
		return tmpl(expression, "NOT EXISTS", "NOT EXISTS ($)", p.node())
	case 2:
		p.items = []*Node{col}
		return tmpl(expression, "NOT IN subquery", "$ NOT IN ($)", outer.leaf(k), p.node())
	case 3:
		op, word := pick(r, "=", "<>", "<", ">="), pick(r, "ANY", "ALL", "SOME")
		p.items = []*Node{col}
		return tmpl(expression, word, "$ "+op+" "+word+" ($)", outer.leaf(k), p.node())
	case 4:
		op := pick(r, "=", "<", ">=", "<=>")
		return tmpl(expression, op, "$ "+op+" $", outer.leaf(k), scalarSubquery(s, outer))
	case 5:
		p.items = []*Node{col, f.ids()[0]}
		return tmpl(expression, "row IN subquery", "($, $) IN ($)", outer.leaf(k), outer.leaf(intKind), p.node())
	default:
		p.items = []*Node{col}
		return tmpl(expression, "IN subquery", "$ IN ($)", outer.leaf(k), p.node())
	}
}
