package rowcodec

// Texts of a collation are the weights of their characters, each in 1 to 5 bytes whose first says how many follow, so
// that byte order is number order; 0x00 ends the text and sorts before every weight.

// EndWeights appends the end of a text.
func EndWeights(dst []byte) []byte { return append(dst, 0x00) }

// AppendWeight appends the weight of one character.
func AppendWeight(dst []byte, weight int32) []byte {
	w := uint32(weight) ^ 1<<31 // negative weights sort first
	if w >= 1<<31 {
		w -= 1 << 31 // the common case: weights >= 0 from the first byte 0x08 on
	} else {
		return append(dst, 0x01, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	switch {
	case w < 0xe0:
		return append(dst, byte(0x08+w))
	case w < 0xe0+0x1000:
		w -= 0xe0
		return append(dst, byte(0xe8+w>>8), byte(w))
	}
	return append(dst, 0xf8, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
}
