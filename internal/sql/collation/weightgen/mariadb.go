package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	_ "github.com/go-sql-driver/mysql" // the driver
)

// source asks a MariaDB.
type source struct{ *sql.DB }

// readMariaDB makes the sections of the collations that are older than MySQL 8.
func readMariaDB(dsn string) ([]section, error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s := source{db}
	if _, err := db.Exec("SET NAMES utf8mb4"); err != nil {
		return nil, err
	}
	var out []section
	u400, err := s.unicode("utf8mb4_unicode_ci", 0xffff, '4')
	if err != nil {
		return nil, err
	}
	u520, err := s.unicode("utf8mb4_unicode_520_ci", 0x10ffff, '5')
	if err != nil {
		return nil, err
	}
	general, err := s.unicode("utf8mb4_general_ci", 0xffff, 'i')
	if err != nil {
		return nil, err
	}
	old, err := s.unicode("utf8mb3_general_mysql500_ci", 0xffff, 'i')
	if err != nil {
		return nil, err
	}
	old.base, old.entries = general.name, differences(general.entries, old.entries, 'i')
	out = append(out, u400, u520, general, old)
	for _, l := range strings.Fields("icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian" +
		" slovak spanish2 roman persian esperanto hungarian sinhala german2 croatian vietnamese") {
		name := "utf8mb4_" + l + "_ci"
		theirs := name
		if l == "croatian" {
			theirs = "utf8mb4_croatian_mysql561_ci" // MariaDB's own croatian_ci is another one
		}
		x, err := s.unicode(theirs, 0xffff, '4')
		if err != nil {
			return nil, err
		}
		x.name, x.base, x.entries = name, u400.name, differences(u400.entries, x.entries, '4')
		more, err := s.contractions(theirs)
		if err != nil {
			return nil, err
		}
		x.entries = append(x.entries, more...)
		out = append(out, x)
	}
	for _, table := range [][2]string{{"400", "utf8mb4_general_ci"}, {"520", "utf8mb4_unicode_520_ci"}} {
		for _, function := range []string{"upper", "lower"} {
			x, err := s.letterCase(function, table[1])
			if err != nil {
				return nil, err
			}
			x.name = function + table[0]
			out = append(out, x)
		}
	}
	for _, name := range strings.Fields("ascii_general_ci latin1_german1_ci latin1_swedish_ci latin1_danish_ci latin1_german2_ci latin1_bin" +
		" latin1_general_ci latin1_general_cs latin1_spanish_ci") {
		x, err := s.bytes(name)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// implicit is what a scheme gives a character that no entry names, as package collation does.
func implicit(scheme byte, r rune) []element {
	one := func(w ...uint16) (out []element) {
		for _, x := range w {
			out = append(out, element{primary: x})
		}
		return out
	}
	switch {
	case scheme == 'i':
		return one(uint16(r) + 1)
	case scheme == '4' && r > 0xffff:
		return one(0xfffd)
	}
	base := uint16(0xfbc0)
	switch {
	case 0x4e00 <= r && r <= 0x9fa5:
		base = 0xfb40
	case 0x3400 <= r && r <= 0x4db5:
		base = 0xfb80
	}
	return one(base+uint16(r>>15), uint16(r&0x7fff)|0x8000)
}

// weights reads hexadecimal weights of so many digits each. Those of identity schemes are one higher, since 0 is no weight.
func weights(hex string, digits int, scheme byte) ([]element, error) {
	var out []element
	for ; len(hex) >= digits; hex = hex[digits:] {
		var w uint16
		if _, err := fmt.Sscanf(hex[:digits], "%x", &w); err != nil {
			return nil, err
		}
		if scheme == 'i' {
			w++
		}
		if w != 0 {
			out = append(out, element{primary: w})
		}
	}
	return out, nil
}

// unicode reads a collation of utf8mb4 or utf8mb3, up to the character last.
func (s source) unicode(name string, last rune, scheme byte) (section, error) {
	out := section{name: name, scheme: scheme}
	set, _, _ := strings.Cut(name, "_")
	rows, err := s.Query(fmt.Sprintf("SELECT seq, HEX(WEIGHT_STRING(CONVERT(CHAR(seq USING utf32) USING %s) COLLATE %s))"+
		" FROM seq_0_to_%d WHERE seq NOT BETWEEN 0xd800 AND 0xdfff ORDER BY seq", set, name, last))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var r rune
		var hex string
		if err := rows.Scan(&r, &hex); err != nil {
			return out, err
		}
		es, err := weights(hex, 4, scheme)
		if err != nil {
			return out, err
		}
		if !slices.Equal(es, implicit(scheme, r)) && (scheme != 'i' || r < 0xfffe) {
			out.entries = append(out.entries, entry{[]rune{r}, es})
		}
	}
	return out, rows.Err()
}

// differences are the entries that make of base what other has.
func differences(base, other []entry, scheme byte) (out []entry) {
	have := map[rune][]element{}
	for _, e := range base {
		have[e.chars[0]] = e.elements
	}
	for _, e := range other {
		r := e.chars[0]
		if es, ok := have[r]; !ok || !slices.Equal(es, e.elements) {
			out = append(out, e)
		}
		delete(have, r)
	}
	for r := range have {
		out = append(out, entry{[]rune{r}, implicit(scheme, r)})
	}
	slices.SortFunc(out, func(a, b entry) int { return int(a.chars[0] - b.chars[0]) })
	return out
}

// contractions finds pairs of letters whose weights are not those of the letters.
func (s source) contractions(name string) (out []entry, err error) {
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	seconds := letters + "žŽ"
	for _, a := range letters {
		var cols []string
		for _, b := range seconds {
			cols = append(cols, fmt.Sprintf("CONCAT(HEX(WEIGHT_STRING('%[1]c%[2]c' COLLATE %[3]s)),'/',HEX(WEIGHT_STRING('%[1]c' COLLATE %[3]s)),"+
				"HEX(WEIGHT_STRING('%[2]c' COLLATE %[3]s)))", a, b, name))
		}
		got := make([]string, len(cols))
		ptrs := make([]any, len(cols))
		for i := range got {
			ptrs[i] = &got[i]
		}
		if err := s.QueryRow("SELECT " + strings.Join(cols, ",")).Scan(ptrs...); err != nil {
			return nil, err
		}
		for i, b := range []rune(seconds) {
			pair, apart, _ := strings.Cut(got[i], "/")
			if pair == apart {
				continue
			}
			es, err := weights(pair, 4, 0)
			if err != nil {
				return nil, err
			}
			out = append(out, entry{[]rune{a, b}, es})
		}
	}
	return out, nil
}

// bytes reads a collation of a character set of single bytes.
func (s source) bytes(name string) (section, error) {
	out := section{name: name, scheme: 'i'}
	set, _, _ := strings.Cut(name, "_")
	last := 255
	if set == "ascii" {
		last = 127
	}
	rows, err := s.Query(fmt.Sprintf("SELECT CONV(HEX(CONVERT(CONVERT(CHAR(seq USING %[1]s) USING utf32) USING utf32)),16,10),"+
		" HEX(WEIGHT_STRING(CHAR(seq USING %[1]s) COLLATE %[2]s)) FROM seq_0_to_%[3]d ORDER BY seq", set, name, last))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var r rune
		var hex string
		if err := rows.Scan(&r, &hex); err != nil {
			return out, err
		}
		es, err := weights(hex, 2, 'i')
		if err != nil {
			return out, err
		}
		if !slices.Equal(es, implicit('i', r)) {
			out.entries = append(out.entries, entry{[]rune{r}, es})
		}
	}
	slices.SortFunc(out.entries, func(a, b entry) int { return int(a.chars[0] - b.chars[0]) })
	return out, rows.Err()
}

// letterCase reads which characters of the Basic Multilingual Plane a function changes; what they become is the primary weight.
func (s source) letterCase(function, collation string) (section, error) {
	out := section{scheme: 'i'}
	rows, err := s.Query(fmt.Sprintf("SELECT seq, CONV(HEX(CONVERT(%s(CONVERT(CHAR(seq USING utf32) USING utf8mb4) COLLATE %s) USING utf32)),16,10)"+
		" FROM seq_1_to_65535 WHERE seq NOT BETWEEN 0xd800 AND 0xdfff ORDER BY seq", function, collation))
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var from, to rune
		if err := rows.Scan(&from, &to); err != nil {
			return out, err
		}
		if from != to {
			out.entries = append(out.entries, entry{[]rune{from}, []element{{primary: uint16(to)}}})
		}
	}
	return out, rows.Err()
}
