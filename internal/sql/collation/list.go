package collation

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

var (
	all    []*Collation
	byName = map[string]*Collation{}
	byID   = map[uint16]*Collation{}
)

// The collations of MySQL 8.0 by character set, as information_schema.COLLATIONS lists them.
const (
	// suffixes of utf8mb3_ and utf8mb4_, numbers from 192 and 224 on.
	unicode400 = "unicode icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak" +
		" spanish2 roman persian esperanto hungarian sinhala german2 croatian unicode_520 vietnamese"
	// languages of utf8mb4_*_0900_ai_ci and of *_as_cs, numbers from 256 and 279 on; a dash is a number without a collation.
	unicode900 = "de_pb is lv ro sl pl et es sv tr cs da lt sk es_trad la - eo hu hr - vi"
	// languages added later: ai_ci and as_cs side by side, from 310 on.
	unicode900More = "nb nn sr_latn bs bg gl mn_cyrl"
)

func init() {
	for _, c := range []Charset{
		{"ascii", 1, "US ASCII"},
		{"binary", 1, "Binary pseudo charset"},
		{"latin1", 1, "cp1252 West European"},
		{"utf8mb3", 3, "UTF-8 Unicode"},
		{"utf8mb4", 4, "UTF-8 Unicode"},
	} {
		charsets[c.Name] = &c
	}
	add := func(id uint16, name string, k kind, table string, more ...func(*Collation)) {
		set, _, _ := strings.Cut(name, "_")
		c := &Collation{ID: id, Name: name, Charset: charsets[set], kind: k, levels: 1, table: table, SortLength: 1}
		for _, f := range more {
			f(c)
		}
		if k == weighed {
			c.unit = sync.OnceValue(func() *weigher { return newWeigher(c) })
		}
		all = append(all, c)
		byName[name], byID[id] = c, c
	}
	isDefault := func(c *Collation) { c.Default = true }
	sortLength := func(n int) func(*Collation) { return func(c *Collation) { c.SortLength = n } }
	noPad := func(c *Collation) { c.NoPad = true }

	add(63, "binary", bytewise, "", isDefault, noPad)
	add(11, "ascii_general_ci", weighed, "ascii_general_ci", isDefault)
	add(65, "ascii_bin", codewise, "")
	for id, name := range map[uint16]string{5: "german1_ci", 8: "swedish_ci", 15: "danish_ci", 31: "german2_ci", 47: "bin",
		48: "general_ci", 49: "general_cs", 94: "spanish_ci"} {
		name = "latin1_" + name
		add(id, name, weighed, name, func(c *Collation) {
			c.Default = id == 8
			if id == 31 {
				c.SortLength = 2
			}
		})
	}
	for _, set := range []struct {
		name                         string
		general, bin, languages, old uint16
	}{{"utf8mb3", 33, 83, 192, 223}, {"utf8mb4", 45, 46, 224, 0}} {
		add(set.general, set.name+"_general_ci", weighed, "utf8mb4_general_ci", func(c *Collation) { c.Default = set.name == "utf8mb3" })
		add(set.bin, set.name+"_bin", codewise, "")
		for i, l := range strings.Fields(unicode400) {
			add(set.languages+uint16(i), set.name+"_"+l+"_ci", weighed, "utf8mb4_"+l+"_ci", sortLength(8))
		}
		if set.old != 0 {
			add(set.old, set.name+"_general_mysql500_ci", weighed, "utf8mb3_general_mysql500_ci")
			add(76, set.name+"_tolower_ci", refused, "")
		}
	}
	uca := func(id uint16, name string, k kind, table string) {
		levels := map[string]int{"ai_ci": 1, "as_ci": 2, "as_cs": 3, "cs_ks": 4}[name[len(name)-5:]]
		add(id, name, k, table, noPad, sortLength(0), func(c *Collation) { c.levels = levels })
	}
	language := func(id uint16, l, sensitivity string) {
		k := refused
		if tailored(l) && (l != "da" || sensitivity == "ai_ci") { // Danish has capitals first at the third level
			k = weighed
		}
		uca(id, "utf8mb4_"+l+"_0900_"+sensitivity, k, l+"_0900")
	}
	uca(255, "utf8mb4_0900_ai_ci", weighed, "0900")
	byName["utf8mb4_0900_ai_ci"].Default = true
	uca(278, "utf8mb4_0900_as_cs", weighed, "0900")
	uca(305, "utf8mb4_0900_as_ci", weighed, "0900")
	add(309, "utf8mb4_0900_bin", bytewise, "", noPad)
	for i, l := range strings.Fields(unicode900) {
		if l != "-" {
			language(256+uint16(i), l, "ai_ci")
			language(279+uint16(i), l, "as_cs")
		}
	}
	for i, l := range strings.Fields(unicode900More) {
		language(310+2*uint16(i), l, "ai_ci")
		language(311+2*uint16(i), l, "as_cs")
	}
	language(306, "ru", "ai_ci")
	language(307, "ru", "as_cs")
	language(303, "ja", "as_cs")
	uca(304, "utf8mb4_ja_0900_as_cs_ks", refused, "")
	byName["utf8mb4_ja_0900_as_cs_ks"].SortLength = 24
	language(308, "zh", "as_cs")
	slices.SortFunc(all, func(a, b *Collation) int { return cmp.Compare(a.ID, b.ID) })
}

// tailored says whether weights.bin has the language's weights.
func tailored(language string) bool { return slices.Contains(sectionNames(), language+"_0900") }
