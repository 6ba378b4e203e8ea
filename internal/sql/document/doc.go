// Package document holds JSON documents as MySQL has them: their values, text, order, paths and changes. It knows neither SQL types nor sessions.
//
//	DOC1  A Doc is immutable: what changes a document gives a new one, which may share parts with the old one.
//	DOC2  The members of an object are ordered as MySQL keeps them: shorter names first, equally long ones by their bytes; no name twice.
//	DOC3  The text of a Doc, parsed, is an equal Doc, but for the kinds that JSON does not have (decimals, times, binary strings).
package document

import (
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Kind is what a document is.
type Kind uint8

// Kinds. JSON itself has no Decimal, Date, Datetime, Time and Opaque: SQL values that become documents do.
const (
	Null Kind = iota
	Bool
	Int
	Uint
	Double
	Decimal
	String
	Array
	Object
	Date
	Datetime
	Time
	Opaque // a binary string
)

// Numbers of SQL types that an Opaque carries, as MySQL's protocol has them.
const (
	OpaqueVarbinary = 15
	OpaqueBit       = 16
	OpaqueBlob      = 252
	OpaqueBinary    = 254
)

// Doc is a JSON document, or a part of one.
type Doc struct {
	kind    Kind
	n       uint64 // Bool, Int, Uint; the bits of a Double; packed dates and times; the number of an Opaque's type
	s       string // String; the bytes of an Opaque
	d       *apd.Decimal
	list    []*Doc
	members []Member
}

// Member is a part of an object.
type Member struct {
	Name string
	Doc  *Doc
}

var (
	null     = &Doc{kind: Null}
	yes      = &Doc{kind: Bool, n: 1}
	no       = &Doc{kind: Bool}
	emptyObj = &Doc{kind: Object}
)

// NewNull is the document null.
func NewNull() *Doc { return null }

// NewBool is true or false.
func NewBool(b bool) *Doc {
	if b {
		return yes
	}
	return no
}

// NewInt is a whole number.
func NewInt(n int64) *Doc { return &Doc{kind: Int, n: uint64(n)} }

// NewUint is a whole number of an unsigned type.
func NewUint(n uint64) *Doc { return &Doc{kind: Uint, n: n} }

// NewDouble is a number; f is finite.
func NewDouble(f float64) *Doc { return &Doc{kind: Double, n: math.Float64bits(f)} }

// NewDecimal is an exact number. The caller gives d away.
func NewDecimal(d *apd.Decimal) *Doc { return &Doc{kind: Decimal, d: d} }

// NewString is a text.
func NewString(s string) *Doc { return &Doc{kind: String, s: s} }

// NewOpaque is a binary string of an SQL type.
func NewOpaque(bytes string, sqlType int) *Doc {
	return &Doc{kind: Opaque, s: bytes, n: uint64(sqlType)}
}

// NewTemporal is a date or a time, packed as package temporal has it. kind is Date, Datetime or Time.
func NewTemporal(kind Kind, packed int64) *Doc { return &Doc{kind: kind, n: uint64(packed)} }

// NewArray is an array. The caller gives list away.
func NewArray(list []*Doc) *Doc { return &Doc{kind: Array, list: list} }

// NewObject is an object; of members with one name the last stays. The caller gives ms away.
func NewObject(ms []Member) *Doc {
	slices.SortStableFunc(ms, func(a, b Member) int { return compareNames(a.Name, b.Name) })
	out := ms[:0]
	for _, m := range ms {
		if n := len(out); n > 0 && out[n-1].Name == m.Name {
			out[n-1] = m
			continue
		}
		out = append(out, m)
	}
	return &Doc{kind: Object, members: out}
}

func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// Kind says what it is.
func (d *Doc) Kind() Kind { return d.kind }

// Bits are those of a Bool (0 or 1), an Int, a Uint, a packed date or time.
func (d *Doc) Bits() uint64 { return d.n }

// Float is the number of a Double.
func (d *Doc) Float() float64 { return math.Float64frombits(d.n) }

// Exact is the number of a Decimal. It must not be changed.
func (d *Doc) Exact() *apd.Decimal { return d.d }

// Str is the text of a String and the bytes of an Opaque.
func (d *Doc) Str() string { return d.s }

// List are the elements of an array. They must not be changed.
func (d *Doc) List() []*Doc { return d.list }

// Members are those of an object. They must not be changed.
func (d *Doc) Members() []Member { return d.members }

// Len is how many elements or members it has; 1 for all that is neither array nor object.
func (d *Doc) Len() int {
	switch d.kind {
	case Array:
		return len(d.list)
	case Object:
		return len(d.members)
	}
	return 1
}

// Depth is 1 for scalars and for what is empty, and one more than that of the deepest part otherwise.
func (d *Doc) Depth() int {
	deepest := 0
	for _, e := range d.list {
		deepest = max(deepest, e.Depth())
	}
	for _, m := range d.members {
		deepest = max(deepest, m.Doc.Depth())
	}
	return deepest + 1
}

// Size is about how many bytes of memory it takes.
func (d *Doc) Size() int {
	n := 96 + len(d.s)
	for _, e := range d.list {
		n += 8 + e.Size()
	}
	for _, m := range d.members {
		n += 24 + len(m.Name) + m.Doc.Size()
	}
	return n
}

// TypeName is what JSON_TYPE says.
func (d *Doc) TypeName() string {
	switch d.kind {
	case Opaque:
		switch d.n {
		case OpaqueBit:
			return "BIT"
		case OpaqueVarbinary, OpaqueBlob, OpaqueBinary:
			return "BLOB"
		}
		return "OPAQUE"
	case Null:
		return "NULL"
	}
	return [...]string{Bool: "BOOLEAN", Int: "INTEGER", Uint: "UNSIGNED INTEGER", Double: "DOUBLE", Decimal: "DECIMAL", String: "STRING", Array: "ARRAY",
		Object: "OBJECT", Date: "DATE", Datetime: "DATETIME", Time: "TIME"}[d.kind]
}

// Member finds a member of an object; nil: it has none of the name, or is no object.
func (d *Doc) Member(name string) *Doc {
	i, ok := slices.BinarySearchFunc(d.members, name, func(m Member, name string) int { return compareNames(m.Name, name) })
	if !ok {
		return nil
	}
	return d.members[i].Doc
}

// rank orders documents of different kinds; numbers are of one rank.
func (d *Doc) rank() int {
	switch d.kind {
	case Null:
		return 0
	case Int, Uint, Double, Decimal:
		return 1
	case String:
		return 2
	case Object:
		return 3
	case Array:
		return 4
	case Bool:
		return 5
	case Date:
		return 6
	case Time:
		return 7
	case Datetime:
		return 8
	}
	return 9
}

// Compare orders two documents as the manual has it (Comparison and Ordering of JSON Values).
func Compare(a, b *Doc) int {
	if ra, rb := a.rank(), b.rank(); ra != rb {
		return ra - rb
	}
	switch a.kind {
	case Null:
		return 0
	case Int, Uint, Double, Decimal:
		return compareNumbers(a, b)
	case Bool:
		return int(a.n) - int(b.n)
	case Date, Datetime, Time:
		return order(int64(a.n), int64(b.n))
	case Array:
		for i := range min(len(a.list), len(b.list)) {
			if o := Compare(a.list[i], b.list[i]); o != 0 {
				return o
			}
		}
		return len(a.list) - len(b.list)
	case Object:
		if len(a.members) != len(b.members) {
			return len(a.members) - len(b.members)
		}
		for i, m := range a.members {
			if o := compareNames(m.Name, b.members[i].Name); o != 0 {
				return o
			}
			if o := Compare(m.Doc, b.members[i].Doc); o != 0 {
				return o
			}
		}
		return 0
	}
	return strings.Compare(a.s, b.s)
}

func order[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareNumbers(a, b *Doc) int {
	switch {
	case a.kind == Int && b.kind == Int:
		return order(int64(a.n), int64(b.n))
	case a.kind == Uint && b.kind == Uint:
		return order(a.n, b.n)
	case a.kind == Double && b.kind == Double:
		return order(a.Float(), b.Float())
	}
	return a.exact().Cmp(b.exact())
}

// exact is a number as a decimal without a limit of digits.
func (d *Doc) exact() *apd.Decimal {
	switch d.kind {
	case Int:
		return apd.New(int64(d.n), 0)
	case Uint:
		return number.FromUint64(d.n)
	case Decimal:
		return d.d
	}
	var out apd.Decimal
	if _, err := out.SetFloat64(d.Float()); err != nil {
		return new(apd.Decimal)
	}
	return &out
}

// Key is a text that is the same for two documents iff they are equal.
func (d *Doc) Key() string { return string(d.appendKey(nil)) }

func (d *Doc) appendKey(b []byte) []byte {
	b = append(b, byte('a'+d.rank()))
	switch d.kind {
	case Null:
	case Int, Uint, Double, Decimal:
		n := d.exact()
		if n.IsZero() {
			return append(b, "0,"...)
		}
		var r apd.Decimal
		r.Reduce(n)
		return append(r.Append(b, 'E'), ',')
	case Array:
		for _, e := range d.list {
			b = e.appendKey(b)
		}
		b = append(b, ']')
	case Object:
		for _, m := range d.members {
			b = m.Doc.appendKey(quote(b, m.Name))
		}
		b = append(b, '}')
	case String, Opaque:
		b = quote(b, d.s)
	default:
		b = append(apd.New(int64(d.n), 0).Append(b, 'f'), ',')
	}
	return b
}

func temporalText(d *Doc) []byte {
	switch d.kind {
	case Date:
		return temporal.AppendDate(nil, temporal.DateTime(d.n))
	case Datetime:
		return temporal.AppendDateTime(nil, temporal.DateTime(d.n), 6)
	}
	return temporal.AppendTime(nil, temporal.Duration(d.n), 6)
}
