package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// groupCounter is a GROUP BY over one table that is counted in place.
type groupCounter struct {
	b      *builder
	n      *plan.GroupBy
	t      *table
	x      *indexLayout // by which groups are counted
	groups []int        // places of the columns of GROUP BY
	spans  []kv.Span
	whole  bool // spans are all of the index
	out    []countColumn

	rows []sql.Row
	done bool
	// plain is the ordinary operator, where the groups do not fit into memory.
	plain sql.RowIter
}

// countColumn is one column of the result: exactly one of the fields is set.
type countColumn struct {
	count    bool
	notNull  *indexLayout // count of the rows whose first column in this index is not NULL
	unlessAt int          // with count, if not negative: 0 for the group in which this column of GROUP BY is NULL
	column   int          // a column of GROUP BY; negative: not
	least    *indexLayout // MIN of the index's first column
	greatest *indexLayout // MAX
}

// countGroups recognizes a GROUP BY over one table. Nil: it is none that can be counted in place.
func (b *builder) countGroups(ctx *sql.Context, s *Session, n *plan.GroupBy) (sql.RowIter, error) {
	src := sourceOf(s, n.Child)
	if src == nil {
		return nil, nil
	}
	c := &groupCounter{b: b, n: n, t: src.t}
	for _, e := range n.GroupByExprs {
		f, ok := fieldOf(e)
		if !ok {
			return nil, nil
		}
		at, ok := src.t.column(f, f.Index())
		if !ok {
			return nil, nil
		}
		if !slices.Contains(c.groups, at) {
			c.groups = append(c.groups, at)
		}
	}
	var ok bool
	var err error
	if c.x, c.spans, c.whole, ok, err = src.spans(ctx); err != nil || !ok {
		return nil, err
	}
	if c.whole {
		if c.x = src.t.l.indexFor(c.groups); c.x == nil {
			return nil, nil
		}
		c.spans = []kv.Span{c.x.whole()}
	} else if !c.x.beginsWith(c.groups) {
		return nil, nil
	}
	for _, e := range n.SelectDeps {
		o, ok := c.output(ctx, e)
		if !ok {
			return nil, nil
		}
		c.out = append(c.out, o)
	}
	b.e.m.InPlace.WithLabelValues("groups").Inc()
	return c, nil
}

func (c *groupCounter) output(ctx *sql.Context, e sql.Expression) (o countColumn, ok bool) {
	o.column, o.unlessAt = -1, -1
	switch e := e.(type) {
	case *aggregation.Count:
		o.count = true
		f, ok := countArgument(e.Child)
		if f == nil || !ok {
			return o, ok
		}
		at, ok := c.t.column(f, f.Index())
		switch {
		case !ok:
			return o, false
		case !c.t.l.schema.Schema[at].Nullable:
			return o, true
		case slices.Contains(c.groups, at):
			o.unlessAt = at
			return o, true
		case len(c.groups) > 0:
			return o, false
		}
		o.count = false
		if c.whole {
			o.notNull = c.t.l.indexFor([]int{at})
			return o, o.notNull != nil
		}
		// Of the rows between bounds that exclude NULL all count.
		o.count = c.x.parts[0].at == at && len(c.spans) > 0 && !c.spans[0].Start.Less(c.x.notNull().Start)
		return o, o.count
	case *aggregation.Min:
		o.least = c.extreme(ctx, e.Child, true)
		return o, o.least != nil
	case *aggregation.Max:
		o.greatest = c.extreme(ctx, e.Child, false)
		return o, o.greatest != nil
	}
	f, ok := fieldOf(e)
	if !ok {
		return o, false
	}
	at, ok := c.t.column(f, f.Index())
	o.column = at
	return o, ok && slices.Contains(c.groups, at)
}

// extreme is the index whose first or last entry has the least or greatest value of a column.
func (c *groupCounter) extreme(ctx *sql.Context, e sql.Expression, least bool) *indexLayout {
	f, ok := e.(*expression.GetField)
	if !ok || len(c.groups) > 0 || !c.whole {
		return nil
	}
	at, ok := c.t.column(f, f.Index())
	if !ok {
		return nil
	}
	// Enumerations and the like compare as something else than they are kept as.
	typ := c.t.l.schema.Schema[at].Type
	if !types.IsNumber(typ) && !types.IsTime(typ) && !types.IsText(typ) || types.IsEnum(typ) || types.IsSet(typ) || types.IsBit(typ) || types.IsYear(typ) {
		return nil
	}
	if f.Type(ctx).Type() != typ.Type() {
		return nil
	}
	x := c.t.l.indexFor([]int{at})
	if x == nil || x.parts[0].col.Lossy() && !least {
		return nil // of equal texts the first is shown, and here the last would be
	}
	return x
}

// run counts.
func (c *groupCounter) run(ctx *sql.Context) error {
	_, tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	counts := []txn.Counting{{Spans: c.spans, By: c.x.grouping(len(c.groups))}}
	needsRows := len(c.groups) > 0
	for i := range c.out {
		needsRows = needsRows || c.out[i].count
		if x := c.out[i].notNull; x != nil {
			counts = append(counts, txn.Counting{Spans: []kv.Span{x.notNull()}, By: x.grouping(0)})
		}
	}
	if !needsRows {
		counts[0].Spans = nil
	}
	groups, _, err := tx.count(ctx, counts, nil)
	if tooLarge(err) {
		c.plain, err = c.b.groupBy(ctx, c.n, nil)
		return err
	}
	if err != nil {
		return err
	}
	if c.whole && needsRows {
		n := int64(0)
		for i := range groups[0] {
			n += groups[0][i].Count
		}
		c.t.db.e.stats.counted(c.t.l.desc.ID, uint64(n))
	}
	if len(c.groups) == 0 { // one row always
		all := txn.Group{}
		if len(groups[0]) > 0 {
			all = groups[0][0]
		}
		return c.row(ctx, tx, &all, groups[1:])
	}
	for i := range groups[0] {
		if err := c.row(ctx, tx, &groups[0][i], nil); err != nil {
			return err
		}
	}
	return nil
}

// row makes one row of the result.
func (c *groupCounter) row(ctx *sql.Context, tx *tx, g *txn.Group, notNull [][]txn.Group) error {
	var d datums
	var err error
	if len(c.groups) > 0 {
		if d, err = c.x.groupColumns(g, len(c.groups)); err != nil {
			return err
		}
	}
	row := make(sql.Row, len(c.out))
	for i, o := range c.out {
		switch {
		case o.count && o.unlessAt >= 0 && d[o.unlessAt].IsNull():
			row[i] = int64(0)
		case o.count:
			row[i] = g.Count
		case o.notNull != nil:
			n := int64(0)
			if len(notNull[0]) > 0 {
				n = notNull[0][0].Count
			}
			row[i], notNull = n, notNull[1:]
		case o.least != nil:
			row[i], err = c.end(ctx, tx, o.least, false)
		case o.greatest != nil:
			row[i], err = c.end(ctx, tx, o.greatest, true)
		case !d[o.column].IsNull():
			row[i], err = c.t.l.decode[o.column](d[o.column])
		}
		if err != nil {
			return err
		}
	}
	c.rows = append(c.rows, row)
	return nil
}

// end is the first column of the first entry of an index in which it is not NULL, or of the last entry.
func (c *groupCounter) end(ctx *sql.Context, tx *tx, x *indexLayout, reverse bool) (any, error) {
	rows, err := tx.attempt().Scan(ctx, x.notNull(), txn.ScanOptions{Limit: 1, Page: 1, Reverse: reverse}).Next(ctx)
	if err != nil || len(rows) == 0 {
		return nil, tx.note(err)
	}
	d, err := x.groupColumns(&txn.Group{Key: rows[0].Key, Value: rows[0].Value}, 1)
	if err != nil {
		return nil, err
	}
	at := x.parts[0].at
	return c.t.l.decode[at](d[at])
}

// Next implements sql.RowIter.
func (c *groupCounter) Next(ctx *sql.Context) (sql.Row, error) {
	if !c.done {
		c.done = true
		if err := c.run(ctx); err != nil {
			return nil, err
		}
	}
	if c.plain != nil {
		return c.plain.Next(ctx)
	}
	if len(c.rows) == 0 {
		return nil, io.EOF
	}
	row := c.rows[0]
	c.rows = c.rows[1:]
	return row, nil
}

// Close implements sql.RowIter.
func (c *groupCounter) Close(ctx *sql.Context) error {
	c.rows = nil
	if c.plain != nil {
		return c.plain.Close(ctx)
	}
	return nil
}
