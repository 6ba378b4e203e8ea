package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/document"
)

// Kind says how a value is held and in which way it is compared and calculated with. Several SQL types share one.
type Kind uint8

const (
	KindNull     Kind = iota
	KindInt           // signed integers and truth values
	KindUint          // unsigned integers, YEAR
	KindFloat         // DOUBLE, FLOAT
	KindDecimal       // exact decimals
	KindText          // text in UTF-8, with a collation given by the type
	KindBytes         // binary strings
	KindBit           // BIT, hexadecimal and bit literals: a binary string that is a number in numeric context
	KindDate          // a packed date, see package temporal
	KindDatetime      // DATETIME and TIMESTAMP, packed
	KindTime          // TIME, packed
	KindEnum          // ENUM: a text in text context, its number in numeric context
	KindSet           // SET: likewise
	KindJSON          // a JSON document
	KindOther         // what only the host understands: geometries, vectors
)

// Value is an SQL value. The zero Value is NULL. Values are immutable (X1).
type Value struct {
	kind  Kind
	scale uint8  // KindDate..KindTime: digits of the fraction; KindFloat: 4 if it was a FLOAT, of single precision; texts: the TextSource
	n     uint64 // integers, the bits of floats, packed dates and times, the numbers of bits, enums and sets
	s     string // text, bytes; of bits, enums and sets what they are as text; of a document that has not been read its text
	x     any    // *apd.Decimal, *document.Doc, other; of a text the *Value that it was made of, see madeOf
}

// Null is the SQL NULL.
var Null Value

// True and False are MySQL's: 1 and 0.
var (
	True  = Int(1)
	False = Int(0)
)

// Int is a signed integer.
func Int(n int64) Value { return Value{kind: KindInt, n: uint64(n)} }

// Uint is an unsigned integer.
func Uint(n uint64) Value { return Value{kind: KindUint, n: n} }

// ofColumn marks a KindUint that a column of type YEAR holds.
const ofColumn = 1

// Year is the value of a YEAR column: it is written with four digits, and is the first day of the year where a date is wanted. What a function
// gives as a YEAR is a number (Uint).
func Year(n uint64) Value { return Value{kind: KindUint, n: n, scale: ofColumn} }

// IsYear reports whether it is the value of a YEAR column.
func (v Value) IsYear() bool { return v.kind == KindUint && v.scale == ofColumn }

// Bool is 1 or 0.
func Bool(b bool) Value {
	if b {
		return True
	}
	return False
}

// Float is a DOUBLE. An infinity or NaN is no SQL value: callers report overflow instead.
func Float(f float64) Value { return Value{kind: KindFloat, n: math.Float64bits(f)} }

// Single is a FLOAT: it is printed with the digits of single precision.
func Single(f float32) Value {
	return Value{kind: KindFloat, n: math.Float64bits(float64(f)), scale: 4}
}

// Decimal is an exact decimal. The caller gives d away: nothing may change it any more (X1).
func Decimal(d *apd.Decimal) Value { return Value{kind: KindDecimal, x: d} }

// Text is text in UTF-8.
func Text(s string) Value { return Value{kind: KindText, s: s} }

// Bytes is a binary string.
func Bytes(s string) Value { return Value{kind: KindBytes, s: s} }

// TextSource says where a text comes from: MySQL warns accordingly when the text is made a number.
type TextSource uint8

// Sources of texts. As a DOUBLE or an integer a silent text gives no warning (1292) about what is no number. As a decimal a calculated or silent
// text that does not begin with a number gives 1366, a written one 1292 if any of it is no number, and a stored one both.
const (
	Calculated TextSource = iota // a function's result
	Silent                       // of a TEXT or BLOB column, of COALESCE, GREATEST, MAX and some others, of a subquery
	Written                      // a literal
	Stored                       // of a CHAR, VARCHAR, BINARY or VARBINARY column
)

// From is a text or binary string with where it comes from; other values stay as they are.
func (v Value) From(s TextSource) Value {
	if v.kind == KindText || v.kind == KindBytes {
		v.scale = uint8(s)
	}
	return v
}

// madeOf is a text with the value that it was made of: where a number, date or time is wanted that value counts, not the text. What IF, CASE, DATE_ADD,
// ADDTIME and the like give as texts are such.
func (v Value) madeOf(origin Value) Value {
	if (v.kind == KindText || v.kind == KindBytes) && origin.kind != v.kind && origin.kind != KindNull {
		v.x = &origin
	}
	return v
}

// origin is the value that a text was made of, or the value itself.
func (v Value) origin() Value {
	if v.kind == KindText || v.kind == KindBytes {
		if o, ok := v.x.(*Value); ok {
			return *o
		}
	}
	return v
}

// Detached is a text without the value that it was made of: what is read from a row that was put aside, of a derived table, a set operation or a group, is
// its text alone, whichever of several equal rows was kept.
func (v Value) Detached() Value {
	if v.kind == KindText || v.kind == KindBytes {
		v.x = nil
	}
	return v
}

// source is where a text comes from.
func (v Value) source() TextSource {
	if v.kind == KindText || v.kind == KindBytes {
		return TextSource(v.scale)
	}
	return Calculated
}

// Bit is a bit value or a hexadecimal or bit literal: s big endian, n its number (the lowest 64 bits).
func Bit(s string, n uint64) Value { return Value{kind: KindBit, s: s, n: n} }

// Enum is the nth element of an ENUM, counted from 1; 0 is the empty text that stands for an error.
func Enum(n uint64, s string) Value { return Value{kind: KindEnum, n: n, s: s} }

// Set is the value of a SET with its bits and its text.
func Set(bits uint64, s string) Value { return Value{kind: KindSet, n: bits, s: s} }

// Packed is a date, datetime or time (KindDate, KindDatetime, KindTime) as package temporal packs it, with the digits of
// its fraction.
func Packed(k Kind, n int64, fsp int) Value { return Value{kind: k, n: uint64(n), scale: uint8(fsp)} }

// JSON is a document.
func JSON(doc *document.Doc) Value { return Value{kind: KindJSON, x: doc} }

// StoredJSON is a document of which only the text is known, as Doc.Text writes it. It is read when it is needed.
func StoredJSON(text string) Value { return Value{kind: KindJSON, s: text} }

// Document is the document of a KindJSON; an error if it was stored as a text that is none.
func (v Value) Document() (*document.Doc, error) {
	if d, ok := v.x.(*document.Doc); ok {
		return d, nil
	}
	d, err := document.Parse(v.s)
	if err != nil {
		return nil, Errorf(3140, "22032", "Invalid JSON text: %q in a stored document.", err)
	}
	return d, nil
}

// DocumentSize is about how many bytes of memory a KindJSON takes.
func (v Value) DocumentSize() int {
	if d, ok := v.x.(*document.Doc); ok {
		return d.Size()
	}
	return 24 + len(v.s)
}

// Other is a value that only the host understands.
func Other(x any) Value { return Value{kind: KindOther, x: x} }

// Kind says how the value is held.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether it is NULL.
func (v Value) IsNull() bool { return v.kind == KindNull }

// RawInt is the integer of a KindInt, and the packed form of dates and times.
func (v Value) RawInt() int64 { return int64(v.n) }

// RawUint is the integer of a KindUint, the number of a KindBit, KindEnum or KindSet.
func (v Value) RawUint() uint64 { return v.n }

// RawFloat is the number of a KindFloat.
func (v Value) RawFloat() float64 { return math.Float64frombits(v.n) }

// IsSingle reports whether a KindFloat was a FLOAT.
func (v Value) IsSingle() bool { return v.kind == KindFloat && v.scale == 4 }

// RawDecimal is the number of a KindDecimal. It must not be changed (X1).
func (v Value) RawDecimal() *apd.Decimal { return v.x.(*apd.Decimal) }

// RawText is the text or the bytes of KindText, KindBytes, KindBit, KindEnum and KindSet.
func (v Value) RawText() string { return v.s }

// Fsp is how many digits the fraction of a date or time has.
func (v Value) Fsp() int { return int(v.scale) }

// Raw is what Other holds.
func (v Value) Raw() any { return v.x }
