package exec

import (
	"errors"
	"math"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func TestScanFilterProject(t *testing.T) {
	b := newTree(t)
	s := b.scan(b.table(2, "1 10", "2 NULL", "3 30", "4 40"))
	f := &rel.Filter{Child: s, Conds: []expr.Node{b.call(">", b.ref(s.Cols[1]), num(5)), b.call("<>", b.ref(s.Cols[0]), num(3))}}
	p := b.project(f, b.call("+", b.ref(s.Cols[0]), b.ref(s.Cols[1])))
	p2 := b.project(p, b.call("*", b.ref(p.Cols[0]), num(2)))
	b.expect(p2, []rel.ColID{s.Cols[0], p.Cols[0], p2.Cols[0]}, "1 11 22", "4 44 88")
}

func TestScanStopsAtLimit(t *testing.T) {
	b := newTree(t)
	s := b.scan(b.table(1, "1", "2", "3", "4", "5"))
	s.Limit = 2
	b.expect(s, s.Cols, "1", "2")
	if b.src.last.Limit != 2 || b.src.rows != 2 {
		t.Errorf("limit %d, %d rows were read", b.src.last.Limit, b.src.rows)
	}
	s.Filter = []expr.Node{b.call(">", b.ref(s.Cols[0]), num(2))}
	b.expect(s, s.Cols, "3", "4")
	if b.src.last.Limit != 0 || b.src.last.Uses != 2 {
		t.Errorf("the source was told to stop at %d rows, although a filter follows", b.src.last.Limit)
	}
}

func TestValuesAndOne(t *testing.T) {
	b := newTree(t)
	v := &rel.Values{Rows: [][]expr.Node{{num(1), num(2)}, {num(3), num(4)}}, Cols: []rel.ColID{b.col("x", expr.TInt), b.col("y", expr.TInt)}}
	b.expect(v, v.Cols, "1 2", "3 4")
	b.expect(&rel.One{Child: v}, v.Cols, "1 2")
	none := &rel.Values{Rows: [][]expr.Node{{}}}
	b.expect(b.project(none, num(7)), []rel.ColID{rel.ColID(len(b.meta.Columns) - 1)}, "7")
}

func TestLimit(t *testing.T) {
	lit := func(n uint64) expr.Node { return &expr.Lit{V: expr.Uint(n), T: expr.TUint} }
	for _, c := range []struct {
		count, offset expr.Node
		found         bool
		want          []string
		rows          int
		read          int
	}{
		{count: lit(2), want: []string{"1", "2"}, rows: 2, read: 2},
		{count: lit(2), offset: lit(3), want: []string{"4", "5"}, rows: 5, read: 5},
		{count: lit(0), rows: 0, read: 0},
		{count: lit(0), found: true, rows: 5, read: 5},
		{count: lit(2), offset: lit(1), found: true, want: []string{"2", "3"}, rows: 5, read: 5},
		{count: lit(math.MaxUint64), offset: lit(4), want: []string{"5"}, rows: 5, read: 5},
		{count: lit(1), offset: lit(1), want: []string{"2"}, rows: 2, read: 2},
		{count: lit(1), offset: lit(math.MaxUint64), rows: 5, read: 5},
		{offset: lit(4), want: []string{"5"}, rows: 5, read: 5},
	} {
		b := newTree(t)
		s := b.scan(b.table(1, "1", "2", "3", "4", "5"))
		b.expect(&rel.Limit{Child: s, Count: c.count, Offset: c.offset, FoundRows: c.found}, s.Cols, c.want...)
		if got := b.last.FoundRows(); got != uint64(c.rows) {
			t.Errorf("%+v: found %d rows", c, got)
		}
		if b.src.rows != c.read {
			t.Errorf("%+v: %d rows were read", c, b.src.rows)
		}
	}
	b := newTree(t)
	s := b.scan(b.table(1, "1"))
	b.fails(&rel.Limit{Child: s, Count: num(-1)}, s.Cols, 1210)
}

func TestDistinct(t *testing.T) {
	b := newTree(t)
	s := b.scan(b.typed(tText, expr.Text("a"), expr.Text("A"), expr.Null, expr.Text("b"), expr.Null, expr.Text("á")))
	b.expect(&rel.Distinct{Child: s, Cols: s.Cols}, s.Cols, "a", "NULL", "b")
}

func TestInterrupted(t *testing.T) {
	killed := errors.New("killed")
	for name, make := range map[string]func(b *tree) rel.Node{
		"cross join": func(b *tree) rel.Node {
			return &rel.Join{Left: b.many(100), Right: b.many(100), On: []expr.Node{num(0)}}
		},
		"sort": func(b *tree) rel.Node {
			s := b.many(3000)
			return &rel.Sort{Child: s, Keys: []rel.SortKey{{Expr: b.ref(s.Cols[0]), Desc: true}}}
		},
		"recursion": func(b *tree) rel.Node {
			b.opts.MaxRecursion = math.MaxInt
			return b.counter(func(rel.ColID) []expr.Node { return nil })
		},
		"kept": func(b *tree) rel.Node {
			return &rel.Join{Left: b.many(100), Right: b.many(100), On: []expr.Node{num(0)}, Keep: true}
		},
	} {
		b := newTree(t)
		polls := 0
		b.env.Interrupted = func() error {
			if polls++; polls == 2 {
				return killed
			}
			return nil
		}
		if _, err := b.run(make(b)); err != killed {
			t.Errorf("%s: %v after %d polls", name, err, polls)
		}
	}
}

// many is a table of n numbers.
func (b *tree) many(n int) *rel.Scan {
	t := b.table(1)
	for i := range n {
		t.rows = append(t.rows, []expr.Value{expr.Int(int64(i))})
	}
	return b.scan(t)
}

func TestErrorsOfTheSource(t *testing.T) {
	for at := 1; at <= 2; at++ {
		b := newTree(t)
		l, r := b.scan(b.table(1, "1", "2")), b.scan(b.table(1, "1", "2"))
		b.src.failAt = at
		if _, err := b.run(&rel.Join{Left: l, Right: r}, l.Cols[0]); err == nil {
			t.Error("no error")
		}
	}
}

func TestStrictModeFails(t *testing.T) {
	b := newTree(t)
	b.env.Mode, b.env.Change = expr.StrictTables, true
	s := b.scan(b.typed(tText, expr.Text("1"), expr.Text("2x")))
	p := b.project(s, b.call("+", b.ref(s.Cols[0]), num(0)))
	b.fails(p, p.Cols, 1292)
}

func TestMemoryLimit(t *testing.T) {
	for name, make := range map[string]func(b *tree) rel.Node{
		"sort": func(b *tree) rel.Node {
			s := b.many(3000)
			return &rel.Sort{Child: s, Keys: []rel.SortKey{{Expr: b.ref(s.Cols[0])}}}
		},
		"distinct": func(b *tree) rel.Node { s := b.many(3000); return &rel.Distinct{Child: s, Cols: s.Cols} },
		"group":    func(b *tree) rel.Node { s := b.many(3000); return b.group(s, s.Cols, "count", nil) },
		"hash join": func(b *tree) rel.Node {
			l, r := b.many(3000), b.many(3000)
			return &rel.Join{Left: l, Right: r, Hash: []rel.HashKey{{Left: b.ref(l.Cols[0]), Right: b.ref(r.Cols[0])}}}
		},
		"except": func(b *tree) rel.Node {
			l, r := b.many(3000), b.many(3000)
			return &rel.SetOp{Kind: rel.Except, Left: l, Right: r, LeftCols: l.Cols, RightCols: r.Cols, Cols: []rel.ColID{b.col("x", tBig)}}
		},
		"in": func(b *tree) rel.Node {
			l, r := b.many(1), b.many(3000)
			return &rel.Filter{Child: l, Conds: []expr.Node{b.subquery(rel.In, r, r.Cols, nil, b.ref(l.Cols[0]))}}
		},
	} {
		b := newTree(t)
		b.opts.MemoryLimit = 50000
		b.fails(make(b), nil, 1038)
		b = newTree(t)
		b.opts.MemoryLimit = 5000000
		if _, err := b.run(make(b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b.last.mem.used > 200000 && name != "hash join" && name != "in" {
			t.Errorf("%s: %d bytes are still counted", name, b.last.mem.used)
		}
	}
	// a top-N sort keeps no more than N rows; a kept side is read again if there is no room for it
	b := newTree(t)
	b.opts.MemoryLimit = 50000
	s := b.many(3000)
	b.expect(&rel.Sort{Child: s, Keys: []rel.SortKey{{Expr: b.ref(s.Cols[0]), Desc: true}}, Limit: num(2)}, s.Cols, "2999", "2998")
	l, r := b.many(2), b.many(3000)
	j := &rel.Join{Left: l, Right: r, On: []expr.Node{b.call("=", b.ref(l.Cols[0]), b.ref(r.Cols[0]))}, Keep: true}
	b.expect(j, []rel.ColID{l.Cols[0], r.Cols[0]}, "0 0", "1 1")
}
