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
