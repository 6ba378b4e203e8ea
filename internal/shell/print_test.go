package shell

import (
	"database/sql"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	p := &printer{w: &b, table: true}
	p.row([]string{"id", "name"})
	p.row([]string{"1", cell(sql.RawBytes("a\nb"), true)})
	p.row([]string{"2", cell(nil, true)})
	p.row([]string{"3", cell(sql.RawBytes("日本"), true)})
	p.row([]string{"4", cell(sql.RawBytes{0xff, 0x00}, true)})
	p.flush(true)
	want := `
+----+--------+
| id | name   |
+----+--------+
| 1  | a\nb   |
| 2  | NULL   |
| 3  | 日本   |
| 4  | 0xff00 |
+----+--------+
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got:%swant:%s", got, want)
	}
}

func TestTabSeparated(t *testing.T) {
	var b strings.Builder
	p := &printer{w: &b}
	p.row([]string{"id", "name"})
	p.row([]string{"1", cell(sql.RawBytes("a\tb\\c"), false)})
	p.flush(true)
	if got, want := b.String(), "id\tname\n1\ta\\tb\\\\c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
