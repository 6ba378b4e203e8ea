package optimize_test

import (
	"slices"
	"sort"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// memTable is a table in memory.
type memTable struct {
	name    string
	columns []rel.TableColumn
	indexes []rel.Index
	rows    [][]expr.Value
	size    float64 // what Rows says; it may be wrong
}

func (t *memTable) Database() string           { return "d" }
func (t *memTable) Name() string               { return t.name }
func (t *memTable) Columns() []rel.TableColumn { return t.columns }
func (t *memTable) Indexes() []rel.Index       { return t.indexes }
func (t *memTable) Rows() float64              { return t.size }

// memIndex is an index of one; the primary key is the first column.
type memIndex struct {
	t       *memTable
	name    string
	unique  bool
	primary bool
	parts   []int
}

func (x *memIndex) Name() string  { return x.name }
func (x *memIndex) Unique() bool  { return x.unique }
func (x *memIndex) Primary() bool { return x.primary }
func (x *memIndex) Parts() (out []rel.IndexPart) {
	for _, p := range x.parts {
		out = append(out, rel.IndexPart{Place: p})
	}
	return out
}
func (x *memIndex) Suffix() []rel.IndexPart {
	if slices.Contains(x.parts, 0) {
		return nil
	}
	return []rel.IndexPart{{Place: 0}}
}
func (x *memIndex) Covers(places []int) bool {
	if x.primary {
		return true
	}
	for _, p := range places {
		if p != 0 && !slices.Contains(x.parts, p) {
			return false
		}
	}
	return true
}

// memSource reads tables in memory; reads counts the rows.
type memSource struct {
	env   *expr.Env
	reads int
}

type memRows struct {
	src    *memSource
	rows   [][]expr.Value
	places []int
}

func (s *memSource) Read(r *exec.Request) (exec.Rows, error) {
	t := r.Table.(*memTable)
	rows := slices.Clone(t.rows)
	if r.Index != nil {
		x := r.Index.(*memIndex)
		parts := x.parts
		for _, p := range x.Suffix() {
			parts = append(slices.Clone(parts), p.Place)
		}
		sort.SliceStable(rows, func(a, b int) bool {
			for _, p := range parts {
				if c := s.compare(t.columns[p].Type, rows[a][p], rows[b][p]); c != 0 {
					return c < 0
				}
			}
			return false
		})
		if r.Spans != nil {
			rows = slices.DeleteFunc(rows, func(row []expr.Value) bool {
				return !slices.ContainsFunc(r.Spans, func(k exec.KeySpan) bool { return s.within(t, parts, &k, row) })
			})
		}
		if r.Reverse {
			slices.Reverse(rows)
		}
	}
	if r.Limit > 0 && len(rows) > r.Limit {
		rows = rows[:r.Limit]
	}
	return &memRows{s, rows, r.Places}, nil
}

func (s *memSource) compare(t expr.Type, a, b expr.Value) int {
	o := expr.OrderOf(t)
	x, err := o.Prepare(s.env, a)
	if err != nil {
		panic(err)
	}
	y, err := o.Prepare(s.env, b)
	if err != nil {
		panic(err)
	}
	c, err := o.Compare(s.env, x, y)
	if err != nil {
		panic(err)
	}
	return c
}

func (s *memSource) within(t *memTable, parts []int, k *exec.KeySpan, row []expr.Value) bool {
	for i, v := range k.Equal {
		if s.compare(t.columns[parts[i]].Type, row[parts[i]], v) != 0 {
			return false
		}
	}
	if len(k.Equal) == len(parts) {
		return true
	}
	p := parts[len(k.Equal)]
	v, typ := row[p], t.columns[p].Type
	if k.Prefix != nil {
		c, err := collation.ByID(typ.Collation)
		if err != nil {
			panic(err)
		}
		return !v.IsNull() && strings.HasPrefix(string(c.AppendKey(nil, v.RawText())), string(c.AppendPrefix(nil, k.Prefix.RawText())))
	}
	if k.Low == nil && v.IsNull() {
		return k.IncludeNull
	}
	if k.Low != nil {
		if c := s.compare(typ, v, *k.Low); c < 0 || c == 0 && k.LowOpen {
			return false
		}
	}
	if k.High != nil {
		if c := s.compare(typ, v, *k.High); c > 0 || c == 0 && k.HighOpen {
			return false
		}
	}
	return true
}

func (r *memRows) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if len(r.rows) == 0 {
		return false, nil
	}
	r.src.reads++
	for i, p := range r.places {
		regs[cols[i]] = r.rows[0][p]
	}
	r.rows = r.rows[1:]
	return true, nil
}

func (r *memRows) Close() error { return nil }
