package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// groupIter is GROUP BY: groups come in the order of their first rows.
type groupIter struct {
	child  sql.RowIter
	n      *plan.GroupBy
	key    *rowKey
	groups groups
	done   bool
}

// groups are those of a GROUP BY, in the order in which their rows go out.
type groups struct {
	buffers [][]sql.AggregationBuffer // of each group, one for each expression
	at      int
}

// next is the row of the next group; io.EOF: there is none.
func (g *groups) next(ctx *sql.Context) (sql.Row, error) {
	if g.at >= len(g.buffers) {
		return nil, io.EOF
	}
	buffers := g.buffers[g.at]
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

func (g *groups) dispose(ctx *sql.Context) {
	for _, bs := range g.buffers {
		for _, b := range bs {
			b.Dispose(ctx)
		}
	}
	g.buffers = nil
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

func (g *groupIter) gather(ctx *sql.Context) error {
	index := map[string]int{}
	vs := make(sql.Row, len(g.n.GroupByExprs))
	for {
		row, err := g.child.Next(ctx)
		if err == io.EOF && len(g.groups.buffers) == 0 && len(g.n.GroupByExprs) == 0 { // without GROUP BY there is one row always
			buffers, err := aggregationBuffers(ctx, g.n.SelectDeps)
			g.groups.buffers = append(g.groups.buffers, buffers)
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
			at = len(g.groups.buffers)
			index[k] = at
			buffers, err := aggregationBuffers(ctx, g.n.SelectDeps)
			if err != nil {
				return err
			}
			g.groups.buffers = append(g.groups.buffers, buffers)
		}
		for _, b := range g.groups.buffers[at] {
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

// Next implements sql.RowIter.
func (g *groupIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.done {
		g.done = true
		if err := g.gather(ctx); err != nil {
			return nil, err
		}
	}
	return g.groups.next(ctx)
}

// Close implements sql.RowIter.
func (g *groupIter) Close(ctx *sql.Context) error {
	g.groups.dispose(ctx)
	return g.child.Close(ctx)
}
