package document

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads to parts of a document: $.a[0].
type Path []Leg

type legKind uint8

const (
	legMember legKind = iota
	legAnyMember
	legCell
	legAnyCell
	legRange
	legAnywhere // **
)

// Leg is a step of a path.
type Leg struct {
	kind     legKind
	name     string
	from, to cell // legCell has no to
}

// cell is a place in an array, counted from its begin or, backwards, from its last element.
type cell struct {
	n    int
	last bool
}

// at is the index in an array of so many elements; it may be outside of it.
func (c cell) at(length int) int {
	if c.last {
		return length - 1 - c.n
	}
	return c.n
}

// ParsePath reads a path. at is the character, counted from 1, around which it is wrong; 0: it is not.
func ParsePath(s string) (p Path, at int) {
	r := &pathReader{s: s}
	r.blank()
	if !r.take('$') {
		return nil, max(r.at, 1)
	}
	for {
		r.blank()
		if r.at == len(s) {
			break
		}
		l, ok := r.leg()
		if !ok {
			return nil, max(utf8.RuneCountInString(s[:min(r.at, len(s))]), 1)
		}
		p = append(p, l)
	}
	if n := len(p); n > 0 && p[n-1].kind == legAnywhere {
		return nil, utf8.RuneCountInString(s)
	}
	return p, 0
}

type pathReader struct {
	s  string
	at int
}

func (r *pathReader) blank() {
	for r.at < len(r.s) && strings.IndexByte(" \t\n\r", r.s[r.at]) >= 0 {
		r.at++
	}
}

func (r *pathReader) take(c byte) bool {
	if r.at < len(r.s) && r.s[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *pathReader) leg() (Leg, bool) {
	switch {
	case r.take('.'):
		r.blank()
		if r.take('*') {
			return Leg{kind: legAnyMember}, true
		}
		return r.member()
	case r.take('['):
		return r.cells()
	case r.take('*'):
		if !r.take('*') || r.at < len(r.s) && r.s[r.at] == '*' {
			return Leg{}, false
		}
		return Leg{kind: legAnywhere}, true
	}
	r.at++
	return Leg{}, false
}

func (r *pathReader) member() (Leg, bool) {
	from := r.at
	if r.take('"') {
		for r.at < len(r.s) && r.s[r.at] != '"' {
			if r.s[r.at] == '\\' {
				r.at++
			}
			r.at++
		}
		if !r.take('"') {
			return Leg{}, false
		}
		p := &parser{s: r.s[from:r.at]}
		name, err := p.text()
		return Leg{kind: legMember, name: name}, err == nil && p.at == len(p.s)
	}
	for r.at < len(r.s) && strings.IndexByte(" \t\n\r.[*", r.s[r.at]) < 0 {
		r.at++
	}
	name := r.s[from:r.at]
	return Leg{kind: legMember, name: name}, isIdentifier(name)
}

// isIdentifier reports whether a name needs no quotation marks in a path.
func isIdentifier(s string) bool {
	for i, c := range s {
		switch {
		case c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c):
		case i > 0 && (unicode.IsDigit(c) || unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Mc, c) || unicode.Is(unicode.Pc, c) || c == '\u200c' || c == '\u200d'):
		default:
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

func (r *pathReader) cells() (Leg, bool) {
	r.blank()
	if r.take('*') {
		r.blank()
		return Leg{kind: legAnyCell}, r.take(']')
	}
	from, ok := r.cell()
	if !ok {
		return Leg{}, false
	}
	was := r.at
	r.blank()
	if r.at > was && strings.HasPrefix(r.s[r.at:], "to") {
		r.at += 2
		was = r.at
		r.blank()
		if r.at == was {
			return Leg{}, false
		}
		to, ok := r.cell()
		if !ok || from.last == to.last && (!from.last && from.n > to.n || from.last && from.n < to.n) {
			return Leg{}, false
		}
		r.blank()
		return Leg{kind: legRange, from: from, to: to}, r.take(']')
	}
	return Leg{kind: legCell, from: from}, r.take(']')
}

func (r *pathReader) cell() (cell, bool) {
	var c cell
	if strings.HasPrefix(r.s[r.at:], "last") {
		r.at += 4
		c.last = true
		was := r.at
		r.blank()
		if !r.take('-') {
			r.at = was
			return c, true
		}
		r.blank()
	}
	from := r.at
	for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.ParseUint(r.s[from:r.at], 10, 32)
	c.n = int(n)
	return c, err == nil
}

// Several reports whether the path may lead to more than one part.
func (p Path) Several() bool {
	for _, l := range p {
		if l.kind != legMember && l.kind != legCell {
			return true
		}
	}
	return false
}

// EndsInCell reports whether the last step is a place in an array.
func (p Path) EndsInCell() bool { return len(p) > 0 && p[len(p)-1].kind == legCell }

// itself reports whether the step leads from what is no array to that itself, as if it were the only element of an array.
func (l Leg) itself() bool {
	switch l.kind {
	case legCell:
		return l.from.n == 0
	case legRange:
		return l.from.at(1) <= 0 && l.to.at(1) >= 0
	}
	return false
}

// Place is a part of a document, and where it stands.
type Place struct {
	Doc    *Doc
	parent *Place
	name   string
	index  int
}

// Path is the path to the place, as JSON_SEARCH writes it.
func (p *Place) Path() string { return string(p.appendPath(nil)) }

func (p *Place) appendPath(b []byte) []byte {
	if p.parent == nil {
		return append(b, '$')
	}
	b = p.parent.appendPath(b)
	if p.parent.Doc.kind == Array {
		return append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
	}
	if isIdentifier(p.name) {
		return append(append(b, '.'), p.name...)
	}
	return quote(append(b, '.'), p.name)
}

func (p *Place) element(i int) *Place { return &Place{Doc: p.Doc.list[i], parent: p, index: i} }

func (p *Place) member(i int) *Place {
	m := p.Doc.members[i]
	return &Place{Doc: m.Doc, parent: p, name: m.Name}
}

// parts are the elements or members.
func (p *Place) parts() []*Place {
	var out []*Place
	for i := range p.Doc.list {
		out = append(out, p.element(i))
	}
	for i := range p.Doc.members {
		out = append(out, p.member(i))
	}
	return out
}

// Below calls f for the place and all that it contains, until f gives false.
func (p *Place) Below(f func(*Place) bool) bool {
	if !f(p) {
		return false
	}
	for _, c := range p.parts() {
		if !c.Below(f) {
			return false
		}
	}
	return true
}

// Find gives the parts of a document to which a path leads, in their order, each once.
func (d *Doc) Find(p Path) []*Place {
	at := []*Place{{Doc: d}}
	for _, l := range p {
		var next []*Place
		seen := map[string]bool{}
		for _, from := range at {
			for _, to := range from.step(l) {
				if l.kind == legAnywhere || len(at) > 1 {
					key := to.Path()
					if seen[key] {
						continue
					}
					seen[key] = true
				}
				next = append(next, to)
			}
		}
		at = next
	}
	return at
}

func (p *Place) step(l Leg) (out []*Place) {
	d := p.Doc
	switch l.kind {
	case legMember:
		for i, m := range d.members {
			if m.Name == l.name {
				return []*Place{p.member(i)}
			}
		}
	case legAnyMember:
		if d.kind == Object {
			return p.parts()
		}
	case legAnywhere:
		p.Below(func(q *Place) bool {
			out = append(out, q)
			return true
		})
	case legAnyCell:
		if d.kind == Array {
			return p.parts()
		}
	default:
		if d.kind != Array {
			if l.itself() {
				return []*Place{p}
			}
			return nil
		}
		from := l.from.at(len(d.list))
		to := from
		if l.kind == legRange {
			to = l.to.at(len(d.list))
			from = max(from, 0)
		}
		for i := from; i <= to && i >= 0 && i < len(d.list); i++ {
			out = append(out, p.element(i))
		}
	}
	return out
}
