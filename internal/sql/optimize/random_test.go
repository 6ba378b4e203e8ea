package optimize_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// Types of columns in random tables.
var (
	tInt  = expr.Type{Name: expr.BigInt, Length: 20, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	tText = expr.Type{Name: expr.Varchar, Length: 10, Collation: expr.DefaultCollation, Coerc: expr.Implicit}
	tPad  = expr.Type{Name: expr.Varchar, Length: 10, Collation: 45, Coerc: expr.Implicit} // utf8mb4_general_ci
	tDec  = expr.Type{Name: expr.DecimalType, Length: 8, Scale: 2, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	tDate = expr.Type{Name: expr.DateType, Length: 10, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	tDbl  = expr.Type{Name: expr.DoubleType, Length: 22, Scale: expr.NotFixed, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
)

// generator makes random tables and random plans.
type generator struct {
	r      *rand.Rand
	meta   *rel.Metadata
	tables []*memTable
	shared []*rel.Shared
}

// randomTables makes tables: the first column is the primary key, the others have few values, NULLs among them.
func randomTables(r *rand.Rand) []*memTable {
	var out []*memTable
	for i := range 3 {
		t := &memTable{name: fmt.Sprintf("t%d", i)}
		t.columns = append(t.columns, rel.TableColumn{Name: "id", Type: tInt, PrimaryKey: true})
		for c := range 2 + r.IntN(4) {
			typ := []expr.Type{tInt, tInt, tText, tPad, tDec, tDate, tDbl}[r.IntN(7)]
			t.columns = append(t.columns, rel.TableColumn{Name: fmt.Sprintf("c%d", c), Type: typ, Nullable: r.IntN(3) > 0})
		}
		rows := []int{0, 1, 3, 8, 12, 16}[r.IntN(6)]
		for id := range rows {
			row := []expr.Value{expr.Int(int64(id))}
			for _, c := range t.columns[1:] {
				row = append(row, randomValue(r, c.Type, c.Nullable))
			}
			t.rows = append(t.rows, row)
		}
		t.size = []float64{float64(rows), 0, 5, 1000, 1e6}[r.IntN(5)]
		t.indexes = append(t.indexes, &memIndex{t: t, name: "PRIMARY", unique: true, primary: true, parts: []int{0}})
		for k := range r.IntN(4) {
			x := &memIndex{t: t, name: fmt.Sprintf("k%d", k)}
			for range 1 + r.IntN(3) {
				x.parts = append(x.parts, r.IntN(len(t.columns)))
			}
			x.parts = uniqueInts(x.parts)
			x.unique = uniqueRows(t, x.parts)
			t.indexes = append(t.indexes, x)
		}
		out = append(out, t)
	}
	return out
}

func uniqueInts(in []int) (out []int) {
	seen := map[int]bool{}
	for _, i := range in {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}

func uniqueRows(t *memTable, parts []int) bool {
	src := &memSource{env: &expr.Env{}}
	for a := range t.rows {
		for b := range a {
			same := true
			for _, p := range parts {
				x, y := t.rows[a][p], t.rows[b][p]
				same = same && !x.IsNull() && !y.IsNull() && src.compare(t.columns[p].Type, x, y) == 0
			}
			if same {
				return false
			}
		}
	}
	return true
}

func randomValue(r *rand.Rand, t expr.Type, nullable bool) expr.Value {
	if nullable && r.IntN(4) == 0 {
		return expr.Null
	}
	n := r.IntN(6)
	switch t.Kind() {
	case expr.KindInt:
		return expr.Int(int64(n - 1))
	case expr.KindText:
		return expr.Text([]string{"", "a", "A", "ab", "Ab ", "b"}[n])
	case expr.KindDecimal:
		return expr.Decimal(apd.New([]int64{-150, 0, 50, 100, 199, 200}[n], -2))
	case expr.KindDate:
		return expr.Packed(expr.KindDate, int64(temporal.Date(2024, 1, 1+n)), 0)
	}
	return expr.Float([]float64{-1, 0, 0.5, 1, 1.5, 2}[n])
}

// plan is a random plan and the columns that may be read of it.
type plan struct {
	n    rel.Node
	cols []rel.ColID
}

func (g *generator) pick(n int) int { return g.r.IntN(n) }

func (g *generator) add(name string, t expr.Type) rel.ColID {
	return g.meta.Add(rel.Column{Name: name, Type: t, Nullable: true})
}

func (g *generator) scan() plan {
	t := g.tables[g.pick(len(g.tables))]
	s := &rel.Scan{Table: t, Alias: t.name}
	for i, c := range t.columns {
		s.Places = append(s.Places, i)
		id := g.meta.Add(rel.Column{Name: c.Name, Type: c.Type, Nullable: c.Nullable,
			Origin: &rel.Origin{Table: t.name, Alias: t.name, Column: c.Name, Source: t, Place: i}})
		s.Cols = append(s.Cols, id)
	}
	return plan{s, append([]rel.ColID{}, s.Cols...)}
}

// tree makes a plan; outer are columns of plans around it.
func (g *generator) tree(depth int, outer []rel.ColID) plan {
	if depth <= 0 {
		return g.scan()
	}
	switch g.pick(15) {
	case 0, 1, 2:
		p := g.tree(depth-1, outer)
		return plan{&rel.Filter{Child: p.n, Conds: g.conds(1+g.pick(3), depth, p.cols, outer)}, p.cols}
	case 3:
		p := g.tree(depth-1, outer)
		return g.project(p, outer)
	case 4, 5, 6, 7:
		return g.join(depth, outer)
	case 8:
		return g.group(g.tree(depth-1, outer))
	case 9:
		p := g.tree(depth-1, outer)
		return plan{&rel.Distinct{Child: p.n, Cols: p.cols}, p.cols}
	case 10:
		return g.setOp(depth, outer)
	case 11:
		p := g.tree(depth-1, outer)
		s := &rel.Sort{Child: p.n, Keys: g.totalOrder(p)}
		l := &rel.Limit{Child: s, Count: intLit(int64(g.pick(6)))}
		if g.pick(3) == 0 {
			l.Offset = intLit(int64(g.pick(3)))
		}
		return plan{l, p.cols}
	case 12:
		p := g.tree(depth-1, outer)
		if len(outer) > 0 {
			return p
		}
		sh := &rel.Shared{Name: fmt.Sprintf("cte%d", len(g.shared)), Plan: p.n, Cols: p.cols}
		g.shared = append(g.shared, sh)
		return g.sharedScan(sh)
	case 14:
		return g.window(g.tree(depth-1, outer))
	case 13:
		if len(g.shared) > 0 && len(outer) == 0 {
			return g.sharedScan(g.shared[g.pick(len(g.shared))])
		}
	}
	return g.scan()
}

func (g *generator) sharedScan(sh *rel.Shared) plan {
	s := &rel.SharedScan{From: sh}
	for _, id := range sh.Cols {
		c := g.meta.Columns[id]
		s.Cols = append(s.Cols, g.meta.Add(rel.Column{Name: c.Name, Type: c.Type, Nullable: true}))
	}
	return plan{s, append([]rel.ColID{}, s.Cols...)}
}

func (g *generator) project(p plan, outer []rel.ColID) plan {
	n := &rel.Project{Child: p.n}
	for range 1 + g.pick(2) {
		e := g.value(p.cols, outer)
		n.Exprs = append(n.Exprs, e)
		n.Cols = append(n.Cols, g.add("e", e.Type()))
	}
	cols := append([]rel.ColID{}, n.Cols...)
	for _, c := range p.cols {
		if g.pick(2) == 0 {
			cols = append(cols, c)
		}
	}
	return plan{n, cols}
}

func (g *generator) join(depth int, outer []rel.ColID) plan {
	l, r := g.tree(depth-1, outer), g.tree(depth-1, outer)
	if g.pick(4) == 0 {
		r = g.project(g.scan(), outer)
	}
	j := &rel.Join{Left: l.n, Right: r.n, Kind: []rel.JoinKind{rel.Inner, rel.Inner, rel.Left, rel.Left, rel.Semi, rel.Anti}[g.pick(6)]}
	both := append(append([]rel.ColID{}, l.cols...), r.cols...)
	for range g.pick(3) {
		if e := g.equality(l.cols, r.cols); e != nil && g.pick(3) > 0 {
			j.On = append(j.On, e)
		} else {
			j.On = append(j.On, g.conds(1, 0, both, outer)...)
		}
	}
	j.Straight = g.pick(10) == 0
	if j.Kind == rel.Semi || j.Kind == rel.Anti {
		return plan{j, l.cols}
	}
	return plan{j, both}
}

func (g *generator) equality(a, b []rel.ColID) expr.Node {
	for range 10 {
		x, y := a[g.pick(len(a))], b[g.pick(len(b))]
		if g.comparable(x, y) {
			return call([]string{"=", "=", "=", "<=>"}[g.pick(4)], g.meta.Ref(x), g.meta.Ref(y))
		}
	}
	return nil
}

func (g *generator) comparable(x, y rel.ColID) bool {
	a, b := g.meta.Columns[x].Type, g.meta.Columns[y].Type
	return a.IsNumber() && b.IsNumber() || a.Name == b.Name && a.Collation == b.Collation
}

func (g *generator) group(p plan) plan {
	n := &rel.Group{Child: p.n}
	for range g.pick(3) {
		id := p.cols[g.pick(len(p.cols))]
		n.Keys = append(n.Keys, id)
	}
	n.Keys = uniqueCols(n.Keys)
	n.Out = n.Keys
	n.Scalar = len(n.Keys) == 0
	if len(n.Keys) > 0 && g.pick(5) == 0 {
		n.Rollup, n.Out = true, nil
		for _, k := range n.Keys {
			n.Out = append(n.Out, g.add("rolled", g.meta.Columns[k].Type))
		}
	}
	cols := append([]rel.ColID{}, n.Out...)
	for _, name := range []string{"count", "min", "max", "sum"} {
		arg := p.cols[g.pick(len(p.cols))]
		t := g.meta.Columns[arg].Type
		a := rel.Agg{Name: name, Args: []expr.Node{g.meta.Ref(arg)}, T: t}
		switch name {
		case "count":
			a.T = tInt
			if a.Star = g.pick(2) == 0; a.Star {
				a.Args = nil
			}
		case "sum":
			if t.Name != expr.BigInt {
				continue
			}
			a.T = expr.TDecimal(41, 0)
		default:
			if t.IsString() {
				continue // which of 'a' and 'A' it is depends on the order of the rows
			}
		}
		a.Col = g.add(name, a.T)
		n.Aggs = append(n.Aggs, a)
		cols = append(cols, a.Col)
	}
	return plan{n, cols}
}

// window has functions whose values do not depend on the order of equal rows.
func (g *generator) window(p plan) plan {
	n := &rel.Window{Child: p.n}
	for range g.pick(2) + g.pick(2) {
		n.Partition = append(n.Partition, g.meta.Ref(p.cols[g.pick(len(p.cols))]))
	}
	for range g.pick(2) {
		n.Order = append(n.Order, rel.SortKey{Expr: g.meta.Ref(p.cols[g.pick(len(p.cols))]), Desc: g.pick(2) == 0})
	}
	rank := rel.WindowFunc{Name: "rank", T: expr.TUint, Col: g.add("rank", expr.TUint)}
	count := rel.WindowFunc{Name: "count", Agg: &rel.Agg{Name: "count", Star: true, T: tInt}, T: tInt, Col: g.add("n", tInt)}
	n.Funcs = []rel.WindowFunc{rank, count}
	return plan{n, append([]rel.ColID{rank.Col, count.Col}, p.cols...)}
}

func uniqueCols(in []rel.ColID) (out []rel.ColID) {
	seen := rel.Cols{}
	for _, i := range in {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}

func (g *generator) setOp(depth int, outer []rel.ColID) plan {
	l, r := g.tree(depth-1, outer), g.tree(depth-1, outer)
	n := &rel.SetOp{Kind: rel.SetKind(g.pick(3)), All: g.pick(2) == 0, Left: l.n, Right: r.n}
	for _, a := range l.cols {
		for _, b := range r.cols {
			x, y := g.meta.Columns[a].Type, g.meta.Columns[b].Type
			if x.Name == y.Name && x.Unsigned == y.Unsigned && x.Collation == y.Collation && x.Length == y.Length && x.Scale == y.Scale &&
				len(n.Cols) < 3 && g.pick(2) == 0 {
				n.LeftCols, n.RightCols = append(n.LeftCols, a), append(n.RightCols, b)
				n.Cols = append(n.Cols, g.add("u", g.meta.Columns[a].Type))
				break
			}
		}
	}
	if len(n.Cols) == 0 {
		return l
	}
	return plan{n, append([]rel.ColID{}, n.Cols...)}
}

// totalOrder are sort keys by which no two rows are equal that differ, but for texts that a collation takes for equal: they are last.
func (g *generator) totalOrder(p plan) (out []rel.SortKey) {
	for _, at := range g.r.Perm(len(p.cols)) {
		out = append(out, rel.SortKey{Expr: g.meta.Ref(p.cols[at]), Desc: g.pick(3) == 0})
	}
	return out
}

func intLit(n int64) *expr.Lit { return &expr.Lit{V: expr.Int(n), T: expr.TInt} }

func call(name string, args ...expr.Node) expr.Node {
	c, err := expr.Build(name, name, nil, args...)
	if err != nil {
		panic(fmt.Sprintf("%s: %s", name, err))
	}
	return c
}

// literal is one that is compared with a column of type t.
func (g *generator) literal(t expr.Type) expr.Node {
	if g.pick(15) == 0 {
		return &expr.Lit{V: expr.Null, T: expr.TNull}
	}
	switch t.Kind() {
	case expr.KindInt, expr.KindDecimal, expr.KindFloat, expr.KindUint:
		switch g.pick(5) {
		case 0:
			return &expr.Lit{V: expr.Decimal(apd.New(int64(g.pick(40)-10), -1)), T: expr.TDecimal(3, 1)}
		case 1:
			return &expr.Lit{V: expr.Float(float64(g.pick(9)-2) / 2), T: expr.TFloat}
		case 2:
			return &expr.Lit{V: expr.Text([]string{"1", "0", "1.5", "2"}[g.pick(4)]), T: expr.TText(3, expr.DefaultCollation, expr.Coercible)}
		}
		return intLit(int64(g.pick(7) - 2))
	case expr.KindDate:
		s := []string{"2024-01-02", "2024-01-03", "2024-01-03 12:00:00", "2024-01-05"}[g.pick(4)]
		return &expr.Lit{V: expr.Text(s), T: expr.TText(19, expr.DefaultCollation, expr.Coercible)}
	}
	v := randomValue(g.r, t, false)
	return &expr.Lit{V: v, T: expr.TText(10, expr.DefaultCollation, expr.Coercible)}
}

// value is a random expression.
func (g *generator) value(cols, outer []rel.ColID) expr.Node {
	id := cols[g.pick(len(cols))]
	if len(outer) > 0 && g.pick(6) == 0 {
		id = outer[g.pick(len(outer))]
	}
	ref := g.meta.Ref(id)
	switch {
	case g.pick(2) == 0:
		return ref
	case g.pick(5) == 0:
		return intLit(int64(g.pick(4)))
	case ref.T.Kind() == expr.KindInt:
		return call("+", ref, intLit(1))
	case g.pick(3) == 0:
		return call("is null", ref)
	}
	return ref
}

func (g *generator) conds(n, depth int, cols, outer []rel.ColID) (out []expr.Node) {
	for range n {
		out = append(out, g.cond(depth, cols, outer))
	}
	return out
}

func (g *generator) cond(depth int, cols, outer []rel.ColID) expr.Node {
	id := cols[g.pick(len(cols))]
	if len(outer) > 0 && g.pick(3) == 0 {
		if e := g.equality(cols, outer); e != nil {
			return e
		}
	}
	ref := func() *rel.Col { return g.meta.Ref(id) }
	t := g.meta.Columns[id].Type
	switch k := g.pick(17); {
	case k < 4:
		op := []string{"=", "=", "<", "<=", ">", ">=", "<>", "<=>"}[g.pick(8)]
		if g.pick(4) == 0 {
			return call(op, g.literal(t), ref())
		}
		return call(op, ref(), g.literal(t))
	case k == 4:
		return call([]string{"between", "not between"}[g.pick(2)], ref(), g.literal(t), g.literal(t))
	case k == 5:
		args := []expr.Node{ref()}
		for range 1 + g.pick(3) {
			args = append(args, g.literal(t))
		}
		return call([]string{"in", "in", "not in"}[g.pick(3)], args...)
	case k == 6:
		return call([]string{"is null", "is not null"}[g.pick(2)], ref())
	case k == 7:
		return call([]string{"or", "and"}[g.pick(2)], g.cond(0, cols, outer), g.cond(0, cols, outer))
	case k == 8:
		// both about one column
		one := []rel.ColID{id}
		return call("or", g.cond(0, one, nil), g.cond(0, one, nil))
	case k == 9:
		return call("not", g.cond(0, cols, outer))
	case k == 10 && t.Kind() == expr.KindText:
		pattern := []string{"a%", "A%", "ab", "%b", "a_%", "b%", "ab%"}[g.pick(7)]
		return call("like", ref(), &expr.Lit{V: expr.Text(pattern), T: expr.TText(3, expr.DefaultCollation, expr.Coercible)})
	case k == 11:
		return intLit(int64(g.pick(4)))
	case k == 12:
		return &expr.Lit{V: expr.Null, T: expr.TNull}
	case k < 15 && depth > 0:
		return g.subquery(depth-1, cols, outer)
	}
	if e := g.equality(cols, cols); e != nil {
		return e
	}
	return call("is not null", ref())
}

// subquery is EXISTS, IN or a scalar subquery in a condition.
func (g *generator) subquery(depth int, cols, outer []rel.ColID) expr.Node {
	around := append(append([]rel.ColID{}, outer...), cols...)
	saved := g.shared
	g.shared = nil
	p := g.tree(min(depth, 2), around)
	if g.pick(2) == 0 {
		p = plan{&rel.Filter{Child: p.n, Conds: g.conds(1, 0, p.cols, around)}, p.cols}
	}
	if g.pick(2) == 0 {
		if e := g.equality(p.cols, cols); e != nil {
			p = plan{&rel.Filter{Child: p.n, Conds: []expr.Node{e}}, p.cols}
		}
	}
	g.shared = saved
	s := &rel.Subquery{Plan: p.n, T: expr.TBool}
	switch g.pick(3) {
	case 0:
		s.Kind, s.Negated, s.Out = rel.Exists, g.pick(2) == 0, p.cols
	case 1:
		s.Kind, s.Negated = rel.In, g.pick(2) == 0
		for range 10 {
			a, b := cols[g.pick(len(cols))], p.cols[g.pick(len(p.cols))]
			if g.comparable(a, b) {
				s.Left, s.Out = append(s.Left, g.meta.Ref(a)), append(s.Out, b)
				if len(s.Out) == 2 || g.pick(3) > 0 {
					break
				}
			}
		}
		if len(s.Out) == 0 {
			s.Kind, s.Out = rel.Exists, p.cols
		}
	case 2:
		top := g.group(p)
		n := top.n.(*rel.Group)
		n.Keys, n.Out, n.Scalar, n.Rollup = nil, nil, true, false
		if len(n.Aggs) == 0 {
			s.Kind, s.Out = rel.Exists, p.cols
			break
		}
		s.Plan, s.Out = n, []rel.ColID{n.Aggs[0].Col}
		s.T = n.Aggs[0].T
		g.finish(s, around)
		return call([]string{"=", ">", "<"}[g.pick(3)], g.meta.Ref(cols[0]), s)
	}
	g.finish(s, around)
	return s
}

// finish says which columns around it a subquery reads.
func (g *generator) finish(s *rel.Subquery, around []rel.ColID) {
	read := rel.Cols{}
	collect(s.Plan, read)
	for _, id := range around {
		if read[id] {
			s.Outer = append(s.Outer, id)
		}
	}
	for _, id := range s.Out {
		s.Types = append(s.Types, g.meta.Columns[id].Type)
	}
}

func collect(n rel.Node, into rel.Cols) {
	rel.EachExpr(n, func(slot *expr.Node) { rel.CollectCols(into, *slot) })
	for _, c := range n.Children() {
		collect(c, into)
	}
}
