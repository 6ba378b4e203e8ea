package kv

import (
	"errors"
	"fmt"
)

// The generated decoder allocates what an array's header says before it has seen the elements, so the lengths of a
// message that came over a wire are checked first.
const (
	// smallMessage needs no count of structures: with one byte for each it decodes to some ten megabytes.
	smallMessage = 64 << 10
	// structBytes is less than any structure of a message takes on the wire, over a whole message.
	structBytes = 8
)

var errShape = errors.New("kv: malformed message")

// DecodeMessage decodes a message of unknown origin. Nothing in it points into b. It never panics, and allocates no more
// than a small multiple of len(b).
func DecodeMessage(b []byte) (*Message, error) {
	if err := checkShape(b); err != nil {
		return nil, err
	}
	m := new(Message)
	if _, err := m.UnmarshalMsg(b); err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	return m, nil
}

// checkShape walks over the message without allocating: every element that an array header announces must be there, and
// there must not be more structures than honest ones fit in. Every message is walked over once more for it, so this knows the
// first bytes of MessagePack itself: the library's Skip took as long as decoding does.
func checkShape(b []byte) error {
	limit, structs := (smallMessage+len(b))/structBytes, 0
	rest, due := b, 1 // tokens follow each other flatly: due is how many more are announced
	for ; due > 0; due-- {
		size, elements, isMap := token(rest)
		if size <= 0 || size > len(rest) {
			return fmt.Errorf("%w: it ends in the middle", errShape)
		}
		if isMap {
			structs++
		}
		rest = rest[size:]
		if due += elements; due > len(rest)+1 {
			return fmt.Errorf("%w: %d elements are announced in %d bytes", errShape, due-1, len(rest))
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%w: %d bytes are left over", errShape, len(rest))
	case len(b) > smallMessage && structs > limit:
		return fmt.Errorf("%w: more than %d structures in %d bytes", errShape, limit, len(b))
	}
	return nil
}

// token measures the first token of b, which for an array or a map is its header, and counts the elements that it announces. A
// size of 0: there is no such token; one beyond len(b): it is cut off.
func token(b []byte) (size, elements int, isMap bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	length := func(bytes int) int { // that follows the first byte
		if len(b) < 1+bytes {
			return -1
		}
		n := 0
		for _, c := range b[1 : 1+bytes] {
			n = n<<8 | int(c)
		}
		return n
	}
	sized := func(bytes, more int) (int, int, bool) {
		n := length(bytes)
		if n < 0 {
			return 0, 0, false
		}
		return 1 + bytes + more + n, 0, false
	}
	switch c := b[0]; {
	case c < 0x80 || c >= 0xe0: // small integers
		return 1, 0, false
	case c < 0x90:
		return 1, 2 * int(c&0x0f), true
	case c < 0xa0:
		return 1, int(c & 0x0f), false
	case c < 0xc0:
		return 1 + int(c&0x1f), 0, false
	default:
		switch c {
		case 0xc0, 0xc2, 0xc3: // nil, false, true
			return 1, 0, false
		case 0xc4, 0xd9: // bytes and strings by the width of their length
			return sized(1, 0)
		case 0xc5, 0xda:
			return sized(2, 0)
		case 0xc6, 0xdb:
			return sized(4, 0)
		case 0xc7: // extensions
			return sized(1, 1)
		case 0xc8:
			return sized(2, 1)
		case 0xc9:
			return sized(4, 1)
		case 0xcc, 0xd0: // numbers
			return 2, 0, false
		case 0xcd, 0xd1:
			return 3, 0, false
		case 0xca, 0xce, 0xd2:
			return 5, 0, false
		case 0xcb, 0xcf, 0xd3:
			return 9, 0, false
		case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8: // extensions of 1, 2, 4, 8 and 16 bytes
			return 2 + 1<<(c-0xd4), 0, false
		case 0xdc, 0xdd, 0xde, 0xdf: // arrays and maps
			bytes := 2 << (c & 1)
			n := length(bytes)
			if n < 0 {
				return 0, 0, false
			}
			if isMap = c >= 0xde; isMap {
				n *= 2
			}
			return 1 + bytes, n, isMap
		}
	}
	return 0, 0, false // 0xc1 is never used
}
