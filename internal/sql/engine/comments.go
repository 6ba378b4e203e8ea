package engine

import "strings"

// plainComments makes MariaDB's executable comments plain ones, which they are to MySQL: /*M! ... */ begins every dump that
// mariadb-dump has written since 10.11.8. The parser takes them for MySQL's own, /*! ... */. And it parts two signs: 5--1 is 6, where the parser
// takes any -- for the beginning of a comment; that is one only before a blank, a control character or the end.
func plainComments(q string) string {
	if !strings.Contains(q, "/*M!") && !strings.Contains(q, "--") {
		return q
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case strings.HasPrefix(q[i:], "--") && i+2 < len(q) && q[i+2] > ' ':
			out.WriteString(q[done:i+1] + " ")
			i++
			done = i
		case c == '#' || strings.HasPrefix(q[i:], "--"):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*M!"):
			out.WriteString(q[done : i+2])
			done = i + 4
			i = after(q, i+4, "*/")
		case strings.HasPrefix(q[i:], "/*"):
			i = after(q, i+2, "*/")
		default:
			i++
		}
	}
	return out.String() + q[done:]
}

// executedProgram takes the marks of executable comments, /*!50003 and */, off a statement that makes or drops a stored program: its text
// is kept, and run, without them. mariadb-dump and mysqldump write triggers and procedures so.
func executedProgram(q string) string {
	if !strings.Contains(q, "/*!") {
		return q
	}
	words := wordsOf(q) // those in executable comments among them
	if len(words) == 0 || !words[0].is(q, "create") && !words[0].is(q, "drop") && !words[0].is(q, "alter") {
		return q
	}
	program := false
	for _, w := range words[1:min(len(words), 8)] {
		if w.is(q, "table") || w.is(q, "view") || w.is(q, "database") || w.is(q, "index") {
			return q
		}
		if w.is(q, "trigger") || w.is(q, "procedure") || w.is(q, "function") || w.is(q, "event") {
			program = true
			break
		}
	}
	if !program {
		return q
	}
	out := []byte(q)
	open := false
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			i = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*!"):
			from := i
			for i += 3; i < len(q) && '0' <= q[i] && q[i] <= '9'; {
				i++
			}
			copy(out[from:i], strings.Repeat(" ", i-from))
			open = true
		case strings.HasPrefix(q[i:], "/*"):
			i = after(q, i+2, "*/")
		case open && strings.HasPrefix(q[i:], "*/"):
			out[i], out[i+1] = ' ', ' '
			open = false
			i += 2
		default:
			i++
		}
	}
	return strings.TrimSpace(string(out))
}
