package keys

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/longitude-db/longitude/internal/kv"
)

// Shape says how to find the end of a column in a key, without knowing what it means. Every shape is self-delimiting: no
// column is the beginning of another one of the same shape. Package sql/rowcodec writes them.
type Shape byte

// The shapes. NULL is the byte 0x00 alone in each of them.
const (
	// Integer: a first byte of 0x80+n, or 0x7f-n, and n bytes.
	Integer Shape = iota + 1
	// Fixed: 0x01 and 8 bytes.
	Fixed
	// Decimal: 0x03 alone; or 0x04, two bytes, and others up to a 0x00; or 0x02, two bytes, and others up to a 0xff.
	Decimal
	// Escaped: 0x01 and bytes up to 0x00 0x01, in which 0x00 stands as 0x00 0xff.
	Escaped
	// Weights: 0x01 and the sort key of a text, which holds no 0x00, up to a 0x00.
	Weights
)

var errShort = errors.New("key ends early")

// ColumnEnd is the length of the column that a key begins with.
func ColumnEnd(key []byte, shape Shape) (int, error) {
	if len(key) == 0 {
		return 0, errShort
	}
	mark, n := key[0], 0
	switch {
	case mark == 0x00:
		return 1, nil
	case shape == Integer:
		if n = int(mark) - 0x80; n < 0 {
			n = -1 - n
		}
		if n > 8 {
			return 0, fmt.Errorf("key of an integer begins with %#x", mark)
		}
		n++
	case shape == Decimal && mark == 0x03:
		return 1, nil
	case shape == Decimal && (mark == 0x02 || mark == 0x04) && len(key) > 3:
		end := byte(0xff)
		if mark == 0x04 {
			end = 0x00
		}
		n = bytes.IndexByte(key[3:], end) + 3 + 1
		if n == 3 {
			return 0, errShort
		}
	case mark != 0x01:
		return 0, fmt.Errorf("column of shape %d begins with %#x", shape, mark)
	case shape == Fixed:
		n = 9
	case shape == Escaped:
		return escapedEnd(key)
	case shape == Weights:
		if n = bytes.IndexByte(key, 0x00) + 1; n == 0 {
			return 0, errShort
		}
	default:
		return 0, fmt.Errorf("shape %d is not known", shape)
	}
	if len(key) < n {
		return 0, errShort
	}
	return n, nil
}

func escapedEnd(key []byte) (int, error) {
	for n := 1; ; n += 2 {
		i := bytes.IndexByte(key[n:], 0x00)
		if i < 0 || n+i+1 >= len(key) {
			return 0, errShort
		}
		n += i
		switch key[n+1] {
		case 0x01:
			return n + 2, nil
		case 0xff:
		default:
			return 0, fmt.Errorf("escape %#x in a key", key[n+1])
		}
	}
}

// GroupEnd is how much of a key its group shares.
func GroupEnd(key kv.Key, g *kv.Grouping) (int, error) {
	if g.Prefix < 0 || len(key) < g.Prefix {
		return 0, fmt.Errorf("key %s is shorter than the %d bytes before its columns", key, g.Prefix)
	}
	n := g.Prefix
	for _, c := range g.Columns {
		l, err := ColumnEnd(key[n:], Shape(c))
		if err != nil {
			return 0, fmt.Errorf("column at byte %d of key %s: %w", n, key, err)
		}
		n += l
	}
	return n, nil
}
