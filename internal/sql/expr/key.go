package expr

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// Key makes keys of the values of one type: bytes that are the same for two values iff GROUP BY, DISTINCT and UNION take them for
// one. NULL is equal to NULL here. No key is the beginning of another one of the same type, so that keys of several columns can be
// joined into one.
type Key struct {
	kind Kind
	coll *collation.Collation
}

// KeyOf makes the keys of a type; 1273 if its collation is not known here, 1235 if its values cannot be compared.
func KeyOf(t Type) (Key, error) {
	k := Key{kind: t.Kind()}
	switch k.kind {
	case KindText:
		c, err := knownCollation(t.Collation)
		if err != nil {
			return k, err
		}
		k.coll = c
	case KindOther:
		return k, Errorf(1235, "42000", "This version of Longitude doesn't yet compare values of this type")
	}
	return k, nil
}

// First bytes of a key.
const (
	keyNull = iota
	keyValue
)

// Append appends the key of a value. The error is one of the host's, about a JSON document.
func (k Key) Append(dst []byte, v Value) ([]byte, error) {
	if v.kind == KindNull {
		return append(dst, keyNull), nil
	}
	dst = append(dst, keyValue)
	switch v.kind {
	case KindText:
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		if k.coll != nil {
			dst = k.coll.AppendKey(dst, v.s)
		} else {
			dst = append(dst, v.s...)
		}
		return framed(dst, at), nil
	case KindBytes:
		return appendFramed(dst, v.s), nil
	case KindBit:
		return appendFramed(dst, strings.TrimLeft(v.s, "\x00")), nil
	case KindFloat:
		f := v.RawFloat()
		if f == 0 {
			f = 0 // the two zeros are one number
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(f)), nil
	case KindDecimal:
		at := len(dst)
		return framed(appendDecimalKey(append(dst, 0, 0, 0, 0), v.RawDecimal()), at), nil
	case KindJSON:
		s, err := jsonKey(v)
		return appendFramed(dst, s), err
	}
	return binary.BigEndian.AppendUint64(dst, v.n), nil
}

// framed writes, at a place left free for it, how long what follows is.
func framed(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

func appendFramed(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// appendDecimalKey appends bytes that are the same for two decimals iff they are the same number, however many zeros they end with.
func appendDecimalKey(dst []byte, d *apd.Decimal) []byte {
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

// jsonKey is a document's text in which each number is written in one way, since 1 and 1.0 are equal documents.
func jsonKey(v Value) (string, error) {
	s, err := jsonToText(nil, v)
	if err != nil || !strings.ContainsAny(s, ".eE") { // whole numbers are written in one way only
		return s, err
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		from := i
		switch c := s[i]; {
		case c == '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(s))
			b.WriteString(s[from:i])
		case c == '-' || c >= '0' && c <= '9':
			for i < len(s) && strings.IndexByte("+-.0123456789eE", s[i]) >= 0 {
				i++
			}
			d, _, err := apd.NewFromString(s[from:i])
			if err != nil {
				b.WriteString(s[from:i])
				continue
			}
			var r apd.Decimal
			r.Reduce(d)
			if r.IsZero() {
				b.WriteByte('0')
				continue
			}
			b.WriteString(r.Text('f'))
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), nil
}
