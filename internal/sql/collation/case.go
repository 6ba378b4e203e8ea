package collation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Upper changes the letters of a text to upper case, each to one other character, as the collation's character set has it. Binary
// texts stay as they are.
func (c *Collation) Upper(s string) string { return c.mapped(s, c.upper) }

// Lower is Upper for lower case.
func (c *Collation) Lower(s string) string { return c.mapped(s, c.lower) }

func (c *Collation) mapped(s string, f func(rune) rune) string {
	if c.Charset.Name == "binary" {
		return s
	}
	for i := 0; i < len(s); {
		r, n, ok := decode(s[i:])
		if !ok || f(r) == r {
			i += n
			continue
		}
		var b strings.Builder
		b.Grow(len(s) + utf8.UTFMax)
		b.WriteString(s[:i])
		for i < len(s) {
			if r, n, ok = decode(s[i:]); ok {
				b.WriteRune(f(r))
			} else {
				b.WriteString(s[i : i+n])
			}
			i += n
		}
		return b.String()
	}
	return s
}

func (c *Collation) upper(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' {
			if r == 'i' && c.turkish() {
				return 'İ'
			}
			return r - 'a' + 'A'
		}
		return r
	case c.Charset.Name == "ascii":
		return r
	case c.Charset.Name == "latin1":
		if 'à' <= r && r <= 'þ' && r != '÷' {
			return r - 'à' + 'À'
		}
		return r
	case c.modern():
		return since9(r, unicode.ToUpper(r))
	}
	return c.older("upper", r, unicode.ToUpper(r))
}

func (c *Collation) lower(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			if r == 'I' && c.turkish() {
				return 'ı'
			}
			return r - 'A' + 'a'
		}
		return r
	case c.Charset.Name == "ascii":
		return r
	case c.Charset.Name == "latin1":
		if 'À' <= r && r <= 'Þ' && r != '×' {
			return r - 'À' + 'à'
		}
		return r
	case c.modern():
		return since9(r, unicode.ToLower(r))
	}
	return c.older("lower", r, unicode.ToLower(r))
}

// turkish says that i and ı are letters of their own.
func (c *Collation) turkish() bool { return strings.HasSuffix(c.Name, "_turkish_ci") }

// modern says that letter case is that of Unicode 9.0.0.
func (c *Collation) modern() bool { return strings.Contains(c.Name, "_0900_") }

// since9 leaves out the pairs that Unicode has got after 9.0.0.
func since9(r, to rune) rune {
	for _, x := range [2]rune{r, to} {
		switch {
		case 0x10d0 <= x && x <= 0x10ff, 0x1c90 <= x && x <= 0x1cbf, // 11.0: Georgian Mtavruli
			0x16e40 <= x && x <= 0x16e7f, // 11.0: Medefaidrin
			0xa7b8 <= x && x <= 0xa7dc,   // 11.0 and later: Latin Extended-D
			x == 0xa7f5, x == 0xa7f6,     // 13.0
			x == 0x2c2f, x == 0x2c5f, // 14.0: Glagolitic
			0x10570 <= x && x <= 0x105bf,                          // 14.0: Vithkuqi
			0x1c89 <= x && x <= 0x1c8a,                            // 16.0
			0x10d50 <= x && x <= 0x10d85,                          // 16.0: Garay
			x == 0x0264 && r != to && (to > 0xa7b7 || r > 0xa7b7): // 16.0
			return r
		}
	}
	return to
}

// older is the letter case of MySQL's older collations: they know an older Unicode, without characters beyond the Basic
// Multilingual Plane but, in *_unicode_520_ci, those of Deseret.
func (c *Collation) older(function string, r, to rune) rune {
	version := "400"
	if strings.Contains(c.Name, "_520_") {
		version = "520"
	}
	if r > 0xffff {
		if version == "520" && 0x10400 <= r && r <= 0x1044f {
			return to
		}
		return r
	}
	if page := sharedTable(function + version).pages[r>>8]; page != nil && page[r&0xff] != implied {
		return rune(element(page[r&0xff]).primary())
	}
	return r
}
