package collation

import "unicode/utf8"

// NoEscape says that a pattern has no escape character (ESCAPE ”).
const NoEscape rune = -1

// Pattern is a pattern of LIKE, ready to be matched with many texts. It is safe for concurrent use.
type Pattern struct {
	c     *Collation
	units []unit
}

type unit struct {
	r    rune // a character; a byte that is no part of one is -256 and the byte
	kind byte
}

const (
	literal = iota
	one     // _
	some    // %
)

// Pattern reads a pattern. The escape character makes a character that follows it stand for itself; at the end of the pattern it
// stands for itself.
func (c *Collation) Pattern(pattern string, escape rune) *Pattern {
	p := &Pattern{c: c}
	for pattern != "" {
		r, n := c.take(pattern)
		pattern = pattern[n:]
		switch {
		case r == escape && pattern != "":
			r, n = c.take(pattern)
			pattern = pattern[n:]
			p.units = append(p.units, unit{r, literal})
		case r == '_' && r != escape:
			p.units = append(p.units, unit{0, one})
		case r == '%' && r != escape:
			if n := len(p.units); n == 0 || p.units[n-1].kind != some {
				p.units = append(p.units, unit{0, some})
			}
		default:
			p.units = append(p.units, unit{r, literal})
		}
	}
	return p
}

// Like is Pattern(pattern, escape).Match(s).
func (c *Collation) Like(s, pattern string, escape rune) bool {
	return c.Pattern(pattern, escape).Match(s)
}

// Match says whether a whole text matches. Characters are compared one by one: contractions and what makes one character equal
// to two play no part, and spaces at the end count.
func (p *Pattern) Match(s string) bool {
	is, _ := p.MatchPoll(s, nil)
	return is
}

// pollEvery is how many steps a long loop takes before it asks whether it shall go on.
const pollEvery = 1 << 16

// MatchPoll is Match that asks poll, unless that is nil, again and again while it works, and ends with its error. A match can take as
// many steps as the product of both lengths.
func (p *Pattern) MatchPoll(s string, poll func() error) (bool, error) {
	at, back, mark := 0, -1, ""
	for steps := 1; s != ""; steps++ {
		if steps%pollEvery == 0 && poll != nil {
			if err := poll(); err != nil {
				return false, err
			}
		}
		if at < len(p.units) && p.units[at].kind == some {
			at++
			if at == len(p.units) {
				return true, nil
			}
			back, mark = at, s
			continue
		}
		r, n := p.c.take(s)
		if at < len(p.units) && (p.units[at].kind == one || p.c.same(r, p.units[at].r)) {
			at++
			s = s[n:]
			continue
		}
		if back < 0 {
			return false, nil
		}
		_, n = p.c.take(mark)
		mark = mark[n:]
		at, s = back, mark
	}
	for at < len(p.units) && p.units[at].kind == some {
		at++
	}
	return at == len(p.units), nil
}

// Prefix is what every text that matches begins with, under the collation, and whether the pattern is nothing but that.
func (p *Pattern) Prefix() (prefix string, exact bool) {
	var b []byte
	for _, u := range p.units {
		if u.kind != literal {
			return string(b), false
		}
		if u.r < 0 {
			b = append(b, byte(u.r+256))
		} else if p.c.Charset.Name == "binary" {
			b = append(b, byte(u.r))
		} else {
			b = utf8.AppendRune(b, u.r)
		}
	}
	return string(b), true
}

// take reads a character; of binary texts a byte.
func (c *Collation) take(s string) (rune, int) {
	if c.Charset.Name == "binary" {
		return rune(s[0]), 1
	}
	r, n, ok := decode(s)
	if !ok {
		return rune(s[0]) - 256, 1
	}
	return r, n
}

// same says whether two characters are equal under the collation.
func (c *Collation) same(a, b rune) bool {
	if a == b || c.kind != weighed {
		return a == b
	}
	if a < 0 || b < 0 {
		return false
	}
	w := c.unit()
	if w.scheme == scheme400 && (a > 0xffff || b > 0xffff) {
		return false // they have one weight, and are told from each other here all the same
	}
	if w.levels == 1 && a < utf8.RuneSelf && b < utf8.RuneSelf && w.known[a] && w.known[b] {
		return w.ascii[0][a] == w.ascii[0][b]
	}
	var x, y [3]element
	es, fs := w.of(a, &x), w.of(b, &y)
	for level := range w.levels {
		i, j := 0, 0
		for {
			for i < len(es) && es[i].at(level) == 0 {
				i++
			}
			for j < len(fs) && fs[j].at(level) == 0 {
				j++
			}
			if i == len(es) || j == len(fs) {
				break
			}
			if es[i].at(level) != fs[j].at(level) {
				return false
			}
			i, j = i+1, j+1
		}
		if i < len(es) || j < len(fs) {
			return false
		}
	}
	return true
}

// of gives the elements of a character, in buf or in the table.
func (t *table) of(r rune, buf *[3]element) []element {
	long, n := t.lookup(r, buf)
	if n > 0 {
		return buf[:n]
	}
	return long
}
