package shell

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		rest string
	}{
		{"SELECT 1", nil, "SELECT 1"},
		{"SELECT 1;", []string{"SELECT 1"}, ""},
		{"SELECT 1; SELECT 2 ;\nSEL", []string{"SELECT 1", "SELECT 2"}, "\nSEL"},
		{";;", nil, ""},
		{"SELECT ';';", []string{"SELECT ';'"}, ""},
		{"SELECT 'it''s; so';", []string{"SELECT 'it''s; so'"}, ""},
		{`SELECT '\';';`, []string{`SELECT '\';'`}, ""},
		{"SELECT `a;b`;", []string{"SELECT `a;b`"}, ""},
		{"SELECT 1 -- one; two\n+ 1;", []string{"SELECT 1 -- one; two\n+ 1"}, ""},
		{"SELECT 1 --1;", []string{"SELECT 1 --1"}, ""},
		{"SELECT /* ; */ 1;", []string{"SELECT /* ; */ 1"}, ""},
		{"SELECT 'open;", nil, "SELECT 'open;"},
	} {
		got, rest := split(c.in)
		if !slices.Equal(got, c.want) || rest != c.rest {
			t.Errorf("%q: %q, rest %q; want %q, rest %q", c.in, got, rest, c.want, c.rest)
		}
	}
}

func TestReturnsRows(t *testing.T) {
	for q, want := range map[string]bool{
		"select 1": true, "(SELECT 1)": true, "INSERT INTO t VALUES (1)": false, "insert into t values (1) returning a": true,
		"CREATE TABLE t(a INT)": false, "call p()": true, "BEGIN": false, "": false,
	} {
		if got := returnsRows(q); got != want {
			t.Errorf("%q: %v", q, got)
		}
	}
}
