package sqltext

import (
	"os"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// exceptions are expressions that are kept otherwise than MySQL keeps them, or that the parser alone does not know, with the reason.
var exceptions = map[string]string{
	"char(b using utf8mb4)": "MySQL loses the character set",
	"default(b)":            "DEFAULT() of a column is refused",
	"n'x'":                  "the parser knows no national texts", "0b11 + b": "the parser reads a name",
	"b = 1 = 1":                             "the parser knows no chains of comparisons",
	"json_value(j, '$.x' returning signed)": "the parser does not know RETURNING",
	"(b, 1) = (1, b)":                       "rows are kept as they are written",
	"date '2020-01-01'":                     "package engine parses typed literals, and the five below", "d = timestamp'2020-01-01 00:00:00'": "as above",
	"interval(b, 1, 2)": "as above", "a sounds like 'x'": "as above", "(a = 'x') is unknown": "as above", "b is not unknown": "as above",
	"d + interval '1:2' hour_minute": "as above",
}

// Each expression is kept as MySQL keeps it; and what is kept means the same: kept again it stays as it is.
func TestAsMySQL(t *testing.T) {
	text, err := os.ReadFile("testdata/mysql.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	tried := 0
	for i := 0; i+1 < len(lines); i += 2 {
		written, want := lines[i], strings.TrimPrefix(lines[i+1], "\t")
		got := kept(t, written)
		if why := exceptions[written]; why != "" {
			if got == want {
				t.Errorf("%s is no exception any more", written)
			}
			continue
		}
		tried++
		if got != want {
			t.Errorf("%s\n   is kept as %s\n   MySQL has   %s", written, got, want)
			continue
		}
		if again := kept(t, got); again != got {
			t.Errorf("%s\n   is kept as %s\n   and then as %s", written, got, again)
		}
	}
	if tried < 200 {
		t.Errorf("only %d expressions", tried)
	}
}

func kept(t *testing.T, written string) string {
	t.Helper()
	s, err := sqlparser.Parse("select " + written)
	if err != nil {
		return "error: " + err.Error()
	}
	out, err := Expr(s.(*sqlparser.Select).SelectExprs[0].(*sqlparser.AliasedExpr).Expr, Options{})
	if err != nil {
		return "error: " + err.Error()
	}
	return out
}
