package sqldiff

import (
	"fmt"
	"strings"
)

// genDML makes a statement of the family dml.
func genDML(r source, s *Schema) *Stmt {
	var n *Node
	switch r.IntN(20) {
	case 0, 1, 2:
		n = insertValues(r, s, pick(r, "INSERT", "INSERT", "INSERT", "INSERT IGNORE", "REPLACE"))
	case 3, 4:
		n = upsert(r, s)
	case 5:
		n = insertSelect(r, s)
	case 6:
		n = insertSet(r, s)
	case 7, 8:
		n = deleteRows(r, s)
	case 9:
		n = deleteJoined(r, s)
	case 10, 11:
		n = updateJoined(r, s)
	default:
		n = updateRows(r, s)
	}
	return &Stmt{Root: n, Changes: true}
}

// settable are the columns that a statement may set.
func settable(t *Table) (out []*Column) {
	for _, c := range t.Cols {
		if !c.fixed() {
			out = append(out, c)
		}
	}
	return out
}

// newValue is what a statement sets a column to: mostly a value of its type, otherwise anything.
func newValue(sc *scope, c *Column, depth int) *Node {
	r := sc.r
	if r.oneIn(6) {
		if n := edgeValue(sc, c, depth); n != nil {
			return n
		}
	}
	switch r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return atom(pick(r, c.Type.values...))
	case 5:
		return sc.literal(anyKind)
	case 6:
		if depth > 0 {
			return tmpl(expression, "DEFAULT", "DEFAULT")
		}
		return sc.literal(c.Type.kind)
	default:
		if depth == 0 {
			return sc.literal(c.Type.kind)
		}
		if len(sc.columns) == 0 {
			return sc.expr(c.Type.kind, 1)
		}
		if r.oneIn(3) && c.Type.kind == intKind { // steps over the edge
			return tmpl(expression, "+", "$ "+pick(r, "+", "-")+" $", atom(sc.qualify(c)), atom("1"))
		}
		return sc.expr(c.Type.kind, depth)
	}
}

// wrongValues are constants that columns of a kind refuse, or take only after a conversion.
var wrongValues = map[Kind][]string{
	intKind:  {"''", "'12abc'", "1000", "99999999999", "-1", "1e20", "'1.5'", "' 7 '", "18446744073709551615", "2.5", "'x'"},
	decKind:  {"''", "'1.5x'", "99999999999", "1e30", "'1e2'", "1.005", "-0.004"},
	dblKind:  {"''", "'1e400'", "'x'", "1e39"},
	textKind: {"'abcdefghijklmnopqrstuvwxyz'", "12", "1.50", "1e20", "DATE'2024-02-29'", "x'41'", "'a          '"},
	binKind:  {"'abcdefghijklmnopqrstuvwxyz'", "12", "'é'"},
	dateKind: {"'0000-00-00'", "'2024-02-30'", "20240229", "'2024-00-01'", "''", "'24-2-9'", "'2024-02-29 25:00:00'",
		"20240229101112", "'10:11:12'", "'2024-02-29T10:11:12'", "0", "'9999-12-31 23:59:59.9999999'"},
	timeKind: {"'839:00:00'", "'10:60:00'", "101112", "'1 2:3:4'", "''", "'24:00:00'", "-1", "'10:11:12.9999999'", "'x'"},
	jsonKind: {"'{'", "1", "''", "'[1,'", "'{\"b\":1,\"a\":2}'"},
}

// edgeValue is a value that the column's type does not take as it is, or what steps over its edge; nil if there is none.
func edgeValue(sc *scope, c *Column, depth int) *Node {
	r := sc.r
	if depth > 0 && len(sc.columns) > 0 && r.oneIn(2) {
		name := sc.qualify(c)
		switch c.Type.kind {
		case intKind:
			if dec := sc.columns[decKind]; len(dec) > 0 && r.oneIn(2) {
				f := pick(r, "FLOOR", "CEIL", "ROUND")
				return tmpl(expression, f, f+"($)", atom(pick(r, dec...)))
			}
			op := pick(r, "+", "-")
			return tmpl(expression, op, "$ "+op+" $", atom(name), atom("1"))
		case textKind:
			f := pick(r, "UPPER", "LOWER", "TRIM", "REVERSE")
			return tmpl(expression, f, f+"($)", atom(name))
		}
	}
	if wrong := wrongValues[c.Type.kind]; len(wrong) > 0 {
		return atom(pick(r, wrong...))
	}
	return nil
}

// qualify names a column as the scope does.
func (s *scope) qualify(c *Column) string {
	for _, name := range s.columns[anyKind] {
		if name == c.Name || strings.HasSuffix(name, "."+c.Name) {
			return name
		}
	}
	return c.Name
}

func newID(r source) *Node { return atom(fmt.Sprint(pick(r, 1, 2, 3, 20, 21, 22, 23, 24, 25))) }

// columnsToSet draws the key and some others.
func columnsToSet(r source, t *Table) []*Column {
	all := settable(t)
	out := all[:1:1]
	for _, c := range all[1:] {
		if r.IntN(3) > 0 || c.NotNull && r.IntN(4) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// values makes VALUES with rows for columns.
func values(r source, cols []*Column, low, high int) *Node {
	sc := constants(r)
	return list(1, "VALUES ", ", ", "", some(r, low, high, func() *Node {
		row := []*Node{newID(r)}
		for _, c := range cols[1:] {
			row = append(row, newValue(sc, c, r.IntN(2)))
		}
		return list(len(row), "(", ", ", ")", row...)
	})...)
}

// insertValues makes an INSERT whose columns the reducer drops together with their values (dropColumns).
func insertValues(r source, s *Schema, verb string) *Node {
	t := pick(r, s.Tables...)
	cols := columnsToSet(r, t)
	return tmpl(clause, verb, verb+" INTO "+t.Name+" ($) $", columnList(cols), values(r, cols, 1, 3))
}

func columnList(cols []*Column) *Node {
	n := list(len(cols), "", ", ", "")
	for _, c := range cols {
		n.Kids = append(n.Kids, word(c.Name))
	}
	return n
}

func insertSet(r source, s *Schema) *Node {
	t := pick(r, s.Tables...)
	cols := columnsToSet(r, t)
	sc := constants(r)
	n := list(1, "", ", ", "", tmpl(clause, "", cols[0].Name+" = $", newID(r)))
	for _, c := range cols[1:] {
		n.Kids = append(n.Kids, tmpl(clause, "", c.Name+" = $", newValue(sc, c, 1)))
	}
	verb := pick(r, "INSERT", "REPLACE", "INSERT IGNORE")
	return tmpl(clause, verb+" SET", verb+" INTO "+t.Name+" SET $", n)
}

func upsert(r source, s *Schema) *Node {
	t := pick(r, s.Tables...)
	cols := columnsToSet(r, t)
	sc := newScope(r, []*Table{t}, nil)
	sc.plain = 60
	sets := list(1, "", ", ", "", some(r, 1, 2, func() *Node {
		c := pick(r, settable(t)[1:]...)
		v := newValue(sc, c, 1)
		if r.oneIn(3) {
			v = tmpl(expression, "VALUES()", "VALUES("+c.Name+")")
		}
		return tmpl(clause, "", c.Name+" = $", v)
	})...)
	return tmpl(clause, "ON DUPLICATE KEY UPDATE", "INSERT INTO "+t.Name+" ($) $ ON DUPLICATE KEY UPDATE $", columnList(cols),
		values(r, cols, 1, 2), sets)
}

func insertSelect(r source, s *Schema) *Node {
	t := pick(r, s.Tables...)
	from := pick(r, s.Tables...)
	cols := columnsToSet(r, t)
	sc := newScope(r, []*Table{from}, nil)
	sc.wild, sc.plain = 3, 60
	items := []*Node{tmpl(expression, "+", "$ + $", atom(from.Cols[0].Name), atom(pick(r, "100", "0", "2")))}
	for _, c := range cols[1:] {
		items = append(items, sc.expr(c.Type.kind, r.IntN(2)))
	}
	p := parts{items: items, from: tmpl(relation, "", from.Name), order: []*Node{atom(from.Cols[0].Name)}}
	if r.oneIn(2) {
		p.where = sc.condition(1)
	}
	n := p.node()
	n.Kids[2].Min = len(items)
	verb := pick(r, "INSERT", "INSERT", "INSERT IGNORE", "REPLACE")
	return tmpl(clause, verb+" SELECT", verb+" INTO "+t.Name+" ($) $", columnList(cols), n)
}

func assignments(sc *scope, t *Table, alias string) *Node {
	r := sc.r
	return list(1, "", ", ", "", some(r, 1, 3, func() *Node {
		c := pick(r, settable(t)[1:]...)
		if r.oneIn(15) {
			c = t.Cols[0]
		}
		return tmpl(clause, "", alias+c.Name+" = $", newValue(sc, c, 1+r.IntN(2)))
	})...)
}

func where(sc *scope, depth int) *Node {
	if sc.r.oneIn(6) {
		return list(0, " WHERE ", "", "").named("WHERE")
	}
	return list(0, " WHERE ", "", "", sc.condition(depth)).named("WHERE")
}

// firstRows is ORDER BY the key LIMIT n.
func firstRows(r source, t *Table) *Node {
	n := list(0, " ORDER BY "+t.Cols[0].Name, "", "").named("LIMIT")
	if r.oneIn(5) {
		n.Kids = append(n.Kids, word(pick(r, "", " DESC")+fmt.Sprintf(" LIMIT %d", 1+r.IntN(3))))
	}
	return n
}

func updateRows(r source, s *Schema) *Node {
	t := pick(r, s.Tables...)
	sc := newScope(r, []*Table{t}, nil)
	sc.plain = 60
	verb := pick(r, "UPDATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE IGNORE")
	return tmpl(clause, verb, verb+" "+t.Name+" SET $$$", assignments(sc, t, ""), where(sc, 1), firstRows(r, t))
}

func deleteRows(r source, s *Schema) *Node {
	t := pick(r, s.Tables...)
	sc := newScope(r, []*Table{t}, nil)
	sc.plain = 60
	return tmpl(clause, "DELETE", "DELETE FROM "+t.Name+"$$", where(sc, 2), firstRows(r, t))
}

func deleteJoined(r source, s *Schema) *Node {
	f := joined(r, s, 2)
	what := pick(r, "x", "y", "x, y")
	return tmpl(clause, "multi-table DELETE", "DELETE "+what+" FROM $$", f.node, where(f.scope(r), 1))
}

// updateJoined sets columns to values that do not depend on which of several partners is met first.
func updateJoined(r source, s *Schema) *Node {
	f := joined(r, s, 2)
	own := newScope(r, f.tables[:1], f.aliases[:1])
	own.plain = 60
	return tmpl(clause, "multi-table UPDATE", "UPDATE $ SET $$", f.node, assignments(own, f.tables[0], "x."), where(f.scope(r), 1))
}
