package exec

import (
	"encoding/binary"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// exactKey is a key of values that is the same only if they are the same in each respect, and not only equal: 'a' is not 'A', 1.0 not
// 1.00. What was calculated from the values holds as long as the key is the same.
type exactKey struct {
	bytes []byte
	ok    bool // all values have such keys: not documents, nor what only the host understands
}

func (k *exactKey) reset() { k.bytes, k.ok = k.bytes[:0], true }

func (k *exactKey) add(v expr.Value) {
	b := append(k.bytes, byte(v.Kind()))
	switch v.Kind() {
	case expr.KindNull:
	case expr.KindText, expr.KindBytes:
		b = append(binary.AppendUvarint(b, uint64(len(v.RawText()))), v.RawText()...)
	case expr.KindBit, expr.KindEnum, expr.KindSet:
		b = binary.AppendUvarint(binary.AppendUvarint(b, v.RawUint()), uint64(len(v.RawText())))
		b = append(b, v.RawText()...)
	case expr.KindDecimal:
		s := v.RawDecimal().Text('f')
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	case expr.KindJSON, expr.KindOther:
		k.ok = false
	default:
		b = binary.BigEndian.AppendUint64(append(b, byte(v.Fsp())), v.RawUint())
	}
	k.bytes = b
}
