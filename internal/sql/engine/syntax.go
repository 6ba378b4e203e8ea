package engine

import "strings"

// moreSyntax writes what MySQL's grammar has and the parser's lacks in words that the parser knows, in the first statement of a
// text; false: there is nothing to write. It is asked only about statements that the parser has refused.
//
//	x IS [NOT] UNKNOWN            x IS [NOT] NULL
//	INTERVAL '1:30' HOUR_MINUTE   INTERVAL '1:30' `HOUR_MINUTE`
//	INTERVAL(a, b, ...)           `interval`(a, b, ...)
//	ROW(a, b)                     (a, b)
//	KEY ((a > 1)), AS (a > 1)     more parentheses (tablesyntax.go)
func moreSyntax(q string) (string, bool) {
	if edits := tableSyntax(q); edits != nil {
		out, _ := moreWords(newEdited(q, edits).out)
		return out, true
	}
	return moreWords(q)
}

func moreWords(q string) (string, bool) {
	end := endOfStatement(q)
	one := q[:end]
	words := wordsOf(one)
	var out strings.Builder
	done := 0
	put := func(w word, text string) {
		out.WriteString(one[done:w.from])
		out.WriteString(text)
		done = w.to
	}
	for i, w := range words {
		switch {
		case w.is(one, "unknown") && i > 0 && (words[i-1].is(one, "is") || i > 1 && words[i-1].is(one, "not") && words[i-2].is(one, "is")):
			put(w, "NULL")
		case i > 0 && words[i-1].is(one, "extract"): // its units are the grammar's
		case compositeUnits[strings.ToUpper(w.text(one))] && !quotedOrQualified(one, w):
			put(w, "`"+w.text(one)+"`")
		case w.is(one, "interval") && arguments(one, w.to) > 1:
			put(w, "`interval`")
		case w.is(one, "row") && arguments(one, w.to) > 1:
			put(w, "")
		}
	}
	if done == 0 {
		return q, false
	}
	return out.String() + one[done:] + q[end:], true
}

var compositeUnits = map[string]bool{"SECOND_MICROSECOND": true, "MINUTE_MICROSECOND": true, "MINUTE_SECOND": true, "HOUR_MICROSECOND": true,
	"HOUR_SECOND": true, "HOUR_MINUTE": true, "DAY_MICROSECOND": true, "DAY_SECOND": true, "DAY_MINUTE": true, "DAY_HOUR": true, "YEAR_MONTH": true}

// quotedOrQualified reports whether a word is part of a name that is written with a dot.
func quotedOrQualified(q string, w word) bool {
	return w.from > 0 && q[w.from-1] == '.' || w.to < len(q) && q[w.to] == '.'
}

// arguments counts those of the parentheses that begin at i, but for spaces; 0: none begin there.
func arguments(q string, i int) int {
	for i < len(q) && (q[i] == ' ' || q[i] == '\t' || q[i] == '\n') {
		i++
	}
	if i == len(q) || q[i] != '(' {
		return 0
	}
	depth, n := 0, 1
	for i < len(q) {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
			continue
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return n
			}
		case c == ',' && depth == 1:
			n++
		}
		i++
	}
	return n
}
