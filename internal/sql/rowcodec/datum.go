// Package rowcodec encodes rows: columns into ordered keys, and rows into values.
//
//	C1  Key order is value order: for two values a, b of one column, bytes.Compare(key(a), key(b)) is the order of SQL,
//	    with NULL before everything and, for text, in the column's collation.
//	C2  No key encoding is a prefix of another one of the same column, so columns can be put one behind the other, and
//	    the span of all keys that begin with given values is [prefix, PrefixEnd(prefix)).
//	C3  A key can be decoded, except where a collation folds different texts into one key: those originals are kept in
//	    the value beside it.
//	C4  A value names each column by its id and carries the length of each: columns can be added and dropped without
//	    rewriting rows, and a reader skips what it does not know.
//	C5  Values are never empty: the first byte is the format.
//	C6  Decoders take any bytes and return an error for what they cannot read; they never panic.
//
// The package knows nothing of SQL types: the adapter above it says which kind a column is of and how its texts sort.
package rowcodec

import (
	"bytes"
	"cmp"
	"fmt"
)

// Kind is how a column's values are represented here.
type Kind uint8

// The kinds. Int and Uint share one key order.
const (
	Null    Kind = iota
	Int          // I
	Uint         // U
	Float        // F
	Decimal      // B: as text, like -12.50
	Bytes        // B
	Text         // B, ordered by the column's collation
)

func (k Kind) String() string {
	return [...]string{"null", "int", "uint", "float", "decimal", "bytes", "text"}[k]
}

// Datum is one value. Its kind is the column's, or Null.
type Datum struct {
	Kind Kind
	I    int64
	U    uint64
	F    float64
	B    []byte
}

// IsNull reports whether the value is NULL.
func (d Datum) IsNull() bool { return d.Kind == Null }

func (d Datum) String() string {
	switch d.Kind {
	case Null:
		return "NULL"
	case Int:
		return fmt.Sprint(d.I)
	case Uint:
		return fmt.Sprint(d.U)
	case Float:
		return fmt.Sprint(d.F)
	case Decimal:
		return string(d.B)
	}
	return fmt.Sprintf("%q", d.B)
}

// Column is what the codec has to know of a column.
type Column struct {
	ID   uint32
	Kind Kind
	// Scale is the number of digits after the point of a Decimal column.
	Scale int
	// SortKey appends bytes that sort as the text does in the column's collation, none of them 0x00. Nil: a Text column sorts as
	// its bytes do.
	SortKey func(dst, text []byte) []byte
	// Prefix, if not 0, says that only so many characters (bytes, for Bytes) of the value are in the key.
	Prefix int
	// Cuts says that SortKey itself leaves out what is not in the key.
	Cuts bool
	// Fill is the value of this column in rows that were written before it existed.
	Fill Datum
}

// Lossy reports whether a key does not give back the column's value (C3).
func (c *Column) Lossy() bool { return c.Kind == Text && c.SortKey != nil || c.Prefix > 0 }

// Equal reports whether two values of one column are the same value, byte for byte.
func Equal(a, b Datum) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Null:
		return true
	case Int:
		return a.I == b.I
	case Uint:
		return a.U == b.U
	case Float:
		return cmp.Compare(a.F, b.F) == 0
	}
	return bytes.Equal(a.B, b.B)
}
