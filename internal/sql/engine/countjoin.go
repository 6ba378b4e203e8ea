package engine

import (
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// A join of which only the number of rows on one side matters: for each row of the side that is kept, how many entries of an
// index of the other have the row's value. The rows of the result that the join would make are never made: one stands for
// all that a kept row would give, with their number.

// joinCounter is a GROUP BY over such a join.
type joinCounter struct {
	b     *builder
	s     *Session
	n     *plan.GroupBy
	kept  sql.Node
	outer bool // a kept row without a match gives one row
	// before is how many columns a joined row has before the kept row's.
	before int
	t      *table       // counted
	x      *indexLayout // by its first column, or those that a lookup names
	fields int          // how many
	// Either the kept row's value, which is encoded as a column is, or (nil) what a lookup is made from.
	on     *expression.GetField
	column rowcodec.Column
	access *plan.IndexedTableAccess // nil: the plan is not to look rows up
	aggs   []weighted

	groups groups
	index  map[string]int
	key    *rowKey
	done   bool
	plain  sql.RowIter
}

// weighted is how one column of the result takes in a row that stands for several.
type weighted struct {
	count bool
	// field, with count: only if it is not NULL; nil: always. matched: only rows of the counted side count.
	field   *expression.GetField
	matched bool
}

// countJoin recognizes a GROUP BY over a join one side of which can be counted in place. Nil: there is none.
func (b *builder) countJoin(ctx *sql.Context, s *Session, n *plan.GroupBy, j *plan.JoinNode) (sql.RowIter, error) {
	inner := false
	switch j.Op {
	case plan.JoinTypeInner, plan.JoinTypeLookup, plan.JoinTypeHash, plan.JoinTypeMerge:
		inner = true
	case plan.JoinTypeLeftOuter, plan.JoinTypeLeftOuterLookup, plan.JoinTypeLeftOuterHash, plan.JoinTypeLeftOuterMerge:
	default:
		return nil, nil
	}
	left := len(j.Left().Schema(ctx))
	if src := sourceOf(s, j.Right()); src != nil {
		c := &joinCounter{b: b, s: s, n: n, kept: j.Left(), outer: !inner, t: src.t}
		if ok, err := c.match(ctx, j, src, left, 0, left); ok || err != nil {
			return c, err
		}
	}
	right := j.Right()
	if h, ok := right.(*plan.HashLookup); ok {
		right = h.Child
	}
	if src := sourceOf(s, j.Left()); src != nil && inner && independent(right) {
		c := &joinCounter{b: b, s: s, n: n, kept: right, before: left, t: src.t}
		if ok, err := c.match(ctx, j, src, 0, left, left+len(right.Schema(ctx))); ok || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// independent reports whether a side of a join can be read without the other.
func independent(n sql.Node) bool {
	switch x := n.(type) {
	case *plan.TableAlias:
		return independent(x.Child)
	case *plan.IndexedTableAccess:
		return x.IsStatic()
	case *plan.ResolvedTable:
		return true
	}
	return false
}

// match checks that the join is on a column of the source, whose columns are those from the offset on in a joined row, and
// that nothing but counts is wanted of it. Kept columns are those in [from, to).
func (c *joinCounter) match(ctx *sql.Context, j *plan.JoinNode, src *source, offset, from, to int) (bool, error) {
	isKept := func(f *expression.GetField) bool { return f.Index() >= from && f.Index() < to }
	counted := func(f *expression.GetField) (int, bool) {
		if isKept(f) {
			return 0, false
		}
		return c.t.column(f, f.Index()-offset)
	}
	joined := -1 // the counted column that the join is on: not NULL in any joined row
	if src.access != nil && !src.access.IsStatic() {
		i, isOurs := src.access.Index().(*index)
		if !isOurs || c.before > 0 {
			return false, nil
		}
		es := src.access.Expressions()
		for _, e := range es {
			if f, ok := e.(*expression.GetField); !ok || !isKept(f) {
				return false, nil
			}
		}
		c.access, c.x, c.fields = src.access, c.t.l.indexByName(i.ID()), len(es)
		if c.x == nil || c.fields == 0 || !c.x.countable(c.fields) {
			return false, nil
		}
		// What the lookup is made from is either all of the condition, or the condition says it once more.
		if first := es[0].(*expression.GetField); !isTrue(j.Filter) {
			if joined = c.equality(ctx, j.Filter, isKept, counted); joined < 0 || c.on.Index() != first.Index() || len(es) > 1 {
				return false, nil
			}
		} else if none, err := c.looked(ctx, make(sql.Row, to)); err != nil {
			return false, err
		} else if at := c.x.parts[0].at; len(es) == 1 && len(none) == 0 && c.comparable(ctx, first, at) { // NULL finds nothing
			joined = at
		}
	} else {
		if _, _, whole, ok, err := src.spans(ctx); !ok || !whole || err != nil {
			return false, err
		}
		if joined = c.equality(ctx, j.Filter, isKept, counted); joined < 0 {
			return false, nil
		}
	}
	if c.x == nil || !c.aggregates(ctx, isKept, counted, joined) {
		return false, nil
	}
	c.b.e.m.InPlace.WithLabelValues("join").Inc()
	return true, nil
}

func isTrue(e sql.Expression) bool {
	if e == nil {
		return true
	}
	l, ok := unfused(e).(*expression.Literal)
	if !ok {
		return false
	}
	switch v := l.Value().(type) {
	case bool:
		return v
	case int8:
		return v == 1
	}
	return false
}

// equality takes a condition apart that a kept column equals a counted one, and returns the latter; negative: it is another.
func (c *joinCounter) equality(ctx *sql.Context, e sql.Expression, isKept func(*expression.GetField) bool, counted func(*expression.GetField) (int, bool)) int {
	eq, ok := unfused(e).(*expression.Equals)
	if !ok {
		return -1
	}
	a, ok1 := eq.Left().(*expression.GetField)
	b, ok2 := eq.Right().(*expression.GetField)
	if !ok1 || !ok2 {
		return -1
	}
	if !isKept(a) {
		a, b = b, a
	}
	at, ok := counted(b)
	if !isKept(a) || !ok || !c.comparable(ctx, a, at) {
		return -1
	}
	return at
}

// comparable reports whether values of a kept column and of a counted one are the same in a key iff SQL takes them for
// equal; and how the former are encoded then.
func (c *joinCounter) comparable(ctx *sql.Context, a *expression.GetField, at int) bool {
	col, typ, other := c.t.l.columns[at], c.t.l.schema.Schema[at].Type, a.Type(ctx)
	kind, err := kindOf(other)
	switch {
	case err != nil:
		return false
	case types.IsInteger(typ) && types.IsInteger(other):
		col.Kind = kind // signed and unsigned have the same keys
	case types.IsTextOnly(typ) && types.IsTextOnly(other):
		x, ok1 := typ.(sql.TypeWithCollation)
		y, ok2 := other.(sql.TypeWithCollation)
		if !ok1 || !ok2 || x.Collation() != y.Collation() {
			return false
		}
	case types.IsBinaryType(typ) && types.IsBinaryType(other) && typ.Type() == other.Type():
	case types.IsTime(typ) && typ.Equals(other):
	case types.IsDecimal(typ) && typ.Equals(other):
	default:
		return false
	}
	if c.x = c.t.l.indexFor([]int{at}); c.x == nil {
		return false
	}
	c.on, c.column, c.fields = a, col, 1
	return true
}

// aggregates checks that all that is wanted can be had from kept rows and numbers.
func (c *joinCounter) aggregates(ctx *sql.Context, isKept func(*expression.GetField) bool, counted func(*expression.GetField) (int, bool), joined int) bool {
	for _, e := range c.n.GroupByExprs {
		if f, ok := fieldOf(e); !ok || !isKept(f) {
			return false
		}
	}
	for _, e := range c.n.SelectDeps {
		var w weighted
		switch e := e.(type) {
		case *aggregation.Count:
			f, ok := countArgument(e.Child)
			if !ok {
				return false
			}
			w.count = true
			if f == nil {
				break
			}
			if isKept(f) {
				w.field = f
				break
			}
			at, ok := counted(f)
			if !ok || at != joined && c.t.l.schema.Schema[at].Nullable {
				return false
			}
			w.matched = true
		case *aggregation.Min, *aggregation.Max: // as of one row
			f, ok := e.Children()[0].(*expression.GetField)
			if !ok || !isKept(f) {
				return false
			}
		default:
			if f, ok := fieldOf(e); !ok || !isKept(f) {
				return false
			}
		}
		c.aggs = append(c.aggs, w)
	}
	return true
}

// keptBatch is how many kept rows are looked up in one round.
const keptBatch = 512

// gather reads the kept rows, counts, and groups.
func (c *joinCounter) gather(ctx *sql.Context) error {
	_, tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	c.index, c.key = map[string]int{}, newRowKey(expressionTypes(ctx, c.n.GroupByExprs))
	by := c.x.grouping(c.fields)
	by.First = false
	var all []txn.Group
	whole := false
	if c.on != nil {
		if spans, id, ok := c.keptSpans(ctx); ok {
			whole = true
			groups, rows, err := tx.count(ctx, []txn.Counting{{Spans: []kv.Span{c.x.whole()}, By: by}}, spans)
			if err != nil {
				return err
			}
			all = groups[0]
			c.counted(all)
			if spans != nil {
				defer c.present(id, spans, rows)()
			}
		}
	}
	it, err := c.b.e.gms.Analyzer.ExecBuilder.Build(ctx, c.kept, nil)
	if err != nil {
		return err
	}
	defer func() { _ = it.Close(ctx) }()
	var batch []sql.Row
	for err == nil {
		var row sql.Row
		if row, err = it.Next(ctx); err == nil {
			if c.before > 0 {
				row = append(make(sql.Row, c.before, c.before+len(row)), row...)
			}
			batch = append(batch, row)
		}
		if len(batch) == keptBatch || err == io.EOF {
			if e := c.take(ctx, tx, batch, all, whole, by); e != nil {
				return e
			}
			batch = batch[:0]
		}
	}
	if err != io.EOF {
		return err
	}
	if len(c.groups.buffers) == 0 && len(c.n.GroupByExprs) == 0 { // without GROUP BY there is one row always
		return c.begin(ctx)
	}
	return nil
}

// Where the plan is to look up what belongs to each kept row, and all of a table is kept, it is nearly always better to count
// all at once, since most of what there is belongs to one of them: but for few kept rows and many others.
const (
	fewKept    = 16
	fewCounted = 10_000
)

// keptSpans tells what to read of the kept side in the same round in which all of the index is counted. ok is false if it
// is better to know the kept rows first, because they may be few. Without spans they are too many to be read at once.
func (c *joinCounter) keptSpans(ctx *sql.Context) (spans []kv.Span, id uint64, ok bool) {
	src := sourceOf(c.s, c.kept)
	if src == nil {
		return nil, 0, false
	}
	_, spans, whole, ok, err := src.spans(ctx)
	stats, id := c.b.e.stats, src.t.l.desc.ID
	if err != nil || !ok || !whole || c.access != nil && stats.rows(id) < fewKept && stats.rows(c.t.l.desc.ID) > fewCounted {
		return nil, 0, false
	}
	if !stats.small(id) && stats.rows(id) > unknownRows {
		spans = nil
	}
	return spans, id, true
}

// counted notes the size of the table.
func (c *joinCounter) counted(all []txn.Group) {
	n := int64(0)
	for i := range all {
		n += all[i].Count
	}
	c.b.e.stats.counted(c.t.l.desc.ID, uint64(n))
}

// present lets the reader of the kept side find in memory what was read. What it returns ends that.
func (c *joinCounter) present(id uint64, spans []kv.Span, rows [][]txn.KeyValue) func() {
	f := &fetched{spans: map[string][]txn.KeyValue{}, rows: map[string][]byte{}}
	for i, s := range spans {
		f.spans[spanName(s)] = rows[i]
	}
	if c.s.stmt.ahead == nil {
		c.s.stmt.ahead = map[uint64]*fetched{}
	}
	before := c.s.stmt.ahead[id]
	c.s.stmt.ahead[id] = f
	return func() {
		if before == nil {
			delete(c.s.stmt.ahead, id)
		} else {
			c.s.stmt.ahead[id] = before
		}
	}
}

// take groups kept rows. Unless all of the index was counted, what belongs to them is counted now.
func (c *joinCounter) take(ctx *sql.Context, tx *tx, rows []sql.Row, all []txn.Group, whole bool, by kv.Grouping) error {
	wanted := make([][]kv.Span, len(rows))
	for i, row := range rows {
		var err error
		if wanted[i], err = c.wanted(ctx, row); err != nil {
			return err
		}
	}
	if !whole {
		spans := slices.Concat(wanted...)
		slices.SortFunc(spans, func(a, b kv.Span) int { return a.Start.Compare(b.Start) })
		groups, _, err := tx.count(ctx, []txn.Counting{{Spans: apart(spans), By: by}}, nil)
		if err != nil {
			return err
		}
		all = groups[0]
	}
	for i, row := range rows {
		n := int64(0)
		for _, s := range wanted[i] {
			at, _ := slices.BinarySearchFunc(all, s.Start, func(g txn.Group, k kv.Key) int { return g.Key.Compare(k) })
			for ; at < len(all) && all[at].Key.Less(s.End); at++ {
				n += all[at].Count
			}
		}
		if n > 0 || c.outer {
			if err := c.add(ctx, row, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// apart unites sorted spans that overlap.
func apart(spans []kv.Span) []kv.Span {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start.Less(out[n-1].End) {
			if out[n-1].End.Less(s.End) {
				out[n-1].End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// wanted is where the entries are that fit a kept row.
func (c *joinCounter) wanted(ctx *sql.Context, row sql.Row) ([]kv.Span, error) {
	if c.on == nil {
		return c.looked(ctx, row)
	}
	v, err := c.on.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err // NULL equals nothing
	}
	d, err := toDatum(ctx, c.column.Kind, v)
	if err != nil {
		return nil, err
	}
	start, err := rowcodec.AppendKey(slices.Clip(c.x.prefix), &c.column, d)
	return []kv.Span{prefixSpan(start)}, err
}

func (c *joinCounter) looked(ctx *sql.Context, row sql.Row) (spans []kv.Span, err error) {
	lookup, inRange, err := c.access.GetLookup(ctx, row)
	if err != nil || !inRange || asksNothing(lookup) {
		return nil, err
	}
	rs, err := c.x.reaches(ctx, lookup)
	for i := range rs {
		if s := rs[i].span; len(rs[i].rest) > 0 || !s.End.Equal(keys.PrefixEnd(s.Start)) {
			return nil, fmt.Errorf("table %s: a lookup of %d columns of index %s reaches for %s", c.t.l.desc.Name, c.fields, c.x.desc.Name, s)
		}
		spans = append(spans, rs[i].span)
	}
	return spans, err
}

// add takes in a kept row that is in the join n times, or, in an outer join, once without a match.
func (c *joinCounter) add(ctx *sql.Context, row sql.Row, n int64) error {
	vs := make(sql.Row, len(c.n.GroupByExprs))
	for i, e := range c.n.GroupByExprs {
		var err error
		if vs[i], err = e.Eval(ctx, row); err != nil {
			return err
		}
	}
	k, err := c.key.of(ctx, vs)
	if err != nil {
		return err
	}
	at, ok := c.index[k]
	if !ok {
		at = len(c.groups.buffers)
		c.index[k] = at
		if err := c.begin(ctx); err != nil {
			return err
		}
	}
	for i, w := range c.aggs {
		buffer := c.groups.buffers[at][i]
		if !w.count {
			if err := buffer.Update(ctx, row); err != nil {
				return err
			}
			continue
		}
		rows := max(n, 1)
		if w.matched {
			rows = n
		}
		if w.field != nil {
			v, err := w.field.Eval(ctx, row)
			if err != nil {
				return err
			}
			if v == nil {
				rows = 0
			}
		}
		buffer.(*countedRows).n += rows
	}
	return nil
}

// begin begins a group.
func (c *joinCounter) begin(ctx *sql.Context) error {
	buffers := make([]sql.AggregationBuffer, len(c.aggs))
	for i, e := range c.n.SelectDeps {
		if c.aggs[i].count {
			buffers[i] = &countedRows{}
			continue
		}
		b, err := aggregationBuffers(ctx, []sql.Expression{e})
		if err != nil {
			return err
		}
		buffers[i] = b[0]
	}
	c.groups.buffers = append(c.groups.buffers, buffers)
	return nil
}

// countedRows is COUNT of rows that come with their number.
type countedRows struct{ n int64 }

// Update implements sql.AggregationBuffer.
func (r *countedRows) Update(*sql.Context, sql.Row) error {
	r.n++
	return nil
}

// Eval implements sql.AggregationBuffer.
func (r *countedRows) Eval(*sql.Context) (any, error) { return r.n, nil }

// Dispose implements sql.Disposable.
func (r *countedRows) Dispose(*sql.Context) {}

// Next implements sql.RowIter.
func (c *joinCounter) Next(ctx *sql.Context) (sql.Row, error) {
	if !c.done {
		c.done = true
		err := c.gather(ctx)
		if tooLarge(err) { // more groups than fit into memory
			c.groups.dispose(ctx)
			c.plain, err = c.b.groupBy(ctx, c.n, nil)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.plain != nil {
		return c.plain.Next(ctx)
	}
	return c.groups.next(ctx)
}

// Close implements sql.RowIter.
func (c *joinCounter) Close(ctx *sql.Context) error {
	c.groups.dispose(ctx)
	if c.plain != nil {
		return c.plain.Close(ctx)
	}
	return nil
}
