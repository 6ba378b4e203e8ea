package exec

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// memTable is a table in memory.
type memTable struct {
	name    string
	cols    []rel.TableColumn
	indexes []rel.Index
	rows    [][]expr.Value
}

func (t *memTable) Database() string           { return "test" }
func (t *memTable) Name() string               { return t.name }
func (t *memTable) Columns() []rel.TableColumn { return t.cols }
func (t *memTable) Indexes() []rel.Index       { return t.indexes }
func (t *memTable) Rows() float64              { return float64(len(t.rows)) }

// memIndex is an index of some columns.
type memIndex struct{ parts []rel.IndexPart }

func (i *memIndex) Name() string            { return "i" }
func (i *memIndex) Unique() bool            { return false }
func (i *memIndex) Primary() bool           { return false }
func (i *memIndex) Parts() []rel.IndexPart  { return i.parts }
func (i *memIndex) Suffix() []rel.IndexPart { return nil }
func (i *memIndex) Covers([]int) bool       { return true }

// memSource reads tables in memory, and counts what it is asked for.
type memSource struct {
	env    *expr.Env
	reads  int
	rows   int // that were given
	open   int
	last   *Request
	failAt int // the read that fails; 0: none
}

func (s *memSource) Read(r *Request) (Rows, error) {
	s.reads++
	if s.reads == s.failAt {
		return nil, fmt.Errorf("the table cannot be read")
	}
	t := r.Table.(*memTable)
	s.last = r
	rows := t.rows
	if r.Index != nil {
		var err error
		if rows, err = s.within(t, r); err != nil {
			return nil, err
		}
	}
	s.open++
	return &memRows{s: s, rows: rows, places: r.Places, limit: r.Limit}, nil
}

// within are the rows in the spans, in the order of the index.
func (s *memSource) within(t *memTable, r *Request) (out [][]expr.Value, err error) {
	parts := r.Index.Parts()
	compare := func(place int, a, b expr.Value) int {
		o := expr.OrderOf(t.cols[place].Type)
		if a, err = o.Prepare(s.env, a); err == nil {
			if b, err = o.Prepare(s.env, b); err == nil {
				var c int
				if c, err = o.Compare(s.env, a, b); err == nil {
					return c
				}
			}
		}
		panic(err)
	}
	for _, row := range t.rows {
		if r.Spans == nil || slices.ContainsFunc(r.Spans, func(k KeySpan) bool {
			for i, v := range k.Equal {
				if compare(parts[i].Place, row[parts[i].Place], v) != 0 {
					return false
				}
			}
			if len(k.Equal) == len(parts) {
				return true
			}
			at := parts[len(k.Equal)].Place
			v := row[at]
			if v.IsNull() {
				return k.IncludeNull
			}
			if k.Low != nil {
				if c := compare(at, v, *k.Low); c < 0 || c == 0 && k.LowOpen {
					return false
				}
			}
			if k.High != nil {
				if c := compare(at, v, *k.High); c > 0 || c == 0 && k.HighOpen {
					return false
				}
			}
			return true
		}) {
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, func(a, b []expr.Value) int {
		for _, p := range parts {
			if c := compare(p.Place, a[p.Place], b[p.Place]); c != 0 {
				return c
			}
		}
		return 0
	})
	if r.Reverse {
		slices.Reverse(out)
	}
	return out, nil
}

type memRows struct {
	s      *memSource
	rows   [][]expr.Value
	places []int
	at     int
	limit  int
	closed bool
}

func (r *memRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if r.at == len(r.rows) || r.limit > 0 && r.at == r.limit {
		return false, nil
	}
	row := r.rows[r.at]
	r.at++
	r.s.rows++
	for i, p := range r.places {
		regs[cols[i]] = row[p]
	}
	return true, nil
}

func (r *memRows) Close() error {
	if r.closed {
		panic("closed twice")
	}
	r.closed = true
	r.s.open--
	return nil
}

// tree builds trees of operators by hand.
type tree struct {
	t    testing.TB
	meta *rel.Metadata
	src  *memSource
	env  *expr.Env
	opts Options
	last *Execution
}

func newTree(t testing.TB) *tree {
	env := &expr.Env{MaxPacket: 1 << 20, DivPrecision: 4, GroupConcatMax: 1024, Collation: expr.DefaultCollation}
	return &tree{t: t, meta: &rel.Metadata{}, env: env, src: &memSource{env: env}, opts: Options{MaxRecursion: 1000}}
}

var (
	tBig  = expr.Type{Name: expr.BigInt, Length: 20, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	tText = expr.TText(20, expr.DefaultCollation, expr.Implicit)
)

// table makes a table of integers: rows are texts like "1 2 NULL". The columns are called a, b, c, ...
func (b *tree) table(width int, rows ...string) *memTable {
	t := &memTable{name: "t"}
	for i := range width {
		t.cols = append(t.cols, rel.TableColumn{Name: string(rune('a' + i)), Type: tBig, Nullable: true})
	}
	for _, r := range rows {
		var row []expr.Value
		for _, f := range strings.Fields(r) {
			v := expr.Null
			if f != "NULL" {
				var n int64
				if _, err := fmt.Sscan(f, &n); err != nil {
					b.t.Fatal(err)
				}
				v = expr.Int(n)
			}
			row = append(row, v)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// typed makes a table of one column of a type.
func (b *tree) typed(typ expr.Type, values ...expr.Value) *memTable {
	t := &memTable{name: "t", cols: []rel.TableColumn{{Name: "a", Type: typ, Nullable: true}}}
	for _, v := range values {
		t.rows = append(t.rows, []expr.Value{v})
	}
	return t
}

func (b *tree) scan(t *memTable) *rel.Scan {
	n := &rel.Scan{Table: t, Alias: t.name}
	for i, c := range t.cols {
		n.Places = append(n.Places, i)
		n.Cols = append(n.Cols, b.col(c.Name, c.Type))
	}
	return n
}

func (b *tree) col(name string, t expr.Type) rel.ColID {
	return b.meta.Add(rel.Column{Name: name, Type: t, Nullable: true})
}

func (b *tree) ref(id rel.ColID) expr.Node { return b.meta.Ref(id) }

func (b *tree) call(name string, args ...expr.Node) expr.Node {
	c, err := expr.Build(name, name, nil, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func num(n int64) expr.Node { return &expr.Lit{V: expr.Int(n), T: expr.TInt} }

func (b *tree) project(child rel.Node, exprs ...expr.Node) *rel.Project {
	n := &rel.Project{Child: child, Exprs: exprs}
	for _, e := range exprs {
		n.Cols = append(n.Cols, b.col("e", e.Type()))
	}
	return n
}

// group makes a Group of keys with aggregates: name, argument in turn; a nil argument is *.
func (b *tree) group(child rel.Node, keys []rel.ColID, aggs ...any) *rel.Group {
	g := &rel.Group{Child: child, Keys: keys, Out: keys, Scalar: len(keys) == 0}
	for i := 0; i < len(aggs); i += 2 {
		a := rel.Agg{Name: aggs[i].(string), Text: aggs[i].(string), T: tBig}
		if n, ok := aggs[i+1].(expr.Node); ok {
			a.Args = []expr.Node{n}
		} else {
			a.Star = true
		}
		if a.Name == "sum" {
			a.T = expr.TDecimal(41, 0)
		}
		a.Col = b.col(a.Name, a.T)
		g.Aggs = append(g.Aggs, a)
	}
	return g
}

// subquery makes an expression of a query whose rows have the columns out.
func (b *tree) subquery(kind rel.SubqueryKind, plan rel.Node, out []rel.ColID, outer []rel.ColID, left ...expr.Node) *rel.Subquery {
	s := &rel.Subquery{Kind: kind, Plan: plan, Out: out, Left: left, Outer: outer, T: expr.TBool}
	for _, c := range out {
		s.Types = append(s.Types, b.meta.Columns[c].Type)
	}
	if kind == rel.Scalar {
		s.T = s.Types[0]
	}
	return s
}

// run executes a tree and gives the values of columns, a row per text.
func (b *tree) run(n rel.Node, cols ...rel.ColID) ([]string, error) {
	q := &rel.Query{Meta: b.meta, Root: n}
	for _, c := range cols {
		q.Out = append(q.Out, rel.Output{Col: c})
	}
	x := New(q, b.env, b.src, b.opts)
	b.last = x
	out, err := rowsOf(x, b.env, len(cols))
	if cerr := x.Close(); err == nil {
		err = cerr
	}
	if b.src.open != 0 {
		b.t.Errorf("%d reads were not closed", b.src.open)
		b.src.open = 0
	}
	if b.env.Host != nil {
		b.t.Error("Close left the frame in the environment")
	}
	return out, err
}

func rowsOf(x *Execution, env *expr.Env, width int) (out []string, err error) {
	if err = x.Open(); err != nil {
		return nil, err
	}
	row := make([]expr.Value, width)
	for {
		ok, err := x.Next(row)
		if err != nil || !ok {
			return out, err
		}
		out = append(out, textOf(env, row))
	}
}

func textOf(env *expr.Env, row []expr.Value) string {
	var b bytes.Buffer
	for i, v := range row {
		if i > 0 {
			b.WriteByte(' ')
		}
		if v.IsNull() {
			b.WriteString("NULL")
			continue
		}
		s, err := expr.ToText(env, v)
		if err != nil {
			s = err.Error()
		}
		b.WriteString(s)
	}
	return b.String()
}

// expect checks the rows of a tree, in order.
func (b *tree) expect(n rel.Node, cols []rel.ColID, want ...string) {
	b.t.Helper()
	got, err := b.run(n, cols...)
	if err != nil {
		b.t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// fails checks that a tree fails with an error of MySQL's code.
func (b *tree) fails(n rel.Node, cols []rel.ColID, code uint16) {
	b.t.Helper()
	got, err := b.run(n, cols...)
	if e, ok := err.(*expr.Error); !ok || e.Code != code {
		b.t.Errorf("got %q and %v, want error %d", got, err, code)
	}
}
