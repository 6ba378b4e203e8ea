package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Window functions are executed here. go-mysql-server's own operator (sql/expression/function/aggregation/window_iter.go and
// window_framer.go) takes a RANGE frame whose ordering column has NULLs for the whole partition, and computes each frame anew,
// which is quadratic for SUM(...) OVER (ORDER BY ...).
//
//	W1  Rows with equal PARTITION BY values, compared as GROUP BY compares them, form a partition. Within it rows are in the
//	    order of ORDER BY, NULLs first (last, if descending); equal rows keep the order in which they came.
//	W2  Two rows are peers iff neither comes before the other in ORDER BY. Without ORDER BY all rows of a partition are peers.
//	W3  The result has the rows in the order in which they came.
//	W4  A frame that begins where the one before began, and ends no earlier, costs the rows that it has more.

// window builds the operator, or returns nil if one of the expressions is of a kind that it does not know.
func (b *builder) window(ctx *sql.Context, n *plan.Window, row sql.Row) (sql.RowIter, error) {
	w := &windowIter{columns: make([]windowColumn, len(n.SelectExprs))}
	for i, e := range n.SelectExprs {
		if a, ok := e.(*expression.Alias); ok {
			e = a.Child
		}
		c := windowColumn{expr: e}
		switch f := e.(type) {
		case *windowFunction:
			c.over, c.function = f.over, f
		case sql.Aggregation:
			c.over, c.aggregate = f.Window(), f
		case sql.WindowAdaptableExpression:
			return nil, nil
		}
		w.columns[i] = c
	}
	child, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	w.child = child
	return w, nil
}

// windowColumn is a column of the result: a window function, an aggregate over frames, or an expression of the row itself.
type windowColumn struct {
	expr      sql.Expression
	over      *sql.WindowDefinition
	function  *windowFunction
	aggregate sql.Aggregation
}

// windowIter reads all rows of its child before it gives the first one.
type windowIter struct {
	child   sql.RowIter
	columns []windowColumn
	rows    []sql.Row
	results [][]any // by column; nil for expressions
	at      int
	done    bool
}

// Next implements sql.RowIter.
func (w *windowIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !w.done {
		w.done = true
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
	}
	if w.at >= len(w.rows) {
		return nil, io.EOF
	}
	out := make(sql.Row, len(w.columns))
	for i, c := range w.columns {
		if w.results[i] != nil {
			out[i] = w.results[i][w.at]
			continue
		}
		var err error
		if out[i], err = c.expr.Eval(ctx, w.rows[w.at]); err != nil {
			return nil, err
		}
	}
	w.rows[w.at] = nil
	w.at++
	return out, nil
}

// Close implements sql.RowIter.
func (w *windowIter) Close(ctx *sql.Context) error {
	w.rows, w.results = nil, nil
	return w.child.Close(ctx)
}

func (w *windowIter) compute(ctx *sql.Context) error {
	for {
		row, err := w.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		w.rows = append(w.rows, row)
	}
	w.results = make([][]any, len(w.columns))
	orders := map[string]*windowOrder{} // columns over equal windows share one sort
	for i, c := range w.columns {
		if c.function == nil && c.aggregate == nil {
			continue
		}
		name := orderName(c.over)
		o := orders[name]
		if o == nil {
			var err error
			if o, err = w.order(ctx, c.over); err != nil {
				return err
			}
			orders[name] = o
		}
		w.results[i] = make([]any, len(w.rows))
		for _, p := range o.partitions {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.partition(ctx, c, p, w.results[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// orderName is the same for windows with the same PARTITION BY and ORDER BY.
func orderName(d *sql.WindowDefinition) string {
	if d == nil {
		return ""
	}
	bare := *d
	bare.Frame = nil
	return bare.String()
}

// windowOrder is the rows as one PARTITION BY and ORDER BY arranges them.
type windowOrder struct{ partitions []*windowPartition }

// windowPartition is the rows of one partition, in order.
type windowPartition struct {
	rows   []sql.Row
	places []int   // of the rows in the input
	keys   [][]any // their ORDER BY values
	by     sql.SortConditions
	types  []sql.Type
	// first and last are the bounds of each row's peers: [first, last).
	first, last []int
}

func (w *windowIter) order(ctx *sql.Context, d *sql.WindowDefinition) (*windowOrder, error) {
	if d == nil {
		d = &sql.WindowDefinition{}
	}
	o := &windowOrder{}
	key := newRowKey(expressionTypes(ctx, d.PartitionBy))
	byKey := map[string]*windowPartition{}
	var by []sql.Type
	for _, c := range d.OrderBy {
		by = append(by, c.Expr.Type(ctx))
	}
	vs := make(sql.Row, len(d.PartitionBy))
	for at, row := range w.rows {
		var err error
		for i, e := range d.PartitionBy {
			if vs[i], err = e.Eval(ctx, row); err != nil {
				return nil, err
			}
		}
		k, err := key.of(ctx, vs)
		if err != nil {
			return nil, err
		}
		p := byKey[k]
		if p == nil {
			p = &windowPartition{by: d.OrderBy, types: by}
			byKey[k] = p
			o.partitions = append(o.partitions, p)
		}
		ks := make([]any, len(d.OrderBy))
		for i, c := range d.OrderBy {
			if ks[i], err = c.Expr.Eval(ctx, row); err != nil {
				return nil, err
			}
			if ks[i], err = sql.UnwrapAny(ctx, ks[i]); err != nil {
				return nil, err
			}
		}
		p.places, p.keys = append(p.places, at), append(p.keys, ks)
	}
	for _, p := range o.partitions {
		if err := p.sort(ctx, w.rows); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// sort puts the rows of a partition in order and finds their peers.
func (p *windowPartition) sort(ctx *sql.Context, rows []sql.Row) error {
	n := len(p.places)
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	var failed error
	if len(p.by) > 0 {
		slices.SortStableFunc(perm, func(a, b int) int {
			c, err := p.compare(ctx, a, b)
			if err != nil && failed == nil {
				failed = err
			}
			return c
		})
	}
	if failed != nil {
		return failed
	}
	places, keys := make([]int, n), make([][]any, n)
	p.rows = make([]sql.Row, n)
	for i, from := range perm {
		places[i], keys[i] = p.places[from], p.keys[from]
		p.rows[i] = rows[places[i]]
	}
	p.places, p.keys = places, keys
	p.first, p.last = make([]int, n), make([]int, n)
	for i := 0; i < n; {
		j := i + 1
		for ; j < n; j++ {
			c, err := p.compare(ctx, i, j)
			if err != nil {
				return err
			}
			if c != 0 {
				break
			}
		}
		for k := i; k < j; k++ {
			p.first[k], p.last[k] = i, j
		}
		i = j
	}
	return nil
}

// compare is W2 for two rows of the partition.
func (p *windowPartition) compare(ctx *sql.Context, a, b int) (int, error) {
	for i, c := range p.by {
		n, err := compareNullsFirst(ctx, p.types[i], p.keys[a][i], p.keys[b][i])
		if err != nil {
			return 0, err
		}
		if n != 0 {
			if c.Order == sql.Descending {
				n = -n
			}
			return n, nil
		}
	}
	return 0, nil
}

// compareNullsFirst compares two values of a type; NULL comes before all others.
func compareNullsFirst(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	switch {
	case a == nil && b == nil:
		return 0, nil
	case a == nil:
		return -1, nil
	case b == nil:
		return 1, nil
	}
	return t.Compare(ctx, a, b)
}

// partition computes one column for the rows of one partition.
func (w *windowIter) partition(ctx *sql.Context, c windowColumn, p *windowPartition, out []any) error {
	if c.function != nil && !c.function.framed() {
		return c.function.rank(ctx, p, out)
	}
	f, err := newFramer(ctx, c.over, p)
	if err != nil {
		return err
	}
	if c.function != nil {
		return c.function.pick(ctx, p, f, out)
	}
	return aggregateFrames(ctx, c.aggregate, p, f, out)
}

// remover is an aggregation buffer that can take a row back, exactly: a frame that slides costs the rows that enter and leave.
type remover interface {
	Remove(ctx *sql.Context, row sql.Row) error
}

// aggregateFrames computes an aggregate over the frame of each row.
func aggregateFrames(ctx *sql.Context, a sql.Aggregation, p *windowPartition, f *framer, out []any) error {
	var buf sql.AggregationBuffer
	defer func() {
		if buf != nil {
			buf.Dispose(ctx)
		}
	}()
	start, end := 0, 0
	var value any
	for i := range p.rows {
		from, to, err := f.frame(ctx, i)
		if err != nil {
			return err
		}
		to = max(from, to)
		if buf != nil && from == start && to == end {
			out[p.places[i]] = value
			continue
		}
		r, removes := buf.(remover)
		if buf == nil || from < start || to < end || from > start && (!removes || from >= end) {
			if buf != nil {
				buf.Dispose(ctx)
			}
			if buf, err = windowBuffer(ctx, a); err != nil {
				return err
			}
			start, end = from, from
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for ; start < from; start++ {
			if err := r.Remove(ctx, p.rows[start]); err != nil {
				return err
			}
		}
		for ; end < to; end++ {
			if err := buf.Update(ctx, p.rows[end]); err != nil {
				return err
			}
		}
		if value, err = buf.Eval(ctx); err != nil {
			return err
		}
		out[p.places[i]] = value
	}
	return nil
}

func windowBuffer(ctx *sql.Context, a sql.Aggregation) (sql.AggregationBuffer, error) {
	if c, ok := a.(*aggregation.Count); ok {
		return &countBuffer{child: c.Child}, nil
	}
	return a.NewBuffer(ctx)
}

// countBuffer is COUNT.
type countBuffer struct {
	child sql.Expression
	n     int64
}

func (c *countBuffer) add(ctx *sql.Context, row sql.Row, by int64) error {
	if _, star := c.child.(*expression.Star); star {
		c.n += by
		return nil
	}
	v, err := c.child.Eval(ctx, row)
	if v != nil && err == nil {
		c.n += by
	}
	return err
}

// Update implements sql.AggregationBuffer.
func (c *countBuffer) Update(ctx *sql.Context, row sql.Row) error { return c.add(ctx, row, 1) }

// Remove implements remover.
func (c *countBuffer) Remove(ctx *sql.Context, row sql.Row) error { return c.add(ctx, row, -1) }

// Eval implements sql.AggregationBuffer.
func (c *countBuffer) Eval(*sql.Context) (any, error) { return c.n, nil }

// Dispose implements sql.Disposable.
func (c *countBuffer) Dispose(*sql.Context) {}

// wholeNumberOf is a value as a whole number.
func wholeNumberOf(ctx *sql.Context, v any) (int64, bool, error) {
	if v == nil {
		return 0, false, nil
	}
	c, in, err := types.Int64.Convert(ctx, v)
	if err != nil || in != sql.InRange || c == nil {
		return 0, false, err
	}
	return c.(int64), true, nil
}
