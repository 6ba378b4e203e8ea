// Package collation is the order of texts: MySQL 8's collations, and what follows from them (equality, sort keys, LIKE, search,
// letter case, and which collation an expression has).
//
//	O1  Compare is a total preorder: reflexive, transitive, and a sign for every pair of texts.
//	O2  AppendKey agrees with it: the sign of bytes.Compare(key(a), key(b)) is Compare(a, b), so two keys are the same bytes iff
//	    the texts are equal under the collation. Keys are stored in indexes: a change of what they hold is a change of the
//	    stored format (package sql/catalog, its version).
//	O3  A key of a collation that is not Bytewise holds no byte 0x00, so 0x00 can end it.
//	O4  AppendPrefix(p) begins the key of every text that begins with p, so a span of keys has all texts that match LIKE 'p%'.
//	O5  What is not known is refused: ByName and ByID give an error for a collation of MySQL whose weights are not here.
//
// Texts are UTF-8 in memory whatever their character set is (latin1 is a property of columns and connections). Bytes that are
// not UTF-8 have the weight 0xffff one by one, as in MySQL, so that O1 and O2 hold for any bytes.
//
// The weights are Unicode's: DUCET 9.0.0 for the *_0900_* collations, 4.0.0 for *_unicode_ci and the older languages, 5.2.0 for
// *_unicode_520_ci (https://www.unicode.org/Public/UCA/; terms: https://www.unicode.org/license.txt). As in MySQL, contractions
// of DUCET are not used, only those of languages; Hangul syllables are taken apart in 9.0.0 alone; *_general_ci knows the BMP and
// takes every other character for U+FFFD. Command weightgen makes weights.bin.
package collation

import (
	"fmt"
	"slices"
	"strings"
)

// Collation is an order of texts. Values are made by this package alone, one for each collation, so pointers can be compared.
type Collation struct {
	// ID is MySQL's number, as the protocol sends it.
	ID      uint16
	Name    string
	Charset *Charset
	// Default says that the character set has this collation if none is named.
	Default bool
	// NoPad says that spaces at the end of a text count. In the other collations texts are compared as if the shorter one were
	// filled with spaces.
	NoPad bool
	// SortLength is what information_schema.COLLATIONS shows; nothing here depends on it.
	SortLength int

	kind   kind
	levels int    // of weights that are compared
	table  string // the section of weights.bin
	unit   func() *weigher
}

type kind uint8

const (
	refused  kind = iota
	bytewise      // binary, utf8mb4_0900_bin: bytes, nothing else
	codewise      // *_bin of Unicode sets: bytes, filled with spaces
	weighed
)

// Charset is a character set.
type Charset struct {
	Name string
	// MaxLen is how many bytes a character can take.
	MaxLen int
	// Description is what SHOW CHARACTER SET says.
	Description string
}

var charsets = map[string]*Charset{}

// CharsetByName finds a character set. The name utf8 is that of utf8mb3, as in MySQL 8.0. The error says that it is not known.
func CharsetByName(name string) (*Charset, error) {
	n := strings.ToLower(name)
	if n == "utf8" {
		n = "utf8mb3"
	}
	if c := charsets[n]; c != nil {
		return c, nil
	}
	return nil, &UnknownError{What: "character set", Name: name}
}

// DefaultCollation is the collation of the set's texts if none is named.
func (c *Charset) DefaultCollation() *Collation {
	for _, x := range all {
		if x.Charset == c && x.Default {
			return x
		}
	}
	return nil
}

// Unicode says whether texts of the set can hold any character of the Basic Multilingual Plane.
func (c *Charset) Unicode() bool { return strings.HasPrefix(c.Name, "utf8") }

// UnknownError says that MySQL has no such collation or character set (MySQL: 1273, 1115).
type UnknownError struct{ What, Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("Unknown %s: '%s'", e.What, e.Name) }

// RefusedError says that MySQL has the collation and this version does not (O5).
type RefusedError struct{ Name string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("collation '%s' is not supported: its weights are not part of this version", e.Name)
}

// ByName finds a collation by its name, in any letter case; utf8_* are the names of utf8mb3_* before MySQL 8.0.30.
func ByName(name string) (*Collation, error) {
	n := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(n, "utf8_"); ok {
		n = "utf8mb3_" + rest
	}
	c := byName[n]
	set, _, _ := strings.Cut(n, "_")
	switch {
	case c == nil && slices.Contains(strings.Fields(otherCharsets), set):
		return nil, &RefusedError{Name: n}
	case c == nil:
		return nil, &UnknownError{What: "collation", Name: name}
	case c.kind == refused:
		return nil, &RefusedError{Name: c.Name}
	}
	return c, nil
}

// otherCharsets are the character sets that MySQL has beside those that are known here.
const otherCharsets = "armscii8 big5 cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 cp932 dec8 eucjpms euckr gb18030 gb2312 gbk geostd8 greek" +
	" hebrew hp8 keybcs2 koi8r koi8u latin2 latin5 latin7 macce macroman sjis swe7 tis620 ucs2 ujis utf16 utf16le utf32"

// ByID finds a collation by MySQL's number.
func ByID(id uint16) (*Collation, error) {
	c := byID[id]
	switch {
	case c == nil:
		return nil, &UnknownError{What: "collation", Name: fmt.Sprint(id)}
	case c.kind == refused:
		return nil, &RefusedError{Name: c.Name}
	}
	return c, nil
}

// All lists the collations of the character sets that are known here, by number, with those that are refused.
func All() []*Collation { return all }

// Must is ByName for names that are known to be right; it panics for others.
func Must(name string) *Collation {
	c, err := ByName(name)
	if err != nil {
		panic(err)
	}
	return c
}

// String implements fmt.Stringer.
func (c *Collation) String() string { return c.Name }

// Supported says whether ByName gives the collation.
func (c *Collation) Supported() bool { return c.kind != refused }

// Bytewise says that the order is that of the bytes, spaces at the end counted: a key is the text itself.
func (c *Collation) Bytewise() bool { return c.kind == bytewise }

// Binary says whether two texts are equal only if they are the same characters (*_bin and binary).
func (c *Collation) Binary() bool { return c.Name == "binary" || strings.HasSuffix(c.Name, "_bin") }

// CaseSensitive says whether letters differ by their case.
func (c *Collation) CaseSensitive() bool { return !strings.HasSuffix(c.Name, "_ci") }

// AccentSensitive says whether letters differ by their accents at the outermost level that the collation looks at.
func (c *Collation) AccentSensitive() bool {
	return c.Binary() || strings.Contains(c.Name, "_as_") || strings.HasSuffix(c.Name, "_cs")
}

// PadAttribute is what information_schema shows.
func (c *Collation) PadAttribute() string {
	if c.NoPad {
		return "NO PAD"
	}
	return "PAD SPACE"
}

// Contracts says whether several characters can weigh as one, as the Czech "ch" does.
func (c *Collation) Contracts() bool { return c.kind == weighed && !c.unit().simple }
