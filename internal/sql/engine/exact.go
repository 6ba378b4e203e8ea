package engine

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server compares the rows of DISTINCT, UNION and GROUP BY by a 64-bit hash alone, in which NULL is the text <nil>,
// and DISTINCT without regard to collations. The operators here compare the values.

// rowKey is a string that is the same for two rows iff SQL takes their values for equal.
type rowKey struct {
	weights []func(dst, text []byte) ([]byte, error) // by column; nil: bytes
	buf     []byte
}

func newRowKey(ts []sql.Type) *rowKey {
	k := &rowKey{weights: make([]func([]byte, []byte) ([]byte, error), len(ts))}
	for i, t := range ts {
		k.weights[i] = sortKey(t)
	}
	return k
}

func schemaTypes(s sql.Schema) (out []sql.Type) {
	for _, c := range s {
		out = append(out, c.Type)
	}
	return out
}

func expressionTypes(ctx *sql.Context, es []sql.Expression) (out []sql.Type) {
	for _, e := range es {
		out = append(out, e.Type(ctx))
	}
	return out
}

// of returns the key of a row.
func (k *rowKey) of(ctx *sql.Context, row sql.Row) (string, error) {
	k.buf = k.buf[:0]
	for i, v := range row {
		v, err := sql.UnwrapAny(ctx, v)
		if err != nil {
			return "", err
		}
		var weigh func(dst, text []byte) ([]byte, error)
		if i < len(k.weights) {
			weigh = k.weights[i]
		}
		if err := k.add(ctx, v, weigh); err != nil {
			return "", err
		}
	}
	return string(k.buf), nil
}

func (k *rowKey) add(ctx *sql.Context, v any, weigh func(dst, text []byte) ([]byte, error)) (err error) {
	text := func(kind byte, b []byte) {
		k.buf = binary.AppendUvarint(append(k.buf, kind), uint64(len(b)))
		k.buf = append(k.buf, b...)
	}
	switch v := v.(type) {
	case nil:
		k.buf = append(k.buf, 0)
	case string:
		if weigh == nil {
			text('s', []byte(v))
			return nil
		}
		k.buf, err = weigh(append(k.buf, 'w'), []byte(v))
	case []byte:
		text('s', v)
	case bool:
		text('n', strconv.AppendBool(nil, v))
	case float32:
		k.number(float64(v))
	case float64:
		k.number(v)
	case *apd.Decimal:
		var r apd.Decimal
		r.Reduce(v)
		text('n', []byte(r.Text('f')))
	case time.Time:
		k.buf = binary.BigEndian.AppendUint64(append(k.buf, 't'), uint64(v.UnixMicro()))
	case sql.JSONWrapper:
		b, jerr := types.MarshallJson(ctx, v)
		text('j', b)
		err = jerr
	default: // integers of all widths, so that they equal each other
		text('n', fmt.Append(nil, v))
	}
	return err
}

// number writes a float as the decimal that equals it.
func (k *rowKey) number(f float64) {
	if f == 0 {
		f = 0
	}
	s := strconv.AppendFloat(nil, f, 'f', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s = fmt.Append(nil, f)
	}
	k.buf = binary.AppendUvarint(append(k.buf, 'n'), uint64(len(s)))
	k.buf = append(k.buf, s...)
}

// distinctIter drops rows that came before.
type distinctIter struct {
	sql.RowIter
	key  *rowKey
	on   []sql.Expression // what makes a row distinct; nil: all of it
	seen map[string]struct{}
}

func newDistinct(it sql.RowIter, ts []sql.Type, on []sql.Expression) *distinctIter {
	return &distinctIter{RowIter: it, key: newRowKey(ts), on: on, seen: map[string]struct{}{}}
}

// Next implements sql.RowIter.
func (d *distinctIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := d.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		vs := row
		if d.on != nil {
			vs = make(sql.Row, len(d.on))
			for i, e := range d.on {
				if vs[i], err = e.Eval(ctx, row); err != nil {
					return nil, err
				}
			}
		} else if n := len(row) - len(d.key.weights); n > 0 {
			vs = row[n:]
		}
		k, err := d.key.of(ctx, vs)
		if err != nil {
			return nil, err
		}
		if _, ok := d.seen[k]; !ok {
			d.seen[k] = struct{}{}
			return row, nil
		}
	}
}

// Close implements sql.RowIter.
func (d *distinctIter) Close(ctx *sql.Context) error {
	d.seen = nil
	return d.RowIter.Close(ctx)
}

func (b *builder) distinct(ctx *sql.Context, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	it, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	if on := n.DistinctOn(); len(on) > 0 {
		return newDistinct(it, expressionTypes(ctx, on), on), nil
	}
	return newDistinct(it, schemaTypes(n.Child.Schema(ctx)), nil), nil
}

// union is UNION without ALL; INTERSECT and EXCEPT stay with the engine.
func (b *builder) union(ctx *sql.Context, n *plan.SetOp, row sql.Row) (sql.RowIter, error) {
	build := b.e.gms.Analyzer.ExecBuilder.Build
	left, err := build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	var it sql.RowIter = &iters.UnionIter{Cur: left, NextIter: func(ctx *sql.Context) (sql.RowIter, error) { return build(ctx, n.Right(), row) }}
	it = newDistinct(it, schemaTypes(n.Schema(ctx)), nil)
	if n.Offset != nil {
		skip, err := iters.GetInt64Value(ctx, n.Offset)
		if err != nil {
			return nil, err
		}
		it = &skipIter{RowIter: it, skip: skip}
	}
	limit := int64(-1)
	if n.Limit != nil {
		if limit, err = iters.GetInt64Value(ctx, n.Limit); err != nil {
			return nil, err
		}
	}
	switch {
	case limit >= 0 && len(n.SortConditions) > 0:
		it = iters.NewTopRowsIter(n.SortConditions, limit, false, it)
	case limit >= 0:
		it = &iters.LimitIter{Limit: limit, ChildIter: it}
	case len(n.SortConditions) > 0:
		it = iters.NewSortIter(n.SortConditions, it)
	}
	return it, nil
}

type skipIter struct {
	sql.RowIter
	skip int64
}

// Next implements sql.RowIter.
func (s *skipIter) Next(ctx *sql.Context) (sql.Row, error) {
	for ; s.skip > 0; s.skip-- {
		if _, err := s.RowIter.Next(ctx); err != nil {
			return nil, err
		}
	}
	return s.RowIter.Next(ctx)
}

// groupIter is GROUP BY: groups come in the order of their first rows.
type groupIter struct {
	child  sql.RowIter
	n      *plan.GroupBy
	key    *rowKey
	groups [][]sql.AggregationBuffer
	done   bool
	at     int
}

// ownGroupBy reports whether a node is executed here: with groups, or with distinct values to count.
func ownGroupBy(n *plan.GroupBy) bool {
	return len(n.GroupByExprs) > 0 || slices.ContainsFunc(n.SelectDeps, func(e sql.Expression) bool {
		_, ok := e.(*aggregation.CountDistinct)
		return ok
	})
}

func (b *builder) groupBy(ctx *sql.Context, n *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	child, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return &groupIter{child: child, n: n, key: newRowKey(expressionTypes(ctx, n.GroupByExprs))}, nil
}

// Next implements sql.RowIter.
func (g *groupIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.done {
		g.done = true
		if err := g.gather(ctx); err != nil {
			return nil, err
		}
	}
	if g.at >= len(g.groups) {
		return nil, io.EOF
	}
	buffers := g.groups[g.at]
	g.at++
	row := make(sql.Row, len(buffers))
	for i, b := range buffers {
		var err error
		if row[i], err = b.Eval(ctx); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (g *groupIter) gather(ctx *sql.Context) error {
	index := map[string]int{}
	vs := make(sql.Row, len(g.n.GroupByExprs))
	for {
		row, err := g.child.Next(ctx)
		if err == io.EOF && len(g.groups) == 0 && len(g.n.GroupByExprs) == 0 { // without GROUP BY there is one row always
			buffers, err := aggregationBuffers(ctx, g.n.SelectDeps)
			g.groups = append(g.groups, buffers)
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i, e := range g.n.GroupByExprs {
			if vs[i], err = e.Eval(ctx, row); err != nil {
				return err
			}
		}
		k, err := g.key.of(ctx, vs)
		if err != nil {
			return err
		}
		at, ok := index[k]
		if !ok {
			at = len(g.groups)
			index[k] = at
			buffers, err := aggregationBuffers(ctx, g.n.SelectDeps)
			if err != nil {
				return err
			}
			g.groups = append(g.groups, buffers)
		}
		for _, b := range g.groups[at] {
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
}

func aggregationBuffers(ctx *sql.Context, es []sql.Expression) (out []sql.AggregationBuffer, err error) {
	for _, e := range es {
		var b sql.AggregationBuffer
		switch e := e.(type) {
		case *aggregation.CountDistinct:
			b = &countDistinct{on: e.Children(), key: newRowKey(expressionTypes(ctx, e.Children())), seen: map[string]struct{}{}}
		case sql.Aggregation:
			b, err = e.NewBuffer(ctx)
		default: // not aggregated: the first row's
			b, err = aggregation.NewFirst(e).NewBuffer(ctx)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// Close implements sql.RowIter.
func (g *groupIter) Close(ctx *sql.Context) error {
	for _, bs := range g.groups {
		for _, b := range bs {
			b.Dispose(ctx)
		}
	}
	g.groups = nil
	return g.child.Close(ctx)
}

// countDistinct is COUNT(DISTINCT ...) in a GROUP BY.
type countDistinct struct {
	on   []sql.Expression
	key  *rowKey
	seen map[string]struct{}
}

// Update implements sql.AggregationBuffer.
func (c *countDistinct) Update(ctx *sql.Context, row sql.Row) error {
	vs := make(sql.Row, 0, len(c.on))
	for _, e := range c.on {
		if _, star := e.(*expression.Star); star {
			vs = append(vs, row...)
			continue
		}
		v, err := e.Eval(ctx, row)
		if v == nil || err != nil {
			return err // rows with a NULL are not counted
		}
		vs = append(vs, v)
	}
	k, err := c.key.of(ctx, vs)
	c.seen[k] = struct{}{}
	return err
}

// Eval implements sql.AggregationBuffer.
func (c *countDistinct) Eval(*sql.Context) (any, error) { return int64(len(c.seen)), nil }

// Dispose implements sql.Disposable.
func (c *countDistinct) Dispose(*sql.Context) {}
