package expr

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// Keys makes the keys by which GROUP BY, DISTINCT, set operations and aggregates with DISTINCT tell rows apart: two rows have the same
// key iff SQL takes their values for equal. NULL equals NULL; texts are equal under the collation of their column; numbers are equal by
// value (1.0 and 1.00, 0 and -0); an ENUM or a SET is equal by its number.
type Keys struct {
	columns []*collation.Collation // nil: the column holds no texts, or texts that are compared by their bytes
}

// NewKeys makes the keys of rows whose columns have these types; error 1273 if a collation is not known.
func NewKeys(ts []Type) (*Keys, error) {
	k := &Keys{columns: make([]*collation.Collation, len(ts))}
	for i, t := range ts {
		if t.Kind() != KindText {
			continue
		}
		c, err := knownCollation(t.Collation)
		if err != nil {
			return nil, err
		}
		if !c.Bytewise() {
			k.columns[i] = c
		}
	}
	return k, nil
}

// AppendRow appends the key of a row to dst. The key of a row is no prefix of another row's.
func (k *Keys) AppendRow(dst []byte, env *Env, row []Value) ([]byte, error) {
	for i, v := range row {
		var err error
		if dst, err = k.Append(dst, env, i, v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Tags begin the key of a value.
const (
	keyNull byte = iota
	keyNegative
	keyInteger
	keyFloat
	keyDecimal
	keyText
	keyPacked
	keyNumbered
)

// Append appends the key of the value of one column to dst.
func (k *Keys) Append(dst []byte, env *Env, column int, v Value) ([]byte, error) {
	switch v.kind {
	case KindNull:
		return append(dst, keyNull), nil
	case KindInt:
		if int64(v.n) < 0 {
			return appendNumber(dst, keyNegative, v.n), nil
		}
		return appendNumber(dst, keyInteger, v.n), nil
	case KindUint:
		return appendNumber(dst, keyInteger, v.n), nil
	case KindFloat:
		f := v.RawFloat()
		if f == 0 {
			f = 0 // -0
		}
		return appendNumber(dst, keyFloat, math.Float64bits(f)), nil
	case KindDecimal:
		return appendDecimal(append(dst, keyDecimal), v.Shown()), nil
	case KindDate, KindDatetime, KindTime:
		return appendNumber(dst, keyPacked, v.n), nil
	case KindEnum, KindSet:
		return appendNumber(dst, keyNumbered, v.n), nil
	case KindText:
		if c := k.columns[column]; c != nil {
			return appendWeights(dst, c, v.s), nil
		}
		return appendText(dst, v.s), nil
	case KindBytes, KindBit:
		return appendText(dst, v.s), nil
	case KindJSON:
		d, err := v.Document()
		if err != nil {
			return dst, err
		}
		return appendText(dst, d.Key()), nil
	}
	return dst, Errorf(1235, "42000", "This version of Longitude doesn't yet group values of this type")
}

func appendNumber(dst []byte, tag byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, tag), n)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(append(dst, keyText), uint64(len(s))), s...)
}

// appendWeights appends the sort key of a text, after its length: in four bytes, since the length is known only behind the key.
func appendWeights(dst []byte, c *collation.Collation, s string) []byte {
	dst = append(dst, keyText, 0, 0, 0, 0)
	at := len(dst)
	dst = c.AppendKey(dst, s)
	binary.BigEndian.PutUint32(dst[at-4:], uint32(len(dst)-at))
	return dst
}

// appendDecimal appends bytes that are the same for two decimals iff they are the same number, however many zeros they end with.
func appendDecimal(dst []byte, d *apd.Decimal) []byte {
	if d.IsZero() {
		return append(dst, 0)
	}
	var r apd.Decimal
	if !d.Coeff.IsUint64() {
		r.Reduce(d)
		d = &r
	}
	sign := byte(1)
	if d.Negative {
		sign = 2
	}
	if !d.Coeff.IsUint64() {
		return d.Append(append(dst, sign, 1), 'E')
	}
	n, e := d.Coeff.Uint64(), d.Exponent
	for n%10 == 0 {
		n, e = n/10, e+1
	}
	dst = binary.BigEndian.AppendUint64(append(dst, sign, 0), n)
	return binary.BigEndian.AppendUint32(dst, uint32(e))
}
