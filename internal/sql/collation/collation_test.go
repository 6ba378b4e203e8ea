package collation

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// supported are all collations that can be used.
func supported() (out []*Collation) {
	for _, c := range All() {
		if c.Supported() {
			out = append(out, c)
		}
	}
	return out
}

// What MySQL 8.0 answers, from the manual (chapter "Character Sets, Collations, Unicode") and from the tables of Unicode.
func TestKnownOrder(t *testing.T) {
	for _, c := range []struct{ collation, a, op, b string }{
		// Examples of the manual: sushi and beer, ß, Müller.
		{"utf8mb4_0900_ai_ci", "🍣", "<>", "🍺"},
		{"utf8mb4_general_ci", "🍣", "=", "🍺"},
		{"utf8mb4_unicode_ci", "🍣", "=", "🍺"},
		{"utf8mb4_unicode_520_ci", "🍣", "<>", "🍺"},
		{"utf8mb4_general_ci", "ß", "=", "s"},
		{"utf8mb4_general_ci", "Ä", "=", "A"},
		{"utf8mb3_general_mysql500_ci", "ß", "<>", "s"},
		{"utf8mb4_unicode_ci", "ß", "=", "ss"},
		{"utf8mb4_unicode_ci", "Ä", "=", "A"},
		{"utf8mb4_german2_ci", "Ä", "=", "AE"},
		{"utf8mb4_de_pb_0900_ai_ci", "ä", "=", "ae"},
		{"utf8mb4_de_pb_0900_as_cs", "ä", ">", "ae"},
		{"latin1_german1_ci", "Ä", "=", "A"},
		{"latin1_german1_ci", "ß", "=", "s"},
		{"latin1_german2_ci", "Ä", "=", "AE"},
		{"latin1_german2_ci", "ß", "=", "ss"},
		{"latin1_swedish_ci", "Müller", ">", "MX Systems"},
		{"latin1_german1_ci", "Müller", "<", "MX Systems"},
		{"latin1_german2_ci", "Müller", "<", "Muffler"},
		{"latin1_german1_ci", "Müller", ">", "Muffler"},
		{"latin1_bin", "€", "<", "ÿ"}, // by the bytes of Windows-1252
		{"latin1_general_cs", "a", "<>", "A"},

		// Case and accents by level.
		{"utf8mb4_0900_ai_ci", "résumé", "=", "RESUME"},
		{"utf8mb4_0900_as_ci", "résumé", ">", "RESUME"},
		{"utf8mb4_0900_as_ci", "résumé", "=", "RÉSUMÉ"},
		{"utf8mb4_0900_as_cs", "résumé", "<", "Résumé"},
		{"utf8mb4_0900_as_cs", "Resumes", ">", "résumé"},
		{"utf8mb4_0900_ai_ci", "ß", "=", "SS"},
		{"utf8mb4_0900_as_cs", "ß", "<>", "ss"},
		{"utf8mb4_0900_ai_ci", "æ", "=", "ae"},
		{"utf8mb4_0900_ai_ci", "ﬁ", "=", "fi"},
		{"utf8mb4_0900_ai_ci", "e\u0301", "=", "é"},
		{"utf8mb4_0900_as_cs", "e\u0301", "=", "é"},
		{"utf8mb4_0900_ai_ci", "가", "=", "\u1100\u1161"},
		{"utf8mb4_unicode_520_ci", "가", "<>", "\u1100\u1161"},
		{"utf8mb4_0900_ai_ci", "漢", ">", "字"},
		{"utf8mb4_0900_ai_ci", "z", "<", "漢"},
		{"utf8mb4_0900_ai_ci", "-", "<", "1"}, // punctuation is not ignored
		{"utf8mb4_0900_ai_ci", "co-op", "<", "coop"},
		{"utf8mb4_0900_ai_ci", "a\x00b", "=", "ab"}, // control characters are
		{"utf8mb4_bin", "a\x00b", "<", "ab"},
		{"utf8mb4_general_ci", "a\x00b", "<", "ab"},
		{"utf8mb4_0900_bin", "B", "<", "a"},

		// Spaces at the end.
		{"utf8mb4_0900_ai_ci", "a", "<", "a "},
		{"utf8mb4_0900_bin", "a", "<", "a "},
		{"utf8mb4_0900_ai_ci", "a\t", ">", "a"},
		{"utf8mb4_0900_ai_ci", "a\t", "<", "a "},
		{"utf8mb4_general_ci", "a", "=", "A  "},
		{"utf8mb4_general_ci", "a\t", "<", "a"},
		{"utf8mb4_general_ci", "", "=", "   "},
		{"utf8mb4_unicode_ci", "a", "=", "a\u00a0"},
		{"utf8mb4_unicode_ci", "a\t", "<", "a "},
		{"utf8mb4_bin", "a", "=", "a "},
		{"utf8mb4_bin", "a\t", "<", "a"},
		{"utf8mb4_bin", "a \t", "<", "a"},
		{"utf8mb4_bin", "a b", ">", "a"},
		{"latin1_swedish_ci", "a", "=", "A "},
		{"ascii_general_ci", "a", "=", "A "},
		{"binary", "a", "<", "a "},

		// Languages.
		{"utf8mb4_sv_0900_ai_ci", "ä", ">", "zz"},
		{"utf8mb4_sv_0900_ai_ci", "å", "<", "ä"},
		{"utf8mb4_sv_0900_ai_ci", "ö", ">", "ä"},
		{"utf8mb4_sv_0900_ai_ci", "a\u0308", "=", "ä"},
		{"utf8mb4_swedish_ci", "ä", ">", "zz"},
		{"utf8mb4_es_0900_ai_ci", "ñ", ">", "nz"},
		{"utf8mb4_es_0900_ai_ci", "ñ", "<", "o"},
		{"utf8mb4_0900_ai_ci", "ñ", "=", "n"},
		{"utf8mb4_es_trad_0900_ai_ci", "ch", ">", "cz"},
		{"utf8mb4_spanish2_ci", "CH", ">", "cz"},
		{"utf8mb4_cs_0900_ai_ci", "ch", ">", "hz"},
		{"utf8mb4_cs_0900_ai_ci", "ch", "<", "i"},
		{"utf8mb4_cs_0900_as_cs", "ch", "<", "Ch"},
		{"utf8mb4_czech_ci", "ch", ">", "hz"},
		{"utf8mb4_tr_0900_ai_ci", "ı", "<", "i"},
		{"utf8mb4_tr_0900_ai_ci", "I", "=", "ı"},
		{"utf8mb4_turkish_ci", "I", "=", "ı"},
		{"utf8mb4_da_0900_ai_ci", "aa", "=", "å"},
		{"utf8mb4_danish_ci", "aa", "=", "å"},
		{"utf8mb4_roman_ci", "I", "=", "J"},
		{"utf8mb4_lt_0900_ai_ci", "y", "=", "i"},
		{"utf8mb4_hu_0900_ai_ci", "cs", ">", "cz"},
		{"utf8mb4_hu_0900_ai_ci", "dzs", ">", "dzz"},
		{"utf8mb4_hu_0900_ai_ci", "ssz", "=", "szsz"},
		{"utf8mb4_hu_0900_as_cs", "ssz", ">", "szsz"},
		{"utf8mb4_hu_0900_ai_ci", "ö", ">", "oz"},
		{"utf8mb4_hr_0900_ai_ci", "dž", "<", "đ"},
		{"utf8mb4_hr_0900_ai_ci", "dz", "<", "dž"},
		{"utf8mb4_vi_0900_ai_ci", "â", ">", "ă"},
		{"utf8mb4_vi_0900_ai_ci", "ấ", "=", "â"},
		{"utf8mb4_vi_0900_ai_ci", "ấ", "<>", "a"},
		{"utf8mb4_vi_0900_ai_ci", "ộ", "=", "ô"},
		{"utf8mb4_ru_0900_ai_ci", "я", "<", "a"},
		{"utf8mb4_0900_ai_ci", "я", ">", "z"},
		{"utf8mb4_hr_0900_ai_ci", "я", "<", "α"},
		{"utf8mb4_bg_0900_ai_ci", "α", ">", "z"},
	} {
		x, err := ByName(c.collation)
		if err != nil {
			t.Error(err)
			continue
		}
		got := map[int]string{-1: "<", 0: "=", 1: ">"}[x.Compare(c.a, c.b)]
		if got != c.op && (c.op != "<>" || got == "=") {
			t.Errorf("%s: %q %s %q, want %s", c.collation, c.a, got, c.b, c.op)
		}
	}
}

// O5: what is not known is refused by name, and what MySQL does not have is told from that.
func TestNames(t *testing.T) {
	ids := map[uint16]string{}
	for _, c := range All() {
		if other := ids[c.ID]; other != "" {
			t.Errorf("%s and %s have the number %d", other, c.Name, c.ID)
		}
		ids[c.ID] = c.Name
		if c.Charset == nil {
			t.Errorf("%s has no character set", c.Name)
		}
	}
	for id, want := range map[uint16]string{8: "latin1_swedish_ci", 33: "utf8mb3_general_ci", 45: "utf8mb4_general_ci", 46: "utf8mb4_bin", 63: "binary",
		224: "utf8mb4_unicode_ci", 234: "utf8mb4_czech_ci", 246: "utf8mb4_unicode_520_ci", 247: "utf8mb4_vietnamese_ci", 255: "utf8mb4_0900_ai_ci",
		271: "utf8mb4_la_0900_ai_ci", 273: "utf8mb4_eo_0900_ai_ci", 277: "utf8mb4_vi_0900_ai_ci", 278: "utf8mb4_0900_as_cs", 300: "utf8mb4_vi_0900_as_cs",
		303: "utf8mb4_ja_0900_as_cs", 305: "utf8mb4_0900_as_ci", 309: "utf8mb4_0900_bin", 323: "utf8mb4_mn_cyrl_0900_as_cs", 192: "utf8mb3_unicode_ci",
		215: "utf8mb3_vietnamese_ci", 223: "utf8mb3_general_mysql500_ci", 47: "latin1_bin", 11: "ascii_general_ci"} {
		if ids[id] != want {
			t.Errorf("number %d is %s, want %s", id, ids[id], want)
		}
	}
	if c, err := ByName("UTF8_General_CI"); err != nil || c.ID != 33 {
		t.Errorf("utf8_general_ci: %v, %v", c, err)
	}
	for name, want := range map[string]string{"utf8mb4_ja_0900_as_cs": "not supported", "utf8mb4_mn_cyrl_0900_ai_ci": "not supported", "utf16_general_ci": "not supported",
		"utf8mb4_klingon_ci": "Unknown collation"} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for set, want := range map[string]string{"utf8mb4": "utf8mb4_0900_ai_ci", "utf8": "utf8mb3_general_ci", "latin1": "latin1_swedish_ci", "ascii": "ascii_general_ci",
		"binary": "binary"} {
		s, err := CharsetByName(set)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.DefaultCollation().Name; got != want {
			t.Errorf("the default of %s is %s", set, got)
		}
	}
}

var alphabet = []string{"a", "A", "b", "z", " ", "  ", "\t", "\x00", "\x01", "-", "0", "9", "ä", "Ä", "é", "e\u0301", "\u0301", "ß", "s", "ss", "æ", "ae", "ø", "å",
	"aa", "c", "h", "ch", "Ch", "l", "ll", "d", "ž", "dž", "ñ", "I", "i", "ı", "İ", "я", "Я", "α", "ﬁ", "ﷺ", "世", "界", "\U0002000b", "가", "각", "\u1100\u1161", "🍣", "🍺", "\ufffd",
	"\uffff", "\u00a0", "\U0010ffff", "€", "\u017f"}

func draw(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(6) {
		b.WriteString(alphabet[r.Intn(len(alphabet))])
		if r.Intn(60) == 0 {
			b.WriteByte(byte(0x80 + r.Intn(0x80))) // no UTF-8
		}
	}
	return b.String()
}

// naive compares all weights, level by level, by the definition.
func naive(c *Collation, a, b string) int {
	pad := func(x, y []uint16, with uint16) []uint16 {
		for len(x) < len(y) {
			x = append(x, with)
		}
		return x
	}
	switch c.kind {
	case bytewise:
		return strings.Compare(a, b)
	case codewise:
		var x, y []uint16
		for _, v := range []byte(a) {
			x = append(x, uint16(v))
		}
		for _, v := range []byte(b) {
			y = append(y, uint16(v))
		}
		return slices.Compare(pad(x, y, ' '), pad(y, x, ' '))
	}
	w := c.unit()
	elements := func(s string) (out []element) {
		for s != "" {
			r, n := utf8.DecodeRuneInString(s)
			s = s[n:]
			if r == utf8.RuneError && n == 1 {
				out = append(out, invalid)
				continue
			}
			best := contraction{elements: w.elements(r)}
			for _, x := range w.contractions[r] {
				if strings.HasPrefix(s, string(x.rest)) && len(x.rest) > len(best.rest) {
					best = x
				}
			}
			out, s = append(out, best.elements...), s[len(string(best.rest)):]
		}
		return out
	}
	for level := range c.levels {
		weights := func(s string) (out []uint16) {
			for _, e := range elements(s) {
				if v := e.at(level); v != 0 {
					out = append(out, v)
				}
			}
			return out
		}
		x, y := weights(a), weights(b)
		if !c.NoPad {
			x, y = pad(x, y, w.space), pad(y, x, w.space)
		}
		if n := slices.Compare(x, y); n != 0 {
			return n
		}
	}
	return 0
}

// O1, O2, O3, O4: comparison, keys, prefixes and hashes say the same, and what the definition says.
func TestKeysAgreeWithComparison(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, c := range supported() {
		r := rand.New(rand.NewSource(int64(c.ID)))
		for range 300 {
			a, b := draw(r), draw(r)
			if r.Intn(3) == 0 {
				b = a + draw(r)
			}
			checkPair(t, c, seed, a, b)
			if t.Failed() {
				return
			}
		}
	}
}

func checkPair(t *testing.T, c *Collation, seed maphash.Seed, a, b string) {
	t.Helper()
	want := naive(c, a, b)
	if got := c.Compare(a, b); got != want {
		t.Errorf("%s: %q and %q compare as %d, want %d", c, a, b, got, want)
	}
	if got := c.Compare(b, a); got != -want {
		t.Errorf("%s: %q and %q compare as %d, want %d", c, b, a, got, -want)
	}
	ka, kb := c.AppendKey(nil, a), c.AppendKey(nil, b)
	if got := bytes.Compare(ka, kb); got != want {
		t.Errorf("%s: the keys %x of %q and %x of %q compare as %d, want %d", c, ka, a, kb, b, got, want)
	}
	if want == 0 && c.Hash(seed, a) != c.Hash(seed, b) {
		t.Errorf("%s: %q and %q are equal, their hashes are not", c, a, b)
	}
	if !c.Bytewise() && bytes.IndexByte(ka, 0) >= 0 {
		t.Errorf("%s: the key %x of %q holds a zero byte", c, ka, a)
	}
	both, begin := c.AppendKey(nil, a+b), c.AppendPrefix(nil, a)
	if !bytes.HasPrefix(both, begin) && utf8.ValidString(a) && utf8.ValidString(b) {
		t.Errorf("%s: the key %x of %q does not begin with %x, as all after %q must", c, both, a+b, begin, a)
	}
}

// A key of the beginning is in no other order than the texts.
func TestFirstWeights(t *testing.T) {
	cut := 0
	for _, c := range supported() {
		r := rand.New(rand.NewSource(int64(c.ID)))
		for range 300 {
			a, b, n := draw(r), draw(r), 1+r.Intn(4)
			o := c.Compare(a, b)
			ka, kb := c.AppendFirst(nil, a, n), c.AppendFirst(nil, b, n)
			if o != 0 && bytes.Equal(ka, kb) {
				cut++
			}
			if got := bytes.Compare(ka, kb); got*o < 0 || o == 0 && got != 0 {
				t.Fatalf("%s: %q and %q compare as %d, the keys %x and %x of their first %d as %d", c, a, b, o, ka, kb, n, got)
			}
		}
	}
	if cut < 150 {
		t.Errorf("only %d pairs differed behind what the keys hold", cut)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(uint16(255), "ß", "ss")
	f.Add(uint16(45), "a", "a ")
	f.Add(uint16(234), "ch", "c\xff")
	seed := maphash.MakeSeed()
	f.Fuzz(func(t *testing.T, id uint16, a, b string) {
		c, err := ByID(id)
		if err != nil {
			return // no collation has this id
		}
		checkPair(t, c, seed, a, b)
		c.Upper(c.Lower(a))
		c.Index(a, b)
		if !c.Like(a, "%", NoEscape) {
			t.Errorf("%q is not LIKE %%", a)
		}
	})
}

func TestComparisonAllocatesNothing(t *testing.T) {
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_czech_ci"} {
		c := Must(name)
		c.Compare("x", "y")
		for _, p := range [][2]string{{"straße 12", "STRASSE 12"}, {"hello world", "hello worlds"}, {"世界가", "世界각"}} {
			if n := testing.AllocsPerRun(100, func() { c.Compare(p[0], p[1]) }); n > 0 {
				t.Errorf("%s: comparing %q allocates %v times", name, p, n)
			}
		}
	}
}

// Keys are stored: this fails if what is written changes, which needs a new format of the catalog (package catalog).
func TestStoredFormat(t *testing.T) {
	var b strings.Builder
	for _, name := range strings.Fields("utf8mb4_0900_ai_ci utf8mb4_0900_as_cs utf8mb4_unicode_ci utf8mb4_unicode_520_ci utf8mb4_general_ci utf8mb4_bin latin1_swedish_ci" +
		" utf8mb4_cs_0900_ai_ci utf8mb4_ru_0900_ai_ci") {
		for _, s := range []string{"", "Straße 1\t", "chыя世🍣", " a  b "} {
			fmt.Fprintf(&b, "%s %q %x\n", name, s, Must(name).AppendKey(nil, s))
		}
	}
	if got := b.String(); got != storedFormat {
		t.Errorf("keys have changed: a new format of the catalog is needed\n%s", got)
	}
}

func TestCoderIsMonotone(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range supported() {
		if c.kind != weighed || seen[c.table] {
			continue
		}
		seen[c.table] = true
		codes := c.unit().codes
		var last []byte
		for w := 1; w <= 0xffff; w++ {
			b := codes.append(nil, uint16(w))
			if cmp.Compare(string(last), string(b)) >= 0 || len(last) > 0 && bytes.HasPrefix(b, last) || b[0] < firstLead {
				t.Fatalf("%s: weight %#x is %x, after %x", c, w, b, last)
			}
			last = b
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_bin"} {
		c := Must(name)
		for _, p := range [][2]string{{"customer_000123@example.org", "customer_000124@example.org"}, {"Straße der Einheit", "STRASSE der Freiheit"}} {
			b.Run(name+"/"+p[0][:8], func(b *testing.B) {
				for b.Loop() {
					c.Compare(p[0], p[1])
				}
			})
		}
	}
}

func BenchmarkAppendKey(b *testing.B) {
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_bin"} {
		c := Must(name)
		var buf []byte
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				buf = c.AppendKey(buf[:0], "customer_000123@example.org")
			}
			b.ReportMetric(float64(len(buf)), "bytes")
		})
	}
}
