package jepsen

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is what a value is.
type kind uint8

const (
	kindNil kind = iota
	kindBool
	kindInt
	kindNumber // any other number: kept as it is written
	kindText   // a string, a keyword without its colon, or a symbol
	kindList   // an array or a vector, also a list or a set
	kindMap
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "an integer", "a number", "a text", "an array", "a map"}[k]
}

// value is anything that JSON or EDN can write.
type value struct {
	kind kind
	line int
	n    int64
	s    string
	list []value // of a map: keys and values in turn
}

// get is what a map has under a name, or nil.
func (v *value) get(name string) *value {
	for i := 0; i+1 < len(v.list); i += 2 {
		if v.list[i].s == name && v.list[i].kind == kindText {
			return &v.list[i+1]
		}
	}
	return nil
}

func (v *value) String() string {
	switch v.kind {
	case kindInt:
		return strconv.FormatInt(v.n, 10)
	case kindText, kindNumber, kindBool:
		return v.s
	}
	return v.kind.String()
}

// Error is a place in a history that cannot be read.
type Error struct {
	Line int
	Text string // what is wrong, and what was expected
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

func errorAt(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// maxDepth is how deep values may lie in each other: a history needs five levels.
const maxDepth = 64

// parser reads values one after the other. JSON and EDN differ little where histories are concerned: EDN takes commas for
// blanks, its maps have no colons between key and value, names are keywords, null is nil. One parser takes both, and is
// generous: it does not insist that a file keeps to one of them.
type parser struct {
	b    []byte
	at   int
	line int
	open []value // of the arrays and maps that are not closed yet: allocating each only when its size is known
}

// skip passes what stands between values.
func (p *parser) skip() {
	for ; p.at < len(p.b); p.at++ {
		switch p.b[p.at] {
		case '\n':
			p.line++
		case ' ', '\t', '\r', ',', '\f':
		case ';': // EDN's comments
			n := bytes.IndexByte(p.b[p.at:], '\n')
			if n < 0 {
				p.at = len(p.b)
				return
			}
			p.at += n - 1
		default:
			return
		}
	}
}

// next reads a value; ok is false at the end.
func (p *parser) next(depth int) (v value, ok bool, err error) {
	if p.skip(); p.at >= len(p.b) {
		return v, false, nil
	}
	v, err = p.value(depth)
	return v, err == nil, err
}

func (p *parser) value(depth int) (v value, err error) {
	if depth > maxDepth {
		return v, errorAt(p.line, "values lie more than %d levels deep", maxDepth)
	}
	v.line = p.line
	switch c := p.b[p.at]; {
	case c == '[' || c == '(':
		v.kind = kindList
		v.list, err = p.items(map[byte]byte{'[': ']', '(': ')'}[c], false, depth)
	case c == '{':
		v.kind = kindMap
		v.list, err = p.items('}', true, depth)
	case c == '"':
		v.kind = kindText
		v.s, err = p.text()
	case c == '#':
		return p.tagged(depth)
	case c == ':':
		p.at++
		if v.kind, v.s = kindText, p.word(); v.s == "" {
			return v, errorAt(p.line, "a colon without a name")
		}
	case c == '-' || c >= '0' && c <= '9':
		if n, ok := p.integer(); ok {
			v.kind, v.n = kindInt, n
			return v, nil
		}
		v.atom(p.word())
	default:
		w := p.word()
		if w == "" {
			return v, errorAt(p.line, "%q is not the beginning of a value\nwanted: {...}, [...], \"...\", a number, true, false or null", rune(c))
		}
		v.atom(w)
	}
	return v, err
}

// atom finds out what a bare word is.
func (v *value) atom(w string) {
	v.s = w
	switch w {
	case "null", "nil":
		v.kind, v.s = kindNil, ""
		return
	case "true", "false":
		v.kind = kindBool
		return
	}
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		v.kind, v.n, v.s = kindInt, n, ""
	} else if _, err := strconv.ParseFloat(w, 64); err == nil {
		v.kind = kindNumber
	} else {
		v.kind = kindText
	}
}

// ends is what ends a bare word.
var ends = func() (out [256]bool) {
	for _, c := range []byte(" \t\r\n\f,;:[](){}\"") {
		out[c] = true
	}
	return out
}()

// word reads what ends at a blank or a bracket.
func (p *parser) word() string {
	from := p.at
	for p.at < len(p.b) && !ends[p.b[p.at]] {
		p.at++
	}
	return string(p.b[from:p.at])
}

// integer reads a short integer, which is what histories are full of; ok is false if it is anything else.
func (p *parser) integer() (n int64, ok bool) {
	i := p.at
	negative := p.b[i] == '-'
	if negative {
		i++
	}
	from := i
	for ; i < len(p.b) && p.b[i] >= '0' && p.b[i] <= '9'; i++ {
		n = 10*n + int64(p.b[i]-'0')
	}
	if i == from || i-from > 18 || i < len(p.b) && !ends[p.b[i]] {
		return 0, false
	}
	if p.at = i; negative {
		n = -n
	}
	return n, true
}

// tagged reads a set, or a value with a tag before it, which is left out: #jepsen.history.Op{...}.
func (p *parser) tagged(depth int) (v value, err error) {
	line := p.line
	p.at++
	if p.at < len(p.b) && p.b[p.at] == '{' {
		v.kind, v.line = kindList, line
		v.list, err = p.items('}', false, depth)
		return v, err
	}
	tag := p.word()
	v, ok, err := p.next(depth + 1)
	if err == nil && !ok {
		err = errorAt(line, "nothing follows the tag #%s", tag)
	}
	return v, err
}

// items reads up to the closing bracket.
func (p *parser) items(end byte, pairs bool, depth int) (out []value, err error) {
	line, open, from := p.line, p.b[p.at], len(p.open)
	p.at++
	for {
		p.skip()
		if pairs && (len(p.open)-from)%2 == 1 && p.at < len(p.b) && p.b[p.at] == ':' {
			p.at++ // JSON's, or that of a keyword, which is a text without it all the same
			p.skip()
		}
		if p.at >= len(p.b) {
			return nil, errorAt(line, "%q is never closed: the file ends before %q", rune(open), rune(end))
		}
		if p.b[p.at] == end {
			p.at++
			break
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.open = append(p.open, v)
	}
	out = append(out, p.open[from:]...)
	clear(p.open[from:])
	p.open = p.open[:from]
	if pairs && len(out)%2 == 1 {
		return nil, errorAt(line, "a map has a name without a value: %s", &out[len(out)-1])
	}
	return out, nil
}

// text reads a string with JSON's escapes, which are those of EDN as well.
func (p *parser) text() (string, error) {
	line := p.line
	if n := bytes.IndexAny(p.b[p.at+1:], "\"\\\n"); n >= 0 && p.b[p.at+1+n] == '"' { // nothing but letters
		s := string(p.b[p.at+1 : p.at+1+n])
		p.at += n + 2
		return s, nil
	}
	var out []byte
	for p.at++; p.at < len(p.b); p.at++ {
		switch c := p.b[p.at]; c {
		case '"':
			p.at++
			return string(out), nil
		case '\n':
			p.line++
			out = append(out, c)
		case '\\':
			r, n := escape(p.b[p.at:])
			if n == 0 {
				return "", errorAt(p.line, "a text has an escape that does not exist: %.6q", p.b[p.at:min(len(p.b), p.at+6)])
			}
			out = utf8.AppendRune(out, r)
			p.at += n - 1
		default:
			out = append(out, c)
		}
	}
	return "", errorAt(line, "a text is never closed: the file ends before %q", '"')
}

// escape decodes the escape at the beginning of b and says how long it is; 0: it is none.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	if r = hex(b); r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low := hex(b[6:]); low >= 0 {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hex decodes \u and four digits; -1: there are none.
func hex(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
