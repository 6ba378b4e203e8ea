package rowcodec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/keys"
)

// First bytes of a column in a key. NULL sorts before everything (C1).
const (
	markNull  = 0x00
	markValue = 0x01 // floats, bytes and texts
	markEnd   = 0x00 // behind a sort key: sorts before all that another key goes on with
	// Integers: 0x80+n for n bytes of a value >= 0, 0x7f-n for n bytes of the complement of a value < 0.
	markInt = 0x80
	// Decimals.
	markNegative = 0x02
	markZero     = 0x03
	markPositive = 0x04
)

// AfterNull sorts after NULL and before all values of a column.
const AfterNull = 0x01

var errShort = errors.New("key ends early")

// AppendKey appends one column to a key.
func AppendKey(dst []byte, c *Column, d Datum) ([]byte, error) {
	if d.Kind == Null {
		return append(dst, markNull), nil
	}
	if d.Kind != c.Kind {
		return dst, fmt.Errorf("column %d is of kind %s, not %s", c.ID, c.Kind, d.Kind)
	}
	switch d.Kind {
	case Int:
		return appendInt(dst, d.I), nil
	case Uint:
		return appendUint(dst, d.U), nil
	case Float:
		return appendFloat(append(dst, markValue), d.F), nil
	case Decimal:
		return appendDecimal(dst, d.B)
	case Bytes:
		b := d.B
		if c.Prefix > 0 && len(b) > c.Prefix {
			b = b[:c.Prefix]
		}
		return appendBytes(append(dst, markValue), b), nil
	case Text:
		b := d.B
		if c.Prefix > 0 && !c.Cuts {
			b = firstChars(b, c.Prefix)
		}
		if c.SortKey == nil {
			return appendBytes(append(dst, markValue), b), nil
		}
		n := len(dst) + 1
		dst = c.SortKey(append(dst, markValue), b)
		if bytes.IndexByte(dst[n:], markEnd) >= 0 {
			return dst, fmt.Errorf("the sort key %x of a text of column %d holds a zero byte", dst[n:], c.ID)
		}
		return append(dst, markEnd), nil
	}
	return dst, fmt.Errorf("no key for kind %s", d.Kind)
}

// AppendKeyBeginning appends what the keys begin with of all values of a Text or Bytes column that begin with some bytes; of one with a
// SortKey, whose sort keys begin with them.
func AppendKeyBeginning(dst []byte, c *Column, begin []byte) []byte {
	dst = append(dst, markValue)
	if c.Kind == Text && c.SortKey != nil {
		return append(dst, begin...)
	}
	dst = appendBytes(dst, begin)
	return dst[:len(dst)-2] // without its end
}

// DecodeKey takes one column off a key. For a lossy column the datum is only NULL or not; its value is elsewhere (C3).
func DecodeKey(key []byte, c *Column) (Datum, []byte, error) {
	if len(key) == 0 {
		return Datum{}, nil, errShort
	}
	if key[0] == markNull {
		return Datum{}, key[1:], nil
	}
	switch c.Kind {
	case Int:
		v, rest, err := decodeInt(key)
		return Datum{Kind: Int, I: v}, rest, err
	case Uint:
		v, rest, err := decodeUint(key)
		return Datum{Kind: Uint, U: v}, rest, err
	case Decimal:
		b, rest, err := decodeDecimal(key, c.Scale)
		return Datum{Kind: Decimal, B: b}, rest, err
	}
	if key[0] != markValue {
		return Datum{}, nil, fmt.Errorf("key of a %s column begins with %#x", c.Kind, key[0])
	}
	if c.Kind == Text && c.SortKey != nil {
		n, err := keys.ColumnEnd(key, keys.Weights)
		if err != nil {
			return Datum{}, nil, err
		}
		return Datum{Kind: Text}, key[n:], nil
	}
	key = key[1:]
	switch c.Kind {
	case Float:
		if len(key) < 8 {
			return Datum{}, nil, errShort
		}
		return Datum{Kind: Float, F: decodeFloat(key)}, key[8:], nil
	case Bytes:
		b, rest, err := decodeBytes(key)
		return Datum{Kind: Bytes, B: b}, rest, err
	case Text:
		b, rest, err := decodeBytes(key)
		return Datum{Kind: Text, B: b}, rest, err
	}
	return Datum{}, nil, fmt.Errorf("no key for kind %s", c.Kind)
}

// Shape is how the ends of the column's keys are found by those who know nothing of columns.
func (c *Column) Shape() keys.Shape {
	switch c.Kind {
	case Int, Uint:
		return keys.Integer
	case Float:
		return keys.Fixed
	case Decimal:
		return keys.Decimal
	case Text:
		if c.SortKey != nil {
			return keys.Weights
		}
	}
	return keys.Escaped
}

func firstChars(b []byte, n int) []byte {
	for i := 0; i < len(b); {
		if n == 0 {
			return b[:i]
		}
		n--
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return b
}

func bytesFor(v uint64) int {
	n := 0
	for v > 0 {
		n++
		v >>= 8
	}
	return n
}

func appendBig(dst []byte, v uint64, n int) []byte {
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

func appendUint(dst []byte, v uint64) []byte {
	n := bytesFor(v)
	return appendBig(append(dst, byte(markInt+n)), v, n)
}

func appendInt(dst []byte, v int64) []byte {
	if v >= 0 {
		return appendUint(dst, uint64(v))
	}
	n := bytesFor(uint64(^v))
	return appendBig(append(dst, byte(markInt-1-n)), uint64(v), n)
}

// intParts reads either sign: the magnitude bits as stored, and whether the value is negative.
func intParts(key []byte) (v uint64, negative bool, rest []byte, err error) {
	n := int(key[0]) - markInt
	if n < 0 {
		negative, n = true, -1-n
	}
	if n > 8 {
		return 0, false, nil, fmt.Errorf("key of an integer begins with %#x", key[0])
	}
	if len(key) < 1+n {
		return 0, false, nil, errShort
	}
	if negative {
		v = math.MaxUint64
	}
	for _, b := range key[1 : 1+n] {
		v = v<<8 | uint64(b)
	}
	return v, negative, key[1+n:], nil
}

func decodeInt(key []byte) (int64, []byte, error) {
	v, negative, rest, err := intParts(key)
	if err == nil && negative != (int64(v) < 0) {
		return 0, nil, errors.New("integer out of range")
	}
	return int64(v), rest, err
}

func decodeUint(key []byte) (uint64, []byte, error) {
	v, negative, rest, err := intParts(key)
	if err == nil && negative {
		return 0, nil, errors.New("negative value of an unsigned column")
	}
	return v, rest, err
}

func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		f = 0 // the two zeros are one value
	}
	u := math.Float64bits(f)
	if u>>63 == 1 {
		u = ^u
	} else {
		u |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, u)
}

func decodeFloat(b []byte) float64 {
	u := binary.BigEndian.Uint64(b)
	if u>>63 == 1 {
		u &^= 1 << 63
	} else {
		u = ^u
	}
	return math.Float64frombits(u)
}

// appendBytes writes 0x00 as 0x00 0xff and ends with 0x00 0x01, which sorts before every continuation.
func appendBytes(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return append(append(dst, b...), 0x00, 0x01)
		}
		dst = append(append(dst, b[:i]...), 0x00, 0xff)
		b = b[i+1:]
	}
}

func decodeBytes(key []byte) (b, rest []byte, err error) {
	b = []byte{}
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 || i+1 >= len(key) {
			return nil, nil, errShort
		}
		b = append(b, key[:i]...)
		mark := key[i+1]
		key = key[i+2:]
		switch mark {
		case 0x01:
			return b, key, nil
		case 0xff:
			b = append(b, 0)
		default:
			return nil, nil, fmt.Errorf("escape %#x in a key", mark)
		}
	}
}

// AppendID appends a number such that byte order is number order, as an unsigned column would.
func AppendID(dst []byte, id uint64) []byte { return appendUint(dst, id) }
