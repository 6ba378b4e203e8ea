package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// drawer draws small tables of values that are often equal, NULL, or equal although they look different.
type drawer struct{ *rand.Rand }

// drawn are types whose values may be compared with each other.
var drawn = []expr.Type{
	tBig,
	{Name: expr.BigInt, Unsigned: true, Length: 20, Collation: expr.BinaryCollation, Coerc: expr.Implicit},
	{Name: expr.DecimalType, Length: 10, Scale: 2, Collation: expr.BinaryCollation, Coerc: expr.Implicit},
	{Name: expr.DoubleType, Length: 22, Scale: expr.NotFixed, Collation: expr.BinaryCollation, Coerc: expr.Implicit},
	tText,
	expr.TText(20, 45, expr.Implicit), // utf8mb4_general_ci: PAD SPACE
	{Name: expr.Varbinary, Length: 20, Collation: expr.BinaryCollation, Coerc: expr.Implicit},
}

func (d drawer) value(t expr.Type) expr.Value {
	n := d.IntN(6)
	if n == 5 {
		return expr.Null
	}
	switch t.Kind() {
	case expr.KindInt:
		return expr.Int(int64(n) - 1)
	case expr.KindUint:
		return expr.Uint([]uint64{0, 1, 2, 3, 1<<64 - 1}[n])
	case expr.KindDecimal:
		return expr.Decimal([]*apd.Decimal{apd.New(100, -2), apd.New(1, 0), apd.New(-100, -2), apd.New(150, -2), apd.New(0, -2)}[n])
	case expr.KindFloat:
		return expr.Float([]float64{1, -1, 0, 1.5, 18446744073709551615}[n])
	case expr.KindText:
		return expr.Text([]string{"a", "A", "1", "1.0", "a "}[n])
	}
	return expr.Bytes([]string{"a", "A", "1", "1.0", "a "}[n])
}

func (d drawer) typ() expr.Type { return drawn[d.IntN(len(drawn))] }

func (d drawer) draw(types []expr.Type, most int) *memTable {
	t := &memTable{name: "t"}
	for i, typ := range types {
		t.cols = append(t.cols, rel.TableColumn{Name: string(rune('a' + i)), Type: typ, Nullable: true})
	}
	for range d.IntN(most + 1) {
		var row []expr.Value
		for _, typ := range types {
			row = append(row, d.value(typ))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func property(t *testing.T, rounds int, fn func(t *testing.T, d drawer)) {
	for i := range rounds {
		fn(t, drawer{rand.New(rand.NewPCG(uint64(i), 7))})
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
}

// joinRows joins two tables as the definition has it: each pair is looked at.
func joinRows(b *tree, kind rel.JoinKind, aware bool, l, r *rel.Scan, conds []expr.Node) (out []string) {
	regs := make([]expr.Value, len(b.meta.Columns))
	b.env.Host = &rel.Frame{Regs: regs}
	defer func() { b.env.Host = nil }()
	put := func(cols []rel.ColID, row []expr.Value) {
		for i, c := range cols {
			regs[c] = row[i]
		}
	}
	for _, x := range l.Table.(*memTable).rows {
		put(l.Cols, x)
		partners := 0
		for _, y := range r.Table.(*memTable).rows {
			put(r.Cols, y)
			v, err := b.call("and", conds...).Eval(b.env)
			if err != nil {
				b.t.Fatal(err)
			}
			is, known, _ := expr.Truth(b.env, v)
			if !is && (known || !aware) {
				continue
			}
			partners++
			if kind == rel.Inner || kind == rel.Left {
				out = append(out, textOf(b.env, append(slices.Clone(x), y...)))
			}
		}
		switch {
		case kind == rel.Left && partners == 0:
			out = append(out, textOf(b.env, append(slices.Clone(x), make([]expr.Value, len(r.Cols))...)))
		case kind == rel.Semi && partners > 0, kind == rel.Anti && partners == 0:
			out = append(out, textOf(b.env, x))
		}
	}
	return out
}

func TestJoinsAreWhatTheyAreDefinedToBe(t *testing.T) {
	property(t, 1000, func(t *testing.T, d drawer) {
		b := newTree(t)
		l, r := b.scan(d.draw([]expr.Type{d.typ(), d.typ()}, 6)), b.scan(d.draw([]expr.Type{d.typ(), d.typ()}, 6))
		type equality struct {
			l, r     rel.ColID
			nullSafe bool
		}
		var equal []equality
		for i := range 1 + d.IntN(2) {
			equal = append(equal, equality{l.Cols[i], r.Cols[d.IntN(2)], d.IntN(4) == 0})
		}
		other := d.IntN(3) == 0
		op := []string{"<", ">=", "<>"}[d.IntN(3)]
		conditions := func(split bool) (keys []rel.HashKey, conds []expr.Node) {
			for _, e := range equal {
				if split {
					keys = append(keys, rel.HashKey{Left: b.ref(e.l), Right: b.ref(e.r), NullSafe: e.nullSafe})
				} else {
					conds = append(conds, b.call(map[bool]string{false: "=", true: "<=>"}[e.nullSafe], b.ref(e.l), b.ref(e.r)))
				}
			}
			if other {
				conds = append(conds, b.call(op, b.ref(l.Cols[1]), b.ref(r.Cols[1])))
			}
			return keys, conds
		}
		for _, e := range equal { // collations that cannot be mixed
			if _, err := expr.Build("=", "=", nil, b.ref(e.l), b.ref(e.r)); err != nil {
				return
			}
		}
		if _, err := expr.Build(op, op, nil, b.ref(l.Cols[1]), b.ref(r.Cols[1])); err != nil {
			return
		}
		kind := rel.JoinKind(d.IntN(4))
		aware := kind == rel.Anti && d.IntN(2) == 0
		_, conds := conditions(false)
		want := joinRows(b, kind, aware, l, r, conds)
		out := slices.Clone(l.Cols)
		if kind == rel.Inner || kind == rel.Left {
			out = append(out, r.Cols...)
		}
		for _, how := range []string{"nested", "kept", "hash", "lateral"} {
			n := &rel.Join{Kind: kind, Left: l, Right: r, NullAware: aware, Keep: how == "kept", Lateral: how == "lateral"}
			n.Hash, n.On = conditions(how == "hash" || how == "lateral")
			got, err := b.run(n, out...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s join of kind %d, null-aware %v\n%v\n%v\ngot  %q\nwant %q", how, kind, aware, l.Table.(*memTable).rows,
					r.Table.(*memTable).rows, got, want)
			}
		}
	})
}

// TestJoinsWithinJoins: joins below joins, opened again for each row of the left side, with Keep and without.
func TestJoinsWithinJoins(t *testing.T) {
	property(t, 333, func(t *testing.T, d drawer) {
		b := newTree(t)
		var scans []*rel.Scan
		for range 4 {
			scans = append(scans, b.scan(d.draw([]expr.Type{tBig, tBig}, 4)))
		}
		var cols []rel.ColID
		for _, s := range scans {
			cols = append(cols, s.Cols...)
		}
		shape := d.IntN(3)
		kinds := []rel.JoinKind{rel.JoinKind(d.IntN(2)), rel.JoinKind(d.IntN(2)), rel.JoinKind(d.IntN(2))}
		make := func(how func() int) rel.Node {
			join := func(kind rel.JoinKind, l, r rel.Node, lc, rc rel.ColID) rel.Node {
				j := &rel.Join{Kind: kind, Left: l, Right: r}
				switch how() {
				case 0:
					j.Hash = []rel.HashKey{{Left: b.ref(lc), Right: b.ref(rc)}}
					return j
				case 1:
					j.Keep = true
				case 2:
					f := &rel.Filter{Child: r, Conds: []expr.Node{b.call("=", b.ref(lc), b.ref(rc))}}
					j.Right, j.Lateral = f, true
					return j
				}
				j.On = []expr.Node{b.call("=", b.ref(lc), b.ref(rc))}
				return j
			}
			a, c, e, f := scans[0], scans[1], scans[2], scans[3]
			switch shape {
			case 0:
				return join(kinds[0], join(kinds[1], join(kinds[2], a, c, a.Cols[0], c.Cols[0]), e, a.Cols[1], e.Cols[0]), f, e.Cols[1], f.Cols[0])
			case 1:
				return join(kinds[0], a, join(kinds[1], c, join(kinds[2], e, f, e.Cols[0], f.Cols[0]), c.Cols[1], e.Cols[1]), a.Cols[0], c.Cols[0])
			}
			return join(kinds[0], join(kinds[1], a, c, a.Cols[0], c.Cols[0]), join(kinds[2], e, f, e.Cols[0], f.Cols[0]), c.Cols[1], e.Cols[1])
		}
		want, err := b.run(make(func() int { return 3 }), cols...)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := b.run(make(func() int { return d.IntN(4) }), cols...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
	})
}

// TestSemiJoinsAreSubqueries: IN, NOT IN, EXISTS and NOT EXISTS, as joins and as subqueries, correlated and not.
func TestSemiJoinsAreSubqueries(t *testing.T) {
	property(t, 666, func(t *testing.T, d drawer) {
		b := newTree(t)
		typ := d.typ()
		width := 1 + d.IntN(2)
		types := []expr.Type{typ, tBig}[:width]
		l, r := b.scan(d.draw(types, 6)), b.scan(d.draw(types, 6))
		refs := func(cols []rel.ColID) (out []expr.Node) {
			for _, c := range cols {
				out = append(out, b.ref(c))
			}
			return out
		}
		equal := func() expr.Node { return b.call("=", tupleOf(refs(l.Cols)), tupleOf(refs(r.Cols))) }
		negated := d.IntN(2) == 0
		in := b.subquery(rel.In, r, r.Cols, nil, refs(l.Cols)...)
		again := b.subquery(rel.In, r, r.Cols, nil, refs(l.Cols)...)
		again.Volatile = true
		exists := b.subquery(rel.Exists, &rel.Filter{Child: r, Conds: []expr.Node{equal()}}, r.Cols, l.Cols)
		in.Negated, again.Negated, exists.Negated = negated, negated, negated
		kind := rel.Semi
		if negated {
			kind = rel.Anti
		}
		results := func(conds ...expr.Node) []string {
			got, err := b.run(&rel.Filter{Child: l, Conds: conds}, l.Cols...)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		join := func(aware bool) []string {
			got, err := b.run(&rel.Join{Kind: kind, Left: l, Right: r, On: []expr.Node{equal()}, NullAware: aware}, l.Cols...)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		want := join(negated)
		for name, got := range map[string][]string{"once": results(in), "each time": results(again)} {
			if !slices.Equal(got, want) {
				t.Errorf("in %s, negated %v: got %q, want %q", name, negated, got, want)
			}
		}
		if got, want := results(exists), join(false); !slices.Equal(got, want) {
			t.Errorf("exists, negated %v: got %q, want %q", negated, got, want)
		}
		if width > 1 {
			return
		}
		any, all := b.subquery(rel.AnyOf, r, r.Cols, nil, b.ref(l.Cols[0])), b.subquery(rel.AllOf, r, r.Cols, nil, b.ref(l.Cols[0]))
		any.Op, all.Op = "=", "<>"
		s := any
		if negated {
			s = all
		}
		if got := results(s); !slices.Equal(got, want) {
			t.Errorf("any and all, negated %v: got %q, want %q", negated, got, want)
		}
	})
}

func TestSetOperations(t *testing.T) {
	property(t, 666, func(t *testing.T, d drawer) {
		b := newTree(t)
		typ := d.typ()
		l, r := b.scan(d.draw([]expr.Type{typ}, 8)), b.scan(d.draw([]expr.Type{typ}, 8))
		keys, err := expr.NewKeys([]expr.Type{typ})
		if err != nil {
			t.Fatal(err)
		}
		key := func(v expr.Value) string {
			k, _ := keys.Append(nil, b.env, 0, v)
			return string(k)
		}
		n := &rel.SetOp{Kind: rel.SetKind(d.IntN(3)), All: d.IntN(2) == 0, Left: l, Right: r, LeftCols: l.Cols, RightCols: r.Cols,
			Cols: []rel.ColID{b.col("x", typ)}}
		var want []string
		left, right := l.Table.(*memTable).rows, r.Table.(*memTable).rows
		count := map[string]int{}
		for _, row := range right {
			count[key(row[0])]++
		}
		given := map[string]bool{}
		give := func(v expr.Value) {
			if n.All || !given[key(v)] {
				given[key(v)] = true
				want = append(want, textOf(b.env, []expr.Value{v}))
			}
		}
		for _, row := range left {
			k := key(row[0])
			switch {
			case n.Kind == rel.Union, !n.All && (count[k] > 0) == (n.Kind == rel.Intersect):
				give(row[0])
			case !n.All:
			case count[k] > 0:
				count[k]--
				if n.Kind == rel.Intersect {
					give(row[0])
				}
			case n.Kind == rel.Except:
				give(row[0])
			}
		}
		if n.Kind == rel.Union {
			for _, row := range right {
				give(row[0])
			}
		}
		b.expect(n, n.Cols, want...)
	})
}

// TestUnionsInARow: UNION and UNION ALL of several sides, in any nesting, as if each were executed by itself.
func TestUnionsInARow(t *testing.T) {
	property(t, 500, func(t *testing.T, d drawer) {
		b := newTree(t)
		var build func(depth int) (rel.Node, []rel.ColID, []string)
		build = func(depth int) (rel.Node, []rel.ColID, []string) {
			if depth == 0 || d.IntN(4) == 0 {
				s := b.scan(d.draw([]expr.Type{tBig, tBig}, 3))
				var rows []string
				for _, r := range s.Table.(*memTable).rows {
					rows = append(rows, textOf(b.env, []expr.Value{r[1], r[0]}))
				}
				return s, []rel.ColID{s.Cols[1], s.Cols[0]}, rows
			}
			l, lc, lr := build(depth - 1)
			r, rc, rr := build(depth - 1)
			n := &rel.SetOp{Kind: rel.Union, All: d.IntN(2) == 0, Left: l, Right: r, LeftCols: lc, RightCols: rc,
				Cols: []rel.ColID{b.col("x", tBig), b.col("y", tBig)}}
			rows := append(slices.Clone(lr), rr...)
			if !n.All {
				seen := map[string]bool{}
				rows = slices.DeleteFunc(rows, func(s string) bool {
					defer func() { seen[s] = true }()
					return seen[s]
				})
			}
			return n, n.Cols, rows
		}
		n, cols, want := build(3)
		b.expect(n, cols, want...)
	})
}

func TestSortIsStableAndTopNIsItsBeginning(t *testing.T) {
	property(t, 500, func(t *testing.T, d drawer) {
		b := newTree(t)
		types := []expr.Type{d.typ(), d.typ(), tBig}
		table := d.draw(types, 30)
		for i, r := range table.rows {
			r[2] = expr.Int(int64(i))
		}
		s := b.scan(table)
		keys := func() (out []rel.SortKey) {
			return []rel.SortKey{{Expr: b.ref(s.Cols[0]), Desc: d.IntN(2) == 0}, {Expr: b.ref(s.Cols[1]), Desc: d.IntN(2) == 0}}
		}
		n := &rel.Sort{Child: s, Keys: keys()}
		got, err := b.run(n, s.Cols...)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(table.rows)
		slices.SortStableFunc(want, func(x, y []expr.Value) int {
			for i, k := range n.Keys {
				o := expr.OrderOf(types[i])
				p, _ := o.Prepare(b.env, x[i])
				q, _ := o.Prepare(b.env, y[i])
				c, err := o.Compare(b.env, p, q)
				if err != nil {
					t.Fatal(err)
				}
				if k.Desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		})
		var texts []string
		for _, r := range want {
			texts = append(texts, textOf(b.env, r))
		}
		if !slices.Equal(got, texts) {
			t.Errorf("got  %q\nwant %q", got, texts)
		}
		most := d.IntN(32)
		n.Limit = num(int64(most))
		n.Keep = s.Cols[2:]
		var numbers []string
		for _, s := range texts[:min(most, len(texts))] {
			numbers = append(numbers, s[strings.LastIndexByte(s, ' ')+1:])
		}
		b.expect(n, n.Keep, numbers...)
	})
}

// TestRollupIsTheUnionOfGroupings: WITH ROLLUP gives what GROUP BY of each prefix of the keys gives.
func TestRollupIsTheUnionOfGroupings(t *testing.T) {
	property(t, 266, func(t *testing.T, d drawer) {
		b := newTree(t)
		s := b.scan(d.draw([]expr.Type{tBig, tBig, tBig}, 20))
		width := 1 + d.IntN(3)
		g := b.group(s, s.Cols[:width], "count", nil, "sum", b.ref(s.Cols[2]))
		g.Rollup, g.Out = true, nil
		var bits []int
		for i := range width {
			g.Out = append(g.Out, b.col("k", tBig))
			bits = append(bits, i)
		}
		g.Grouping = []rel.Grouping{{Keys: bits, Col: b.col("grouping", tBig)}}
		cols := append(slices.Clone(g.Out), g.Aggs[0].Col, g.Aggs[1].Col, g.Grouping[0].Col)
		got, err := b.run(g, cols...)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for l := width; l >= 0; l-- {
			p := b.group(s, s.Cols[:l], "count", nil, "sum", b.ref(s.Cols[2]))
			rows, err := b.run(p, append(slices.Clone(p.Keys), p.Aggs[0].Col, p.Aggs[1].Col)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				f := strings.Fields(r)
				f = append(slices.Clone(f[:l]), append(slices.Repeat([]string{"NULL"}, width-l), f[l:]...)...)
				want = append(want, strings.Join(append(f, fmt.Sprint(1<<(width-l)-1)), " "))
			}
		}
		sorted := slices.Clone(got)
		slices.Sort(sorted)
		slices.Sort(want)
		if !slices.Equal(sorted, want) {
			t.Errorf("got  %q\nwant %q", sorted, want)
		}
		// each super-aggregate row follows its groups, which are in order
		order := func(row string) string { // NULL is before all numbers, the row above all groups behind them
			f := strings.Fields(row)
			var grouping int
			fmt.Sscan(f[len(f)-1], &grouping)
			for i := range width {
				switch {
				case grouping>>(width-1-i)&1 == 1:
					f[i] = "~"
				case f[i] == "NULL":
					f[i] = "!"
				default:
					var n int
					fmt.Sscan(f[i], &n)
					f[i] = fmt.Sprintf("%03d", n+100)
				}
			}
			return strings.Join(f[:width], " ")
		}
		if !slices.IsSortedFunc(got, func(x, y string) int { return strings.Compare(order(x), order(y)) }) {
			t.Errorf("out of order: %q", got)
		}
	})
}

// TestOrderedGroups: rows that come in the order of the keys give the groups that a hash table gives, also below other operators.
func TestOrderedGroups(t *testing.T) {
	property(t, 266, func(t *testing.T, d drawer) {
		b := newTree(t)
		types := []expr.Type{d.typ(), tBig}
		l, r := b.scan(d.draw(types, 12)), b.scan(d.draw([]expr.Type{tBig, tBig}, 3))
		sorted := &rel.Sort{Child: l, Keys: []rel.SortKey{{Expr: b.ref(l.Cols[0])}}}
		joined := &rel.Join{Kind: rel.Left, Left: sorted, Right: r, On: []expr.Node{b.call("=", b.ref(l.Cols[1]), b.ref(r.Cols[0]))}}
		g := b.group(joined, l.Cols[:1], "count", b.ref(r.Cols[1]), "max", b.ref(l.Cols[1]), "sum", b.ref(r.Cols[0]))
		cols := append([]rel.ColID{l.Cols[0]}, g.Aggs[0].Col, g.Aggs[1].Col, g.Aggs[2].Col)
		want, err := b.run(g, cols...)
		if err != nil {
			t.Fatal(err)
		}
		g.Ordered = true
		b.expect(g, cols, want...)
	})
}
