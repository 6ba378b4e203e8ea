package shell

import "strings"

// split cuts text into the statements that a semicolon ends, and the rest that no semicolon ends yet. Semicolons within
// quotes and comments do not count. The server reads the statements themselves.
func split(text string) (statements []string, rest string) {
	start, i := 0, 0
	for i < len(text) {
		switch c := text[i]; {
		case c == ';':
			if s := strings.TrimSpace(text[start:i]); s != "" {
				statements = append(statements, s)
			}
			i++
			start = i
		case c == '\'' || c == '"' || c == '`':
			i = quoted(text, i)
		case c == '#' || strings.HasPrefix(text[i:], "-- ") || strings.HasPrefix(text[i:], "--\n"):
			i = past(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = past(text, i+2, "*/")
		default:
			i++
		}
	}
	return statements, text[start:]
}

// quoted is the index after the string or name that is quoted from i on. A doubled quote goes on; so does one behind a
// backslash, except in names.
func quoted(text string, i int) int {
	q := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && q != '`':
			i++
		case text[i] == q:
			if i+1 < len(text) && text[i+1] == q {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(text)
}

// past is the index after the next end mark, or the text's end.
func past(text string, i int, end string) int {
	if j := strings.Index(text[i:], end); j >= 0 {
		return i + j + len(end)
	}
	return len(text)
}

// returnsRows reports whether a statement answers with rows, going by its first word; others answer with a count.
func returnsRows(statement string) bool {
	fields := strings.FieldsFunc(statement, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '(' || r == '\r' })
	if len(fields) == 0 {
		return false
	}
	switch strings.ToUpper(fields[0]) {
	case "SELECT", "SHOW", "DESC", "DESCRIBE", "EXPLAIN", "WITH", "CALL", "TABLE", "VALUES", "ANALYZE", "CHECK":
		return true
	case "INSERT", "REPLACE", "UPDATE", "DELETE":
		for _, f := range fields {
			if strings.EqualFold(f, "RETURNING") {
				return true
			}
		}
	}
	return strings.HasPrefix(fields[0], "/*") || strings.HasPrefix(fields[0], "--") || strings.HasPrefix(fields[0], "#")
}
