package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/txn"
)

var _ exec.Counter = (*querySource)(nil)

// Count implements exec.Counter: rows are counted where they are, if I1 to I3 hold (inplace.go).
func (q *querySource) Count(r *exec.CountRequest) (exec.Rows, error) {
	t, ok := r.Table.(*queryTable)
	if !ok || !t.t.isCountable(q.s) || !q.s.settings(q.ctx).inPlace {
		return nil, nil
	}
	if err := q.s.stmt.flushTable(q.ctx, t.t.l.desc.ID); err != nil {
		return nil, err
	}
	c := &queryCount{q: q, t: t, r: r}
	if ok, err := c.plan(); err != nil || !ok {
		return nil, err
	}
	err := c.run()
	if tooLarge(err) { // more groups than fit into memory
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	q.s.e.m.InPlace.WithLabelValues("groups").Inc()
	return c, nil
}

// queryCount is the groups of a table.
type queryCount struct {
	q     *querySource
	t     *queryTable
	r     *exec.CountRequest
	x     *indexLayout // by which groups are counted
	spans []kv.Span
	whole bool // spans are all of the index
	aggs  []countColumn
	rows  [][]expr.Value
	at    int
}

// plan finds the index by which the groups are counted; false: there is none.
func (c *queryCount) plan() (bool, error) {
	l := c.t.t.l
	for _, at := range c.r.Keys {
		if l.virtual[at] {
			return false, nil
		}
	}
	if c.r.Spans == nil {
		c.whole, c.x = true, l.indexFor(c.r.Keys)
		if i, ok := c.r.Index.(*queryIndex); ok && c.r.Ordered {
			if c.x = nil; i.x.table == l && i.x.beginsWith(c.r.Keys) {
				c.x = i.x
			}
		}
		if c.x == nil {
			return false, nil
		}
		c.spans = []kv.Span{c.x.whole()}
	} else {
		i, ok := c.r.Index.(*queryIndex)
		if !ok || i.x.table != l || !i.x.beginsWith(c.r.Keys) {
			return false, nil
		}
		c.x = i.x
		for i := range c.r.Spans {
			s := &c.r.Spans[i]
			n := len(s.Equal)
			if s.Low != nil || s.High != nil {
				n++
			}
			if n > len(c.x.parts) || !c.x.countable(n) {
				return false, nil // the span holds more than it says
			}
		}
		rs, err := c.x.keyReaches(c.r.Spans)
		if err != nil {
			return false, err
		}
		for i := range rs {
			c.spans = append(c.spans, rs[i].span)
		}
	}
	for _, a := range c.r.Aggs {
		o, ok := c.aggregate(a)
		if !ok {
			return false, nil
		}
		c.aggs = append(c.aggs, o)
	}
	return true, nil
}

func (c *queryCount) aggregate(a exec.CountAgg) (o countColumn, ok bool) {
	l := c.t.t.l
	o.column, o.unlessAt = -1, -1
	if a.Kind != exec.CountAll && l.virtual[a.Place] {
		return o, false
	}
	switch a.Kind {
	case exec.CountAll:
		o.count = true
		return o, true
	case exec.CountPlace:
		o.count = true
		switch {
		case !l.schema.Schema[a.Place].Nullable:
			return o, true
		case slices.Contains(c.r.Keys, a.Place):
			o.unlessAt = a.Place
			return o, true
		case len(c.r.Keys) > 0:
			return o, false
		}
		o.count = false
		if c.whole {
			o.notNull = l.indexFor([]int{a.Place})
			return o, o.notNull != nil
		}
		// Of the rows between bounds that exclude NULL all count.
		o.count = c.x.parts[0].at == a.Place && len(c.spans) > 0 && !c.spans[0].Start.Less(c.x.notNull().Start)
		return o, o.count
	case exec.MinPlace:
		o.least = c.extreme(a.Place, true)
		return o, o.least != nil
	}
	o.greatest = c.extreme(a.Place, false)
	return o, o.greatest != nil
}

// extreme is the index whose first or last entry has the least or greatest value of a column; nil: none has.
func (c *queryCount) extreme(at int, least bool) *indexLayout {
	if len(c.r.Keys) > 0 || !c.whole {
		return nil
	}
	switch t := c.t.q.columns[at].Type; t.Kind() { // enumerations and the like compare as something else than they are kept as
	case expr.KindInt, expr.KindFloat, expr.KindDecimal, expr.KindDate, expr.KindDatetime, expr.KindTime, expr.KindText:
	case expr.KindUint:
		if t.Name == expr.YearType {
			return nil
		}
	default:
		return nil
	}
	x := c.t.t.l.indexFor([]int{at})
	if x == nil || x.parts[0].col.Lossy() && !least {
		return nil // of equal texts the first is shown, and here the last would be
	}
	return x
}

// run counts.
func (c *queryCount) run() error {
	ctx := c.q.ctx
	_, tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	counts := []txn.Counting{{Spans: c.spans, By: c.x.grouping(len(c.r.Keys))}}
	needsRows := len(c.r.Keys) > 0
	for i := range c.aggs {
		needsRows = needsRows || c.aggs[i].count
		if x := c.aggs[i].notNull; x != nil {
			counts = append(counts, txn.Counting{Spans: []kv.Span{x.notNull()}, By: x.grouping(0)})
		}
	}
	if !needsRows {
		counts[0].Spans = nil
	}
	beside, spans := c.beside()
	groups, rows, err := tx.count(ctx, counts, spans)
	if err != nil {
		return err
	}
	if beside != 0 {
		c.q.present(beside, spans, rows)
	}
	if c.whole && needsRows {
		n := int64(0)
		for i := range groups[0] {
			n += groups[0][i].Count
		}
		c.t.t.db.e.stats.counted(c.t.t.l.desc.ID, uint64(n))
	}
	if len(c.r.Keys) == 0 { // one row always
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
	if c.r.Ordered && c.r.Reverse {
		slices.Reverse(c.rows)
	}
	return nil
}

// beside is the table that will be read next, if it is small enough to be read in the same round; 0: none.
func (c *queryCount) beside() (id uint64, spans []kv.Span) {
	if c.r.Beside == nil || c.r.Beside.Index != nil || c.r.Beside.Limit > 0 || c.r.Beside.Uses > 0 {
		return 0, nil
	}
	t, ok := c.r.Beside.Table.(*queryTable)
	if !ok || !t.t.isCountable(c.q.s) {
		return 0, nil
	}
	id = t.t.l.desc.ID
	if stats := t.t.db.e.stats; !stats.small(id) && stats.rows(id) > unknownRows || id == c.t.t.l.desc.ID {
		return 0, nil
	}
	return id, []kv.Span{t.t.l.primary.whole()}
}

// present lets the next reader of a table find in memory what was read of it.
func (q *querySource) present(id uint64, spans []kv.Span, rows [][]txn.KeyValue) {
	f := &fetched{spans: map[string][]txn.KeyValue{}, rows: map[string][]byte{}}
	for i, s := range spans {
		f.spans[spanName(s)] = rows[i]
	}
	if q.before == nil {
		q.before = map[uint64]*fetched{}
	}
	q.before[id] = f
}

// row makes one group's row.
func (c *queryCount) row(ctx *sql.Context, tx *tx, g *txn.Group, notNull [][]txn.Group) error {
	var d datums
	var err error
	if len(c.r.Keys) > 0 {
		if d, err = c.x.groupColumns(g, len(c.r.Keys)); err != nil {
			return err
		}
	}
	row := make([]expr.Value, 0, len(c.r.Keys)+len(c.aggs))
	for _, at := range c.r.Keys {
		v := expr.Null
		if !d[at].IsNull() {
			if v, err = c.t.q.read[at](d[at]); err != nil {
				return err
			}
		}
		row = append(row, v)
	}
	for _, o := range c.aggs {
		v := expr.Int(g.Count)
		switch {
		case o.count && o.unlessAt >= 0 && d[o.unlessAt].IsNull():
			v = expr.Int(0)
		case o.notNull != nil:
			n := int64(0)
			if len(notNull[0]) > 0 {
				n = notNull[0][0].Count
			}
			v, notNull = expr.Int(n), notNull[1:]
		case o.least != nil:
			v, err = c.end(ctx, tx, o.least, false)
		case o.greatest != nil:
			v, err = c.end(ctx, tx, o.greatest, true)
		}
		if err != nil {
			return err
		}
		row = append(row, v)
	}
	c.rows = append(c.rows, row)
	return nil
}

// end is the first column of the first entry of an index in which it is not NULL, or of the last entry.
func (c *queryCount) end(ctx *sql.Context, tx *tx, x *indexLayout, reverse bool) (expr.Value, error) {
	rows, err := tx.attempt().Scan(ctx, x.notNull(), txn.ScanOptions{Limit: 1, Page: 1, Reverse: reverse}).Next(ctx)
	if err != nil || len(rows) == 0 {
		return expr.Null, tx.note(err)
	}
	d, err := x.groupColumns(&txn.Group{Key: rows[0].Key, Value: rows[0].Value}, 1)
	if err != nil {
		return expr.Null, err
	}
	return c.t.q.read[x.parts[0].at](d[x.parts[0].at])
}

// Next implements exec.Rows.
func (c *queryCount) Next(regs []expr.Value, cols []rel.ColID) (bool, error) {
	if c.at == len(c.rows) {
		return false, nil
	}
	for i, v := range c.rows[c.at] {
		regs[cols[i]] = v
	}
	c.at++
	return true, nil
}

// Close implements exec.Rows.
func (c *queryCount) Close() error { return nil }
