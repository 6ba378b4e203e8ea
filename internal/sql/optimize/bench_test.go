package optimize_test

import (
	"testing"

	"github.com/longitude-db/longitude/internal/sql/optimize"
)

// BenchmarkOptimize is what planning adds to a statement, after binding.
func BenchmarkOptimize(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"point", "select * from o where id = 5"},
		{"page", "select o.id, c.name from o left join c on c.id = o.cid order by o.id desc limit 20"},
		{"four tables", "select * from o, c, i, p where o.cid = c.id and i.oid = o.id and i.pid = p.id and c.name = 'bob'"},
		{"exists", "select * from c where exists (select 1 from o where o.cid = c.id and o.total > 5) and c.country = 1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := newHost()
			h.declare(b, "o(id int,cid int,at date,total decimal(8),primary PRIMARY id,key kc cid) 100000")
			h.declare(b, "c(id int,name varchar(20),country int,primary PRIMARY id,key kn name) 10000")
			h.declare(b, "i(id int,oid int,pid int,qty int,primary PRIMARY id,key ko oid) 500000")
			h.declare(b, "p(id int,name varchar(20),primary PRIMARY id) 1000")
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				q, err := bound(h, c.text)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := optimize.Optimize(q, h.env, optimize.Options{}); err != nil {
					b.Fatal(err)
				}
				if q.Root == nil {
					b.Fatal("no plan")
				}
			}
		})
	}
}
