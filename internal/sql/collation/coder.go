package collation

import "slices"

// coder writes primary weights in one to three bytes, none of them 0x00, so that the order of the bytes is that of the weights and
// no weight's bytes begin another's. The weights of printable ASCII characters take one byte each; the weights between two of
// them share first bytes, each of which stands for 255 weights with a second byte, or for all that remain with two more.
//
// The bytes are stored in indexes: what they are follows from the table alone, and must stay (TestStoredFormat).
type coder struct {
	// first and last weight of each first byte, and how many bytes follow it.
	ranges []codeRange
	fast   [0x10000 >> 8]uint8 // of the weights with this high byte: the first range that can hold them
}

type codeRange struct {
	low, high uint16
	lead      byte
	follow    uint8
}

const (
	separator = 0x01 // between the levels of a key
	firstLead = 0x02
	leads     = 0x100 - firstLead
	trails    = 0xff // values of a byte that is not 0x00
)

// newCoder is deterministic: stored keys depend on it.
func newCoder(t *table) *coder {
	var singles []uint16
	for r := rune(' '); r < 0x7f; r++ {
		if es := t.elements(r); len(es) > 0 && es[0].primary() != 0 {
			singles = append(singles, es[0].primary())
		}
	}
	slices.Sort(singles)
	singles = slices.Compact(singles)
	c := &coder{}
	lead := firstLead
	add := func(low, high, follow int) {
		c.ranges = append(c.ranges, codeRange{uint16(low), uint16(high), byte(lead), uint8(follow)})
		lead++
	}
	low := 1
	for i := 0; i <= len(singles); i++ {
		high := 0xffff
		if i < len(singles) {
			high = int(singles[i]) - 1
		}
		reserved := 3 * (len(singles) - i) // the singles from here on, and two first bytes for each gap after them
		for low <= high {
			if left := leads - (lead - firstLead) - reserved; left <= 1 && high-low >= trails {
				add(low, high, 2)
				low = high + 1
				break
			}
			end := min(low+trails-1, high)
			add(low, end, 1)
			low = end + 1
		}
		if i < len(singles) {
			add(low, low, 0)
			low++
		}
	}
	for i := range c.fast {
		c.fast[i] = uint8(slices.IndexFunc(c.ranges, func(r codeRange) bool { return r.high >= uint16(max(i<<8, 1)) }))
	}
	return c
}

func (c *coder) append(dst []byte, weight uint16) []byte {
	i := int(c.fast[weight>>8])
	for c.ranges[i].high < weight {
		i++
	}
	r := &c.ranges[i]
	n := int(weight - r.low)
	switch r.follow {
	case 0:
		return append(dst, r.lead)
	case 1:
		return append(dst, r.lead, byte(n+1))
	}
	return append(dst, r.lead, byte(n/trails+1), byte(n%trails+1))
}

// appendSmall writes a secondary or tertiary weight: one byte up to 0xdf, else two.
func appendSmall(dst []byte, weight uint16) []byte {
	const wide = 0xe0
	if weight < wide {
		return append(dst, byte(weight+firstLead))
	}
	n := int(weight) - wide
	return append(dst, byte(wide+firstLead+n/trails), byte(n%trails+1))
}
