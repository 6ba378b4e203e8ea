package collation

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		collation, s, pattern string
		want                  bool
	}{
		{"utf8mb4_0900_ai_ci", "abc", "ABC", true},
		{"utf8mb4_0900_as_cs", "abc", "ABC", false},
		{"utf8mb4_0900_ai_ci", "ä", "a", true}, // the manual has this pair for latin1_german2_ci: LIKE goes character by character
		{"utf8mb4_0900_as_ci", "ä", "Ä", true},
		{"utf8mb4_0900_as_ci", "ä", "a", false},
		{"utf8mb4_0900_ai_ci", "ß", "ss", false},
		{"utf8mb4_0900_ai_ci", "æ", "ae", false},
		{"utf8mb4_0900_ai_ci", "æ", "Æ", true},
		{"utf8mb4_general_ci", "a ", "a", false}, // spaces at the end count
		{"utf8mb4_general_ci", "ß", "S", true},
		{"utf8mb4_bin", "a", "A", false},
		{"utf8mb4_0900_ai_ci", "", "%", true},
		{"utf8mb4_0900_ai_ci", "", "_", false},
		{"utf8mb4_0900_ai_ci", "", "", true},
		{"utf8mb4_0900_ai_ci", "世界", "_界", true},
		{"utf8mb4_0900_ai_ci", "世界", "__", true},
		{"binary", "世", "_", false},
		{"binary", "世", "___", true},
		{"utf8mb4_0900_ai_ci", "a_c", `a\_c`, true},
		{"utf8mb4_0900_ai_ci", "abc", `a\_c`, false},
		{"utf8mb4_0900_ai_ci", `a\`, `a\`, true},
		{"utf8mb4_0900_ai_ci", "aab", "%ab", true},
		{"utf8mb4_0900_ai_ci", "abcabd", "%ab_", true},
		{"utf8mb4_0900_ai_ci", "mississippi", "%iss%ip%", true},
		{"utf8mb4_0900_ai_ci", "mississippi", "m%issip", false},
		{"utf8mb4_cs_0900_ai_ci", "ch", "c%", true}, // no contractions in LIKE
		{"latin1_swedish_ci", "Å", "å", true},
	} {
		if got := Must(c.collation).Like(c.s, c.pattern, '\\'); got != c.want {
			t.Errorf("%s: %q LIKE %q is %t", c.collation, c.s, c.pattern, got)
		}
	}
	c := Must("utf8mb4_0900_ai_ci")
	if !c.Like("a%c", "a|%c", '|') || c.Like("abc", "a|%c", '|') || !c.Like(`a\bc`, `a\%`, NoEscape) || !c.Like("a_", "a__", '_') || c.Like("ab", "a__", '_') {
		t.Error("ESCAPE")
	}
	for pattern, want := range map[string]string{"abc%": "abc", `a\%b_`: "a%b", "%": "", "abc": "abc."} {
		prefix, exact := c.Pattern(pattern, '\\').Prefix()
		if exact {
			prefix += "."
		}
		if prefix != want {
			t.Errorf("the prefix of %q is %q", pattern, prefix)
		}
	}
}

// likeNaive matches by trying everything.
func likeNaive(c *Collation, s, p []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		for i := range len(s) + 1 {
			if likeNaive(c, s[i:], p[1:]) {
				return true
			}
		}
		return false
	case len(s) == 0:
		return false
	}
	return (p[0] == '_' || c.same(s[0], p[0])) && likeNaive(c, s[1:], p[1:])
}

func TestLikeAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	matched := 0
	for range 40_000 {
		c := Must([]string{"utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_bin"}[r.Intn(3)])
		text := func(n int, letters string) (out []rune) {
			for range r.Intn(n) {
				out = append(out, []rune(letters)[r.Intn(utf8.RuneCountInString(letters))])
			}
			return out
		}
		s, p := text(9, "aAäbß"), text(7, "aäb%_%")
		want := likeNaive(c, s, p)
		if want {
			matched++
			if prefix, _ := c.Pattern(string(p), NoEscape).Prefix(); !strings.HasPrefix(string(c.AppendKey(nil, string(s))), string(c.AppendPrefix(nil, prefix))) {
				t.Fatalf("%s: %q LIKE %q is not in the span of %q", c, string(s), string(p), prefix)
			}
		}
		if got := c.Like(string(s), string(p), NoEscape); got != want {
			t.Fatalf("%s: %q LIKE %q is %t", c, string(s), string(p), got)
		}
	}
	if matched < 1000 {
		t.Errorf("only %d texts matched", matched)
	}
}

func TestLikeTakesNoTimeOfHighOrder(t *testing.T) {
	s := strings.Repeat("a", 10_000)
	if Must("utf8mb4_0900_ai_ci").Like(s, strings.Repeat("a%", 40)+"b", '\\') {
		t.Error("matched")
	}
}

// A long search can be ended.
func TestSearchesCanBeEnded(t *testing.T) {
	c, ended := Must("utf8mb4_0900_ai_ci"), errors.New("ended")
	s, sub := strings.Repeat("a", 200_000), strings.Repeat("a", 100_000)+"b"
	if _, err := c.Pattern("%"+sub+"%", '\\').MatchPoll(s, func() error { return ended }); !errors.Is(err, ended) {
		t.Errorf("LIKE: %v", err)
	}
	if _, err := c.IndexPoll(s, sub, func() error { return ended }); !errors.Is(err, ended) {
		t.Errorf("LOCATE: %v", err)
	}
}

func TestIndex(t *testing.T) {
	for _, c := range []struct {
		collation, s, sub string
		want              int
	}{
		{"utf8mb4_0900_ai_ci", "Straße", "SS", 4},
		{"utf8mb4_0900_as_cs", "Straße", "SS", -1},
		{"utf8mb4_general_ci", "Straße", "SS", -1},
		{"utf8mb4_0900_ai_ci", "abc", "", 0},
		{"utf8mb4_0900_ai_ci", "", "", 0},
		{"utf8mb4_0900_ai_ci", "foobar", "BAR", 3},
		{"utf8mb4_bin", "foobar", "BAR", -1},
		{"utf8mb4_bin", "世界", "界", 3},
		{"binary", "世界", "\x95", 4},
		{"utf8mb4_0900_ai_ci", "xäy", "AY", 1},
		{"utf8mb4_0900_ai_ci", "xäy", "Äy", 1},
		{"utf8mb4_0900_ai_ci", "xß", "s", 1}, // MySQL 9: the weights of s are what those of ß begin with
		{"utf8mb4_0900_ai_ci", "s", "ß", -1},
		{"utf8mb4_0900_as_cs", "é", "e", 0},
		{"utf8mb4_0900_as_cs", "é", "E", -1},
		{"latin1_swedish_ci", "xáy", "AY", 1},
		{"latin1_german2_ci", "ß", "ss", -1},
		{"utf8mb4_general_ci", "ab ", "b  ", -1},
	} {
		if got := Must(c.collation).Index(c.s, c.sub); got != c.want {
			t.Errorf("%s: %q is in %q at %d, want %d", c.collation, c.sub, c.s, got, c.want)
		}
	}
}

func TestCharacters(t *testing.T) {
	c, b := Must("utf8mb4_0900_ai_ci"), Must("binary")
	if c.Length("世界") != 2 || b.Length("世界") != 6 {
		t.Error("lengths")
	}
	for n, want := range map[int]int{0: 0, 1: 3, 2: 4, 3: -1, -1: -1} {
		at, ok := c.Offset("世a", n)
		if !ok {
			at = -1
		}
		if at != want {
			t.Errorf("character %d begins at %d, want %d", n, at, want)
		}
	}
	for _, v := range []struct {
		set, text string
		at        int
	}{{"utf8mb4", "a🍣", -1}, {"utf8mb3", "a🍣", 1}, {"latin1", "€ä", -1}, {"latin1", "a世", 1}, {"ascii", "aä", 1}, {"utf8mb4", "a\xff", 1}, {"utf8mb4", "\xed\xa0\x80", 0},
		{"binary", "\xff", -1}, {"latin1", "\u0080", 0}, {"latin1", "\u0081", -1}} {
		s, err := CharsetByName(v.set)
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := s.Valid(v.text); ok != (v.at < 0) || !ok && at != v.at {
			t.Errorf("%s: %q: %d, %t", v.set, v.text, at, ok)
		}
	}
}

func TestLetterCase(t *testing.T) {
	for _, c := range []struct{ collation, s, upper, lower string }{
		{"utf8mb4_0900_ai_ci", "äÖ я", "ÄÖ Я", "äö я"},
		{"utf8mb4_0900_ai_ci", "ß", "ß", "ß"},
		{"utf8mb4_0900_ai_ci", "ა", "ა", "ა"}, // Georgian has capitals since Unicode 11
		{"utf8mb4_0900_ai_ci", "𐐨", "𐐀", "𐐨"},
		{"utf8mb4_general_ci", "𐐨", "𐐨", "𐐨"},
		{"utf8mb4_turkish_ci", "Ii", "Iİ", "ıi"},
		{"latin1_swedish_ci", "ÿ÷àÞ×", "ÿ÷ÀÞ×", "ÿ÷àþ×"},
		{"ascii_bin", "aZ", "AZ", "az"},
		{"binary", "aZ", "aZ", "aZ"},
		{"utf8mb4_bin", "a\xffb", "A\xffB", "a\xffb"},
	} {
		x := Must(c.collation)
		if got := x.Upper(c.s); got != c.upper {
			t.Errorf("%s: UPPER(%q) is %q", x, c.s, got)
		}
		if got := x.Lower(c.s); got != c.lower {
			t.Errorf("%s: LOWER(%q) is %q", x, c.s, got)
		}
	}
}

// The manual's section "Collation Coercibility in Expressions".
func TestAggregation(t *testing.T) {
	typed := func(name string, c Coercibility) Typed { return Typed{Collation: Must(name), Coercibility: c} }
	ascii := func(x Typed) Typed { x.ASCII = true; return x }
	general, unicode400, bin := typed("utf8mb4_general_ci", Implicit), typed("utf8mb4_unicode_ci", Implicit), typed("utf8mb4_bin", Implicit)
	latin := typed("latin1_swedish_ci", Implicit)
	literal := typed("utf8mb4_0900_ai_ci", Coercible)
	for _, c := range []struct {
		name     string
		operands []Typed
		want     string // with the coercibility if it is not Implicit; empty: none for a comparison
		concat   string // what a concatenation has, if that is another
	}{
		{"column = literal", []Typed{general, literal}, "utf8mb4_general_ci", ""},
		{"column = literal COLLATE", []Typed{general, typed("utf8mb4_bin", Explicit)}, "utf8mb4_bin EXPLICIT", ""},
		{"two explicit ones", []Typed{typed("utf8mb4_bin", Explicit), typed("utf8mb4_general_ci", Explicit)}, "", ""},
		{"_bin beats _ci", []Typed{general, bin}, "utf8mb4_bin", ""},
		{"two columns", []Typed{general, unicode400}, "", "utf8mb4_bin NONE"},
		{"unicode beats latin1", []Typed{latin, general}, "utf8mb4_general_ci", ""},
		{"latin1 column, utf8mb4 literal of ASCII", []Typed{latin, ascii(literal)}, "latin1_swedish_ci", ""},
		{"latin1 column, utf8mb4 literal", []Typed{latin, literal}, "latin1_swedish_ci", ""},
		{"utf8mb4 beats utf8mb3", []Typed{typed("utf8mb3_general_ci", Implicit), unicode400}, "utf8mb4_unicode_ci", ""},
		{"binary beats all of its coercibility", []Typed{general, typed("binary", Implicit)}, "binary", ""},
		{"column beats binary literal", []Typed{general, typed("binary", Coercible)}, "utf8mb4_general_ci", ""},
		{"number", []Typed{general, ascii(typed("utf8mb4_0900_ai_ci", Numeric))}, "utf8mb4_general_ci", ""},
		{"NULL", []Typed{typed("binary", Ignorable), literal}, "utf8mb4_0900_ai_ci COERCIBLE", ""},
		{"three", []Typed{general, unicode400, typed("utf8mb4_bin", Explicit)}, "utf8mb4_bin EXPLICIT", ""},
		{"three columns", []Typed{general, unicode400, general}, "", "utf8mb4_general_ci"},
		{"three, another collation", []Typed{general, unicode400, typed("utf8mb4_general_ci", Explicit)}, "utf8mb4_general_ci EXPLICIT", ""},
		{"without collation = column", []Typed{typed("utf8mb4_bin", None), general}, "utf8mb4_general_ci", ""},
		{"two without collation", []Typed{typed("utf8mb4_bin", None), typed("utf8mb4_bin", None)}, "", "utf8mb4_bin NONE"},
		{"two binary ones", []Typed{bin, typed("utf8mb4_0900_bin", Implicit)}, "", ""},
		{"latin1 columns", []Typed{latin, typed("latin1_german1_ci", Implicit)}, "", "latin1_bin NONE"},
		{"ascii column", []Typed{ascii(typed("ascii_general_ci", Implicit)), latin}, "latin1_swedish_ci", ""},
	} {
		for _, compares := range []bool{true, false} {
			want := c.want
			if !compares && c.concat != "" {
				want = c.concat
			}
			out, err := Aggregate("=", compares, c.operands...)
			got := ""
			if err == nil {
				if got = out.Name; out.Coercibility != Implicit {
					got += " " + out.Coercibility.String()
				}
			}
			if got != want {
				t.Errorf("%s: %s, want %s (%v)", c.name, got, want, err)
			}
		}
	}
	_, err := Aggregate("=", true, general, unicode400)
	var mix *IllegalMixError
	if !errors.As(err, &mix) || mix.Code() != 1267 ||
		err.Error() != "Illegal mix of collations (utf8mb4_general_ci,IMPLICIT) and (utf8mb4_unicode_ci,IMPLICIT) for operation '='" {
		t.Errorf("%v", err)
	}
}
