package document

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep documents may be nested.
const MaxDepth = 100

// SyntaxError says why a text is no document. At is the byte of the text, counted from 0.
type SyntaxError struct {
	Text string
	At   int
	Deep bool // it is nested too deep
}

// Error implements error.
func (e *SyntaxError) Error() string { return e.Text }

// Parse reads a text as a document. The error is a *SyntaxError.
func Parse(s string) (*Doc, error) {
	p := &parser{s: s}
	p.blank()
	if p.at == len(s) {
		return nil, p.fail("The document is empty.", 0)
	}
	d, err := p.value(1)
	if err != nil {
		return nil, err
	}
	p.blank()
	if p.at < len(s) {
		return nil, p.fail("The document root must not be followed by other values.", p.at)
	}
	return d, nil
}

type parser struct {
	s  string
	at int
}

func (p *parser) fail(text string, at int) error { return &SyntaxError{Text: text, At: at} }

func (p *parser) blank() {
	for p.at < len(p.s) && strings.IndexByte(" \t\n\r", p.s[p.at]) >= 0 {
		p.at++
	}
}

// next skips blanks and gives the character behind them; 0 at the end.
func (p *parser) next() byte {
	p.blank()
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *parser) value(depth int) (*Doc, error) {
	if depth > MaxDepth {
		return nil, &SyntaxError{Text: "The JSON document exceeds the maximum depth.", At: p.at, Deep: true}
	}
	switch c := p.next(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.text()
		return NewString(s), err
	case c == 't':
		return p.word("true", yes)
	case c == 'f':
		return p.word("false", no)
	case c == 'n':
		return p.word("null", null)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return nil, p.fail("Invalid value.", p.at)
}

func (p *parser) word(w string, d *Doc) (*Doc, error) {
	for i := range len(w) {
		if p.at >= len(p.s) || p.s[p.at] != w[i] {
			return nil, p.fail("Invalid value.", p.at)
		}
		p.at++
	}
	return d, nil
}

func (p *parser) object(depth int) (*Doc, error) {
	p.at++
	var ms []Member
	if p.next() == '}' {
		p.at++
		return emptyObj, nil
	}
	for {
		if p.next() != '"' {
			return nil, p.fail("Missing a name for object member.", p.at)
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		if p.next() != ':' {
			return nil, p.fail("Missing a colon after a name of object member.", p.at)
		}
		p.at++
		d, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		ms = append(ms, Member{name, d})
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return NewObject(ms), nil
		default:
			return nil, p.fail("Missing a comma or '}' after an object member.", p.at)
		}
	}
}

func (p *parser) array(depth int) (*Doc, error) {
	p.at++
	var list []*Doc
	if p.next() == ']' {
		p.at++
		return NewArray(nil), nil
	}
	for {
		d, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return NewArray(list), nil
		default:
			return nil, p.fail("Missing a comma or ']' after an array element.", p.at)
		}
	}
}

// number reads whole numbers as such if a BIGINT, signed or not, holds them; all others are doubles.
func (p *parser) number() (*Doc, error) {
	from := p.at
	digits := func() bool {
		was := p.at
		for p.at < len(p.s) && p.s[p.at] >= '0' && p.s[p.at] <= '9' {
			p.at++
		}
		return p.at > was
	}
	if p.s[p.at] == '-' {
		p.at++
	}
	whole := true
	if p.at < len(p.s) && p.s[p.at] == '0' {
		p.at++
	} else if !digits() {
		return nil, p.fail("Invalid value.", p.at)
	}
	if p.at < len(p.s) && p.s[p.at] == '.' {
		whole = false
		p.at++
		if !digits() {
			return nil, p.fail("Missing fraction part in number.", p.at)
		}
	}
	if p.at < len(p.s) && (p.s[p.at] == 'e' || p.s[p.at] == 'E') {
		whole = false
		p.at++
		if p.at < len(p.s) && (p.s[p.at] == '+' || p.s[p.at] == '-') {
			p.at++
		}
		if !digits() {
			return nil, p.fail("Missing exponent in number.", p.at)
		}
	}
	text := p.s[from:p.at]
	if whole && text != "-0" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return NewInt(n), nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return NewUint(n), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && math.IsInf(f, 0) {
		return nil, p.fail("Number too big to be stored in double.", from)
	}
	return NewDouble(f), nil
}

// text reads a string; p.at is at its first quotation mark.
func (p *parser) text() (string, error) {
	p.at++
	from := p.at
	for p.at < len(p.s) && p.s[p.at] != '"' && p.s[p.at] != '\\' && p.s[p.at] >= ' ' {
		p.at++
	}
	if p.at < len(p.s) && p.s[p.at] == '"' { // the common case
		s := p.s[from:p.at]
		if !utf8.ValidString(s) {
			return "", p.fail("Invalid encoding in string.", p.at)
		}
		p.at++
		return s, nil
	}
	b := []byte(p.s[from:p.at])
	for {
		if p.at >= len(p.s) {
			return "", p.fail("Missing a closing quotation mark in string.", p.at)
		}
		c := p.s[p.at]
		switch {
		case c == '"':
			p.at++
			if !utf8.Valid(b) {
				return "", p.fail("Invalid encoding in string.", p.at)
			}
			return string(b), nil
		case c < ' ':
			return "", p.fail("Invalid encoding in string.", p.at)
		case c == '\\':
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			p.at++
		}
	}
}

// escape reads a character behind a backslash.
func (p *parser) escape(b []byte) ([]byte, error) {
	at := p.at
	p.at++
	if p.at >= len(p.s) {
		return nil, p.fail("Invalid escape character in string.", at)
	}
	c := p.s[p.at]
	p.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, p.fail("Invalid escape character in string.", at)
	}
	r, ok := p.hex()
	if !ok {
		return nil, p.fail("Incorrect hex digit after \\u escape in string.", at)
	}
	if utf16.IsSurrogate(r) {
		if r >= 0xdc00 || !strings.HasPrefix(p.s[p.at:], `\u`) {
			return nil, p.fail("The surrogate pair in string is invalid.", at)
		}
		p.at += 2
		low, ok := p.hex()
		if !ok {
			return nil, p.fail("Incorrect hex digit after \\u escape in string.", at)
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return nil, p.fail("The surrogate pair in string is invalid.", at)
		}
	}
	return utf8.AppendRune(b, r), nil
}

func (p *parser) hex() (rune, bool) {
	if p.at+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 32)
	if err != nil {
		return 0, false
	}
	p.at += 4
	return rune(n), true
}
