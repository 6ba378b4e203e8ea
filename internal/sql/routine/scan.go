package routine

import (
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// token is a word, a quoted text or name, or one other character.
type token struct {
	from, to int
	kind     byte // 'w' word, '`' name, '\'' text, or the character itself; 0: the end
}

// scanner reads the tokens of a program.
type scanner struct {
	text   string
	tokens []token
	at     int
	ansi   bool // " quotes names
}

func scan(text string, ansi bool) *scanner {
	s := &scanner{text: text, ansi: ansi}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '#' || strings.HasPrefix(text[i:], "--") && (i+2 == len(text) || strings.IndexByte(" \t\r\n", text[i+2]) >= 0):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*!"):
			for i += 3; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
			}
		case strings.HasPrefix(text[i:], "*/"):
			i += 2 // of what MySQL executes
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				i = len(text)
				break
			}
			i += 2 + end + 2
		case c == '\'' || c == '"' || c == '`':
			from := i
			i = endOfQuote(text, i)
			kind := c
			if c == '"' && !ansi {
				kind = '\''
			} else if c == '"' {
				kind = '`'
			}
			s.tokens = append(s.tokens, token{from, i, kind})
		case isWord(c):
			from := i
			for i < len(text) && isWord(text[i]) {
				i++
			}
			s.tokens = append(s.tokens, token{from, i, 'w'})
		default:
			s.tokens = append(s.tokens, token{i, i + 1, c})
			i++
		}
	}
	s.tokens = append(s.tokens, token{len(text), len(text), 0})
	return s
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func endOfQuote(q string, i int) int {
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

func (s *scanner) peek(n int) token { return s.tokens[max(0, min(s.at+n, len(s.tokens)-1))] }

func (s *scanner) textOf(t token) string { return s.text[t.from:t.to] }

// is reports whether the token n places ahead is one of these words.
func (s *scanner) is(n int, words ...string) bool {
	t := s.peek(n)
	if t.kind != 'w' {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(s.textOf(t), w) {
			return true
		}
	}
	return false
}

// take takes these words if all of them follow.
func (s *scanner) take(words ...string) bool {
	for i, w := range words {
		if !s.is(i, w) {
			return false
		}
	}
	s.at += len(words)
	return true
}

// takeChar takes a character.
func (s *scanner) takeChar(c byte) bool {
	if s.peek(0).kind != c {
		return false
	}
	s.at++
	return true
}

// near is MySQL's error about the next token.
func (s *scanner) near() error {
	t := s.peek(0)
	line := 1 + strings.Count(s.text[:t.from], "\n")
	rest := s.text[t.from:]
	if len(rest) > 80 {
		rest = rest[:80]
	}
	return expr.Errorf(1064, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right "+
		"syntax to use near '%s' at line %d", rest, line)
}

// need takes a word, or fails.
func (s *scanner) need(words ...string) error {
	for _, w := range words {
		if !s.take(w) {
			return s.near()
		}
	}
	return nil
}

// name takes a name.
func (s *scanner) name() (string, error) {
	t := s.peek(0)
	switch t.kind {
	case 'w':
		s.at++
		return s.textOf(t), nil
	case '`':
		s.at++
		q := s.text[t.from : t.from+1]
		return strings.ReplaceAll(s.text[t.from+1:max(t.from+1, t.to-1)], q+q, q), nil
	}
	return "", s.near()
}

// until is the text up to a token at which stop says so, outside of parentheses and of CASE ... END; it is not taken.
func (s *scanner) until(stop func() bool) string {
	from, to := s.peek(0).from, s.peek(0).from
	depth, cases := 0, 0
	for {
		t := s.peek(0)
		if t.kind == 0 || depth == 0 && cases == 0 && stop() {
			return strings.TrimSpace(s.text[from:to])
		}
		switch {
		case t.kind == '(':
			depth++
		case t.kind == ')':
			if depth == 0 {
				return strings.TrimSpace(s.text[from:to])
			}
			depth--
		case s.is(0, "case"):
			cases++
		case s.is(0, "end") && cases > 0:
			cases--
		}
		to = t.to
		s.at++
	}
}

// untilWord is the text up to one of these words.
func (s *scanner) untilWord(words ...string) string {
	return s.until(func() bool { return s.is(0, words...) })
}

// untilEnd is the text up to the semicolon, or to the end.
func (s *scanner) untilEnd() string { return s.until(func() bool { return s.peek(0).kind == ';' }) }
