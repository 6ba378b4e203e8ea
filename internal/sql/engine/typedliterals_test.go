package engine

import (
	"strings"
	"testing"
)

// TestMarkLiterals: typed literals are marked with as many bytes, and nothing is within texts, names and comments.
func TestMarkLiterals(t *testing.T) {
	mark := func(kind string) string { return "'" + literalMark + kind + literalEnd }
	for written, want := range map[string]string{
		"SELECT DATE'2024-02-29'":               "SELECT " + mark("D") + "2024-02-29'",
		"SELECT date '2024-02-29'":              "SELECT  " + mark("D") + "2024-02-29'",
		"SELECT TIME'10:11:12', 1":              "SELECT " + mark("T") + "10:11:12', 1",
		"SELECT TIMESTAMP'2024-02-29 00:00:00'": "SELECT      " + mark("S") + "2024-02-29 00:00:00'",
		"SELECT 1; SELECT DATE\n'x'":            "SELECT 1; SELECT  " + mark("D") + "x'",
		"SELECT 'DATE''x' AS a":                 "SELECT 'DATE''x' AS a",
		"SELECT 'it\\'s DATE', 'x'":             "SELECT 'it\\'s DATE', 'x'",
		"SELECT `date` 'x'":                     "SELECT `date` 'x'",
		"SELECT t.date 'x'":                     "SELECT t.date 'x'",
		"SELECT @date 'x'":                      "SELECT @date 'x'",
		"SELECT DATE('x')":                      "SELECT DATE('x')",
		"SELECT 1 -- DATE'x'":                   "SELECT 1 -- DATE'x'",
		"SELECT 1 # DATE'x'\n, DATE'y'":         "SELECT 1 # DATE'x'\n, " + mark("D") + "y'",
		"SELECT /* DATE'x' */ 1":                "SELECT /* DATE'x' */ 1",
		"CREATE TABLE t (d DATE, e TIME)":       "CREATE TABLE t (d DATE, e TIME)",
		"SELECT 'unfinished DATE":               "SELECT 'unfinished DATE",
		"SELECT DATE'":                          "SELECT " + mark("D"),
		"SELECT update_time 'x'":                "SELECT update_time 'x'",
	} {
		got, changed := markLiterals(written, false)
		if got != want || changed != (got != written) {
			t.Errorf("%q\n is %q\n want %q", written, got, want)
		}
		if len(got) != len(written) {
			t.Errorf("%q: %d bytes in place of %d", written, len(got), len(written))
		}
	}
	if got, changed := markLiterals(`SELECT DATE"x"`, true); changed {
		t.Errorf("a quoted name was taken for a text: %q", got)
	}
	if got, changed := markLiterals("SELECT '"+literalMark+"', DATE'x'", false); changed {
		t.Errorf("a text that has the mark itself: %q", got)
	}
}

// FuzzMarkLiterals: no statement makes it panic or changes its length, and what is marked once stays.
func FuzzMarkLiterals(f *testing.F) {
	f.Add("SELECT DATE'2024-02-29' + TIMESTAMP \"x\"")
	f.Add("/*!50000 DATE 'x' */ \"a\\\" `b")
	f.Fuzz(func(t *testing.T, s string) {
		got, changed := markLiterals(s, false)
		if len(got) != len(s) {
			t.Errorf("%q has %d bytes and becomes %q", s, len(s), got)
		}
		if again, more := markLiterals(got, false); changed && (more || again != got) {
			t.Errorf("%q becomes %q and then %q", s, got, again)
		}
		if changed && strings.Contains(writtenLiterals(got), literalMark) {
			t.Errorf("a mark stays in %q", writtenLiterals(got))
		}
	})
}
