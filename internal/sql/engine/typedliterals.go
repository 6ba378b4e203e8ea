package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// DATE'2024-02-29', TIME'10:11:12' and TIMESTAMP'…': the grammar of go-mysql-server's parser takes them and drops the word
// (dolthub/vitess, sql.y), so that DATE'2024-02-29'+0 was 2024. Before a statement is parsed the text of such a literal gets a
// mark at its beginning in place of the word, which makes as many bytes: all positions stay those of the statement as it was
// written. The parser's tree then has a call in place of the marked text, and restoreNames gives columns their names back.

// literalMark is how the text of a typed literal begins, followed by a letter for its type and literalEnd. Together with the quote
// they are as long as DATE'.
const (
	literalMark = "\x01\x1d"
	literalEnd  = "\x1e"
)

var literalKinds = map[string]string{"D": "date literal", "T": "time literal", "S": "timestamp literal"}

// markLiterals marks the typed literals of a statement, or of several.
func markLiterals(query string, ansiQuotes bool) (marked string, changed bool) {
	if strings.Contains(query, literalMark) {
		return query, false // a text could begin with the mark
	}
	var out []byte
	for _, w := range wordsOf(query) {
		kind := ""
		switch {
		case w.is(query, "date"):
			kind = "D"
		case w.is(query, "time"):
			kind = "T"
		case w.is(query, "timestamp"):
			kind = "S"
		default:
			continue
		}
		at := w.to
		for at < len(query) && (query[at] == ' ' || query[at] >= '\t' && query[at] <= '\r') {
			at++
		}
		isText := at < len(query) && (query[at] == '\'' || query[at] == '"' && !ansiQuotes)
		isName := w.from > 0 && (query[w.from-1] == '.' || query[w.from-1] == '@')
		if !isText || isName {
			continue
		}
		if out == nil {
			out = []byte(query)
		}
		mark := query[at:at+1] + literalMark + kind + literalEnd
		for i := w.from; i <= at; i++ {
			out[i] = ' '
		}
		copy(out[at+1-len(mark):], mark)
	}
	if out == nil {
		return query, false
	}
	return string(out), true
}

// typedLiteral is the call that a text with a mark stands for; ok is false for other expressions.
func typedLiteral(e sqlparser.Expr) (call *sqlparser.FuncExpr, ok bool) {
	v, isText := e.(*sqlparser.SQLVal)
	if !isText || v.Type != sqlparser.StrVal || !strings.HasPrefix(string(v.Val), literalMark) {
		return nil, false
	}
	kind, text, _ := strings.Cut(string(v.Val[len(literalMark):]), literalEnd)
	return callNode(literalKinds[kind], textNode(text)), true
}

// plainLiteral is a text without its mark, for a column's default: MySQL wants a literal there.
func plainLiteral(e sqlparser.Expr) sqlparser.Expr {
	if call, ok := typedLiteral(e); ok {
		return call.Exprs[0].(*sqlparser.AliasedExpr).Expr
	}
	return e
}

// restoreNames gives columns without alias the names that the statement as it was written gives them.
func restoreNames(s sqlparser.Statement, written, marked string) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		e, ok := n.(*sqlparser.AliasedExpr)
		if !ok || !strings.Contains(e.InputExpression, literalMark) {
			return true, nil
		}
		from, to := e.StartParsePos, e.EndParsePos
		if from >= 0 && from <= to && to <= len(marked) { // positions of this text, unless more of it was rewritten
			if is := strings.Trim(marked[from:to], " \n\t"); is == e.InputExpression || strings.Trim(is, "'\"") == e.InputExpression {
				e.InputExpression = strings.Trim(written[from:to], " \n\t")
				return true, nil
			}
		}
		e.InputExpression = writtenLiterals(e.InputExpression)
		return true, nil
	}, s)
}

// writtenLiterals takes the marks out of a text.
func writtenLiterals(s string) string {
	for _, quote := range []string{"'", `"`} {
		for kind, name := range literalKinds {
			word, _, _ := strings.Cut(name, " ")
			s = strings.ReplaceAll(s, quote+literalMark+kind+literalEnd, strings.ToUpper(word)+quote)
		}
	}
	return s
}
