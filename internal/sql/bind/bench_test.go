package bind

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// BenchmarkBind binds statements that are parsed already.
func BenchmarkBind(b *testing.B) {
	m := newMemory()
	t := &testing.T{}
	m.declare(t, "t(id int,k int notnull,c varchar(120),pad varchar(60),primary p id)")
	m.declare(t, "u(id int,tid int,d int,s varchar(10),primary p id)")
	for name, text := range map[string]string{
		"point":   "select c from t where id = 5",
		"join":    "select t.id, t.c, u.d from t join u on u.tid = t.id where t.k > 3 and u.s = 'x' order by t.k, u.d desc limit 10",
		"grouped": "select u.tid, count(*), sum(u.d) as s from t join u on u.tid = t.id where t.k > 3 group by u.tid having s > 10 order by s",
		"exists":  "select c from t where exists (select 1 from u where u.tid = t.id and u.d > 3)",
	} {
		stmt, err := sqlparser.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Bind(m, stmt.(sqlparser.SelectStatement)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
