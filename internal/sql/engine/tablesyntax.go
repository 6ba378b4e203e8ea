package engine

import "strings"

// tableSyntax has CREATE and ALTER statements take any expression for a generated column and for an index part: the grammar takes only
// what is no condition, so a > 1 and b IN (1, 2) get parentheses of their own. It returns the edits, of places in the first statement.
//
//	KEY ((a > 1))   KEY (((a > 1)))
//	AS (a > 1)      AS ((a > 1))
func tableSyntax(q string) (edits []edit) {
	end := endOfStatement(q)
	one := q[:end]
	words := wordsOf(one)
	if len(words) == 0 || !words[0].is(one, "create") && !words[0].is(one, "alter") {
		return nil
	}
	wrap := func(from int) {
		if to := closing(one[from:]); to > 0 {
			edits = append(edits, edit{from, from, "("}, edit{from + to, from + to, ")"})
		}
	}
	for i, w := range words {
		if quotedOrQualified(one, w) {
			continue
		}
		switch {
		case w.is(one, "as"):
			at := skipSpace(one, w.to)
			if at < len(one) && one[at] == '(' && (i+1 == len(words) || !beginsQuery(one[at:])) {
				wrap(at)
			}
		case w.is(one, "key"), w.is(one, "index"), w.is(one, "unique"):
			open := keyList(one, w.to, i == 1 || i == 2 && words[1].is(one, "unique"))
			if open < 0 {
				continue
			}
			for _, at := range listed(one, open) {
				if one[at] == '(' {
					wrap(at)
				}
			}
		}
	}
	if words[0].is(one, "alter") {
		edits = append(edits, visibilitySyntax(one, words)...)
	}
	if len(edits) > 1 {
		sortEdits(edits)
	}
	return edits
}

// sortEdits puts edits into the order of their places; of one place they stay in theirs.
func sortEdits(edits []edit) {
	for i := 1; i < len(edits); i++ {
		for j := i; j > 0 && edits[j].from < edits[j-1].from; j-- {
			edits[j], edits[j-1] = edits[j-1], edits[j]
		}
	}
}

func skipSpace(q string, at int) int {
	for at < len(q) && strings.IndexByte(" \t\r\n", q[at]) >= 0 {
		at++
	}
	return at
}

// keyList is where the list of an index's parts begins, behind the word KEY, INDEX or UNIQUE, a name, and what kind of index it is; -1:
// none does. created: it is CREATE INDEX, which names the table before the list.
func keyList(q string, at int, created bool) int {
	names := 0
	for at = skipSpace(q, at); at < len(q); at = skipSpace(q, at) {
		switch c := q[at]; {
		case c == '(':
			return at
		case c == '`':
			at = afterQuote(q, at)
		case c == '.' && created:
			at++
			continue
		case isWord(c):
			from := at
			for at < len(q) && isWord(q[at]) {
				at++
			}
			switch strings.ToLower(q[from:at]) {
			case "using", "key", "index", "on", "btree", "hash":
				continue
			}
		default:
			return -1
		}
		if names++; names > 1 && !created || names > 4 {
			return -1
		}
	}
	return -1
}

// listed gives where each item of the list begins whose opening parenthesis is at open; commas separate the items.
func listed(q string, open int) (out []int) {
	depth := 0
	for i := open; i < len(q); i++ {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i) - 1
		case c == '(':
			if depth++; depth == 1 {
				out = append(out, skipSpace(q, i+1))
			}
		case c == ')':
			if depth--; depth == 0 {
				return out
			}
		case c == ',' && depth == 1:
			out = append(out, skipSpace(q, i+1))
		}
	}
	return nil
}
