package collation

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// weights.bin is a list of sections. A section is its name, the name of the section that it builds on, and the scheme for what
// it does not hold (each a byte of length and the bytes, the scheme one byte), the length of the rest in four bytes, and the rest
// compressed by DEFLATE: entries of a number of characters, the characters (the first as a difference from that of the entry
// before), a number of elements, and the elements. Numbers are varints, primary weights differences from the one before.
//
//go:embed weights.bin
var packed []byte

// element is a collation element: primary weight (16 bits), secondary (9), tertiary (6). 0: ignored at every level.
type element uint32

func pack(primary, secondary, tertiary uint16) element {
	return element(primary)<<15 | element(secondary)<<6 | element(tertiary)
}

func (e element) primary() uint16   { return uint16(e >> 15) }
func (e element) secondary() uint16 { return uint16(e>>6) & 0x1ff }
func (e element) tertiary() uint16  { return uint16(e) & 0x3f }

// at is the weight of a level from 0 on.
func (e element) at(level int) uint16 {
	switch level {
	case 0:
		return e.primary()
	case 1:
		return e.secondary()
	}
	return e.tertiary()
}

// Schemes: what weights a character has that no entry names.
const (
	schemeIdentity = 'i' // its code and 1 (0 is no weight), beyond the BMP that of U+FFFD
	scheme400      = '4' // two weights made of the code; beyond the BMP 0xfffd
	scheme520      = '5' // two weights made of the code
	scheme900      = '9' // the same with the blocks of Unicode 9, Hangul syllables as their letters
	cyrillicFirst  = 'C' // 9, and Cyrillic letters before Latin ones
	cyrillicSecond = 'L' // 9, and Cyrillic letters behind Latin ones, before Greek ones
)

// An entry of a page: an element; or many|offset<<6|length, of table.long; or implied.
const (
	many    = 1 << 31
	implied = 1<<32 - 1
)

type contraction struct {
	rest     []rune // after the first character
	elements []element
}

// table is the elements of characters.
type table struct {
	scheme       byte
	pages        [0x1100]*[256]uint32
	long         []element
	contractions map[rune][]contraction // longest first
}

type section struct {
	name, base string
	scheme     byte
	body       []byte
}

var sections = sync.OnceValue(func() []section {
	var out []section
	text := func(b []byte) (string, []byte) { return string(b[1 : 1+b[0]]), b[1+b[0]:] }
	for b := packed; len(b) > 0; {
		var s section
		s.name, b = text(b)
		s.base, b = text(b)
		s.scheme, b = b[0], b[1:]
		n := binary.BigEndian.Uint32(b)
		s.body, b = b[4:4+n], b[4+n:]
		out = append(out, s)
	}
	return out
})

func sectionNames() (out []string) {
	for _, s := range sections() {
		out = append(out, s.name)
	}
	return out
}

// loadTable unpacks a section and those that it builds on. weights.bin is a part of the program, so a fault in it is a panic.
func loadTable(name string) *table {
	for _, s := range sections() {
		if s.name != name {
			continue
		}
		t := &table{}
		if s.base != "" {
			t = loadTable(s.base)
		}
		t.scheme = s.scheme
		body, err := io.ReadAll(flate.NewReader(bytes.NewReader(s.body)))
		if err != nil {
			panic(fmt.Sprintf("weights of %s: %v", name, err))
		}
		t.read(body)
		t.reorder()
		return t
	}
	panic("no weights of " + name)
}

func (t *table) read(b []byte) {
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			panic("weights end early")
		}
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v := number()
		return int64(v>>1) ^ -int64(v&1)
	}
	var at, primary int64
	for len(b) > 0 {
		chars := make([]rune, number())
		for i := range chars {
			if i == 0 {
				at += signed()
				chars[0] = rune(at)
			} else {
				chars[i] = rune(number())
			}
		}
		elements := make([]element, number())
		for i := range elements {
			primary += signed()
			elements[i] = pack(uint16(primary), uint16(number()), uint16(number()))
		}
		t.set(chars, elements)
	}
}

func (t *table) set(chars []rune, elements []element) {
	if len(chars) > 1 {
		t.contract(chars, elements)
		return
	}
	page := t.pages[chars[0]>>8]
	if page == nil {
		page = new([256]uint32)
		for i := range page {
			page[i] = implied
		}
		t.pages[chars[0]>>8] = page
	}
	entry := uint32(0)
	switch len(elements) {
	case 0:
	case 1:
		entry = uint32(elements[0])
	default:
		entry = uint32(many | len(t.long)<<6 | len(elements))
		t.long = append(t.long, elements...)
	}
	page[chars[0]&0xff] = entry
}

func (t *table) contract(chars []rune, elements []element) {
	if t.contractions == nil {
		t.contractions = map[rune][]contraction{}
	}
	list := t.contractions[chars[0]]
	at := 0
	for at < len(list) && len(list[at].rest) >= len(chars)-1 {
		at++
	}
	list = append(list[:at:at], append([]contraction{{chars[1:], elements}}, list[at:]...)...)
	t.contractions[chars[0]] = list
}

// The primary weights of scripts in 9.0.0: where each begins, and where the next one does.
const (
	latin    = 0x1c47
	greek    = 0x1fb9 // and Coptic
	cyrillic = 0x2022
	next     = 0x21e5
)

// reorder moves the scripts as the scheme says.
func (t *table) reorder() {
	from := map[byte]uint16{cyrillicFirst: latin, cyrillicSecond: greek}[t.scheme]
	if from == 0 {
		return
	}
	move := func(e element) element {
		switch p := e.primary(); {
		case cyrillic <= p && p < next:
			return pack(p-cyrillic+from, e.secondary(), e.tertiary())
		case from <= p && p < cyrillic:
			return pack(p+next-cyrillic, e.secondary(), e.tertiary())
		}
		return e
	}
	for _, page := range t.pages {
		if page == nil {
			continue
		}
		for i, e := range page {
			if e != implied && e&many == 0 {
				page[i] = uint32(move(element(e)))
			}
		}
	}
	for i, e := range t.long {
		t.long[i] = move(e)
	}
	for _, list := range t.contractions {
		for _, c := range list {
			for i, e := range c.elements {
				c.elements[i] = move(e)
			}
		}
	}
	t.scheme = scheme900
}

// Hangul syllables are made of letters by arithmetic: Unicode 9, section 3.12.
const (
	hangulFirst, hangulLast = 0xac00, 0xd7a3
	leading, vowel, tail    = 0x1100, 0x1161, 0x11a7
	vowels, tails           = 21, 28
)

// elements returns the elements of a character.
func (t *table) elements(r rune) []element {
	var buf [3]element
	if long, n := t.lookup(r, &buf); n == 0 {
		return long
	} else {
		return append([]element(nil), buf[:n]...)
	}
}

// lookup gives the elements of a character: the first n of buf, or if n is 0 those of the table.
func (t *table) lookup(r rune, buf *[3]element) (long []element, n int) {
	if page := t.pages[r>>8]; page != nil {
		switch e := page[r&0xff]; {
		case e == implied:
		case e == 0:
			return nil, 0
		case e&many != 0:
			at, n := e&^many>>6, e&0x3f
			return t.long[at : at+n], 0
		default:
			buf[0] = element(e)
			return nil, 1
		}
	}
	return nil, t.implicit(r, buf)
}

// implicit fills in the elements of a character that no entry names, and returns how many.
func (t *table) implicit(r rune, buf *[3]element) int {
	switch {
	case t.scheme == schemeIdentity || t.scheme == scheme400 && r > 0xffff:
		switch {
		case t.scheme == scheme400:
			buf[0] = pack(0xfffd, 0, 0)
		case r > 0xffff:
			buf[0] = pack(0xfffd+1, 0, 0)
		case r == 0xffff:
			buf[0], buf[1] = pack(0xffff, 0, 0), pack(1, 0, 0)
			return 2
		default:
			buf[0] = pack(uint16(r)+1, 0, 0)
		}
		return 1
	case t.scheme == scheme900 && hangulFirst <= r && r <= hangulLast:
		s := r - hangulFirst
		letters := [3]rune{leading + s/(vowels*tails), vowel + s%(vowels*tails)/tails, tail + s%tails}
		n := 3
		if letters[2] == tail {
			n = 2
		}
		for i, l := range letters[:n] {
			buf[i] = element(t.pages[l>>8][l&0xff])
		}
		return n
	case t.scheme == scheme900 && 0x17000 <= r && r <= 0x18aff: // Tangut
		buf[0], buf[1] = pack(0xfb00, 0x20, 2), pack(uint16(r-0x17000)|0x8000, 0, 0)
		return 2
	}
	base := uint16(0xfbc0)
	switch {
	case 0x4e00 <= r && r <= 0x9fa5:
		base = 0xfb40
	case 0x3400 <= r && r <= 0x4db5:
		base = 0xfb80
	case t.scheme != scheme900:
	case r <= 0x9fd5 && r >= 0x4e00, 0xfa0e <= r && r <= 0xfa29:
		base = 0xfb40
	case 0x20000 <= r && r <= 0x2a6d6, 0x2a700 <= r && r <= 0x2b734, 0x2b740 <= r && r <= 0x2b81d, 0x2b820 <= r && r <= 0x2cea1:
		base = 0xfb80
	}
	secondary, tertiary := uint16(0), uint16(0)
	if t.scheme == scheme900 {
		secondary, tertiary = 0x20, 2
	}
	buf[0] = pack(base+uint16(r>>15), secondary, tertiary)
	buf[1] = pack(uint16(r&0x7fff)|0x8000, 0, 0)
	return 2
}
