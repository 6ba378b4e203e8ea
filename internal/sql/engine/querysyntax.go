package engine

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// beginsQuery reports whether a text begins as a query does.
func beginsQuery(q string) bool {
	for {
		if t := strings.TrimLeft(q, " \t\r\n("); t != q {
			q = t
			continue
		}
		n := commentEnd(q)
		if n == 0 {
			break
		}
		q = q[n:]
	}
	switch w := firstWord(q); strings.ToLower(w.text(q)) {
	case "select", "with", "values", "table":
		return true
	}
	return false
}

// beginsChange reports whether a text begins as a statement that changes rows does.
func beginsChange(q string) bool {
	switch w := firstWord(q); strings.ToLower(w.text(q)) {
	case "update", "delete", "insert", "replace":
		return true
	}
	return false
}

// parseQuery parses the first statement of a text as package bind wants it: as it is written, but for what the grammar lacks, which is
// written in words that it knows (querySyntax). rest is what stands behind the statement and its semicolon.
//
//	DATE'2024-02-29'        a call of `date literal` (typedliterals.go)
//	GROUP BY a WITH ROLLUP  a last expression, a call of `with rollup` without arguments
//	x > ANY (SELECT ...)    x > (SELECT /*any*/ ...), and /*all*/ for ALL
//	TABLE t                 SELECT * FROM t
//	a SOUNDS LIKE b         SOUNDEX(a) = SOUNDEX(b)
//	a MEMBER OF (b)         a call of `member of`
//	@a := b                 @a OR `:=` OR b, of which withCalls makes a call of := (assignments.go)
func parseQuery(query string, o sqlparser.ParserOptions) (stmt sqlparser.Statement, rest string, err error) {
	marked, literals := markLiterals(query, o.AnsiQuotes)
	text := querySyntax(marked, o.AnsiQuotes)
	if es := changeSyntax(text.out); len(es) > 0 {
		text = text.and(es...)
	}
	parse := func(t string) (sqlparser.Statement, string, error) {
		s, _, rest, err := sql.DefaultMySQLParser.ParseWithOptions(context.Background(), t, ';', true, o)
		return s, rest, err
	}
	stmt, rest, err = parse(text.out)
	if from, to := outerParentheses(text.out); err != nil && to >= 0 { // all pairs at once: parsing again for each takes the square of their number
		for ; to >= 0; from, to = outerParentheses(text.out) {
			text = text.and(edit{from, from + 1, " "}, edit{to, to + 1, " "})
		}
		stmt, rest, err = parse(text.out)
	}
	for n := 0; err != nil && n < mostQuoted; n++ {
		again, ok := quoteNear(text.out, err.Error())
		if !ok {
			break
		}
		at := 0
		for at < len(text.out) && again[at] == text.out[at] {
			at++
		}
		w := len(again) - len(text.out) // both quotes
		if w != 2 {
			break
		}
		end := at
		for end < len(text.out) && isWord(text.out[end]) {
			end++
		}
		text = text.and(edit{at, at, "`"}, edit{end, end, "`"})
		stmt, rest, err = parse(text.out)
	}
	if err != nil || stmt == nil {
		return nil, "", err
	}
	nameDeleted(stmt)
	if len(text.edits) > 0 || literals {
		restoreText(stmt, query, text)
	}
	if literals || strings.Contains(text.out, marker) || strings.Contains(text.out, assignMark) {
		if stmt, err = withCalls(stmt); err != nil {
			return nil, "", err
		}
	}
	if n := len(rest); n > 0 { // what follows is as it was written, to the end of query; of rest the parser has cut spaces and semicolons at its end
		end := strings.TrimRightFunc(text.out, func(r rune) bool { return r == ';' || unicode.IsSpace(r) })
		begin := len(end) - n
		rest = strings.TrimLeft(query[min(len(query), text.original(begin)):], " \t\r\n")
	}
	return stmt, rest, nil
}

// outerParentheses are those around the first statement of a text, if nothing but ORDER BY or LIMIT stands behind them and the query in
// them has none; to is -1: there are none.
func outerParentheses(q string) (from, to int) {
	for from < len(q) && strings.IndexByte(" \t\r\n", q[from]) >= 0 {
		from++
	}
	if from == len(q) || q[from] != '(' {
		return 0, -1
	}
	depth := 0
	to = -1
	words := wordsOf(q)
	ordered := false
	for i := from; i < len(q) && to < 0; i++ {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i) - 1
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				to = i
			}
		case depth == 1 && (c|0x20 == 'l' || c|0x20 == 'o'):
			for _, w := range words {
				ordered = ordered || w.from == i && (w.is(q, "limit") || w.is(q, "order"))
			}
		}
	}
	if to < 0 {
		return 0, -1
	}
	behind := strings.TrimSpace(q[to+1 : to+1+endOfStatement(q[to+1:])])
	w := firstWord(behind)
	if behind == "" || !ordered && (w.is(behind, "order") || w.is(behind, "limit")) {
		return from, to
	}
	return 0, -1
}

// edit puts a text in the place of what stands between two positions.
type edit struct {
	from, to int
	text     string
}

// edited is a text with edits made to it.
type edited struct {
	in, out string
	edits   []edit // in order, of places in in
}

func newEdited(in string, edits []edit) edited {
	e := edited{in: in, edits: edits}
	if len(edits) == 0 {
		e.out = in
		return e
	}
	var b strings.Builder
	done := 0
	for _, d := range edits {
		b.WriteString(in[done:d.from])
		b.WriteString(d.text)
		done = d.to
	}
	b.WriteString(in[done:])
	e.out = b.String()
	return e
}

// and makes more edits, which are of places in out.
func (e edited) and(more ...edit) edited {
	all := append([]edit{}, e.edits...)
	for _, m := range more {
		d := edit{e.original(m.from), e.original(m.to), m.text}
		at := len(all)
		for at > 0 && all[at-1].from > d.from {
			at--
		}
		all = append(all[:at], append([]edit{d}, all[at:]...)...)
	}
	return newEdited(e.in, all)
}

// original is the place in in that a place in out stands for.
func (e *edited) original(at int) int {
	shift := 0 // what out is longer
	for _, d := range e.edits {
		from := d.from + shift
		if at <= from {
			break
		}
		if at < from+len(d.text) {
			return d.from
		}
		shift += len(d.text) - (d.to - d.from)
	}
	return at - shift
}

// restoreText gives columns without alias the names that they have in the statement as it was written.
func restoreText(s sqlparser.Statement, written string, text edited) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		e, ok := n.(*sqlparser.AliasedExpr)
		if !ok || e.InputExpression == "" {
			return true, nil
		}
		from, to := e.StartParsePos, e.EndParsePos
		if from < 0 || from > to || to > len(text.out) {
			return true, nil
		}
		is := strings.Trim(text.out[from:to], " \n\t")
		if is != e.InputExpression && strings.Trim(is, "'\"") != e.InputExpression {
			return true, nil
		}
		was := strings.Trim(written[text.original(from):text.original(to)], " \n\t")
		if was != is {
			e.InputExpression = was
		}
		return true, nil
	}, s)
}

// querySyntax writes what MySQL's grammar has and the parser's lacks in words that the parser knows, in all statements of a text.
func querySyntax(q string, ansiQuotes bool) edited {
	words := wordsOf(q)
	var edits []edit
	put := func(from, to int, text string) { edits = append(edits, edit{from, to, text}) }
	is := func(i int, text string) bool { return i >= 0 && i < len(words) && words[i].is(q, text) }
	for i, w := range words {
		if quotedOrQualified(q, w) {
			continue
		}
		switch strings.ToLower(w.text(q)) {
		case "unknown":
			if is(i-1, "is") || is(i-1, "not") && is(i-2, "is") {
				put(w.from, w.to, "NULL")
			}
		case "interval":
			if arguments(q, w.to) > 1 {
				put(w.from, w.to, "`interval`")
			}
		case "row":
			if arguments(q, w.to) > 1 && !inValues(q, words, i) {
				put(w.from, w.to, "")
			}
		case "sounds":
			if is(i+1, "like") {
				put(w.from, words[i+1].to, soundsMarker)
			}
		case "member":
			if is(i+1, "of") && arguments(q, words[i+1].to) == 1 {
				put(w.from, words[i+1].to, memberMarker)
			}
		case "with":
			if is(i+1, "rollup") {
				put(w.from, words[i+1].to, ", `with rollup`()")
			}
		case "any", "some", "all":
			if before := lastBefore(q, w.from); before == '=' || before == '<' || before == '>' {
				if sel := subquerySelect(q, words, i); sel >= 0 {
					mark := "/*any*/"
					if is(i, "all") {
						mark = "/*all*/"
					}
					put(w.from, w.to, "")
					put(words[sel].to, words[sel].to, " "+mark+" ")
				}
			}
		case "table":
			if i+1 < len(words) || i+1 == len(words) {
				if b := lastBefore(q, w.from); i == 0 || b == '(' || b == ';' || is(i-1, "union") || is(i-1, "except") || is(i-1, "intersect") ||
					(is(i-1, "all") || is(i-1, "distinct")) && (is(i-2, "union") || is(i-2, "except") || is(i-2, "intersect")) {
					put(w.from, w.to, "SELECT * FROM")
				}
			}
		default:
			if compositeUnits[strings.ToUpper(w.text(q))] && !is(i-1, "extract") && !is(i-1, "timestampdiff") && !is(i-1, "timestampadd") {
				put(w.from, w.to, "`"+w.text(q)+"`")
			}
		}
	}
	if as := assignments(q); len(as) > 0 {
		edits = append(edits, as...)
		slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	}
	return newEdited(q, edits)
}

// lastBefore is the last byte before a place that is no space; 0: there is none.
func lastBefore(q string, at int) byte {
	for at--; at >= 0; at-- {
		if c := q[at]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// inValues reports whether ROW at words[i] is of VALUES ROW(...), ROW(...).
func inValues(q string, words []word, i int) bool {
	if i > 0 && words[i-1].is(q, "values") {
		return lastBefore(q, words[i].from) != '('
	}
	if lastBefore(q, words[i].from) != ',' {
		return false
	}
	for at := strings.LastIndexByte(q[:words[i].from], ','); at > 0; { // behind the row before
		at--
		switch q[at] {
		case ' ', '\t', '\n', '\r':
			continue
		case ')':
		default:
			return false
		}
		depth := 0
		for ; at >= 0; at-- {
			if q[at] == ')' {
				depth++
			} else if q[at] == '(' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		for j := i - 1; j >= 0; j-- {
			if words[j].to <= at && strings.TrimSpace(q[words[j].to:max(at, words[j].to)]) == "" {
				return words[j].is(q, "row") && inValues(q, words, j)
			}
			if words[j].to < at {
				return false
			}
		}
		return false
	}
	return false
}

// subquerySelect is the first SELECT of the subquery in parentheses that follows words[i]; -1: none does.
func subquerySelect(q string, words []word, i int) int {
	open := false
	at := words[i].to
	for at < len(q) && (q[at] == ' ' || q[at] == '\t' || q[at] == '\n' || q[at] == '\r' || q[at] == '(') {
		open = open || q[at] == '('
		at++
	}
	if !open || i+1 == len(words) || words[i+1].from != at || !words[i+1].is(q, "select") {
		return -1
	}
	return i + 1
}

// Operators that the grammar lacks are written as REGEXP with these in front of what stands to the right: bits are inverted an odd number
// of times, which statements have no use for. withCalls takes them out again.
const (
	marker       = " REGEXP ~~~~~"
	soundsMarker = marker
	memberMarker = marker + "~~"
)

// markedOperand takes the marks off the right side of an operator; marks is how many there were.
func markedOperand(e *sqlparser.Expr) (marks int) {
	switch x := (*e).(type) {
	case *sqlparser.UnaryExpr:
		for {
			u, ok := (*e).(*sqlparser.UnaryExpr)
			if !ok || u.Operator != sqlparser.TildaStr {
				return marks
			}
			marks++
			*e = u.Expr
		}
	case *sqlparser.BinaryExpr:
		return markedOperand(&x.Left)
	case *sqlparser.CollateExpr:
		return markedOperand(&x.Expr)
	}
	return 0
}

// unmarked is the operator that a marked REGEXP stands for.
func unmarked(c *sqlparser.ComparisonExpr) sqlparser.Expr {
	right := c.Right
	switch markedOperand(&right) {
	case len(soundsMarker) - len(" REGEXP "):
		return &sqlparser.ComparisonExpr{Operator: sqlparser.EqualStr, Left: callNode("soundex", c.Left), Right: callNode("soundex", right)}
	case len(memberMarker) - len(" REGEXP "):
		return callNode("member of", c.Left, right)
	}
	return c
}

// withCalls writes typed literals and marked operators as calls.
func withCalls(s sqlparser.Statement) (sqlparser.Statement, error) {
	literals := rewriting{expr: func(e sqlparser.Expr) (sqlparser.Expr, error) {
		if call, ok := typedLiteral(e); ok {
			return call, nil
		}
		if c, ok := e.(*sqlparser.ComparisonExpr); ok && strings.EqualFold(c.Operator, sqlparser.RegexpStr) {
			return unmarked(c), nil
		}
		if o, ok := e.(*sqlparser.OrExpr); ok {
			return withAssignment(o), nil
		}
		return e, nil
	}}
	return s, literals.in(reflect.ValueOf(&s).Elem())
}
