package sqldiff

import "strings"

// scope is what expressions may name: columns by kind.
type scope struct {
	r       source
	columns map[Kind][]string
	// atoms is how often an atom is a column, in percent; the rest are constants.
	atoms int
	// wild is how often an argument is of another kind than the function wants, in percent.
	wild int
	// plain is how often an expression is made of the plainest operators over operands of one kind, in percent.
	plain int
	sub   func(*scope) *Node // makes a subquery that gives one value; nil: none
}

// newScope makes a scope over the columns of tables, each under an alias; "" for none.
func newScope(r source, tables []*Table, aliases []string) *scope {
	s := &scope{r: r, columns: map[Kind][]string{}, atoms: 75, wild: 12}
	for i, t := range tables {
		alias := ""
		if i < len(aliases) && aliases[i] != "" {
			alias = aliases[i] + "."
		}
		for _, c := range t.Cols {
			s.add(c.Type.kind, alias+c.Name)
		}
	}
	return s
}

func (s *scope) add(k Kind, name string) {
	s.columns[k] = append(s.columns[k], name)
	if k == intKind || k == decKind || k == dblKind {
		s.columns[numKind] = append(s.columns[numKind], name)
	}
	s.columns[anyKind] = append(s.columns[anyKind], name)
}

// constants makes a scope that knows no columns.
func constants(r source) *scope { return &scope{r: r, columns: map[Kind][]string{}, wild: 12} }

// literal draws a constant of a kind.
func (s *scope) literal(k Kind) *Node {
	r := s.r
	if r.oneIn(14) {
		return atom("NULL")
	}
	switch k {
	case numKind:
		k = pick(r, intKind, intKind, decKind, dblKind, smallInt)
	case anyKind:
		k = pick(r, intKind, smallInt, decKind, dblKind, textKind, textKind, textKind, dateKind, timeKind, binKind, jsonKind)
	}
	return atom(pick(r, literals[k]...))
}

func (s *scope) leaf(k Kind) *Node {
	if cols := s.columns[k]; len(cols) > 0 && s.r.IntN(100) < s.atoms && k != smallInt {
		return atom(pick(s.r, cols...))
	}
	return s.literal(k)
}

// expr makes an expression of a kind, at most so deep.
func (s *scope) expr(k Kind, depth int) *Node {
	r := s.r
	if r.IntN(100) < s.plain {
		return s.plainExpr(k, depth)
	}
	if r.IntN(100) < s.wild && k != smallInt {
		k = anyKind
	}
	if s.sub != nil && depth > 0 && r.oneIn(12) {
		return s.sub(s)
	}
	known := functions[k]
	if depth <= 0 || len(known) == 0 || (k == smallInt && !r.oneIn(20)) || r.oneIn(5) {
		return s.leaf(k)
	}
	return s.call(pick(r, known...), depth)
}

// plainExpr makes an expression whose evaluation alone should not be a matter of dispute.
func (s *scope) plainExpr(k Kind, depth int) *Node {
	r := s.r
	if depth <= 0 {
		return s.leaf(k)
	}
	if k == boolKind {
		return s.plainCondition(depth)
	}
	if (k == intKind || k == numKind) && r.oneIn(2) {
		op := pick(r, "+", "-", "*")
		return tmpl(expression, op, "($ "+op+" $)", s.leaf(k), atom(pick(r, "1", "2", "0")))
	}
	if r.oneIn(4) {
		return tmpl(expression, "COALESCE", "COALESCE($, $)", s.leaf(k), s.plainLiteral(k))
	}
	return s.leaf(k)
}

// plainLiteral is a value that columns of the kind hold.
func (s *scope) plainLiteral(k Kind) *Node {
	switch k {
	case intKind, numKind, smallInt:
		return atom(pick(s.r, "0", "1", "2", "3", "5", "-1"))
	case textKind:
		return atom(pick(s.r, "'a'", "'A'", "'b'", "'abc'", "'e'", "''"))
	}
	return s.literal(k)
}

func (s *scope) plainCondition(depth int) *Node {
	r := s.r
	if depth > 1 && r.IntN(3) > 0 {
		a, b := s.plainCondition(depth-1), s.plainCondition(depth-1)
		switch r.IntN(5) {
		case 0, 1:
			return tmpl(expression, "AND", "($ AND $)", a, b)
		case 2, 3:
			return tmpl(expression, "OR", "($ OR $)", a, b)
		default:
			return tmpl(expression, "NOT", "(NOT $)", a)
		}
	}
	k := pick(r, intKind, intKind, numKind, textKind, textKind, dateKind, decKind)
	x := s.leaf(k)
	if k == intKind && r.oneIn(5) {
		x = s.plainExpr(k, 1)
	}
	operand := func() *Node {
		if r.oneIn(3) && k != textKind {
			return s.leaf(k)
		}
		return s.plainLiteral(k)
	}
	switch r.IntN(9) {
	case 0:
		return tmpl(expression, "IS NULL", "($ IS NULL)", x)
	case 1:
		return tmpl(expression, "IS NOT NULL", "($ IS NOT NULL)", x)
	case 2:
		return tmpl(expression, "IN", "($ IN ($))", x, list(1, "", ", ", "", operand(), operand(), operand()))
	case 3:
		return tmpl(expression, "NOT IN", "($ NOT IN ($))", x, list(1, "", ", ", "", operand(), operand()))
	case 4:
		return tmpl(expression, "BETWEEN", "($ BETWEEN $ AND $)", x, operand(), operand())
	case 5:
		return tmpl(expression, "<=>", "($ <=> $)", x, operand())
	default:
		op := pick(r, "=", "=", "<>", "<", "<=", ">", ">=")
		return tmpl(expression, op, "($ "+op+" $)", x, operand())
	}
}

// call makes a call of one function.
func (s *scope) call(f function, depth int) *Node {
	text, kids := f.text, []*Node{}
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "{[")
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		if text[i] == '{' {
			kids = append(kids, s.expr(Kind(text[i+1]), depth-1))
			b.WriteByte('\x01')
			text = text[i+3:]
			continue
		}
		end := closing(text[i:]) + i
		b.WriteString(pick(s.r, alternatives(text[i+1:end])...))
		text = text[end+1:]
	}
	return &Node{Class: expression, Name: f.name, Parts: strings.Split(b.String(), "\x01"), Kids: kids}
}

// closing finds the bracket that closes the first; brackets within quotes count as text.
func closing(s string) int {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i
		}
	}
	panic("no closing bracket: " + s)
}

func alternatives(s string) (out []string) {
	quoted, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == '|' && !quoted:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// condition makes a predicate for WHERE, ON and HAVING.
func (s *scope) condition(depth int) *Node {
	wild := s.wild
	s.wild = wild / 2
	defer func() { s.wild = wild }()
	return s.expr(boolKind, depth)
}
