package collation

import (
	"sync"
	"unicode/utf8"
)

// weigher compares texts by weights. It never changes once it is made.
type weigher struct {
	*table
	levels int
	noPad  bool
	space  uint16 // the primary weight of a space
	codes  *coder
	// simple says that no contraction can begin with any character, so each has its weights wherever it stands.
	simple bool
	reach  int            // characters after the first of the longest contraction
	ascii  [3][128]uint16 // weights by level of the ASCII characters, if simple; 0: ignored, or looked up
	known  [128]bool      // the weights are in ascii
	// code is what a key has for an ASCII character, where that is one byte that depends on nothing else; 0: it is not.
	code [128]byte
}

var tables sync.Map // name -> func() *table

func sharedTable(name string) *table {
	f, _ := tables.LoadOrStore(name, sync.OnceValue(func() *table { return loadTable(name) }))
	return f.(func() *table)()
}

func newWeigher(c *Collation) *weigher {
	w := &weigher{table: sharedTable(c.table), levels: c.levels, noPad: c.NoPad}
	for _, list := range w.contractions {
		for _, c := range list {
			w.reach = max(w.reach, len(c.rest))
		}
	}
	w.simple = w.reach == 0
	for i := range w.known {
		if es := w.elements(rune(i)); w.simple && len(es) < 2 {
			w.known[i] = true
			if len(es) == 1 {
				for level := range w.ascii {
					w.ascii[level][i] = es[0].at(level)
				}
			}
		}
	}
	w.space = w.elements(' ')[0].primary()
	w.codes = newCoder(w.table)
	for i := range w.code {
		if v := w.ascii[0][i]; v != 0 && (w.noPad || v != w.space) {
			if b := w.codes.append(nil, v); len(b) == 1 {
				w.code[i] = b[0]
			}
		}
	}
	return w
}

// invalid is the weight of a byte that is no part of a character.
var invalid = pack(0xffff, 0x20, 2)

// decode takes one character off a text; n is its length in bytes, and ok is false if it is a byte that is no part of one.
func decode(s string) (r rune, n int, ok bool) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1, true
	}
	r, n = utf8.DecodeRuneInString(s)
	return r, n, r != utf8.RuneError || n > 1
}

// iter gives the weights of a text at one level, those that are not 0.
type iter struct {
	w     *weigher
	rest  string
	level int
	more  []element // in the table
	buf   [3]element
	i, n  int // of buf
	stop  int // so many bytes at the end of the text are not read
}

func (w *weigher) iterate(s string, level int) iter { return iter{w: w, rest: s, level: level} }

// pending is how many elements of the character that was taken last are left.
func (it *iter) pending() int { return it.n - it.i + len(it.more) }

// next returns the next weight; 0: the text has ended.
func (it *iter) next() uint16 {
	for {
		for it.i < it.n {
			e := it.buf[it.i]
			it.i++
			if v := e.at(it.level); v != 0 {
				return v
			}
		}
		for len(it.more) > 0 {
			e := it.more[0]
			it.more = it.more[1:]
			if v := e.at(it.level); v != 0 {
				return v
			}
		}
		if len(it.rest) <= it.stop {
			return 0
		}
		if b := it.rest[0]; b < utf8.RuneSelf && it.w.known[b] {
			it.rest = it.rest[1:]
			if v := it.w.ascii[it.level][b]; v != 0 {
				return v
			}
			continue
		}
		it.fill()
	}
}

// fill takes a character, or as many as contract, off the text.
func (it *iter) fill() {
	r, n, ok := decode(it.rest)
	it.rest = it.rest[n:]
	it.i, it.n = 0, 0
	if !ok {
		it.buf[0], it.n = invalid, 1
		return
	}
	if !it.w.simple {
		if es, used, ok := it.w.contracted(r, it.rest); ok {
			it.rest, it.more = it.rest[used:], es
			return
		}
	}
	it.more, it.n = it.w.lookup(r, &it.buf)
}

// contracted finds the longest contraction that begins with r and goes on with the text after it.
func (w *weigher) contracted(r rune, after string) (es []element, used int, ok bool) {
	for _, c := range w.contractions[r] {
		rest := after
		for _, want := range c.rest {
			if rest == "" {
				break
			}
			got, n, _ := decode(rest)
			if got != want {
				break
			}
			rest, used = rest[n:], used+n
		}
		if utf8Len(c.rest) == used {
			return c.elements, used, true
		}
		used = 0
	}
	return nil, 0, false
}

func utf8Len(rs []rune) (n int) {
	for _, r := range rs {
		n += utf8.RuneLen(r)
	}
	return n
}

// common is how many bytes two texts begin with alike, up to the beginning of a character. What is alike weighs alike unless
// contractions reach over its end.
func (w *weigher) common(a, b string) int {
	if !w.simple {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

func (w *weigher) compare(a, b string) int {
	n := w.common(a, b)
	a, b = a[n:], b[n:]
	if a == "" && b == "" {
		return 0
	}
	for level := range w.levels {
		if c := w.compareLevel(a, b, level); c != 0 {
			return c
		}
	}
	return 0
}

func (w *weigher) compareLevel(a, b string, level int) int {
	x, y := w.iterate(a, level), w.iterate(b, level)
	for {
		v, u := x.next(), y.next()
		switch {
		case v == 0 && u == 0:
			return 0
		case w.noPad:
		case v == 0:
			v = w.space
		case u == 0:
			u = w.space
		}
		if v != u {
			if v < u {
				return -1
			}
			return 1
		}
	}
}

// beginsWith says whether the weights of sub are what those of s begin with, on each level.
func (w *weigher) beginsWith(s, sub string) bool {
	for level := range w.levels {
		x, y := w.iterate(s, level), w.iterate(sub, level)
		for {
			u := y.next()
			if u == 0 {
				break
			}
			if x.next() != u {
				return false
			}
		}
	}
	return true
}

// same says whether texts are equal, with no spaces added to either.
func (w *weigher) same(a, b string) bool {
	for level := range w.levels {
		x, y := w.iterate(a, level), w.iterate(b, level)
		for {
			v, u := x.next(), y.next()
			if v != u {
				return false
			}
			if v == 0 {
				break
			}
		}
	}
	return true
}
