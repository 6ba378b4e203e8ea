package engine

import "strings"

// Under NO_BACKSLASH_ESCAPES a backslash in a text stands for itself. The parser does not know that mode; so such texts are given to it
// with each backslash doubled, and what it has not read yet comes back with each halved.

// doubleBackslashes makes each backslash in a quoted text two.
func doubleBackslashes(q string) string { return eachBackslash(q, 1, `\\`) }

// halveBackslashes undoes doubleBackslashes.
func halveBackslashes(q string) string { return eachBackslash(q, 2, `\`) }

// eachBackslash puts by in the place of every n backslashes within quoted texts.
func eachBackslash(q string, n int, by string) string {
	if !strings.Contains(q, `\`) {
		return q
	}
	var out strings.Builder
	for i := 0; i < len(q); {
		end := i + 1
		switch c := q[i]; {
		case c == '\'' || c == '"':
			out.WriteByte(c)
			for i++; i < len(q) && q[i] != c; {
				if q[i] == '\\' {
					out.WriteString(by)
					i += n
					continue
				}
				out.WriteByte(q[i])
				i++
			}
			end = i + 1 // a doubled quote begins the next round
		case c == '`':
			end = afterQuote(q, i)
		case c == '#' || strings.HasPrefix(q[i:], "-- "):
			end = after(q, i, "\n")
		case strings.HasPrefix(q[i:], "/*") && !strings.HasPrefix(q[i:], "/*!"):
			end = after(q, i+2, "*/")
		}
		end = min(end, len(q))
		if i < end {
			out.WriteString(q[i:end])
		}
		i = end
	}
	return out.String()
}
