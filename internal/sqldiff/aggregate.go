package sqldiff

import "fmt"

// aggregate makes a call of an aggregate function.
func aggregate(sc *scope, ids []*Node) *Node {
	r := sc.r
	switch r.IntN(14) {
	case 0, 1:
		return tmpl(expression, "COUNT(*)", "COUNT(*)")
	case 2:
		return tmpl(expression, "COUNT", "COUNT($)", sc.expr(anyKind, 1))
	case 3:
		return tmpl(expression, "COUNT DISTINCT", "COUNT(DISTINCT $)", sc.expr(anyKind, 1))
	case 4:
		return tmpl(expression, "COUNT DISTINCT", "COUNT(DISTINCT $, $)", sc.leaf(anyKind), sc.leaf(anyKind))
	case 5:
		return tmpl(expression, "SUM", "SUM($)", sc.expr(numKind, 1))
	case 6:
		name := pick(r, "SUM", "AVG")
		return tmpl(expression, name+" DISTINCT", name+"(DISTINCT $)", sc.leaf(numKind))
	case 7:
		return tmpl(expression, "AVG", "AVG($)", sc.expr(numKind, 1))
	case 8, 9:
		name := pick(r, "MIN", "MAX")
		return tmpl(expression, name, name+"($)", sc.expr(anyKind, 1))
	case 10:
		sep := pick(r, "", " SEPARATOR '|'")
		return tmpl(expression, "GROUP_CONCAT", "GROUP_CONCAT($ ORDER BY $"+sep+")", sc.leaf(anyKind), list(1, "", ", ", "", ids...))
	case 11:
		name := pick(r, "BIT_AND", "BIT_OR", "BIT_XOR")
		return tmpl(expression, name, name+"($)", sc.leaf(intKind))
	case 12:
		name := pick(r, "STDDEV_POP", "VAR_SAMP", "STDDEV_SAMP", "VAR_POP")
		return tmpl(expression, name, name+"($)", sc.leaf(pick(r, intKind, decKind)))
	default:
		return tmpl(expression, "GROUP_CONCAT DISTINCT", "GROUP_CONCAT(DISTINCT $ ORDER BY 1)", sc.leaf(pick(r, intKind, textKind)))
	}
}

// genGroup makes a statement of the family group.
func genGroup(r source, s *Schema) *Stmt {
	f := oneTable(r, s)
	if r.oneIn(3) {
		f = joined(r, s, 2+r.IntN(2))
	}
	sc := f.scope(r)
	p := parts{from: f.node}
	st := &Stmt{Folded: true}
	if r.oneIn(3) {
		p.where = sc.condition(1)
	}
	if r.oneIn(6) {
		p.distinct = true
		p.items = some(r, 1, 3, func() *Node { return sc.expr(anyKind, r.IntN(2)) })
		if r.oneIn(2) {
			for i := range p.items {
				p.order = append(p.order, atom(fmt.Sprint(i+1)))
			}
		}
		st.Root = p.node()
		return st
	}
	for range r.IntN(3) {
		g := sc.expr(pick(r, anyKind, textKind, intKind, dateKind), r.IntN(2))
		p.group = append(p.group, g)
		p.items = append(p.items, g.clone())
	}
	for range 1 + r.IntN(2) {
		p.items = append(p.items, aggregate(sc, f.ids()))
	}
	if len(p.group) > 0 {
		p.rollup = r.oneIn(6)
		if r.oneIn(4) {
			n := pick(r, "COUNT(*)", "SUM("+f.aliases[0]+"."+f.tables[0].Cols[0].Name+")")
			p.having = tmpl(expression, "HAVING condition", "$ "+pick(r, ">", "<", "=")+" $", atom(n), atom(pick(r, "1", "2", "5")))
		} else if r.oneIn(6) {
			p.having = tmpl(expression, "HAVING condition", "$ > $", aggregate(sc, f.ids()), atom("1"))
		}
		if r.oneIn(4) && !p.rollup {
			for i := range p.group {
				p.order = append(p.order, pick(r, p.group[i].clone(), atom(fmt.Sprint(i+1))))
			}
		}
	}
	st.Root = p.node()
	return st
}

// genWindow makes a statement of the family window.
func genWindow(r source, s *Schema) *Stmt {
	f := oneTable(r, s)
	if r.oneIn(5) {
		f = joined(r, s, 2)
	}
	sc := f.scope(r)
	p := parts{items: f.ids(), from: f.node}
	if r.oneIn(4) {
		p.where = sc.condition(1)
	}
	for range 1 + r.IntN(2) {
		p.items = append(p.items, window(sc, f.ids()))
	}
	return &Stmt{Root: p.node(), Folded: true}
}

// window makes a call of a window function. Functions that number rows are given a total order.
func window(sc *scope, ids []*Node) *Node {
	r := sc.r
	var call *Node
	total, framed := true, true
	switch r.IntN(12) {
	case 0:
		call, framed = tmpl(expression, "ROW_NUMBER", "ROW_NUMBER()"), false
	case 1:
		name := pick(r, "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")
		call, total, framed = tmpl(expression, name, name+"()"), false, false
	case 2:
		call, framed = tmpl(expression, "NTILE", fmt.Sprintf("NTILE(%d)", 1+r.IntN(4))), false
	case 3, 4:
		name := pick(r, "LAG", "LEAD")
		call, framed = tmpl(expression, name, name+pick(r, "($)", "($, 2)", "($, 1, NULL)", "($, 0)"), sc.leaf(anyKind)), false
	case 5:
		name := pick(r, "FIRST_VALUE", "LAST_VALUE")
		call = tmpl(expression, name, name+"($)", sc.leaf(anyKind))
	case 6:
		call = tmpl(expression, "NTH_VALUE", "NTH_VALUE($, 2)", sc.leaf(anyKind))
	case 7:
		call, total = tmpl(expression, "COUNT", "COUNT($)", sc.leaf(anyKind)), false
	case 8:
		name := pick(r, "MIN", "MAX")
		call, total = tmpl(expression, name, name+"($)", sc.leaf(pick(r, intKind, dateKind, textKind))), false
	case 9:
		call, total = tmpl(expression, "AVG", "AVG($)", sc.leaf(pick(r, intKind, decKind))), false
	default:
		call, total = tmpl(expression, "SUM", "SUM($)", sc.leaf(pick(r, intKind, decKind))), false
	}
	partition := list(0, "PARTITION BY ", ", ", " ").named("PARTITION BY")
	if r.oneIn(2) {
		partition.Kids = append(partition.Kids, sc.expr(pick(r, intKind, textKind, anyKind), r.IntN(2)))
	}
	order := list(0, "ORDER BY ", ", ", " ").named("window ORDER BY")
	if r.IntN(5) > 0 || total {
		if r.oneIn(2) || !total {
			k := sc.leaf(pick(r, intKind, numKind, dateKind, textKind))
			if r.oneIn(3) {
				k = tmpl(clause, "DESC", "$ DESC", k)
			}
			order.Kids = append(order.Kids, k)
		}
		if total || r.oneIn(3) {
			order.Min = len(ids)
			order.Kids = append(order.Kids, ids...)
		}
	}
	frame := list(0, "", "", "").named("frame")
	if framed && r.oneIn(2) {
		unit, bounds := "ROWS", pick(r, "UNBOUNDED PRECEDING", "1 PRECEDING", "BETWEEN 1 PRECEDING AND 1 FOLLOWING",
			"BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "BETWEEN 2 PRECEDING AND 1 PRECEDING")
		if !total {
			unit, bounds = "RANGE", pick(r, "UNBOUNDED PRECEDING", "CURRENT ROW", "BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
				"BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
			if len(order.Kids) == 1 && r.oneIn(2) {
				bounds = "BETWEEN 1 PRECEDING AND 1 FOLLOWING"
			}
		}
		frame.Kids = append(frame.Kids, word(unit+" "+bounds))
	}
	return tmpl(expression, "OVER", "$ OVER ($$$)", call, partition, order, frame)
}
