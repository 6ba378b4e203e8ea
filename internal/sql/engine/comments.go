package engine

import "strings"

// plainComments makes MariaDB's executable comments plain ones, which they are to MySQL: /*M! ... */ begins every dump that
// mariadb-dump has written since 10.11.8. The parser takes them for MySQL's own, /*! ... */.
func plainComments(q string) string {
	if !strings.Contains(q, "/*M!") {
		return q
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(q); {
		switch c := q[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
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
