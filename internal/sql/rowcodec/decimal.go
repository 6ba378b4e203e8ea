package rowcodec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// A decimal is its sign, the exponent of 0.d1d2d3... and the digits without zeros at either end, each digit plus one in
// a byte and 0x00 behind the last. Of a negative number everything behind the sign is complemented.

func appendDecimal(dst, text []byte) ([]byte, error) {
	negative, exponent, digits, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	if len(digits) == 0 {
		return append(dst, markZero), nil
	}
	if negative {
		dst = append(dst, markNegative)
	} else {
		dst = append(dst, markPositive)
	}
	from := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(int32(exponent)-math.MinInt16))
	for _, d := range digits {
		dst = append(dst, d-'0'+1)
	}
	dst = append(dst, 0x00)
	if negative {
		for i := from; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, nil
}

func parseDecimal(text []byte) (negative bool, exponent int, digits []byte, err error) {
	t := text
	if len(t) > 0 && (t[0] == '-' || t[0] == '+') {
		negative = t[0] == '-'
		t = t[1:]
	}
	whole, fraction, _ := bytes.Cut(t, []byte("."))
	if len(whole)+len(fraction) == 0 || len(t) > 1000 {
		return false, 0, nil, fmt.Errorf("%q is not a decimal", text)
	}
	for _, part := range [][]byte{whole, fraction} {
		for _, b := range part {
			if b < '0' || b > '9' {
				return false, 0, nil, fmt.Errorf("%q is not a decimal", text)
			}
		}
	}
	whole = bytes.TrimLeft(whole, "0")
	digits = append(append(digits, whole...), fraction...)
	exponent = len(whole)
	if len(whole) == 0 {
		digits = bytes.TrimLeft(digits, "0")
		exponent = len(digits) - len(fraction)
	}
	return negative, exponent, bytes.TrimRight(digits, "0"), nil
}

// decodeDecimal writes the number with scale digits behind the point.
func decodeDecimal(key []byte, scale int) (text, rest []byte, err error) {
	mark := key[0]
	key = key[1:]
	var flip byte
	switch mark {
	case markZero:
		return formatDecimal(false, 0, nil, scale), key, nil
	case markNegative:
		flip = 0xff
	case markPositive:
	default:
		return nil, nil, fmt.Errorf("key of a decimal begins with %#x", mark)
	}
	if len(key) < 2 {
		return nil, nil, errShort
	}
	exponent := int(uint16(key[0]^flip)<<8|uint16(key[1]^flip)) + math.MinInt16
	var digits []byte
	for i, b := range key[2:] {
		b ^= flip
		if b == 0x00 {
			if exponent < -1000 || exponent > 1000 || len(digits) > 1000 || len(digits) == 0 || scale > 1000 {
				return nil, nil, fmt.Errorf("decimal with exponent %d and %d digits in a key", exponent, len(digits))
			}
			return formatDecimal(mark == markNegative, exponent, digits, scale), key[2+i+1:], nil
		}
		if b > 10 {
			return nil, nil, fmt.Errorf("digit %#x in a key", b)
		}
		digits = append(digits, b-1+'0')
	}
	return nil, nil, errShort
}

func formatDecimal(negative bool, exponent int, digits []byte, scale int) []byte {
	var out []byte
	if negative {
		out = append(out, '-')
	}
	at := func(i int) byte { // the digit whose place is i before the point (i <= 0: behind it)
		if p := exponent - i; p >= 0 && p < len(digits) {
			return digits[p]
		}
		return '0'
	}
	if exponent <= 0 {
		out = append(out, '0')
	}
	for i := exponent; i > 0; i-- {
		out = append(out, at(i))
	}
	if scale > 0 || len(digits) > max(exponent, 0) {
		out = append(out, '.')
		for i := 0; i < max(scale, len(digits)-exponent); i++ {
			out = append(out, at(-i))
		}
	}
	return out
}
