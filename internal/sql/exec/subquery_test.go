package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// TestScalarSubquery: no row is NULL, more than one an error; the query is executed once if nothing outside changes it.
func TestScalarSubquery(t *testing.T) {
	for _, c := range []struct {
		rows []string
		want string
		code uint16
	}{
		{nil, "NULL", 0},
		{[]string{"7"}, "7", 0},
		{[]string{"7", "8"}, "", 1242},
	} {
		b := newTree(t)
		s := b.scan(b.table(1, c.rows...))
		o := b.scan(b.table(1, "1", "2"))
		p := b.project(o, b.subquery(rel.Scalar, s, s.Cols, nil))
		if c.code != 0 {
			b.fails(p, p.Cols, c.code)
			continue
		}
		b.expect(p, p.Cols, c.want, c.want)
		if b.src.reads != 2 {
			t.Errorf("%d reads", b.src.reads)
		}
	}
}

// TestCorrelatedSubquery: it is executed for each row outside, but not again for equal ones.
func TestCorrelatedSubquery(t *testing.T) {
	b := newTree(t)
	o := b.scan(b.table(2, "1 0", "2 0", "1 1", "NULL 1", "2 2", "NULL 2", "3 3"))
	s := b.scan(b.table(2, "1 10", "2 20", "2 21"))
	g := b.group(&rel.Filter{Child: s, Conds: []expr.Node{b.call("<=>", b.ref(s.Cols[0]), b.ref(o.Cols[0]))}}, nil, "sum", b.ref(s.Cols[1]))
	sub := b.subquery(rel.Scalar, g, []rel.ColID{g.Aggs[0].Col}, o.Cols[:1])
	p := b.project(o, sub)
	b.expect(p, []rel.ColID{o.Cols[0], p.Cols[0]}, "1 10", "2 41", "1 10", "NULL NULL", "2 41", "NULL NULL", "3 NULL")
	if b.src.reads != 5 {
		t.Errorf("%d reads, want one of the outer table and four of the inner", b.src.reads)
	}
	sub.Volatile = true
	b.src.reads = 0
	b.expect(p, []rel.ColID{p.Cols[0]}, "10", "41", "10", "NULL", "41", "NULL", "NULL")
	if b.src.reads != 8 {
		t.Errorf("%d reads, want one of the inner table for each row", b.src.reads)
	}
}

// TestExactCache: values that are equal but not the same are different outside: HEX(a) of 'a' and 'A'.
func TestExactCache(t *testing.T) {
	b := newTree(t)
	o := b.scan(b.typed(tText, expr.Text("a"), expr.Text("A"), expr.Text("a")))
	inner := b.project(&rel.Values{Rows: [][]expr.Node{{}}}, b.call("hex", b.ref(o.Cols[0])))
	p := b.project(o, b.subquery(rel.Scalar, inner, inner.Cols, o.Cols))
	b.expect(p, p.Cols, "61", "41", "61")
}

// TestCacheIsBounded: more outer values than fit, and values that do not come again.
func TestCacheIsBounded(t *testing.T) {
	b := newTree(t)
	o := b.scan(b.table(1))
	for i := range 3 * cacheValues {
		o.Table.(*memTable).rows = append(o.Table.(*memTable).rows, []expr.Value{expr.Int(int64(i / 2))})
	}
	inner := b.project(&rel.Values{Rows: [][]expr.Node{{}}}, b.call("*", b.ref(o.Cols[0]), num(2)))
	sub := b.subquery(rel.Scalar, inner, inner.Cols, o.Cols)
	p := b.project(o, sub)
	got, err := b.run(p, p.Cols...)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got {
		if s != fmt.Sprint(i/2*2) {
			t.Fatalf("row %d: %s", i, s)
		}
	}
	if c := &b.last.subs[sub].cache; c.off || len(c.values) > cacheValues {
		t.Errorf("%d values are kept, off: %v", len(c.values), c.off)
	}
	for i := range o.Table.(*memTable).rows {
		o.Table.(*memTable).rows[i][0] = expr.Int(int64(i))
	}
	if _, err := b.run(p, p.Cols...); err != nil {
		t.Fatal(err)
	}
	if c := &b.last.subs[sub].cache; !c.off || c.values != nil {
		t.Error("values that never come again are still kept")
	}
}

// TestQuantified: ANY and ALL with NULLs and over no rows, uncorrelated and for each row.
func TestQuantified(t *testing.T) {
	for _, c := range []struct {
		kind rel.SubqueryKind
		op   string
		rows []string
		want string // of 1, 2, 3, NULL
	}{
		{rel.AnyOf, ">", nil, "0 0 0 0"},
		{rel.AllOf, ">", nil, "1 1 1 1"},
		{rel.AnyOf, ">", []string{"1", "2"}, "0 1 1 NULL"},
		{rel.AllOf, ">", []string{"1", "2"}, "0 0 1 NULL"},
		{rel.AnyOf, ">", []string{"1", "NULL"}, "NULL 1 1 NULL"},
		{rel.AllOf, ">", []string{"1", "NULL"}, "0 NULL NULL NULL"},
		{rel.AnyOf, "=", []string{"2", "NULL"}, "NULL 1 NULL NULL"},
		{rel.AllOf, "<>", []string{"2"}, "1 0 1 NULL"},
		{rel.AllOf, "=", []string{"2", "2"}, "0 1 0 NULL"},
		{rel.AnyOf, "<>", []string{"2", "2"}, "1 0 1 NULL"},
	} {
		for _, volatile := range []bool{false, true} {
			b := newTree(t)
			o := b.scan(b.table(1, "1", "2", "3", "NULL"))
			s := b.scan(b.table(1, c.rows...))
			sub := b.subquery(c.kind, s, s.Cols, nil, b.ref(o.Cols[0]))
			sub.Op, sub.Volatile = c.op, volatile
			p := b.project(o, sub)
			got, err := b.run(p, p.Cols...)
			if err != nil {
				t.Fatal(err)
			}
			if s := fmt.Sprint(got); s != "["+c.want+"]" {
				t.Errorf("%s %v over %v: got %s, want %s", c.op, c.kind, c.rows, s, c.want)
			}
		}
	}
}

// TestQuantifiedOnceIsAsForEachRow: the rows of a query that is executed once are reduced to the one that decides.
func TestQuantifiedOnceIsAsForEachRow(t *testing.T) {
	property(t, 500, func(t *testing.T, d drawer) {
		b := newTree(t)
		o, s := b.scan(d.draw([]expr.Type{d.typ()}, 6)), b.scan(d.draw([]expr.Type{d.typ()}, 8))
		op := []string{"<", "<=", ">", ">=", "=", "<>"}[d.IntN(6)]
		if _, err := expr.Build(op, op, nil, b.ref(o.Cols[0]), b.ref(s.Cols[0])); err != nil {
			return
		}
		var answers [2][]string
		kind := []rel.SubqueryKind{rel.AnyOf, rel.AllOf}[d.IntN(2)]
		for i := range answers {
			sub := b.subquery(kind, s, s.Cols, nil, b.ref(o.Cols[0]))
			sub.Op, sub.Volatile = op, i == 1
			p := b.project(o, sub)
			var err error
			if answers[i], err = b.run(p, o.Cols[0], p.Cols[0]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(answers[0], answers[1]) {
			t.Errorf("%s, kind %d, of %v among %v: once %q, for each row %q", op, kind, o.Table.(*memTable).rows, s.Table.(*memTable).rows,
				answers[0], answers[1])
		}
	})
}

// TestRowSubquery: (a, b) = (SELECT ...), as MySQL 9.7 answers.
func TestRowSubquery(t *testing.T) {
	for _, c := range []struct {
		op   string
		rows []string
		want string // of (1, 2), (1, NULL), (3, 4), (NULL, NULL)
		code uint16
	}{
		{"=", []string{"1 2"}, "1 NULL 0 NULL", 0},
		{"<>", []string{"1 2"}, "0 NULL 1 NULL", 0},
		{"<", []string{"3 4"}, "1 1 0 NULL", 0},
		{"<=>", []string{"1 NULL"}, "0 1 0 0", 0},
		{"<=>", []string{"NULL NULL"}, "0 0 0 1", 0},
		{"=", nil, "NULL NULL NULL NULL", 0},
		{"<=>", nil, "0 0 0 0", 0},
		{"=", []string{"1 2", "1 2"}, "", 1242},
	} {
		for _, volatile := range []bool{false, true} {
			b := newTree(t)
			o := b.scan(b.table(2, "1 2", "1 NULL", "3 4", "NULL NULL"))
			s := b.scan(b.table(2, c.rows...))
			sub := b.subquery(rel.RowEquals, s, s.Cols, nil, b.ref(o.Cols[0]), b.ref(o.Cols[1]))
			sub.Op, sub.Volatile = c.op, volatile
			p := b.project(o, sub)
			if c.code != 0 {
				b.fails(p, p.Cols, c.code)
				continue
			}
			got, err := b.run(p, p.Cols...)
			if err != nil {
				t.Fatal(err)
			}
			if s := fmt.Sprint(got); s != "["+c.want+"]" {
				t.Errorf("%s %v: got %s, want %s", c.op, c.rows, s, c.want)
			}
		}
	}
}

// TestExistsReadsOneRow, and closes what it read.
func TestExistsReadsOneRow(t *testing.T) {
	b := newTree(t)
	o, s := b.scan(b.table(1, "1", "2")), b.many(100)
	sub := b.subquery(rel.Exists, s, s.Cols, nil)
	sub.Volatile = true
	b.expect(&rel.Filter{Child: o, Conds: []expr.Node{sub}}, o.Cols, "1", "2")
	if b.src.rows != 4 {
		t.Errorf("%d rows were read", b.src.rows)
	}
}

// TestSubqueryInSubquery: the inner one reads columns of both queries around it.
func TestSubqueryInSubquery(t *testing.T) {
	property(t, 300, func(t *testing.T, d drawer) {
		b := newTree(t)
		two := []expr.Type{tBig, tBig}
		x, y, z := b.scan(d.draw(two, 5)), b.scan(d.draw(two, 5)), b.scan(d.draw(two, 5))
		in := &rel.Filter{Child: z, Conds: []expr.Node{b.call("=", b.ref(z.Cols[0]), b.ref(x.Cols[0])),
			b.call("<", b.ref(z.Cols[1]), b.ref(y.Cols[1]))}}
		mid := &rel.Filter{Child: y, Conds: []expr.Node{b.call("=", b.ref(y.Cols[0]), b.ref(x.Cols[1])),
			b.subquery(rel.Exists, in, z.Cols, []rel.ColID{x.Cols[0], y.Cols[1]})}}
		got, err := b.run(&rel.Filter{Child: x, Conds: []expr.Node{b.subquery(rel.Exists, mid, y.Cols, x.Cols)}}, x.Cols...)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		eq := func(a, b expr.Value) bool { return !a.IsNull() && !b.IsNull() && a.RawInt() == b.RawInt() }
		for _, r := range x.Table.(*memTable).rows {
			if slices.ContainsFunc(y.Table.(*memTable).rows, func(s []expr.Value) bool {
				return eq(s[0], r[1]) && slices.ContainsFunc(z.Table.(*memTable).rows, func(u []expr.Value) bool {
					return eq(u[0], r[0]) && !u[1].IsNull() && !s[1].IsNull() && u[1].RawInt() < s[1].RawInt()
				})
			}) {
				want = append(want, textOf(b.env, r))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestKeptSideOfLateralJoin: what is kept within a lateral join is forgotten when the row outside has changed, and only then.
func TestKeptSideOfLateralJoin(t *testing.T) {
	for _, hash := range []bool{false, true} {
		b := newTree(t)
		o, l, r := b.scan(b.table(1, "1", "2", "1")), b.scan(b.table(1, "1", "2")), b.scan(b.table(1, "1", "2"))
		right := rel.Node(&rel.Filter{Child: r, Conds: []expr.Node{b.call("=", b.ref(r.Cols[0]), b.ref(o.Cols[0]))}})
		inner := &rel.Join{Kind: rel.Left, Left: l, Right: right, Keep: !hash}
		if hash {
			inner.Hash = []rel.HashKey{{Left: b.ref(l.Cols[0]), Right: b.ref(r.Cols[0])}}
		} else {
			inner.On = []expr.Node{b.call("=", b.ref(l.Cols[0]), b.ref(r.Cols[0]))}
		}
		j := &rel.Join{Left: o, Right: inner, Lateral: true}
		cols := []rel.ColID{o.Cols[0], l.Cols[0], r.Cols[0]}
		b.expect(j, cols, "1 1 1", "1 2 NULL", "2 1 NULL", "2 2 2", "1 1 1", "1 2 NULL")
		b.src.reads = 0
		inner.Right = r
		b.expect(j, cols, "1 1 1", "1 2 2", "2 1 1", "2 2 2", "1 1 1", "1 2 2")
		if b.src.reads != 5 {
			t.Errorf("hash %v: %d reads, want one of the table that never changes", hash, b.src.reads)
		}
	}
}
