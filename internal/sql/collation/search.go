package collation

import (
	"strings"
	"unicode/utf8"
)

// Same says whether two texts are equal if spaces at the end count in every collation, as FIND_IN_SET has it.
func (c *Collation) Same(a, b string) bool {
	return a == b || c.kind == weighed && c.unit().same(a, b)
}

// Index is the byte at which sub begins in s for the first time under the collation, or -1. It begins at a character.
//
// As in MySQL 9, the weights of sub are what those of s begin with there, on each level: 'e' is found in 'é' and 's' in 'ß' (MySQL 8.0 compares
// as many bytes of s as sub has, and does not find 'e' in 'é'). In character sets of single bytes it compares character by character.
func (c *Collation) Index(s, sub string) int {
	at, _ := c.IndexPoll(s, sub, nil)
	return at
}

// IndexPoll is Index that asks poll, unless that is nil, again and again while it works, and ends with its error.
func (c *Collation) IndexPoll(s, sub string, poll func() error) (int, error) {
	single := c.Charset.MaxLen == 1 && c.Charset.Name != "binary"
	steps := 0
	for at := 0; at <= len(s); {
		if steps += 1 + len(sub)/16; steps >= pollEvery && poll != nil {
			steps = 0
			if err := poll(); err != nil {
				return -1, err
			}
		}
		if c.kind != weighed {
			i := strings.Index(s[at:], sub)
			if i < 0 {
				return -1, nil
			}
			if at += i; c.Charset.Name == "binary" || at == len(s) || utf8.RuneStart(s[at]) {
				return at, nil
			}
			at++
			continue
		}
		if single && c.beginsWith(s[at:], sub) || !single && c.unit().beginsWith(s[at:], sub) {
			return at, nil
		}
		if at == len(s) {
			break
		}
		_, n, _ := decode(s[at:])
		at += n
	}
	return -1, nil
}

// beginsWith compares character by character.
func (c *Collation) beginsWith(s, sub string) bool {
	for sub != "" {
		if s == "" {
			return false
		}
		a, n := c.take(s)
		b, m := c.take(sub)
		if !c.same(a, b) {
			return false
		}
		s, sub = s[n:], sub[m:]
	}
	return true
}

// Length is how many characters a text has; binary texts have bytes, and a byte that is no part of a character counts as one.
func (c *Collation) Length(s string) int {
	if c.Charset.Name == "binary" {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// Offset is the byte at which the character n (from 0 on) of a text begins; ok is false if there are not so many. The end of the
// text is the beginning of the character behind the last one.
func (c *Collation) Offset(s string, n int) (at int, ok bool) {
	if n < 0 {
		return 0, false
	}
	if c.Charset.Name == "binary" {
		return min(n, len(s)), n <= len(s)
	}
	for ; n > 0; n-- {
		if at == len(s) {
			return at, false
		}
		_, size, _ := decode(s[at:])
		at += size
	}
	return at, true
}

// Valid says whether a text can be stored in the character set: utf8mb3 has no characters beyond the BMP, latin1 those of
// Windows-1252 alone. at is the byte where the first fault is.
func (c *Charset) Valid(s string) (at int, ok bool) {
	if c.Name == "binary" {
		return 0, true
	}
	for at < len(s) {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, n, ok := decode(s[at:])
		if !ok || c.Name == "ascii" || c.Name == "utf8mb3" && r > 0xffff || c.Name == "latin1" && !inLatin1(r) {
			return at, false
		}
		at += n
	}
	return at, true
}

// latin1High are the characters of the bytes 0x80 to 0x9f of MySQL's latin1, which is Windows-1252 with C1 controls for what
// that leaves free.
const latin1High = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func inLatin1(r rune) bool {
	return r < 0x80 || 0xa0 <= r && r <= 0xff || strings.ContainsRune(latin1High, r)
}
