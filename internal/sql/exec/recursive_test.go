package exec

import (
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// counter is WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE conds) SELECT * FROM r.
func (b *tree) counter(conds func(n rel.ColID) []expr.Node) *rel.Recursive {
	r := &rel.Recursive{Name: "r", Cols: []rel.ColID{b.col("n", tBig)}}
	seed := b.project(&rel.Values{Rows: [][]expr.Node{{}}}, num(1))
	r.Seed, r.SeedCols = seed, seed.Cols
	w := &rel.WorkScan{From: r, Cols: []rel.ColID{b.col("n", tBig)}}
	step := b.project(&rel.Filter{Child: w, Conds: conds(w.Cols[0])}, b.call("+", b.ref(w.Cols[0]), num(1)))
	r.Step, r.StepCols = step, step.Cols
	return r
}

func TestRecursive(t *testing.T) {
	b := newTree(t)
	below := func(n int64) func(rel.ColID) []expr.Node {
		return func(c rel.ColID) []expr.Node { return []expr.Node{b.call("<", b.ref(c), num(n))} }
	}
	r := b.counter(below(4))
	b.expect(r, r.Cols, "1", "2", "3", "4")
	b.opts.MaxRecursion = 4
	b.expect(r, r.Cols, "1", "2", "3", "4")
	b.opts.MaxRecursion = 3
	b.fails(r, r.Cols, 3636)
	r = b.counter(func(rel.ColID) []expr.Node { return nil })
	r.Limit, r.Offset = num(3), num(1)
	b.opts.MaxRecursion = 1000
	b.expect(r, r.Cols, "2", "3", "4")
	r.Limit = num(0)
	b.expect(r, r.Cols)
}

// TestRecursiveDistinct: the nodes of a graph with a cycle, by a hash join in the step.
func TestRecursiveDistinct(t *testing.T) {
	b := newTree(t)
	r := &rel.Recursive{Name: "r", Cols: []rel.ColID{b.col("n", tBig)}, Distinct: true}
	seed := b.project(&rel.Values{Rows: [][]expr.Node{{}}}, num(1))
	r.Seed, r.SeedCols = seed, seed.Cols
	w := &rel.WorkScan{From: r, Cols: []rel.ColID{b.col("n", tBig)}}
	edges := b.scan(b.table(2, "1 2", "2 3", "3 1", "3 4", "9 8"))
	r.Step = &rel.Join{Left: w, Right: edges, Hash: []rel.HashKey{{Left: b.ref(w.Cols[0]), Right: b.ref(edges.Cols[0])}}}
	r.StepCols = []rel.ColID{edges.Cols[1]}
	b.expect(r, r.Cols, "1", "2", "3", "4")
	if b.src.reads != 1 {
		t.Errorf("the edges were read %d times, although they do not change", b.src.reads)
	}
	// again for each row of another table
	l := b.scan(b.table(1, "1", "2"))
	seed.Exprs[0] = b.ref(l.Cols[0])
	r.Cols = []rel.ColID{b.col("m", tBig)}
	j := &rel.Join{Left: l, Right: r, Lateral: true}
	b.expect(j, []rel.ColID{l.Cols[0], r.Cols[0]}, "1 1", "1 2", "1 3", "1 4", "2 2", "2 3", "2 1", "2 4")
}

func TestShared(t *testing.T) {
	b := newTree(t)
	s := b.scan(b.table(1, "1", "2"))
	shared := &rel.Shared{Name: "c", Plan: s, Cols: s.Cols}
	l := &rel.SharedScan{From: shared, Cols: []rel.ColID{b.col("x", tBig)}}
	r := &rel.SharedScan{From: shared, Cols: []rel.ColID{b.col("y", tBig)}}
	b.expect(&rel.Join{Left: l, Right: r}, []rel.ColID{l.Cols[0], r.Cols[0]}, "1 1", "1 2", "2 1", "2 2")
	if b.src.reads != 1 {
		t.Errorf("it was read %d times", b.src.reads)
	}
	// with outer columns: it is executed once for each of their values
	o := b.scan(b.table(1, "1", "1", "2"))
	p := b.project(b.scan(b.table(1, "1", "2")), b.ref(o.Cols[0]))
	shared = &rel.Shared{Name: "c", Plan: p, Cols: p.Cols, Outer: o.Cols}
	l = &rel.SharedScan{From: shared, Cols: []rel.ColID{b.col("x", tBig)}}
	r = &rel.SharedScan{From: shared, Cols: []rel.ColID{b.col("y", tBig)}}
	b.src.reads = 0
	j := &rel.Join{Left: o, Right: &rel.Join{Left: l, Right: r}, Lateral: true}
	b.expect(j, []rel.ColID{o.Cols[0], l.Cols[0], r.Cols[0]}, "1 1 1", "1 1 1", "1 1 1", "1 1 1", "1 1 1", "1 1 1", "1 1 1", "1 1 1",
		"2 2 2", "2 2 2", "2 2 2", "2 2 2")
	if b.src.reads != 3 {
		t.Errorf("%d reads, want one of the outer table and two of the shared one", b.src.reads)
	}
}
