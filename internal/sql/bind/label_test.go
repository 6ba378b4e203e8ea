package bind

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// What clients are told about where columns come from: database, table, its own name and the column's own name, as MySQL 9.7 tells it.
func TestLabels(t *testing.T) {
	m := newMemory()
	m.declare(t, "t(id int notnull,c varchar(10))")
	m.declareView(t, "w = select c, id + 1 as i from t")
	for query, want := range map[string]string{
		"select c, c + 1 from t x":                                     "test.x.t.c ...",
		"select * from (select c from t) x":                            "test.x.t.c",
		"select c as d from (select c from t) x":                       "test.x.t.c",
		"select * from (select c + 1 as e, c as f from t) x":           ".x..e test.x.t.f",
		"select * from (select c from t group by c limit 1) x":         "test.x.t.c",
		"with x(a, b) as (select c, id + 1 from t) select a, b from x": "test.x.t.a .x..b",
		"select * from (select c from t union select c from t) x":      ".x..c",
		"select c from t union select c from t":                        "...c",
		"select m from (select * from (select c as m from t) y) x":     "test.x.t.m",
		"select * from (select max(c) as m from t) x":                  ".x..m",
		"select * from w":        "test.w.w.c .w.w.i",
		"select c as z from w q": "test.q.w.c",
		"select * from t right join (select id from t) y using (id)": "test.y.t.id test.t.t.c",
		"select x.c from (select c, id from t) x group by x.c":       "test.x.t.c",
	} {
		stmt, err := sqlparser.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Bind(m, stmt.(sqlparser.SelectStatement))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var got []string
		for _, o := range q.Out {
			got = append(got, fmt.Sprintf("%s.%s.%s.%s", o.From.Database, o.From.Table, o.From.OrgTable, o.From.OrgName))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", query, s, want)
		}
	}
}
