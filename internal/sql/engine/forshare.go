package engine

import "strings"

// forShare rewrites FOR SHARE, which the parser does not know, into what it does:
//
//	FOR SHARE                           LOCK IN SHARE MODE
//	FOR SHARE [OF a, b] SKIP LOCKED     FOR UPDATE OF `longitude for share`[, a, b] SKIP LOCKED
//
// and lockPlan takes the marker out again. plain is for preparing, where nothing is executed yet: there only the columns
// of the result matter, and the marker is left out.
func forShare(query string, plain bool) string {
	if len(query) < 9 || !strings.Contains(strings.ToLower(query), "share") {
		return query
	}
	words := wordsOf(query)
	var out strings.Builder
	done := 0
	for i := 0; i+1 < len(words); i++ {
		if !words[i].is(query, "for") || !words[i+1].is(query, "share") {
			continue
		}
		out.WriteString(query[done:words[i].from])
		done = words[i+1].to
		var next string
		if i+2 < len(words) && strings.TrimSpace(query[done:words[i+2].from]) == "" {
			next = strings.ToLower(words[i+2].text(query))
		}
		switch {
		case next == "of" && plain:
			out.WriteString("FOR UPDATE")
		case next == "of":
			out.WriteString("FOR UPDATE OF `" + shareMarker + "`,")
			done = words[i+2].to
		case (next == "skip" || next == "nowait") && plain:
			out.WriteString("FOR UPDATE")
		case next == "skip" || next == "nowait":
			out.WriteString("FOR UPDATE OF `" + shareMarker + "`")
		default:
			out.WriteString("LOCK IN SHARE MODE")
		}
	}
	out.WriteString(query[done:])
	return out.String()
}

// word is an unquoted word of a statement.
type word struct{ from, to int }

func (w word) text(query string) string { return query[w.from:w.to] }

func (w word) is(query, text string) bool { return strings.EqualFold(w.text(query), text) }

// wordsOf lists the words outside of strings, quoted names and comments that are not executed.
func wordsOf(q string) (out []word) {
	for i := 0; i < len(q); {
		c := q[i]
		switch {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*!"): // MySQL executes it, from the version behind the mark on
			for i += 3; i < len(q) && '0' <= q[i] && q[i] <= '9'; {
				i++
			}
		case strings.HasPrefix(q[i:], "/*"):
			i = after(q, i+2, "*/")
		case isWord(c):
			from := i
			for i < len(q) && isWord(q[i]) {
				i++
			}
			out = append(out, word{from, i})
		default:
			i++
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// afterQuote is behind a quoted text; a doubled quote is a part of it, and, but for names, what follows a backslash.
func afterQuote(q string, i int) int {
	quote := q[i]
	for i++; i < len(q); i++ {
		switch {
		case q[i] == '\\' && quote != '`':
			i++
		case q[i] == quote && i+1 < len(q) && q[i+1] == quote:
			i++
		case q[i] == quote:
			return i + 1
		}
	}
	return len(q)
}

func after(q string, i int, mark string) int {
	if at := strings.Index(q[i:], mark); at >= 0 {
		return i + at + len(mark)
	}
	return len(q)
}
