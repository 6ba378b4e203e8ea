package engine

import (
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// scratch is what the session's statements are taken apart in.
type scratch struct {
	text     []byte
	literals []literal
	decoded  []byte
}

// keepScratch is how much of it an idle session keeps.
const keepScratch = 16 << 10

// trim gives up what a large statement has needed.
func (s *scratch) trim() {
	if cap(s.decoded) > keepScratch {
		s.decoded, s.literals = nil, nil
	}
}

// normalize takes the constants out of a statement and puts parameters in their places, so that statements which differ in
// nothing else share a plan. It knows the usual things only and gives up on others: comments, parameters, quotes other than
// ' and `, numbers other than 12 and 1.5, several statements in one text. What it makes of a text need not be meaningful: the
// parser will say so. It must not make the same of two texts that mean different things.
func (s *scratch) normalize(query string) (ok bool) {
	s.text, s.literals, s.decoded = s.text[:0], s.literals[:0], s.decoded[:0]
	if len(query) > 16*maxPlanText {
		return false
	}
	for i := 0; i < len(query); {
		if len(s.text) > maxPlanText || len(s.literals) > maxConstants {
			return false
		}
		switch c := query[i]; {
		case c == '\'':
			if n := len(s.text); n > 0 && (letter(s.text[n-1]) || s.text[n-1] == '?') {
				return false // x'1f', N'text', 'one ' 'text'
			}
			n := s.quoted(query[i+1:])
			if n < 0 {
				return false
			}
			i += 1 + n
		case c >= '0' && c <= '9':
			n := s.number(query[i:])
			if n < 0 {
				return false
			}
			i += n
		case c == '`':
			from := i
			for i++; i < len(query) && query[i] != '`'; i++ {
			}
			if i == len(query) {
				return false
			}
			i++
			s.text = append(s.text, query[from:i]...)
		case letter(c):
			if c == '@' {
				return false
			}
			from := i
			for i < len(query) && (letter(query[i]) || query[i] >= '0' && query[i] <= '9') {
				i++
			}
			s.text = append(s.text, query[from:i]...)
		case c == ';':
			for i++; i < len(query); i++ {
				if !blank(query[i]) {
					return false
				}
			}
		case c == '?' || c == '"' || c == '#' || c == ':' || c == '\\' || c == 0:
			return false
		case (c == '-' || c == '/' || c == '*') && i+1 < len(query) && (query[i+1] == c || query[i+1] == '*'):
			return false
		default:
			s.text = append(s.text, c)
			i++
		}
	}
	return true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// quoted takes a text off, of which the first quote is off already. It returns how long it was, or -1.
func (s *scratch) quoted(q string) int {
	from := len(s.decoded)
	for i := 0; i < len(q); i++ {
		switch c := q[i]; c {
		case '\'':
			if i+1 < len(q) && q[i+1] == '\'' {
				i++
				s.decoded = append(s.decoded, '\'')
				continue
			}
			s.literals = append(s.literals, literal{textLiteral, s.decoded[from:len(s.decoded):len(s.decoded)]})
			s.text = append(s.text, '?')
			return i + 1
		case '\\':
			i++
			if i == len(q) {
				return -1
			}
			if d := sqltypes.SQLDecodeMap[q[i]]; d == sqltypes.DontEscape {
				if q[i] == '_' || q[i] == '%' { // as in keepLikeEscapes
					s.decoded = append(s.decoded, '\\')
				}
				s.decoded = append(s.decoded, q[i])
			} else {
				s.decoded = append(s.decoded, d)
			}
		default:
			s.decoded = append(s.decoded, c)
		}
	}
	return -1
}

// number takes 12 or 1.5 off, and returns how long it was, or -1 for other numbers.
func (s *scratch) number(q string) int {
	if n := len(s.text); n > 0 && (s.text[n-1] == '.' || s.text[n-1] == '?') {
		return -1
	}
	i := digits(q)
	kind := intLiteral
	if i < len(q) && q[i] == '.' {
		n := digits(q[i+1:])
		if n == 0 {
			return -1
		}
		i, kind = i+1+n, decimalLiteral
	}
	if i < len(q) && (letter(q[i]) || q[i] == '.' || q[i] == '\'') {
		return -1
	}
	from := len(s.decoded)
	s.decoded = append(s.decoded, q[:i]...)
	s.literals = append(s.literals, literal{kind, s.decoded[from:len(s.decoded):len(s.decoded)]})
	s.text = append(s.text, '?')
	return i
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// bound takes the values of a prepared statement's parameters.
func (s *scratch) bound(query string, bindings map[string]*querypb.BindVariable) (ok bool) {
	s.text, s.literals = s.text[:0], s.literals[:0]
	if len(query) > maxPlanText || len(bindings) > maxConstants {
		return false
	}
	s.text = append(s.text, query...)
	for i := range len(bindings) {
		b := bindings[parameterName(i)]
		if b == nil {
			return false
		}
		l := literal{text: b.Value}
		switch {
		case b.Type == sqltypes.Null:
			l.kind = nullLiteral
		case sqltypes.IsIntegral(b.Type):
			l.kind = intLiteral
		case sqltypes.IsFloat(b.Type):
			l.kind = floatLiteral
		case b.Type == sqltypes.Decimal:
			l.kind = decimalLiteral
		case sqltypes.IsQuoted(b.Type):
			l.kind = textLiteral
		default:
			return false
		}
		s.literals = append(s.literals, l)
	}
	return true
}
