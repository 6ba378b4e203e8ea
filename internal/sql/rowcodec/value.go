package rowcodec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// valueFormat is the first byte of every value (C5).
const valueFormat = 0x01

// How a column is stored; in the low bits of its tag, above it the id.
const (
	wireNull   = 0 // only where the column's fill is not NULL
	wireVarint = 1 // zigzag
	wireUvar   = 2
	wireFixed  = 3 // 8 bytes
	wireBytes  = 4
)

var errValue = errors.New("row value ends early")

// BeginValue starts the value of a row.
func BeginValue(dst []byte) []byte { return append(dst, valueFormat) }

// AppendValue appends one column of a row. NULLs are left out, unless a reader would take the gap for the fill.
func AppendValue(dst []byte, c *Column, d Datum) []byte {
	tag := func(wire uint64) { dst = binary.AppendUvarint(dst, uint64(c.ID)<<3|wire) }
	switch d.Kind {
	case Null:
		if c.Fill.Kind != Null {
			tag(wireNull)
		}
	case Int:
		tag(wireVarint)
		dst = binary.AppendVarint(dst, d.I)
	case Uint:
		tag(wireUvar)
		dst = binary.AppendUvarint(dst, d.U)
	case Float:
		tag(wireFixed)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(d.F))
	default:
		tag(wireBytes)
		dst = binary.AppendUvarint(dst, uint64(len(d.B)))
		dst = append(dst, d.B...)
	}
	return dst
}

// Reader takes the columns of a value one by one.
type Reader struct{ rest []byte }

// ReadValue begins to read a value.
func ReadValue(v []byte) (Reader, error) {
	if len(v) == 0 || v[0] != valueFormat {
		return Reader{}, fmt.Errorf("row value of unknown format %.1x", v)
	}
	return Reader{v[1:]}, nil
}

// Next returns the next column's id and its value; ok is false at the end. Decimals and texts come as Bytes: the wire
// does not tell them apart, the column does (Datum.As).
func (r *Reader) Next() (id uint32, d Datum, ok bool, err error) {
	id, wire, ok, err := r.Field()
	if !ok {
		return 0, Datum{}, false, err
	}
	d, err = r.content(id, wire)
	return id, d, err == nil, err
}

// content reads what is stored of a column.
func (r *Reader) content(id uint32, wire uint8) (d Datum, err error) {
	switch wire {
	case wireNull:
	case wireVarint:
		v, n := binary.Varint(r.rest)
		if n <= 0 {
			return d, errValue
		}
		r.rest, d = r.rest[n:], Datum{Kind: Int, I: v}
	case wireUvar:
		v, n := binary.Uvarint(r.rest)
		if n <= 0 {
			return d, errValue
		}
		r.rest, d = r.rest[n:], Datum{Kind: Uint, U: v}
	case wireFixed:
		if len(r.rest) < 8 {
			return d, errValue
		}
		d = Datum{Kind: Float, F: math.Float64frombits(binary.LittleEndian.Uint64(r.rest))}
		r.rest = r.rest[8:]
	case wireBytes:
		l, n := binary.Uvarint(r.rest)
		if n <= 0 || l > uint64(len(r.rest)-n) {
			return d, errValue
		}
		d = Datum{Kind: Bytes, B: r.rest[n : n+int(l) : n+int(l)]}
		r.rest = r.rest[n+int(l):]
	default:
		return d, fmt.Errorf("column %d is stored in the unknown way %d", id, wire)
	}
	return d, nil
}

// Field begins the next column: its id, and how it is stored. Take or Skip has to follow. ok is false at the end.
func (r *Reader) Field() (id uint32, wire uint8, ok bool, err error) {
	if len(r.rest) == 0 {
		return 0, 0, false, nil
	}
	if tag := r.rest[0]; tag < 0x80 { // as nearly all are
		r.rest = r.rest[1:]
		return uint32(tag >> 3), tag & 7, true, nil
	}
	tag, n := binary.Uvarint(r.rest)
	if n <= 0 || tag>>3 > math.MaxUint32 {
		return 0, 0, false, errValue
	}
	r.rest = r.rest[n:]
	return uint32(tag >> 3), uint8(tag & 7), true, nil
}

// Take reads the column that Field has begun as a value of the column's kind. It is Next and As for who reads many rows: a
// datum is a large thing to be passed around.
func (r *Reader) Take(wire uint8, c *Column, into *Datum) error {
	if wire == wireBytes && c.Kind >= Decimal {
		l, n := binary.Uvarint(r.rest)
		if n <= 0 || l > uint64(len(r.rest)-n) {
			return errValue
		}
		into.Kind, into.B = c.Kind, r.rest[n:n+int(l):n+int(l)]
		r.rest = r.rest[n+int(l):]
		return nil
	}
	d, err := r.content(c.ID, wire)
	if err == nil {
		*into, err = d.As(c)
	}
	return err
}

// Skip passes over the column that Field has begun.
func (r *Reader) Skip(id uint32, wire uint8) error {
	_, err := r.content(id, wire)
	return err
}

// As is the datum as a value of the column's kind.
func (d Datum) As(c *Column) (Datum, error) {
	switch {
	case d.Kind == Null || d.Kind == c.Kind:
		return d, nil
	case d.Kind == Bytes && (c.Kind == Decimal || c.Kind == Text):
		d.Kind = c.Kind
		return d, nil
	case d.Kind == Int && c.Kind == Uint && d.I >= 0:
		return Datum{Kind: Uint, U: uint64(d.I)}, nil
	case d.Kind == Uint && c.Kind == Int && d.U <= math.MaxInt64:
		return Datum{Kind: Int, I: int64(d.U)}, nil
	}
	return Datum{}, fmt.Errorf("column %d of kind %s is stored as %s", c.ID, c.Kind, d.Kind)
}
