package exec

import (
	"fmt"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

const benchRows = 100_000

// benchTable has columns a (0, 1, 2, ...), b (a mod 1000) and c (a text, one of 1000).
func benchTable() *memTable {
	t := &memTable{name: "t", cols: []rel.TableColumn{{Name: "a", Type: tBig}, {Name: "b", Type: tBig}, {Name: "c", Type: tText}}}
	for i := range benchRows {
		n := int64(i) * 7919 % benchRows
		t.rows = append(t.rows, []expr.Value{expr.Int(n), expr.Int(n % 1000), expr.Text(fmt.Sprintf("Name %d", n%1000))})
	}
	return t
}

func benchmark(b *testing.B, make func(t *tree) rel.Node) {
	t := newTree(b)
	n := make(t)
	q := &rel.Query{Meta: t.meta, Root: n}
	b.ReportAllocs()
	for b.Loop() {
		x := New(q, t.env, t.src, t.opts)
		if err := x.Open(); err != nil {
			b.Fatal(err)
		}
		for {
			ok, err := x.Next(nil)
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
		}
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkFilter(b *testing.B) {
	table := benchTable()
	benchmark(b, func(t *tree) rel.Node {
		s := t.scan(table)
		s.Filter = []expr.Node{t.call("<", t.ref(s.Cols[1]), num(500))}
		return t.project(s, t.call("+", t.ref(s.Cols[0]), num(1)))
	})
}

func BenchmarkHashJoin(b *testing.B) {
	table := benchTable()
	small := &memTable{name: "s", cols: table.cols, rows: table.rows[:1000]}
	for name, at := range map[string]int{"int": 1, "text": 2} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, func(t *tree) rel.Node {
				l, r := t.scan(table), t.scan(small)
				return &rel.Join{Left: l, Right: r, Hash: []rel.HashKey{{Left: t.ref(l.Cols[at]), Right: t.ref(r.Cols[at])}}}
			})
		})
	}
	b.Run("build", func(b *testing.B) {
		benchmark(b, func(t *tree) rel.Node {
			l, r := t.scan(small), t.scan(table)
			return &rel.Join{Left: l, Right: r, Hash: []rel.HashKey{{Left: t.ref(l.Cols[0]), Right: t.ref(r.Cols[0])}}}
		})
	})
}

func BenchmarkGroup(b *testing.B) {
	table := benchTable()
	for name, at := range map[string]int{"int": 1, "text": 2, "each": 0} {
		b.Run(name, func(b *testing.B) {
			benchmark(b, func(t *tree) rel.Node {
				s := t.scan(table)
				return t.group(s, s.Cols[at:at+1], "count", nil, "sum", t.ref(s.Cols[0]))
			})
		})
	}
}

func BenchmarkSort(b *testing.B) {
	table := benchTable()
	for name, at := range map[string]int{"int": 0, "text": 2} {
		for _, limit := range []expr.Node{nil, num(10)} {
			b.Run(fmt.Sprintf("%s limit=%v", name, limit != nil), func(b *testing.B) {
				benchmark(b, func(t *tree) rel.Node {
					s := t.scan(table)
					return &rel.Sort{Child: s, Keys: []rel.SortKey{{Expr: t.ref(s.Cols[at])}, {Expr: t.ref(s.Cols[0])}}, Limit: limit}
				})
			})
		}
	}
}

func BenchmarkDistinct(b *testing.B) {
	table := benchTable()
	benchmark(b, func(t *tree) rel.Node {
		s := t.scan(table)
		return &rel.Distinct{Child: s, Cols: s.Cols[1:]}
	})
}

func BenchmarkCorrelatedExists(b *testing.B) {
	table := benchTable()
	small := &memTable{name: "s", cols: table.cols, rows: table.rows[:1]}
	benchmark(b, func(t *tree) rel.Node {
		l, r := t.scan(table), t.scan(small)
		r.Filter = []expr.Node{t.call("=", t.ref(l.Cols[0]), t.ref(r.Cols[0]))}
		return &rel.Filter{Child: l, Conds: []expr.Node{t.subquery(rel.Exists, r, r.Cols, l.Cols[:1])}}
	})
}
