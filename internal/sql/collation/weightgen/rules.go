package main

import (
	"log"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// language is a tailoring of the root of Unicode 9.0.0.
type language struct {
	name   string
	scheme byte // '9', or what table.go's reordered means
	rules  string
}

// languages: the rules of Unicode's CLDR 29 (https://cldr.unicode.org; terms: https://www.unicode.org/license.txt), which MySQL's
// *_0900_* collations follow, in the notation of UTS 35 part 5. Not here, and so refused: Japanese and Chinese (orders of
// ideographs), Mongolian (its script is put second).
var languages = []language{
	{"de_pb", '9', "&AE<<ä<<<Ä&OE<<ö<<<Ö&UE<<ü<<<Ü"},
	{"is", '9', "&[before 1]b<á<<<Á&d<<đ<<<Đ<ð<<<Ð&[before 1]f<é<<<É&[before 1]j<í<<<Í&[before 1]p<ó<<<Ó&[before 1]v<ú<<<Ú" +
		"&[before 1]z<ý<<<Ý&[before 1]ǀ<æ<<<Æ<<ä<<<Ä<ö<<<Ö<<ø<<<Ø<å<<<Å"},
	{"lv", '9', "&[before 1]D<č<<<Č&[before 1]H<ģ<<<Ģ&I<<y<<<Y&[before 1]L<ķ<<<Ķ&[before 1]M<ļ<<<Ļ&[before 1]O<ņ<<<Ņ" +
		"&[before 1]S<ŗ<<<Ŗ&[before 1]T<š<<<Š&[before 1]Ʒ<ž<<<Ž"},
	{"ro", '9', "&A<ă<<<Ă<â<<<Â&I<î<<<Î&S<ş=ș<<<Ş=Ș&T<ţ=ț<<<Ţ=Ț"},
	{"sl", '9', "&C<č<<<Č<ć<<<Ć&D<đ<<<Đ&S<š<<<Š&Z<ž<<<Ž"},
	{"pl", '9', "&A<ą<<<Ą&C<ć<<<Ć&E<ę<<<Ę&L<ł<<<Ł&N<ń<<<Ń&O<ó<<<Ó&S<ś<<<Ś&Z<ź<<<Ź<ż<<<Ż"},
	{"et", '9', "&[before 1]T<š<<<Š<z<<<Z<ž<<<Ž&[before 1]X<õ<<<Õ<ä<<<Ä<ö<<<Ö<ü<<<Ü"},
	{"es", '9', spanish},
	{"gl", '9', spanish},
	{"sv", '9', nordic + "&[before 1]ǀ<å<<<Å<ä<<<Ä<<æ<<<Æ<<ę<<<Ę<ö<<<Ö<<ø<<<Ø<<ő<<<Ő<<œ<<<Œ<<ô<<<Ô"},
	{"tr", '9', "&C<ç<<<Ç&G<ğ<<<Ğ&[before 1]i<ı<<<I&i<<<İ&O<ö<<<Ö&S<ş<<<Ş&U<ü<<<Ü"},
	{"cs", '9', "&C<č<<<Č&H<ch<<<cH<<<Ch<<<CH&R<ř<<<Ř&S<š<<<Š&Z<ž<<<Ž"},
	{"da", '9', nordic + "&[before 1]ǀ<æ<<<Æ<<ä<<<Ä<ø<<<Ø<<ö<<<Ö<<ő<<<Ő<<œ<<<Œ<å<<<Å<<<aa<<<Aa<<<AA"},
	{"lt", '9', "&\u0300=\u0307\u0300&\u0301=\u0307\u0301&\u0303=\u0307\u0303&A<<ą<<<Ą&C<č<<<Č&E<<ę<<<Ę<<ė<<<Ė&I<<į<<<Į<<y<<<Y" +
		"&S<š<<<Š&U<<ų<<<Ų<<ū<<<Ū&Z<ž<<<Ž"},
	{"sk", '9', "&A<ä<<<Ä&C<č<<<Č&H<ch<<<cH<<<Ch<<<CH&O<ô<<<Ô&R<ř<<<Ř&S<š<<<Š&Z<ž<<<Ž"},
	{"es_trad", '9', spanish + "&C<ch<<<Ch<<<CH&l<ll<<<Ll<<<LL"},
	{"la", '9', ""},
	{"eo", '9', "&C<ĉ<<<Ĉ&G<ĝ<<<Ĝ&H<ĥ<<<Ĥ&J<ĵ<<<Ĵ&S<ŝ<<<Ŝ&U<ŭ<<<Ŭ"},
	{"hu", '9', hungarian()},
	{"hr", 'L', croatian},
	{"sr_latn", 'L', croatian},
	{"bs", 'L', croatian},
	{"vi", '9', "&\u0300<<\u0309<<\u0303<<\u0301<<\u0323&a<ă<<<Ă<â<<<Â&d<đ<<<Đ&e<ê<<<Ê&o<ô<<<Ô<ơ<<<Ơ&u<ư<<<Ư"},
	{"ru", 'C', ""},
	{"bg", 'C', ""},
	{"nb", '9', norwegian},
	{"nn", '9', norwegian},
}

const (
	spanish   = "&N<ñ<<<Ñ"
	nordic    = "&D<<đ<<<Đ<<ð<<<Ð&t<<<þ/h&T<<<Þ/H&Y<<ü<<<Ü<<ű<<<Ű"
	norwegian = nordic + "&[before 1]ǀ<æ<<<Æ<<ä<<<Ä<<ę<<<Ę<ø<<<Ø<<ö<<<Ö<<ő<<<Ő<<œ<<<Œ<å<<<Å<<aa<<<Aa<<<AA"
	croatian  = "&C<č<<<Č<ć<<<Ć&D<dž<<<ǆ<<<Dž<<<ǅ<<<DŽ<<<Ǆ<đ<<<Đ&L<lj<<<ǉ<<<Lj<<<ǈ<<<LJ<<<Ǉ&N<nj<<<ǌ<<<Nj<<<ǋ<<<NJ<<<Ǌ&S<š<<<Š&Z<ž<<<Ž"
)

// hungarian: digraphs are letters, and doubled ones are written short: ssz is szsz.
func hungarian() string {
	rules, doubled := "", ""
	for _, l := range strings.Fields("C:cs D:dz DZ:dzs G:gy L:ly N:ny S:sz T:ty Z:zs") {
		after, low, _ := strings.Cut(l, ":")
		first := strings.ToUpper(low[:1]) + low[1:]
		upper := strings.ToUpper(low)
		rules += "&" + after + "<" + low + "<<<" + first + "<<<" + upper
		doubled += "&" + low + "<<<" + low[:1] + low + "/" + low + "&" + first + "<<<" + first[:1] + low + "/" + low +
			"&" + upper + "<<<" + upper[:1] + upper + "/" + upper
	}
	return rules + "&O<ö<<<Ö<<ő<<<Ő&U<ü<<<Ü<<ű<<<Ű" + doubled
}

// What a tailored text has more than the one that it follows: an element of a weight that is greater than all of the root
// (primary weights end at 0x54a3, secondary ones at 0x114, tertiary ones at 0x1f).
const (
	extraPrimary   = 0x54a4
	extraSecondary = 0x115
	extraTertiary  = 0x20
)

// tailoring is a root and what differs from it.
type tailoring struct {
	root     map[rune][]element
	tailored map[string][]element
}

func (l language) section(root []entry) section {
	t := &tailoring{map[rune][]element{}, map[string][]element{}}
	for _, e := range root {
		t.root[e.chars[0]] = e.elements
	}
	t.read(l.rules)
	t.close(root)
	s := section{name: l.name + "_0900", base: "0900", scheme: l.scheme}
	for text, es := range t.tailored {
		s.entries = append(s.entries, entry{[]rune(text), es})
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return slices.Compare(a.chars, b.chars) })
	return s
}

// of is the elements of a text by what is tailored so far.
func (t *tailoring) of(text string) (out []element) {
	if es, ok := t.tailored[text]; ok {
		return es
	}
	for _, r := range text {
		if es, ok := t.tailored[string(r)]; ok {
			out = append(out, es...)
		} else {
			out = append(out, t.root[r]...)
		}
	}
	return out
}

// read follows the rules one by one.
func (t *tailoring) read(rules string) {
	var at []element
	var steps [3]uint16
	for rules != "" {
		op := rules[:max(1, len(rules)-len(strings.TrimLeft(rules, "<")))]
		n := len(rules)
		if i := strings.IndexAny(rules[len(op):], "&<="); i >= 0 {
			n = len(op) + i
		}
		text := rules[len(op):n]
		rules = rules[n:]
		if op == "&" {
			text, before := strings.CutPrefix(text, "[before 1]")
			at, steps = slices.Clone(t.of(text)), [3]uint16{}
			if before {
				at[0].primary--
			}
			continue
		}
		text, expansion, _ := strings.Cut(text, "/")
		if op != "=" {
			level := len(op) - 1
			steps[level]++
			clear(steps[level+1:])
		}
		es := append(slices.Clone(at), t.of(expansion)...)
		for level, more := range []element{{extraPrimary, 0x20, 2}, {0, extraSecondary, 2}, {0, 0, extraTertiary}} {
			if steps[level] == 0 {
				continue
			}
			*[]*uint16{&more.primary, &more.secondary, &more.tertiary}[level] += steps[level] - 1
			es = append(es, more)
		}
		t.tailored[text] = es
	}
}

// close gives canonically equivalent texts the same elements: the decomposed forms of tailored characters, and the characters
// that hold a tailored one when they are taken apart.
func (t *tailoring) close(root []entry) {
	parts := map[string][]element{} // decomposed -> elements
	for text, es := range t.tailored {
		d := norm.NFD.String(text)
		parts[d] = es
	}
	for d, es := range parts {
		if _, ok := t.tailored[d]; !ok {
			t.tailored[d] = es
		}
	}
	for _, e := range root {
		c := string(e.chars)
		d := []rune(norm.NFD.String(c))
		if _, ok := t.tailored[c]; ok || len(d) < 2 {
			continue
		}
		if es, changed := t.walk(parts, d); changed {
			t.tailored[c] = es
		}
	}
	for text := range t.tailored {
		if n := len([]rune(text)); n > 4 {
			log.Fatalf("a contraction of %d characters", n)
		}
	}
}

// walk reads a decomposed character: the longest tailored beginning that its marks allow, again and again.
func (t *tailoring) walk(parts map[string][]element, d []rune) (out []element, changed bool) {
	for len(d) > 0 {
		best, rest := "", d[1:]
		for text := range parts {
			if left, ok := without(d, []rune(text)); ok && len(text) > len(best) {
				best, rest = text, left
			}
		}
		if best == "" {
			out = append(out, t.root[d[0]]...)
		} else {
			out, changed = append(out, parts[best]...), true
		}
		d = rest
	}
	return out, changed
}

// without takes a text out of a sequence that it begins; marks of another class may stand between its own.
func without(d, text []rune) (left []rune, ok bool) {
	if d[0] != text[0] {
		return nil, false
	}
	i := 1
	for _, r := range d[1:] {
		class := func(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).CCC() }
		switch {
		case i < len(text) && r == text[i]:
			if slices.ContainsFunc(left, func(m rune) bool { return class(m) == class(r) }) {
				return nil, false
			}
			i++
		default:
			left = append(left, r)
		}
	}
	return left, i == len(text)
}
