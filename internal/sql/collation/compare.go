package collation

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Compare returns -1, 0 or 1 (O1). It allocates nothing.
func (c *Collation) Compare(a, b string) int {
	switch c.kind {
	case weighed:
		return c.unit().compare(a, b)
	case codewise:
		return comparePadded(a, b)
	}
	return strings.Compare(a, b)
}

// Equal is Compare(a, b) == 0.
func (c *Collation) Equal(a, b string) bool {
	return a == b || c.kind != bytewise && c.Compare(a, b) == 0
}

// CompareBytes is Compare of bytes.
func (c *Collation) CompareBytes(a, b []byte) int {
	if c.kind == bytewise {
		return bytes.Compare(a, b)
	}
	return c.Compare(text(a), text(b))
}

// text is a view of bytes that are not changed while it is used.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// comparePadded compares as if the shorter text were filled with spaces.
func comparePadded(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	sign, rest := 1, a[n:]
	if len(b) > n {
		sign, rest = -1, b[n:]
	}
	for i := range len(rest) {
		switch {
		case rest[i] < ' ':
			return -sign
		case rest[i] > ' ':
			return sign
		}
	}
	return 0
}

// A space of a PAD SPACE key is followed by what comes after the spaces: less than a space, the end, or more. So the end of a
// text, which is written as a space too, is compared with the rest of another text as endless spaces would be.
const (
	thenLess = 1
	thenEnd  = 2
	thenMore = 3
)

// AppendKey appends the key of a text (O2, O3).
func (c *Collation) AppendKey(dst []byte, s string) []byte {
	switch c.kind {
	case weighed:
		return c.unit().appendKey(dst, s, 0, false)
	case codewise:
		return appendPadded(dst, s, false)
	}
	return append(dst, s...)
}

// AppendKeyBytes is AppendKey of bytes.
func (c *Collation) AppendKeyBytes(dst, s []byte) []byte { return c.AppendKey(dst, text(s)) }

// AppendPrefix appends what the keys of all texts begin with that begin with s (O4).
func (c *Collation) AppendPrefix(dst []byte, s string) []byte {
	switch c.kind {
	case weighed:
		return c.unit().appendKey(dst, s, 0, true)
	case codewise:
		return appendPadded(dst, s, true)
	}
	return append(dst, s...)
}

// AppendFirst appends a key of the beginning of a text: n primary weights (characters, where those are compared as they are). It
// agrees with Compare as far as it goes: if Compare(a, b) <= 0 the key of a is not greater than that of b, which a key of the
// first n characters would not be ("ch" is greater than "h" in Czech, "c" is less).
func (c *Collation) AppendFirst(dst []byte, s string, n int) []byte {
	if c.kind == weighed {
		return c.unit().appendKey(dst, s, n, false)
	}
	at, _ := c.Offset(s, n)
	return c.AppendKey(dst, s[:at])
}

// AppendWeights appends the weights of a text as MySQL's WEIGHT_STRING gives them: two bytes for each, levels with two zero bytes between them;
// three bytes for the code of a character where those are compared; else the bytes of the text.
func (c *Collation) AppendWeights(dst []byte, s string) []byte {
	switch c.kind {
	case weighed:
		w := c.unit()
		shift := uint16(0)
		if strings.HasSuffix(c.Name, "_general_ci") { // the table has them one higher: none is 0
			shift = 1
		}
		for level := range w.levels {
			if level > 0 {
				dst = append(dst, 0, 0)
			}
			it := w.iterate(s, level)
			for v := it.next(); v != 0; v = it.next() {
				dst = append(dst, byte((v-shift)>>8), byte(v-shift))
			}
		}
		return dst
	case codewise:
		if c.Charset.MaxLen > 1 {
			for _, r := range s {
				dst = append(dst, byte(r>>16), byte(r>>8), byte(r))
			}
			return dst
		}
	}
	return append(dst, s...)
}

// Hash is the same for texts that are equal under the collation.
func (c *Collation) Hash(seed maphash.Seed, s string) uint64 {
	if c.kind == bytewise {
		return maphash.String(seed, s)
	}
	var buf [256]byte
	return maphash.Bytes(seed, c.AppendKey(buf[:0], s))
}

// padder writes the units of a PAD SPACE key one by one and holds spaces back until it is known what follows them.
type padder struct{ spaces int }

// before writes the spaces that were held back; more says that a unit greater than a space follows, else a lesser one.
func (p *padder) before(dst []byte, space []byte, more bool) []byte {
	then := byte(thenLess)
	if more {
		then = thenMore
	}
	for ; p.spaces > 0; p.spaces-- {
		dst = append(append(dst, space...), then)
	}
	return dst
}

// appendPadded writes bytes one higher, so that 0x00 is not among them; the two highest, which UTF-8 does not have, as two.
func appendPadded(dst []byte, s string, prefix bool) []byte {
	const top = 0xfe
	space := []byte{' ' + 1}
	var p padder
	for i := range len(s) {
		b := s[i]
		if b == ' ' {
			p.spaces++
			continue
		}
		dst = p.before(dst, space, b > ' ')
		if b >= top {
			dst = append(dst, 0xff, b-top+1)
		} else {
			dst = append(dst, b+1)
		}
	}
	if prefix {
		return dst
	}
	return append(append(dst, space...), thenEnd)
}

// appendKey appends the key; of at most so many primary weights alone, unless most is 0.
func (w *weigher) appendKey(dst []byte, s string, most int, prefix bool) []byte {
	var buf [3]byte
	space := w.codes.append(buf[:0], w.space)
	var p padder
	it := w.iterate(s, 0)
	if prefix {
		it.stop = w.open(s)
	}
	for n := 0; most == 0 || n < most; n++ {
		for most == 0 && it.pending() == 0 && p.spaces == 0 && len(it.rest) > it.stop && it.rest[0] < utf8.RuneSelf && w.code[it.rest[0]] != 0 {
			dst = append(dst, w.code[it.rest[0]])
			it.rest = it.rest[1:]
		}
		v := it.next()
		if v == 0 {
			break
		}
		if v == w.space && !w.noPad {
			p.spaces++
			continue
		}
		dst = w.codes.append(p.before(dst, space, v > w.space), v)
	}
	switch {
	case prefix:
		return dst
	case !w.noPad:
		dst = append(append(dst, space...), thenEnd)
	}
	for level := 1; level < w.levels && most == 0; level++ {
		dst = append(dst, separator)
		it := w.iterate(s, level)
		for v := it.next(); v != 0; v = it.next() {
			dst = appendSmall(dst, v)
		}
	}
	return dst
}

// open is how many bytes at the end of a text can be a part of a contraction with what follows.
func (w *weigher) open(s string) (n int) {
	for range w.reach {
		if n == len(s) {
			break
		}
		_, size := utf8.DecodeLastRuneInString(s[:len(s)-n])
		n += size
	}
	return n
}
