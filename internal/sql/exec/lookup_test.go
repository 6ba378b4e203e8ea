package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// lookupTree draws a join of l, or of a join, with a table that is found by an index, with all that such a join may have beside.
func (d drawer) lookupTree(b *tree, left rel.Node, l []rel.ColID, made *[]rel.ColID) *rel.Join {
	typ := b.meta.Columns[l[0]].Type
	if d.IntN(4) == 0 {
		typ = d.typ()
	}
	r := b.scan(d.draw([]expr.Type{typ, tBig, tBig}, []int{4, 12, 40}[d.IntN(3)]))
	equal := func(op string, a, c expr.Node) expr.Node {
		e, err := expr.Build(op, op, nil, a, c)
		if err != nil {
			return nil
		}
		return e
	}
	op := []string{"=", "=", "<=>"}[d.IntN(3)]
	safe := []bool{op == "<=>", false}
	cond := equal(op, b.ref(l[0]), b.ref(r.Cols[0]))
	if cond == nil {
		return nil
	}
	r.Filter = []expr.Node{cond}
	key := func() expr.Node { return b.ref(l[0]) }
	spans := []rel.Span{{Equal: []expr.Node{key()}, NullSafe: safe[:1]}}
	switch d.IntN(5) {
	case 0: // two columns
		r.Filter = append(r.Filter, equal("=", b.ref(r.Cols[1]), b.ref(l[1])))
		spans[0].Equal, spans[0].NullSafe = append(spans[0].Equal, b.ref(l[1])), safe
	case 1: // IN
		r.Filter = append(r.Filter, b.call("or", equal("=", b.ref(r.Cols[1]), num(1)), equal("=", b.ref(r.Cols[1]), b.ref(l[1]))))
		spans = []rel.Span{{Equal: []expr.Node{key(), num(1)}, NullSafe: safe}, {Equal: []expr.Node{key(), b.ref(l[1])}, NullSafe: safe}}
	case 2: // a range behind
		r.Filter = append(r.Filter, b.call(">", b.ref(r.Cols[1]), num(0)))
		spans[0].Low = &rel.Bound{Value: num(0), Open: true}
	case 3: // a value and a range
		r.Filter = append(r.Filter, b.call("or", b.call("=", b.ref(r.Cols[1]), num(2)), b.call("<", b.ref(r.Cols[1]), num(1))))
		spans = []rel.Span{{Equal: []expr.Node{key(), num(2)}, NullSafe: safe},
			{Equal: []expr.Node{key()}, NullSafe: safe[:1], High: &rel.Bound{Value: num(1), Open: true}}}
	}
	if d.IntN(3) == 0 {
		own := b.call("<>", b.ref(r.Cols[2]), num(1))
		r.Filter = slices.Insert(r.Filter, d.IntN(len(r.Filter)+1), own)
	}
	r.Access = &rel.Access{Index: &memIndex{parts: []rel.IndexPart{{Place: 0}, {Place: 1}}}, Spans: spans, Reverse: d.IntN(3) == 0}
	j := &rel.Join{Kind: rel.JoinKind(d.IntN(4)), Left: left, Right: r}
	if d.IntN(3) == 0 {
		j.On = []expr.Node{b.call([]string{"<", "<>"}[d.IntN(2)], b.ref(l[1]), b.ref(r.Cols[2]))}
		j.NullAware = j.Kind == rel.Anti && d.IntN(2) == 0
	}
	cols := r.Cols
	switch d.IntN(8) {
	case 0: // each may be the right side of a join, and the scan is what it begins with
		g := b.group(j.Right, nil, "count", nil, "sum", b.ref(r.Cols[2]))
		j.Right, j.Lateral, cols = g, true, g.Columns()
		j.On = nil
	case 1:
		j.Right, j.On = &rel.Distinct{Child: r, Cols: r.Cols[1:2]}, nil
		cols = r.Cols[1:2]
	case 2:
		j.Right, j.On, cols = &rel.One{Child: r}, nil, r.Cols
	case 3:
		r.Limit = 1 + d.IntN(2)
	case 4:
		in := b.scan(d.draw([]expr.Type{tBig, tBig}, 10))
		k := b.byIndex(rel.JoinKind(d.IntN(2)), r, in)
		in.Filter[0] = b.call("=", b.ref(in.Cols[1]), b.ref(r.Cols[1]))
		in.Access.Spans[0].Equal[0] = b.ref(r.Cols[1])
		j.Right, cols = k, append(slices.Clone(cols), in.Cols...)
	case 5, 6:
		p := b.project(j.Right, b.call("+", b.ref(r.Cols[2]), b.ref(l[1])))
		j.Right = &rel.Filter{Child: p, Conds: []expr.Node{b.call("<>", b.ref(p.Cols[0]), num(2))}}
		cols = append(slices.Clone(cols), p.Cols[0])
	}
	if d.IntN(4) == 0 { // leaves the table to those that read several requests at once
		j.Right = &rel.Distinct{Child: j.Right, Cols: cols}
	}
	if j.Kind == rel.Inner || j.Kind == rel.Left {
		*made = append(*made, cols...)
	}
	return j
}

// TestLookupsAhead: joins that look several rows up at once give the rows of those that look each up by itself, in the same order (L1),
// whatever stands above and below them, and when they are opened again.
func TestLookupsAhead(t *testing.T) {
	fewer, equal := 0, 0
	property(t, 1000, func(t *testing.T, d drawer) {
		b := newTree(t)
		l := b.scan(d.draw([]expr.Type{d.typ(), []expr.Type{tBig, tBig, drawn[3]}[d.IntN(3)]}, []int{3, 10, 60}[d.IntN(3)]))
		cols := slices.Clone(l.Cols)
		var n rel.Node = l
		for range 1 + d.IntN(2) {
			j := d.lookupTree(b, n, l.Cols, &cols)
			if j == nil {
				return
			}
			n = j
		}
		switch d.IntN(6) {
		case 0:
			n = &rel.Limit{Child: n, Count: num(int64(d.IntN(20)))}
		case 1:
			n = &rel.Sort{Child: n, Keys: []rel.SortKey{{Expr: b.ref(l.Cols[1])}}}
		case 2: // opened again for each row of another table, on which a side of the join depends
			o := b.scan(d.draw([]expr.Type{tBig}, 4))
			n = &rel.Filter{Child: n, Conds: []expr.Node{b.call("<>", b.ref(o.Cols[0]), b.ref(l.Cols[1]))}}
			l.Filter = []expr.Node{b.call(">=", b.ref(l.Cols[1]), b.ref(o.Cols[0]))}
			n = &rel.Join{Kind: rel.Left, Left: o, Right: n, Lateral: true}
			cols = append(cols, o.Cols...)
		case 3:
			e := b.subquery(rel.Exists, &rel.One{Child: n}, nil, nil)
			p := b.project(&rel.Values{Rows: [][]expr.Node{{}}}, e)
			n, cols = p, p.Cols
		}
		b.opts.NoAhead = true
		want, err := b.run(n, cols...)
		if err != nil {
			t.Fatal(err)
		}
		alone := b.src.reads
		b.opts.NoAhead, b.src.reads = false, 0
		got, err := b.run(n, cols...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", rel.Format(n), got, want)
		}
		if b.last.mem.used != 0 {
			t.Errorf("%d bytes are still counted after Close", b.last.mem.used)
		}
		if b.src.reads < alone {
			fewer++
		} else {
			equal++
		}
	})
	if fewer < equal {
		t.Errorf("fewer reads in %d joins, not in %d", fewer, equal)
	}
}

// keyed makes a table of rows i, 0 <= i < n: i, i/each.
func (b *tree) keyed(n, each int) *memTable {
	t := b.table(2)
	for i := range n {
		t.rows = append(t.rows, []expr.Value{expr.Int(int64(i)), expr.Int(int64(i / each))})
	}
	return t
}

// byIndex joins l with r by l's first column and r's second one, by an index.
func (b *tree) byIndex(kind rel.JoinKind, l *rel.Scan, r *rel.Scan) *rel.Join {
	r.Filter = []expr.Node{b.call("=", b.ref(r.Cols[1]), b.ref(l.Cols[0]))}
	r.Access = &rel.Access{Index: &memIndex{parts: []rel.IndexPart{{Place: 1}}}, Spans: []rel.Span{{Equal: []expr.Node{b.ref(l.Cols[0])}}}}
	return &rel.Join{Kind: kind, Left: l, Right: r}
}

// TestLookupsAheadReads: how often the Source is asked, and for how much (L2, L3).
func TestLookupsAheadReads(t *testing.T) {
	for _, c := range []struct {
		name        string
		kind        rel.JoinKind
		left, each  int // rows; and partners of each
		limit       int
		reads, rows int // that the right side asks for, at most
	}{
		{"all", rel.Inner, 300, 2, 0, 4, 600},
		{"the first", rel.Inner, 300, 2, 1, 1, 1},
		{"some", rel.Inner, 300, 1, 10, 4, 15},
		{"semi", rel.Semi, 300, 2, 0, 4, 600},
		{"anti", rel.Anti, 300, 2, 0, 4, 600},
		{"many partners", rel.Inner, 20, 5000, 0, 20 + 2, 150_000},
		{"semi, many partners", rel.Semi, 40, 500, 0, 40 + 2, 40 + 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTree(t)
			l, r := b.scan(b.keyed(c.left, 1)), b.scan(b.keyed(c.left*c.each, c.each))
			var n rel.Node = b.byIndex(c.kind, l, r)
			if c.limit > 0 {
				n = &rel.Limit{Child: n, Count: num(int64(c.limit))}
			}
			b.opts.NoAhead = true
			want, err := b.run(n, l.Cols[0])
			if err != nil {
				t.Fatal(err)
			}
			b.opts.NoAhead, b.src.reads, b.src.rows = false, 0, 0
			got, err := b.run(n, l.Cols[0])
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v: got %q, want %q", err, got, want)
			}
			leftRows := c.left
			if c.limit > 0 {
				leftRows = 0
			}
			if reads, rows := b.src.reads-1, b.src.rows-leftRows; reads > c.reads || rows > c.rows+c.limit*2 {
				t.Errorf("%d reads of %d rows, want %d of %d", reads, rows, c.reads, c.rows)
			}
		})
	}
}

// TestLookupsAheadTellErrorsInTurn: an error that a later row of the left side causes comes after the rows before it, and not at all if
// they suffice (L4).
func TestLookupsAheadTellErrorsInTurn(t *testing.T) {
	for _, above := range []bool{false, true} {
		lookupsTellErrorsInTurn(t, above)
	}
}

// above: the right side is an operator above the scan.
func lookupsTellErrorsInTurn(t *testing.T, above bool) {
	b := newTree(t)
	l, r := b.scan(b.keyed(8, 1)), b.scan(b.keyed(8, 1))
	fails := func(id rel.ColID) expr.Node { // where the column is 5, and is 1 elsewhere
		over := b.call("+", num(1<<63-1), b.call("=", b.ref(id), num(5)))
		return b.call(">", over, num(0))
	}
	for name, put := range map[string]func(j *rel.Join){
		"left":  func(j *rel.Join) { l.Filter = []expr.Node{fails(l.Cols[0])} },
		"right": func(j *rel.Join) { r.Filter = append([]expr.Node{fails(r.Cols[0])}, r.Filter...) },
		"span": func(j *rel.Join) {
			r.Access.Spans[0].Equal[0] = b.call("*", b.ref(l.Cols[0]), fails(l.Cols[0]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l.Filter = nil
			j := b.byIndex(rel.Inner, l, r)
			put(j)
			if above {
				j.Right = &rel.Distinct{Child: r, Cols: r.Cols}
			}
			b.fails(j, l.Cols[:1], 1690)
			b.expect(&rel.Limit{Child: j, Count: num(5)}, l.Cols[:1], "0", "1", "2", "3", "4")
			got, _ := b.run(j, l.Cols[0])
			if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(got, want) {
				t.Errorf("before the error: %q, want %q", got, want)
			}
		})
	}
}

// TestLookupsAheadAreNotForVolatile: what is evaluated ahead would have another value (L4).
func TestLookupsAheadAreNotForVolatile(t *testing.T) {
	for name, put := range map[string]func(b *tree, j *rel.Join){
		"left": func(b *tree, j *rel.Join) {
			j.Left.(*rel.Scan).Filter = []expr.Node{b.call(">=", b.call("rand"), num(0))}
		},
		"right": func(b *tree, j *rel.Join) {
			s := j.Right.(*rel.Scan)
			s.Filter = append(s.Filter, b.call(">=", b.call("rand"), num(0)))
		},
		"on": func(b *tree, j *rel.Join) { j.On = []expr.Node{b.call(">=", b.call("rand"), num(0))} },
	} {
		b := newTree(t)
		j := b.byIndex(rel.Inner, b.scan(b.keyed(20, 1)), b.scan(b.keyed(20, 1)))
		put(b, j)
		if _, err := b.run(j); err != nil {
			t.Fatal(err)
		}
		if b.src.reads != 21 {
			t.Errorf("%s: %d reads, want one for each row", name, b.src.reads)
		}
	}
}

// keySource reads tables of which row i has the key i in each column, and the index i alone.
type keySource struct {
	reads int
	n     int64
}

func (s *keySource) Read(r *Request) (Rows, error) {
	s.reads++
	out := &keyRows{}
	for i := range r.Spans {
		if k := r.Spans[i].Equal[0].RawInt(); k < s.n {
			out.keys = append(out.keys, k)
		}
	}
	if r.Spans == nil {
		for k := range s.n {
			out.keys = append(out.keys, k)
		}
	}
	slices.Sort(out.keys)
	return out, nil
}

type keyRows struct{ keys []int64 }

func (r *keyRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if len(r.keys) == 0 {
		return false, nil
	}
	for _, c := range cols {
		regs[c] = expr.Int(r.keys[0])
	}
	r.keys = r.keys[1:]
	return true, nil
}

func (r *keyRows) Close() error { return nil }

func BenchmarkLookupJoin(b *testing.B) {
	for _, rows := range []int64{1, 1000} {
		for _, ahead := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%d/ahead=%v", rows, ahead), func(b *testing.B) {
				t := newTree(b)
				table := t.table(2)
				q := &rel.Query{Meta: t.meta, Root: t.byIndex(rel.Inner, t.scan(table), t.scan(table))}
				s := &keySource{n: rows}
				b.ReportAllocs()
				for b.Loop() {
					x := New(q, t.env, s, Options{NoAhead: !ahead})
					got, err := rowsOf(x, t.env, 0)
					if err = firstError(err, x.Close()); err != nil || len(got) != int(rows) {
						b.Fatal(len(got), err)
					}
				}
				b.ReportMetric(float64(s.reads)/float64(b.N), "reads/op")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}
