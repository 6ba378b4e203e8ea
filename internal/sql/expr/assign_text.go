package expr

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// assignText: CHAR and VARCHAR have a length in characters, TEXT one in bytes. CHAR loses spaces at its end.
func assignText(env *Env, v Value, to *Target) (Value, error) {
	s, fits, err := textFor(env, v, to)
	if err != nil {
		return Null, err
	}
	if !utf8.ValidString(s) {
		at := 0
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			at += n
		}
		if err := incorrect(env, "string", printable(s[at:]), to); err != nil {
			return Null, err
		}
		s = s[:at]
	}
	cut := s
	switch limit := to.Type.Length; {
	case limit < 0:
	case to.Type.Name == TextType:
		cut = firstBytes(s, limit)
	default:
		cut = firstChars(s, limit)
	}
	switch lost := s[len(cut):]; {
	case !fits || strings.Trim(lost, " ") != "":
		if err := tooLong(env, to); err != nil {
			return Null, err
		}
	case lost != "" && to.Type.Name != Char:
		noted(env, to)
	}
	if to.Type.Name == Char {
		cut = strings.TrimRight(cut, " ")
	}
	return Text(cut), nil
}

// textFor is a value as the text that is assigned; fits is false if a DOUBLE could not be shortened to the column's length.
func textFor(env *Env, v Value, to *Target) (s string, fits bool, err error) {
	if v.Kind() == KindFloat && !v.IsSingle() && v.scale == 0 && to.Type.Length >= 0 {
		s, fits = number.FormatWidth(v.RawFloat(), to.Type.Length)
		return s, fits, nil
	}
	s, err = ToText(env, v)
	return s, true, err
}

// printable is how MySQL names bytes that are no text in errors: \xFF, at most six of them.
func printable(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		if i == 6 {
			return b.String() + "..."
		}
		if c >= 0x20 && c < 0x7f {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\x%02X", c)
		}
	}
	return b.String()
}

// firstBytes is the beginning of a text with at most n bytes, and no part of a character at its end.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// padded is the content of a BINARY filled up with zero bytes; of other types it is as it is.
func padded(s string, t Type) string {
	if t.Name == Binary && len(s) < t.Length {
		return s + strings.Repeat("\x00", t.Length-len(s))
	}
	return s
}

func assignBytes(env *Env, v Value, to *Target) (Value, error) {
	s, err := ToText(env, v)
	if err != nil {
		return Null, err
	}
	if limit := to.Type.Length; limit >= 0 && len(s) > limit {
		if err := tooLong(env, to); err != nil {
			return Null, err
		}
		s = s[:limit]
	}
	return Bytes(padded(s, to.Type)), nil
}

// elementOf finds a text among the elements of an ENUM or SET, under the column's collation; 0: it is none.
func elementOf(t Type, s string) int {
	for i, e := range t.Elements {
		if e == s {
			return i + 1
		}
	}
	for i, e := range t.Elements {
		if compareText(t.Collation, e, s) == 0 {
			return i + 1
		}
	}
	return 0
}

// isElementText reports whether a value is assigned to an ENUM or SET by its text rather than by its number.
func isElementText(v Value) bool {
	switch v.Kind() {
	case KindInt, KindUint, KindFloat, KindDecimal:
		return false
	}
	return true
}

// elementNumber is a number as the index of an element or the bits of a set; digits behind the point are cut, also those of decimals.
func elementNumber(env *Env, v Value) (uint64, error) {
	if v.Kind() == KindInt || v.Kind() == KindUint {
		return v.RawUint(), nil
	}
	f, err := ToFloat(env, v)
	i, _ := number.Int64FromFloat(math.Trunc(f))
	return uint64(i), err
}

// assignEnum: by text under the column's collation, or by index. A text that is no element may be an index, as MySQL reads it.
func assignEnum(env *Env, v Value, to *Target) (Value, error) {
	var n uint64
	if isElementText(v) {
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		if v.Kind() == KindEnum && v.RawUint() == 0 {
			return Enum(0, ""), truncated(env, to) // what stands for an error in another ENUM is none here either
		}
		s = strings.TrimRight(s, " ")
		if n = uint64(elementOf(to.Type, s)); n == 0 && len(s) < 6 {
			if i, scanned := number.ParseInteger(s); scanned.Clean() && !i.Negative() {
				if n = i.Bits; n == 0 {
					return Enum(0, ""), nil // '0' stands for it without a warning
				}
			}
		}
	} else {
		var err error
		if n, err = elementNumber(env, v); err != nil {
			return Null, err
		}
	}
	if n == 0 || n > uint64(len(to.Type.Elements)) {
		return Enum(0, ""), truncated(env, to)
	}
	return Enum(n, to.Type.Elements[n-1]), nil
}

func assignSet(env *Env, v Value, to *Target) (Value, error) {
	all := uint64(1)<<len(to.Type.Elements) - 1
	var bits uint64
	clean := true
	if isElementText(v) {
		s, err := ToText(env, v)
		if err != nil {
			return Null, err
		}
		whole := s
		if s = strings.TrimRight(s, " "); s != "" {
			for _, e := range strings.Split(s, ",") {
				if i := elementOf(to.Type, e); i > 0 {
					bits |= 1 << (i - 1)
				} else {
					clean = false
				}
			}
		}
		if bits == 0 && whole != "" && len(whole) < 22 { // a number, to its last character
			i, scanned := number.ParseInteger(whole)
			if clean = scanned.Clean() && scanned.End == len(whole) && !i.Negative() && i.Bits <= all; clean {
				bits = i.Bits
			}
		}
	} else {
		n, err := elementNumber(env, v)
		if err != nil {
			return Null, err
		}
		bits, clean = n&all, n <= all
	}
	out := setValue(to.Type, bits)
	if !clean {
		return out, truncated(env, to)
	}
	return out, nil
}

// setValue is the value of a SET with the given bits.
func setValue(t Type, bits uint64) Value {
	var parts []string
	for i, e := range t.Elements {
		if bits&(1<<i) != 0 {
			parts = append(parts, e)
		}
	}
	return Set(bits, strings.Join(parts, ","))
}
