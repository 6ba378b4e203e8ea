package sqldiff

import "fmt"

// genSetop makes a statement of the family setop.
func genSetop(r source, s *Schema) *Stmt {
	kinds := make([]Kind, 1+r.IntN(2))
	for i := range kinds {
		kinds[i] = pick(r, intKind, numKind, textKind, textKind, dateKind, anyKind)
	}
	root := setop(r, s, kinds, 1+r.IntN(2))
	st := &Stmt{Root: root, Folded: true}
	if r.oneIn(4) {
		order := []*Node{}
		for i := range kinds {
			order = append(order, atom(fmt.Sprint(i+1)))
		}
		st.Root = tmpl(query, "", "$$", root, list(0, " ORDER BY ", ", ", "", order...).named("ORDER BY of set operation"))
	}
	return st
}

func setop(r source, s *Schema, kinds []Kind, depth int) *Node {
	if depth == 0 {
		p := parts{}
		sc := constants(r)
		if !r.oneIn(5) {
			f := oneTable(r, s)
			sc, p.from = f.scope(r), f.node
			if r.oneIn(3) {
				p.where = sc.condition(1)
			}
		}
		for _, k := range kinds {
			item := sc.leaf(k)
			if r.oneIn(6) {
				item = sc.expr(k, 1)
			}
			p.items = append(p.items, item)
		}
		p.distinct = r.oneIn(6)
		n := p.node()
		n.Kids[2].Min = len(kinds)
		return n
	}
	op := pick(r, "UNION", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION DISTINCT")
	left, right := setop(r, s, kinds, depth-1), setop(r, s, kinds, r.IntN(depth))
	if depth == 1 {
		return tmpl(query, op, "$ "+op+" $", left, right)
	}
	return tmpl(query, op, "($) "+op+" ($)", left, right)
}

// genCTE makes a statement of the family cte.
func genCTE(r source, s *Schema) *Stmt {
	if r.oneIn(3) {
		return &Stmt{Root: recursive(r, s), Folded: true}
	}
	t := pick(r, s.Tables...)
	items := []*Node{}
	for _, c := range t.Cols {
		items = append(items, atom(c.Name))
	}
	in := newScope(r, []*Table{t}, nil)
	body := parts{items: items, from: tmpl(relation, "", t.Name)}
	if r.oneIn(2) {
		body.where = in.condition(1)
	}
	if r.oneIn(4) {
		body.order, body.limit = []*Node{atom(t.Cols[0].Name)}, "4"
	}
	n := body.node()
	n.Kids[2].Min = len(items)
	with := []*Node{tmpl(clause, "", "d AS ($)", n)}
	f := &from{node: tmpl(relation, "", "d AS x"), tables: []*Table{t}, aliases: []string{"x"}}
	if r.oneIn(3) { // the same expression twice
		f.tables, f.aliases = append(f.tables, t), append(f.aliases, "y")
		on := joinCondition(r, &from{tables: f.tables[:1], aliases: f.aliases[:1]}, t, "y")
		join := pick(r, "JOIN", "LEFT JOIN")
		f.node = tmpl(relation, join, "$ "+join+" d AS y ON $", f.node, on)
	}
	sc := f.scope(r)
	p := parts{with: list(1, "WITH ", ", ", " ", with...), items: f.ids(), from: f.node}
	if r.oneIn(2) {
		p.where = sc.condition(1)
	}
	if r.oneIn(3) {
		p.items = []*Node{aggregate(sc, f.ids())}
	}
	if r.oneIn(4) {
		p.where = tmpl(expression, "IN subquery", "$ IN (SELECT "+t.Cols[0].Name+" FROM d)", sc.leaf(intKind))
	}
	return &Stmt{Root: p.node(), Folded: true}
}

// recursive makes a recursive query that ends.
func recursive(r source, s *Schema) *Node {
	op := pick(r, "UNION ALL", "UNION ALL", "UNION", "UNION DISTINCT")
	switch r.IntN(6) {
	case 0: // numbers
		return tmpl(query, "recursive "+op,
			"WITH RECURSIVE r (n, m) AS (SELECT $, $ "+op+" SELECT n + 1, m + $ FROM r WHERE n < $) SELECT n, m FROM r",
			atom("1"), constants(r).literal(smallInt), constants(r).literal(smallInt), atom(pick(r, "3", "6", "20")))
	case 1: // texts, which are cut to the width of the first
		return tmpl(query, "recursive "+op,
			"WITH RECURSIVE r (n, c) AS (SELECT 1, CAST($ AS CHAR(20)) "+op+" SELECT n + 1, CONCAT(c, $) FROM r WHERE n < 4) SELECT n, c FROM r",
			constants(r).literal(textKind), constants(r).literal(textKind))
	case 2: // equal rows are not added again
		first := constants(r).literal(textKind)
		if r.oneIn(3) {
			first = atom("NULL")
		}
		return tmpl(query, "recursive UNION", "WITH RECURSIVE r (c) AS (SELECT CAST($ AS CHAR(10)) UNION SELECT $ FROM r) SELECT c FROM r",
			first, pick(r, constants(r).literal(textKind), atom("'<nil>'")))
	case 3: // dates
		return tmpl(query, "recursive "+op,
			"WITH RECURSIVE r (d) AS (SELECT DATE'2024-02-27' "+op+" SELECT d + INTERVAL 1 DAY FROM r WHERE d < DATE'2024-03-02') SELECT d, COUNT(*) FROM r GROUP BY d ORDER BY d")
	case 4: // a walk over a table
		t := pick(r, s.Tables...)
		id, next := t.Cols[0].Name, t.Cols[len(t.Cols)-1].Name
		return tmpl(query, "recursive UNION",
			fmt.Sprintf("WITH RECURSIVE r (a, b) AS (SELECT %s, %s FROM %s WHERE $ UNION SELECT x.%s, x.%s FROM %s AS x JOIN r ON x.%s = r.b) SELECT a, b FROM r",
				id, next, t.Name, id, next, t.Name, id), newScope(r, []*Table{t}, nil).condition(1))
	default:
		return tmpl(query, "recursive UNION", "WITH RECURSIVE r (a, b) AS (SELECT $, $ UNION SELECT b, a FROM r) SELECT a, b FROM r",
			constants(r).literal(pick(r, intKind, textKind)), constants(r).literal(pick(r, intKind, textKind)))
	}
}
